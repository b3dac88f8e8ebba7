"""Windows and throughput of a TCP cycle [bottlenecks, sections 3, 4, 6 and 7.1]."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from ackclock.models.bottlenecks.slow_start import overflow_mini_cycle, overflow_window
from ackclock.models.domain import ArrayLike, BoolArray, FloatArray, Limits, model, model_of
from ackclock.models.limits import DELAY, FINITE_BUFFER, PACKET_RATE, QUEUE, TIME, UNBOUNDED_WINDOW, WINDOW

DROP_FACTORS: Final[Mapping[str, tuple[float, float]]] = {
    "drop-tail": (1.0, 1.0),
    "drop-front": (0.0, 0.0),
    "random-drop": (0.0, 1.0),
}
"""Smallest and largest alpha of each queue discipline: the fraction of S_B/2 acknowledged before the loss shows."""

DROP_FACTOR: Final = Limits(0.0, 1.0, low_included=True, high_included=True, reason="1 drop-tail, 0 drop-front")

SMALL_BUFFER: Final = Limits(
    0.0,
    0.25,
    high_included=True,
    reason="the throughput takes the queueing time as small against T; at B = mu T / 4 it is some 5% too high",
)
"""Domain of beta = B / (mu T) in the approximate throughput."""
LOSS_SHOWS: Final = Limits(4.0, unit="pkt", reason="at fewer than 4 packets three duplicate ACKs cannot show a loss")
"""Domain of W_max."""


def _largest_window(bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, buffer: ArrayLike) -> dict[str, Any]:
    return {"W_max": maximum_window(bottleneck_rate, round_trip_time, buffer)}


def _beta(end_window: ArrayLike, round_trip_time: ArrayLike, bottleneck_rate: ArrayLike) -> dict[str, Any]:
    pipe = np.asarray(bottleneck_rate) * np.asarray(round_trip_time)
    return {"beta = B / (mu T)": np.asarray(end_window) / pipe - 1.0}


def _beta_of_buffer(bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, buffer: ArrayLike) -> dict[str, Any]:
    return {"beta = B / (mu T)": np.asarray(buffer) / (np.asarray(bottleneck_rate) * np.asarray(round_trip_time))}


class AvoidanceStart(NamedTuple):
    """Windows around the loss in slow start."""

    double_slow_start: BoolArray
    """Whether slow start overflows a buffer, so that a second one follows."""
    loss_window: FloatArray
    """Window at the detection of that loss, W_D [pkt]; nan without that loss."""
    window: FloatArray
    """Window at which congestion avoidance starts, W_S [pkt]."""


class Throughput(NamedTuple):
    """The approximate throughput, by the formula and limited by the bottleneck."""

    printed: FloatArray
    """Throughput by the formula [pkt/s]; may exceed mu."""
    capped: FloatArray
    """Throughput by the formula, at most mu [pkt/s]."""


@model(propagation_delay=DELAY, rates=PACKET_RATE)
def minimum_round_trip_time(propagation_delay: ArrayLike, rates: ArrayLike) -> FloatArray:
    """Compute T, the two-way propagation delay with the service times of the nodes [bottlenecks, section 3].

    Parameters
    ----------
    propagation_delay : array_like
        Of the way there and back [s], >= 0; has no axis of nodes.
    rates : array_like
        Available rate of each link [pkt/s], > 0, on the last axis.

    Returns
    -------
    array of float
        T [s].

    Notes
    -----
    Of the two readings of the paper's T = 560 ms, "the propagation delays add up to it" wants this function, "the
    service times are included" does not. The ACKs' service times are left out: an ACK is small.

    Examples
    --------
    >>> round(float(minimum_round_trip_time(0.56, [1.5e6 / 4096, 1.5e6 / 4096])), 5)
    0.56546
    """
    record = model_of(minimum_round_trip_time)
    delay, service_rates = record.take(propagation_delay=propagation_delay, rates=rates)
    return np.asarray(delay + np.sum(1.0 / np.atleast_1d(service_rates), axis=-1))[()]


@model(
    domain={"W_max": LOSS_SHOWS},
    quantities=_largest_window,
    bottleneck_rate=PACKET_RATE,
    round_trip_time=TIME,
    buffer=FINITE_BUFFER,
)
def maximum_window(bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, buffer: ArrayLike) -> FloatArray:
    """Compute the window at which congestion avoidance ends, ``W_max = mu T + B`` [bottlenecks, section 3].

    Parameters
    ----------
    bottleneck_rate : array_like
        Smallest available rate mu [pkt/s], > 0.
    round_trip_time : array_like
        Minimum round trip T [s], > 0, service times included.
    buffer : array_like
        B [pkt], > 0, of the node whose queue builds in congestion avoidance (`avoidance_node`).

    Returns
    -------
    array of float
        W_max [pkt].

    Examples
    --------
    Figure 2 (560 ms of propagation, 512-byte packets): ns-2's windows peak at 308 and 258, the next whole packets.

    >>> rates = np.array([[1.5e6, 1.5e6], [1.6e6, 1.5e6]]) / 4096
    >>> T = minimum_round_trip_time(0.56, rates)
    >>> maximum_window(rates[:, 1], T, buffer=[100, 50]).round(2).tolist()
    [307.08, 257.02]
    """
    mu, T, B = model_of(maximum_window).take(  # noqa: N806
        bottleneck_rate=bottleneck_rate, round_trip_time=round_trip_time, buffer=buffer
    )
    return mu * T + B


@model(
    domain={"W_max": LOSS_SHOWS},
    quantities=_largest_window,
    bottleneck_rate=PACKET_RATE,
    round_trip_time=TIME,
    buffer=FINITE_BUFFER,
)
def slow_start_threshold(bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, buffer: ArrayLike) -> FloatArray:
    """Compute the threshold of slow start, ``W_th = W_max / 2 = (mu T + B) / 2`` [bottlenecks, section 4].

    Parameters
    ----------
    bottleneck_rate, round_trip_time, buffer : array_like
        mu [pkt/s], T [s] and B [pkt], > 0, as for `maximum_window`.

    Returns
    -------
    array of float
        W_th [pkt].

    Notes
    -----
    Holds from the second TCP cycle on; a connection begins with the receiver's window as its threshold.

    Examples
    --------
    >>> round(float(slow_start_threshold(1.5e6 / 4096, 0.56, buffer=20)), 2)
    112.54
    """
    return maximum_window(bottleneck_rate, round_trip_time, buffer) / 2.0


# At W_th = W_B the paper has both: sections 4, 6 and 7 see the double slow start where W_B < W_th, the throughput's
# cases and (4) avoid it where W_B > W_th. Chosen: the derivation's W_B < W_th, so equality has no overflow.
@model(threshold=UNBOUNDED_WINDOW, burst_size=UNBOUNDED_WINDOW)
def double_slow_start(threshold: ArrayLike, burst_size: ArrayLike) -> BoolArray:
    """Decide whether slow start overflows a buffer, so that a second one follows [bottlenecks, section 4].

    ``W_th > W_B``

    Parameters
    ----------
    threshold : array_like
        Slow-start threshold W_th [pkt], > 0, may be infinite.
    burst_size : array_like
        S_B [pkt], > 0, may be infinite; gives W_B.

    Returns
    -------
    array of bool

    Notes
    -----
    For Tahoe. Other versions see the same overflow, and mostly end in a slow start after a long timeout.

    Examples
    --------
    Section 5 (W_th = 112.5): two nodes before the bottleneck leave the double slow start, four avoid it.

    >>> double_slow_start(112.5, burst_size=[80, 119]).tolist()
    [True, False]
    """
    w_th, size = model_of(double_slow_start).take(threshold=threshold, burst_size=burst_size)
    return np.asarray(w_th > overflow_window(size))[()]


@model(bottleneck_rate=PACKET_RATE, round_trip_time=TIME, buffer=FINITE_BUFFER)
def double_slow_start_single_node(
    bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, buffer: ArrayLike
) -> BoolArray:
    """Decide whether slow start overflows the buffer of a single-node model [bottlenecks, section 4].

    ``beta = B / (mu T) < 1/3``, which the paper quotes from its reference 11.

    Parameters
    ----------
    bottleneck_rate, round_trip_time, buffer : array_like
        mu [pkt/s], T [s] and B [pkt], > 0, as for `maximum_window`.

    Returns
    -------
    array of bool

    Notes
    -----
    Takes ``2^n_B = S_B = 2 B``; knows no other node.

    Examples
    --------
    >>> double_slow_start_single_node(100, 0.6, buffer=[19, 21]).tolist()
    [True, False]
    """
    mu, T, B = model_of(double_slow_start_single_node).take(  # noqa: N806
        bottleneck_rate=bottleneck_rate, round_trip_time=round_trip_time, buffer=buffer
    )
    return np.asarray(B / (mu * T) < 1.0 / 3.0)[()]


# Section 7.1 prints W_S = W_D/2 = min(W_th, 2 W_B + (alpha - 1) S_B/2): a half is lost. With alpha = 1 it must agree
# with section 6, W_D = min(2 W_B, W_th) and W_S = W_D/2; the S_B (1 + alpha)/2 ACKs of mini-cycle n_B + 1 on top of
# 2^n_B give W_D = min(W_th, 2 W_B + (alpha - 1) S_B/2).
@model(threshold=UNBOUNDED_WINDOW, burst_size=UNBOUNDED_WINDOW, drop_factor=DROP_FACTOR)
def avoidance_start(threshold: ArrayLike, burst_size: ArrayLike, drop_factor: ArrayLike = 1.0) -> AvoidanceStart:
    """Compute the windows at the loss in slow start and after it, W_D and W_S [bottlenecks, sections 6 and 7.1].

    With an overflow, ``W_D = min(W_th, 2 W_B + (alpha - 1) S_B / 2)`` and ``W_S = W_D / 2``; without, ``W_S = W_th``.

    Parameters
    ----------
    threshold : array_like
        Slow-start threshold W_th [pkt], > 0, may be infinite.
    burst_size : array_like
        S_B [pkt], > 0, may be infinite.
    drop_factor : array_like, optional
        alpha [1], from 0 to 1: 1 for drop-tail, 0 for drop-from-front, between them for random drop (`DROP_FACTORS`).

    Returns
    -------
    AvoidanceStart
        double_slow_start, loss_window, window.

    Notes
    -----
    Supposes that the retransmission is not lost (`retransmission_loss`): then congestion avoidance starts at 2.

    Examples
    --------
    W_B = 52 and W_th = 109: the earlier detection of drop-from-front costs S_B/4 = 10 packets at the start.

    >>> avoidance_start(109, burst_size=40, drop_factor=[1, 0.5, 0]).window.tolist()
    [52.0, 47.0, 42.0]
    """
    w_th, size, alpha = model_of(avoidance_start).take(
        threshold=threshold, burst_size=burst_size, drop_factor=drop_factor
    )
    # 2 W_B + (alpha - 1) S_B/2, written so that an infinite S_B leaves it infinite.
    detected = np.exp2(overflow_mini_cycle(size)) + size * (1.0 + alpha) / 2.0
    double = double_slow_start(w_th, size)
    loss_window = np.where(double, np.minimum(w_th, detected), np.nan)[()]
    return AvoidanceStart(double, loss_window, np.where(double, loss_window / 2.0, w_th)[()])


@model(
    domain={"beta = B / (mu T)": SMALL_BUFFER},
    quantities=_beta_of_buffer,
    bottleneck_rate=PACKET_RATE,
    round_trip_time=TIME,
    buffer=FINITE_BUFFER,
    burst_size=UNBOUNDED_WINDOW,
)
def throughput(
    bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, buffer: ArrayLike, burst_size: ArrayLike
) -> Throughput:
    """Approximate the throughput of a connection by its mean window over T [bottlenecks, section 6].

    ``3 (mu T + B) / (4 T)`` without a double slow start, else ``min((W_B + mu T + B) / (2 T), 5 (mu T + B) / (8 T))``.

    Parameters
    ----------
    bottleneck_rate, round_trip_time, buffer : array_like
        mu [pkt/s], T [s] and B [pkt], > 0, as for `maximum_window`.
    burst_size : array_like
        S_B [pkt], > 0, may be infinite; gives W_B.

    Returns
    -------
    Throughput
        printed, capped.

    Notes
    -----
    For drop-tail (`average_throughput` with `avoidance_start` for others), a retransmission that is not lost, and
    buffers small against mu T: the printed value exceeds mu from B = mu T / 3 on.

    Examples
    --------
    >>> found = throughput(100, 1.0, buffer=[20, 20, 60], burst_size=[40, 200, 200])
    >>> found.printed.tolist(), found.capped.tolist()
    ([75.0, 90.0, 120.0], [75.0, 90.0, 100.0])
    """
    w_th = slow_start_threshold(bottleneck_rate, round_trip_time, buffer)
    start = avoidance_start(w_th, burst_size).window
    return average_throughput(start, 2.0 * w_th, round_trip_time, bottleneck_rate)


@model(
    domain={"beta = B / (mu T)": SMALL_BUFFER},
    quantities=_beta,
    start_window=QUEUE,
    end_window=WINDOW,
    round_trip_time=TIME,
    bottleneck_rate=PACKET_RATE,
)
def average_throughput(
    start_window: ArrayLike, end_window: ArrayLike, round_trip_time: ArrayLike, bottleneck_rate: ArrayLike
) -> Throughput:
    """Approximate the throughput from the ends of avoidance, ``(W_S + W_E) / (2 T)`` [bottlenecks, section 6].

    Parameters
    ----------
    start_window : array_like
        W_S [pkt], >= 0: see `avoidance_start`.
    end_window : array_like
        W_E = W_max [pkt], > 0.
    round_trip_time : array_like
        Minimum round trip T [s], > 0.
    bottleneck_rate : array_like
        mu [pkt/s], > 0: the cap.

    Returns
    -------
    Throughput
        printed, capped.

    Examples
    --------
    >>> float(average_throughput(60, 120, 1.0, 100).printed)
    90.0
    """
    start, end, T, mu = model_of(average_throughput).take(  # noqa: N806
        start_window=start_window,
        end_window=end_window,
        round_trip_time=round_trip_time,
        bottleneck_rate=bottleneck_rate,
    )
    printed = (start + end) / (2.0 * T)
    return Throughput(printed, np.minimum(printed, mu))


@model(
    domain={"beta = B / (mu T)": SMALL_BUFFER},
    quantities=_beta_of_buffer,
    bottleneck_rate=PACKET_RATE,
    round_trip_time=TIME,
    buffer=FINITE_BUFFER,
)
def throughput_with_lost_retransmission(
    bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, buffer: ArrayLike
) -> Throughput:
    """Approximate the throughput where each cycle loses its retransmission, ``W_max / (2 T)`` [bottlenecks, section 7].

    Parameters
    ----------
    bottleneck_rate, round_trip_time, buffer : array_like
        mu [pkt/s], T [s] and B [pkt], > 0, as for `maximum_window`.

    Returns
    -------
    Throughput
        printed, capped.

    Notes
    -----
    Congestion avoidance then starts at a window of 2, taken as 0. The wait for the timeout is left out.

    Examples
    --------
    >>> float(throughput_with_lost_retransmission(100, 1.0, buffer=20).printed)
    60.0
    """
    end = maximum_window(bottleneck_rate, round_trip_time, buffer)
    return average_throughput(0.0, end, round_trip_time, bottleneck_rate)
