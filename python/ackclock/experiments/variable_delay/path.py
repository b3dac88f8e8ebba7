"""The common part of the paper's simulations: the scenario of figure 1, and predictions from a run's rounds."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Curve
from ackclock.experiments.frame import Measure, Run, Setting, resolved, scenario_tables
from ackclock.models import variable_delay
from ackclock.scenario import Resolved
from ackclock.scenario.losses import PoissonLoss
from ackclock.stats import estimate

PAPER: Final = "variable_delay"
PERIODS: Final = tuple(range(5, 51, 5))
INTERVALS: Final = (10, 15, 20)
"""Mean times between losses, 1/lambda [s]."""
PERIODS_QUICK: Final = (5, 10, 15, 20, 30, 40, 50)
PERIODS_STEADY: Final = (5, 20, 50)
STEADY: Final = {"run.warmup": "200 s", "run.duration": "2200 s"}
"""Changes for a run without the first slow start, which no loss ends for some ten seconds."""

MEGA: Final = 1e6
PACKET_BITS: Final = 8 * 1000
INCREASE: Final = 0.5
CONFIDENCE: Final = 0.95
STATES: Final = 8
TCP: Final = 1

MODELS: Final = {
    "fixed": "Fixed: the mean round trip",
    "variable": "Variable: its distribution",
    "markov": "Markov: two states at 85%",
    "states": f"Markov: {STATES} states",
}


def scenario(period: int, interval: int | None, runs: int, changes: Mapping[str, Any] | None = None) -> Resolved:
    """Resolve the scenario for mean ON and OFF times [s], a mean time between losses [s], and a number of runs.

    Without such a time the changes must give the losses.
    """
    about: dict[str, Any] = {
        "flow.on-off.traffic.on": f"{period} s",
        "flow.on-off.traffic.off": f"{period} s",
        "run.replications": runs,
    }
    if interval is not None:
        about["link.lossy.loss.mean_interval"] = f"{interval} s"
    return resolved(scenario_tables(PAPER, "priority"), about | dict(changes or {}))


def seeds(setting: Setting) -> int:
    """Choose the number of runs a point: the paper has M = 50."""
    return setting.pick(4, 50)


@dataclass(frozen=True)
class Point:
    """The throughput that the runs of one scenario measured, and the models' for each run's own rounds [Mbit/s]."""

    measured: Measure
    by_run: Mapping[str, NDArray[np.float64]]
    rounds: NDArray[np.float64]

    def predicted(self, model: str) -> Measure:
        """Give a model's mean over the runs, with its interval."""
        found = estimate(self.by_run[model], CONFIDENCE)
        ends = (found["mean"], found["low"], found["high"])
        return Measure(*(np.nan if end is None else end for end in ends))

    def error(self, model: str) -> float:
        """Give how far a model is from the measured throughput."""
        return abs(self.predicted(model).value - self.measured.value)


def round_trips(run: Run) -> list[NDArray[np.float64]]:
    """Give the round trips of each replication [s], the rounds that began before the measurement left out."""
    rounds = run.trace("rounds")
    rounds = rounds[rounds["time_s"] - rounds["rtt_s"] >= run.resolved.run.warmup_s]
    return [group.to_numpy() for _, group in rounds.groupby("replication")["rtt_s"]]


def point(run: Run) -> Point:
    """Fit the models to each replication's round trips."""
    laws = (link.loss.law for link in run.resolved.elements if link.loss is not None)
    rate = 1.0 / next(law.mean_interval_s for law in laws if isinstance(law, PoissonLoss))
    samples = round_trips(run)
    found = [predictions(one, rate) for one in samples]
    by_run = {model: np.array([one[model] for one in found]) for model in MODELS}
    return Point(run.flow("throughput_bps", MEGA, TCP), by_run, np.array([len(one) for one in samples], dtype=float))


_FITTED: Final[dict[tuple[bytes, float], dict[str, float]]] = {}
"""Predictions by the digest of a run's round trips: the jackknife asks for those of each run many times."""


def predictions(samples: NDArray[np.float64], loss_rate: float) -> dict[str, float]:
    """Compute what the paper's models say of a sequence of round trips [Mbit/s], as it counts: windows at their end."""
    key = (hashlib.sha256(np.ascontiguousarray(samples).tobytes()).digest(), loss_rate)
    if key not in _FITTED:
        _FITTED[key] = _fitted(samples, loss_rate)
    return _FITTED[key]


def _fitted(samples: NDArray[np.float64], loss_rate: float) -> dict[str, float]:
    independent = {"fixed": variable_delay.fit_fixed(samples), "variable": variable_delay.fit_variable(samples)}
    bounds = variable_delay.equal_time_thresholds(samples, STATES)
    chains = {
        "markov": variable_delay.fit_two_states(samples),
        "states": variable_delay.fit_states(samples, thresholds=bounds),
    }
    rates = {
        name: variable_delay.sending_rate(trips, loss_rate, increase=INCREASE) for name, trips in independent.items()
    } | {
        name: variable_delay.markov_window(fitted.chain, loss_rate, increase=INCREASE).rate
        for name, fitted in chains.items()
    }
    return {name: mbps(float(rate.printed)) for name, rate in rates.items()}


def mbps(packets_per_second: float) -> float:
    """Turn packets a second into Mbit/s."""
    return packets_per_second * PACKET_BITS / MEGA


def measured_curve(label: str, x: Any, measures: list[Measure], colour: int | None = None) -> Curve:
    """Make the curve of numbers with their intervals."""
    values = np.array([[one.value, one.low, one.high] for one in measures]).T
    return Curve(label, np.asarray(x, dtype=float), values[0], "simulation", colour, values[1], values[2])
