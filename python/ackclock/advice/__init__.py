"""The inverse questions: not what happens on this path, but what to change.

Each topic is one function: it recommends something by a rule, shows the other rules beside it, and tries the
recommendation by a simulation of before and after.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ackclock import scenario as scenarios
from ackclock.advice.bench import Bench
from ackclock.advice.records import Advice, BeforeAfter, Recommendation, Rule
from ackclock.advice.slow_start import advise_slow_start
from ackclock.advice.standing import advise_standing
from ackclock.advice.timers import advise_timers
from ackclock.advice.two_way import advise_two_way

__all__ = ["Advice", "BeforeAfter", "Recommendation", "Rule", "advise"]

_TOPICS = (advise_slow_start, advise_standing, advise_two_way, advise_timers)


def advise(
    scenario: str | Path | Mapping[str, Any] | scenarios.Scenario,
    *,
    overrides: Mapping[str, Any] | None = None,
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
    simulate : bool
        Try each recommendation: before and after.
    threads : int, optional
        Replications at a time, all cores by default.
    on_step : callable, optional
        Is told what is being simulated.

    Returns
    -------
    Advice
        A recommendation for each question that the scenario raises.

    Raises
    ------
    ScenarioError
        With all that is wrong with the scenario.

    Examples
    --------
    >>> import ackclock
    >>> ackclock.advise("scenarios/geo-retransmission-loss.toml").recommendations[0].changes  # doctest: +SKIP
    """
    loaded = scenario if isinstance(scenario, scenarios.Scenario) else scenarios.load(scenario)
    bench = Bench(loaded, dict(overrides or {}), on_step or (lambda _: None), threads)
    found = (topic(bench, simulate=simulate) for topic in _TOPICS)
    return Advice(bench.resolved["title"], tuple(one for one in found if one is not None))
