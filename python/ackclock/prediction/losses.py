"""Throughput by the losses and round trips that a run measured: the square root and PFTK.

Their p counts loss indications a packet sent: a whole burst of drops that one recovery repairs is one.
"""

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import Any

from ackclock.models import classics
from ackclock.paths import losses
from ackclock.prediction.question import question
from ackclock.prediction.records import Inapplicable, Measured, ModelPrediction, Number
from ackclock.prediction.scene import NOT_AIMD, Scene
from ackclock.scenario import Resolved

LOSSES = ("losses", "Throughput by the measured losses and round trips (Mathis 1997; Padhye 1998)")
MOST_FLOWS = 6
_ORIGIN = "a loss ratio that queues made is an outcome, not a cause: this tests the formulas, it predicts little"
_GIVEN = "by the loss indications and round trips that the run measured"
LARGE_WINDOW = 1e9


@question(*LOSSES)
def predict_from_measured(
    resolved: Resolved, flows: Sequence[Mapping[str, Any]]
) -> list[ModelPrediction | Inapplicable]:
    """Ask the models that need a measured loss ratio and round trip.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    flows : sequence of mapping
        The flows of its summary.
    """
    pairs = [(Scene(resolved, flow), row) for flow, row in zip(resolved.rows, flows, strict=True)]
    losing = [(scene, row) for scene, row in pairs if scene.flow.is_endless and _loss(scene, row) > 0.0]
    if not losing:
        return [Inapplicable(*LOSSES, ("no flow without end found a loss",))]
    known = [(scene, row) for scene, row in losing if scene.flow.tcp.sender.is_aimd]
    if not known:
        return [Inapplicable(*LOSSES, (NOT_AIMD,))]
    known = [(scene, row) for scene, row in known if _loss(scene, row) < 1.0]
    if not known:
        return [Inapplicable(*LOSSES, ("there were as many loss indications as packets that arrived",))]
    if len(known) > MOST_FLOWS:
        return [_sum(known)]
    return [_prediction([pair], pair[0].name) for pair in known]


def _loss(scene: Scene, row: Mapping[str, Any]) -> float:
    """Compute the loss indications per packet sent [1]; 0 where nothing was measured."""
    received = _mean(row, "throughput_bps") * scene.resolved.run.measured_s / scene.packet_bits
    indications = _mean(row, "timeouts") + _mean(row, "fast_retransmits")
    if received == 0.0 or _mean(row, "rtt_mean_s") == 0.0:
        return 0.0
    return float(indications * (1.0 - _mean(row, "loss_fraction")) / received)


def _mean(row: Mapping[str, Any], key: str) -> float:
    found = row[key]
    value = None if found is None else found["mean"]
    return 0.0 if value is None else float(value)


def _sum(known: list[tuple[Scene, Mapping[str, Any]]]) -> ModelPrediction:
    return _prediction(known, f"{len(known)} flows together")


def _prediction(known: list[tuple[Scene, Mapping[str, Any]]], subject: str) -> ModelPrediction:
    measured = Measured("flows", tuple(scene.name for scene, _ in known), "throughput_bps")
    root = sum(_square_root(scene, row) for scene, row in known)
    full = sum(_pftk(scene, row) for scene, row in known)
    numbers = (
        Number("square_root_bps", "throughput by the square root", root, "bit/s", measured),
        Number("pftk_bps", "throughput by PFTK", full, "bit/s", measured),
    )
    highest = max(_loss(scene, row) for scene, row in known)
    return ModelPrediction(
        *LOSSES,
        subject=subject,
        numbers=tuple(number for number in numbers if isfinite(number.value)),
        sentences=(_ORIGIN if not any(losses(scene.resolved, scene.flow) for scene, _ in known) else _GIVEN,),
        warnings=classics.MODELS["square_root_rate"].warnings(loss_probability=highest),
    )


def _square_root(scene: Scene, row: Mapping[str, Any]) -> float:
    b = scene.flow.tcp.packets_per_ack
    return float(classics.square_root_rate(_mean(row, "rtt_mean_s"), _loss(scene, row), b)) * scene.packet_bits


def _pftk(scene: Scene, row: Mapping[str, Any]) -> float:
    round_trip = _mean(row, "rtt_mean_s")
    # Without a trace of the timer: the least it can be over such a round trip.
    timeout = scene.flow.tcp.sender.least_timeout_s(round_trip)
    window = LARGE_WINDOW if scene.max_window == inf else scene.max_window
    b = scene.flow.tcp.packets_per_ack
    return float(classics.pftk_throughput(round_trip, _loss(scene, row), timeout, window, b)) * scene.packet_bits
