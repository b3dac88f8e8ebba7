"""Socket buffers of hosts: how many packets each holds in flight, and how many fill a path."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, expm1, floor, inf, log10, sqrt

from ackclock.paths import empty_round_trip_s
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.scenario.contract import SEGMENT_OVERHEAD_BYTES
from ackclock.scenario.resolved_tcp import SelectiveSettings

REACHED = 0.85
"""Ratio of the packets that a socket buffer has to hold to those that it holds from which it limits the flow."""
CLOSE = 0.05
"""Relative difference of what is in flight to what a buffer's first size announces up to which it is that."""
WITH_HOLES = 1.2
"""Ratio of what a socket buffer holds to what is in flight from which losses are worth a word."""
REPAIR = 1.25
"""Time from a packet's loss to the arrival of its retransmission in round trips: one, and RACK's reordering window
(RFC 8985 section 6.2)."""
LEAST_LOSSES = 1e-9
"""Losses in a round trip below which none is waited for: the wait goes to 0 with them."""
BEYOND = 0.8
"""Packets by which a receiver announces less for each one beyond a hole: half of the memory that its segment takes."""


@dataclass(frozen=True, slots=True)
class SocketBuffer:
    """A socket buffer at its largest size.

    Parameters
    ----------
    size_bytes : float
        Its size [B].
    packet_bytes : float
        What a packet takes of it [B].
    is_send : bool
        Whether it is the sender's.
    """

    size_bytes: float
    packet_bytes: float
    is_send: bool

    @property
    def packets(self) -> float:
        """The packets that it holds."""
        return self.size_bytes / self.packet_bytes

    def held(self, in_flight: float, loss_fraction: float) -> float:
        """Compute the packets that it has to hold with a number of them in flight and a fraction lost at random.

        A packet stays until all before it have arrived. One that was lost a time u before it comes again after the
        time of a repair, and with losses at random the time since the last one is exponential: the mean wait is that
        of the repair less (1 - exp(-x)) / (losses in a round trip), with x losses in the time of a repair.
        """
        losses = loss_fraction * in_flight
        wait = REPAIR + expm1(-REPAIR * losses) / losses if losses > LEAST_LOSSES else 0.0
        return in_flight * (1.0 + max(0.0, wait) * (1.0 if self.is_send else 1.0 + BEYOND))


def has_short_buffers(resolved: Resolved) -> bool:
    """Return whether a socket buffer may hold fewer packets than fill its flow's path, those behind holes included."""
    return any(
        one.packets < one.held(share_of_pipe(resolved, flow), 1.0)
        for flow in resolved.flows
        if flow.kind == "tcp"
        for one in socket_buffers(flow)
    )


def socket_buffers(flow: ResolvedFlow) -> Iterator[SocketBuffer]:
    """Give a flow's socket buffers that limit what is in flight.

    Half of a receive buffer is announced (Linux `tcp_adv_win_scale` 1). A sender writes until its buffer is full, and
    again when a third is free.
    """
    sender, receiver = flow.tcp.sender, flow.tcp.receiver.linux
    if not isinstance(sender, SelectiveSettings) or sender.writes is not None:
        return
    if sender.send_buffer is not None:
        size = sender.send_buffer.most_buffer_bytes
        yield SocketBuffer(size, 1.5 * (sender.segment_bytes + SEGMENT_OVERHEAD_BYTES), is_send=True)
    if receiver is not None and receiver.announced:
        yield SocketBuffer(receiver.most_buffer_bytes, 2.0 * sender.segment_bytes, is_send=False)


def most_in_flight(flow: ResolvedFlow) -> float:
    """Give the packets that a connection can have in flight, by its socket buffers and its window; else infinity."""
    if flow.connection is None:
        return inf
    return min(flow.tcp.sender.max_window or inf, *(one.packets for one in socket_buffers(flow)), inf)


def is_filled(flow: ResolvedFlow, in_flight: float, loss_fraction: float) -> bool:
    """Return whether a socket buffer at its largest size limits what a flow has in flight, be its path full or not."""
    return any(one.held(in_flight, loss_fraction) >= REACHED * one.packets for one in socket_buffers(flow))


def overflows(resolved: Resolved, index: int) -> bool:
    """Return whether a link's buffer holds less than what all that crosses it can have in flight.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    index : int
        Index of the link.
    """
    element = resolved.elements[index]
    crossing = [resolved.flows[at] for at in resolved.crossing_flows[index]]
    if any(flow.kind != "tcp" for flow in crossing):
        return element.buffer is not None
    alone = element.kind == "private-link"
    # ACKs are at most as many as the packets that they answer.
    packets = sum(most_in_flight(flow) * (1 if alone else flow.count) for flow in crossing)
    sizes = [flow.packet_bytes if index in flow.path else flow.longest_answer_bytes for flow in crossing]
    held = element.capacity_packets(float(max(sizes, default=1)))
    return held is not None and packets > held


