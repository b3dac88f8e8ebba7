"""The recursion of the window, simulated for the distributions and loss rates that sections 3 to 5 are tested with."""

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from scipy import stats

from ackclock.charts import Curve
from ackclock.experiments.frame import Setting
from ackclock.models import variable_delay
from ackclock.models.variable_delay import Reaction, RoundTripChain, RoundTrips

REACTIONS: Final[dict[Reaction, str]] = {"per-round": "A1.i", "per-loss": "A1.ii"}
LOSSES: Final = (0.05, 0.1, 0.3, 0.5, 1.0, 3.0)
"""Losses in a mean round trip, lambda: all distributions have the mean 1."""
DECREASE: Final = 0.5
REPLICATIONS: Final = 400
SEED: Final = 1

DISTRIBUTIONS: Final = {
    "constant": RoundTrips.constant(1.0),
    "exponential": RoundTrips.from_distribution(stats.expon()),
    "0.1, one in ten 9.1": RoundTrips.from_samples([0.1] * 9 + [9.1]),
}
VARIATIONS: Final = (0.0, 0.5, 1.0, 1.5, 2.0)
"""Coefficients of variation of gamma distributions with the mean 1."""


class Estimates(NamedTuple):
    """A simulated recursion: means over its replications, and the standard error of the rate."""

    window: float
    time_average: float
    rate: float
    error: float
    reduction_rate: float
    reduction_probability: float


def gamma(variation: float) -> RoundTrips:
    """Make the gamma distribution with the mean 1 and a coefficient of variation."""
    if variation == 0.0:
        return RoundTrips.constant(1.0)
    return RoundTrips.from_distribution(stats.gamma(variation**-2, scale=variation**2))


@lru_cache
def simulated(name: str, losses: float, reaction: Reaction, setting: Setting) -> Estimates:
    """Simulate the recursion for one of `DISTRIBUTIONS`."""
    return estimates(DISTRIBUTIONS[name], losses, reaction, setting.pick(5_000, 50_000))


def estimates(
    source: RoundTrips | RoundTripChain, losses: float, reaction: Reaction = "per-round", rounds: int = 5_000
) -> Estimates:
    """Simulate the recursion with beta = 1 and gamma = 1/2."""
    found = variable_delay.simulate_window(
        source,
        losses,
        reaction=reaction,
        rounds=rounds,
        replications=REPLICATIONS,
        generator=np.random.default_rng(SEED),
    )
    rate = found.rate.printed
    return Estimates(
        float(found.window.mean()),
        float(found.time_average.mean()),
        float(rate.mean()),
        float(rate.std(ddof=1) / np.sqrt(rate.size)),
        float(found.reduction_rate.mean()),
        float(found.reduction_rate.mean() / rate.mean()),
    )


def percent(predicted: float, found: float) -> float:
    """Give by how much a prediction misses what was found [%]."""
    return 100.0 * abs(predicted / found - 1.0)


def marks(label: str, x: list[float], y: list[float], colour: int) -> Curve:
    """Make the marks of a simulated recursion."""
    return Curve(label, np.array(x), np.array(y), "marks", colour)
