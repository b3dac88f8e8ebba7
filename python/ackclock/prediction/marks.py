"""DCTCP connections at a link that marks packets from a threshold on: the queue that they leave."""

from collections.abc import Iterator

from ackclock.models import controls
from ackclock.paths import Node
from ackclock.prediction.question import question
from ackclock.prediction.records import Inapplicable, Measured, ModelPrediction, Number, ReferenceLine
from ackclock.prediction.scene import Scene, alike_at_one_bottleneck, control_of
from ackclock.scenario import Resolved
from ackclock.scenario.resolved_queues import NoAqm, Red, Step
from ackclock.wording import number, plural, seconds

DCTCP = ("dctcp", "The queue of DCTCP at a link that marks (Alizadeh and others 2010)")
STEEPEST = 0.1
"""Largest width of the step, as a fraction of the threshold, where it is more than a packet."""
MEMORY = 0.2
"""Packets over which the mean queue is taken, as a fraction of those in flight, at most."""


@question(*DCTCP)
def predict_dctcp(resolved: Resolved) -> list[ModelPrediction | Inapplicable]:
    """Ask which queue connections with DCTCP leave."""
    scenes, reasons = alike_at_one_bottleneck(resolved)
    if any(control_of(scene) != "dctcp" for scene in scenes if scene.flow.kind == "tcp"):
        reasons = ["the model is of DCTCP alone; other flows have another congestion control"]
    bottleneck = scenes[0].bottleneck
    if bottleneck is None or reasons:
        return [Inapplicable(*DCTCP, tuple(reasons or ["no link has a rate"]))]
    threshold, reasons = _threshold(scenes, bottleneck)
    reasons += [one for scene in scenes for one in scene.waiting_acks(bottleneck.packet_rate, _count(scenes))][:1]
    if reasons:
        return [Inapplicable(*DCTCP, tuple(reasons))]
    return [_prediction(scenes, bottleneck, threshold)]


def _threshold(scenes: list[Scene], bottleneck: Node) -> tuple[float, list[str]]:
    """Give the packets from which on the queue marks all, and why the model does not apply."""
    aqm = bottleneck.queue.aqm
    if any(getattr(scene.flow.tcp.sender, "ecn", "off") != "dctcp" for scene in scenes):
        return 0.0, ["the receivers do not echo each mark"]
    pipe = bottleneck.packet_rate * scenes[0].round_trip_s
    if isinstance(aqm, Step):
        threshold, reasons = aqm.threshold_packets, []
    elif isinstance(aqm, Red) and aqm.ecn == "all":
        threshold, reasons = aqm.min_threshold_packets, list(_unlike_a_step(aqm, bottleneck.name, pipe))
    elif isinstance(aqm, NoAqm) or (isinstance(aqm, Red) and aqm.ecn == "off"):
        return 0.0, [f"{bottleneck.name} marks no packets"]
    else:
        return 0.0, [f"{bottleneck.name} does not mark from a number of packets on; the model has such a threshold"]
    if any(scene.most_in_flight * _count(scenes) <= pipe + threshold for scene in scenes):
        reasons.append("the windows and socket buffers of the flows together never reach the threshold")
    if bottleneck.buffer <= threshold + _count(scenes):
        reasons.append(f"the buffer of {bottleneck.name} overflows before the marks have an effect")
    return threshold, reasons


def _unlike_a_step(red: Red, name: str, pipe: float) -> Iterator[str]:
    """Say where RED's marking is not that of a threshold."""
    threshold = red.min_threshold_packets
    if red.gentle or red.max_threshold_packets - threshold > max(1.0, STEEPEST * threshold):
        yield f"{name} marks gradually; the model has one threshold"
    if red.in_bytes or red.by_size or red.adaptation:
        yield f"{name} counts bytes or adapts its probability; the model has a queue in packets"
    if 1.0 / red.weight > MEMORY * (pipe + threshold):
        yield f"the mean queue of {name} follows the queue too slowly; the model has the queue itself"


def _count(scenes: list[Scene]) -> int:
    return sum(scene.count for scene in scenes)


def _prediction(scenes: list[Scene], bottleneck: Node, threshold: float) -> ModelPrediction:
    flows, name = _count(scenes), bottleneck.name
    arguments = {
        "flows": flows,
        "bottleneck_rate": bottleneck.packet_rate,
        "round_trip_time": scenes[0].round_trip_s,
        "threshold": threshold,
    }
    found = controls.dctcp_queue(**arguments)
    least = float(controls.dctcp_least_threshold(arguments["bottleneck_rate"], arguments["round_trip_time"]))
    largest, smallest = float(found.largest), max(0.0, float(found.smallest))
    mean = Measured("links", (name,), "queue_mean_packets")
    return ModelPrediction(
        *DCTCP,
        subject=f"{plural(flows, 'flow')} over {name}",
        numbers=(
            Number("queue_mean_packets", "mean queue", (largest + smallest) / 2.0, "pkt", mean),
            Number("queue_largest_packets", "largest queue (Q_max)", largest, "pkt"),
            Number("queue_smallest_packets", "smallest queue (Q_min)", smallest, "pkt"),
            Number("period_s", "duration of a sawtooth (T_C)", float(found.period), "s"),
            Number("marked_fraction", "packets that are marked (alpha)", float(found.marked_fraction), "1"),
        ),
        sentences=(
            f"{name} marks from {number(threshold)} packets on, at a round trip of {seconds(scenes[0].round_trip_s)}; "
            f"{number(round(least, 1))} packets are the least threshold that keeps it busy for any number of flows",
        ),
        warnings=controls.MODELS["dctcp_queue"].warnings(**arguments),
        reference_lines=(
            ReferenceLine("queue", name, largest, "largest queue of DCTCP (Q_max)"),
            ReferenceLine("queue", name, smallest, "smallest queue of DCTCP (Q_min)"),
        ),
    )
