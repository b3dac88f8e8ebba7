"""Buffers and intermediate rates that avoid the double slow start [bottlenecks, section 6]."""

from typing import NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.bottlenecks.slow_start import overflow_window
from ackclock.models.bottlenecks.windows import slow_start_threshold
from ackclock.models.domain import ArrayLike, BoolArray, FloatArray, checked, model, model_of
from ackclock.models.limits import AT_LEAST_ONE_PACKET, BUFFER, FINITE_BUFFER, PACKET_RATE, TIME, WINDOW


class BufferCheck(NamedTuple):
    """The two lines of (4): whether each buffer is large enough for any intermediate rate."""

    bottleneck: BoolArray
    """Whether B is large enough, the first line of (4)."""
    intermediate: BoolArray
    """Whether B' is large enough, the second line of (4)."""


class IntermediateRates(NamedTuple):
    """The open interval of mu' without a double slow start, cut to [mu, 2 mu]; nan if it is empty."""

    low: FloatArray
    """Lower end, below which B' overflows [pkt/s]."""
    high: FloatArray
    """Upper end, above which B overflows [pkt/s]."""


@model(domain={"threshold": AT_LEAST_ONE_PACKET}, threshold=WINDOW)
def required_burst_size(threshold: ArrayLike) -> FloatArray:
    """Compute the S_B beyond which slow start does not overflow, ``W_B(S_B) > W_th`` [bottlenecks, section 4].

    The inverse of ``W_B = 2^(n_B - 1) + S_B / 2`` is ``max(2^(n - 1), 2 W_th - 2^n)`` with
    ``2^(n - 1) < W_th <= 2^n``. The paper approximates it by W_th.

    Parameters
    ----------
    threshold : array_like
        Slow-start threshold W_th [pkt], > 0.

    Returns
    -------
    array of float
        The limit [pkt]: any larger burst size will do.

    Examples
    --------
    W_B passes from 64 to 96 as S_B passes 64, and reaches 120 at 112.

    >>> required_burst_size([64, 80, 120]).tolist()
    [64.0, 64.0, 112.0]
    """
    (w_th,) = model_of(required_burst_size).take(threshold=threshold)
    top = _power_of_two_from(w_th)
    return np.maximum(top / 2.0, 2.0 * w_th - top)


@model(bottleneck_rate=PACKET_RATE, round_trip_time=TIME, buffer=FINITE_BUFFER, intermediate_buffer=BUFFER)
def buffers_suffice(
    bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, buffer: ArrayLike, intermediate_buffer: ArrayLike
) -> BufferCheck:
    """Decide whether no mu' from mu to 2 mu gives a double slow start, by (4) as printed [bottlenecks, eq. 4].

    ``mu T + B < 2^n_B + 2 B`` with ``2^(n_B - 1) < 2 B <= 2^n_B``, and ``mu T + B < 2^n'_B + 2 B'`` likewise.

    Parameters
    ----------
    bottleneck_rate : array_like
        mu [pkt/s], > 0.
    round_trip_time : array_like
        Minimum round trip T [s], > 0.
    buffer : array_like
        B [pkt], > 0.
    intermediate_buffer : array_like
        B' [pkt], > 0, may be infinite.

    Returns
    -------
    BufferCheck
        bottleneck, intermediate.

    Examples
    --------
    >>> found = buffers_suffice(100, 1.0, buffer=100, intermediate_buffer=[35, 37])
    >>> found.bottleneck.tolist(), found.intermediate.tolist()
    ([True, True], [False, True])
    """
    mu, T, B, B_middle = model_of(buffers_suffice).take(  # noqa: N806
        bottleneck_rate=bottleneck_rate,
        round_trip_time=round_trip_time,
        buffer=buffer,
        intermediate_buffer=intermediate_buffer,
    )
    largest = mu * T + B
    enough = [largest < 2.0 * overflow_window(2.0 * size) for size in (B, B_middle)]
    shape = np.broadcast_shapes(*(np.shape(flags) for flags in enough))
    return BufferCheck(*(np.broadcast_to(flags, shape)[()] for flags in enough))


