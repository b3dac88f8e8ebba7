"""The ideal goodput: that of a sender which no change of the round trip deceives [abrupt-delay, section IV.A]."""

from math import inf
from typing import Final, NamedTuple

import numpy as np

from ackclock.models.abrupt_delay.process import round_trip_process_of_factor, time_proportions
from ackclock.models.domain import ArrayLike, FloatArray, Limits, model, model_of
from ackclock.models.limits import (
    AT_LEAST_ONE_PACKET,
    FACTOR,
    PROBABILITY,
    TIME,
    UNBOUNDED_PACKET_RATE,
    WINDOW,
)

REACHABLE: Final = Limits(
    10.0,
    inf,
    low_included=True,
    high_included=True,
    reason="about one round in 1 + h straddles a change and gets less than its w_m: no cumulative ACK can avoid it",
)
"""Domain of the holding time factor: above it some TCP can nearly reach the ideal goodput."""


class IdealGoodput(NamedTuple):
    """The ideal goodput, by the printed formula and limited by the link."""

    printed: FloatArray
    """Goodput by the paper's formula, ``w_m / T_i`` in each state [pkt/s]."""
    capped: FloatArray
    """Goodput of at most mu in each state [pkt/s]: with ``w_m > mu T_i`` the link is full, and packets wait."""


@model(
    domain={"window": AT_LEAST_ONE_PACKET},
    window=WINDOW,
    round_trip_times=TIME,
    mean_holding_times=TIME,
    bottleneck_rate=UNBOUNDED_PACKET_RATE,
    transitions=PROBABILITY,
)
def ideal_goodput(
    window: ArrayLike,
    round_trip_times: ArrayLike,
    mean_holding_times: ArrayLike,
    bottleneck_rate: ArrayLike = inf,
    transitions: ArrayLike | None = None,
) -> IdealGoodput:
    """Compute the ideal goodput ``R_I = sum_i p_i w_m / T_i`` [abrupt-delay, eq. 2].

    Parameters
    ----------
    window : array_like
        Largest window w_m [pkt], > 0; has no axis of states.
    round_trip_times : array_like
        T_i [s], > 0, service time included; the states on the last axis.
    mean_holding_times : array_like
        E[V_i] [s], > 0; as many as `round_trip_times`, or one for all.
    bottleneck_rate : array_like, optional
        mu [pkt/s], > 0, may be infinite; has no axis of states.
    transitions : array_like, optional
        See `time_proportions`; more than two states are the extension that the conclusion announces.

    Returns
    -------
    IdealGoodput
        printed, capped.

    Notes
    -----
    No loss, and a window that stays at w_m through every change.

    Examples
    --------
    Figure 5 (12 packets, 1 Mbit/s of 1000-byte packets):

    >>> round(float(ideal_goodput(12, [0.1, 0.3], [0.2, 0.6], bottleneck_rate=125).capped), 9)
    60.0
    """
    record = model_of(ideal_goodput)
    w, mu = record.take(window=window, bottleneck_rate=bottleneck_rate)
    times, holding = record.take(round_trip_times=round_trip_times, mean_holding_times=mean_holding_times)
    times = np.atleast_1d(times)
    proportions = time_proportions(
        np.broadcast_to(holding, np.broadcast_shapes(holding.shape, times.shape)), transitions
    )
    printed, limit = w[..., np.newaxis] / times, mu[..., np.newaxis]
    return IdealGoodput(
        np.asarray(np.sum(proportions * printed, axis=-1))[()],
        np.asarray(np.sum(proportions * np.minimum(printed, limit), axis=-1))[()],
    )


@model(
    domain={"window": AT_LEAST_ONE_PACKET, "holding_time_factor": REACHABLE},
    assumes="no loss, and a window that stays at w_m through every change",
    window=WINDOW,
    round_trip_times=TIME,
    holding_time_factor=FACTOR,
    bottleneck_rate=UNBOUNDED_PACKET_RATE,
    transitions=PROBABILITY,
)
def ideal_goodput_of_factor(
    window: ArrayLike,
    round_trip_times: ArrayLike,
    holding_time_factor: ArrayLike = 1.0,
    bottleneck_rate: ArrayLike = inf,
    transitions: ArrayLike | None = None,
) -> IdealGoodput:
    """Compute the ideal goodput for ``E[X_i] = h T_i``, two states: ``2 w_m / (T_1 + T_2)`` [abrupt-delay, eq. 3].

    Parameters
    ----------
    window, round_trip_times, bottleneck_rate, transitions : array_like
        As for `ideal_goodput`.
    holding_time_factor : array_like, optional
        h [1], > 0. Does not alter the result, but decides whether it can be reached: the domain of this model.

    Returns
    -------
    IdealGoodput
        printed, capped.

    Examples
    --------
    Figures 5 to 7 (mu = 1 Mbit/s) and figure 8 (2 Mbit/s):

    >>> ideal_goodput_of_factor([12, 24], [0.1, 0.3], 10, bottleneck_rate=[125, 250]).capped.round(9).tolist()
    [60.0, 120.0]
    """
    process = round_trip_process_of_factor(round_trip_times, holding_time_factor, transitions)
    return ideal_goodput(window, round_trip_times, process.mean_holding_times, bottleneck_rate, transitions)
