"""The resolved scenario: SI numbers, nothing implicit. It is what the engine runs and what a result keeps."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, cast

from pydantic import ConfigDict, Discriminator, Field, Tag, TypeAdapter, ValidationError
from pydantic_core import to_json

from ackclock.errors import Fault, ScenarioError
from ackclock.quantities import MOST_ROWS_OF_A_GROUP, QUANTITIES
from ackclock.scenario.places import as_toml
from ackclock.scenario.resolved_atm import ChannelsSettings
from ackclock.scenario.resolved_links import DelayProcessSettings, LossSettings, ProcessingSettings
from ackclock.scenario.resolved_traffic import ResolvedTraffic, WebTraffic
from ackclock.scenario.schema import (
    MOST_BUFFER_BYTES,
    MOST_FLOWS,
    MOST_LEVELS,
    MOST_LINKS,
    CountingName,
    DialectName,
    EstimatorName,
    IncreaseName,
    PartialAckTimerName,
    PriorityVictimName,
    RecoveryName,
    RedVictimName,
    SampleName,
    SlowStartName,
)

_CONFIG: Final = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

Seconds = Annotated[float, Field(ge=0, le=1e7)]
Packets = Annotated[int, Field(ge=1, le=10**12)]
Bytes = Annotated[int, Field(ge=1, le=65535)]
Probability = Annotated[float, Field(gt=0, le=1)]
LinkIndices = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class PrecisionSettings:
    """The quantity whose interval ends the run, and how narrow it must be."""

    __pydantic_config__ = _CONFIG
    element: Literal["flow", "link"]
    name: str
    quantity: str
    within: Probability
    most: Annotated[int, Field(ge=2, le=10**6)]
    batch: Annotated[int, Field(ge=2, le=10**6)]


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How long, how often, from which seed."""

    __pydantic_config__ = _CONFIG
    duration_s: Annotated[float, Field(gt=0, le=1e7)]
    warmup_s: Seconds
    replications: Annotated[int, Field(ge=1)]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    confidence: Annotated[float, Field(gt=0, lt=1)]
    precision: PrecisionSettings | None = None


@dataclass(frozen=True, slots=True)
class PacketBuffer:
    """A buffer that counts packets."""

    __pydantic_config__ = _CONFIG
    packets: Packets


@dataclass(frozen=True, slots=True)
class ByteBuffer:
    """A buffer that counts bytes."""

    __pydantic_config__ = _CONFIG
    bytes: Annotated[int, Field(ge=1, le=MOST_BUFFER_BYTES)]


def _unit(buffer: object) -> str:
    """Tell by which unit a buffer, or its JSON, counts."""
    return (
        "packets" if isinstance(buffer, PacketBuffer) or (isinstance(buffer, dict) and "packets" in buffer) else "bytes"
    )


_Buffer = Annotated[
    Annotated[PacketBuffer, Tag("packets")] | Annotated[ByteBuffer, Tag("bytes")],
    Discriminator(_unit),
]


@dataclass(frozen=True, slots=True)
class PlainQueue:
    """A discipline without parameters."""

    __pydantic_config__ = _CONFIG
    discipline: Literal["drop-tail", "drop-from-front", "random-drop"]


@dataclass(frozen=True, slots=True)
class RedQueue:
    """Random early detection (Floyd, Jacobson 1993)."""

    __pydantic_config__ = _CONFIG
    discipline: Literal["red"]
    min_threshold_packets: Annotated[float, Field(gt=0)]
    max_threshold_packets: Annotated[float, Field(gt=0)]
    weight: Probability
    max_probability: Probability
    gentle: bool
    victim: RedVictimName
    mean_packet_bytes: Bytes


@dataclass(frozen=True, slots=True)
class PriorityQueue:
    """Strict priority by the flows' levels, without interruption; the buffer is shared."""

    __pydantic_config__ = _CONFIG
    discipline: Literal["priority"]
    levels: Annotated[int, Field(ge=1, le=MOST_LEVELS)]
    victim: PriorityVictimName


@dataclass(frozen=True, slots=True)
class SimplexLink:
    """One direction of a link; or, with `processing`, the TCP process of a host, last on the ways that end there."""

    __pydantic_config__ = _CONFIG
    name: str
    rate_bps: Annotated[float, Field(ge=1, le=1e13)] | None
    delay_s: Seconds
    buffer: _Buffer | None
    counting: CountingName
    queue: Annotated[PlainQueue | RedQueue | PriorityQueue, Field(discriminator="discipline")]
    delay_process: DelayProcessSettings | None = None
    loss: LossSettings | None = None
    private: bool = False
    processing: ProcessingSettings | None = None