@model(bottleneck_rate=PACKET_RATE, round_trip_time=TIME, feeding_rate=PACKET_RATE)
def minimum_bottleneck_buffer(
    bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, feeding_rate: ArrayLike | None = None
) -> FloatArray:
    """Compute the smallest B without an overflow there in slow start, by (4) exactly [bottlenecks, eq. 4].

    Parameters
    ----------
    bottleneck_rate : array_like
        mu [pkt/s], > 0.
    round_trip_time : array_like
        Minimum round trip T [s], > 0.
    feeding_rate : array_like, optional
        Rate of the node before, where it is known [pkt/s], at least mu; 2 mu, the worst, is that of (4).

    Returns
    -------
    array of float
        The limit [pkt]: any larger buffer suffices.

    Notes
    -----
    With ``q = 1 - mu/mu'`` a burst size S needs ``B = q S``, and W_th contains B: ``2^n + (1 - q) S > mu T`` for the
    smallest n that allows it, ``2^(n - 1) < S <= 2^n``. In (4), q = 1/2.

    Examples
    --------
    The exact limit and the approximation mu T / 3:

    >>> minimum_bottleneck_buffer([192, 205, 240], 1.0).tolist()
    [64.0, 64.0, 64.0]
    >>> float(minimum_bottleneck_buffer(360, 1.0)), float(minimum_bottleneck_buffer_approximate(360, 1.0))
    (104.0, 120.0)
    """
    record = model_of(minimum_bottleneck_buffer)
    mu, T = record.take(bottleneck_rate=bottleneck_rate, round_trip_time=round_trip_time)  # noqa: N806
    feeding = _feeding(mu, feeding_rate)
    pipe, q = mu * T, 1.0 - mu / feeding
    top = _power_of_two_from(pipe / (2.0 - q))
    return q * np.maximum(top / 2.0, (pipe - top) / (1.0 - q))


@model(bottleneck_rate=PACKET_RATE, round_trip_time=TIME)
def minimum_bottleneck_buffer_approximate(bottleneck_rate: ArrayLike, round_trip_time: ArrayLike) -> FloatArray:
    """Approximate the smallest B by ``mu T / 3`` [bottlenecks, section 6].

    Parameters
    ----------
    bottleneck_rate : array_like
        mu [pkt/s], > 0.
    round_trip_time : array_like
        Minimum round trip T [s], > 0.

    Returns
    -------
    array of float
        The limit [pkt].

    Notes
    -----
    Takes ``2^n_B = 2 B``: the exact limit is the same or smaller, by up to two fifths.

    Examples
    --------
    >>> float(minimum_bottleneck_buffer_approximate(300, 1.0))
    100.0
    """
    return full_utilization_buffer(bottleneck_rate, round_trip_time) / 3.0


