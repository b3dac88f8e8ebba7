"""One connection over a path that loses packets at random, its delay constant or changing.

The square root and PFTK for losses by packet; for losses in time the AIMD model of Altman, Barakat and Ramos, with the
round trip taken as constant, as independent from round to round, and as a Markov chain.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ackclock.models import classics, variable_delay
from ackclock.models.domain import FloatArray
from ackclock.paths import delay_processes, losses
from ackclock.prediction.changing_delay import alternating_states, next_states
from ackclock.prediction.question import question
from ackclock.prediction.records import Inapplicable, Measured, ModelPrediction, Number
from ackclock.prediction.scene import NOT_AIMD, Scene, lone_flow
from ackclock.scenario import Resolved
from ackclock.scenario.losses import BernoulliLoss, LossLaw, PoissonLoss
from ackclock.scenario.resolved_elements import HandoverLaw
from ackclock.scenario.resolved_tcp import Halving, SelectiveSettings
from ackclock.wording import amount, number, seconds

BY_PACKET = ("random-loss", "Throughput where each packet may be lost (Mathis 1997; Padhye 1998)")
IN_TIME = ("variable-delay", "AIMD over paths with variable delay (Altman, Barakat, Ramos 2004)")
HANDOVER_STATES = 32
"""Number of equally likely delays that stand for the uniform law of a hand-over."""
LARGE_WINDOW = 1e9


@question(*BY_PACKET)
def predict_random_loss(resolved: Resolved) -> list[ModelPrediction | Inapplicable]:
    """Ask what random losses leave of the throughput."""
    scene, reasons = lone_flow(resolved)
    found = [] if scene is None else losses(resolved, scene.flow)
    if scene is not None and len(found) != 1:
        reasons = ["more than one link loses packets" if found else "no link loses packets at random"]
    if scene is None or reasons:
        return [Inapplicable(*model, tuple(reasons)) for model in (BY_PACKET, IN_TIME)]
    return [_by_packet(scene, found[0]), _in_time(scene, found[0])]


def _by_packet(scene: Scene, law: LossLaw) -> ModelPrediction | Inapplicable:
    if not isinstance(law, BernoulliLoss):
        return Inapplicable(*BY_PACKET, ("packets are not lost independently, each with the same probability",))
    if not scene.flow.tcp.sender.is_aimd:
        return Inapplicable(*BY_PACKET, (NOT_AIMD,))
    if law.probability == 0.0:
        return Inapplicable(*BY_PACKET, ("the probability of a loss is 0",))
    if law.probability == 1.0:
        return Inapplicable(*BY_PACKET, ("every packet is lost",))
    if delay_processes(scene.resolved, scene.flow):
        return Inapplicable(*BY_PACKET, ("the delay changes; the formulas have a constant round trip",))
    probability, b = law.probability, scene.flow.tcp.packets_per_ack
    timeout = scene.flow.tcp.sender.least_timeout_s(scene.round_trip_s)
    window = min(scene.most_in_flight, LARGE_WINDOW)
    key, text, pftk = pftk_of(scene)
    unlimited = float(classics.square_root_rate(scene.round_trip_s, probability, b))
    rates = (
        (
            "square_root_bps",
            "throughput by the square root",
            min(unlimited, window / scene.round_trip_s),
        ),
        (key, text, pftk(scene.round_trip_s, probability, timeout, window, b)),
    )
    warnings = classics.MODELS["square_root_rate"].warnings(loss_probability=probability)
    return ModelPrediction(
        *BY_PACKET,
        subject=scene.name,
        numbers=tuple(_rate(scene, key, text, float(rate)) for key, text, rate in rates),
        sentences=(
            f"{amount(probability, '1')} of the packets are lost, at a round trip of {seconds(scene.round_trip_s)}",
            *([limit_sentence(scene)] if unlimited * scene.round_trip_s >= window else []),
        ),
        warnings=(*warnings, *_full(scene, float(rates[-1][-1]))),
    )


def limit_sentence(scene: Scene) -> str:
    """Say what limits a window that the losses alone would let grow further."""
    packets = number(round(scene.most_in_flight))
    return f"{scene.limit} allows {packets} packets in flight, which the losses alone would exceed"


def pftk_of(scene: Scene) -> tuple[str, str, Callable[..., FloatArray]]:
    """Give the formula for a sender that repairs several losses in a round trip, or for one that does not."""
    sender = scene.flow.tcp.sender
    if isinstance(sender, SelectiveSettings) and sender.sack:
        return "pftk_sack_bps", "throughput by PFTK with SACK", classics.pftk_sack_throughput
    return "pftk_bps", "throughput by PFTK", classics.pftk_throughput


def _in_time(scene: Scene, law: LossLaw) -> ModelPrediction | Inapplicable:
    sender = scene.flow.tcp.sender
    if not isinstance(law, PoissonLoss):
        return Inapplicable(*IN_TIME, ("losses are not a Poisson process in time",))
    if not sender.is_aimd:
        return Inapplicable(*IN_TIME, (NOT_AIMD,))
    if sender.halving is None:
        return Inapplicable(*IN_TIME, (f"the model halves the window at a loss; {sender.title} starts slowly again",))
    chain = _chain(scene)
    if chain is None:
        return Inapplicable(*IN_TIME, ("the delay changes in given steps: there is no steady state",))
    return in_time_prediction(scene, sender.halving, chain, 1.0 / law.mean_interval_s, "the path as described")


def in_time_prediction(
    scene: Scene, halving: Halving, chain: variable_delay.RoundTripChain, loss_rate: float, subject: str
) -> ModelPrediction:
    """Predict the throughput for round trips of a chain: by their mean, their distribution, and the chain itself.

    Parameters
    ----------
    scene : Scene
        The flow.
    halving : str
        Whether the window is halved "per-loss" or "per-round".
    chain : RoundTripChain
        Of the round trips, one step a round.
    loss_rate : float
        Losses a second.
    subject : str
        Where the chain comes from.
    """
    increase = 1.0 / scene.flow.tcp.packets_per_ack
    mean = variable_delay.round_trip_chain([[1.0]], [chain.mean])
    fixed = variable_delay.markov_window(mean, loss_rate, increase=increase, reaction=halving)
    markov = variable_delay.markov_window(chain, loss_rate, increase=increase, reaction=halving)
    numbers = [_rate(scene, "markov_bps", "throughput, round trips as a Markov chain", float(markov.rate.sent))]
    if len(chain.stationary) > 1:
        independent = variable_delay.round_trip_chain(
            np.tile(chain.stationary, (len(chain.stationary), 1)), chain.round_trips
        )
        variable = variable_delay.markov_window(independent, loss_rate, increase=increase, reaction=halving)
        numbers = [
            _rate(scene, "fixed_bps", "throughput, round trip fixed at its mean", float(fixed.rate.sent)),
            _rate(scene, "variable_bps", "throughput, round trips independent", float(variable.rate.sent)),
            *numbers,
        ]
    window = Measured("flows", (scene.name,), "cwnd_mean_packets")
    numbers.append(Number("mean_round_trip_s", "mean round trip, over rounds", float(chain.mean), "s"))
    numbers.append(
        Number("window_packets", "mean window over time (E[W(t)])", float(markov.time_average), "pkt", window)
    )
    gain = float(markov.rate.sent) / float(fixed.rate.sent) - 1.0
    sentence = f"a loss each {seconds(1.0 / loss_rate)}, a mean round trip of {seconds(chain.mean)}"
    if len(chain.stationary) > 1:
        sentence += f"; that the delay varies makes {amount(gain, '1')} of throughput (more variable is never worse)"
    return ModelPrediction(
        *IN_TIME,
        subject=f"{scene.name}, {subject}",
        numbers=tuple(numbers),
        sentences=(sentence,),
        warnings=(*_window_warnings(scene, float(markov.time_average)), *_full(scene, float(markov.rate.sent))),
    )


def _chain(scene: Scene) -> variable_delay.RoundTripChain | None:
    """Turn the delay into a chain of round trips: in a state of mean stay V a round trip T is left after V/T rounds."""
    found = delay_processes(scene.resolved, scene.flow)
    if not found:
        return variable_delay.round_trip_chain([[1.0]], [scene.round_trip_s])
    if len(found) > 1:
        return None
    law = found[0].law
    states = alternating_states(scene, law)
    if states is not None:
        return _alternating(states.round_trips_s, states.stays_s, next_states(states))
    if not isinstance(law, HandoverLaw):
        return None
    parts = (np.arange(HANDOVER_STATES) + 0.5) / HANDOVER_STATES
    round_trips = scene.round_trip_s + parts * (law.high_s - law.low_s)
    anywhere = np.full((HANDOVER_STATES, HANDOVER_STATES), 1.0 / HANDOVER_STATES)
    return _alternating(round_trips.tolist(), [law.period_s] * HANDOVER_STATES, anywhere.tolist())


def _alternating(
    round_trips: Sequence[float], stays: Sequence[float], following: Sequence[Sequence[float]]
) -> variable_delay.RoundTripChain:
    leave = np.minimum(np.array(round_trips) / np.array(stays), 1.0)
    transitions = np.diag(1.0 - leave) + leave[:, np.newaxis] * np.array(following)
    return variable_delay.round_trip_chain(transitions, list(round_trips))


def _rate(scene: Scene, key: str, text: str, rate: float) -> Number:
    return Number(key, text, rate * scene.packet_bits, "bit/s", Measured("flows", (scene.name,), "throughput_bps"))


def _full(scene: Scene, rate: float) -> tuple[str, ...]:
    bottleneck = scene.bottleneck
    if bottleneck is None or rate < bottleneck.packet_rate:
        return tuple(scene.waiting_acks(rate))
    return (f"that is more than {bottleneck.name} carries: the link, not the losses, limits the flow",)


def _window_warnings(scene: Scene, window: float) -> tuple[str, ...]:
    if window < scene.most_in_flight / 2.0:
        return ()
    return (f"{scene.limit} cuts the larger windows off; the model has none",)
