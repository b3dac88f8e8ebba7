"""The queue, the loss and the buffer from the extended ON time [engset, sections 4.1 and 5.4.1]."""

from typing import Final

import numpy as np

from ackclock.models.domain import ArrayLike, FloatArray, Limits, model, model_of
from ackclock.models.engset.path import Path
from ackclock.models.limits import (
    BIT_RATE,
    BUFFER_OR_NONE,
    COUNT,
    DELAY,
    FACTOR_OR_ZERO,
    PACKET_BYTES,
    POSITIVE_PROBABILITY,
    QUEUE,
    TIME,
)

SMALL_LOSS: Final = Limits(
    0.0, 0.01, low_included=True, high_included=True, reason="the model greatly overestimates the loss"
)
"""Domain of the loss that the model predicts."""

TARGET_LOSS: Final = 0.01
"""Loss wanted by the buffer rule, L [1]."""
LARGEST_DELAY: Final = 0.6
"""Queueing delay of the 600 ms rule [s]."""
BDP_DELAY: Final = 0.3
"""Round trip of the BDP rule [s]."""


@model(on_time=TIME, flights=COUNT, following=FACTOR_OR_ZERO)
def mean_queue(path: Path, on_time: ArrayLike, flights: ArrayLike, following: ArrayLike) -> FloatArray:
    """Compute the mean queue at the multiplexing link, ``Q = ((ON - n Delta*) / m - RTT_0) / Delta`` [engset, eq. 11].

    Parameters
    ----------
    path : Path
        The path.
    on_time : array_like
        ON in the superposition [s], > 0.
    flights, following : array_like
        (m, n), renormalised where a link saturates.

    Returns
    -------
    array of float
        Q [pkt], the packet in transmission included.

    Examples
    --------
    >>> path = Path(0.05, [100e6, 10e6, 2e6])
    >>> round(float(mean_queue(path, on_time=0.9296, flights=3, following=5)), 1)
    208.2
    """
    on, m, n = model_of(mean_queue).take(on_time=on_time, flights=flights, following=following)
    return np.asarray(((on - n * path.slowest_service_time) / m - path.rtt) / path.service_time)[()]


@model(size=BUFFER_OR_NONE, utilisation=POSITIVE_PROBABILITY, queue=QUEUE)
def exceedance(size: ArrayLike, utilisation: ArrayLike, queue: ArrayLike) -> FloatArray:
    """Compute ``P(Q > x) = rho exp(-x / eta)`` with ``eta = Q / rho`` [engset, section 4.1, eq. 12].

    With the buffer B for x it is the loss.

    Parameters
    ----------
    size : array_like
        x or the buffer B [pkt], >= 0, may be infinite.
    utilisation : array_like
        rho [1], from 0 to 1. With rho_(2) of equation 9 the losses of tables 6 and 10 come out.
    queue : array_like
        Mean queue Q [pkt], >= 0; 0 where the queue is always empty.

    Returns
    -------
    array of float
        Probability [1].

    Notes
    -----
    As a loss it is far too large above 1%, and retransmissions are left out.

    Examples
    --------
    >>> round(float(exceedance(200.0, utilisation=0.9, queue=40.0)), 4)
    0.01
    """
    x, rho, q = model_of(exceedance).take(size=size, utilisation=utilisation, queue=queue)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.where(q > 0.0, -x * rho / q, -np.inf)
    return np.asarray(rho * np.exp(exponent))[()]


@model(domain={"loss": SMALL_LOSS}, loss=POSITIVE_PROBABILITY, utilisation=POSITIVE_PROBABILITY, queue=QUEUE)
def buffer_for_loss(loss: ArrayLike, utilisation: ArrayLike, queue: ArrayLike) -> FloatArray:
    """Compute the buffer for a wanted loss, ``B = eta ln(rho / L)`` [engset, eq. 13].

    Parameters
    ----------
    loss : array_like
        L [1], > 0 and <= 1.
    utilisation : array_like
        rho [1], from 0 to 1.
    queue : array_like
        Mean queue Q [pkt], >= 0.

    Returns
    -------
    array of float
        B [pkt]; 0 where even no buffer loses less.

    Examples
    --------
    >>> round(float(buffer_for_loss(0.01, utilisation=0.9, queue=40.0)), 1)
    200.0
    """
    wanted, rho, q = model_of(buffer_for_loss).take(loss=loss, utilisation=utilisation, queue=queue)
    return np.asarray(np.maximum(q / rho * np.log(rho / wanted), 0.0))[()]


@model(capacity=BIT_RATE, packet_size=PACKET_BYTES, delay=DELAY)
def delay_buffer(capacity: ArrayLike, packet_size: ArrayLike = 1500.0, delay: ArrayLike = LARGEST_DELAY) -> FloatArray:
    """Compute the buffer that takes a given time to empty: the 600 ms rule [engset, section 5.4.1, table 5].

    Parameters
    ----------
    capacity : array_like
        C [bit/s], > 0.
    packet_size : array_like, optional
        P [B], > 0.
    delay : array_like, optional
        Largest queueing delay [s], >= 0: of an RTO of 1 s, 0.6 s leave 0.4 s for the round trip.

    Returns
    -------
    array of float
        B [pkt].

    Examples
    --------
    >>> delay_buffer([2e6, 10e6, 50e6]).round(9).tolist()
    [100.0, 500.0, 2500.0]
    """
    c, size, time = model_of(delay_buffer).take(capacity=capacity, packet_size=packet_size, delay=delay)
    return np.asarray(c * time / (8.0 * size))[()]


@model(capacity=BIT_RATE, round_trip_time=DELAY, packet_size=PACKET_BYTES)
def bandwidth_delay_buffer(
    capacity: ArrayLike, round_trip_time: ArrayLike = BDP_DELAY, packet_size: ArrayLike = 1500.0
) -> FloatArray:
    """Compute the bandwidth-delay product, ``D C / P`` [engset, sections 3.3 and 5.4.1, table 5].

    Parameters
    ----------
    capacity : array_like
        C [bit/s], > 0.
    round_trip_time : array_like, optional
        D [s], >= 0.
    packet_size : array_like, optional
        P [B], > 0.

    Returns
    -------
    array of float
        B [pkt].

    Examples
    --------
    >>> bandwidth_delay_buffer([2e6, 10e6, 50e6]).round(9).tolist()
    [50.0, 250.0, 1250.0]
    """
    c, time, size = model_of(bandwidth_delay_buffer).take(
        capacity=capacity, round_trip_time=round_trip_time, packet_size=packet_size
    )
    return np.asarray(c * time / (8.0 * size))[()]