@model(
    bottleneck_rate=PACKET_RATE, round_trip_time=TIME, buffer=FINITE_BUFFER, rate=PACKET_RATE, feeding_rate=PACKET_RATE
)
def minimum_intermediate_buffer(
    bottleneck_rate: ArrayLike,
    round_trip_time: ArrayLike,
    buffer: ArrayLike,
    rate: ArrayLike | None = None,
    feeding_rate: ArrayLike | None = None,
) -> FloatArray:
    """Compute the smallest B' without an overflow there in slow start, by (4) exactly [bottlenecks, eq. 4].

    Parameters
    ----------
    bottleneck_rate : array_like
        mu [pkt/s], > 0.
    round_trip_time : array_like
        Minimum round trip T [s], > 0.
    buffer : array_like
        B of the bottleneck [pkt], > 0.
    rate : array_like, optional
        Rate of this node, where it is known [pkt/s], at least mu; mu, the worst, is that of (4).
    feeding_rate : array_like, optional
        Rate at which it is fed, where it is known [pkt/s], at least mu; 2 mu, the worst, is that of (4).

    Returns
    -------
    array of float
        The limit [pkt]: any larger buffer suffices; 0 where the node is not slower than the rate that feeds it.

    Examples
    --------
    Section 6: with B = mu T, "one half the pipe size is enough" whatever mu' is.

    >>> float(minimum_intermediate_buffer(128, 1.0, buffer=128))
    64.0
    """
    w_th = slow_start_threshold(bottleneck_rate, round_trip_time, buffer)
    record = model_of(minimum_intermediate_buffer)
    (mu,) = record.take(bottleneck_rate=bottleneck_rate)
    feeding = _feeding(mu, feeding_rate)
    (own,) = record.take(rate=mu if rate is None else rate)
    checked(threshold=(w_th, WINDOW), rate=(own, PACKET_RATE), feeding_rate=(feeding, PACKET_RATE))
    _at_least_bottleneck("rate", own, mu)
    return required_burst_size(w_th) * np.maximum(1.0 - own / feeding, 0.0)


@model(bottleneck_rate=PACKET_RATE, round_trip_time=TIME, buffer=FINITE_BUFFER)
def minimum_intermediate_buffer_approximate(
    bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, buffer: ArrayLike
) -> FloatArray:
    """Approximate the smallest B' by ``(mu T + B) / 4`` [bottlenecks, section 6, figure 6].

    Parameters
    ----------
    bottleneck_rate : array_like
        mu [pkt/s], > 0.
    round_trip_time : array_like
        Minimum round trip T [s], > 0.
    buffer : array_like
        B of the bottleneck [pkt], > 0.

    Returns
    -------
    array of float
        The limit [pkt].

    Notes
    -----
    Takes ``2^n'_B = 2 B'``: the exact limit is the same or smaller, by up to a third.

    Examples
    --------
    Section 6: with B = mu T, one half of the pipe size.

    >>> float(minimum_intermediate_buffer_approximate(300, 1.0, buffer=300))
    150.0
    """
    return slow_start_threshold(bottleneck_rate, round_trip_time, buffer) / 2.0


@model(bottleneck_rate=PACKET_RATE, round_trip_time=TIME)
def full_utilization_buffer(bottleneck_rate: ArrayLike, round_trip_time: ArrayLike) -> FloatArray:
    """Compute the B that keeps the link busy all through congestion avoidance, ``mu T`` [bottlenecks, footnote 3].

    Parameters
    ----------
    bottleneck_rate : array_like
        mu [pkt/s], > 0.
    round_trip_time : array_like
        Minimum round trip T [s], > 0.

    Returns
    -------
    array of float
        The limit [pkt].

    Examples
    --------
    >>> float(full_utilization_buffer(300, 0.5))
    150.0
    """
    record = model_of(full_utilization_buffer)
    mu, T = record.take(bottleneck_rate=bottleneck_rate, round_trip_time=round_trip_time)  # noqa: N806
    return mu * T


# "the thick line in figure 6" (choice of mu') is the thick line of figure 5: S_B, the smaller of S and S'.
@model(bottleneck_rate=PACKET_RATE, round_trip_time=TIME, buffer=FINITE_BUFFER, intermediate_buffer=BUFFER)
def intermediate_rates_approximate(
    bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, buffer: ArrayLike, intermediate_buffer: ArrayLike
) -> IntermediateRates:
    """Compute the mu' that avoid the double slow start, with ``W_B = S_B`` [bottlenecks, section 6].

    Those with ``min(S, S') > W_th = (mu T + B) / 2``.

    Parameters
    ----------
    bottleneck_rate : array_like
        mu [pkt/s], > 0.
    round_trip_time : array_like
        Minimum round trip T [s], > 0.
    buffer : array_like
        B [pkt], > 0.
    intermediate_buffer : array_like
        B' [pkt], > 0, may be infinite.

    Returns
    -------
    IntermediateRates
        low, high.

    Examples
    --------
    Figure 7 (B read as 50; in Mbit/s): B' = 80 helps down to mu, 45 in a middle range, 20 nowhere.

    >>> found = intermediate_rates_approximate(1.5e6 / 4096, 0.56, buffer=50, intermediate_buffer=[80, 45, 20])
    >>> (found.low * 4096e-6).round(2).tolist(), (found.high * 4096e-6).round(2).tolist()
    ([1.5, 1.94, nan], [2.47, 2.47, nan])
    """
    w_th = slow_start_threshold(bottleneck_rate, round_trip_time, buffer)
    return _rates_beyond(w_th, bottleneck_rate, buffer, intermediate_buffer)


