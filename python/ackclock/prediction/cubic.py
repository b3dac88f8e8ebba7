"""One CUBIC connection over a path that loses packets at random: RFC 9438's mean window."""

from math import inf

from ackclock.models import controls
from ackclock.paths import delay_processes, losses
from ackclock.prediction.question import question
from ackclock.prediction.random_loss import limit_sentence
from ackclock.prediction.records import Inapplicable, Measured, ModelPrediction, Number
from ackclock.prediction.scene import Scene, lone_flow
from ackclock.scenario import Resolved
from ackclock.scenario.losses import BernoulliLoss
from ackclock.scenario.resolved_tcp import SelectiveSettings
from ackclock.wording import amount, number, seconds

CUBIC = ("cubic", "CUBIC where each packet may be lost (Ha, Rhee, Xu 2008; RFC 9438)")
STEEPNESS, REMAINDER = 0.4, 0.7
"""CUBIC's C [pkt/s^3], and the fraction of the window that a loss leaves, where a scenario gives none."""


@question(*CUBIC)
def predict_cubic(resolved: Resolved) -> list[ModelPrediction | Inapplicable]:
    """Ask what random losses leave of CUBIC's throughput."""
    scene, reasons = lone_flow(resolved)
    probability = None if scene is None else _loss_probability(scene)
    if scene is not None:
        reasons = _reasons(scene, probability)
    if scene is None or probability is None or reasons:
        return [Inapplicable(*CUBIC, tuple(reasons))]
    return [_prediction(scene, probability)]


def cubic_numbers(scene: Scene) -> tuple[float, float]:
    """Give C [pkt/s^3], and the fraction of the window that a loss leaves, of a CUBIC flow."""
    sender = scene.flow.tcp.sender
    own = sender.congestion_control.parameters if isinstance(sender, SelectiveSettings) else {}
    return own.get("c", STEEPNESS), own.get("beta", REMAINDER)


def _loss_probability(scene: Scene) -> float | None:
    """Return the probability that the only link that loses packets loses one; None for other losses."""
    laws = losses(scene.resolved, scene.flow)
    return laws[0].probability if len(laws) == 1 and isinstance(laws[0], BernoulliLoss) else None


def _reasons(scene: Scene, probability: float | None) -> list[str]:
    sender = scene.flow.tcp.sender
    reasons = []
    if not sender.is_cubic:
        reasons.append(f"the model is of CUBIC; this is {sender.title}")
    if probability is None:
        reasons.append("packets are not lost on one link, independently, each with the same probability")
    elif not 0.0 < probability < 1.0:
        reasons.append(f"the probability of a loss is {number(probability)}")
    if delay_processes(scene.resolved, scene.flow):
        reasons.append("the delay changes; the formula has a constant round trip")
    return reasons


def _prediction(scene: Scene, probability: float) -> ModelPrediction:
    law = (scene.round_trip_s, probability, *cubic_numbers(scene))
    window, unlimited = (float(controls.cubic_window(*law, most)) for most in (scene.most_in_flight, inf))
    rate = window / scene.round_trip_s
    throughput = Measured("flows", (scene.name,), "throughput_bps")
    # A congestion window may be above what the receiver's window or a socket buffer allows.
    cwnd = Measured("flows", (scene.name,), "cwnd_mean_packets") if window == unlimited else None
    return ModelPrediction(
        *CUBIC,
        subject=scene.name,
        numbers=(
            Number("cubic_bps", "throughput of CUBIC", rate * scene.packet_bits, "bit/s", throughput),
            Number("cubic_window_packets", "mean window of CUBIC", window, "pkt", cwnd),
        ),
        sentences=(
            f"{amount(probability, '1')} of the packets are lost, at a round trip of {seconds(scene.round_trip_s)}; "
            "the formula has its losses at equal distances",
            *([limit_sentence(scene)] if window < unlimited else []),
        ),
        warnings=(*controls.MODELS["cubic_window"].warnings(loss_probability=probability), *_full(scene, window)),
    )


def _full(scene: Scene, window: float) -> tuple[str, ...]:
    """Say whether the link limits the flow."""
    bottleneck = scene.bottleneck
    if bottleneck is None or window / scene.round_trip_s < bottleneck.packet_rate:
        return tuple(scene.waiting_acks(window / scene.round_trip_s))
    return (f"that is more than {bottleneck.name} carries: the link, not the losses, limits the flow",)
