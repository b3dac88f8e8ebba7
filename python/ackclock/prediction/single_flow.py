"""One connection without end on a path: the cycle of Tahoe, the sawtooth of the others, the receiver's window."""

from math import inf, isfinite

from ackclock.errors import ModelError
from ackclock.models import bottlenecks
from ackclock.paths import delay_processes, losses
from ackclock.prediction.question import question
from ackclock.prediction.records import Claim, Inapplicable, Measured, ModelPrediction, Number, ReferenceLine
from ackclock.prediction.scene import (
    NOT_AIMD,
    NOT_FILLING,
    Scene,
    averaged_from_start,
    drop_factor,
    early_drops,
    lone_flow,
)
from ackclock.scenario import Resolved
from ackclock.wording import number, seconds

CYCLE = ("bottlenecks", "The TCP cycle on a path of several bottlenecks (Barakat, Altman 1999)")
SAWTOOTH = ("sawtooth", "Congestion avoidance between half the largest window and all of it (Barakat, Altman 1999)")
WINDOW = ("window", "The receiver's window or a socket buffer a round trip (RFC 7323, section 1.1)")


@question(*CYCLE)
def predict_single_flow(resolved: Resolved) -> list[ModelPrediction | Inapplicable]:
    """Ask the models of one connection."""
    scene, reasons = lone_flow(resolved)
    if scene is None:
        return [Inapplicable(*model, tuple(reasons)) for model in (CYCLE, SAWTOOTH, WINDOW)]
    largest = _largest_window(scene)
    return [_cycle(scene, largest), _sawtooth(scene, largest), _window(scene, largest)]


def _largest_window(scene: Scene) -> float:
    """Return W_max [pkt] of the buffers alone; infinite where no buffer ever drops."""
    found = scene.forward
    if not found:
        return inf
    held = found[int(bottlenecks.avoidance_node([node.packet_rate for node in found]))]
    bottleneck = min(node.packet_rate for node in found)
    return inf if held.buffer == inf else bottleneck * scene.round_trip_s + held.buffer


def _common_reasons(scene: Scene, largest: float) -> list[str]:
    reasons = scene.slow_acks()
    if delay_processes(scene.resolved, scene.flow):
        reasons.append("the delay changes")
    if losses(scene.resolved, scene.flow):
        reasons.append("packets are lost at random, before a buffer is full")
    if early := early_drops(scene):
        reasons += early
    elif largest == inf:
        reasons.append("no buffer on the path is ever full, so there is no loss")
    elif scene.most_in_flight <= largest:
        reasons.append(
            f"{scene.limit} of {number(round(scene.most_in_flight))} packets never fills the buffer "
            f"({number(round(largest))} packets would): there is no loss in congestion avoidance"
        )
    reasons += [
        f"{node.name} has more than one queue ({node.queue})"
        for node in scene.forward
        if not node.queue.is_fifo and node.buffer < inf
    ]
    return reasons


def _cycle(scene: Scene, largest: float) -> ModelPrediction | Inapplicable:
    reasons = _common_reasons(scene, largest)
    sender = scene.flow.tcp.sender
    if not sender.slow_starts_after_fast_retransmit:
        reasons.append(f"the model is of Tahoe, with a slow start in each cycle; this is {sender.title}")
    if not sender.is_aimd:
        reasons.append(NOT_AIMD)
    if scene.flow.tcp.receiver.ack_every > 1:
        reasons.append("the receiver delays ACKs; the model has one for each packet")
    access, nodes = scene.access_and_nodes
    queues = [node.queue for node in nodes if node.buffer < inf]
    disciplines = {str(queue) for queue in queues}
    if len(disciplines) > 1:
        reasons.append(
            f"the buffers drop differently ({', '.join(sorted(disciplines))}); the model has one drop factor"
        )
    factor = drop_factor(queues[0]) if queues else None
    if reasons or factor is None:
        return Inapplicable(*CYCLE, tuple(reasons))
    rates, buffers = [node.packet_rate for node in nodes], [node.buffer for node in nodes]
    try:
        found = bottlenecks.cycle(rates, buffers, scene.round_trip_s, access, factor)
    except ModelError as error:
        return Inapplicable(*CYCLE, (str(error),))
    outside = bottlenecks.MODELS["cycle"].warnings(rates=rates, buffers=buffers, round_trip_time=scene.round_trip_s)
    names = [node.name for node in nodes]
    return ModelPrediction(
        *CYCLE,
        subject=scene.name,
        numbers=_cycle_numbers(scene, found),
        sentences=_cycle_sentences(scene, found, names),
        warnings=(*outside, *averaged_from_start(scene)),
        reference_lines=_cycle_lines(scene, found),
    )


