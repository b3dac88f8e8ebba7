"""Traffic of a flow: its resolved form and its faults."""

import math
from collections.abc import Iterator
from typing import Final

from ackclock.errors import Fault
from ackclock.scenario.places import Places
from ackclock.scenario.resolved_tcp import WritesSettings
from ackclock.scenario.resolved_traffic import (
    Connection,
    EmpiricalSize,
    ExponentialExponentialSize,
    ExponentialParetoSize,
    ExponentialSize,
    FixedSize,
    OnOffTraffic,
    ParetoSize,
    PingTraffic,
    ResolvedSize,
    ResolvedTime,
    ResolvedTraffic,
    SteadyTraffic,
    TcpTraffic,
    WebTraffic,
)
from ackclock.scenario.schema import Flow
from ackclock.scenario.schema_traffic import Period, Size, Traffic, Writes
from ackclock.scenario.sizes import read_sizes
from ackclock.scenario.source import Location, Source
from ackclock.scenario.tables import TableError

SIZE_CLASSES = (6, 14, 30, 62, 128, 256, 512, 1024, 2048, 4096)
"""Upper ends of the classes of sizes by which transfers are measured [engset, table 1]; above the last is one more."""

USUAL_TAIL_MEANS = 7.0
"""The tail of exponential-exponential, in means [engset, section 3.2]."""

_LEAST_PACKETS_IN_ON = 1e-3
NEEDED_BY_TRAFFIC = {
    "web": ("size", "off"),
    "constant": ("rate",),
    "poisson": ("rate",),
    "on-off": ("rate", "on", "off"),
    "poisson-on-off": ("rate", "on", "off"),
    "ping": (),
}
OPTIONAL_IN_TRAFFIC = {"ping": ("interval",)}
_OF_TCP: Final = ("tcp", "writes", "return_path", "rtt")
_OF_TCP_AND_NOT_OF_PINGS: Final = ("tcp", "writes", "ack", "ack_priority")
PING_INTERVAL_S = 1.0
"""The interval of `ping` without options [s]."""
SIZE_FIELDS = {
    "fixed": ("mean",),
    "exponential": ("mean", "min"),
    "exponential-pareto": ("mean", "min", "tail_fraction", "shape"),
    "exponential-exponential": ("mean", "min", "tail_fraction", "tail_mean"),
    "pareto": ("mean", "shape"),
    "empirical": ("file",),
}


def is_tcp(flow: Flow) -> bool:
    """Return whether the flow's packets are acknowledged."""
    return flow.traffic is None or flow.traffic.kind == "web"


def has_transfers(flow: Flow) -> bool:
    """Return whether the flow transfers something that ends."""
    return flow.size is not None or (flow.traffic is not None and flow.traffic.kind == "web")


def mean_rate_bps(traffic: Traffic) -> float:
    """Compute the mean rate of a source without TCP [bit/s]; of a ping it is not counted."""
    rate = traffic.rate or 0.0
    if traffic.on is None or traffic.off is None or traffic.on.mean + traffic.off.mean == 0.0:
        return rate
    return rate * traffic.on.mean / (traffic.on.mean + traffic.off.mean)


def traffic_faults(places: Places, location: Location, flow: Flow) -> Iterator[Fault]:
    """Find what is wrong between the fields of a flow's traffic."""
    traffic = flow.traffic
    if traffic is None:
        return
    yield from _flow_faults(places, location, flow, traffic)
    here = (*location, "traffic")
    yield from _kind_faults(places, here, traffic)
    if traffic.size is not None:
        yield from _law_faults(places, (*here, "size"), traffic.size)
        yield from _mean_faults(places, (*here, "size"), traffic.size)
    if traffic.on is not None and traffic.rate is not None:
        packets = traffic.on.mean * traffic.rate / 8 / flow.packet
        if packets < _LEAST_PACKETS_IN_ON:
            problem = f"is so short that it holds {packets:.2g} packets in the mean"
            yield places.fault((*here, "on"), problem, allowed=f"{_LEAST_PACKETS_IN_ON} packets or more")


def _flow_faults(places: Places, location: Location, flow: Flow, traffic: Traffic) -> Iterator[Fault]:
    """Check the flow's other fields against its traffic."""
    if flow.size is not None:
        web = traffic.kind == "web"
        hint = "the size of its transfers is traffic.size" if web else "it sends as long as the run lasts"
        yield places.fault((*location, "size"), "is given in addition to traffic", hint=hint)
    names = () if is_tcp(flow) else _OF_TCP_AND_NOT_OF_PINGS if flow.is_ping else _OF_TCP
    for name in names:
        if flow.gives(name):
            problem = f'belongs to TCP, and traffic of the kind "{traffic.kind}" has none'
            yield places.fault((*location, name), problem, given=None)


def _kind_faults(places: Places, location: Location, traffic: Traffic) -> Iterator[Fault]:
    """Check which fields are given against the kind."""
    needed, optional = NEEDED_BY_TRAFFIC[traffic.kind], OPTIONAL_IN_TRAFFIC.get(traffic.kind, ())
    for name in ("size", "rate", "interval", "on", "off"):
        given = getattr(traffic, name) is not None
        if name in needed and not given:
            hint = f'traffic of the kind "{traffic.kind}" needs it'
            yield places.fault(location, f'field "{name}" is missing', hint=hint, given=None)
        elif given and name not in (*needed, *optional):
            with_it = [
                kind
                for kind in NEEDED_BY_TRAFFIC
                if name in (*NEEDED_BY_TRAFFIC[kind], *OPTIONAL_IN_TRAFFIC.get(kind, ()))
            ]
            kinds = " or ".join(f'"{kind}"' for kind in with_it)
            problem = f'belongs to traffic of the kind {kinds}, not to "{traffic.kind}"'
            yield places.fault((*location, name), problem)