def buffer_limit(
    resolved: Resolved, flow: ResolvedFlow, in_flight: float, loss_fraction: float
) -> dict[str, float] | None:
    """Give the numbers of the socket buffer that limits a flow; None if none does.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    flow : ResolvedFlow
        A flow with TCP.
    in_flight : float
        Its mean of packets in flight.
    loss_fraction : float
        The fraction of them that is lost.

    Returns
    -------
    dict of str to float, optional
        `packets` that it holds, its `bytes`, `enough_bytes` for what can be in flight, `other_enough_bytes` of the
        other side's buffer if that would not (else 0), whether these sizes fill the path (`fills`; else the losses
        limit the flow then), whether it is the sender's buffer (`send`), and whether losses make it hold more than is
        in flight (`holes`).
    """
    buffers = sorted(socket_buffers(flow), key=lambda one: one.packets / max(one.held(in_flight, loss_fraction), 1.0))
    if not buffers or buffers[0].held(in_flight, loss_fraction) < REACHED * buffers[0].packets:
        return None
    first, pipe = buffers[0], share_of_pipe(resolved, flow)
    reached = min(pipe, _window_of_losses(resolved, flow, loss_fraction))
    if reached > 0.0 and first.held(reached, loss_fraction) <= first.packets:
        return None
    enough = {one: two_digits_up(one.packet_bytes * one.held(reached, loss_fraction)) for one in buffers}
    return {
        "packets": first.packets,
        "bytes": first.size_bytes,
        "enough_bytes": enough[first],
        "other_enough_bytes": max((enough[one] for one in buffers[1:] if one.size_bytes < enough[one]), default=0.0),
        "fills": float(reached == pipe > 0.0),
        "holes": float(first.held(in_flight, loss_fraction) > WITH_HOLES * in_flight),
        "send": float(first.is_send),
    }


def first_buffer_limit(flow: ResolvedFlow, in_flight: float, cwnd: float) -> dict[str, float] | None:
    """Give the numbers of a receive buffer that has not grown from its first size and limits a flow; None elsewhere.

    What is in flight is what that size announces, and less than the congestion window.

    Parameters
    ----------
    flow : ResolvedFlow
        A flow with TCP.
    in_flight : float
        Its mean of packets in flight.
    cwnd : float
        Its mean congestion window [pkt].

    Returns
    -------
    dict of str to float, optional
        As of `buffer_limit`, without sizes that fill the path, and with `first`.
    """
    sender, receiver = flow.tcp.sender, flow.tcp.receiver.linux
    if not isinstance(sender, SelectiveSettings) or receiver is None or not receiver.announced:
        return None
    packets = receiver.buffer_bytes / (2.0 * sender.segment_bytes)
    if abs(in_flight - packets) > CLOSE * packets or cwnd <= (1.0 + CLOSE) * in_flight:
        return None
    none = dict.fromkeys(("enough_bytes", "other_enough_bytes", "fills", "holes", "send"), 0.0)
    return {"packets": packets, "bytes": float(receiver.buffer_bytes), **none, "first": 1.0}


def _window_of_losses(resolved: Resolved, flow: ResolvedFlow, loss_fraction: float) -> float:
    """Compute the mean window that random losses leave a control that they slow down [pkt]; infinite of any other.

    That of Reno (Mathis and others 1997), and of CUBIC the larger of it and RFC 9438, equation 5.
    """
    sender = flow.tcp.sender
    if loss_fraction <= 0.0 or not (sender.is_aimd or sender.is_cubic):
        return inf
    reno = sqrt(1.5 / loss_fraction)
    cubic = 1.054 * (empty_round_trip_s(resolved, flow) / loss_fraction) ** 0.75
    return max(reno, cubic) if sender.is_cubic else reno


def two_digits_up(size: float) -> float:
    """Round a size up to two digits; 0 stays.

    Examples
    --------
    >>> two_digits_up(10_010_000.0)
    11000000.0
    """
    if size <= 0.0:
        return 0.0
    step = float(10.0 ** (floor(log10(size)) - 1))
    return ceil(round(size / step, 6)) * step


def share_of_pipe(resolved: Resolved, flow: ResolvedFlow) -> float:
    """Compute the packets of a flow that fill its path, where TCP flows share the slowest link alike [pkt]."""
    rates = []
    for index in flow.path:
        rate_bps = resolved.elements[index].rate_bps
        if rate_bps is not None:
            crossing = (resolved.flows[at] for at in resolved.crossing_flows[index])
            sharing = sum(other.count for other in crossing if index in other.path and other.kind == "tcp")
            rates.append(rate_bps / (1 if resolved.elements[index].kind == "private-link" else sharing))
    return min(rates, default=0.0) * empty_round_trip_s(resolved, flow) / flow.packet_bits


def limiting_buffer(numbers: Mapping[str, float]) -> str:
    """Name the socket buffer that the numbers of `buffer_limit` are about: "send" or "receive"."""
    return "send" if numbers["send"] else "receive"
