"""AIMD over paths with variable delay: Altman, Barakat, Ramos, INRIA RR-5232, 2004 ("[variable-delay]").

Times in seconds, windows in packets, rates in packets and losses a second. A round trip R is the time in which a window
grows by beta (`increase`); losses are a Poisson process that does not depend on the window. The window W is sampled at
the *end* of a round. `RoundTrips` is a distribution, `RoundTripChain` a Markov chain of them.

Table 1 and figure 3 depend on rates and delays of a topology that the paper does not print: they do not follow from the
formulas alone, but from a trace of round trips (`fit_fixed`, `fit_variable`, `fit_two_states`).

Slow trains of long round trips give more throughput than a constant round trip of the same mean:

>>> chain = round_trip_chain([[0.98, 0.02], [0.1, 0.9]], [0.1, 0.7])
>>> print(f"{sending_rate(RoundTrips.constant(chain.mean), 0.1).printed:.0f} pkt/s for the mean")
505 pkt/s for the mean
>>> print(f"{markov_window(chain, 0.1).rate.printed:.0f} pkt/s for the chain")
551 pkt/s for the chain
"""

from collections.abc import Mapping
from typing import Final

from ackclock.models.domain import Model, models_of
from ackclock.models.variable_delay.arguments import Reaction
from ackclock.models.variable_delay.capture import Direction, Segment, read_capture, read_segments, rounds_of
from ackclock.models.variable_delay.factors import StationaryWindow, factor_probability, stationary_window
from ackclock.models.variable_delay.fitting import (
    PAPER_QUANTILE,
    Contents,
    FittedChain,
    equal_time_thresholds,
    fit_fixed,
    fit_states,
    fit_two_states,
    fit_variable,
)
from ackclock.models.variable_delay.independent import (
    SendingRate,
    mean_factor,
    mean_window,
    per_loss_rate,
    rare_loss_rate,
    reduction_probability,
    reduction_rate,
    sending_rate,
    square_root_rate,
    time_average_window,
)
from ackclock.models.variable_delay.markov import (
    MarkovWindow,
    RoundTripChain,
    markov_window,
    mean_factors,
    round_trip_chain,
)
from ackclock.models.variable_delay.recursion import SimulatedWindow, simulate_window
from ackclock.models.variable_delay.round_trips import Draw, FrozenDistribution, RoundTrips
from ackclock.models.variable_delay.traces import (
    RoundTripTrace,
    one_sample_per_round,
    read_csv,
    read_parquet,
    round_trip_trace,
)
from ackclock.models.variable_delay.variability import Comparison, compare_variability

MODELS: Final[Mapping[str, Model]] = models_of(__name__)
"""The record of each function: source, limits of the arguments, domain."""

__all__ = [
    "MODELS",
    "PAPER_QUANTILE",
    "Comparison",
    "Contents",
    "Direction",
    "Draw",
    "FittedChain",
    "FrozenDistribution",
    "MarkovWindow",
    "Reaction",
    "RoundTripChain",
    "RoundTripTrace",
    "RoundTrips",
    "Segment",
    "SendingRate",
    "SimulatedWindow",
    "StationaryWindow",
    "compare_variability",
    "equal_time_thresholds",
    "factor_probability",
    "fit_fixed",
    "fit_states",
    "fit_two_states",
    "fit_variable",
    "markov_window",
    "mean_factor",
    "mean_factors",
    "mean_window",
    "one_sample_per_round",
    "per_loss_rate",
    "rare_loss_rate",
    "read_capture",
    "read_csv",
    "read_parquet",
    "read_segments",
    "reduction_probability",
    "reduction_rate",
    "round_trip_chain",
    "round_trip_trace",
    "rounds_of",
    "sending_rate",
    "simulate_window",
    "square_root_rate",
    "stationary_window",
    "time_average_window",
]
