"""The inverse questions: not what happens on this path, but what to change.

Each topic is one function. It recommends only what a simulation has borne out: a rule's answer is tried before and
after, a size is searched. All topics build on the findings of the same runs, which the verdict words too.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ackclock import scenario as scenarios
from ackclock.advice import buffers, slow_start, sockets, timers, two_way, variability, which_queue, windows
from ackclock.advice.alternatives import Alternative, Alternatives
from ackclock.advice.bench import Bench
from ackclock.advice.budget import Budget
from ackclock.advice.knobs import BUSY
from ackclock.advice.queue_records import QueueAlternative, QueuesCompared
from ackclock.advice.records import Advice, BeforeAfter, Recommendation, Rule
from ackclock.advice.targets import read_targets, refuse_impossible
from ackclock.errors import AdviceError, ArgumentError, Fault, LimitError, shown
from ackclock.findings import Finding, Kind, Row, mean
from ackclock.limits import read_limits
from ackclock.paths import meets_acks
from ackclock.result import Result
from ackclock.scenario import Resolved
from ackclock.scenario.arguments import (
    COUNT,
    FLAG,
    FUNCTION,
    NAMES,
    NUMBER,
    OVERRIDES,
    TEXT,
    Allowed,
    check_arguments,
)
from ackclock.scenario.scenario import ORIGIN_OR_SCENARIO
from ackclock.wording import megabytes, seconds

__all__ = [
    "Advice",
    "Alternative",
    "Alternatives",
    "BeforeAfter",
    "QueueAlternative",
    "QueuesCompared",
    "Recommendation",
    "Rule",
    "advise",
]

_TOPICS: Mapping[str, Callable[..., Recommendation | None]] = {
    slow_start.TOPIC: slow_start.advise_slow_start,
    two_way.TOPIC: two_way.advise_two_way,
    timers.TOPIC: timers.advise_timers,
    variability.TOPIC: variability.advise_variability,
    windows.TOPIC: windows.advise_windows,
    sockets.TOPIC: sockets.advise_sockets,
    buffers.TOPIC: buffers.advise_buffers,
    which_queue.TOPIC: which_queue.advise_which_queue,
}
_SEARCHES = frozenset({windows.TOPIC, buffers.TOPIC})
"""The topics without a rule of their own: they answer where no other has found something to change."""

SHORT_S = 1e-3
"""Queueing delay of 95% of the packets below which it is not worth a word [s]."""

_TARGETS = Allowed(
    'a mapping of names to texts or numbers, such as {"utilisation": "99%"}',
    lambda value: OVERRIDES.holds(value) and all(TEXT.holds(one) or NUMBER.holds(one) for one in value.values()),
    has_text_keys=True,
)


def advise(  # noqa: PLR0913  by keyword
    scenario: str | Path | Mapping[str, Any] | scenarios.Scenario,
    *,
    overrides: Mapping[str, Any] | None = None,
    topics: Collection[str] | None = None,
    targets: Mapping[str, str | float] | None = None,
    simulate: bool = True,
    threads: int | None = None,
    on_step: Callable[[str], None] | None = None,
    on_estimate: Callable[[str], None] | None = None,
    limit: str | Collection[str] | None = None,
    controllers: None = None,
) -> Advice:
    """Say what to change on a path, why, and what a simulation makes of it.

    Parameters
    ----------
    scenario : str, Path, mapping or Scenario
        As `ackclock.run` takes it.
    overrides : mapping of str to object, optional
        Fields to change first, by dotted path.
    topics : collection of str, optional
        The questions to answer: "slow-start-buffers", "two-way", "spurious-retransmissions", "variable-delay",
        "window", "socket-buffer", "bottleneck-buffer", "which-queue"; all by default.
    targets : mapping of str to str or float, optional
        What buffers and windows are to reach: "utilisation", relative to that with an ample size (99% by default);
        "loss", at most, at the links (1% by default if there are web sources, else any); "rtt-p95", the round trip
        that 95% of the packets have at most (the shortest that the others allow, by default).
    simulate : bool
        Try each recommendation: before and after.
    threads : int, optional
        Replications at a time, all cores by default.
    on_step : callable, optional
        Gets in words what is being simulated.
    on_estimate : callable, optional
        Gets a sentence of what a search or a comparison is expected to take, before it begins, if it is long.
    limit : str or collection of str, optional
        The most that all simulations together may take: a time, memory or packets, such as "10 min"; the environment
        variable `ACKCLOCK_LIMIT` by default. What they are expected to take is corrected by what they took so far.
    controllers : None
        Not taken, unlike by `ackclock.run`: the rules of advice are for the engine's congestion controls, and it makes
        many runs at a time, where classes run one at a time. `ackclock.sweep` takes them, and varies a field.

    Returns
    -------
    Advice
        A recommendation for each question that the scenario raises.

    Raises
    ------
    ScenarioError
        With all that is wrong with the scenario.
    AdviceError
        For an unknown topic or target, or a target that is out of range.
    LimitError
        Before simulations with which all of them are expected to take more than `limit`, or when its time has passed,
        unless a question has been answered: then the advice says which one is not.
    ArgumentError
        If another argument is of a wrong type, or a flow has a congestion control of the user's own.

    Examples
    --------
    >>> import ackclock
    >>> ackclock.advise("geo-retransmission-loss").recommendations[0].changes  # doctest: +SKIP
    """
    check_arguments(
        "advise",
        scenario=(scenario, ORIGIN_OR_SCENARIO),
        overrides=(overrides, OVERRIDES.or_none()),
        topics=(topics, NAMES.or_none()),
        targets=(targets, _TARGETS.or_none()),
        simulate=(simulate, FLAG),
        threads=(threads, COUNT.or_none()),
        on_step=(on_step, FUNCTION.or_none()),
        on_estimate=(on_estimate, FUNCTION.or_none()),
    )
    _refuse_controllers(controllers)
    wanted = _wanted(topics)
    loaded = scenario if isinstance(scenario, scenarios.Scenario) else scenarios.load(scenario)
    _refuse_controllers(loaded.source.controls)
    bench = Bench(loaded, dict(overrides or {}), on_step or (lambda _: None), threads)
    limits = read_limits(tuple(limit) if isinstance(limit, Collection) and not isinstance(limit, str) else limit)
    bench.budget = Budget(limits, on_estimate or (lambda _: None))
    bench.targets = read_targets(targets, bench.resolved)
    refuse_impossible(bench.targets, bench.resolved)
    bench.asked = frozenset(topics or ())
    found, unanswered = _answered(bench, wanted, simulate=simulate, is_open=targets is None and topics is None)
    base = (bench.base or bench.run({}, "the scenario as it is")) if simulate else None
    why = () if any(one.changes for one in found.values()) or unanswered else tuple(_reasons(bench, found, wanted))
    return Advice(
        bench.resolved.title,
        tuple(found.values()),
        (*why, *unanswered),
        "" if base is None else _verdict(bench, base),
        () if base is None else base.findings,
    )


def _answered(
    bench: Bench, wanted: Mapping[str, Callable[..., Recommendation | None]], *, simulate: bool, is_open: bool
) -> tuple[dict[str, Recommendation], tuple[str, ...]]:
    """Answer the questions, and say which are not answered as a limit ended that; refuse if nothing is answered."""
    found: dict[str, Recommendation] = {}
    for name, advise_topic in wanted.items():
        if name in _SEARCHES and is_open and any(one.changes for one in found.values()):
            continue
        try:
            answer = advise_topic(bench, simulate=simulate)
        except LimitError as error:
            if not found:
                raise
            return found, (f"{name} is not answered: {error}",)
        found |= {} if answer is None else {name: answer}
        bench.sized |= found[name].changes if name == buffers.TOPIC and name in found else {}
    return found, ()


def _refuse_controllers(given: object) -> None:
    """Refuse classes of congestion controls, given here or when the scenario was loaded."""
    if given:
        why = "is not taken: its rules are for the engine's congestion controls, and it makes many runs at a time"
        names = ", ".join(map(str, given)) if isinstance(given, Mapping) else shown(given)
        hint = "give the flows a control of the engine, or compare runs with ackclock.sweep, which takes controllers"
        raise ArgumentError(Fault('advise(), argument "controllers"', why, names, "None", hint))


def _verdict(bench: Bench, base: Result) -> str:
    """Give the verdict of the scenario as it is; with the time simulated, if that is not the scenario's."""
    measured_s = base.resolved.run.measured_s
    other = "" if measured_s == bench.resolved.run.measured_s else f" (simulated for {seconds(measured_s)})"
    return f"{base.summary['verdict']}{other}"