@model(bottleneck_rate=PACKET_RATE, round_trip_time=TIME, buffer=FINITE_BUFFER, intermediate_buffer=BUFFER)
def intermediate_rates(
    bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, buffer: ArrayLike, intermediate_buffer: ArrayLike
) -> IntermediateRates:
    """Compute the mu' that avoid the double slow start exactly, ``W_B > W_th`` [bottlenecks, sections 4 and 6].

    Parameters
    ----------
    bottleneck_rate, round_trip_time, buffer, intermediate_buffer : array_like
        mu [pkt/s], T [s], B and B' [pkt], as for `intermediate_rates_approximate`.

    Returns
    -------
    IntermediateRates
        low, high.

    Examples
    --------
    >>> found = intermediate_rates(100, 1.0, buffer=30, intermediate_buffer=30)
    >>> round(float(found.low), 2), round(float(found.high), 2)
    (106.25, 188.24)
    """
    w_th = slow_start_threshold(bottleneck_rate, round_trip_time, buffer)
    return _rates_beyond(required_burst_size(w_th), bottleneck_rate, buffer, intermediate_buffer)


def _rates_beyond(
    size: FloatArray, bottleneck_rate: ArrayLike, buffer: ArrayLike, intermediate_buffer: ArrayLike
) -> IntermediateRates:
    """Solve S > size for the largest mu', S' > size for the smallest."""
    mu, B, B_middle, size = checked(  # noqa: N806
        bottleneck_rate=(bottleneck_rate, PACKET_RATE),
        buffer=(buffer, FINITE_BUFFER),
        intermediate_buffer=(intermediate_buffer, BUFFER),
        burst_size=(size, WINDOW),
    )
    # mu' B / (mu' - mu) > size; always, where B >= size.
    high = mu * np.minimum(2.0, size / np.maximum(size - B, size / 2.0))
    # 2 mu B' / (2 mu - mu') > size
    low = mu * np.maximum(1.0, 2.0 - 2.0 * B_middle / size)
    exists = low < high
    return IntermediateRates(np.where(exists, low, np.nan)[()], np.where(exists, high, np.nan)[()])


def _power_of_two_from(values: FloatArray) -> FloatArray:
    """Round up to a power of two."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(1.0, exponent - (mantissa == 0.5)))[()]


def _feeding(bottleneck_rate: FloatArray, feeding_rate: ArrayLike | None) -> FloatArray:
    """Bound the rate that feeds a node by 2 mu."""
    if feeding_rate is None:
        return 2.0 * bottleneck_rate
    record = model_of(minimum_bottleneck_buffer)
    mu, feeding = record.take(bottleneck_rate=bottleneck_rate, feeding_rate=feeding_rate)
    _at_least_bottleneck("feeding_rate", feeding, mu)
    return np.minimum(feeding, 2.0 * mu)


def _at_least_bottleneck(name: str, rate: FloatArray, bottleneck_rate: FloatArray) -> None:
    below = rate < bottleneck_rate
    if below.any():
        given = np.broadcast_to(rate, below.shape)[below].flat[0]
        raise ModelError(Fault(name, "is slower than the bottleneck", f"{given:g}", "at least bottleneck_rate [pkt/s]"))
