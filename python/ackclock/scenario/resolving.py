"""The resolved form of a scenario from the user's."""

import math
from collections.abc import Iterator, Sequence

from ackclock.errors import Fault, ScenarioError
from ackclock.scenario.arguments import check_arguments, instance_of
from ackclock.scenario.atm import add_channels, resolved_channels
from ackclock.scenario.check_precision import precision_settings
from ackclock.scenario.copies import Present, capture_of_copies, written_out
from ackclock.scenario.handshakes import handshake_settings
from ackclock.scenario.losses import LossSettings
from ackclock.scenario.network import (
    ChangingDelay,
    ChangingRate,
    Direction,
    Losing,
    Network,
    Route,
    add_hosts,
    largest_packets,
    network_of,
)
from ackclock.scenario.queues import discipline_of
from ackclock.scenario.resolved import Resolved, RunSettings, TraceSettings, known_valid
from ackclock.scenario.resolved_elements import (
    ChannelDirection,
    DelayProcessSettings,
    Element,
    HostProcess,
    PrivateLink,
    SimplexLink,
    TokenBucketSettings,
)
from ackclock.scenario.resolved_flows import ResolvedFlow
from ackclock.scenario.resolved_numbers import number_faults
from ackclock.scenario.resolved_rates import RateProcessSettings
from ackclock.scenario.resolved_traffic import Connection
from ackclock.scenario.scenario import Scenario
from ackclock.scenario.schema import Flow, Run
from ackclock.scenario.schema_kinds import most
from ackclock.scenario.source import Source
from ackclock.scenario.tcp import ApplicationSettings, last_packet_bytes, receiver_settings, sender_settings
from ackclock.scenario.traffic import is_tcp, resolved_traffic, resolved_writes

_USUAL_PACKET_BYTES = 1500
_MOST_HOSTS = most("flows[].host") + 1


def resolve(scenario: Scenario) -> Resolved:
    """Turn a scenario into SI numbers with nothing implicit.

    Parameters
    ----------
    scenario : Scenario
        What `load` gave.

    Returns
    -------
    Resolved
        What the engine runs.

    Raises
    ------
    ScenarioError
        If its lists hold too much together, or a file that it names has changed since it was checked.

    Examples
    --------
    >>> from ackclock.scenario import load
    >>> text = '''
    ... [[link]]
    ... name = "satellite"
    ... rate = "1.5 Mbit/s"
    ... buffer = "18 pkt"
    ... [[flow]]
    ... path = ["satellite"]
    ... two_way_propagation = "560 ms"
    ... [run]
    ... duration = "200 s"
    ... '''
    >>> resolved = resolve(load(text))
    >>> resolved.elements[0].rate_bps, resolved.flows[0].forward_delay_s
    (1500000.0, 0.28)
    """
    check_arguments("resolve", scenario=(scenario, instance_of("a Scenario, which load() gives", Scenario)))
    present, folder = written_out(scenario.links, scenario.flows), scenario.source.folder
    links = present.links
    network = network_of(links, [link.name for link in links], folder, float(scenario.run.duration))
    add_channels(network, scenario.atm, [channel.name if channel else None for channel in scenario.atm.channels])
    add_hosts(network, scenario.hosts, [host.name for host in scenario.hosts])
    flows = list(_flows(present, network, scenario.source))
    largest = largest_packets(present.flows, network)
    ways = ((position, way) for position, way in enumerate(network.directions) if way is not None)
    elements = [_element(way, largest.get(position, _USUAL_PACKET_BYTES)) for position, way in ways]
    too_much = list(number_faults(elements, flows))
    if too_much:
        raise ScenarioError(too_much, scenario.source.name)
    resolved = Resolved(
        format=3,
        title=scenario.title,
        run=_run(scenario.run),
        elements=tuple(elements),
        flows=tuple(flows),
        trace=_trace(scenario),
        atm=resolved_channels(scenario.atm, scenario.trace),
    )
    return known_valid(resolved)


def _trace(scenario: Scenario) -> TraceSettings:
    trace = scenario.trace
    return TraceSettings(
        cwnd=trace.cwnd,
        rtt=trace.rtt,
        sequence=trace.sequence,
        queue=trace.queue,
        queue_distribution=trace.queue_distribution,
        drops=trace.drops,
        losses=trace.losses,
        overview_interval_s=trace.overview_interval,
        capture=capture_of_copies(trace, scenario.links),
        delay=trace.delay,
        recovery=trace.recovery,
        rounds=trace.rounds,
        overview_detail_s=trace.overview_detail,
        state=trace.state,
        rate=trace.rate,
        aqm=trace.aqm,
    )


