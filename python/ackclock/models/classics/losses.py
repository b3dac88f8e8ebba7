"""Throughput under losses that any stationary process sets: Altman, Avrachenkov, Barakat."""

from typing import Final

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, model, model_of, plain
from ackclock.models.limits import (
    FACTOR_OR_ZERO,
    NUMBER,
    PACKETS,
    POSITIVE_PROBABILITY,
    PROBABILITY_BELOW_ONE,
    TIME,
    WHOLE_COUNT_OR_ZERO,
)

_ASSUMES: Final = "losses that do not depend on the window, a constant round trip, no limit by the receiver's window"


@model(
    assumes=_ASSUMES,
    round_trip_time=TIME,
    loss_probability=POSITIVE_PROBABILITY,
    squared_variation=FACTOR_OR_ZERO,
    packets_per_ack=PACKETS,
    decrease=PROBABILITY_BELOW_ONE,
)
def independent_loss_rate(
    round_trip_time: ArrayLike,
    loss_probability: ArrayLike,
    squared_variation: ArrayLike,
    packets_per_ack: ArrayLike = 1.0,
    decrease: ArrayLike = 0.5,
) -> FloatArray:
    """Compute the throughput of TCP, window unlimited, for i.i.d. times between losses [altman].

    Parameters
    ----------
    round_trip_time : array_like
        Round-trip time [s], > 0.
    loss_probability : array_like
        Loss events a packet [1], in (0, 1].
    squared_variation : array_like
        Variance of the time between losses by its squared mean [1], >= 0: 0 for deterministic losses, 1 for a Poisson
        process.
    packets_per_ack : array_like
        Packets that one ACK acknowledges, b [pkt], >= 1.
    decrease : array_like
        Factor by which a loss multiplies the window, nu [1], in [0, 1).

    Returns
    -------
    array
        Throughput [pkt/s].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    ``sqrt((1 + nu) / (2 (1 - nu)) + V / 2) / (RTT sqrt(b p))``: the more irregular the losses, the more throughput.

    Examples
    --------
    The constants of the square-root law are sqrt(1.5) for deterministic losses and sqrt(2) for Poisson losses.

    >>> print(independent_loss_rate(1.0, 1.0, [0.0, 1.0]) ** 2)
    [1.5 2. ]
    """
    rtt, p, variation, b, nu = model_of(independent_loss_rate).take(
        round_trip_time=round_trip_time,
        loss_probability=loss_probability,
        squared_variation=squared_variation,
        packets_per_ack=packets_per_ack,
        decrease=decrease,
    )
    return plain(np.sqrt((1 + nu) / (2 * (1 - nu)) + variation / 2) / (rtt * np.sqrt(b * p)))


@model(
    assumes=_ASSUMES,
    round_trip_time=TIME,
    loss_probability=POSITIVE_PROBABILITY,
    covariances=NUMBER,
    packets_per_ack=PACKETS,
    decrease=PROBABILITY_BELOW_ONE,
)
def stationary_loss_rate(
    round_trip_time: ArrayLike,
    loss_probability: ArrayLike,
    covariances: ArrayLike,
    packets_per_ack: ArrayLike = 1.0,
    decrease: ArrayLike = 0.5,
) -> FloatArray:
    """Compute the throughput of TCP, window unlimited, for any stationary ergodic process of losses [altman].

    Parameters
    ----------
    round_trip_time : array_like
        Round-trip time [s], > 0.
    loss_probability : array_like
        Loss events a packet [1], in (0, 1].
    covariances : array_like
        Along the last axis the covariances of lag 0, 1, ... of the times between losses, by their squared mean [1];
        those of larger lags count as 0. The other axes broadcast with the other arguments.
    packets_per_ack : array_like
        Packets that one ACK acknowledges, b [pkt], >= 1.
    decrease : array_like
        Factor by which a loss multiplies the window, nu [1], in [0, 1).

    Returns
    -------
    array
        Throughput [pkt/s].

    Raises
    ------
    ModelError
        If an argument is outside its range, or no process has these covariances.

    Notes
    -----
    ``sqrt((1 + nu) / (2 (1 - nu)) + C(0) / 2 + sum over k >= 1 of nu^k C(k)) / (RTT sqrt(b p))``.

    Examples
    --------
    >>> print(f"{stationary_loss_rate(0.1, 0.01, [1.0]):.2f}, {stationary_loss_rate(0.1, 0.01, [1.0, 0.5]):.2f}")
    141.42, 150.00
    """
    record = model_of(stationary_loss_rate)
    rtt, p, b, nu = record.take(
        round_trip_time=round_trip_time,
        loss_probability=loss_probability,
        packets_per_ack=packets_per_ack,
        decrease=decrease,
    )
    (c,) = record.take(covariances=covariances)
    if c.ndim == 0 or c.shape[-1] == 0 or np.any(np.abs(c) > c[..., :1]):
        given = np.array2string(c, threshold=6)
        allowed = "a variance, then numbers no larger than it"
        raise ModelError(Fault("covariances", "must be covariances of lag 0, 1, ...", given, allowed))
    powers = nu[..., np.newaxis] ** np.arange(c.shape[-1])
    powers[..., 0] = 0.5
    with_lags = (1 + nu) / (2 * (1 - nu)) + np.sum(powers * c, axis=-1)
    return plain(np.sqrt(np.maximum(with_lags, 0.0)) / (rtt * np.sqrt(b * p)))


@model(assumes="a stationary sequence, many more intervals than lags", intervals=TIME, lags=WHOLE_COUNT_OR_ZERO)
def normalised_covariances(intervals: ArrayLike, lags: int) -> FloatArray:
    """Estimate the normalised covariances of measured times between losses, for `stationary_loss_rate` [altman].

    Parameters
    ----------
    intervals : array_like
        Times between successive losses [s], > 0, in their order; one axis.
    lags : int
        Largest lag, >= 0 and less than the number of intervals.

    Returns
    -------
    array
        Covariances of lag 0 to `lags` by the squared mean [1].

    Raises
    ------
    ModelError
        If an interval is not positive or there are too few.

    Examples
    --------
    >>> print(normalised_covariances([1.0, 3.0, 1.0, 3.0], lags=1))
    [ 0.25   -0.1875]
    """
    record = model_of(normalised_covariances)
    (times,), (wanted,) = record.take(intervals=intervals), record.take(lags=lags)
    if times.ndim != 1 or wanted >= len(times):
        given = f"{wanted:g} with intervals of shape {times.shape}"
        raise ModelError(Fault("lags", "is too large", given, "less than the number of intervals, which have one axis"))
    offsets = times / np.mean(times) - 1
    return np.array([np.sum(offsets[: len(times) - lag] * offsets[lag:]) for lag in range(int(wanted) + 1)]) / len(
        times
    )
