"""The queues that are compared at a bottleneck: which there are, and what each gives in simulations of equal seeds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite, nan, sqrt
from typing import Any, Final

from ackclock import api
from ackclock.advice.bench import Bench, loss_cycles, of_longest_round_trip
from ackclock.advice.knobs import MANY, Knob, crossing
from ackclock.advice.lengths import Length
from ackclock.advice.queue_records import QueueAlternative
from ackclock.errors import ScenarioError
from ackclock.models import queues
from ackclock.paths import empty_round_trip_s
from ackclock.prediction.cubic import cubic_numbers
from ackclock.prediction.scene import Scene
from ackclock.result import Result
from ackclock.scenario import Element, Resolved
from ackclock.scenario.schema_queues import NAMES
from ackclock.stats import Estimate, estimate, jain_index
from ackclock.units import show
from ackclock.wording import number

TITLES: Final[Mapping[str, str]] = {
    "codel": "CoDel",
    "pie": "PIE",
    "fq-codel": "FQ-CoDel",
    "fq-pie": "FQ-PIE",
    "red": "RED",
    "fq": "FQ",
    "drr": "DRR",
    "wfq": "WFQ",
    "sfq": "SFQ",
}
"""Names of disciplines as their papers write them."""
ACTIVE: Final = ("codel", "pie", "fq-codel", "sfq")
"""The disciplines that are tried, as far as scenarios have them; of equals the first is the answer."""
MOST_FLOWS = 1000
"""Number of flows up to which each one's throughput is kept, for the fairness between them."""
CODEL_INTERVAL_S, CODEL_TARGET = 0.1, 0.05
"""CoDel's interval for round trips up to itself, and its target as a fraction of it (RFC 8289 section 4.3)."""
SERVICES = 1.5
"""Least target in service times of the largest packet: with less CoDel would drop packets that no queue delays."""
SAME = 0.1
"""Relative difference to the present buffer up to which the model's is not tried."""
HALF = 0.5
SPACING = 1000
"""Distance of the seeds of a queue's runs, so that a confirmation with the next seed has none of them."""


@dataclass(frozen=True)
class Queue:
    """A queue to try: its name, and the fields that make it."""

    name: str
    changes: Mapping[str, Any]


def queues_to_try(bench: Bench, knob: Knob) -> list[Queue]:
    """List the queues to compare: the present one, the model's buffer, and those that control the delay.

    Parameters
    ----------
    bench : Bench
        The scenario; a queue that it does not allow, such as CoDel at a private link, is left out.
    knob : Knob
        The buffer of the bottleneck.
    """
    resolved = bench.resolved
    element = next(one for one in resolved.elements if one.name == knob.names[0])
    found = [Queue(f"{_name(str(element.queue), knob.present)} (now)", {})]
    buffer = model_buffer(resolved, knob)
    is_plain = str(element.queue) == "drop-tail"
    if not is_plain or abs(buffer - knob.present) > SAME * buffer:
        tail = {} if is_plain else dict.fromkeys(_fields(knob), "drop-tail")
        found.append(Queue(_name("drop-tail", buffer), {**tail, **knob.changes(buffer)}))
    for name in ACTIVE:
        if name in NAMES and str(element.queue) != name:
            table = _table(resolved, knob, element, name)
            found.append(Queue(_called(name, table), dict.fromkeys(_fields(knob), table)))
    return [queue for queue in found if resolved_with(bench, queue) is not None]


def resolved_with(bench: Bench, queue: Queue) -> Resolved | None:
    """Resolve the scenario with a queue; None if it does not allow it."""
    try:
        return api.resolve(bench.scenario, overrides={**bench.overrides, **queue.changes})
    except ScenarioError:
        return None


def model_buffer(resolved: Resolved, knob: Knob) -> int:
    """Give the buffer that keeps the link busy by the model [pkt], the packet in transmission included.

    That of one flow with the least remainder, as few flows lose in step; of many the bandwidth-delay product by the
    square root of their number.
    """
    element = next(one for one in resolved.elements if one.name == knob.names[0])
    scenes = [Scene(resolved, flow) for flow, _ in crossing(resolved, element) if flow.connection is not None]
    flows = sum(scene.count for scene in scenes)
    if not flows:
        return max(2, knob.start)
    trip = sum(scene.count * scene.round_trip_s for scene in scenes) / flows
    if flows >= MANY:
        return max(2, ceil(knob.packet_rate * trip / sqrt(flows)))
    least = float(queues.lone_flow_buffer(knob.packet_rate, trip, min(_remainder(scene) for scene in scenes)))
    return max(2, 1 + ceil(round(least, 6)))


def _remainder(scene: Scene) -> float:
    """Give the fraction of the window that a loss leaves: CUBIC's, or a half for any other control."""
    return cubic_numbers(scene)[1] if scene.flow.tcp.sender.is_cubic else HALF


def _fields(knob: Knob) -> list[str]:
    return [f"{field.removesuffix('buffer')}queue" for field in knob.fields]