def _wanted(topics: Collection[str] | None) -> Mapping[str, Callable[..., Recommendation | None]]:
    unknown = set(topics or ()) - set(_TOPICS)
    if unknown:
        raise AdviceError(Fault("topic", "is unknown", ", ".join(sorted(unknown)), ", ".join(_TOPICS)))
    return {name: advise_topic for name, advise_topic in _TOPICS.items() if topics is None or name in topics}


def _policer(resolved: Resolved, name: str) -> str:
    """Give a link's name if it is a policer, or else nothing."""
    bucket = resolved.elements_by_name[name].token_bucket
    return name if bucket is not None and bucket.kind == "policer" else ""


def _without_drops(rows: Sequence[Row]) -> str:
    """Say of a run without drops and limits where packets wait nevertheless."""
    waits = {row["name"]: (row.get("queueing_p95_s") or {}).get("mean") or 0.0 for row in rows}
    name = max(waits, key=lambda one: waits[one], default="")
    if not name or waits[name] < SHORT_S:
        return (
            "no buffer drops a packet, next to no packet waits, and no window limits a flow: there is nothing to gain"
        )
    used = next(mean(row, "utilisation_fraction") for row in rows if row["name"] == name)
    bursts = ", in bursts that leave it idle for half of the run or more" if used < BUSY else ""
    return (
        f"no buffer drops a packet, and no window limits a flow. Packets wait at {name}, 95% of them up to "
        f"{seconds(waits[name])}{bursts}: no buffer is searched for that; --topic which-queue compares queues there"
    )


