"""Cost of a run before it is run: its packets, its time and its memory."""

from dataclasses import dataclass
from math import ceil, inf, log2, sqrt
from typing import Final

from ackclock.overview import CELLS, INTERVALS
from ackclock.paths import empty_round_trip_s, losses, nodes
from ackclock.precision import first_replications
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.scenario.losses import BernoulliLoss, PoissonLoss
from ackclock.scenario.resolved_traffic import OnOffTraffic, PingTraffic, SteadyTraffic, TcpTraffic, WebTraffic
from ackclock.socket_buffers import most_in_flight

STEP_S = 40e-9
"""Processor time of a step, the unit of costs [s] (benches)."""
POINT = 5e4
"""Cost of a point without packets [steps]: starting it and keeping its numbers."""
PACKET, LINK, MERGE, WEB, LARGE_GROUP, CELL = 0.3, 0.4, 0.6, 1.0, 4.0, 0.5
"""Cost of a packet [steps]: its own, for each link both ways, if flows merge, of a transfer after the other, of a group
whose state no cache holds; and of a cell at each port."""
QUEUE, CHANGING_DELAY, PICTURE = 0.7, 0.5, 0.8
"""Cost of a packet at each queue whose departures are events, at each changing delay, and for the picture [steps]."""
PROGRAM = 30.0
"""Cost of a packet whose congestion control is a class of Python [steps]."""
FLOW, ROW, ROW_OF_REPLICATION, ROW_WITH_BATCHES = 250.0, 2500.0, 250.0, 12_000.0
"""Cost of a flow, of a row of the result, of each replication's numbers in it, and of the intervals
by its batches [steps]."""
CELL_BYTES, CELL_DATA_BYTES, AAL5_BYTES = 53, 48, 8

PROCESS_BYTES, FLOW_BYTES, PACKET_BYTES, CELL_OF_PICTURE_BYTES = 1.6e8, 900.0, 32.0, 60.0
"""Memory of a process that has run something, of a flow, of a packet in flight, and of a minimum and a maximum that the
picture shows of a flow or link in an interval [B]."""
ROW_BYTES, ROW_OF_REPLICATION_BYTES, BATCHES_BYTES, MOST_ROWS_WITH_BATCHES = 5e3, 3e3, 1e4, 4000
"""Memory of a row of the result, of each replication's numbers in it, and of its batches, up to that many rows [B]."""
TRACE_ROW_BYTES, TRACE_FACTOR = 32.0, 3.5
"""Memory of a recorded row in the engine, and how much more it takes with the tables in Python."""
MOST_IN_FLIGHT = 2e7
"""Packets of a flow in flight at which the engine ends with an error."""
_MOST_ROUNDS: Final = 100.0
"""Round trips from which on what a slow start can send bounds nothing."""
_LEAST_SHARE: Final = 0.05
"""Fraction of a link that TCP has at least, next to datagrams, which do not give way."""


@dataclass(frozen=True)
class Estimate:
    """Packets, time and memory that a run is expected to take: within a factor of 2 in usual scenarios.

    Parameters
    ----------
    packets : float
        Data packets sent in all replications that run in any case.
    seconds : float
        Time of their computing, with the threads that there are [s].
    memory_bytes : float
        Largest memory of the process [B].
    threads : int
        Replications, or points of a sweep, at a time.
    most : float
        How many times the packets and the time it may be at most, if a precision asks for more; else 1.
    """

    packets: float
    seconds: float
    memory_bytes: float
    threads: int = 1
    most: float = 1.0


def estimate(resolved: Resolved, *, threads: int, trace_bytes: float) -> Estimate:
    """Estimate what a run takes.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    threads : int
        Replications at a time.
    trace_bytes : float
        Memory that recorded rows may take in the engine [B].

    Returns
    -------
    Estimate
        Packets, time and memory.
    """
    replications = first_replications(resolved)
    at_once = 1 if resolved.programs else max(1, min(threads, replications))
    rows = len(resolved.elements) + sum(1 if flow.is_large_group else flow.count for flow in resolved.flows)
    batches = ROW_WITH_BATCHES * (rows <= MOST_ROWS_WITH_BATCHES)
    flows = FLOW * sum(flow.count for flow in resolved.flows)
    result = (ROW + ROW_OF_REPLICATION * replications + batches) * rows
    seconds = STEP_S * (flows + expected_cost(resolved) / at_once + result)
    memory = PROCESS_BYTES + at_once * _engine_bytes(resolved) + _result_bytes(resolved, rows, replications)
    memory += TRACE_FACTOR * min(trace_bytes, TRACE_ROW_BYTES * _trace_rows(resolved))
    return Estimate(expected_packets(resolved), seconds, memory, at_once, _most(resolved, replications))


def expected_packets(resolved: Resolved) -> float:
    """Estimate the data packets that all replications that run in any case send.

    Parameters
    ----------
    resolved : Resolved
        The scenario.

    Returns
    -------
    float
        The packets, with retransmissions, of all flows.
    """
    return first_replications(resolved) * sum(_packets(resolved))