@dataclass(frozen=True, slots=True)
class RtoSettings:
    """Retransmission timer."""

    __pydantic_config__ = _CONFIG
    estimator: EstimatorName
    sample: SampleName
    k: Annotated[int, Field(ge=1, le=1000)]
    granularity_s: Annotated[float, Field(ge=0, le=1e5)]
    min_s: Seconds
    max_s: Annotated[float, Field(ge=1e-6, le=1e5)]
    initial_s: Annotated[float, Field(ge=1e-6, le=1e5)]
    max_backoff: Annotated[int, Field(ge=1, le=10**9)]
    clock_offset_s: Seconds


@dataclass(frozen=True, slots=True)
class SenderSettings:
    """TCP sender, one choice an axis; null is "max_window" for `initial_ssthresh`, else unlimited or infinite."""

    __pydantic_config__ = _CONFIG
    dialect: DialectName
    recovery: RecoveryName
    initial_window: Annotated[float, Field(ge=1, le=1e6)]
    initial_ssthresh: Annotated[float, Field(ge=1, le=1e9)] | None
    max_window: Packets | None
    slow_start_while: SlowStartName
    increase: IncreaseName
    dupack_threshold: Annotated[int, Field(ge=1, le=10**9)] | None
    limited_transmit: bool
    partial_ack_timer: PartialAckTimerName
    rto: RtoSettings


@dataclass(frozen=True, slots=True)
class ReceiverSettings:
    """TCP receiver."""

    __pydantic_config__ = _CONFIG
    ack_every: Annotated[int, Field(ge=1, le=10**9)]
    ack_delay_s: Seconds


@dataclass(frozen=True, slots=True)
class ResolvedFlow:
    """A flow, or `count` flows alike, called name[0], name[1], ...; the paths are indices of links."""

    __pydantic_config__ = _CONFIG
    name: str
    path: LinkIndices
    return_path: tuple[Annotated[int, Field(ge=0)], ...]
    forward_delay_s: Seconds
    return_delay_s: Seconds
    packet_bytes: Bytes
    ack_bytes: Bytes
    start_s: Seconds
    start_spread_s: Seconds
    size_packets: Annotated[int, Field(ge=1, le=10**15)] | None
    sender: SenderSettings
    receiver: ReceiverSettings
    priority: Annotated[int, Field(ge=0, lt=MOST_LEVELS)] = 0
    ack_priority: Annotated[int, Field(ge=0, lt=MOST_LEVELS)] = 0
    count: Annotated[int, Field(ge=1, le=MOST_FLOWS)] = 1
    traffic: Annotated[ResolvedTraffic, Field(discriminator="kind")] | None = None


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """What is recorded."""

    __pydantic_config__ = _CONFIG
    cwnd: bool
    rtt: bool
    sequence: bool
    queue: bool
    queue_distribution: bool
    drops: bool
    losses: bool
    overview_interval_s: Annotated[float, Field(ge=1e-9)] | None
    capture: tuple[str, ...] | None
    delay: bool = False
    recovery: bool = False
    rounds: bool = False
    overview_detail_s: Annotated[float, Field(ge=1e-9)] | None = None


