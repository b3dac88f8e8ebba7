"""A resolved scenario as the models ask about it, and the ways to say that it does not fit."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from ackclock.paths import (
    Node,
    changing_rates,
    delay_processes,
    empty_round_trip_s,
    host_of,
    links_of,
    losses,
    nodes,
    policers,
)
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.scenario.resolved_queues import Discipline
from ackclock.scenario.resolved_tcp import ClassicSettings, SelectiveSettings
from ackclock.scenario.resolved_traffic import PingTraffic
from ackclock.socket_buffers import most_in_flight, socket_buffers
from ackclock.wording import amount, number, plural

_DROP_FACTORS: Final[Mapping[str, float]] = {"arriving": 1.0, "front": 0.0, "random": 0.5}

NOT_FILLING: Final = "the window of this congestion control need not grow until a loss, or up to the receiver's window"
IN_BURSTS: Final = "an application writes in bursts; the model is of a connection that always has data"
NOT_AIMD: Final = "the window does not grow by a packet a round trip and halve at a loss, as the model's does"


def drop_factor(queue: Discipline) -> float | None:
    """Give the drop factor alpha [bottlenecks] of a queue that drops at a full buffer alone; random drop's is its mean.

    None for queues that drop before, or have more than one queue.
    """
    return _DROP_FACTORS[queue.overflow] if queue.is_fifo and not queue.drops_early else None


def early_drops(scene: "Scene") -> list[str]:
    """Give a reason for each node that drops at any size of its buffer, an unlimited one included."""
    return [
        f"{node.name} drops before its buffer is full ({node.queue})"
        for node in scene.forward
        if node.queue.drops_early
    ]


NEGLIGIBLE_LOAD: Final = 0.01
"""Fraction of a link's rate below which pings change no other flow."""

Work = dict[tuple[str, str, bool], float]
"""Seconds of work a second, by host, the link that brings it, and whether it is of ACKs."""


@dataclass(frozen=True)
class Scene:
    """A flow, or identical flows, on its path.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    flow : ResolvedFlow
        The flow, or the first of them.
    """

    resolved: Resolved
    flow: ResolvedFlow

    @property
    def name(self) -> str:
        """Name of the flow."""
        return self.flow.name

    @property
    def count(self) -> int:
        """Number of identical flows."""
        return self.flow.count

    @property
    def packet_bits(self) -> float:
        """Bits of a data packet, headers included."""
        return self.flow.packet_bits

    @property
    def there(self) -> tuple[int, ...]:
        """The links on the path of the data."""
        return links_of(self.resolved, self.flow.path)

    @property
    def again(self) -> tuple[int, ...]:
        """The links on the path of the ACKs."""
        return links_of(self.resolved, self.flow.return_path)

    @property
    def forward(self) -> list[Node]:
        """The links with a rate on the path of the data."""
        return nodes(self.resolved, self.flow.path, self.flow.packet_bytes)

    @property
    def access_and_nodes(self) -> tuple[float, list[Node]]:
        """The rate of the source's own link [pkt/s] and the links after it: a first one without a limit is its own."""
        found = self.forward
        if len(found) > 1 and found[0].buffer == inf:
            return found[0].packet_rate, found[1:]
        return inf, found

    @property
    def back(self) -> list[Node]:
        """The links with a rate on the path of the ACKs, counted in ACKs."""
        return nodes(self.resolved, self.flow.return_path, self.flow.tcp.ack_bytes)

    @property
    def bottleneck(self) -> Node | None:
        """The slowest link of the data's way; of equals the first."""
        return min(self.forward, key=lambda node: node.packet_rate, default=None)

    @property
    def round_trip_s(self) -> float:
        """The round trip over empty queues [s], service times included."""
        return empty_round_trip_s(self.resolved, self.flow)

    @property
    def max_window(self) -> float:
        """The receiver's window [pkt]."""
        return self.flow.tcp.sender.window_packets

    @property
    def most_in_flight(self) -> float:
        """The packets that the receiver's window and both socket buffers allow in flight at most [pkt]."""
        return most_in_flight(self.flow)

    @property
    def limit(self) -> str:
        """The name of what allows no more in flight: the receiver's window or one of the socket buffers."""
        if self.most_in_flight == self.max_window:
            return "the receiver's window"
        least = min(socket_buffers(self.flow), key=lambda one: one.packets)
        return "the send buffer" if least.is_send else "the receive buffer"

    def slow_acks(self) -> list[str]:
        """Say whether ACKs queue on the return path."""
        bottleneck = self.bottleneck
        waiting = None if bottleneck is None else self._queue_of_acks(bottleneck.packet_rate)
        if bottleneck is None or waiting is None:
            return []
        return [f"the ACKs wait at {waiting[0].name}, which is slower for them than {bottleneck.name} is for the data"]

    def waiting_acks(self, rate: float, flows: int = 1) -> list[str]:
        """Say whether ACKs queue on the return path at a rate of the data.

        Parameters
        ----------
        rate : float
            Data [pkt/s] over the links that flows share.
        flows : int
            Flows that have this rate together; a private link carries the ACKs of one of them.
        """
        waiting = self._queue_of_acks(rate, flows)
        if waiting is None:
            return []
        node, load, carried = waiting
        rates = [amount(one * self.packet_bits, "bit/s") for one in (load, carried)]
        return [f"the ACKs of {rates[0]} wait at {node.name}, which carries those of {rates[1]}"]

    def _queue_of_acks(self, rate: float, flows: int = 1) -> tuple[Node, float, float] | None:
        """Find the first link where ACKs queue, the data whose ACKs come there, and those whose it carries [pkt/s]."""
        every = self.flow.tcp.receiver.ack_every
        slowest = inf if self.bottleneck is None else self.bottleneck.packet_rate
        for node in self.back:
            load = min(rate / flows, slowest) if node.private else rate
            if node.packet_rate * every < load < inf:
                return node, load, node.packet_rate * every
        return None


