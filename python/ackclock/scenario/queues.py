"""Queue disciplines: the table of a scenario, its faults, and the scheduler, AQM and overflow rule of the engine."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal, get_args

from pydantic import ConfigDict, Field

from ackclock.errors import Fault
from ackclock.scenario.amounts import Amount, Span
from ackclock.scenario.contract import within
from ackclock.scenario.entries import Table, entry
from ackclock.scenario.fields import Count, Flag, Number
from ackclock.scenario.places import Places
from ackclock.scenario.schema_kinds import PACKET_SIZE, Switch, choice, most
from ackclock.scenario.source import Location
from ackclock.units import show

_CONFIG: Final = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
_AQM = "elements[].queue.aqm"

MOST_LEVELS = most("elements[].queue.scheduler.levels")
"""Most levels of a priority queue."""

DisciplineName = Literal["drop-tail", "drop-from-front", "random-drop", "red", "codel", "pie", "priority"]
VictimName = Literal["arriving", "random", "lowest"]
RedEcnName = Literal["off", "early", "all"]
RulesName = Literal["floyd-jacobson", "ns2", "linux", "rfc"]
CodelRulesName = Literal["rfc", "linux"]
OverflowName = Literal["arriving", "front", "random", "lowest"]

NAMES: tuple[str, ...] = get_args(DisciplineName)

_THRESHOLD = Span("pkt", 1e-9, 1e9, "1e-9 to 1e9 pkt")
_LEAST = Span("pkt", 0, 1e9, "0 to 1e9 pkt")
_TARGET = Span("s", 1e-6, 100, "1 us to 100 s")
_INTERVAL = Span("s", 1e-6, 1000, "1 us to 1000 s")
_TO_100_S = Span("s", 0, 100, "0 to 100 s")
_UPDATE = Span("s", 1e-4, 100, "0.1 ms to 100 s")


def _rule(text: str) -> Any:
    """Describe a field whose default is that of RED's rules."""
    return entry(text, None, words="the rules'")


