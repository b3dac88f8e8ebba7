"""Warnings: what is legal but should be looked at before the numbers are trusted."""

from collections.abc import Iterator
from dataclasses import dataclass

from ackclock.scenario.check_queues import beyond_the_buffer, weighs
from ackclock.scenario.contract import DISCIPLINES
from ackclock.scenario.copies import copies_of, link_copies
from ackclock.scenario.network import REVERSE, Direction, Network, flow_names, largest_packets
from ackclock.scenario.places import Places
from ackclock.scenario.resolved_buffers import ByteBuffer, PacketBuffer
from ackclock.scenario.schema import Flow, Run
from ackclock.scenario.schema_links import Link
from ackclock.scenario.schema_tcp import Rto, Tcp
from ackclock.scenario.schema_traffic import Traffic
from ackclock.scenario.source import Location
from ackclock.scenario.tcp import completed
from ackclock.scenario.traffic import is_tcp, mean_rate_bps
from ackclock.scenario.warn_queues import (
    DEFAULT_BUFFER,
    counted_otherwise,
    default_buffers,
    marks_nothing,
    polices,
    short_red,
    waits_for_marks,
)
from ackclock.units import show

_WARMUP_ROUND_TRIPS = 10
_DURATION_ROUND_TRIPS = 20


@dataclass(frozen=True, slots=True)
class Warning_:  # noqa: N801 (Warning is a built-in exception)
    """Something to check before trusting the results.

    Parameters
    ----------
    place : str
        Table and field.
    text : str
        What to check.
    """

    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


