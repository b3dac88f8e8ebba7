"""One flow at a drop-tail buffer: how busy it keeps the link, its queue, and the buffer that it needs."""

from math import inf

from ackclock.models import queues
from ackclock.paths import Node, delay_processes, losses
from ackclock.prediction.cubic import cubic_numbers
from ackclock.prediction.question import question
from ackclock.prediction.records import Claim, Inapplicable, Measured, ModelPrediction, Number
from ackclock.prediction.scene import Scene, averaged_from_start, early_drops, lone_flow
from ackclock.scenario import Resolved
from ackclock.scenario.resolved_tcp import SelectiveSettings
from ackclock.wording import number, seconds

LONE_BUFFER = ("lone-buffer", "One flow at a drop-tail buffer (Appenzeller 2004; RFC 9438; Spang 2021)")
HALF = 0.5
"""Fraction of the window that a loss leaves of Reno's."""
BUSY = 0.999
"""Utilisation from which a link counts as always busy."""


@question(*LONE_BUFFER)
def predict_lone_buffer(resolved: Resolved) -> list[ModelPrediction | Inapplicable]:
    """Ask how busy one flow keeps its bottleneck, and with which buffer it always would."""
    scene, reasons = lone_flow(resolved)
    if scene is not None and scene.bottleneck is None:
        reasons = ["no link has a rate"]
    if scene is None or scene.bottleneck is None or reasons:
        return [Inapplicable(*LONE_BUFFER, tuple(reasons))]
    reasons = _reasons(scene, scene.bottleneck)
    if reasons:
        return [Inapplicable(*LONE_BUFFER, tuple(reasons))]
    return [_prediction(scene, scene.bottleneck)]


def sawtooth(scene: Scene, bottleneck: Node, buffer: float) -> tuple[queues.Sawtooth, tuple[str, ...]]:
    """Compute the cycle of a flow at its bottleneck with a buffer for waiting packets, and the warnings about it."""
    at = {"bottleneck_rate": bottleneck.packet_rate, "round_trip_time": scene.round_trip_s}
    if scene.flow.tcp.sender.is_cubic:
        steepness, remainder = cubic_numbers(scene)
        cubic = queues.cubic_sawtooth(
            buffer, **at, steepness=steepness, remainder=remainder, fast_convergence=_converges(scene)
        )
        return cubic, queues.MODELS["cubic_sawtooth"].warnings(buffer=buffer, **at)
    linear = queues.aimd_sawtooth(buffer, **at, increase=1.0 / scene.flow.tcp.packets_per_ack, remainder=HALF)
    return linear, queues.MODELS["aimd_sawtooth"].warnings(buffer=buffer, **at)


def _converges(scene: Scene) -> bool:
    """Return whether a CUBIC flow has fast convergence, which it has by default."""
    sender = scene.flow.tcp.sender
    own = sender.congestion_control.parameters if isinstance(sender, SelectiveSettings) else {}
    return own.get("fast_convergence", 1.0) > 0.0


def remainder_of(scene: Scene) -> float:
    """Give the fraction of the window that a loss leaves."""
    return cubic_numbers(scene)[1] if scene.flow.tcp.sender.is_cubic else HALF


def _reasons(scene: Scene, bottleneck: Node) -> list[str]:
    sender = scene.flow.tcp.sender
    reasons = [*scene.slow_acks(), *early_drops(scene)]
    if not (sender.is_aimd or sender.is_cubic):
        reasons.append("the window does not grow as Reno's or CUBIC's; the model's does")
    elif sender.is_aimd and sender.slow_starts_after_fast_retransmit:
        reasons.append("each loss begins a slow start; the model goes on from what a loss leaves of the window")
    if losses(scene.resolved, scene.flow):
        reasons.append("links lose packets at random; the model's losses are those of the buffer")
    if delay_processes(scene.resolved, scene.flow):
        reasons.append("the delay changes; the model has a constant round trip")
    if any(node is not bottleneck and node.packet_rate == bottleneck.packet_rate for node in scene.forward[1:]):
        reasons.append("several links have the least rate; the model has one queue")
    if bottleneck.buffer == inf:
        reasons.append(f"the buffer of {bottleneck.name} is unlimited")
    elif scene.most_in_flight <= bottleneck.packet_rate * scene.round_trip_s + bottleneck.buffer:
        reasons.append(f"{scene.limit} never fills the buffer")
    return reasons


def _held_back(scene: Scene, bottleneck: Node) -> tuple[str, ...]:
    """Warn if the receiver's window or a socket buffer is full in each recovery.

    Until a loss is repaired, it holds the window that the loss found and what the rest of that window sends.
    """
    window = bottleneck.packet_rate * scene.round_trip_s + bottleneck.buffer
    needed = (1.0 + remainder_of(scene)) * window
    if scene.most_in_flight >= needed:
        return ()
    held, most = number(round(needed)), number(round(scene.most_in_flight))
    return (
        f"each recovery takes {held} packets of {scene.limit}, which holds {most}: it stops the flow then, and the "
        "link may be less busy than the model says",
    )


def _prediction(scene: Scene, bottleneck: Node) -> ModelPrediction:
    name = bottleneck.name
    # The packet in transmission belongs to the round trip.
    cycle, warnings = sawtooth(scene, bottleneck, max(0.0, bottleneck.buffer - 1.0))
    least = 1.0 + float(queues.lone_flow_buffer(bottleneck.packet_rate, scene.round_trip_s, remainder_of(scene)))
    used = float(cycle.utilisation)
    is_busy = used >= BUSY
    claim = Claim(
        name,
        is_busy,
        f"a flow that keeps {number(round(remainder_of(scene), 2))} of its window at a loss always keeps {name} busy "
        f"with {number(round(least))} packets of buffer; its {number(bottleneck.buffer)} are "
        f"{'enough' if is_busy else 'too few'}",
        (scene.name,),
    )
    measured = {key: Measured("links", (name,), key) for key in ("utilisation_fraction", "queue_mean_packets")}
    return ModelPrediction(
        *LONE_BUFFER,
        subject=scene.name,
        numbers=(
            Number("utilisation_fraction", f"utilisation of {name}", used, "1", measured["utilisation_fraction"]),
            Number(
                "queue_mean_packets",
                "mean queue, with the packet in transmission",
                float(cycle.mean_queue) + used,
                "pkt",
                measured["queue_mean_packets"],
            ),
            Number("full_buffer_packets", f"buffer that always keeps {name} busy", least, "pkt"),
            Number("period_s", "time from one loss to the next", float(cycle.period), "s"),
        ),
        sentences=(claim.text, f"the round trip without queue is {seconds(scene.round_trip_s)}"),
        warnings=(*warnings, *_held_back(scene, bottleneck), *averaged_from_start(scene)),
        claims=(claim,),
    )