class Queue(Table):
    """Queueing discipline of a link."""

    discipline: Annotated[DisciplineName, choice("discipline", DisciplineName)] = entry(
        "which packet is dropped: at a full buffer the newcomer (drop-tail), the one at the front (drop-from-front) "
        "or one drawn among all that wait and the newcomer (random-drop); early, by the mean queue (red) or by the "
        "time that packets have waited as they leave (codel), or with a probability that follows that time (pie). With "
        "priority the levels of the flows decide which packet is sent first"
    )
    min_threshold: Annotated[float, Amount("5 pkt", (_THRESHOLD,))] = entry(
        "red: mean queue from which packets are dropped", 5.0, toml="5 pkt"
    )
    max_threshold: Annotated[float, Amount("15 pkt", (_THRESHOLD,))] = entry(
        "red: mean queue at which `max_probability` is reached", 15.0, toml="15 pkt"
    )
    weight: Annotated[float, Number(0, 1, 0.002, closed=True)] = entry(
        "red: weight of the newest queue in the mean", 0.002
    )
    max_probability: Annotated[float, Number(0, 1, 0.02, closed=True)] = entry(
        "red: drop probability at `max_threshold`", 0.1
    )
    gentle: Switch = entry("red: raise the probability to 1 at twice `max_threshold` rather than at once", default=True)
    victim: Annotated[VictimName, choice("victim", VictimName)] = entry(
        "red: which packet is dropped early, the arriving one, or one drawn among all (random); priority: which one at "
        "a full buffer, the arriving one, or the last one of the lowest level where that is lower (lowest)",
        "arriving",
    )
    levels: Annotated[int, Count(1, MOST_LEVELS, 3)] = entry("priority: number of levels", 2)
    mean_packet: Annotated[int | None, PACKET_SIZE] = entry(
        "red: packet size by which the mean decays while the link is idle",
        None,
        words="the largest packet that crosses",
    )
    ecn: Annotated[RedEcnName, choice("early signal", RedEcnName)] = entry(
        "red, codel, pie: packets of flows with ECN that are marked instead of dropped early: none (off), or all (all, "
        "as Linux does; pie up to a probability of 10%); of red also those below the largest threshold, twice that if "
        "gentle (early, RFC 3168). A full buffer always drops",
        "off",
    )
    target: Annotated[float | None, Amount("5 ms", (_TARGET,))] = entry(
        "codel: time that packets may always wait; more than a packet takes on the link. pie: queueing delay that the "
        "drop probability is controlled for",
        None,
        words="5 ms of codel, 15 ms of pie",
    )
    interval: Annotated[float, Amount("100 ms", (_INTERVAL,))] = entry(
        "codel: time for which all packets must wait for longer than `target` before the first drop; about the longest "
        "round trip",
        0.1,
        toml="100 ms",
    )
    update: Annotated[float, Amount("15 ms", (_UPDATE,))] = entry(
        "pie: time between two updates of the drop probability", 0.015, toml="15 ms"
    )
    alpha: Annotated[float, Number(0, 1000, 0.125, closed=True)] = entry(
        "pie: change of the drop probability, in an update, for each second of delay above `target`", 0.125
    )
    beta: Annotated[float, Number(0, 1000, 1.25, closed=True)] = entry(
        "pie: change of the drop probability, in an update, for each second by which the delay has grown since the one "
        "before",
        1.25,
    )
    burst: Annotated[float, Amount("150 ms", (_TO_100_S,))] = entry(
        "pie: time for which a busy period begins without early drops", 0.15, toml="150 ms"
    )
    ce_threshold: Annotated[float | None, Amount("1 ms", (_TO_100_S,))] = entry(
        "codel: packets of flows with ECN that waited for longer are all marked, whatever else is decided (Linux)",
        None,
        words="no such threshold",
    )
    rules: Annotated[RulesName | None, choice("rules", RulesName)] = entry(
        "red: whose rules the next four fields have, the paper's of 1993 (floyd-jacobson) or ns-2.35's (ns2); "
        'ns-2 also counts the packets that wait alone, `counting = "waiting"`. codel: exact times and square roots '
        "(rfc, RFC 8289) or the kernel's approximations (linux)",
        None,
        words='"floyd-jacobson" of red, "linux" of codel',
    )
    wait: Annotated[bool | None, Flag()] = _rule(
        "red: after an early drop at least 1/p packets pass, for the drop probability p, before the next (`wait_` of "
        "ns-2, which has it on)"
    )
    least_queue: Annotated[float | None, Amount("2 pkt", (_LEAST,))] = _rule(
        "red: shorter queues drop no packet early, whatever their mean (2 pkt in ns-2, else 0)"
    )
    first_passes: Annotated[bool | None, Flag()] = _rule(
        "red: the first packet that finds the mean above `min_threshold` is never dropped early (ns-2)"
    )
    overflow_restarts: Annotated[bool | None, Flag()] = _rule(
        "red: the drop of a full buffer restarts the count of packets since the last drop, as an early drop does (ns-2)"
    )


_FIELDS: dict[str, tuple[str, ...]] = {
    **{name: ("red",) for name in Queue.model_fields if name != "discipline"},
    "victim": ("red", "priority"),
    "levels": ("priority",),
    "ecn": ("red", "codel", "pie"),
    "rules": ("red", "codel"),
    "target": ("codel", "pie"),
    **dict.fromkeys(("interval", "ce_threshold"), ("codel",)),
    **dict.fromkeys(("update", "alpha", "beta", "burst"), ("pie",)),
}
"""The disciplines to which each field belongs."""
_ACTS_ON: dict[str, tuple[str, str]] = {"red": ("mean queue", "max_threshold")}
"""The length that a discipline acts on, and the field with the largest one that it knows [packets]."""
_CHOICES: dict[str, dict[str, tuple[str, ...]]] = {
    "victim": {"red": ("arriving", "random"), "priority": ("arriving", "lowest")},
    "ecn": {"codel": ("off", "all"), "pie": ("off", "all")},
    "rules": {"red": ("floyd-jacobson", "ns2"), "codel": ("linux", "rfc")},
}
"""Values that some disciplines allow of a field that others have too."""


def queue_faults(places: Places, location: Location, queue: Queue) -> Iterator[Fault]:
    """Find what is wrong between the fields of a queue."""
    for name, disciplines in _FIELDS.items():
        if queue.gives(name) and queue.discipline not in disciplines:
            theirs = " and ".join(f'"{discipline}"' for discipline in disciplines)
            kind = "discipline" if len(disciplines) == 1 else "disciplines"
            yield places.fault((*location, name), f'belongs to the {kind} {theirs}, not to "{queue.discipline}"')
    for name, by_discipline in _CHOICES.items():
        given, choices = getattr(queue, name), by_discipline.get(queue.discipline)
        if choices and queue.gives(name) and given not in choices:
            allowed = " | ".join(f'"{choice}"' for choice in choices)
            problem = f'is not valid for the discipline "{queue.discipline}"'
            yield places.fault((*location, name), problem, given=f'"{given}"', allowed=allowed)
    if queue.discipline == "red" and queue.min_threshold >= queue.max_threshold:
        yield places.fault(
            (*location, "min_threshold" if queue.gives("min_threshold") else "max_threshold"),
            "min_threshold is not below max_threshold",
            given=f"{show(queue.min_threshold, 'pkt')} and {show(queue.max_threshold, 'pkt')}",
        )


