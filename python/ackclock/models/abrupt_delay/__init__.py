"""TCP under abrupt changes of the round trip: Abouzeid and Roy ("[abrupt-delay]").

Rates are in packets per second, windows in packets, times in seconds: divide a rate in bit/s by the bits of a whole
packet (1 Mbit/s of 1000-byte packets is 125 packets/s). A round trip includes the service of the packet. Arguments that
describe states (`round_trip_times`, `mean_holding_times`) have the states on their last axis.

The conditions for a spurious timeout and a spurious fast retransmit, which the paper leaves out, are derived for the
setting in `ackclock.models.abrupt_delay.step`.

>>> round(float(ideal_goodput_of_factor(12, [0.1, 0.3]).printed), 9)           # figures 5 to 7
60.0
>>> bool(spurious_timeout(step_in_round(13, 125, 0.2, step_instant=0.15), 0.3, rto=0.2004).happens)        # figure 2
True
>>> bool(spurious_fast_retransmit(step_in_round(13, 125, 0.2, step_instant=0.03), 0.1).happens)  # figure 4, with w = 13
True
"""

from collections.abc import Mapping
from typing import Final

from ackclock.models.abrupt_delay.estimator import Estimate, rto_after
from ackclock.models.abrupt_delay.goodput import IdealGoodput, ideal_goodput, ideal_goodput_of_factor
from ackclock.models.abrupt_delay.process import (
    RoundTripProcess,
    round_trip_process,
    round_trip_process_of_factor,
    time_proportions,
)
from ackclock.models.abrupt_delay.retransmissions import (
    SpuriousFastRetransmit,
    fast_retransmit_round_trip_time,
    spurious_fast_retransmit,
)
from ackclock.models.abrupt_delay.step import Step, step_in_round
from ackclock.models.abrupt_delay.timeouts import SpuriousTimeout, spurious_timeout, timeout_round_trip_time
from ackclock.models.domain import Model, models_of

MODELS: Final[Mapping[str, Model]] = models_of(__name__)
"""The record of each function: source, limits of the arguments, domain."""

__all__ = [
    "MODELS",
    "Estimate",
    "IdealGoodput",
    "RoundTripProcess",
    "SpuriousFastRetransmit",
    "SpuriousTimeout",
    "Step",
    "fast_retransmit_round_trip_time",
    "ideal_goodput",
    "ideal_goodput_of_factor",
    "round_trip_process",
    "round_trip_process_of_factor",
    "rto_after",
    "spurious_fast_retransmit",
    "spurious_timeout",
    "step_in_round",
    "time_proportions",
    "timeout_round_trip_time",
]