def without_pings(resolved: Resolved) -> Resolved:
    """Give the scenario as it is to models: without pings, if other flows are left and pings load no link by 1%."""
    others = tuple(flow for flow in resolved.flows if flow.kind != "ping")
    if not others or len(others) == len(resolved.flows):
        return resolved
    load: dict[int, float] = defaultdict(float)
    for flow in resolved.flows:
        if isinstance(flow.traffic, PingTraffic):
            for element in flow.crossed:
                load[element] += flow.count * flow.packet_bits / flow.traffic.interval_s
    rates = ((resolved.elements[element].rate_bps, bps) for element, bps in load.items())
    is_light = all(rate is None or bps < NEGLIGIBLE_LOAD * rate for rate, bps in rates)
    return replace(resolved, flows=others) if is_light else resolved


def lone_flow(resolved: Resolved) -> tuple[Scene | None, list[str]]:
    """Give the scenario's only flow where it is one TCP connection without end; else the reasons why not."""
    scene = Scene(resolved, resolved.flows[0])
    several = other_than_one(resolved) or rate_reasons(resolved)
    if several:
        return None, several
    if scene.flow.size_packets is not None:
        return None, ["the transfer ends; the model is of one without end"]
    busy = busy_hosts(resolved)
    if busy:
        return None, busy
    return scene, []


def alike_at_one_bottleneck(resolved: Resolved) -> tuple[list[Scene], list[str]]:
    """Give the flows where all are TCP connections without end, with one bottleneck, round trip and size of packets.

    Returns
    -------
    list of Scene
        The flows.
    list of str
        The reasons why they are not so; empty if they are.
    """
    scenes = [Scene(resolved, flow) for flow in resolved.flows]
    reasons = other_than_bulk(resolved) or rate_reasons(resolved) or busy_hosts(resolved)
    if reasons:
        return scenes, reasons
    if any(scene.flow.size_packets is not None for scene in scenes):
        reasons.append("transfers end; the model is of flows without end")
    names = {None if scene.bottleneck is None else scene.bottleneck.name for scene in scenes}
    if len(names) != 1 or None in names:
        reasons.append("the flows have no bottleneck in common")
    trips = [scene.round_trip_s for scene in scenes]
    if max(trips) > 1.01 * min(trips):
        reasons.append("the round trips differ; the model has one")
    if len({scene.packet_bits for scene in scenes}) > 1:
        reasons.append("the packets differ in size")
    if any(losses(resolved, scene.flow) for scene in scenes):
        reasons.append("links lose packets at random; the model's losses are those of the bottleneck")
    if any(delay_processes(resolved, scene.flow) for scene in scenes):
        reasons.append("the delay changes; the model has a constant round trip")
    return scenes, reasons


