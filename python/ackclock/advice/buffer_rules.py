"""Closed forms for the buffer of a bottleneck: where a search begins, and what its answer is compared with."""

from math import ceil, inf

from ackclock.advice.knobs import MANY, Knob
from ackclock.advice.records import Rule
from ackclock.advice.targets import WEB_LOSS, Targets
from ackclock.errors import ModelError
from ackclock.models import bottlenecks, classics, engset
from ackclock.prediction.scene import Scene, other_than_bulk, rate_reasons
from ackclock.prediction.web import WebSources, web_sources
from ackclock.scenario import Resolved
from ackclock.wording import amount, plural, seconds

DELAY = 0.6
"""Longest queue [s] by the rule that a queue should not make TCP's first timer, of one second, expire."""


def buffer_rules(resolved: Resolved, knob: Knob, targets: Targets) -> tuple[Rule, ...]:
    """Give what closed forms say of a buffer, the one that applies marked; none if none is made for such traffic.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    knob : Knob
        The buffer.
    targets : Targets
        The rule for web sources is for a wanted loss.
    """
    web = web_sources(resolved)
    if not isinstance(web, str):
        return _web_rules(web, targets) if knob.names == (web.shared.name,) else ()
    scenes = _bulk_scenes(resolved, knob)
    return _bulk_rules(scenes, knob) if scenes else ()


def _bulk_scenes(resolved: Resolved, knob: Knob) -> list[Scene]:
    """Give the TCP flows without end if this link is the slowest for all of them; else none."""
    if other_than_bulk(resolved) or rate_reasons(resolved):
        return []
    scenes = [Scene(resolved, flow) for flow in resolved.flows]
    slowest = {scene.bottleneck.name for scene in scenes if scene.bottleneck is not None}
    fits = all(
        scene.flow.is_endless
        and scene.flow.tcp.sender.is_aimd
        and not scene.flow.tcp.sender.slow_starts_after_fast_retransmit
        and not (scene.bottleneck is not None and scene.bottleneck.queue.drops_early)
        for scene in scenes
    )
    return scenes if fits and slowest == set(knob.names) else []


def _bulk_rules(scenes: list[Scene], knob: Knob) -> tuple[Rule, ...]:
    flows = sum(scene.count for scene in scenes)
    round_trip = sum(scene.count * scene.round_trip_s for scene in scenes) / flows
    pipe = float(bottlenecks.full_utilization_buffer(knob.packet_rate, round_trip))
    many = float(classics.many_flows_buffer(knob.packet_rate, round_trip, flows))
    few = flows < MANY
    rules = [
        Rule(
            "mu T, the bandwidth-delay product",
            "Villamizar, Song 1994; Barakat, Altman 1999, footnote 3",
            _whole(pipe),
            "pkt",
            valid=few,
            reason="one flow, or few that halve their windows together" if few else "many flows need less",
        ),
        Rule(
            "mu T / sqrt(n)",
            "Appenzeller, Keslassy, McKeown 2004",
            _whole(many),
            "pkt",
            valid=not few,
            reason=f"for many flows that are out of step; {plural(flows, 'flow')} here, and {MANY} are many",
        ),
        Rule(
            "mu T for T = 300 ms",
            "Zaragoza 2014, section 5.4.1",
            _whole(0.3 * knob.packet_rate),
            "pkt",
            valid=0.15 <= round_trip <= 0.6,
            reason=f"the round trip here is {seconds(round_trip)}",
        ),
        Rule(
            "600 ms of queue",
            "Zaragoza 2014, section 5.4.1",
            _whole(DELAY * knob.packet_rate),
            "pkt",
            valid=False,
            reason="an upper limit: with a longer queue first timers of one second expire",
        ),
    ]
    return tuple(rule for rule in rules if flows > 1 or "sqrt" not in rule.name)


def _whole(packets: float) -> int:
    """Round up, except what arithmetic alone put above a whole number."""
    return ceil(round(packets, 6))


def _web_rules(web: WebSources, targets: Targets) -> tuple[Rule, ...]:
    try:
        found = web.predict()
    except ModelError:
        return ()
    if not bool(found.shared):
        return ()
    rate, size, loss = web.shared.rate_bps, float(web.scene.flow.packet_bytes), targets.loss or WEB_LOSS
    load = float(found.offered_load)
    wanted = float(engset.buffer_for_loss(loss, found.utilisation_2, found.mean_queue))
    rules = (
        Rule(
            f"eta ln(rho / L) for L = {amount(loss, '1')}",
            "Zaragoza 2014, section 5.4.1",
            float(max(2, ceil(wanted))) if wanted < inf else inf,
            "pkt",
            valid=load <= 1.1,
            reason="made for a load of about 100%"
            + ("" if load <= 1.1 else f"; at {amount(load, '1')} it asks for too much"),
        ),
        Rule(
            "600 ms of queue",
            "Zaragoza 2014, section 5.4.1",
            float(ceil(float(engset.delay_buffer(rate, size)))),
            "pkt",
            valid=False,
            reason="an upper limit: with a longer queue first timers of one second expire",
        ),
        Rule(
            "mu T for T = 300 ms",
            "Zaragoza 2014, section 5.4.1",
            float(ceil(float(engset.bandwidth_delay_buffer(rate, packet_size=size)))),
            "pkt",
            valid=False,
            reason="made for connections without end that halve their windows together",
        ),
    )
    return tuple(rule for rule in rules if rule.value < inf)
