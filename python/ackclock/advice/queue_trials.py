"""The queues that are compared: which there are, and their simulations with equal seeds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isclose, sqrt
from typing import Any, Final

from ackclock import api
from ackclock.advice.bench import Bench, loss_cycles
from ackclock.advice.knobs import MANY, Knob, crossing, field_of
from ackclock.advice.lengths import Length
from ackclock.advice.queue_measures import lasting_flows, measure_queue
from ackclock.advice.queue_records import QueueAlternative
from ackclock.errors import ScenarioError
from ackclock.fairness import is_by_host
from ackclock.models import controls, queues
from ackclock.paths import empty_round_trip_s
from ackclock.prediction.cubic import cubic_numbers
from ackclock.prediction.scene import Scene
from ackclock.result import Result
from ackclock.scenario import Element, Resolved
from ackclock.scenario.copies import described_name
from ackclock.scenario.network import REVERSE
from ackclock.scenario.resolved_queues import CakeScheduler, Step
from ackclock.scenario.schema_queues import NAMES
from ackclock.units import show
from ackclock.wording import plural

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
    "dualpi2": "DualPI2",
    "cake": "CAKE",
    "cobalt": "COBALT",
    "pi": "PI",
}
"""Names of disciplines as their papers write them."""
ACTIVE: Final = ("codel", "pie", "fq-codel", "sfq")
"""The disciplines that are tried, as far as scenarios have them; of equals the first is the answer."""
MOST_FLOWS = 1000
"""Number of flows up to which each one's throughput is kept, for the fairness between them."""
CODEL_INTERVAL_S, CODEL_TARGET = 0.1, 0.05
"""CoDel's interval for round trips up to itself, and its target as a fraction of it (RFC 8289 section 4.3)."""
CODEL_SHORTEST_S = 0.01
"""Longest round trip below which that interval is too long (RFC 8289 section 4.3)."""
PIE_LEAST_UPDATE_S = 1e-4
"""Shortest time between two updates that a scenario may have."""
L4S_THRESHOLD = "1 ms"
"""Queueing delay from which FQ-CoDel marks for L4S flows (Linux `ce_threshold`; the step of RFC 9332 section 4.1)."""
SERVICES = 1.5
"""Least target in service times of the largest packet: with less CoDel would drop packets that no queue delays."""
SAME = 0.1
"""Relative difference to the present buffer up to which the model's is not tried."""
BOTH = 2
HALF = 0.5
SPACING = 1000
"""Distance of the seeds of a queue's runs, so that a confirmation with the next seed has none of them."""


@dataclass(frozen=True)
class Queue:
    """A queue to try: its name and the fields that make it.

    Where other links change too, `others` names them, and `other` their queue if it has another name.
    """

    name: str
    changes: Mapping[str, Any]
    others: str = ""
    other: str = ""

    @property
    def title(self) -> str:
        """The name with these links."""
        if not self.others:
            return self.name
        return f"{self.name}; {self.other} at {self.others}" if self.other else f"{self.name}; {self.others} too"

    def at(self, place: str) -> str:
        """Name the queue with all its links, of which `place` is the first."""
        if not self.others:
            return f"{self.name} at {place}"
        return f"{self.name} at {place} and {f'{self.other} at ' if self.other else ''}{self.others}"


def queues_to_try(bench: Bench, knobs: Sequence[Knob]) -> list[Queue]:
    """List the queues to compare: the present one, the model's buffer, and those that control the delay.

    Parameters
    ----------
    bench : Bench
        The scenario; a queue that it does not allow, such as CoDel at a private link, is left out.
    knobs : sequence of Knob
        The buffers of the links with long queues. Each queue is tried at the first alone and, if there are more, at all
        of them; what makes the same scenario as one before is left out.
    """
    element, now = _element(bench.resolved, knobs[0]), _present(bench.resolved, knobs[0])
    found = [Queue(f"{now.name} (now)", {}), *_of_knob(bench.resolved, knobs[0]).values()]
    if bench.sized and str(element.queue) == "drop-tail":
        found.insert(1, _searched(bench.resolved, knobs[0], bench.sized))
    found += _of_all(bench.resolved, knobs) if len(knobs) > 1 else ()
    different: list[tuple[Queue, Resolved]] = []
    for queue in found:
        resolved = resolved_with(bench, queue)
        if resolved is not None and all(resolved.elements != other.elements for _, other in different):
            different.append((queue, resolved))
    return [queue for queue, _ in different]


