"""The RTO after a series of round trips [abrupt-delay, section IV.D, eq. 1]."""

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
    """Retransmission timeout, ``max(SRTT + k SVAR, RTO_min)`` [s]."""


@model(samples=TIME, k=FACTOR_OR_ZERO, granularity=DELAY, minimum_timeout=DELAY)
def rto_after(
    samples: ArrayLike,
    k: ArrayLike = 4.0,
    granularity: ArrayLike = 0.0,
    start: Estimate | None = None,
    minimum_timeout: ArrayLike = 0.0,
) -> Estimate:
    """Compute the RTO after a series of samples, ``RTO = SRTT + k SVAR`` [abrupt-delay, sections II and IV.D, eq. 1].

    At least ``RTO_min``: 2 G of the clock, the paper's, or a minimum of its own where that is larger.

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
    minimum_timeout : array_like, optional
        Of the RTO [s], >= 0: ``RTO_min = max(minimum_timeout, 2 G)``. Allman and Paxson recommend 1 s.

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

    ``RTO_min = max(1 s, 2 G)`` with a clock of 0.1 and of 0.8 s:

    >>> rto_after([0.2] * 24, granularity=[0.1, 0.8], minimum_timeout=1.0).rto.tolist()
    [1.0, 1.6]
    """
    record = model_of(rto_after)
    (values,) = record.take(samples=samples)
    values = np.atleast_1d(values)
    factor, tick, least = record.take(k=k, granularity=granularity, minimum_timeout=minimum_timeout)
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
    return Estimate(smoothed, variation, np.maximum(smoothed + factor * variation, np.maximum(least, 2.0 * tick)))
