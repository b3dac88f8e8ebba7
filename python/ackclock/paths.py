"""Paths of a resolved scenario."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from ackclock.scenario import Element, Resolved, ResolvedFlow
from ackclock.scenario.losses import LossLaw
from ackclock.scenario.resolved_elements import DelayProcessSettings
from ackclock.scenario.resolved_queues import Discipline


@dataclass(frozen=True, slots=True)
class Node:
    """A link with a rate on a flow's way, counted in the flow's packets.

    Parameters
    ----------
    name : str
        The link's.
    rate_bps : float
        The mean where it changes [bit/s].
    packet_rate : float
        [pkt/s]
    buffer : float
        Packets that it holds in all, the one in transmission included; infinite where it is unlimited.
    queue : Discipline
        Its scheduler, AQM and overflow rule.
    private : bool
        Whether each flow has a copy of its own.
    """

    name: str
    rate_bps: float
    packet_rate: float
    buffer: float
    queue: Discipline
    private: bool


def empty_round_trip_s(resolved: Resolved, flow: ResolvedFlow, sizes: tuple[int, int] | None = None) -> float:
    """Compute the least round trip [s]: over empty queues, with service and processing of a data packet and an ACK.

    A ping's is that of the request and the echo; packets that nothing answers have the way there alone.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    flow : ResolvedFlow
        The flow.
    sizes : tuple of int, optional
        Sizes of the packet there and of the one back instead, such as those of a handshake [B].
    """
    there, back = sizes or (flow.packet_bytes, flow.answer_bytes)
    time = flow.return_delay_s + _way_s(resolved, flow.return_path, back, ack=True)
    return empty_one_way_s(resolved, flow, there) + time


def empty_one_way_s(resolved: Resolved, flow: ResolvedFlow, packet_bytes: int | None = None) -> float:
    """Compute the least time of a data packet from its sender to its receiver [s], over empty queues.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    flow : ResolvedFlow
        The flow.
    packet_bytes : int, optional
        Size of the packet instead of that of the flow's [B].
    """
    return flow.forward_delay_s + _way_s(resolved, flow.path, packet_bytes or flow.packet_bytes, ack=False)


def _way_s(resolved: Resolved, path: Sequence[int], size_bytes: int, *, ack: bool) -> float:
    links = _links(resolved, path)
    return sum(link.least_delay_s + link.service_s(size_bytes) + link.processing_s(ack=ack) for link in links)


def meets_acks(resolved: Resolved) -> bool:
    """Return whether data of one flow and ACKs of another cross the same link."""
    data = {link for flow in resolved.flows for link in flow.path}
    acks = {link for flow in resolved.flows for link in flow.return_path}
    return bool(data & acks)


def host_of(resolved: Resolved, path: Sequence[int]) -> Element | None:
    """Give the host at the end of a way, the element of its process; None if the end takes no time."""
    last = resolved.elements[path[-1]] if path else None
    return last if last is not None and last.kind == "host" else None


def links_of(resolved: Resolved, path: Sequence[int]) -> tuple[int, ...]:
    """Give the links of a way without the host at its end."""
    return tuple(path if host_of(resolved, path) is None else path[:-1])


def delay_processes(resolved: Resolved, flow: ResolvedFlow) -> list[DelayProcessSettings]:
    """List the changing delays on a flow's way, there and back."""
    found = (link.delay_process for link in _links(resolved, flow.crossed))
    return [process for process in found if process is not None and process.law.changes]


def policers(resolved: Resolved, flow: ResolvedFlow) -> list[str]:
    """Name the policers on a flow's way, there and back."""
    links = _links(resolved, flow.crossed)
    return [link.name for link in links if link.token_bucket is not None and link.token_bucket.kind == "policer"]


def changing_rates(resolved: Resolved, flow: ResolvedFlow) -> list[str]:
    """Name the links on a flow's way, there and back, whose rate changes."""
    links = _links(resolved, flow.crossed)
    return [link.name for link in links if link.rate_process is not None and link.rate_process.law.changes]


def losses(resolved: Resolved, flow: ResolvedFlow) -> list[LossLaw]:
    """List the laws by which links on a flow's way lose its data."""
    found = (link.loss for link in _links(resolved, flow.path))
    return [loss.law for loss in found if loss is not None and loss.applies_to != "acks"]


def nodes(resolved: Resolved, path: Sequence[int], packet_bytes: float) -> list[Node]:
    """List the links with a rate on a way, in order, for packets of a size."""
    return [_node(link, link.rate_bps, packet_bytes) for link in _links(resolved, path) if link.rate_bps is not None]


def _links(resolved: Resolved, path: Sequence[int]) -> Iterator[Element]:
    return (resolved.elements[index] for index in path)


def _node(link: Element, rate_bps: float, packet_bytes: float) -> Node:
    capacity = link.capacity_packets(packet_bytes)
    return Node(
        link.name,
        rate_bps,
        rate_bps / (8.0 * packet_bytes),
        inf if capacity is None else capacity,
        link.queue,
        link.kind == "private-link",
    )
