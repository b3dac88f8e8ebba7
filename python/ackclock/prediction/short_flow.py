"""One transfer of a given size over an empty path: Cardwell's latency of short flows."""

from math import inf, prod

from ackclock.models import classics
from ackclock.paths import losses
from ackclock.prediction.question import question
from ackclock.prediction.records import Inapplicable, Measured, ModelPrediction, Number
from ackclock.prediction.scene import NOT_AIMD, Scene, busy_hosts, other_than_one
from ackclock.scenario import Resolved
from ackclock.scenario.losses import BernoulliLoss
from ackclock.wording import amount, number, plural

SHORT_FLOW = ("short-flow", "The latency of a short transfer (Cardwell, Savage, Anderson 2000)")
LARGE_WINDOW = 1e9


@question(*SHORT_FLOW)
def predict_short_flow(resolved: Resolved) -> list[ModelPrediction | Inapplicable]:
    """Ask how long a transfer takes."""
    scene = Scene(resolved, resolved.flows[0])
    reasons = other_than_one(resolved) or busy_hosts(resolved)
    size = scene.flow.size_packets
    if not reasons and size is None:
        reasons.append("the flow has no end; the model is of a transfer of a given size")
    probability = _loss_probability(resolved, scene)
    if not reasons and probability is None:
        reasons.append("packets are not lost independently, each with the same probability")
    if not reasons and not scene.flow.tcp.sender.is_aimd:
        reasons.append(NOT_AIMD)
    if reasons or size is None or probability is None:
        return [Inapplicable(*SHORT_FLOW, tuple(reasons))]
    return [_prediction(scene, size, probability)]


def _loss_probability(resolved: Resolved, scene: Scene) -> float | None:
    """Compute the probability that a link on the path loses a data packet; None for other laws of loss."""
    laws = losses(resolved, scene.flow)
    known = [law.probability for law in laws if isinstance(law, BernoulliLoss)]
    return 1.0 - prod(1.0 - one for one in known) if len(known) == len(laws) else None


def _prediction(scene: Scene, packets: int, probability: float) -> ModelPrediction:
    bottleneck, tcp = scene.bottleneck, scene.flow.tcp
    sender, receiver = tcp.sender, tcp.receiver
    pipe = inf if bottleneck is None else bottleneck.packet_rate * scene.round_trip_s
    # A window beyond the pipe is no faster: the rest of it waits at the bottleneck.
    window = min(scene.max_window, max(pipe, sender.initial_window), LARGE_WINDOW)
    found = classics.short_flow_latency(
        packets,
        scene.round_trip_s,
        probability,
        sender.least_timeout_s(scene.round_trip_s),
        window,
        initial_window=sender.initial_window,
        packets_per_ack=tcp.packets_per_ack,
        delayed_ack_time=receiver.ack_delay_s if sender.initial_window < receiver.ack_every else 0.0,
    )
    until_last_ack = Measured("flows", (scene.name,), "fct_acked_mean_s")
    return ModelPrediction(
        *SHORT_FLOW,
        subject=scene.name,
        numbers=(Number("transfer_s", "transfer, to the last ACK", float(found.transfer), "s", until_last_ack),),
        sentences=(
            f"{plural(packets, 'packet')} over an empty path, without set-up, from a first window of "
            f"{number(sender.initial_window)}; {_losses_in_words(probability)}",
        ),
        warnings=_warnings(scene, packets, window),
    )


def _losses_in_words(probability: float) -> str:
    return f"{amount(probability, '1')} of the packets are lost" if probability > 0.0 else "no packet is lost"


def _warnings(scene: Scene, packets: int, window: float) -> tuple[str, ...]:
    bottleneck = scene.bottleneck
    if bottleneck is None or bottleneck.buffer == inf or packets / 2.0 <= window + bottleneck.buffer:
        return ()
    return (f"slow start may overflow {bottleneck.name}'s {number(bottleneck.buffer)} packets; the model has no loss",)
