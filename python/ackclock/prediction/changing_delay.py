"""One connection over a path whose delay changes: ideal goodput and spurious losses (Abouzeid, Roy)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from ackclock.models import abrupt_delay
from ackclock.paths import delay_processes
from ackclock.prediction.question import question
from ackclock.prediction.records import Inapplicable, Measured, ModelPrediction, Number
from ackclock.prediction.scene import NOT_FILLING, Scene, lone_flow
from ackclock.scenario import Resolved
from ackclock.scenario.resolved_elements import AlternatingLaw, DelayLaw, DelayProcessSettings, StepsLaw
from ackclock.scenario.resolved_tcp import ClassicSettings
from ackclock.wording import amount, number, seconds

IDEAL = (
    "ideal-goodput",
    "Goodput if no jump of the delay caused a spurious loss detection (Abouzeid, Roy, equation 2)",
)
JUMP = (
    "delay-jump",
    "Whether a jump of the delay causes a spurious loss detection (Abouzeid, Roy, section III, made exact)",
)
INSTANTS = 400
"""Number of instants of a round at which a jump is tried."""


@dataclass(frozen=True)
class States:
    """The round trips between which a path alternates.

    Parameters
    ----------
    round_trips_s : tuple of float
        [s], service included.
    stays_s : tuple of float
        Mean stay in each [s].
    transitions : sequence, optional
        From state to state [1]; none: to the next one, in a circle.
    """

    round_trips_s: tuple[float, ...]
    stays_s: tuple[float, ...]
    transitions: Sequence[Sequence[float]] | None


@question(*IDEAL)
def predict_changing_delay(resolved: Resolved) -> list[ModelPrediction | Inapplicable]:
    """Ask what a delay that changes lets a connection have, and whether a jump deceives it."""
    scene, reasons = lone_flow(resolved)
    if scene is not None:
        reasons = _reasons(scene)
    if scene is None or reasons:
        return [Inapplicable(*model, tuple(reasons)) for model in (IDEAL, JUMP)]
    (process,) = delay_processes(resolved, scene.flow)
    return [_ideal(scene, process.law), _jump(scene, process)]


def alternating_states(scene: Scene, law: DelayLaw) -> States | None:
    """Turn an alternating delay into round trips; None for other kinds of change."""
    if not isinstance(law, AlternatingLaw):
        return None
    rest = scene.round_trip_s - law.least_s
    return States(
        tuple(rest + state.delay_s for state in law.states),
        tuple(state.least_stay_s + state.mean_extra_s for state in law.states),
        law.transitions,
    )


def next_states(states: States) -> Sequence[Sequence[float]]:
    """Give the probabilities of the next state; by default they follow one another in a circle."""
    count = len(states.stays_s)
    if states.transitions is not None:
        return states.transitions
    return [[float(other == (state + 1) % count) for other in range(count)] for state in range(count)]


def _reasons(scene: Scene) -> list[str]:
    found = delay_processes(scene.resolved, scene.flow)
    if not found:
        return ["the delay does not change"]
    if len(found) > 1:
        return ["more than one link's delay changes; the model has one that does"]
    if not scene.flow.tcp.sender.grows_until_loss:
        return [NOT_FILLING]
    return [] if scene.max_window < inf else ["the receiver's window is unlimited; the model's window is constant"]


def _ideal(scene: Scene, law: DelayLaw) -> ModelPrediction | Inapplicable:
    states = alternating_states(scene, law)
    if states is None:
        return Inapplicable(*IDEAL, (f"the delay changes by {law.kind}; the model alternates between states",))
    rate = inf if scene.bottleneck is None else scene.bottleneck.packet_rate
    found = abrupt_delay.ideal_goodput(
        scene.max_window, states.round_trips_s, states.stays_s, rate, next_states(states)
    )
    goodput = Measured("flows", (scene.name,), "goodput_bps")
    return ModelPrediction(
        *IDEAL,
        subject=scene.name,
        numbers=(
            Number(
                "ideal_goodput_bps", "ideal goodput (R_I)", float(found.capped) * scene.packet_bits, "bit/s", goodput
            ),
        ),
        sentences=("the simulation falls short of it by the cost of spurious loss detections at jumps, and of losses",),
    )


def _jump(scene: Scene, process: DelayProcessSettings) -> ModelPrediction | Inapplicable:
    law, sender = process.law, scene.flow.tcp.sender
    bottleneck = scene.bottleneck
    if not isinstance(sender, ClassicSettings):
        reason = f"the model's sender counts duplicate ACKs and has a timer, no more; this is {sender.title}"
        return Inapplicable(*JUMP, (reason,))
    if not isinstance(law, StepsLaw) or len(law.steps_s) != 2:
        return Inapplicable(*JUMP, ("the delay does not change by a single step",))
    if process.order != "overtake":
        return Inapplicable(*JUMP, ("packets keep their order; the model lets them overtake",))
    if bottleneck is None:
        return Inapplicable(*JUMP, ("no link has a rate; the model's rounds are paced by one",))
    (_, before), (instant, after) = law.steps_s
    rest = scene.round_trip_s - min(before, after)
    return _step(scene, sender, bottleneck.packet_rate, (rest + before, rest + after), instant)


def _step(
    scene: Scene, sender: ClassicSettings, rate: float, round_trips: tuple[float, float], instant: float
) -> ModelPrediction:
    old, new = round_trips
    window, threshold = scene.max_window, sender.dupack_threshold
    silence = max(old - (window - 1.0) / rate, 1.0 / rate)
    rto = max(sender.rto.min_s, old, silence)
    step = abrupt_delay.step_in_round(window, rate, old, step_instant=np.linspace(0.0, old, INSTANTS, endpoint=False))
    timeout = abrupt_delay.spurious_timeout(step, new, rto)
    retransmit = abrupt_delay.spurious_fast_retransmit(step, new, inf if threshold is None else threshold)
    counts = [
        ("timeouts", "spurious timeouts", np.asarray(timeout.happens)),
        (
            "fast_retransmits",
            "spurious fast retransmits",
            np.asarray(retransmit.happens) & ~np.asarray(timeout.happens),
        ),
    ]
    numbers = [
        Number(f"{key}_fraction", f"instants of the round that bring {text}", float(happens.mean()), "1")
        for key, text, happens in counts
    ]
    numbers.append(Number("rto_s", "timer before the jump, at least", rto, "s"))
    if new > old:
        needed = float(np.min(timeout.smallest_round_trip_time))
        numbers.append(Number("timeout_round_trip_s", "least new round trip for a spurious timeout", needed, "s"))
    return ModelPrediction(
        *JUMP,
        subject=f"{scene.name}, the jump at {seconds(instant)}",
        numbers=tuple(numbers),
        sentences=_sentences(round_trips, [float(happens.mean()) for _, _, happens in counts], window, rate),
        warnings=abrupt_delay.MODELS["spurious_timeout"].warnings(step=step, new_round_trip_time=new, rto=rto),
    )


def _sentences(round_trips: tuple[float, float], fractions: list[float], window: float, rate: float) -> tuple[str, ...]:
    old, new = round_trips
    timeouts, retransmits = fractions
    idle = max(0.0, 1.0 - window / (rate * old))
    round_text = (
        f"{number(window)} packets keep the sender busy for {amount(1.0 - idle, '1')} of a round trip of {seconds(old)}"
    )
    if timeouts == 0.0 and retransmits == 0.0:
        return (f"{round_text}; a jump to {seconds(new)} never causes a spurious loss detection",)
    which = "a timeout" if timeouts >= retransmits else "a fast retransmit"
    where = "at any instant within the round" if max(fractions) == 1.0 else "at some instants within the round"
    return (f"{round_text}; a jump to {seconds(new)} brings {which} though nothing is lost, {where}",)