def _law_faults(places: Places, location: Location, size: Size) -> Iterator[Fault]:
    """Check which fields are given against the law."""
    known = SIZE_FIELDS[size.law]
    for name in Size.model_fields:
        if name != "law" and size.gives(name) and name not in known:
            laws = " or ".join(f'"{law}"' for law, fields in SIZE_FIELDS.items() if name in fields)
            yield places.fault((*location, name), f'belongs to the law {laws}, not to "{size.law}"')
    for name in ("mean", "file"):
        if name in known and getattr(size, name) is None:
            hint = f'the law "{size.law}" needs it'
            yield places.fault(location, f'field "{name}" is missing', hint=hint, given=None)
    if size.law == "empirical" and size.file is not None:
        yield from _file_faults(places, (*location, "file"), size.file)


def _mean_faults(places: Places, location: Location, size: Size) -> Iterator[Fault]:
    """Check the mean against the other numbers."""
    if size.mean is None:
        return
    if size.law == "fixed" and size.mean != int(size.mean):
        yield places.fault((*location, "mean"), "is not a whole number of packets")
    if "min" in SIZE_FIELDS[size.law] and size.min > size.mean:
        field = "min" if size.gives("min") else "mean"
        yield places.fault((*location, field), "min is above the mean", given=f"{size.min:g} pkt")
    elif least_mean(size) > size.mean:
        problem = "is too small for its tail: nothing is left for the body"
        allowed = f"{least_mean(size):.6g} pkt or more"
        hint = "lower tail_mean" if size.law == "exponential-exponential" else "lower tail_fraction or raise shape"
        yield places.fault((*location, "mean"), problem, allowed=allowed, hint=hint)


def least_mean(size: Size) -> float:
    """Compute the mean at which the scale B of the body is zero [engset, section 3.2]."""
    if size.law == "exponential-pareto":
        return size.min * (1 + size.tail_fraction / (size.shape - 1))
    if size.law == "exponential-exponential":
        return size.min + size.tail_fraction * tail_packets(size)
    return 1.0


def tail_packets(size: Size) -> float:
    """Take the tail's mean beyond the knee [packets]."""
    return USUAL_TAIL_MEANS * (size.mean or 0.0) if size.tail_mean is None else size.tail_mean


def _file_faults(places: Places, location: Location, name: str) -> Iterator[Fault]:
    try:
        read_sizes(name, places.source.folder)
    except TableError as error:
        yield places.fault(location, error.problem, allowed=error.allowed, hint=error.hint)


def resolved_traffic(
    traffic: Traffic | None, size_packets: int | None, connection: Connection, source: Source
) -> ResolvedTraffic:
    """Turn what a flow sends into SI numbers with nothing implicit.

    Parameters
    ----------
    traffic : Traffic
        The table; None for one transfer.
    size_packets : int
        Size of the one transfer [packets]; None for one without end.
    connection : Connection
        What the flow's TCP would be, if it has one; echoes go the way of its ACKs.
    source : Source
        Where the scenario is from; files are read from its folder.

    Returns
    -------
    TcpTraffic, WebTraffic, SteadyTraffic, OnOffTraffic or PingTraffic
        What the engine reads.
    """
    match traffic:
        case None:
            return TcpTraffic("tcp", size_packets, connection)
        case Traffic(kind="web", size=Size() as size, off=Period() as off):
            return WebTraffic("web", _size(size, source), _time(off), SIZE_CLASSES, connection)
        case Traffic(kind="constant" | "poisson" as kind, rate=float(rate)):
            return SteadyTraffic(kind, rate)
        case Traffic(
            kind="on-off" | "poisson-on-off" as kind, rate=float(rate), on=Period() as on, off=Period() as off
        ):
            return OnOffTraffic(kind, rate, _time(on), _time(off))
        case Traffic(kind="ping", interval=interval):
            interval_s = PING_INTERVAL_S if interval is None else interval
            return PingTraffic("ping", interval_s, connection.return_path, connection.return_delay_s)
    raise AssertionError("a scenario that was checked has whole traffic")


def resolved_writes(writes: Writes | None, packet_bytes: int) -> WritesSettings | None:
    """Turn the bursts in which an application writes into packets and seconds; None if it writes all at the start."""
    if writes is None:
        return None
    burst = writes.burst
    packets = int(burst.value) if burst.unit == "pkt" else math.ceil(burst.value / packet_bytes)
    if writes.every is not None:
        return WritesSettings(packets, writes.every)
    return WritesSettings(packets, packets * packet_bytes * 8 / (writes.rate or 1.0))


def _time(period: Period) -> ResolvedTime:
    return ResolvedTime(period.law, period.mean)


def _size(size: Size, source: Source) -> ResolvedSize:
    mean, least = float(size.mean or 0.0), float(size.min)
    match size.law:
        case "fixed":
            return FixedSize("fixed", int(mean))
        case "exponential":
            return ExponentialSize("exponential", mean, least)
        case "exponential-pareto":
            return ExponentialParetoSize("exponential-pareto", mean, least, size.tail_fraction, size.shape)
        case "exponential-exponential":
            return ExponentialExponentialSize(size.law, mean, least, size.tail_fraction, float(tail_packets(size)))
        case "pareto":
            return ParetoSize("pareto", mean, size.shape)
        case "empirical":
            return EmpiricalSize("empirical", read_sizes(size.file or "", source.folder))
