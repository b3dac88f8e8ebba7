"""Socket buffers of hosts: how many packets each holds in flight, and how many fill a path."""

from collections.abc import Iterator

from ackclock.paths import empty_round_trip_s
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.scenario.contract import SEGMENT_OVERHEAD_BYTES
from ackclock.scenario.resolved_tcp import SelectiveSettings


def has_short_buffers(resolved: Resolved) -> bool:
    """Return whether a socket buffer holds fewer packets than fill its flow's path."""
    return any(
        size < of_packet * share_of_pipe(resolved, flow)
        for flow in resolved.flows
        if flow.kind == "tcp"
        for size, of_packet, _ in socket_buffers(flow)
    )


def socket_buffers(flow: ResolvedFlow) -> Iterator[tuple[float, float, bool]]:
    """Give the largest sizes of a flow's socket buffers, the bytes that a packet takes, and whether it is the sender's.

    Half of a receive buffer is announced (Linux `tcp_adv_win_scale` 1). A sender writes until its buffer is full, and
    again when a third is free.
    """
    sender, receiver = flow.tcp.sender, flow.tcp.receiver.linux
    if not isinstance(sender, SelectiveSettings) or sender.writes is not None:
        return
    if sender.send_buffer is not None:
        yield sender.send_buffer.most_buffer_bytes, 1.5 * (sender.segment_bytes + SEGMENT_OVERHEAD_BYTES), True
    if receiver is not None and receiver.announced:
        yield receiver.most_buffer_bytes, 2.0 * sender.segment_bytes, False


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