def _cycle_numbers(scene: Scene, found: bottlenecks.Cycle) -> tuple[Number, ...]:
    rate = Measured("flows", (scene.name,), "throughput_bps")
    largest = Measured("flows", (scene.name,), "cwnd_max_packets")
    numbers = [Number("throughput_bps", "throughput", _capped(scene, found.throughput), "bit/s", rate)]
    if found.retransmission_loss.node >= 0:
        lost = _capped(scene, found.throughput_with_lost_retransmission)
        text = "throughput if the retransmission is lost"
        numbers.append(Number("throughput_with_lost_retransmission_bps", text, lost, "bit/s", rate))
    numbers += [
        Number("maximum_window_packets", "largest window (W_max)", float(found.maximum_window), "pkt", largest),
        Number("threshold_packets", "slow-start threshold (W_th)", float(found.threshold), "pkt"),
        Number(
            "overflow_window_packets", "window when slow start overflows (W_B)", float(found.overflow.window), "pkt"
        ),
        Number("loss_window_packets", "window when that loss is detected (W_D)", float(found.loss_window), "pkt"),
        Number("avoidance_window_packets", "window when avoidance starts (W_S)", float(found.avoidance_window), "pkt"),
    ]
    return tuple(number for number in numbers if isfinite(number.value))


def _capped(scene: Scene, found: bottlenecks.Throughput) -> float:
    return float(found.capped) * scene.packet_bits


def _cycle_sentences(scene: Scene, found: bottlenecks.Cycle, names: list[str]) -> tuple[str, ...]:
    sentences = [f"in congestion avoidance the queue builds at {names[int(found.avoidance_node)]}"]
    threshold, start = number(round(float(found.threshold))), number(round(float(found.avoidance_window)))
    if found.double_slow_start:
        sentences.append(
            f"slow start overflows {names[int(found.overflow.node)]} at a window of "
            f"{number(round(float(found.overflow.window)))} packets, before its threshold of {threshold}: "
            f"each cycle has two slow starts, and avoidance starts at {start} packets instead of {threshold}"
        )
    else:
        sentences.append(f"slow start reaches its threshold of {threshold} packets before any buffer overflows")
    if found.retransmission_loss.node >= 0:
        sentences.append(
            f"the retransmission of that loss may be lost too, at {names[int(found.retransmission_loss.node)]}; "
            "a timeout then follows, and avoidance starts from a very small window"
        )
    if any(node.queue.is_random and not node.queue.drops_early for node in scene.forward):
        sentences.append("random drop loses any packet of the queue: the windows are those of one in its middle")
    return tuple(sentences)


def _cycle_lines(scene: Scene, found: bottlenecks.Cycle) -> tuple[ReferenceLine, ...]:
    windows = [(found.maximum_window, "largest window (W_max)"), (found.threshold, "slow-start threshold (W_th)")]
    if found.double_slow_start:
        windows += [
            (found.overflow.window, "slow start overflows (W_B)"),
            (found.avoidance_window, "avoidance starts (W_S)"),
        ]
    return tuple(ReferenceLine("cwnd", scene.name, float(window), label) for window, label in windows)