def _searched(resolved: Resolved, knob: Knob, sized: Mapping[str, str]) -> Queue:
    """Give the buffers that a search has found, each with its link."""
    sizes = {field: plural(float(size.split()[0]), "packet") for field, size in sized.items()}
    own = next((f"drop-tail, {size} (searched)" for field, size in sizes.items() if field in knob.fields), None)
    others = {field: size for field, size in sizes.items() if field not in knob.fields}
    places = {field: field.removeprefix("link.").removesuffix(".buffer") for field in others}
    name = own or _present(resolved, knob).name
    if len(set(others.values())) == 1:
        (size,) = set(others.values())
        return Queue(name, sized, " and ".join(places.values()), f"drop-tail, {size} (searched)")
    return Queue(name, sized, " and ".join(f"{places[field]} ({size})" for field, size in others.items()))


def _of_knob(resolved: Resolved, knob: Knob) -> dict[str, Queue]:
    """Give the queues to try at one place in addition to the present one, by the discipline's name."""
    found: dict[str, Queue] = {}
    element = _element(resolved, knob)
    buffer = model_buffer(resolved, knob)
    is_plain = str(element.queue) == "drop-tail"
    if not is_plain or abs(buffer - knob.present) > SAME * buffer:
        tail = {} if is_plain else dict.fromkeys(_fields(knob), "drop-tail")
        found["drop-tail"] = Queue(_name("drop-tail", buffer), {**tail, **knob.changes(buffer)})
    if (threshold := _least_step(resolved, knob, element)) is not None:
        step = {"discipline": "step", "threshold": f"{threshold} pkt"}
        found["step"] = Queue(f"step marking at {plural(threshold, 'packet')}", dict.fromkeys(_fields(knob), step))
    for name in ACTIVE:
        if name in NAMES and str(element.queue) != name:
            table = _table(resolved, knob, element, name)
            found[name] = Queue(_called(name, table), dict.fromkeys(_fields(knob), table))
    marks_early = getattr(element.queue.aqm, "ce_threshold_s", None) is not None
    if not marks_early and any(flow.is_l4s for flow, _ in crossing(resolved, element)):
        if str(element.queue) != "dualpi2":
            found["dualpi2"] = Queue("DualPI2", dict.fromkeys(_fields(knob), "dualpi2"))
        table = _table(resolved, knob, element, "fq-codel")
        marking = {**({"discipline": table} if isinstance(table, str) else table), "ce_threshold": L4S_THRESHOLD}
        name = f"{_called('fq-codel', table)}, ce_threshold {L4S_THRESHOLD}"
        found["fq-codel-l4s"] = Queue(name, dict.fromkeys(_fields(knob), marking))
    return {kind: _shaped(resolved, knob, queue) for kind, queue in found.items()}


def _shaped(resolved: Resolved, knob: Knob, queue: Queue) -> Queue:
    """Let a queue that takes the place of a CAKE with a shaper send at the shaper's rate, as CAKE does."""
    element = _element(resolved, knob)
    scheduler = element.queue.scheduler
    if not isinstance(scheduler, CakeScheduler) or scheduler.bandwidth_bps is None or element.rate_process is not None:
        return queue
    rate, rates = show(scheduler.bandwidth_bps, "bit/s"), {}
    for name in knob.names:
        other = resolved.elements_by_name.get(f"{name}{REVERSE}")
        if other is not None and other.rate_bps is not None:
            # Without a rate of its own it would have the new one.
            rates[field_of(f"{name}{REVERSE}", "rate")] = show(other.rate_bps, "bit/s")
        rates[field_of(name, "rate")] = rate
    return replace(queue, name=f"{queue.name}, shaped to {rate}", changes={**rates, **queue.changes})


