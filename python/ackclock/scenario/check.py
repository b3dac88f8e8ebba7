"""Checks that need more than one field: names that must be known, times and sizes that must fit together."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from ackclock.errors import MOST_FAULTS_SHOWN, Fault
from ackclock.scenario.atm import add_channels
from ackclock.scenario.check_atm import atm_faults
from ackclock.scenario.check_hosts import end_faults, host_faults
from ackclock.scenario.check_precision import precision_faults, unmeasured_delay_faults
from ackclock.scenario.check_queues import bucket_faults, policer_faults, queue_faults, shaper_faults, wfq_faults
from ackclock.scenario.check_tcp import block_faults, last_segment_faults, tcp_faults
from ackclock.scenario.copies import captured_with_copies, copies_of, copy_faults, link_copies
from ackclock.scenario.delays import MOST_CHANGES, shortest_stay_s
from ackclock.scenario.fields import FieldError, LinkNames
from ackclock.scenario.handshakes import handshake_answer_bytes
from ackclock.scenario.measured_names import measured_names
from ackclock.scenario.network import (
    REVERSE,
    ChangingDelay,
    ChangingRate,
    Direction,
    Losing,
    Network,
    Route,
    add_hosts,
    both_directions,
    flow_names,
    lacks_rate,
    mirrored,
    network_of,
)
from ackclock.scenario.places import Places, ordinal
from ackclock.scenario.rates import shortest_stay_s as shortest_rate_s
from ackclock.scenario.read import Draft, missing
from ackclock.scenario.resolved_buffers import ByteBuffer
from ackclock.scenario.schema import MOST_CAPTURED, MOST_CROSSINGS, MOST_FLOWS, MOST_LINKS, Flow
from ackclock.scenario.schema_kinds import LONGEST_RUN_S, MOST_BUFFER_BYTES
from ackclock.scenario.source import Location
from ackclock.scenario.suggestions import did_you_mean
from ackclock.scenario.tcp import completed
from ackclock.scenario.traffic import is_tcp, traffic_faults
from ackclock.units import show

_ROUNDING_S = 1e-12


@dataclass
class Checker:
    """The search for the faults of a draft that lie between its fields."""

    draft: Draft
    places: Places
    network: Network
    all_named: bool
    crossed: list[str | None]
    hosts: list[str | None]
    asked: int = 0
    """Number of names that were not known so far."""

    def faults(self) -> Iterator[Fault]:
        """Give all faults."""
        yield from self._double_names()
        yield from self._numbers()
        yield from atm_faults(self.places, self.draft.atm)
        yield from host_faults(self.places, self.draft.hosts, self.crossed)
        yield from self._rates()
        rests = (
            both_directions(link, at, self.places.source.folder, self.duration_s)
            for at, link in self.draft.rest_of_links.items()
            if not lacks_rate(link)
        )
        for way in (*self.network.directions, *chain.from_iterable(rests)):
            if way is not None:
                yield from self._link(way)
        for position, flow in enumerate(self.draft.flows):
            yield from self._paths(("flow", position))
            if flow is not None:
                yield from self._flow(("flow", position), flow)
            elif position in self.draft.rest_of_flows:
                yield from self._fields(("flow", position), self.draft.rest_of_flows[position])
        whole = [(("flow", position), flow) for position, flow in enumerate(self.draft.flows) if flow is not None]
        yield from copy_faults(self.places, self.draft.links, whole)
        yield from self._run()
        yield from self._capture()

    @property
    def duration_s(self) -> float:
        """Length of the run [s]; infinite if it is faulty."""
        return _duration_s(self.draft)

    def _rates(self) -> Iterator[Fault]:
        """Check that each direction of a link has a rate, and only one."""
        whole = {position: link for position, link in enumerate(self.draft.links) if link is not None}
        for position, link in sorted({**self.draft.rest_of_links, **whole}.items()):
            # A table rate_process with a fault is not in what is left of its link.
            if lacks_rate(link) and self.places.value(("link", position, "rate_process")) is None:
                yield missing(self.places, ("link", position, "rate"))
            for table, location in ((link, ("link", position)), (link.reverse, ("link", position, "reverse"))):
                if table.gives("rate") and table.rate_process is not None:
                    problem, allowed = "is given in addition to rate_process", "one of rate and rate_process"
                    yield self.places.fault((*location, "rate"), problem, allowed=allowed)

    def _double_names(self) -> Iterator[Fault]:
        flows = [_name(self.places, "flow", position) for position in range(len(self.draft.flows))]
        links = [_name(self.places, "link", position) for position in range(len(self.draft.links))]
        for kind, names in (("link", links), ("flow", flow_names(flows))):
            first: dict[str | None, int] = {None: -1}
            for position, name in enumerate(names):
                if name is not None and first.setdefault(name, position) < position:
                    taken = f'the name "{name}" is taken by the {ordinal(first[name] + 1)} [[{kind}]]'
                    yield self.places.fault(
                        (kind, position, "name"), taken, hint=f"each {kind} needs a name of its own"
                    )

    def _numbers(self) -> Iterator[Fault]:
        copies = link_copies(self.draft.links)
        links = len(self.draft.links) + sum(copies.values()) - len(copies)
        elements = 2 * (links + len(self.draft.atm.channels)) + len(self.draft.hosts)
        if elements > MOST_LINKS:
            given = f"{elements} directions of links and channels, and hosts"
            yield self.places.fault((), "is too large", given=given, allowed=f"{MOST_LINKS} at most")
        flows = [(flow.count * copies_of(flow, copies), flow) for flow in self.draft.flows if flow is not None]
        crossings = sum(count * (len(flow.path) + len(flow.return_path or flow.path)) for count, flow in flows)
        if crossings > MOST_CROSSINGS:
            given = f"{crossings} links on the paths of all flows"
            yield self.places.fault((), "is too large", given=given, allowed=f"{MOST_CROSSINGS} at most")
        total = sum(count for count, _ in flows)
        if total > MOST_FLOWS:
            yield self.places.fault(
                (), "has too many flows", given=f"{total} with all counts and copies", allowed=f"{MOST_FLOWS} at most"
            )

    def _link(self, way: Direction) -> Iterator[Fault]:
        buffer = (*way.location, "buffer")
        if way.buffer is not None and way.buffer.unit == "s":
            if way.rate_bps is None:
                hint = "give the buffer in pkt or bytes, or the link a rate"
                yield self.places.fault(buffer, "is a time, but the link has no rate to drain it", hint=hint)
            elif way.limit == ByteBuffer(0):
                yield self.places.fault(buffer, f"is less than a byte at {show(way.rate_bps, 'bit/s')}")
            elif isinstance(way.limit, ByteBuffer) and way.limit.bytes > MOST_BUFFER_BYTES:
                yield self.places.fault(buffer, f"is more than 1e15 B at {show(way.rate_bps, 'bit/s')}")
        yield from queue_faults(self.places, (*way.location, "queue"), way.queue)
        yield from bucket_faults(self.places, way)
        yield from wfq_faults(self.places, way)
        yield from shaper_faults(self.places, way)
        processes = [process for process in (way.varying, way.changing) if process is not None]
        for process in processes:
            yield from self._changing(way, process)
        if way.losing is not None:
            yield from self._losing(way.losing)
        if way.private:
            yield from self._private(way)

    def _private(self, way: Direction) -> Iterator[Fault]:
        """Look for what a private link cannot have."""
        if way.queue.discipline != "drop-tail":
            hint = "a link that is not private takes any discipline"
            yield self.places.fault(
                (*way.location, "queue"), "belongs to a private link", allowed='"drop-tail"', hint=hint
            )
        for field, part in (("rate_process", way.varying), ("delay_process", way.changing), ("loss", way.losing)):
            if part is not None and part.location[: len(way.location)] == way.location:
                hint = "put it on a link that the flows share"
                yield self.places.fault((*part.location,), f"is the {field} of a private link", hint=hint, given=None)

    def _changing(self, way: Direction, changing: ChangingRate | ChangingDelay) -> Iterator[Fault]:
        if changing.location[: len(way.location)] != way.location:
            return  # the other direction's, which has it too
        yield from self._at_fault(changing)
        match changing:
            case ChangingRate(law=law):
                stay_s = shortest_rate_s(law) if law else None
            case ChangingDelay(law=delays):
                stay_s = shortest_stay_s(delays) if delays else None
        yield from self._too_often(changing.location, stay_s)

    def _losing(self, losing: Losing) -> Iterator[Fault]:
        yield from self._at_fault(losing)
        yield from self._too_often(losing.location, losing.loss.mean_interval)

    def _at_fault(self, part: ChangingRate | ChangingDelay | Losing) -> Iterator[Fault]:
        fault = part.fault
        if fault is not None:
            location = (*part.location, fault.field)
            yield self.places.fault(location, fault.problem, allowed=fault.allowed, hint=fault.hint)

    def _too_often(self, location: Location, interval_s: float | None) -> Iterator[Fault]:
        run = self.draft.run
        if interval_s and run is not None and run.duration / interval_s > MOST_CHANGES:
            problem = f"happens more than 1e7 times in a run: {show(interval_s, 's')} from one time to the next"
            yield self.places.fault(location, problem, given=None)

    def _flow(self, location: Location, flow: Flow) -> Iterator[Fault]:
        yield from self._fields(location, flow)
        route = self.network.route(flow)
        if route is not None:
            yield from self._route(location, flow, route)

    def _fields(self, location: Location, flow: Flow) -> Iterator[Fault]:
        """Check the fields of a flow against one another, whatever its path."""
        if flow.rtt is not None and flow.two_way_propagation is not None:
            hint = "rtt includes the service times, two_way_propagation does not"
            yield self.places.fault(
                (*location, "two_way_propagation"),
                "is given in addition to rtt",
                allowed="one of rtt and two_way_propagation",
                hint=hint,
            )
        run = self.draft.run
        if run is not None and flow.start >= run.duration:
            allowed = f"less than the duration, {show(run.duration, 's')}"
            yield self.places.fault((*location, "start"), "is not before the end of the run", allowed=allowed)
        yield from tcp_faults(self.places, (*location, "tcp"), flow)
        yield from traffic_faults(self.places, location, flow)
        yield from end_faults(self.places, location, flow, self.hosts)

    def _paths(self, location: Location) -> Iterator[Fault]:
        """Check the paths of a flow, whatever is wrong with its other fields."""
        there, back = (self._link_names((*location, field)) for field in ("path", "return_path"))
        unknown = [
            *self._unknown_links((*location, "path"), there),
            *self._unknown_links((*location, "return_path"), back),
        ]
        yield from unknown
        if not unknown:
            yield from self._crossed_twice(location, there, back)

    def _is_unknown(self, name: str) -> bool:
        """Return whether no link has the name, and none is without a name and so may be the one meant."""
        return self.all_named and name not in self.network.index

    def _similar(self, name: str) -> str | None:
        """Ask back with a link that is meant; of very many unknown names only for the first, which are shown."""
        self.asked += 1
        return did_you_mean(name, self.network.index) if self.asked <= MOST_FAULTS_SHOWN else None

    def _links(self) -> str:
        """Name the first links."""
        known = list(islice(self.network.index, 11))
        return ", ".join(f'"{link}"' for link in known[:10:2]) + (", ..." if len(known) > 10 else "")

    def _link_names(self, location: Location) -> tuple[str, ...]:
        try:
            return LinkNames("").read(self.places.value(location))
        except FieldError:
            return ()

    def _unknown_links(self, location: Location, names: tuple[str, ...]) -> Iterator[Fault]:
        for name in dict.fromkeys(names):
            if self._is_unknown(name):
                allowed = f'{self._links()} or one of these with "{REVERSE}"'
                problem = f'no link named "{name[:60]}"'
                a_host = 'a host is not on a path: a flow names it as its "sender" or "receiver"'
                hint = a_host if name in self.network.hosts else self._similar(name)
                yield self.places.fault(location, problem, allowed=allowed, hint=hint)

    def _crossed_twice(self, location: Location, there: tuple[str, ...], back: tuple[str, ...]) -> Iterator[Fault]:
        again = back or mirrored(there)
        double = next((name for name, times in Counter((*there, *again)).items() if times > 1), None)
        if double is not None:
            shared = double in there and double in again
            way = "data and ACKs both cross" if shared else "crosses"
            problem = f'{way} the link "{double}"{"" if shared else " twice"}'
            hint = f'the other direction is "{mirrored([double])[0]}"'
            field = "return_path" if double in back else "path"
            yield self.places.fault((*location, field), problem, allowed="each direction of a link once", hint=hint)

    def _route(self, location: Location, flow: Flow, route: Route) -> Iterator[Fault]:
        if route.private_s(flow) < -_ROUNDING_S * max(1.0, route.needed_s):
            yield self._too_short(location, flow, route)
        if route.round_trip_s(flow) > LONGEST_RUN_S:
            yield self.places.fault(
                (*location, "path"),
                f"one round trip takes {show(route.round_trip_s(flow), 's')}",
                allowed="at most 1e7 s",
            )
        yield from self._too_large_for_buffers(location, flow, route)
        yield from self._levels(location, flow, route)
        if is_tcp(flow):
            back = (self.network.directions[link] for link in route.back)
            yield from block_faults(self.places, location, flow, filter(None, back))
            there = (self.network.directions[link] for link in route.forward)
            yield from last_segment_faults(self.places, location, flow, filter(None, there))
        ways = [way for link in route.forward + route.back if (way := self.network.directions[link]) is not None]
        if not any(way.takes_time for way in ways):
            yield from self._nothing_limits(location, flow, route)

    def _too_short(self, location: Location, flow: Flow, route: Route) -> Fault:
        propagation = show(route.propagation_s, "s", 9)
        if flow.rtt is None:
            problem = f"is less than the two-way propagation delay of the links alone: {propagation}"
            return self.places.fault((*location, "two_way_propagation"), problem, allowed=f"{propagation} or more")
        data, ack = show(route.data_service_s, "s", 9), show(route.ack_service_s, "s", 9)
        answer = "its echo" if flow.is_ping else "an ACK"
        work = "transmit" if flow.sender is None and flow.receiver is None else "transmit and process"
        problem = (
            f"is less than the links alone need: {propagation} of propagation, {data} to {work} a packet of "
            f"{flow.packet_bytes} B, {ack} to {work} {answer} of {flow.answer_bytes} B"
        )
        least = math.ceil(route.needed_s * 1e12 - 1e-3) / 1e12
        return self.places.fault((*location, "rtt"), problem, allowed=f"{show(least, 's', 12)} or more")

    def _too_large_for_buffers(self, location: Location, flow: Flow, route: Route) -> Iterator[Fault]:
        answer, hello = "packet" if flow.is_ping else "ack", handshake_answer_bytes(flow)
        for fields, links, size in (
            (("packet",), route.forward, flow.packet_bytes),
            ((answer,), route.back, flow.answer_bytes),
            (("tcp", "handshake"), route.back, hello if hello > flow.answer_bytes else 0),
        ):
            place, what = (*location, *fields), "has an answer that is" if fields[0] == "tcp" else "is"
            for link in links:
                way = self.network.directions[link]
                yield from policer_faults(self.places, place, way, size)
                limit = None if way is None or way.rate_bps is None else way.limit
                if way and isinstance(limit, ByteBuffer) and way.counting == "with-service" and 0 < limit.bytes < size:
                    yield self.places.fault(
                        place,
                        f'{what} larger than the whole buffer of the link "{way.name}", so none would get through',
                        given=f"{size} B",
                        allowed=f"at most {limit.bytes} B",
                        hint='enlarge the buffer, or count only what waits: counting = "waiting"',
                    )

    def _levels(self, location: Location, flow: Flow, route: Route) -> Iterator[Fault]:
        given = "ack_priority" if flow.gives("ack_priority") else "priority"
        for field, level, links in (
            ("priority", flow.priority, route.forward),
            (given, flow.answer_level, route.back),
        ):
            for link in links:
                way = self.network.directions[link]
                if way and way.queue.discipline == "priority" and level >= way.queue.levels:
                    problem = f'no such priority level: the link "{way.name}" has {way.queue.levels}'
                    allowed = f"0 to {way.queue.levels - 1}"
                    hint = "0 is the highest; the queue's field levels is the number of levels"
                    yield self.places.fault((*location, field), problem, allowed=allowed, hint=hint)

    def _nothing_limits(self, location: Location, flow: Flow, route: Route) -> Iterator[Fault]:
        if not is_tcp(flow):
            return
        if route.round_trip_s(flow) == 0:
            problem = "all links are infinitely fast and without delay: a round trip takes no time"
            yield self.places.fault((*location, "path"), problem, hint="give a link a rate, or the flow an rtt")
        elif flow.size is None and flow.traffic is None and completed(flow.tcp).max_window is None:
            problem = "nothing limits the flow: all links are infinitely fast, its window and size unlimited"
            hint = "give a link a rate, or the flow a max_window or a size"
            yield self.places.fault((*location, "path"), problem, hint=hint)

    def _run(self) -> Iterator[Fault]:
        run = self.draft.run
        if run is not None and run.warmup >= run.duration:
            allowed = f"less than the duration, {show(run.duration, 's')}"
            yield self.places.fault(("run", "warmup"), "leaves no time to measure", allowed=allowed)
        if run is not None and run.precision is not None:
            names = flow_names([_name(self.places, "flow", position) for position in range(len(self.draft.flows))])
            measured = measured_names(self.network, link_copies(self.draft.links), names, self.draft.flows)
            yield from precision_faults(self.places, run, measured)
            if not run.delays:
                yield from unmeasured_delay_faults(self.places, run.precision)

    def _capture(self) -> Iterator[Fault]:
        captured = self.draft.trace and self.draft.trace.capture
        for name in dict.fromkeys(captured or ()):
            if self._is_unknown(name):
                problem, allowed = f'no link named "{name[:60]}"', self._links()
                yield self.places.fault(("trace", "capture"), problem, allowed=allowed, hint=self._similar(name))
        if captured and (most := captured_with_copies(captured, link_copies(self.draft.links))) > MOST_CAPTURED:
            given, allowed = f"{most} links with all copies", f"{MOST_CAPTURED} at most"
            yield self.places.fault(("trace", "capture"), "names too many links", given=given, allowed=allowed)
        if captured and len(set(captured)) < len(captured):
            yield self.places.fault(("trace", "capture"), "names a link twice")


def checker_of(draft: Draft, places: Places) -> Checker:
    """Lay out the network of a draft for checking."""
    names = [_name(places, "link", position) for position in range(len(draft.links))]
    network = network_of(draft.links, names, places.source.folder, _duration_s(draft))
    channels = [_name(places, "channel", position) for position in range(len(draft.atm.channels))]
    add_channels(network, draft.atm, channels)
    hosts = [_name(places, "host", position) for position in range(len(draft.hosts))]
    add_hosts(network, draft.hosts, hosts)
    crossed = names + channels
    return Checker(draft, places, network, bool(crossed) and all(crossed), crossed, hosts)


def _duration_s(draft: Draft) -> float:
    return math.inf if draft.run is None else float(draft.run.duration)


def _name(places: Places, kind: str, position: int) -> str | None:
    return places.name((kind, position))
