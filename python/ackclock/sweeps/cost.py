"""Cost of a point before it is run: for the order of the points, and for the time left."""

from math import ceil, inf, log2, sqrt

from ackclock.paths import empty_round_trip_s, losses
from ackclock.precision import first_replications
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.scenario.losses import BernoulliLoss, PoissonLoss
from ackclock.scenario.resolved_traffic import OnOffTraffic, PingTraffic, SteadyTraffic, TcpTraffic, WebTraffic

POINT = 5e4
"""Cost of a point without packets: starting it and keeping its numbers. The unit is a step, some 40 ns (benches)."""
PACKET, LINK, MERGE, WEB, LARGE_GROUP, CELL = 0.8, 0.15, 0.55, 2.2, 4.0, 0.5
"""Cost of a packet [steps]: its own, for each link both ways, if flows merge, of a transfer after the other, of a group
whose state no cache holds; and of a cell at each port."""
CELL_BYTES, CELL_DATA_BYTES, AAL5_BYTES = 53, 48, 8


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
    per_second = sum(
        rate * _packet_cost(resolved, flow, merges=merges)
        for flow, rate in zip(resolved.flows, _packet_rates(resolved), strict=True)
    )
    return POINT + first_replications(resolved) * resolved.run.duration_s * (per_second + _cross_cost(resolved))


def _packet_cost(resolved: Resolved, flow: ResolvedFlow, *, merges: bool) -> float:
    cost = PACKET + LINK * len(flow.path) + MERGE * merges
    if flow.kind == "web":
        cost += WEB
    if flow.is_large_group:
        cost += LARGE_GROUP
    for path, size in ((flow.path, flow.packet_bytes), (flow.return_path, flow.answer_bytes)):
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


def _packet_rates(resolved: Resolved) -> list[float]:
    """Estimate the packets that each entry of flows sends a second: what it wants, scaled to what links carry."""
    rates = [_wanted(resolved, flow) for flow in resolved.flows]
    for index, element in enumerate(resolved.elements):
        if element.rate_bps is not None and element.kind != "private-link":
            crossing = [at for at, flow in enumerate(resolved.flows) if index in flow.path]
            load = sum(rates[at] * resolved.flows[at].packet_bits for at in crossing)
            for at in crossing:
                rates[at] *= min(1.0, element.rate_bps / load) if load > 0.0 else 1.0
    return rates


def _wanted(resolved: Resolved, flow: ResolvedFlow) -> float:
    traffic = flow.traffic
    limit = _path_limit(resolved, flow)
    match traffic:
        case TcpTraffic():
            size = inf if traffic.size_packets is None else traffic.size_packets / resolved.run.duration_s
            return flow.count * min(limit, size, _window_limit(resolved, flow))
        case WebTraffic():
            size = traffic.size.mean_packets
            time = traffic.off.mean_s + empty_round_trip_s(resolved, flow) * log2(size + 1.0)
            return flow.count * min(limit, size / time if time > 0.0 else inf)
        case OnOffTraffic():
            period = traffic.on.mean_s + traffic.off.mean_s
            active = traffic.on.mean_s / period if period > 0.0 else 1.0
            return flow.count * min(limit, active * traffic.rate_bps / flow.packet_bits)
        case SteadyTraffic():
            return flow.count * min(limit, traffic.rate_bps / flow.packet_bits)
        case PingTraffic():
            return flow.count * min(limit, 1.0 / traffic.interval_s)


def _path_limit(resolved: Resolved, flow: ResolvedFlow) -> float:
    rates = (resolved.elements[link].rate_bps for link in flow.path)
    return min((rate for rate in rates if rate is not None), default=inf) / flow.packet_bits


def _window_limit(resolved: Resolved, flow: ResolvedFlow) -> float:
    """Give what the receiver's window and random losses leave of one connection [pkt/s]."""
    round_trip = empty_round_trip_s(resolved, flow)
    window = flow.tcp.sender.max_window or inf
    for law in losses(resolved, flow):
        if isinstance(law, BernoulliLoss) and law.probability > 0.0:
            window = min(window, sqrt(1.5 / law.probability))
        elif isinstance(law, PoissonLoss):
            window = min(window, 1.5 * max(1.0, law.mean_interval_s / round_trip) if round_trip > 0.0 else inf)
    return window / round_trip if round_trip > 0.0 else inf