def _table(resolved: Resolved, knob: Knob, element: Element, name: str) -> str | dict[str, str]:
    """Write a discipline with parameters for the path: those that differ from the defaults."""
    if name == "sfq":
        return name
    crossed = [flow for flow, _ in crossing(resolved, element) if flow.connection is not None]
    table = {"discipline": name}
    longest = max((empty_round_trip_s(resolved, flow) for flow in crossed), default=0.0)
    interval = max(CODEL_INTERVAL_S, _two_digits(longest))
    least = SERVICES / knob.packet_rate
    if name == "pie":
        if least > queues_default("pie"):
            table["target"] = show(_two_digits(least), "s")
    else:
        target = max(CODEL_TARGET * interval, _two_digits(least))
        if interval > CODEL_INTERVAL_S:
            table["interval"] = show(interval, "s")
        if target > queues_default(name):
            table["target"] = show(target, "s")
    if any(getattr(flow.tcp.sender, "ecn", "off") != "off" for flow in crossed):
        table["ecn"] = "all"
    if name == "fq-codel" and len({flow.weight for flow in crossed}) > 1:
        # Queues that flows are hashed into have no weights.
        table["separation"] = "perfect"
    return name if len(table) == 1 else table


def queues_default(name: str) -> float:
    """Give the target that a discipline has by default [s]: RFC 8289 section 4.2, RFC 8033 section 4.2."""
    return 0.015 if name == "pie" else CODEL_TARGET * CODEL_INTERVAL_S


def _two_digits(time_s: float) -> float:
    return float(f"{time_s:.1e}") if time_s > 0.0 else 0.0


def _name(discipline: str, buffer: float) -> str:
    size = "no limit" if buffer == inf else f"{number(buffer)} packets"
    return f"{TITLES.get(discipline, discipline)}, {size}"


def _called(name: str, table: str | dict[str, str]) -> str:
    target = "" if isinstance(table, str) or "target" not in table else f", target {table['target']}"
    return f"{TITLES[name]}{target}"


def try_queues(bench: Bench, knob: Knob, tried: Sequence[Queue], length: Length, what: str) -> list[QueueAlternative]:
    """Simulate queues with the same seeds, and measure them.

    Parameters
    ----------
    bench : Bench
        Where the simulations run.
    knob : Knob
        The bottleneck.
    tried : sequence of Queue
        The queues.
    length : Length
        Length of the runs; its replications are runs with seeds of their own.
    what : str
        What is being simulated, in words.
    """
    runs = _runs(bench, tried, length, what)
    return [_measured(queue, part, knob) for queue, part in zip(tried, runs, strict=True)]


def cycles_of(bench: Bench, queue: Queue, length: Length) -> float:
    """Count the loss cycles of a queue's runs."""
    return sum(map(loss_cycles, _runs(bench, [queue], length, "")[0]))


def _runs(bench: Bench, tried: Sequence[Queue], length: Length, what: str) -> list[list[Result]]:
    """Run each queue with each of the seeds; once, where nothing in it is random."""
    one = Length(length.duration_s, length.warmup_s, 1, length.further_seed)
    changes = [
        [{**queue.changes, "run.seed": seed, "run.delays": True} for seed in _seeds(bench, queue, length.replications)]
        for queue in tried
    ]
    is_small = sum(flow.count for flow in bench.resolved.flows) <= MOST_FLOWS
    runs = iter(bench.run_all([change for part in changes for change in part], what, one, whole=is_small))
    return [[next(runs) for _ in part] for part in changes]


def _seeds(bench: Bench, queue: Queue, number: int) -> list[int]:
    resolved = resolved_with(bench, queue) or bench.resolved
    return [resolved.run.seed + SPACING * place for place in range(1 if resolved.is_deterministic else number)]


def _measured(queue: Queue, runs: Sequence[Result], knob: Knob) -> QueueAlternative:
    def of(measure: Callable[[Result], float]) -> Estimate:
        run = runs[0].resolved
        return estimate([measure(one) for one in runs], run.run.confidence, exact=run.is_deterministic)

    def of_link(key: str) -> Estimate:
        return of(lambda result: _mean_of_links(result, knob.links, key))

    return QueueAlternative(
        queue.name,
        queue.changes,
        throughput_bps=of(_throughput),
        utilisation_fraction=of_link("utilisation_fraction"),
        wait_mean_s=of_link("queueing_mean_s"),
        wait_p95_s=of_link("queueing_p95_s"),
        wait_p99_s=of_link("queueing_p99_s"),
        rtt_p95_s=of(lambda result: _value(of_longest_round_trip(result))),
        loss_fraction=of_link("loss_fraction"),
        marked_fraction=of(_marked),
        fairness_index=of(_fairness),
    )


def _value(found: Any) -> float:
    return nan if found is None or found["mean"] is None else float(found["mean"])


def _mean_of_links(result: Result, names: Sequence[str], key: str) -> float:
    values = [_value(row.get(key)) for row in result.summary["links"] if row["name"] in names]
    return sum(values) / len(values)


def _throughput(result: Result) -> float:
    return sum(_value(row["throughput_bps"]) for row in result.summary["flows"])


def _marked(result: Result) -> float:
    """Compute the fraction of the packets that arrive marked, of all flows."""
    rows = [(_value(row.get("marked_fraction")), _value(row["throughput_bps"])) for row in result.summary["flows"]]
    known = [(marked, rate) for marked, rate in rows if isfinite(marked) and rate > 0.0]
    return sum(marked * rate for marked, rate in known) / sum(rate for _, rate in known) if known else 0.0


def _fairness(result: Result) -> float:
    """Compute Jain's index of the throughputs over the weights of flows with a congestion control and without an end.

    It is nan for fewer than two of them.
    """
    flows, rows = result.resolved.rows, result.summary["flows"]
    if len(rows) != len(flows):
        return nan
    rates = [
        _value(row["throughput_bps"]) / flow.weight
        for flow, row in zip(flows, rows, strict=True)
        if flow.connection is not None and flow.is_endless
    ]
    return jain_index(rates) if len(rates) > 1 else nan
