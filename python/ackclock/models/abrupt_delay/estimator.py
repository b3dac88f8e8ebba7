"""The RTO after a series of round trips [abrupt-delay, eq. 1]."""

from typing import NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, model, model_of
from ackclock.models.limits import DELAY, FACTOR_OR_ZERO, TIME


class Estimate(NamedTuple):
    """The state of Jacobson's estimator."""

    smoothed_round_trip: FloatArray
    """Smoothed round trip, SRTT [s]."""
    variation: FloatArray
    """Smoothed deviation, SVAR [s]."""
    rto: FloatArray
    """Retransmission timeout, ``max(SRTT + k SVAR, 2 G)`` [s]."""


@model(samples=TIME, k=FACTOR_OR_ZERO, granularity=DELAY)
def rto_after(
    samples: ArrayLike,
    k: ArrayLike = 4.0,
    granularity: ArrayLike = 0.0,
    start: Estimate | None = None,
) -> Estimate:
    """Compute the RTO after a series of samples, ``RTO = SRTT + k SVAR`` [abrupt-delay, eq. 1].

    Parameters
    ----------
    samples : array_like
        Round trips [s], > 0, in order on the last axis.
    k : array_like, optional
        Factor of the variation [1], >= 0: 2 first, later 4. Has no axis of samples, as the others below.
    granularity : array_like, optional
        G [s], >= 0, for the smallest RTO, 2 G. Samples are not rounded to it.
    start : Estimate, optional
        The estimate after earlier samples. Without it the first sample sets SRTT, and half of it SVAR (RFC 6298
        section 2 (2.2)).

    Returns
    -------
    Estimate
        smoothed_round_trip, variation, rto.

    Notes
    -----
    Gains 1/8 and 1/4, the variation first (RFC 6298 section 2 (2.3)). With one sample per ACK, w samples are a round.

    Examples
    --------
    A long stay at 0.2 s brings the RTO down to it, one sample of 0.3 s lifts it by a factor of 1.56:

    >>> steady = rto_after([0.2] * 24)
    >>> round(float(steady.rto), 4)
    0.2005
    >>> round(float(rto_after([0.3], start=steady).rto), 4)
    0.3129
    """
    record = model_of(rto_after)
    (values,) = record.take(samples=samples)
    values = np.atleast_1d(values)
    factor, tick = record.take(k=k, granularity=granularity)
    if values.shape[-1] == 0:
        raise ModelError(Fault("samples", "is empty", f"shape {values.shape}", "at least one sample on the last axis"))
    series = np.moveaxis(values, -1, 0)
    if start is None:
        smoothed, variation, series = series[0], series[0] / 2.0, series[1:]
    else:
        smoothed, variation, _ = start
    for sample in series:
        variation = variation + (np.abs(sample - smoothed) - variation) / 4.0
        smoothed = smoothed + (sample - smoothed) / 8.0
    return Estimate(smoothed, variation, np.maximum(smoothed + factor * variation, 2.0 * tick))
