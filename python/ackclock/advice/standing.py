"""The bottleneck's buffer for flows without end: as much as keeps the link busy, and no more."""

from math import ceil, inf, sqrt

from ackclock.advice.bench import Bench, before_after, of_flows, of_link
from ackclock.advice.records import BeforeAfter, Recommendation, Rule
from ackclock.models import bottlenecks, classics
from ackclock.paths import Node
from ackclock.prediction.scene import Scene, other_than_bulk
from ackclock.scenario import Resolved
from ackclock.wording import number, plural, seconds

TOPIC = "bottleneck-buffer"
QUESTION = "How large should the buffer of the bottleneck be?"
MANY = 500
"""Number of flows from which the rule for many flows was seen to hold (Appenzeller, Keslassy, McKeown 2004)."""
NEAR = 0.25
"""Relative distance from the rule's buffer within which a buffer is left as it is."""
DELAY = 0.6
"""Longest queue [s] by the rule that a queue should not make TCP's first timer, of one second, expire."""


def advise_standing(bench: Bench, *, simulate: bool) -> Recommendation | None:
    """Recommend the bottleneck's buffer for flows without end; None if the question does not arise."""
    resolved = bench.resolved
    found = _shared_bottleneck(resolved)
    if found is None:
        return None
    scenes, node = found
    round_trip = sum(scene.count * scene.round_trip_s for scene in scenes) / flow_count(scenes)
    pipe = float(bottlenecks.full_utilization_buffer(node.packet_rate, round_trip))
    many = float(classics.many_flows_buffer(node.packet_rate, round_trip, flow_count(scenes)))
    wanted = float(max(2, _whole(many if flow_count(scenes) >= MANY else pipe)))
    rules = _rules(scenes, node, round_trip, pipe, many)
    if node.buffer < inf and abs(node.buffer - wanted) <= NEAR * wanted:
        answer = f"About the {number(node.buffer)} packets that {node.name} has"
        return Recommendation(TOPIC, QUESTION, answer, rules=rules)
    changes = {f"link.{node.name}.buffer": f"{wanted:g} pkt"}
    answer = _answer(scenes, node, wanted, round_trip)
    if not simulate:
        return Recommendation(TOPIC, QUESTION, answer, changes, rules)
    before, after = bench.run({}, "the path as it is"), bench.run(changes, "with the new buffer")
    check: tuple[BeforeAfter, ...] = (
        before_after("throughput", "bit/s", before, after, of_flows("throughput_bps")),
        before_after(f"{node.name} is busy", "1", before, after, of_link(node.name, "utilisation_fraction")),
        before_after("queue, mean", "pkt", before, after, of_link(node.name, "queue_mean_packets")),
        before_after("packets lost at it", "1", before, after, of_link(node.name, "loss_fraction")),
    )
    if flow_count(scenes) == 1:
        check = (*check, before_after("round trip", "s", before, after, of_flows("rtt_mean_s")))
    return Recommendation(TOPIC, QUESTION, answer, changes, rules, check)


def _shared_bottleneck(resolved: Resolved) -> tuple[list[Scene], Node] | None:
    """Give the TCP flows without end, and the one link that is the slowest for all of them and where they queue."""
    if other_than_bulk(resolved):
        return None
    scenes = [Scene(resolved, flow) for flow in resolved.flows]
    slowest = {scene.bottleneck.name: scene.bottleneck for scene in scenes if scene.bottleneck is not None}
    if len(slowest) != 1 or not all(_fits(scene) for scene in scenes):
        return None
    (node,) = slowest.values()
    pipe = node.packet_rate * max(scene.round_trip_s for scene in scenes)
    if (
        sum(scene.count * scene.max_window for scene in scenes) <= pipe
        or node.queue.drops_early
        or scenes[0].slow_acks()
    ):
        return None
    return scenes, node


def _fits(scene: Scene) -> bool:
    """Return whether the rules apply to a flow: it has no end, and no slow start follows a fast retransmit."""
    flow = scene.flow
    return flow.is_endless and flow.tcp.sender.is_aimd and not flow.tcp.sender.slow_starts_after_fast_retransmit


def _rules(scenes: list[Scene], node: Node, round_trip: float, pipe: float, many: float) -> tuple[Rule, ...]:
    flows = flow_count(scenes)
    few = flows < MANY
    rules = [
        Rule(
            "mu T, the bandwidth-delay product",
            "Villamizar, Song 1994; Barakat, Altman 1999, footnote 3",
            _whole(pipe),
            "pkt",
            valid=few,
            reason="one flow, or few that halve their windows together" if few else "many flows need less",
            chosen=few,
        ),
        Rule(
            "mu T / sqrt(n)",
            "Appenzeller, Keslassy, McKeown 2004",
            _whole(many),
            "pkt",
            valid=not few,
            reason=f"for many flows that are out of step; {plural(flows, 'flow')} here, and {MANY} are many",
            chosen=not few,
        ),
        Rule(
            "mu T for T = 300 ms",
            "Zaragoza 2014, section 5.4.1",
            _whole(0.3 * node.packet_rate),
            "pkt",
            valid=0.15 <= round_trip <= 0.6,
            reason=f"the round trip here is {seconds(round_trip)}",
        ),
        Rule(
            "600 ms of queue",
            "Zaragoza 2014, section 5.4.1",
            _whole(DELAY * node.packet_rate),
            "pkt",
            valid=False,
            reason="an upper limit: with a longer queue first timers of one second expire",
        ),
    ]
    return tuple(rule for rule in rules if flows > 1 or "sqrt" not in rule.name)


def flow_count(scenes: list[Scene]) -> int:
    """Count the flows, groups with all their members."""
    return sum(scene.count for scene in scenes)


def _whole(packets: float) -> int:
    """Round up, except what arithmetic alone put above a whole number."""
    return ceil(round(packets, 6))


def _answer(scenes: list[Scene], node: Node, wanted: float, round_trip: float) -> str:
    share = (
        ""
        if len(scenes) < MANY
        else f", divided by sqrt({len(scenes)}) = {sqrt(len(scenes)):.3g} for {len(scenes)} flows"
    )
    size = f"{number(wanted)} packets at {node.name}, {seconds(wanted / node.packet_rate)} of queue"
    present = "its buffer without limit" if node.buffer == inf else f"the {number(node.buffer)} packets of now"
    if node.buffer > wanted:
        return (
            f"{size}: what the link carries in the round trip of {seconds(round_trip)}{share}. TCP keeps the link busy "
            f"with that; {present} only make packets wait longer"
        )
    return (
        f"{size}: what the link carries in the round trip of {seconds(round_trip)}{share}. After a loss TCP halves its "
        f"window, and with {present} the link then idles until the window has grown again"
    )