def rate_reasons(resolved: Resolved) -> list[str]:
    """Say which links' rates change or police, as every model here has constant ones with queues."""
    names = dict.fromkeys(name for flow in resolved.flows for name in changing_rates(resolved, flow))
    changing = [f"the rate of {name} changes; the model has a constant one" for name in names]
    policing = dict.fromkeys(name for flow in resolved.flows for name in policers(resolved, flow))
    return changing + [f"{name} is a policer; the model has links with queues" for name in policing]


def control_of(scene: Scene) -> str | None:
    """Give the name of the engine's congestion control that a sender has; None for others."""
    sender = scene.flow.tcp.sender
    if not isinstance(sender, SelectiveSettings) or sender.congestion_control.program is not None:
        return None
    return sender.congestion_control.name


def busy_hosts(resolved: Resolved) -> list[str]:
    """Say which hosts could not process what full links would bring them; short of that, processing is but a delay."""
    work: Work = {}
    for flow in resolved.flows:
        scene = Scene(resolved, flow)
        pace = inf if scene.bottleneck is None else scene.bottleneck.packet_rate
        source = "" if scene.bottleneck is None else scene.bottleneck.name
        for path, ack, rate in ((flow.path, False, pace), (flow.return_path, True, pace / flow.tcp.receiver.ack_every)):
            host = host_of(resolved, path)
            if host is not None and host.processing_s(ack=ack) > 0.0:
                place = (host.name, source, ack)
                work[place] = max(work.get(place, 0.0), rate * host.processing_s(ack=ack))
    return overloaded(work)


def overloaded(work: Work) -> list[str]:
    """Say which hosts have more work than time."""
    loads: dict[str, float] = defaultdict(float)
    for (host, _source, _ack), load in work.items():
        loads[host] += load
    return [
        f"the process of {host} cannot handle what its links could bring"
        + (f", {amount(load, '1')} of its time" if load < inf else "")
        + "; to the model processing is but a delay"
        for host, load in loads.items()
        if load >= 1.0
    ]


def other_than_one(resolved: Resolved) -> list[str]:
    """Say why a model of one TCP connection does not apply to the flows, if it does not."""
    flows = sum(flow.count for flow in resolved.flows)
    if flows > 1:
        return [f"{plural(flows, 'flow')} run; the model is of one alone"]
    return other_than_bulk(resolved)


def other_than_bulk(resolved: Resolved) -> list[str]:
    """Say why a model of plain TCP connections does not apply to the flows, if it does not."""
    match next((flow.kind for flow in resolved.flows if flow.kind != "tcp"), None):
        case "web":
            return ["web sources transfer and fall silent in turn; the model is of a connection that always has data"]
        case "ping":
            return ["pings share the path; the model has none"]
        case "datagrams":
            return ["a source without congestion control sends; the model has none"]
        case _:
            return _pauses(resolved) or [reason for flow in resolved.flows for reason in stalls(flow)][:1]


def _pauses(resolved: Resolved) -> list[str]:
    return [IN_BURSTS] if any(flow.writes_in_bursts for flow in resolved.flows) else []


def averaged_from_start(scene: Scene) -> tuple[str, ...]:
    """Warn if a run averages over the first slow start too, where a model is of the cycles after it."""
    if scene.resolved.run.warmup_s > 0.0:
        return ()
    return ("run.warmup is 0: the run's averages hold the first slow start; the model is of the cycles after it",)


def stalls(flow: ResolvedFlow) -> list[str]:
    """Say whether the sender waits for the timer of delayed ACKs again and again, as no model here does."""
    every, sender = flow.tcp.receiver.ack_every, flow.tcp.sender
    burst = sender.max_burst if isinstance(sender, ClassicSettings) else None
    if burst is not None and burst < every:
        return [f"max_burst lets {plural(burst, 'packet')} out for an ACK of {number(every)}: the window is never used"]
    window = most_in_flight(flow)
    if flow.tcp.receiver.linux is None and window < every:
        return [
            f"an ACK is for {plural(every, 'packet')}, and {number(window)} are in flight: each waits for its timer"
        ]
    return []
