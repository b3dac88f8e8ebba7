"""The network that a scenario's links and flows make: directions of links, routes, least round trips."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ackclock.scenario.delays import delay_law
from ackclock.scenario.handshakes import handshake_answer_bytes
from ackclock.scenario.losses import Loss, LossLaw, loss_law
from ackclock.scenario.rates import rate_law
from ackclock.scenario.resolved_buffers import ByteBuffer, PacketBuffer
from ackclock.scenario.resolved_elements import DelayLaw
from ackclock.scenario.resolved_rates import RateLaw
from ackclock.scenario.schema import Flow
from ackclock.scenario.schema_hosts import Host
from ackclock.scenario.schema_links import PLAIN, CountingName, DelayProcess, Link, TokenBucket
from ackclock.scenario.schema_queues import Queue, cake_buffer_bytes
from ackclock.scenario.schema_rates import RateProcess
from ackclock.scenario.source import Location
from ackclock.scenario.tables import TableError
from ackclock.units import Quantity

REVERSE = ".reverse"
_WHOLE_PICOSECONDS = 12


@dataclass(frozen=True, slots=True)
class ChangingRate:
    """The law of a changing rate, its table and random stream; in place of the law a fault if its fields are wrong."""

    process: RateProcess
    location: Location
    stream: str
    law: RateLaw | None
    fault: TableError | None

    def mean_bps(self, duration_s: float) -> float:
        """Return the mean rate [bit/s]; infinite if the law is faulty, so that no fault follows from it."""
        return self.law.mean_bps(duration_s) if self.law else math.inf


@dataclass(frozen=True, slots=True)
class ChangingDelay:
    """The law of a changing delay, its table and random stream; in place of the law a fault if its fields are wrong."""

    process: DelayProcess
    location: Location
    stream: str
    law: DelayLaw | None
    fault: TableError | None


@dataclass(frozen=True, slots=True)
class Losing:
    """The loss process of a link and its table; a fault if its fields are wrong."""

    loss: Loss
    location: Location
    law: LossLaw | None
    fault: TableError | None


@dataclass(frozen=True, slots=True)
class Direction:
    """One direction of a link or of an ATM channel, or the process of a host, with the place of its table."""

    name: str
    location: Location
    rate_bps: float | None
    delay_s: float
    buffer: Quantity | None
    counting: CountingName
    queue: Queue
    varying: "ChangingRate | None" = None
    """The process of its rate, whose mean `rate_bps` is."""
    changing: "ChangingDelay | None" = None
    losing: "Losing | None" = None
    private: bool = False
    bucket: TokenBucket | None = None
    processing_s: tuple[float, float] | None = None
    """Processing times of a host: for a data packet, and for an ACK [s]."""
    channel_end: int | None = None
    """End of an ATM channel where packets enter."""

    @property
    def takes_time(self) -> bool:
        """Return whether packets can wait there."""
        return self.rate_bps is not None or max(self.processing_s or (0.0,)) > 0.0

    @property
    def has_one_length(self) -> bool:
        """Return whether all its packets take the time of one length: each flow has a copy, which knows no other."""
        return self.private and self.rate_bps is not None

    @property
    def least_delay_s(self) -> float:
        """Least propagation delay [s]."""
        law = self.changing and self.changing.law
        return self.delay_s + (law.least_s if law else 0.0)

    @property
    def limit(self) -> PacketBuffer | ByteBuffer | None:
        """The buffer in whole packets or bytes; a time is what the link drains in it."""
        if self.buffer is None:
            return ByteBuffer(cake_buffer_bytes(self.queue)) if self.queue.discipline == "cake" else None
        if self.buffer.unit == "pkt":
            return PacketBuffer(int(self.buffer.value))
        if self.buffer.unit == "B":
            return ByteBuffer(int(self.buffer.value))
        drained_bits = (self.rate_bps or math.inf) * self.buffer.value
        return ByteBuffer(math.floor(drained_bits / 8 + 1e-6)) if math.isfinite(drained_bits) else None

    def service_s(self, size_bytes: int, *, ack: bool = False) -> float:
        """Return the time to transmit a packet at the largest rate, or to process it [s]."""
        if self.processing_s is not None:
            return self.processing_s[ack]
        if self.bucket is not None:
            return 0.0
        law = self.varying and self.varying.law
        most_bps = law.most_bps if law else self.rate_bps
        return 0.0 if most_bps is None else 8 * size_bytes / most_bps


@dataclass(frozen=True, slots=True)
class Route:
    """The way of a flow's data and ACKs, and what it takes of a round trip [s]."""

    forward: tuple[int, ...]
    back: tuple[int, ...]
    propagation_s: float
    data_service_s: float
    ack_service_s: float

    @property
    def needed_s(self) -> float:
        """Least round trip over the links alone [s]."""
        return self.propagation_s + self.data_service_s + self.ack_service_s

    def private_s(self, flow: Flow) -> float:
        """Return the flow's propagation delay beyond that of its links [s], to whole ps; negative if it wants less."""
        if flow.rtt is not None:
            rest = flow.rtt - self.needed_s
        elif flow.two_way_propagation is not None:
            rest = flow.two_way_propagation - self.propagation_s
        else:
            return 0.0
        return round(rest, _WHOLE_PICOSECONDS) + 0.0

    def round_trip_s(self, flow: Flow) -> float:
        """Compute the least round trip of the flow [s]."""
        return self.needed_s + max(0.0, self.private_s(flow))


