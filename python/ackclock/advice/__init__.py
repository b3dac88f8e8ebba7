"""The inverse questions: not what happens on this path, but what to change.

Each topic is one function: it recommends something by a rule, shows the other rules too, and tries the
recommendation by a simulation of before and after.
"""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from ackclock import scenario as scenarios
from ackclock.advice import slow_start, standing, timers, two_way, variability, web
from ackclock.advice.bench import Bench
from ackclock.advice.records import Advice, BeforeAfter, Recommendation, Rule
from ackclock.errors import AdviceError, Fault

__all__ = ["Advice", "BeforeAfter", "Recommendation", "Rule", "advise"]

_TOPICS = {
    slow_start.TOPIC: slow_start.advise_slow_start,
    standing.TOPIC: standing.advise_standing,
    two_way.TOPIC: two_way.advise_two_way,
    timers.TOPIC: timers.advise_timers,
    variability.TOPIC: variability.advise_variability,
    web.TOPIC: web.advise_web,
}


def advise(  # noqa: PLR0913  by keyword
    scenario: str | Path | Mapping[str, Any] | scenarios.Scenario,
    *,
    overrides: Mapping[str, Any] | None = None,
    topics: Collection[str] | None = None,
    wanted_loss: float = 0.01,
    simulate: bool = True,
    threads: int | None = None,
    on_step: Callable[[str], None] | None = None,
) -> Advice:
    """Say what to change on a path, why, and what a simulation makes of it.

    Parameters
    ----------
    scenario : str, Path, mapping or Scenario
        As `ackclock.run` takes it.
    overrides : mapping of str to object, optional
        Fields to change first, by dotted path.
    topics : collection of str, optional
        The questions to answer: "slow-start-buffers", "bottleneck-buffer", "two-way", "spurious-retransmissions",
        "variable-delay", "web-buffer"; all by default.
    wanted_loss : float
        Target loss fraction for web sources at the link that they share, between 0 and 1.
    simulate : bool
        Try each recommendation: before and after.
    threads : int, optional
        Replications at a time, all cores by default.
    on_step : callable, optional
        Gets in words what is being simulated.

    Returns
    -------
    Advice
        A recommendation for each question that the scenario raises.

    Raises
    ------
    ScenarioError
        With all that is wrong with the scenario.
    AdviceError
        For an unknown topic, or a loss that is out of range.

    Examples
    --------
    >>> import ackclock
    >>> ackclock.advise("geo-retransmission-loss").recommendations[0].changes  # doctest: +SKIP
    """
    wanted = _wanted(topics)
    if not 0.0 < wanted_loss < 1.0:
        raise AdviceError(Fault("wanted_loss", "is out of range", f"{wanted_loss:g}", "between 0 and 1, such as 0.01"))
    loaded = scenario if isinstance(scenario, scenarios.Scenario) else scenarios.load(scenario)
    bench = Bench(loaded, dict(overrides or {}), on_step or (lambda _: None), threads, wanted_loss)
    found = (topic(bench, simulate=simulate) for topic in wanted)
    return Advice(bench.resolved.title, tuple(one for one in found if one is not None))


def _wanted(topics: Collection[str] | None) -> list[Callable[..., Recommendation | None]]:
    unknown = set(topics or ()) - set(_TOPICS)
    if unknown:
        raise AdviceError(Fault("topic", "is unknown", ", ".join(sorted(unknown)), ", ".join(_TOPICS)))
    return [advise_topic for name, advise_topic in _TOPICS.items() if topics is None or name in topics]
