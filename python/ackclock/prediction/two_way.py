"""Connections in opposite directions over the same links: ACK compression (Kalampoukas, Varma, Ramakrishnan 1997)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, isclose

import numpy as np

from ackclock.models import two_way
from ackclock.paths import Node, host_of
from ackclock.prediction.question import question
from ackclock.prediction.records import Inapplicable, Measured, ModelPrediction, Number, ReferenceLine
from ackclock.prediction.scene import NOT_FILLING, Scene, Work, other_than_bulk, overloaded
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.wording import amount, number

TWO_WAY = ("two-way", "Two-way traffic that shares its queues with ACKs (Kalampoukas, Varma, Ramakrishnan 1997)")
_SAME = 1e-3
_NO_TWO_DIRECTIONS = "no two directions over the same links; the model is of flows that meet each other's ACKs"


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
        From the end of that transmission to the receiver, the processing there included [s].
    processing_s : float
        Of a segment and of an ACK of the other direction at the host there [s].
    """

    scenes: list[Scene]
    node: Node
    delay_s: float
    processing_s: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the flows."""
        return tuple(scene.name for scene in self.scenes)

    @property
    def windows(self) -> list[float]:
        """Windows of the receivers [pkt]."""
        return [scene.max_window for scene in self.scenes]


@question(*TWO_WAY)
def predict_two_way(resolved: Resolved) -> list[ModelPrediction | Inapplicable]:
    """Ask how much of the line each direction gets; of each pair of directions where there are several."""
    found = sides(resolved)
    if isinstance(found, str):
        return [Inapplicable(*TWO_WAY, (found,))]
    subjects = [f"both directions of {one.node.name}" for one, _ in found] if len(found) > 1 else ["both directions"]
    return [_prediction(subject, *pair) for subject, pair in zip(subjects, found, strict=True)]


def sides(resolved: Resolved) -> list[tuple[Side, Side]] | str:
    """Sort the flows by way and direction, or say why they are not the model's.

    Several ways must not share a link. (Channels of an ATM network do not: each has a rate of its own.)
    """
    others = other_than_bulk(resolved)
    if others:
        return others[0]
    ways: dict[frozenset[tuple[int, ...]], list[Scene]] = {}
    for scene in (Scene(resolved, flow) for flow in resolved.rows):
        way = frozenset((scene.there, scene.again))
        ways.setdefault(way, []).append(scene)
    crossed = [link for way in ways for link in {link for path in way for link in path}]
    if len(crossed) > len(set(crossed)):
        return _NO_TWO_DIRECTIONS
    found = []
    for scenes in ways.values():
        pair = _pair(scenes)
        if isinstance(pair, str):
            return pair
        found.append(pair)
    return next(iter(_overloads(resolved, found)), found)


def _overloads(resolved: Resolved, pairs: list[tuple[Side, Side]]) -> list[str]:
    """Say which hosts have more to process than they can: the data of one direction, and the ACKs of the other."""
    work: Work = {}
    for pair in pairs:
        one, other = pair
        delays, rates = [one.delay_s, other.delay_s], [one.node.packet_rate, other.node.packet_rate]
        shares = two_way.aggregate(one.windows, other.windows, delays, rates).efficiencies.tolist()
        for side, share in zip(pair, shares, strict=True):
            flow = side.scenes[0].flow
            for path, ack in ((flow.path, False), (flow.return_path, True)):
                host = host_of(resolved, path)
                if host is not None:
                    load = share * side.node.packet_rate * host.processing_s(ack=ack)
                    work[host.name, side.node.name, ack] = load
    return overloaded(work)


def _pair(scenes: list[Scene]) -> tuple[Side, Side] | str:
    there = [scene for scene in scenes if scene.there == scenes[0].there]
    back = [scene for scene in scenes if scene.there != scenes[0].there]
    if not back:
        return _NO_TWO_DIRECTIONS
    unlike = next((reason for scene in scenes for reason in _unlike(scene)), None)
    if unlike is not None:
        return unlike
    one, other = _side(there, back[0]), _side(back, there[0])
    if one is None or other is None:
        return "a direction has no link with a rate, or its flows differ in packet size, delay or host"
    return one, other


def _unlike(scene: Scene) -> Iterator[str]:
    if scene.max_window == inf:
        yield "a receiver's window is unlimited; the model is of constant windows, without a loss"
    if not scene.flow.tcp.sender.grows_until_loss:
        yield NOT_FILLING
    if scene.flow.size_packets is not None:
        yield "transfers end; the model is of flows without end"
    if scene.flow.tcp.receiver.ack_every > 1:
        yield "the receivers delay ACKs; the model has one for each packet"
    if scene.count > 1:
        yield "more than a thousand flows are alike; the model is of few"
    if not all(node.queue.is_fifo for node in scene.forward):
        yield "a link has levels of priority; the model has one queue for data and ACKs"


def _side(scenes: list[Scene], opposite: Scene) -> Side | None:
    bottleneck = scenes[0].bottleneck
    if bottleneck is None or len({_way(scene.flow) for scene in scenes}) > 1:
        return None
    scene = scenes[0]
    # In a store-and-forward network a segment's own service at the slowest place is not part of the delay.
    stages = [*(node.packet_rate for node in scene.forward), *_ip_queues(scene)]
    services = sum(1.0 / rate for rate in stages) - 1.0 / min(stages)
    links = sum(scene.resolved.elements[index].delay_s for index in scene.flow.path)
    if min(stages) < bottleneck.packet_rate:
        bottleneck = replace(bottleneck, rate_bps=min(stages) * scene.packet_bits, packet_rate=min(stages))
    delay = links + scene.flow.forward_delay_s + services
    processing = _processing_s(scene, opposite)
    return Side(scenes, bottleneck, delay + processing, processing)


def _way(flow: ResolvedFlow) -> tuple[object, ...]:
    """Give what the flows of a direction have in common."""
    return flow.packet_bytes, flow.forward_delay_s, flow.path, flow.return_path


def _processing_s(scene: Scene, opposite: Scene) -> float:
    """Give what a segment and an ACK of the other direction wait for at the host that they come to [s].

    The first ACK of a bunch comes right behind a segment: both are processed before there is a reaction.
    """
    ends = ((scene.flow.path, False), (opposite.flow.return_path, True))
    hosts = ((host_of(scene.resolved, path), ack) for path, ack in ends)
    return sum(host.processing_s(ack=ack) for host, ack in hosts if host is not None)


def _ip_queues(scene: Scene) -> Iterator[float]:
    """Give the rates of IP queues that are served at a rate of their own, before the channels [pkt/s]."""
    ends = (scene.resolved.channel_end(link) for link in scene.flow.path)
    for end in ends:
        if end is not None and isinstance(end.ip_service, dict):
            yield end.ip_service["rate-bps"] / scene.packet_bits


def _prediction(subject: str, one: Side, other: Side) -> ModelPrediction:
    rates = [one.node.packet_rate, other.node.packet_rate]
    delays = [one.delay_s, other.delay_s]
    windows = [sum(one.windows), sum(other.windows)]
    found = two_way.aggregate(one.windows, other.windows, delays, rates)
    # Alone, a segment is processed at one end and its ACK at the other.
    lone_delays = [side.delay_s - side.processing_s / 2.0 for side in (one, other)]
    alone = np.asarray(two_way.one_way_efficiency(windows, lone_delays, rates)).tolist()
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
        subject=subject,
        numbers=tuple(numbers),
        sentences=_sentences(one, other, found.efficiencies.tolist(), alone, windows),
        warnings=(
            *two_way.MODELS["efficiency"].warnings(
                windows=windows, delays=delays, rates=rates, ack_size=_ack_size(one, other)
            ),
            *_losses(one, other, queues),
        ),
        reference_lines=(
            *(
                ReferenceLine("queue", side.node.name, queue, f"data at {side.node.name}, at most")
                for side, queue in zip((one, other), queues, strict=True)
            ),
            *_throughputs(one, other, found.efficiencies.tolist()),
        ),
    )


def _throughputs(one: Side, other: Side, shares: list[float]) -> Iterator[ReferenceLine]:
    """Give each flow its part of its direction's share, by its window."""
    for side, share in zip((one, other), shares, strict=True):
        for name, window in zip(side.names, side.windows, strict=True):
            part = share * side.node.rate_bps * window / sum(side.windows)
            yield ReferenceLine("throughput", name, part, f"throughput of {name}")


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
        side.scenes[0].flow.tcp.ack_bytes / of.scenes[0].flow.packet_bytes for side, of in ((other, one), (one, other))
    ]


def _losses(one: Side, other: Side, queues: list[float]) -> tuple[str, ...]:
    return tuple(
        f"the {number(side.node.buffer)} packets of {side.node.name}'s buffer may overflow; the model has no loss"
        for side, queue in zip((one, other), queues, strict=True)
        if side.node.buffer < queue + 1.0 and not isclose(side.node.buffer, queue + 1.0, abs_tol=_SAME)
    )