def _what_limits(
    resolved: Resolved, rows: Sequence[Row], kinds: Mapping[Kind, Finding], wanted: Collection[str]
) -> str:
    """Say why a run that was made cannot be better."""
    if "buffer-limit" in kinds:
        limit = kinds["buffer-limit"]
        field = sockets.buffer_field(limit)
        enough = megabytes(limit.numbers["enough_bytes"])
        if limit.numbers["enough_bytes"] <= limit.numbers["bytes"]:
            return f"a socket buffer limits {limit.element}, and no link's rate says how large it should be"
        gain = "would fill the path" if limit.numbers["fills"] else "would leave it to its losses"
        return f'a socket buffer limits {limit.element}: try {field} = "{enough}", which {gain}'
    if "dropped" in kinds and (policer := _policer(resolved, kinds["dropped"].element)):
        return (
            f"the policer {policer} drops packets, and no topic searches its rate or its burst: try a larger burst, or "
            "a shaper of the same rate, whose queue holds what the policer drops"
        )
    if "dropped" in kinds:
        return f"nothing better was found by the {'topics' if len(wanted) > 1 else 'topic'} {', '.join(wanted)}"
    return _without_drops(rows)


def _reasons(bench: Bench, found: Collection[str], wanted: Collection[str]) -> Iterator[str]:
    """Say why nothing is to be changed."""
    if found:
        return
    kinds = {} if bench.base is None else {one.kind: one for one in bench.base.findings}
    if "nothing-delivered" in kinds:
        yield "nothing was delivered in the time measured: there is nothing to improve yet"
    elif "lost-before-queue" in kinds and "buffer-limit" not in kinds:
        yield f"{kinds['lost-before-queue'].element} loses packets before its queue: no size of its buffer changes that"
    elif "window-limit" in kinds and meets_acks(bench.resolved):
        yield (
            "the receivers' windows limit flows whose ACKs wait behind data of the other direction: larger windows "
            "make the links busier only at the price of long queues (Kalampoukas et al. 1997, theorem 1)"
        )
    elif bench.base is not None:
        yield _what_limits(bench.resolved, bench.base.summary["links"], kinds, wanted)
    elif len(wanted) < len(_TOPICS):
        yield f"this scenario does not raise the question of {' and '.join(wanted)}"
    else:
        yield "no rule is made for this scenario, and without a simulation nothing else is known"
