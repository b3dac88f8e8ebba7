"""One transfer of a given size over an empty path: Cardwell's latency of short flows."""

from math import inf

from ackclock.models import classics
from ackclock.prediction.question import question
from ackclock.prediction.records import Inapplicable, Measured, ModelPrediction, Number
from ackclock.prediction.scene import Scene, busy_hosts, other_than_one
from ackclock.scenario import Resolved
from ackclock.wording import number, plural

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
    return [Inapplicable(*SHORT_FLOW, tuple(reasons)) if reasons or size is None else _prediction(scene, size)]


def _prediction(scene: Scene, packets: int) -> ModelPrediction:
    bottleneck, sender, receiver = scene.bottleneck, scene.flow.tcp.sender, scene.flow.tcp.receiver
    pipe = inf if bottleneck is None else bottleneck.packet_rate * scene.round_trip_s
    # A window beyond the pipe is no faster: the rest of it waits at the bottleneck.
    window = min(scene.max_window, max(pipe, sender.initial_window), LARGE_WINDOW)
    found = classics.short_flow_latency(
        packets,
        scene.round_trip_s,
        0.0,
        sender.rto.initial_s,
        window,
        initial_window=sender.initial_window,
        packets_per_ack=receiver.ack_every,
    )
    finish = scene.flow.start_s + scene.flow.start_spread_s / 2.0 + float(found.transfer)
    return ModelPrediction(
        *SHORT_FLOW,
        subject=scene.name,
        numbers=(
            Number("finish_s", "transfer finished at", finish, "s", Measured("flows", (scene.name,), "finish_s")),
            Number("transfer_s", "time of the transfer", float(found.transfer), "s"),
        ),
        sentences=(
            f"{plural(packets, 'packet')} over an empty path, without set-up or loss, from a first window of "
            f"{number(sender.initial_window)}",
        ),
        warnings=_warnings(scene, packets, window),
    )


def _warnings(scene: Scene, packets: int, window: float) -> tuple[str, ...]:
    bottleneck = scene.bottleneck
    if bottleneck is None or bottleneck.buffer == inf or packets / 2.0 <= window + bottleneck.buffer:
        return ()
    return (f"slow start may overflow {bottleneck.name}'s {number(bottleneck.buffer)} packets; the model has no loss",)
