"""BBR next to connections that fill the buffer: who gets how much of the link."""

from math import inf

from ackclock.models import controls
from ackclock.paths import Node
from ackclock.prediction.question import question
from ackclock.prediction.records import Inapplicable, Measured, ModelPrediction, Number, ShareClaim
from ackclock.prediction.scene import Scene, alike_at_one_bottleneck, control_of, drop_factor
from ackclock.scenario import Resolved
from ackclock.wording import number, percent, plural

BBR = ("bbr", "The share of BBR next to loss-based flows (Ware, Mukerjee, Seshan, Sherry 2019)")
TOLERANCE = 0.1
"""Difference of shares up to which a run agrees with the model, that of docs/models.md."""


@question(*BBR)
def predict_bbr(resolved: Resolved) -> list[ModelPrediction | Inapplicable]:
    """Ask which share of its bottleneck BBR takes from flows that fill the buffer."""
    scenes, reasons = alike_at_one_bottleneck(resolved)
    ours = [scene for scene in scenes if scene.flow.kind == "tcp" and control_of(scene) == "bbr"]
    others = [scene for scene in scenes if scene not in ours]
    bottleneck = scenes[0].bottleneck
    if not ours:
        reasons = ["no flow has BBR"]
    elif not others:
        reasons = ["all flows have BBR; the model is of its share next to others"]
    elif bottleneck is not None and not reasons:
        reasons = _reasons(others, bottleneck)
    if bottleneck is None or reasons:
        return [Inapplicable(*BBR, tuple(reasons or ["no link has a rate"]))]
    return [_prediction(ours, others, bottleneck)]


def _reasons(others: list[Scene], bottleneck: Node) -> list[str]:
    reasons = []
    if not all(scene.flow.tcp.sender.grows_until_loss for scene in others):
        reasons.append("the window of another flow need not grow until a loss")
    if drop_factor(bottleneck.queue) is None:
        reasons.append(f"{bottleneck.name} drops before its buffer is full, or has several queues ({bottleneck.queue})")
    elif bottleneck.buffer == inf:
        reasons.append(f"the buffer of {bottleneck.name} is unlimited")
    pipe = bottleneck.packet_rate * others[0].round_trip_s
    if sum(scene.count * scene.most_in_flight for scene in others) <= pipe + bottleneck.buffer:
        reasons.append("the windows and socket buffers of the others never fill the buffer")
    return reasons


def _prediction(ours: list[Scene], others: list[Scene], bottleneck: Node) -> ModelPrediction:
    arguments = {
        "flows": sum(scene.count for scene in ours),
        "bottleneck_rate": bottleneck.packet_rate,
        "round_trip_time": ours[0].round_trip_s,
        "buffer": bottleneck.buffer,
    }
    share = float(controls.bbr_share_beside_full_pipe(**arguments))
    published = float(controls.bbr_share(**arguments))
    rate, mine, theirs = bottleneck.rate_bps, _measured(ours), _measured(others)
    flows = plural(sum(scene.count for scene in others), "other flow")
    ratio = bottleneck.buffer / (bottleneck.packet_rate * ours[0].round_trip_s)
    text = (
        f"BBR takes {percent(share)} of {bottleneck.name}, whose buffer is {number(round(ratio, 1))} "
        "bandwidth-delay products, however many flows share the rest"
    )
    claim = None if mine is None else ShareClaim(mine, rate, share, TOLERANCE, text)
    return ModelPrediction(
        *BBR,
        subject=f"{plural(sum(scene.count for scene in ours), 'flow')} with BBR next to {flows} over {bottleneck.name}",
        numbers=(
            Number("bbr_bps", "throughput of BBR", share * rate, "bit/s", mine),
            Number("others_bps", "throughput of the others", (1.0 - share) * rate, "bit/s", theirs),
            Number(
                "bbr_published_bps", "throughput of BBR by the published equations", published * rate, "bit/s", mine
            ),
        ),
        sentences=(text,),
        warnings=controls.MODELS["bbr_share_beside_full_pipe"].warnings(**arguments),
        claims=() if claim is None else (claim,),
    )


def _measured(scenes: list[Scene]) -> Measured | None:
    """Give the rows of a summary whose throughputs add up; None if a row stands for a large group of flows."""
    if any(scene.flow.is_large_group for scene in scenes):
        return None
    return Measured("flows", tuple(row.name for scene in scenes for row in scene.flow.singles()), "throughput_bps")
