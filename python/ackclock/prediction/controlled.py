"""Flows of one kind at a bottleneck whose queue an AQM controls: what the models of CoDel and of PIE have in common."""

from math import inf
from typing import Final, TypeVar

from ackclock.models import queues
from ackclock.paths import Node
from ackclock.prediction.cubic import REMAINDER, STEEPNESS, cubic_numbers
from ackclock.prediction.records import Measured, Number
from ackclock.prediction.scene import Scene, alike_at_one_bottleneck
from ackclock.scenario import Resolved
from ackclock.scenario.resolved_queues import Codel, Pie
from ackclock.wording import seconds

AnAqm = TypeVar("AnAqm", Codel, Pie)
NEITHER: Final = "the models are of flows that are all Reno's, or all CUBIC's"


class Controlled:
    """Flows without end that share one bottleneck, and are all Reno's or all CUBIC's.

    Parameters
    ----------
    scenes : list of Scene
        The flows.
    bottleneck : Node
        Their bottleneck.
    """

    def __init__(self, scenes: list[Scene], bottleneck: Node) -> None:
        self.scenes, self.bottleneck = scenes, bottleneck
        self.flows = sum(scene.count for scene in scenes)
        self.rate = bottleneck.packet_rate
        self.round_trip_s = scenes[0].round_trip_s

    @property
    def growth(self) -> queues.Growth:
        """The law by which the windows grow."""
        return "cubic" if self.scenes[0].flow.tcp.sender.is_cubic else "reno"

    def state(self, target_s: float, interval_s: float = 1.0) -> queues.CodelState:
        """Compute what holds the flows at a queueing delay; `interval_s` is CoDel's."""
        steepness, remainder = cubic_numbers(self.scenes[0]) if self.growth == "cubic" else (STEEPNESS, REMAINDER)
        return queues.codel_state(
            self.flows,
            self.rate,
            self.round_trip_s,
            target_s,
            interval_s,
            growth=self.growth,
            steepness=steepness,
            remainder=remainder,
        )

    def delay_number(self, target_s: float) -> Number:
        """Give the delay that an AQM aims at, and what a run measures of it."""
        measured = Measured("links", (self.bottleneck.name,), "queueing_mean_s")
        return Number("queueing_mean_s", "mean queueing delay, the target", target_s, "s", measured)

    def loss_number(self, probability: float, *, marks: bool) -> Number:
        """Give the drop probability; of marks a run measures none at the link."""
        measured = None if marks else Measured("links", (self.bottleneck.name,), "loss_fraction")
        text = f"packets {'marked' if marks else 'dropped'}, by the flows' own law"
        return Number("drop_probability", text, probability, "1", measured)


def controlled(resolved: Resolved, kind: type[AnAqm]) -> tuple[Controlled, AnAqm] | list[str]:
    """Give the flows whose bottleneck has an AQM of a kind, and the AQM; else the reasons why there are none such."""
    scenes, reasons = alike_at_one_bottleneck(resolved)
    bottleneck = scenes[0].bottleneck
    if bottleneck is None or reasons:
        return reasons or ["no link has a rate"]
    aqm = bottleneck.queue.aqm
    if not (isinstance(aqm, kind) and bottleneck.queue.is_fifo):
        return [f"{bottleneck.name} has no {kind.title} with one queue"]
    found = Controlled(scenes, bottleneck)
    return _reasons(found) or _full_before(found, aqm.target_s, aqm.title) or (found, aqm)


def _full_before(found: Controlled, target_s: float, title: str) -> list[str]:
    """Give the reason where the buffer is full before the queue is as long as the AQM lets it be."""
    link = found.bottleneck
    if link.buffer > found.rate * target_s:
        return []
    wait, target = seconds(link.buffer / found.rate), seconds(target_s)
    return [f"{link.name}'s buffer is full at a wait of {wait}, before {title}'s target of {target}"]


def _reasons(found: Controlled) -> list[str]:
    senders = [scene.flow.tcp.sender for scene in found.scenes]
    reasons = [reason for scene in found.scenes for reason in scene.slow_acks()][:1]
    if not (all(one.is_aimd for one in senders) or all(one.is_cubic for one in senders)):
        reasons.append(NEITHER)
    if any(scene.flow.tcp.packets_per_ack != 1.0 for scene in found.scenes):
        reasons.append("the windows count ACKs, of which there are fewer than packets; the model's count packets")
    if found.bottleneck.private and found.flows > 1:
        reasons.append(f"each flow has a link {found.bottleneck.name} of its own; the model is of one that they share")
    windows = sum(scene.count * scene.most_in_flight for scene in found.scenes)
    if windows < inf and windows <= found.rate * found.round_trip_s:
        reasons.append("the windows and socket buffers of the flows together never fill the link")
    return reasons