@dataclass(frozen=True, slots=True)
class Resolved:
    """A scenario in SI numbers with nothing implicit.

    Notes
    -----
    The fields and their order are those of the JSON form; names carry their unit. `from_dict` checks all that it reads,
    the constructor nothing.
    """

    __pydantic_config__ = _CONFIG
    format: Literal[1, 2]
    title: str
    run: RunSettings
    links: Annotated[tuple[SimplexLink, ...], Field(min_length=1, max_length=MOST_LINKS)]
    flows: Annotated[tuple[ResolvedFlow, ...], Field(min_length=1, max_length=MOST_FLOWS)]
    trace: TraceSettings
    atm: ChannelsSettings | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form as dicts and lists.

        Returns
        -------
        dict
            The fields in their fixed order.
        """
        return cast("dict[str, Any]", _adapter().dump_python(self, mode="json"))

    def to_json(self, indent: int | None = None) -> str:
        """Give the JSON form as text, the same for the same scenario.

        Parameters
        ----------
        indent : int, optional
            Spaces of indentation; without it all is on one line.

        Returns
        -------
        str
            JSON.
        """
        return to_json(self, indent=indent).decode()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Resolved":
        """Read the JSON form again, and check it.

        Parameters
        ----------
        data : mapping
            What `to_dict` gave.

        Returns
        -------
        Resolved
            The same scenario.

        Raises
        ------
        ScenarioError
            With all that is wrong.
        """
        try:
            resolved = _adapter().validate_json(json.dumps(data, allow_nan=True))
        except ValidationError as error:
            raise ScenarioError(_faults(error), "resolved scenario") from None
        except (TypeError, ValueError, RecursionError) as error:
            raise ScenarioError([Fault("resolved scenario", f"is no JSON: {error}")], "resolved scenario") from None
        faults = _cross_faults(resolved)
        if faults:
            raise ScenarioError(faults, "resolved scenario")
        return resolved


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Resolved]:
    return TypeAdapter(Resolved)


def _faults(error: ValidationError) -> list[Fault]:
    return [
        Fault(
            f"resolved scenario, field {_path(detail['loc'])}",
            detail["msg"][:1].lower() + detail["msg"][1:],
            given=None if detail["type"] == "missing" else as_toml(detail["input"]),
        )
        for detail in error.errors(include_url=False)
        if not (detail["type"] == "too_short" and detail["input"])  # follows from a fault within
    ]


def _path(location: tuple[str | int, ...]) -> str:
    if location[2:3] in {("buffer",), ("queue",), ("traffic",)}:  # what follows tells the kinds of the union apart
        location = (*location[:3], *location[4:])
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in location).lstrip(".") or "(all)"


def _cross_faults(resolved: Resolved) -> list[Fault]:
    faults = []
    if resolved.run.warmup_s >= resolved.run.duration_s:
        faults.append(_cross_fault("run.warmup_s", "is not shorter than the duration", resolved.run.warmup_s))
    for index, flow in enumerate(resolved.flows):
        faults += _flow_faults(f"flows[{index}]", flow, len(resolved.links))
    for index, link in enumerate(resolved.links):
        if link.private and link.queue.discipline != "drop-tail":
            problem = "belongs to a private link, which takes drop-tail"
            faults.append(_cross_fault(f"links[{index}].queue", problem, link.queue.discipline))
    known = {link.name for link in resolved.links}
    captured = resolved.trace.capture or ()
    unknown = [name for name in captured if name not in known]
    faults += [_cross_fault("trace.capture", "names an unknown link", name) for name in unknown]
    if resolved.atm and max(resolved.atm.links, default=0) >= len(resolved.links):
        problem = f"names a link beyond the last, {len(resolved.links) - 1}"
        faults.append(_cross_fault("atm.links", problem, resolved.atm.links))
    return [*faults, *_precision_faults(resolved)]


def _cross_fault(field: str, problem: str, given: object) -> Fault:
    return Fault(f"resolved scenario, field {field}", problem, given=as_toml(given))


def _flow_faults(place: str, flow: ResolvedFlow, links: int) -> list[Fault]:
    faults = []
    crossed = flow.path + flow.return_path
    if max(crossed) >= links:
        faults.append(_cross_fault(f"{place}.path", f"names a link beyond the last, {links - 1}", crossed))
    if len(set(crossed)) < len(crossed):
        faults.append(_cross_fault(f"{place}.path", "crosses a link twice", crossed))
    if flow.traffic is not None and flow.size_packets is not None:
        faults.append(_cross_fault(f"{place}.size_packets", "stands beside traffic", flow.size_packets))
    if isinstance(flow.traffic, WebTraffic) and list(flow.traffic.classes) != sorted(set(flow.traffic.classes)):
        faults.append(_cross_fault(f"{place}.traffic.classes", "is not in rising order", flow.traffic.classes))
    return faults


def _names(element: SimplexLink | ResolvedFlow) -> set[str]:
    """Give the names by which an element, or one of several flows alike, may be meant."""
    if isinstance(element, SimplexLink) or not 1 < element.count <= MOST_ROWS_OF_A_GROUP:
        return {element.name}
    return {element.name, *(f"{element.name}[{number}]" for number in range(element.count))}


def _precision_faults(resolved: Resolved) -> Iterator[Fault]:
    precision = resolved.run.precision
    if precision is None:
        return
    place = "resolved scenario, field run.precision"
    elements: tuple[SimplexLink | ResolvedFlow, ...] = resolved.links if precision.element == "link" else resolved.flows
    if precision.quantity not in QUANTITIES[precision.element]:
        yield Fault(f"{place}.quantity", "is none of a result's", given=as_toml(precision.quantity))
    if not any(precision.name in _names(each) for each in elements):
        yield Fault(f"{place}.name", f"names an unknown {precision.element}", given=as_toml(precision.name))