def _least_step(resolved: Resolved, knob: Knob, element: Element) -> int | None:
    """Give the least threshold that keeps a link busy whose queue marks from a higher one on [pkt]; None elsewhere."""
    if not isinstance(element.queue.aqm, Step):
        return None
    trips = [empty_round_trip_s(resolved, flow) for flow, _ in crossing(resolved, element) if flow.connection]
    least = ceil(controls.dctcp_least_threshold(knob.packet_rate, max(trips, default=0.0)))
    return least if 0 < least < (1.0 - SAME) * element.queue.aqm.threshold_packets else None


def _of_all(resolved: Resolved, knobs: Sequence[Knob]) -> Iterator[Queue]:
    """Give each kind of queue at all places; a place that has it keeps its own."""
    by_knob = [_of_knob(resolved, knob) for knob in knobs]
    for kind in dict.fromkeys(kind for found in by_knob for kind in found):
        changes = {field: value for found in by_knob if kind in found for field, value in found[kind].changes.items()}
        parts = zip(knobs, by_knob, strict=True)
        first, *others = [(found.get(kind) or _present(resolved, knob)).name for knob, found in parts]
        other = "" if set(others) == {first} else others[0] if len(others) == 1 else "as long as each needs"
        yield Queue(first, changes, other_places(knobs), other)


def _present(resolved: Resolved, knob: Knob) -> Queue:
    queue = _element(resolved, knob).queue
    early_s = getattr(queue.aqm, "ce_threshold_s", None)
    marking = "" if early_s is None else f", ce_threshold {show(early_s, 's')}"
    return Queue(f"{_name(str(queue), knob.present)}{marking}", {})


def other_places(knobs: Sequence[Knob]) -> str:
    """Name the links with long queues other than the bottleneck."""
    return knobs[1].place if len(knobs) == BOTH else plural(len(knobs) - 1, "more link")


def _element(resolved: Resolved, knob: Knob) -> Element:
    return resolved.elements_by_name[knob.names[0]]


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
    scenes = [Scene(resolved, flow) for flow, _ in crossing(resolved, _element(resolved, knob)) if flow.connection]
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
    is_usual = CODEL_SHORTEST_S <= longest <= CODEL_INTERVAL_S or longest == 0.0
    interval = CODEL_INTERVAL_S if is_usual else _two_digits(longest)
    least = SERVICES * _service_s(element, knob)
    if name == "pie":
        table |= _pie(longest, least)
    else:
        target = max(CODEL_TARGET * interval, _two_digits(least))
        if interval != CODEL_INTERVAL_S:
            table["interval"] = show(interval, "s")
        if not isclose(target, queues_default(name)):
            table["target"] = show(_two_digits(target), "s")
    if any(getattr(flow.tcp.sender, "ecn", "off") != "off" for flow in crossed):
        table["ecn"] = "all"
    if name == "fq-codel" and len({flow.weight for flow in crossed}) > 1:
        # Queues that flows are hashed into have no weights.
        table["separation"] = "perfect"
    return name if len(table) == 1 else table


def _pie(longest_s: float, least_s: float) -> dict[str, str]:
    """Give PIE's target and the time between its updates where the defaults, for some 100 ms, are too long or short."""
    is_short = 0.0 < longest_s < CODEL_SHORTEST_S
    usual = queues_default("pie") * (longest_s / CODEL_INTERVAL_S if is_short else 1.0)
    target = max(_two_digits(least_s), _two_digits(usual))
    table = {} if isclose(target, queues_default("pie")) else {"target": show(target, "s")}
    return table | ({"update": show(max(_two_digits(usual), PIE_LEAST_UPDATE_S), "s")} if is_short else {})