def _sawtooth(scene: Scene, largest: float) -> ModelPrediction | Inapplicable:
    reasons = _common_reasons(scene, largest)
    sender = scene.flow.tcp.sender
    if not sender.halves_at_loss:
        reasons.append(f"halving the window at a loss is Reno's and NewReno's; this is {sender.title}")
    if not sender.is_aimd:
        reasons.append(NOT_AIMD)
    if reasons:
        return Inapplicable(*SAWTOOTH, tuple(reasons))
    bottleneck = min(node.packet_rate for node in scene.forward)
    found = bottlenecks.average_throughput(largest / 2.0, largest, scene.round_trip_s, bottleneck)
    windows = [(largest, "largest window (W_max)"), (largest / 2.0, "after a loss (W_max / 2)")]
    claim = _sawtooth_claim(scene, largest, bottleneck)
    return ModelPrediction(
        *SAWTOOTH,
        subject=scene.name,
        numbers=(
            Number(
                "throughput_bps",
                "throughput",
                _capped(scene, found),
                "bit/s",
                Measured("flows", (scene.name,), "throughput_bps"),
            ),
            Number(
                "maximum_window_packets",
                "largest window (W_max)",
                largest,
                "pkt",
                Measured("flows", (scene.name,), "cwnd_max_packets"),
            ),
            Number("avoidance_window_packets", "window after a loss (W_max / 2)", largest / 2.0, "pkt"),
        ),
        sentences=(claim.text,),
        warnings=(*_sawtooth_warnings(scene, largest, bottleneck), *averaged_from_start(scene)),
        reference_lines=tuple(ReferenceLine("cwnd", scene.name, window, label) for window, label in windows),
        claims=(claim,),
    )


def _sawtooth_claim(scene: Scene, largest: float, bottleneck: float) -> Claim:
    pipe = bottleneck * scene.round_trip_s
    link = "" if scene.bottleneck is None else scene.bottleneck.name
    if largest >= 2.0 * pipe:
        text = f"the buffer holds the {number(round(pipe))} packets of the path: the link stays busy after a loss"
        return Claim(link, stays_busy=True, text=text, flows=(scene.name,))
    idle = f"half of {number(round(largest))} packets does not fill the path, which holds {number(round(pipe))}"
    text = f"{idle}: the link idles for a while after each loss"
    return Claim(link, stays_busy=False, text=text, flows=(scene.name,))


def _sawtooth_warnings(scene: Scene, largest: float, bottleneck: float) -> tuple[str, ...]:
    beta = largest / (bottleneck * scene.round_trip_s) - 1.0
    if beta >= 1.0:  # the formula is then cut at the link's rate, which it reaches
        return ()
    return bottlenecks.MODELS["average_throughput"].warnings(
        end_window=largest, round_trip_time=scene.round_trip_s, bottleneck_rate=bottleneck
    )


def _window_reasons(scene: Scene, largest: float) -> list[str]:
    if scene.most_in_flight == inf:
        return ["the receiver's window is unlimited"]
    if delay_processes(scene.resolved, scene.flow):
        return ["the delay changes"]
    if losses(scene.resolved, scene.flow):
        return ["packets are lost at random"]
    if not scene.flow.tcp.sender.grows_until_loss:
        return [NOT_FILLING]
    if scene.most_in_flight > largest:
        return [f"the buffer is full before {scene.limit} of {number(round(scene.most_in_flight))} packets is"]
    pace = inf if scene.bottleneck is None else scene.bottleneck.packet_rate
    rate = scene.most_in_flight / scene.round_trip_s
    # A window that the path itself holds leaves no queue.
    return scene.waiting_acks(min(rate, pace)) or (early_drops(scene) if rate > pace else [])


def _window(scene: Scene, largest: float) -> ModelPrediction | Inapplicable:
    if reasons := _window_reasons(scene, largest):
        return Inapplicable(*WINDOW, tuple(reasons))
    bottleneck = scene.bottleneck
    limit = inf if bottleneck is None else bottleneck.rate_bps
    alone = scene.most_in_flight * scene.packet_bits / scene.round_trip_s
    numbers = [
        Number(
            "throughput_bps",
            "throughput",
            min(alone, limit),
            "bit/s",
            Measured("flows", (scene.name,), "throughput_bps"),
        )
    ]
    held = "" if scene.most_in_flight == scene.max_window else f", as many as {scene.limit} allows,"
    sentence = f"{number(round(scene.most_in_flight))} packets{held} each {seconds(scene.round_trip_s)} "
    if bottleneck is not None and alone >= limit:
        sentence += f"are more than {bottleneck.name} carries: what is too much waits there, and nothing is lost"
        queue = scene.most_in_flight - bottleneck.packet_rate * scene.round_trip_s
        numbers.append(Number("standing_queue_packets", "packets that wait on the path", queue, "pkt"))
    else:
        sentence += "are less than the path carries"
    return ModelPrediction(
        *WINDOW,
        subject=scene.name,
        numbers=tuple(numbers),
        sentences=(sentence,),
        reference_lines=() if held else (ReferenceLine("cwnd", scene.name, scene.max_window, "receiver's window"),),
    )