def beyond_the_buffer(queue: Queue, packets: float) -> str | None:
    """Say which length of the queue, that a discipline acts on, a buffer does not reach; None if it reaches it.

    Parameters
    ----------
    queue : Queue
        The table.
    packets : float
        The buffer [packets].
    """
    length, field = _ACTS_ON.get(queue.discipline, ("", ""))
    if not field or getattr(queue, field) <= packets:
        return None
    largest = show(getattr(queue, field), "pkt")
    return f"the buffer of {packets:.6g} pkt is full before the {length} can reach {field}, {largest}"


@dataclass(frozen=True, slots=True)
class Fifo:
    """First in, first out."""

    __pydantic_config__ = _CONFIG
    kind: Literal["fifo"] = "fifo"


@dataclass(frozen=True, slots=True)
class StrictPriority:
    """Strict priority by the levels of flows, without interruption; all levels share the buffer."""

    __pydantic_config__ = _CONFIG
    kind: Literal["priority"]
    levels: Annotated[int, within("elements[].queue.scheduler.levels")]


@dataclass(frozen=True, slots=True)
class NoAqm:
    """Absence of AQM: only a full buffer drops packets."""

    __pydantic_config__ = _CONFIG
    is_random: ClassVar[bool] = False
    title: ClassVar[str] = "no AQM"
    kind: Literal["none"] = "none"


@dataclass(frozen=True, slots=True)
class Red:
    """Random Early Detection (Floyd, Jacobson 1993)."""

    __pydantic_config__ = _CONFIG
    is_random: ClassVar[bool] = True
    title: ClassVar[str] = "RED"
    kind: Literal["red"]
    min_threshold_packets: Annotated[float, within(f"{_AQM}.min_threshold_packets")]
    max_threshold_packets: Annotated[float, within(f"{_AQM}.max_threshold_packets")]
    weight: Annotated[float, within(f"{_AQM}.weight")]
    max_probability: Annotated[float, within(f"{_AQM}.max_probability")]
    gentle: bool
    mean_packet_bytes: Annotated[int, within(f"{_AQM}.mean_packet_bytes")]
    wait: bool = False
    """Whether 1/p packets pass after an early drop; older results lack this field and those below."""
    least_queue_packets: Annotated[float, within(f"{_AQM}.least_queue_packets")] = 0.0
    first_passes: bool = False
    overflow_restarts: bool = False
    ecn: RedEcnName = "off"


@dataclass(frozen=True, slots=True)
class Codel:
    """Controlled Delay (RFC 8289)."""

    __pydantic_config__ = _CONFIG
    is_random: ClassVar[bool] = False
    title: ClassVar[str] = "CoDel"
    kind: Literal["codel"]
    target_s: Annotated[float, within(f"{_AQM}.target_s")]
    interval_s: Annotated[float, within(f"{_AQM}.interval_s")]
    ecn: bool
    ce_threshold_s: Annotated[float, within(f"{_AQM}.ce_threshold_s")] | None
    mtu_bytes: Annotated[int, within(f"{_AQM}.mtu_bytes")]
    rules: CodelRulesName


@dataclass(frozen=True, slots=True)
class Pie:
    """Proportional Integral controller Enhanced (RFC 8033)."""

    __pydantic_config__ = _CONFIG
    is_random: ClassVar[bool] = True
    title: ClassVar[str] = "PIE"
    kind: Literal["pie"]
    target_s: Annotated[float, within(f"{_AQM}.target_s")]
    update_s: Annotated[float, within(f"{_AQM}.update_s")]
    alpha: Annotated[float, within(f"{_AQM}.alpha")]
    beta: Annotated[float, within(f"{_AQM}.beta")]
    burst_s: Annotated[float, within(f"{_AQM}.burst_s")]
    ecn: bool
    mtu_bytes: Annotated[int, within(f"{_AQM}.mtu_bytes")]


