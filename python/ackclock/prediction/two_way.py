"""Connections in opposite directions over the same links: ACK compression (Kalampoukas, Varma, Ramakrishnan 1997)."""

from dataclasses import dataclass
from math import inf, isclose

import numpy as np

from ackclock.models import two_way
from ackclock.paths import Node
from ackclock.prediction.records import Inapplicable, Level, Measured, ModelPrediction, Number
from ackclock.prediction.scene import Scene
from ackclock.replication import ResolvedDict
from ackclock.wording import amount, number

TWO_WAY = ("two-way", "Two-way traffic that shares its queues with ACKs (Kalampoukas, Varma, Ramakrishnan 1997)")
_SAME = 1e-3


@dataclass(frozen=True)
class Side:
    """The connections that send in one direction.

    Parameters
    ----------
    scenes : list of Scene
        They.
    node : Node
        The slowest link of their data.
    delay_s : float
        From the end of that transmission to the receiver [s].
    """

    scenes: list[Scene]
    node: Node
    delay_s: float

    @property
    def names(self) -> tuple[str, ...]:
        """Of the flows."""
        return tuple(scene.name for scene in self.scenes)

    @property
    def windows(self) -> list[float]:
        """Of the receivers [pkt]."""
        return [scene.max_window for scene in self.scenes]


def predict_two_way(resolved: ResolvedDict) -> list[ModelPrediction | Inapplicable]:
    """Ask how much of the line each direction gets."""
    found = sides(resolved)
    if isinstance(found, str):
        return [Inapplicable(*TWO_WAY, (found,))]
    return [_prediction(*found)]


def sides(resolved: ResolvedDict) -> tuple[Side, Side] | str:
    """Sort the flows by direction, or say why they are not the model's."""
    scenes = [Scene(resolved, flow) for flow in resolved["flows"]]
    first = scenes[0].flow
    there = [scene for scene in scenes if scene.flow["path"] == first["path"]]
    back = [scene for scene in scenes if scene.flow["path"] == first["return_path"]]
    if not back or len(there) + len(back) != len(scenes):
        return "no two directions over the same links; the model is of flows that meet each other's ACKs"
    if any(scene.max_window == inf for scene in scenes):
        return "a receiver's window is unlimited; the model is of windows that stand still, without a loss"
    if any(scene.flow["size_packets"] is not None for scene in scenes):
        return "transfers end; the model is of flows without end"
    if any(scene.flow["receiver"]["ack_every"] > 1 for scene in scenes):
        return "the receivers delay ACKs; the model has one for each packet"
    one, other = _side(there), _side(back)
    if one is None or other is None:
        return "a direction has no link with a rate, or its flows differ in packet size or delay"
    return one, other


def _side(scenes: list[Scene]) -> Side | None:
    bottleneck = scenes[0].bottleneck
    if bottleneck is None or len({(scene.flow["packet_bytes"], scene.flow["forward_delay_s"]) for scene in scenes}) > 1:
        return None
    scene = scenes[0]
    # In a store-and-forward network a segment's own service at the slowest link is not part of the delay.
    services = sum(1.0 / node.packet_rate for node in scene.forward) - 1.0 / bottleneck.packet_rate
    links = sum(float(scene.resolved["links"][index]["delay_s"]) for index in scene.flow["path"])
    return Side(scenes, bottleneck, links + float(scene.flow["forward_delay_s"]) + services)


def _prediction(one: Side, other: Side) -> ModelPrediction:
    rates = [one.node.packet_rate, other.node.packet_rate]
    delays = [one.delay_s, other.delay_s]
    windows = [sum(one.windows), sum(other.windows)]
    found = two_way.aggregate(one.windows, other.windows, delays, rates)
    alone = np.asarray(two_way.one_way_efficiency(windows, delays, rates)).tolist()
    queues = np.asarray(two_way.maximum_queue(windows, delays, rates)).tolist()
    numbers: list[Number] = []
    for side, share, one_way, queue in zip((one, other), found.efficiencies.tolist(), alone, queues, strict=True):
        label = " + ".join(side.names) if len(side.names) <= 2 else f"{len(side.names)} flows over {side.node.name}"
        measured = Measured("flows", side.names, "throughput_bps")
        numbers += [
            Number("throughput_bps", f"throughput, {label}", share * side.node.rate_bps, "bit/s", measured),
            Number("efficiency_fraction", f"part of {side.node.name}", share, "1"),
            Number("one_way_efficiency_fraction", "the same without traffic in the other direction", one_way, "1"),
            Number("maximum_queue_packets", f"data packets at {side.node.name}, at most", queue, "pkt"),
        ]
    return ModelPrediction(
        *TWO_WAY,
        subject="both directions",
        numbers=tuple(numbers),
        sentences=_sentences(one, other, found.efficiencies.tolist(), alone, windows),
        warnings=(*two_way.warnings(windows, delays, rates, _ack_size(one, other)), *_losses(one, other, queues)),
        levels=tuple(
            Level("queue", side.node.name, queue, f"data at {side.node.name}, at most")
            for side, queue in zip((one, other), queues, strict=True)
        ),
    )


def _sentences(
    one: Side, other: Side, shares: list[float], alone: list[float], windows: list[float]
) -> tuple[str, ...]:
    pipe = sum((one.delay_s, other.delay_s))
    rates = (one.node.packet_rate, other.node.packet_rate)
    if sum(window / rate for window, rate in zip(windows, rates, strict=True)) <= pipe:
        return ("the windows together do not fill the line there and back: ACKs are not compressed",)
    lost = [1.0 - share / single for share, single in zip(shares, alone, strict=True)]
    return (
        f"ACKs wait behind the other direction's data and come in bunches, so windows of {number(windows[0])} and "
        f"{number(windows[1])} packets leave as single bursts and the line idles between them: "
        f"{amount(max(lost[0], 0.0), '1')} and {amount(max(lost[1], 0.0), '1')} of the throughput is lost",
    )


def _ack_size(one: Side, other: Side) -> list[float]:
    return [
        side.scenes[0].flow["ack_bytes"] / of.scenes[0].flow["packet_bytes"]
        for side, of in ((other, one), (one, other))
    ]


def _losses(one: Side, other: Side, queues: list[float]) -> tuple[str, ...]:
    return tuple(
        f"the {number(side.node.buffer)} packets of {side.node.name}'s buffer may overflow; the model has no loss"
        for side, queue in zip((one, other), queues, strict=True)
        if side.node.buffer < queue + 1.0 and not isclose(side.node.buffer, queue + 1.0, abs_tol=_SAME)
    )