def _run(run: Run) -> RunSettings:
    return RunSettings(
        duration_s=float(run.duration),
        warmup_s=run.warmup,
        replications=run.replications,
        seed=run.seed,
        confidence=run.confidence,
        precision=precision_settings(run),
        delays=run.delays,
    )


def _flows(present: Present, network: Network, source: Source) -> Iterator[ResolvedFlow]:
    hosts = _host_numbers(present.flows, network)
    for flow, copies, host in zip(present.flows, present.copies, hosts, strict=True):
        yield _flow(flow, copies, host, network, source)


def _host_numbers(flows: Sequence[Flow], network: Network) -> list[int]:
    """Give flows the numbers of their hosts, those that they name and one for each other entry; 0 without a cake."""
    if not any(way is not None and way.queue.discipline == "cake" for way in network.directions):
        return [0] * len(flows)
    numbers: dict[str | int, int] = {}
    keys = (position if flow.host is None else flow.host for position, flow in enumerate(flows))
    return [numbers.setdefault(key, len(numbers)) % _MOST_HOSTS for key in keys]


def _flow(flow: Flow, copies: int, host: int, network: Network, source: Source) -> ResolvedFlow:
    route = network.route(flow)
    if route is None:
        raise AssertionError("a scenario that was checked has a route for each flow")
    private_s = max(0.0, route.private_s(flow))
    forward_s = round(private_s / 2, 12)
    connection = Connection(
        return_path=route.back,
        return_delay_s=round(private_s - forward_s, 12),
        ack_bytes=flow.ack,
        ack_priority=flow.ack_level,
        sender=sender_settings(flow.tcp, flow.packet, _application(flow, network, route), source.controls),
        receiver=receiver_settings(flow.tcp, flow.packet),
        handshake=handshake_settings(flow.tcp, flow.packet),
    )
    return ResolvedFlow(
        name=flow.name or "",
        count=flow.count,
        copies=copies,
        start_s=flow.start,
        start_spread_s=flow.start_spread,
        path=route.forward,
        forward_delay_s=forward_s,
        packet_bytes=flow.packet_bytes,
        priority=flow.priority,
        traffic=resolved_traffic(flow.traffic, _size_packets(flow), connection, source),
        host=host,
        weight=flow.weight,
    )


def _application(flow: Flow, network: Network, route: Route) -> ApplicationSettings:
    ways = (network.directions[link] for link in route.forward)
    one_length = any(way.has_one_length for way in ways if way is not None)
    last = None if one_length or not is_tcp(flow) else last_packet_bytes(flow.tcp, flow.packet, flow.size)
    return ApplicationSettings(resolved_writes(flow.writes, flow.packet), last)


def _size_packets(flow: Flow) -> int | None:
    if flow.size is None:
        return None
    return int(flow.size.value) if flow.size.unit == "pkt" else math.ceil(flow.size.value / flow.packet)


def _element(way: Direction, largest_packet_bytes: int) -> Element:
    if way.processing_s is not None:
        return HostProcess("host", way.name, *way.processing_s)
    if way.channel_end is not None:
        return ChannelDirection("channel", way.name, way.channel_end, way.rate_bps or math.inf, way.delay_s)
    if way.private:
        return PrivateLink("private-link", way.name, way.rate_bps, way.delay_s, way.limit, way.counting)
    return SimplexLink(
        "link",
        way.name,
        rate_bps=way.rate_bps,
        delay_s=way.delay_s,
        buffer=way.limit,
        counting=way.counting,
        queue=discipline_of(way.queue, largest_packet_bytes),
        delay_process=_delay_process(way.changing),
        loss=_loss(way.losing),
        rate_process=_rate_process(way.varying),
        token_bucket=TokenBucketSettings(way.bucket.kind, way.bucket.burst) if way.bucket else None,
    )


def _loss(losing: Losing | None) -> LossSettings | None:
    if losing is None:
        return None
    if losing.law is None:
        raise AssertionError("a scenario that was checked has a law for each loss")
    return LossSettings(losing.loss.applies_to, losing.law)


def _rate_process(varying: ChangingRate | None) -> RateProcessSettings | None:
    if varying is None:
        return None
    if varying.law is None:
        raise ScenarioError([Fault("scenario", f"a file of rates has changed: {varying.fault}")], "scenario")
    return RateProcessSettings(varying.stream, varying.law)


def _delay_process(changing: ChangingDelay | None) -> DelayProcessSettings | None:
    if changing is None:
        return None
    if changing.law is None:
        raise ScenarioError([Fault("scenario", f"a file of delays has changed: {changing.fault}")], "scenario")
    return DelayProcessSettings(changing.stream, changing.process.order, changing.law)
