"""Several connections without end that share a bottleneck: the buffer for many flows."""

from math import inf

from ackclock.models import classics
from ackclock.paths import Node
from ackclock.prediction.question import question
from ackclock.prediction.records import Claim, Inapplicable, Measured, ModelPrediction, Number
from ackclock.prediction.scene import NOT_AIMD, Scene, busy_hosts, early_drops, other_than_bulk
from ackclock.scenario import Resolved
from ackclock.wording import number, plural

MANY_FLOWS = ("many-flows", "A bottleneck that many flows share (Appenzeller, Keslassy, McKeown 2004)")


@question(*MANY_FLOWS)
def predict_many_flows(resolved: Resolved) -> list[ModelPrediction | Inapplicable]:
    """Ask how busy many flows keep their bottleneck."""
    scenes = [Scene(resolved, flow) for flow in resolved.flows]
    if other_than_bulk(resolved):
        return [Inapplicable(*MANY_FLOWS, tuple(other_than_bulk(resolved)))]
    bottlenecks = {scene.bottleneck.name: scene.bottleneck for scene in scenes if scene.bottleneck is not None}
    reasons = _reasons(scenes, bottlenecks)
    if reasons:
        return [Inapplicable(*MANY_FLOWS, tuple(reasons))]
    (bottleneck,) = bottlenecks.values()
    return [_prediction(scenes, bottleneck)]


def _reasons(scenes: list[Scene], bottlenecks: dict[str, Node]) -> list[str]:
    if _count(scenes) == 1:
        return ["one flow runs; the model is of many"]
    if len(bottlenecks) != 1:
        return ["the flows have no bottleneck in common"]
    (bottleneck,) = bottlenecks.values()
    reasons = busy_hosts(scenes[0].resolved)
    if any(scene.flow.size_packets is not None for scene in scenes):
        reasons.append("transfers end; the model is of flows without end")
    if not all(scene.flow.tcp.sender.is_aimd for scene in scenes):
        reasons.append(NOT_AIMD)
    if early := sorted({reason for scene in scenes for reason in early_drops(scene)}):
        reasons += early
    elif bottleneck.buffer == inf:
        reasons.append(f"the buffer of {bottleneck.name} is unlimited")
    elif any(
        scene.most_in_flight * _count(scenes) <= _pipe(scenes, bottleneck) + bottleneck.buffer for scene in scenes
    ):
        reasons.append("the windows and socket buffers of the flows together never fill the buffer")
    reasons += [one for scene in scenes for one in scene.waiting_acks(bottleneck.packet_rate, _count(scenes))][:1]
    return reasons


def _pipe(scenes: list[Scene], bottleneck: Node) -> float:
    """Compute the mean bandwidth-delay product [pkt]."""
    return bottleneck.packet_rate * sum(scene.count * scene.round_trip_s for scene in scenes) / _count(scenes)


def _count(scenes: list[Scene]) -> int:
    return sum(scene.count for scene in scenes)


def _prediction(scenes: list[Scene], bottleneck: Node) -> ModelPrediction:
    flows, pipe = _count(scenes), _pipe(scenes, bottleneck)
    round_trip = pipe / bottleneck.packet_rate
    used = float(classics.many_flows_utilisation(bottleneck.buffer, bottleneck.packet_rate, round_trip, flows))
    rule = float(classics.many_flows_buffer(bottleneck.packet_rate, round_trip, flows))
    enough = bottleneck.buffer >= rule
    claim = Claim(
        bottleneck.name,
        enough,
        f"the rule for many flows wants {number(round(rule))} packets of buffer at {bottleneck.name}; its "
        f"{number(bottleneck.buffer)} are {'enough' if enough else 'too few'} to keep it busy",
        tuple(scene.name for scene in scenes),
    )
    return ModelPrediction(
        *MANY_FLOWS,
        subject=f"{plural(flows, 'flow')} over {bottleneck.name}",
        numbers=(
            Number(
                "utilisation_fraction",
                f"utilisation of {bottleneck.name}",
                used,
                "1",
                Measured("links", (bottleneck.name,), "utilisation_fraction"),
            ),
            Number("rule_buffer_packets", "buffer by the rule for many flows (mu T / sqrt(n))", rule, "pkt"),
        ),
        sentences=(claim.text,),
        claims=(claim,),
        warnings=classics.MODELS["many_flows_utilisation"].warnings(flows=flows),
    )