Scheduler = Annotated[Fifo | StrictPriority, Field(discriminator="kind")]
Aqm = Annotated[NoAqm | Red | Codel | Pie, Field(discriminator="kind")]
"""Every AQM answers `is_random`, whether it draws random numbers, and `title`, its name as its papers write it."""


@dataclass(frozen=True, slots=True)
class Discipline:
    """A queue discipline: a choice on each of three axes."""

    __pydantic_config__ = _CONFIG
    scheduler: Scheduler = Fifo()
    aqm: Aqm = NoAqm()
    overflow: OverflowName = "arriving"

    @property
    def is_fifo(self) -> bool:
        """Return whether all packets wait in one queue that is served in the order of arrival."""
        return isinstance(self.scheduler, Fifo)

    @property
    def drops_early(self) -> bool:
        """Return whether it drops packets before the buffer is full."""
        return not isinstance(self.aqm, NoAqm)

    @property
    def is_random(self) -> bool:
        """Return whether it draws random numbers."""
        return self.aqm.is_random or self.overflow == "random"

    def __str__(self) -> str:
        """Give the name that a scenario has for it."""
        if not self.is_fifo:
            return self.scheduler.kind
        return self.aqm.kind if self.drops_early else _NAMES_BY_OVERFLOW[self.overflow]


_OVERFLOWS: dict[str, OverflowName] = {"drop-tail": "arriving", "drop-from-front": "front", "random-drop": "random"}
_NAMES_BY_OVERFLOW = {overflow: name for name, overflow in _OVERFLOWS.items()} | {"lowest": "drop-lowest"}
DROP_TAIL = Discipline()
CODEL_TARGET_S, PIE_TARGET_S = 0.005, 0.015
"""Delays that the two are controlled for by default [s]: RFC 8289 section 4.2, RFC 8033 section 4.2."""
NS2_LEAST_QUEUE = 2.0
"""The packets that wait at least in ns-2 before RED drops one early [packets]."""


def _red_rules(queue: Queue) -> dict[str, Any]:
    """Give RED's rules as the engine names them: those that the table gives, else those of `rules`; and its marks."""
    ns2 = queue.rules == "ns2"
    least = queue.least_queue
    return {
        "ecn": queue.ecn,
        "wait": ns2 if queue.wait is None else queue.wait,
        "least_queue_packets": (NS2_LEAST_QUEUE if ns2 else 0.0) if least is None else least,
        "first_passes": ns2 if queue.first_passes is None else queue.first_passes,
        "overflow_restarts": ns2 if queue.overflow_restarts is None else queue.overflow_restarts,
    }


def discipline_of(queue: Queue, largest_packet_bytes: int) -> Discipline:
    """Turn a table without faults into the engine's discipline.

    Parameters
    ----------
    queue : Queue
        The table.
    largest_packet_bytes : int
        The largest packet that crosses the link [B].

    Returns
    -------
    Discipline
        What the engine reads.
    """
    match queue.discipline:
        case "priority":
            return Discipline(scheduler=StrictPriority("priority", queue.levels), overflow=queue.victim)
        case "red":
            red = Red(
                "red",
                min_threshold_packets=queue.min_threshold,
                max_threshold_packets=queue.max_threshold,
                weight=queue.weight,
                max_probability=queue.max_probability,
                gentle=queue.gentle,
                mean_packet_bytes=queue.mean_packet or largest_packet_bytes,
                **_red_rules(queue),
            )
            return Discipline(aqm=red, overflow=queue.victim)
        case "codel":
            codel = Codel(
                "codel",
                target_s=CODEL_TARGET_S if queue.target is None else queue.target,
                interval_s=queue.interval,
                ecn=queue.ecn == "all",
                ce_threshold_s=queue.ce_threshold,
                mtu_bytes=largest_packet_bytes,
                rules="rfc" if queue.rules == "rfc" else "linux",
            )
            return Discipline(aqm=codel)
        case "pie":
            pie = Pie(
                "pie",
                target_s=PIE_TARGET_S if queue.target is None else queue.target,
                update_s=queue.update,
                alpha=queue.alpha,
                beta=queue.beta,
                burst_s=queue.burst,
                ecn=queue.ecn == "all",
                mtu_bytes=largest_packet_bytes,
            )
            return Discipline(aqm=pie)
        case name:
            return Discipline(overflow=_OVERFLOWS[name])