@dataclass
class Warner:
    """The search for what to look at in a scenario without faults."""

    links: tuple[Link, ...]
    flows: tuple[Flow, ...]
    run: Run
    places: Places
    network: Network

    def warnings(self) -> Iterator[Warning_]:
        """Give all warnings."""
        largest = largest_packets(self.flows, self.network)
        for position in range(len(self.links)):
            if 2 * position not in largest and 2 * position + 1 not in largest:
                yield self._warning(("link", position), "no flow crosses the link")
        for position, way in enumerate(self.network.directions):
            if way is not None and way.processing_s is not None:
                if position not in largest:
                    yield self._warning(way.location, "no flow begins or ends at the host")
            elif way is not None:
                yield from self._link(way, largest.get(position))
        yield from self._buffers_by_default()
        for position, flow in enumerate(self.flows):
            yield from self._flow(("flow", position), flow)
        yield from self._times()

    def _warning(self, location: Location, text: str) -> Warning_:
        return Warning_(self.places.short(location), text)

    def _link(self, way: Direction, largest: int | None) -> Iterator[Warning_]:
        buffer, queue = (*way.location, "buffer"), (*way.location, "queue")
        discipline = way.queue.discipline
        if way.rate_bps is None or polices(way):
            reason = "at an unlimited rate no packet waits" if way.rate_bps is None else "at a policer no packet waits"
            if way.buffer is not None or discipline != "drop-tail":
                field = buffer if way.buffer is not None else queue
                yield self._warning(field, f"has no effect: {reason}")
            return
        crossing = [flow for flow in self.flows if discipline == "step" and self._crosses(flow, way)]
        for location, text in (*short_red(way, largest), *counted_otherwise(way), *marks_nothing(way, crossing)):
            yield self._warning(location, text)
        if way.limit is None:
            if discipline in {"drop-from-front", "random-drop"}:
                yield self._warning(queue, f"{discipline} never drops from an unlimited buffer")
        else:
            yield from self._limited(way, way.limit, largest)

    def _limited(self, way: Direction, limit: PacketBuffer | ByteBuffer, largest: int | None) -> Iterator[Warning_]:
        packets = limit.packets if isinstance(limit, PacketBuffer) else limit.bytes / (largest or 1)
        if packets < 2 and way.counting == "with-service" and largest is not None:
            text = 'holds only the packet in transmission; counting = "waiting" counts those that wait only'
            yield self._warning((*way.location, "buffer"), text)
        unreached = beyond_the_buffer(way.queue, packets)
        if unreached and largest is not None:
            yield self._warning((*way.location, "queue"), unreached)

    def _flow(self, location: Location, flow: Flow) -> Iterator[Warning_]:
        tcp = completed(flow.tcp)
        if flow.start_spread and flow.start + flow.start_spread > self.run.duration:
            yield self._warning((*location, "start_spread"), "some starts can come after the end of the run")
        if flow.traffic is not None and not is_tcp(flow):
            yield from self._offered(location, flow, flow.traffic)
            return
        bounded = flow.size is not None or flow.traffic is not None or tcp.max_window is not None
        # The socket buffers of a host bound what is in flight.
        bounded = bounded or tcp.send_buffer is not None or tcp.receive_window == "autotuned"
        if not (bounded or self._drops(flow) or self._default_buffers(flow)):
            text = "no buffer on the path is limited, nor the window: the queue grows as long as the run lasts"
            yield self._warning((*location, "path"), text)
        route = self.network.route(flow)
        ways = [way for link in (route.forward if route else ()) if (way := self.network.directions[link]) is not None]
        if unmarked := waits_for_marks(flow, ways):
            yield self._warning((*location, "tcp"), unmarked)
        without_effect = {
            "dupack_threshold": tcp.recovery == "old-tahoe",
            "limited_transmit": tcp.recovery == "old-tahoe" and bool(tcp.limited_transmit),
            "half_window": tcp.dialect == "ns2" and tcp.recovery in {"old-tahoe", "tahoe"},
            "partial_ack_timer": tcp.recovery != "newreno",
            "sack_blocks": tcp.recovery != "sack1",
            "sack_block_bytes": tcp.recovery != "sack1",
            "ack_delay": tcp.ack_every == 1,
        }
        for name, idle in without_effect.items():
            if idle and flow.tcp.gives(name):
                reason = "ack_every = 1" if name == "ack_delay" else f'recovery = "{tcp.recovery}"'
                yield self._warning((*location, "tcp", name), f"has no effect with {reason}")
        yield from self._levels(location, flow)
        yield from self._host(location, flow)
        yield from self._clock_phase(location, flow.tcp, tcp.rto)

    def _clock_phase(self, location: Location, own: Tcp, rto: Rto) -> Iterator[Warning_]:
        exact = rto.estimator != "ticks" if rto.estimator else not rto.granularity
        if exact and own.rto.gives("clock_phase"):
            reason = f'estimator = "{rto.estimator}"' if rto.estimator else 'granularity = "0 s"'
            yield self._warning((*location, "tcp", "rto", "clock_phase"), f"has no effect with {reason}")

    def _buffers_by_default(self) -> Iterator[Warning_]:
        for position in sorted({link for flow in self.flows for link in self._default_buffers(flow)}):
            way = self.network.directions[position]
            if way is not None:
                yield self._warning((*way.location, "buffer"), DEFAULT_BUFFER)

    def _default_buffers(self, flow: Flow) -> list[int]:
        return list(default_buffers(self.links, flow, self.network))

    def _levels(self, location: Location, flow: Flow) -> Iterator[Warning_]:
        route = self.network.route(flow)
        for field, links in (("priority", route.forward), ("ack_priority", route.back)) if route else ():
            ways = [self.network.directions[link] for link in links]
            if flow.gives(field) and not any(way and way.queue.discipline == "priority" for way in ways):
                yield self._warning(
                    (*location, field), "has no effect: no link on the path has the discipline priority"
                )

    def _host(self, location: Location, flow: Flow) -> Iterator[Warning_]:
        route = self.network.route(flow)
        ways = [self.network.directions[link] for link in (*route.forward, *route.back)] if route else []
        if flow.gives("host") and not any(way and way.queue.discipline == "cake" for way in ways):
            yield self._warning((*location, "host"), "has no effect: no link on the path has the discipline cake")
        if flow.gives("weight") and not any(way and weighs(way.queue) for way in ways):
            text = 'has no effect: no link on the path has fair queueing with the separation "perfect" or "group"'
            yield self._warning((*location, "weight"), text)

    def _offered(self, location: Location, flow: Flow, traffic: Traffic) -> Iterator[Warning_]:
        """Look for a link that holds all that comes from a source that nothing slows down."""
        route = self.network.route(flow)
        for link in route.forward if route else ():
            way = self.network.directions[link]
            flows = 1 if way is None or way.private else flow.count * self._copies_sharing(flow, way)
            if way and way.rate_bps and way.limit is None and flows * mean_rate_bps(traffic) > way.rate_bps:
                text = (
                    f'{show(flows * mean_rate_bps(traffic), "bit/s")} are more than the link "{way.name}" carries, and '
                    "its buffer is unlimited: the queue grows as long as the run lasts"
                )
                yield self._warning((*location, "traffic", "rate"), text)

    def _copies_sharing(self, flow: Flow, way: Direction) -> int:
        """Return how many copies of a flow cross a link: all of them, or one if it is in each copy."""
        copies = link_copies(self.links)
        return 1 if copies.get(way.name.removesuffix(REVERSE), 1) > 1 else copies_of(flow, copies)

    def _crosses(self, flow: Flow, way: Direction) -> bool:
        route = self.network.route(flow)
        return route is not None and any(self.network.directions[link] is way for link in route.forward)

    def _drops(self, flow: Flow) -> bool:
        route = self.network.route(flow)
        ways = [self.network.directions[link] for link in route.forward + route.back] if route else []
        return any(
            way is not None
            and (
                way.losing is not None
                or polices(way)
                or (
                    way.rate_bps is not None
                    and (way.limit is not None or DISCIPLINES[way.queue.discipline]["drops_early"])
                )
            )
            for way in ways
        )

    def _times(self) -> Iterator[Warning_]:
        names = flow_names([flow.name for flow in self.flows])
        round_trips = [
            (route.round_trip_s(flow), name)
            for flow, name in zip(self.flows, names, strict=True)
            if (route := self.network.route(flow)) is not None
        ]
        longest, name = max(round_trips)
        if self.run.duration < _DURATION_ROUND_TRIPS * longest:
            needed = show(_DURATION_ROUND_TRIPS * longest, "s")
            text = f'is shorter than {_DURATION_ROUND_TRIPS} round trips of the flow "{name}" ({needed})'
            yield self._warning(("run", "duration"), text)
        if self.run.replications > 1 and self.run.warmup < _WARMUP_ROUND_TRIPS * longest:
            needed = show(_WARMUP_ROUND_TRIPS * longest, "s")
            text = (
                f'is shorter than {_WARMUP_ROUND_TRIPS} round trips of the flow "{name}" ({needed}): '
                "each replication measures its own start too"
            )
            yield self._warning(("run", "warmup"), text)