@dataclass
class Network:
    """The directions of all links in the order of the resolved scenario, None in place of a faulty one."""

    directions: list[Direction | None] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    hosts: dict[str, int] = field(default_factory=dict)

    def route(self, flow: Flow) -> Route | None:
        """Find the route of a flow; None if it names a link or a host that is unknown or faulty."""
        forward = self._links(flow.path, flow.receiver)
        back = self._links(flow.return_path or mirrored(flow.path), flow.sender)
        if forward is None or back is None:
            return None
        there = [self.directions[link] for link in forward]
        again = [self.directions[link] for link in back]
        ways = [way for way in (*there, *again) if way is not None]
        if len(ways) < len(forward) + len(back):
            return None
        return Route(
            forward,
            back,
            propagation_s=math.fsum(way.least_delay_s for way in ways),
            data_service_s=math.fsum(way.service_s(flow.packet_bytes) for way in ways[: len(forward)]),
            ack_service_s=math.fsum(way.service_s(flow.answer_bytes, ack=True) for way in ways[len(forward) :]),
        )

    def _links(self, names: Sequence[str], host: str | None) -> tuple[int, ...] | None:
        links = [self.index.get(name) for name in names]
        links += [] if host is None else [self.hosts.get(host)]
        known = tuple(link for link in links if link is not None)
        return known if len(known) == len(links) else None


def network_of(
    links: Sequence[Link | None],
    names: Sequence[str | None],
    folder: Path | None = None,
    duration_s: float = math.inf,
) -> Network:
    """Lay out the network.

    Parameters
    ----------
    links : sequence of Link
        The links, None in place of a faulty one.
    names : sequence of str
        Their names, known for a faulty link too if its name is right.
    folder : Path, optional
        Where the scenario's file is.
    duration_s : float
        Length of the run, over which the mean of a rate is taken [s].

    Returns
    -------
    Network
        Link i has the directions 2 i and 2 i + 1; the first link of a name keeps it.
    """
    network = Network()
    for position, (link, name) in enumerate(zip(links, names, strict=True)):
        if name:
            network.index.setdefault(name, 2 * position)
            network.index.setdefault(name + REVERSE, 2 * position + 1)
        network.directions += (
            [None, None] if link is None or lacks_rate(link) else both_directions(link, position, folder, duration_s)
        )
    return network


def add_hosts(network: Network, hosts: Sequence[Host | None], names: Sequence[str | None]) -> None:
    """Append the processes of hosts to the links.

    Parameters
    ----------
    network : Network
        The network of links and channels.
    hosts : sequence of Host
        The hosts, None in place of a faulty one.
    names : sequence of str
        Their names, known for a faulty one too if its name is right.
    """
    for position, (host, name) in enumerate(zip(hosts, names, strict=True)):
        if name:
            network.hosts.setdefault(name, len(network.directions))
        network.directions.append(None if host is None else _process(host, position))