def expected_cost(resolved: Resolved) -> float:
    """Estimate the processor time that a point takes, for comparison with other points.

    Parameters
    ----------
    resolved : Resolved
        The scenario.

    Returns
    -------
    float
        The time [steps], > 0, up to a factor that points of one kind share: what losses leave of a link is not known
        before the run.
    """
    merges = sum(flow.count for flow in resolved.flows) > 1
    one = sum(
        packets * _packet_cost(resolved, flow, merges=merges)
        for flow, packets in zip(resolved.flows, _packets(resolved), strict=True)
    )
    return POINT + first_replications(resolved) * (one + resolved.run.duration_s * _cross_cost(resolved))


def _most(resolved: Resolved, replications: int) -> float:
    """Compute how many times the first replications there may be, or how much longer a run."""
    wanted = resolved.run.precision
    if wanted is None:
        return 1.0
    if wanted.longest_s is not None:
        # Each run is twice as long as the one before: all together at most twice the longest.
        return max(1.0, 2.0 * wanted.longest_s / resolved.run.duration_s)
    return 1.0 if resolved.is_deterministic else wanted.most / replications


def _packet_cost(resolved: Resolved, flow: ResolvedFlow, *, merges: bool) -> float:
    cost = PACKET + PICTURE + LINK * len(flow.crossed) + MERGE * merges
    if flow.kind == "web":
        cost += WEB
    if flow.programs:
        cost += PROGRAM
    if flow.is_large_group:
        cost += LARGE_GROUP
    for path, size in ((flow.path, flow.packet_bytes), (flow.return_path, flow.answer_bytes)):
        for element in (resolved.elements[index] for index in path):
            cost += QUEUE * (element.queue.overflow != "arriving" or not element.queue.is_fifo) + CHANGING_DELAY * (
                (element.delay_process is not None) + (element.rate_process is not None)
            )
        cost += CELL * ceil((size + AAL5_BYTES) / CELL_DATA_BYTES) * sum(_ports(resolved, link) for link in path)
    return cost


