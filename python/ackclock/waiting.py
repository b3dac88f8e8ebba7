"""Waits of packets: how long full buffers, queues and outages keep them, of the lengths that packets have there."""

from collections.abc import Sequence
from math import inf

from ackclock.paths import delay_processes, empty_round_trip_s
from ackclock.scenario import Element, Resolved, ResolvedFlow
from ackclock.scenario.resolved_buffers import ByteBuffer
from ackclock.scenario.resolved_rates import AlternatingRate, StepsRate

_MOST_STEPS = 100_000
"""Steps of a rate among which outages are looked for."""


def longest_pipe(resolved: Resolved, element: Element) -> tuple[float, float] | None:
    """Give the bandwidth-delay product of a link's longest path [pkt], and the bytes of a packet.

    None if what crosses it is anything but data of TCP connections without end, if its queue drops early or if its rate
    changes: what such a link needs is not known without a simulation.
    """
    index = resolved.element_indices[element.name]
    crossing = [resolved.flows[at] for at in resolved.crossing_flows[index]]
    plain = all(index in flow.path and flow.is_endless and flow.tcp.sender.keeps_half_at_loss for flow in crossing)
    if not crossing or not plain or element.rate_bps is None or element.queue.drops_early or element.kind != "link":
        return None
    if element.rate_process is not None or element.token_bucket is not None:
        return None
    packet = float(max(flow.packet_bytes for flow in crossing))
    longest = max(empty_round_trip_s(resolved, flow) for flow in crossing)
    return element.rate_bps * longest / (8.0 * packet), packet


def capacity(element: Element, packet_bytes: float) -> float:
    """Give the packets that a link's buffer holds; infinity if it is unlimited."""
    found = element.capacity_packets(packet_bytes)
    return inf if found is None else found


def queued_round_trip(
    resolved: Resolved, flow: ResolvedFlow, measured_s: float, waits_s: Sequence[tuple[float, float]] | None
) -> tuple[float, float, dict[str, float]]:
    """Compare a flow's round trip with that of its path without queues.

    Where the path's delay changes, or where no wait explains the round trip, as a receiver delays its ACKs, the waits
    at its links are what queues add to it.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    flow : ResolvedFlow
        A TCP flow.
    measured_s : float
        Its mean round trip [s].
    waits_s : sequence of (float, float), optional
        The mean wait at each element that it crosses, and the longest one [s]; None if waits were not measured.

    Returns
    -------
    tuple of float, float and dict
        The round trip with queues and the one without [s]; the numbers that a verdict names.
    """
    empty = empty_round_trip_s(resolved, flow)
    numbers = {"empty_round_trip_s": empty, "round_trip_s": measured_s}
    changes, waits = bool(delay_processes(resolved, flow)), waits_s or ()
    unexplained = waits_s is not None and measured_s - empty > sum(longest for _, longest in waits)
    if not (changes or unexplained):
        return measured_s, empty, numbers
    # A mean over the packets of all flows can be more than this flow's.
    waited = min(measured_s - empty, sum(mean for mean, _ in waits))
    numbers |= {"queueing_s": waited, "delay_changes": float(changes)}
    return (measured_s, measured_s - waited, numbers) if changes else (empty + waited, empty, numbers)


def mean_drain_s(
    resolved: Resolved, element: Element, longest_s: float, throughputs_bps: Sequence[float]
) -> tuple[float, dict[str, float]]:
    """Compute the time in which a link transmits a full buffer of the packets that crossed it.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    element : Element
        The link, with a rate and a buffer.
    longest_s : float
        The time with the largest packets alone [s].
    throughputs_bps : sequence of float
        Throughput of each of `Resolved.rows`.

    Returns
    -------
    tuple of float and dict
        The time [s]; what the buffer holds, "packets" or "bytes", and where packets are counted and are of several
        lengths, the mean of these ("mean_bytes").
    """
    buffer = element.buffer
    if isinstance(buffer, ByteBuffer):
        return longest_s, {"bytes": float(buffer.bytes)}
    packets = 0.0 if buffer is None else float(buffer.packets)
    size = _mean_packet_bytes(resolved, resolved.element_indices[element.name], throughputs_bps)
    if size is None or element.rate_bps is None:
        return longest_s, {"packets": packets}
    return packets * size * 8.0 / element.rate_bps, {"packets": packets, "mean_bytes": size}


def _mean_packet_bytes(resolved: Resolved, element: int, throughputs_bps: Sequence[float]) -> float | None:
    """Compute the mean length of the packets that crossed a link [B]; None if all have one, or if nothing crossed."""
    carried: dict[int, float] = {}
    for flow, throughput in zip(resolved.rows, throughputs_bps, strict=True):
        packets = throughput / flow.packet_bits
        if element in flow.path:
            carried[flow.packet_bytes] = carried.get(flow.packet_bytes, 0.0) + packets
        if element in flow.return_path:
            every = 1 if flow.connection is None else flow.connection.receiver.ack_every
            carried[flow.answer_bytes] = carried.get(flow.answer_bytes, 0.0) + packets / every
    total = sum(carried.values())
    if len(carried) < 2 or total <= 0.0:
        return None
    return sum(size * packets for size, packets in carried.items()) / total


def longest_wait(resolved: Resolved, flows: Sequence[ResolvedFlow], waits_s: Sequence[float]) -> int | None:
    """Find the element at which packets of flows waited for longest, longer than the least of their timers.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    flows : sequence of ResolvedFlow
        TCP flows.
    waits_s : sequence of float
        The longest wait at each element [s].

    Returns
    -------
    int or None
        Index of the element; None if the waits are shorter than timers, or if delays change, which timers see as well.
    """
    crossed = {index for flow in flows for index in flow.crossed}
    where = max(crossed, key=lambda index: waits_s[index], default=None)
    if where is None or any(delay_processes(resolved, flow) for flow in flows):
        return None
    return where if waits_s[where] >= min(flow.tcp.sender.rto.min_s for flow in flows) else None


def longest_outage_s(resolved: Resolved, element: Element) -> float | None:
    """Compute how long a link's rate is 0 at a time, in the measured part of a run.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    element : Element
        One of its elements.

    Returns
    -------
    float or None
        The longest outage [s], or the longest mean stay in one where stays are random; None without outages.
    """
    law, run = element.rate_process.law if element.rate_process else None, resolved.run
    if isinstance(law, AlternatingRate):
        return max((state.mean_stay_s for state in law.states if state.rate_bps == 0.0), default=None)
    steps = law.steps_until(run.duration_s, _MOST_STEPS) if isinstance(law, StepsRate) else None
    longest, began = 0.0, None
    for time, rate in [*(steps or []), (run.duration_s, 1.0)]:
        if rate == 0.0 and began is None:
            began = time
        elif rate > 0.0 and began is not None:
            longest = max(longest, time - max(began, run.warmup_s))
            began = None
    return longest or None
