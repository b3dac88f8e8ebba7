"""Throughput by the losses and round trips that a run measured: the square root and PFTK, or CUBIC's law.

Their p counts loss indications a packet sent: a whole burst of drops that one recovery repairs is one.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final

from ackclock.models import classics, controls
from ackclock.paths import losses
from ackclock.prediction.cubic import cubic_numbers
from ackclock.prediction.question import question
from ackclock.prediction.random_loss import pftk_of
from ackclock.prediction.records import Inapplicable, Measured, ModelPrediction, Number
from ackclock.prediction.scene import IN_BURSTS, Scene
from ackclock.scenario import Resolved

LOSSES = ("losses", "Throughput by the measured losses and round trips (Mathis 1997; Padhye 1998; RFC 9438)")
NO_LAW: Final = "no law for the losses of its congestion control is known here: Reno and CUBIC have one"
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
    lasting = [(scene, row) for scene, row in losing if not scene.flow.writes_in_bursts]
    if not lasting:
        return [Inapplicable(*LOSSES, (IN_BURSTS,))]
    known = [(scene, row) for scene, row in lasting if _has_law(scene)]
    if not known:
        return [Inapplicable(*LOSSES, (NO_LAW,))]
    known = [(scene, row) for scene, row in known if _loss(scene, row) < 1.0]
    if not known:
        return [Inapplicable(*LOSSES, ("there were as many loss indications as packets that arrived",))]
    if len(known) <= MOST_FLOWS:
        return [_prediction([pair], pair[0].name) for pair in known]
    alike: dict[str, list[tuple[Scene, Mapping[str, Any]]]] = {}
    for pair in known:
        alike.setdefault(_law(pair[0]), []).append(pair)
    return [_prediction(pairs, f"{len(pairs)} flows together") for _, pairs in sorted(alike.items(), reverse=True)]


def _has_law(scene: Scene) -> bool:
    sender = scene.flow.tcp.sender
    return sender.is_aimd or sender.is_cubic


def _law(scene: Scene) -> str:
    """Name the law of a flow's losses: flows are predicted together only by one."""
    return "cubic" if scene.flow.tcp.sender.is_cubic else pftk_of(scene)[0]


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


def _prediction(known: list[tuple[Scene, Mapping[str, Any]]], subject: str) -> ModelPrediction:
    """Compare flows of one law together."""
    measured = Measured("flows", tuple(scene.name for scene, _ in known), "throughput_bps")
    highest = max(_loss(scene, row) for scene, row in known)
    if known[0][0].flow.tcp.sender.is_cubic:
        laws = {("cubic_bps", "throughput by CUBIC's law"): _cubic}
        warnings = controls.MODELS["cubic_window"].warnings(loss_probability=highest)
    else:
        laws = {
            ("square_root_bps", "throughput by the square root"): _square_root,
            pftk_of(known[0][0])[:2]: _pftk,
        }
        warnings = classics.MODELS["square_root_rate"].warnings(loss_probability=highest)
    numbers = [
        Number(*names, sum(law(scene, row) for scene, row in known), "bit/s", measured) for names, law in laws.items()
    ]
    return ModelPrediction(
        *LOSSES,
        subject=subject,
        numbers=tuple(number for number in numbers if isfinite(number.value)),
        sentences=(_ORIGIN if not any(losses(scene.resolved, scene.flow) for scene, _ in known) else _GIVEN,),
        warnings=warnings,
    )


def _cubic(scene: Scene, row: Mapping[str, Any]) -> float:
    most = scene.most_in_flight
    rate = controls.cubic_rate(_mean(row, "rtt_mean_s"), _loss(scene, row), *cubic_numbers(scene), most)
    return float(rate) * scene.packet_bits


def _square_root(scene: Scene, row: Mapping[str, Any]) -> float:
    b = scene.flow.tcp.packets_per_ack
    round_trip = _mean(row, "rtt_mean_s")
    rate = float(classics.square_root_rate(round_trip, _loss(scene, row), b))
    return min(rate, scene.most_in_flight / round_trip) * scene.packet_bits


def _pftk(scene: Scene, row: Mapping[str, Any]) -> float:
    round_trip = _mean(row, "rtt_mean_s")
    # Without a trace of the timer: the least it can be over such a round trip.
    timeout = scene.flow.tcp.sender.least_timeout_s(round_trip)
    window = min(scene.most_in_flight, LARGE_WINDOW)
    b = scene.flow.tcp.packets_per_ack
    _, _, pftk = pftk_of(scene)
    return float(pftk(round_trip, _loss(scene, row), timeout, window, b)) * scene.packet_bits