def _ports(resolved: Resolved, element: int) -> int:
    """Count the ports of an ATM channel that cells cross; a link has none."""
    found = resolved.elements[element]
    if resolved.atm is None or found.kind != "channel":
        return 0
    channel = resolved.atm.channels[found.end // 2]
    return 1 + len(channel.backward if found.end % 2 else channel.forward)


def _cross_cost(resolved: Resolved) -> float:
    cross = () if resolved.atm is None else resolved.atm.cross
    return sum(CELL * (1 + len(source.path)) * source.rate_bps / (8.0 * CELL_BYTES) for source in cross)


def _packets(resolved: Resolved) -> list[float]:
    """Estimate the packets that each entry of flows sends in one replication: what it wants, as far as links let it."""
    duration_s = resolved.run.duration_s
    found = []
    for flow, rate in zip(resolved.flows, _packet_rates(resolved), strict=True):
        sends_s = max(0.0, duration_s - flow.start_s - flow.start_spread_s / 2.0)
        size = inf if flow.size_packets is None else float(flow.count * flow.size_packets)
        found.append(min(rate * sends_s, size, _begun_packets(resolved, flow, sends_s)))
    return found


def _begun_packets(resolved: Resolved, flow: ResolvedFlow, sends_s: float) -> float:
    """Give the most packets that connections send in a number of round trips from their first window on.

    A window grows by at most what is acknowledged, or by twice that where the control is not Reno's or CUBIC's (BBR
    allows 2.89 of the bandwidth-delay product); a class of one's own sets its window as it likes.
    """
    round_trip = empty_round_trip_s(resolved, flow)
    if flow.kind != "tcp" or flow.programs or round_trip <= 0.0:
        return inf
    sender = flow.tcp.sender
    factor = 2.0 if sender.is_aimd or sender.is_cubic else 3.0
    rounds = min(sends_s / round_trip, _MOST_ROUNDS)
    return inf if rounds == _MOST_ROUNDS else flow.count * sender.initial_window * factor ** (ceil(rounds) + 1)


def _packet_rates(resolved: Resolved) -> list[float]:
    """Estimate the packets that each entry of flows sends a second; only TCP gives way where links are full."""
    rates = [_wanted(resolved, flow) for flow in resolved.flows]
    for index, element in enumerate(resolved.elements):
        if element.rate_bps is not None and element.kind != "private-link":
            crossing = ((at, resolved.flows[at]) for at in resolved.crossing_flows[index])
            data = [(at, flow) for at, flow in crossing if index in flow.path]
            elastic = [at for at, flow in data if flow.connection is not None]
            fixed = sum(rates[at] * flow.packet_bits for at, flow in data if flow.connection is None)
            load = sum(rates[at] * resolved.flows[at].packet_bits for at in elastic)
            left = max(element.rate_bps - fixed, _LEAST_SHARE * element.rate_bps)
            for at in elastic:
                rates[at] *= min(1.0, left / load) if load > 0.0 else 1.0
    return rates


def _wanted(resolved: Resolved, flow: ResolvedFlow) -> float:
    traffic = flow.traffic
    match traffic:
        case TcpTraffic():
            return flow.count * min(_path_limit(resolved, flow), _window_limit(resolved, flow))
        case WebTraffic():
            size = traffic.size.mean_packets
            time = traffic.off.mean_s + empty_round_trip_s(resolved, flow) * log2(size + 1.0)
            return flow.count * min(_path_limit(resolved, flow), size / time if time > 0.0 else inf)
        case OnOffTraffic():
            period = traffic.on.mean_s + traffic.off.mean_s
            active = traffic.on.mean_s / period if period > 0.0 else 1.0
            return flow.count * active * traffic.rate_bps / flow.packet_bits
        case SteadyTraffic():
            return flow.count * traffic.rate_bps / flow.packet_bits
        case PingTraffic():
            return flow.count / traffic.interval_s


def _path_limit(resolved: Resolved, flow: ResolvedFlow) -> float:
    """Give what the slowest link lets through of one connection, with what its buffer leaves idle [pkt/s]."""
    found = nodes(resolved, flow.path, flow.packet_bytes)
    if not found:
        return inf
    slowest = min(found, key=lambda node: node.packet_rate)
    pipe = slowest.packet_rate * empty_round_trip_s(resolved, flow)
    saws = flow.kind != "web" and flow.tcp.sender.is_aimd
    return slowest.packet_rate * (_busy_fraction(pipe, slowest.buffer) if saws else 1.0)


def _busy_fraction(pipe: float, buffer: float) -> float:
    """Compute the fraction of time for which a window between half of its largest and all of it keeps a link busy.

    The largest is `pipe + buffer` packets; the window grows by a packet a round trip, which lasts as the empty path up
    to `pipe`, and beyond as long as the link takes for the window.
    """
    largest = pipe + buffer
    if largest == inf or pipe <= 0.0 or largest >= 2.0 * pipe:
        return 1.0
    sent = 3.0 / 8.0 * largest**2
    return sent / (pipe * (pipe - largest / 2.0) + (largest**2 - pipe**2) / 2.0)


def _window_limit(resolved: Resolved, flow: ResolvedFlow) -> float:
    """Give what the receiver's window, socket buffers and random losses leave of one connection [pkt/s]."""
    round_trip = empty_round_trip_s(resolved, flow)
    window = most_in_flight(flow)
    for law in losses(resolved, flow):
        if not flow.tcp.sender.is_aimd:
            continue  # what losses leave is known of Reno alone: an upper bound
        if isinstance(law, BernoulliLoss) and law.probability > 0.0:
            window = min(window, sqrt(1.5 / law.probability))
        elif isinstance(law, PoissonLoss):
            window = min(window, 1.5 * max(1.0, law.mean_interval_s / round_trip) if round_trip > 0.0 else inf)
    return window / round_trip if round_trip > 0.0 else inf


def _engine_bytes(resolved: Resolved) -> float:
    """Estimate the memory of one replication while it runs: its flows, and the packets in flight."""
    flows = sum(flow.count for flow in resolved.flows)
    packets = zip(resolved.flows, _packets(resolved), strict=True)
    return FLOW_BYTES * flows + PACKET_BYTES * sum(_in_flight(resolved, flow, sent) for flow, sent in packets)


def _in_flight(resolved: Resolved, flow: ResolvedFlow, sent: float) -> float:
    """Estimate the most packets of an entry of flows in flight: what windows, buffers and the path hold."""
    window = most_in_flight(flow)
    found = nodes(resolved, flow.path, flow.packet_bytes)
    time_s = flow.forward_delay_s + sum(resolved.elements[index].least_delay_s for index in flow.crossed)
    slowest = min((node.packet_rate for node in found), default=inf)
    held = sum(node.buffer for node in found) + (slowest * time_s if time_s > 0.0 else 0.0)
    return min(flow.count * min(window, held, MOST_IN_FLIGHT), sent)


def _result_bytes(resolved: Resolved, rows: int, replications: int) -> float:
    batches = BATCHES_BYTES * rows if rows <= MOST_ROWS_WITH_BATCHES else 0.0
    flows = sum(flow.count for flow in resolved.flows)
    picture = CELL_OF_PICTURE_BYTES * min((flows + len(resolved.elements)) * INTERVALS, CELLS)
    return (ROW_BYTES + ROW_OF_REPLICATION_BYTES * replications) * rows + batches + picture


def _trace_rows(resolved: Resolved) -> float:
    """Estimate the rows that all replications record."""
    trace, total = resolved.trace, 0.0
    each = 2.0 * trace.sequence + trace.rtt + trace.cwnd
    for flow, packets in zip(resolved.flows, _packets(resolved), strict=True):
        captured = 2.0 * len(flow.crossed) if trace.capture else 0.0
        total += packets * (each + 2.0 * trace.queue * len(flow.crossed) + captured)
    return first_replications(resolved) * total