def _process(host: Host, position: int) -> Direction:
    return Direction(
        host.name,
        ("host", position),
        rate_bps=None,
        delay_s=0.0,
        buffer=None,
        counting="with-service",
        queue=PLAIN,
        processing_s=host.times_s,
    )


def lacks_rate(link: Link) -> bool:
    """Return whether a link has neither a rate nor a process of its rate."""
    return not link.gives("rate") and link.rate_process is None


def both_directions(link: Link, position: int, folder: Path | None, duration_s: float) -> list[Direction | None]:
    """Lay out the two directions of the link at a position; what it reads lies in the folder."""
    reverse, place = link.reverse, ("link", position)
    varying = _varying(link.rate_process, link.name, (*place, "rate_process"), folder)
    own = _varying(reverse.rate_process, link.name + REVERSE, (*place, "reverse", "rate_process"), folder)
    back_varying = own or (None if reverse.gives("rate") else varying)
    back_rate = reverse.rate if reverse.gives("rate") else link.rate
    changing = _changing(link.delay_process, link.name, (*place, "delay_process"), folder)
    there = Direction(
        link.name,
        place,
        varying.mean_bps(duration_s) if varying else link.rate,
        link.delay,
        link.buffer,
        link.counting,
        link.queue,
        varying,
        changing,
        _losing(link.loss, (*place, "loss")),
        link.private,
        link.token_bucket,
    )
    back = _changing(reverse.delay_process, link.name + REVERSE, (*place, "reverse", "delay_process"), folder)
    again = Direction(
        link.name + REVERSE,
        (*place, "reverse"),
        back_varying.mean_bps(duration_s) if back_varying else back_rate,
        reverse.delay if reverse.gives("delay") else link.delay,
        reverse.buffer,
        reverse.counting,
        reverse.queue,
        back_varying,
        back or (changing if changing and changing.process.both_ways else None),
        _losing(reverse.loss, (*place, "reverse", "loss")),
        link.private,
        reverse.token_bucket,
    )
    return [there, again]


def _losing(loss: Loss | None, location: Location) -> Losing | None:
    if loss is None:
        return None
    try:
        return Losing(loss, location, loss_law(loss), None)
    except TableError as fault:
        return Losing(loss, location, None, fault)


def _varying(process: RateProcess | None, stream: str, location: Location, folder: Path | None) -> ChangingRate | None:
    if process is None:
        return None
    try:
        return ChangingRate(process, location, stream, rate_law(process, folder), None)
    except TableError as fault:
        return ChangingRate(process, location, stream, None, fault)


def _changing(
    process: DelayProcess | None, stream: str, location: Location, folder: Path | None
) -> ChangingDelay | None:
    if process is None:
        return None
    try:
        return ChangingDelay(process, location, stream, delay_law(process, folder), None)
    except TableError as fault:
        return ChangingDelay(process, location, stream, None, fault)


def largest_packets(flows: Iterable[Flow | None], network: Network) -> dict[int, int]:
    """Find the largest packet, ACK or hello that crosses each link [B]; links that no flow crosses are left out."""
    largest: dict[int, int] = {}
    for flow in flows:
        route = flow and network.route(flow)
        if not (flow and route):
            continue
        answer = max(flow.answer_bytes, handshake_answer_bytes(flow))
        for links, size in ((route.forward, flow.packet_bytes), (route.back, answer)):
            for link in links:
                largest[link] = max(size, largest.get(link, 0))
    return largest


def mirrored(path: Sequence[str]) -> tuple[str, ...]:
    """Turn a path round: the same links backwards, each in its other direction.

    Examples
    --------
    >>> mirrored(["access", "satellite.reverse"])
    ('satellite', 'access.reverse')
    """
    return tuple(name.removesuffix(REVERSE) if name.endswith(REVERSE) else name + REVERSE for name in reversed(path))


def flow_names(names: Sequence[str | None]) -> list[str]:
    """Name the flows that have no name of their own.

    Examples
    --------
    >>> flow_names([None]), flow_names([None, "web", None])
    (['flow'], ['flow1', 'web', 'flow3'])
    """
    if len(names) == 1:
        return [names[0] or "flow"]
    return [name or f"flow{position + 1}" for position, name in enumerate(names)]