def _service_s(element: Element, knob: Knob) -> float:
    """Give the service time of the largest packet [s], where the rate changes that at the least rate but outages."""
    law = element.rate_process.law if element.rate_process is not None else None
    slowest = law.least_bps if law is not None else None
    return (element.rate_bps or 0.0) / (knob.packet_rate * slowest) if slowest else 1.0 / knob.packet_rate


def queues_default(name: str) -> float:
    """Give the target that a discipline has by default [s]: RFC 8289 section 4.2, RFC 8033 section 4.2."""
    return 0.015 if name == "pie" else CODEL_TARGET * CODEL_INTERVAL_S


def _two_digits(time_s: float) -> float:
    return float(f"{time_s:.1e}") if time_s > 0.0 else 0.0


def _name(discipline: str, buffer: float) -> str:
    size = "no limit" if buffer == inf else plural(buffer, "packet")
    return f"{TITLES.get(discipline, discipline)}, {size}"


def _called(name: str, table: str | dict[str, str]) -> str:
    target = "" if isinstance(table, str) or "target" not in table else f", target {table['target']}"
    return f"{TITLES[name]}{target}"


def try_queues(
    bench: Bench, knobs: Sequence[Knob], tried: Sequence[Queue], length: Length, what: str
) -> list[QueueAlternative]:
    """Simulate queues with the same seeds, and measure them.

    Parameters
    ----------
    bench : Bench
        Where the simulations run.
    knobs : sequence of Knob
        The buffers of the links with long queues, the bottleneck's first.
    tried : sequence of Queue
        The queues.
    length : Length
        Length of the runs; its replications are runs with seeds of their own.
    what : str
        What is being simulated, in words.
    """
    runs = _runs(bench, tried, length, what)
    lasting, hosts = lasting_flows(runs), hosts_of(bench.resolved, knobs[0])
    return [
        measure_queue(queue.title, queue.changes, part, knobs, lasting, hosts=hosts)
        for queue, part in zip(tried, runs, strict=True)
    ]


def hosts_of(resolved: Resolved, knob: Knob) -> dict[str, int] | None:
    """Give the host of each [[flow]] where the present queue is fair to hosts, and there are several; or else None."""
    hosts = {described_name(flow.name): flow.host for flow in resolved.flows}
    return hosts if is_by_host(_element(resolved, knob)) and len(set(hosts.values())) > 1 else None


def cycles_of(bench: Bench, queue: Queue, length: Length) -> float:
    """Count the loss cycles of a queue's runs."""
    return sum(map(loss_cycles, _runs(bench, [queue], length, "")[0]))


def one_run(bench: Bench, queue: Queue, length: Length) -> Result:
    """Give the first of a queue's runs."""
    return _runs(bench, [queue], length, "")[0][0]


def _runs(bench: Bench, tried: Sequence[Queue], length: Length, what: str) -> list[list[Result]]:
    """Run each queue with each of the seeds; once, where nothing in it is random."""
    one = Length(length.duration_s, length.warmup_s, 1, length.further_seed)
    changes = [
        [{**queue.changes, "run.seed": seed, "run.delays": True} for seed in _seeds(bench, queue, length.replications)]
        for queue in tried
    ]
    if len(tried) > BOTH:
        bench.announce([change for part in changes for change in part], one, BOTH)
    is_small = sum(flow.count for flow in bench.resolved.flows) <= MOST_FLOWS
    runs = iter(bench.run_all([change for part in changes for change in part], what, one, whole=is_small))
    return [[next(runs) for _ in part] for part in changes]


def _seeds(bench: Bench, queue: Queue, number: int) -> list[int]:
    resolved = resolved_with(bench, queue) or bench.resolved
    return [resolved.run.seed + SPACING * place for place in range(1 if resolved.is_deterministic else number)]
