"""AIMD by the round trips that a run measured: the chain of Altman, Barakat and Ramos, fitted to the run's own rounds.

The model says how a changing round trip changes the throughput, whatever its cause: queues, priorities, delays.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ackclock.models import variable_delay
from ackclock.models.domain import FloatArray
from ackclock.paths import losses
from ackclock.prediction.question import question
from ackclock.prediction.random_loss import in_time_prediction
from ackclock.prediction.records import Inapplicable, ModelPrediction
from ackclock.prediction.scene import Scene
from ackclock.scenario import Resolved
from ackclock.scenario.losses import PoissonLoss
from ackclock.scenario.resolved_tcp import Halving
from ackclock.wording import plural

if TYPE_CHECKING:
    import pandas as pd

ROUNDS: Final = ("measured-rounds", "AIMD by the round trips that the run measured (Altman, Barakat, Ramos 2004)")
STATES: Final = 8
LEAST_ROUNDS: Final = 100
_OTHERS = "no endless Reno or NewReno flow crosses one link that loses packets at the instants of a Poisson process"
_NO_TRACE = "the run kept no rounds; trace.rounds = true keeps them"


@question(*ROUNDS)
def predict_from_rounds(resolved: Resolved, rounds: "pd.DataFrame | None") -> list[ModelPrediction | Inapplicable]:
    """Ask the AIMD model about the flows that lose packets in time, with the round trips that the run measured.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    rounds : DataFrame, optional
        The run's trace of rounds: replication, flow, time_s (the end of each round), rtt_s.
    """
    scenes = [Scene(resolved, flow) for flow in resolved.rows]
    known = [(scene, law, halving) for scene in scenes for law, halving in _reaction(scene)]
    if not known:
        return [Inapplicable(*ROUNDS, (_OTHERS,))]
    if rounds is None:
        return [Inapplicable(*ROUNDS, (_NO_TRACE,))]
    return [_prediction(scene, halving, 1.0 / law.mean_interval_s, rounds) for scene, law, halving in known]


def _reaction(scene: Scene) -> Iterator[tuple[PoissonLoss, Halving]]:
    """Give the losses of a flow that the model applies to, and how they halve its window."""
    flow = scene.flow
    match losses(scene.resolved, flow):
        case [PoissonLoss() as law] if scene.count == 1 and flow.is_endless and flow.tcp.sender.is_aimd:
            if flow.tcp.sender.halving is not None:
                yield law, flow.tcp.sender.halving


def _prediction(
    scene: Scene, halving: Halving, loss_rate: float, rounds: "pd.DataFrame"
) -> ModelPrediction | Inapplicable:
    begins = rounds["time_s"] - rounds["rtt_s"]
    here = rounds[(rounds["flow"] == scene.name) & (begins >= scene.resolved.run.warmup_s)]
    if len(here) < LEAST_ROUNDS:
        few = f"{scene.name} has {plural(len(here), 'round')} after the warm-up; it takes {LEAST_ROUNDS}"
        return Inapplicable(*ROUNDS, (few,))
    chain, warnings = _fitted(here["rtt_s"].to_numpy())
    subject = f"{plural(len(here), 'round')} of the run in {plural(len(chain.stationary), 'state')}"
    found = in_time_prediction(scene, halving, chain, loss_rate, subject)
    extra = (*warnings, *variable_delay.MODELS["round_trip_trace"].warnings(tiling=_tiling(here)))
    return replace(found, model=ROUNDS[0], title=ROUNDS[1], warnings=(*found.warnings, *extra))


def _fitted(round_trips: FloatArray) -> tuple[variable_delay.RoundTripChain, tuple[str, ...]]:
    """Fit the chain; round trips that are all equal have one state."""
    thresholds = variable_delay.equal_time_thresholds(round_trips, STATES)
    if not thresholds.size:
        return variable_delay.round_trip_chain([[1.0]], [round_trips]), ()
    fitted = variable_delay.fit_states(round_trips, thresholds=thresholds)
    return fitted.chain, variable_delay.MODELS["fit_states"].warnings(visits=fitted.visits)


def _tiling(rounds: "pd.DataFrame") -> float:
    """Compute the sum of the round trips by the time that they span, all replications together."""
    begins = (rounds["time_s"] - rounds["rtt_s"]).groupby(rounds["replication"]).min()
    span = rounds.groupby("replication")["time_s"].max() - begins
    return float(np.sum(rounds["rtt_s"]) / np.sum(span))
