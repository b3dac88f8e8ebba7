"""A TCP flow through a token-bucket policer: a sawtooth without a queue.

A policer passes packets for which there are tokens, and drops the others; tokens come at a rate, and a bucket keeps the
burst at most. Flach and others, and van Haalen and Malhotra, measured and simulated such flows (their abstracts were
read); the cycle is derived here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ackclock.models.domain import ArrayLike, FloatArray, Limits, model, model_of, plain
from ackclock.models.limits import FACTOR, FINITE_BUFFER, OPEN_FRACTION, PACKET_RATE, TIME
from ackclock.models.queues.roots import bisected

_LEAST_PIPE: Final = Limits(
    10.0, low_included=True, unit="pkt", reason="windows of few whole packets do not move as a fluid"
)
_BELOW: Final = Limits(
    0.0,
    1.0,
    reason="what a loss leaves of the window is still more than the policer passes: losses go on, to a timeout",
)
_LEAST_BURST: Final = Limits(
    10.0,
    low_included=True,
    unit="pkt",
    reason="even a paced flow sends groups of packets, which so few tokens do not pass",
)
_LEAST_SHARE: Final = Limits(
    1.0,
    low_included=True,
    reason="a burst below the packets of a round trip does not pass a window that leaves in bunches, and the flow gets "
    "far less, unless it paces",
)
_ASSUMES: Final = (
    "one flow without end, whose packets leave evenly over the round trip; it hears of a loss a round trip later, and "
    "repairs all losses of that round trip with one decrease"
)


@dataclass(frozen=True, slots=True, eq=False)
class PolicedFlow:
    """The cycle of a flow through a policer.

    Parameters
    ----------
    throughput : array
        Packets that the policer passes [pkt/s].
    loss_fraction : array
        Fraction of the packets that it drops [1].
    largest_window : array
        Window when the flow hears of the loss [pkt].
    period : array
        Time from one decrease of the window to the next [s].
    tokens : array
        Tokens in the bucket when the flow's rate exceeds the policer's: the burst, or less if it is not full [pkt].
    """

    throughput: FloatArray
    loss_fraction: FloatArray
    largest_window: FloatArray
    period: FloatArray
    tokens: FloatArray


def _of_aimd(**arguments: Any) -> Mapping[str, Any]:
    return _quantities(policed_aimd(**arguments), arguments, 0.5)


def _of_cubic(**arguments: Any) -> Mapping[str, Any]:
    return _quantities(policed_cubic(**arguments), arguments, 0.7)


def _quantities(found: PolicedFlow, arguments: Mapping[str, Any], remainder: float) -> Mapping[str, Any]:
    rate, trip = (np.asarray(arguments[name], dtype=np.float64) for name in ("rate", "round_trip_time"))
    kept = np.asarray(arguments.get("remainder", remainder), dtype=np.float64)
    pipe = rate * trip
    burst = np.asarray(arguments["burst"], dtype=np.float64)
    return {"pipe": pipe, "burst": burst, "burst_share": burst / pipe, "left": kept * found.largest_window / pipe}


@model(
    domain={"pipe": _LEAST_PIPE, "burst": _LEAST_BURST, "burst_share": _LEAST_SHARE, "left": _BELOW},
    quantities=_of_aimd,
    assumes=_ASSUMES,
    rate=PACKET_RATE,
    burst=FINITE_BUFFER,
    round_trip_time=TIME,
    increase=FACTOR,
    remainder=OPEN_FRACTION,
)
def policed_aimd(
    rate: ArrayLike,
    burst: ArrayLike,
    round_trip_time: ArrayLike,
    increase: ArrayLike = 1.0,
    remainder: ArrayLike = 0.5,
) -> PolicedFlow:
    """Compute the throughput and the loss of a flow of Reno's kind through a policer [flach], [haalen].

    Parameters
    ----------
    rate : array_like
        Rate of the tokens, r [pkt/s], > 0.
    burst : array_like
        Largest number of tokens, b [pkt], > 0.
    round_trip_time : array_like
        Round-trip time, T [s], > 0; no queue adds to it.
    increase : array_like
        Packets by which the window grows a round trip, a [1], > 0.
    remainder : array_like
        Fraction of the window that a loss leaves [1], in (0, 1).

    Returns
    -------
    PolicedFlow
        Throughput, loss and cycle.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    The flow's rate grows by a / T^2 a second. From r on it takes more tokens than come, and the bucket is empty when
    the rate is r + sqrt(2 b a) / T; for a round trip more the flow sends what the policer drops in part. After the
    decrease the rate is below r, and tokens come back. If they fill the bucket, those that come later are lost to the
    flow, and its throughput is below r. From a burst of about (r T)^2 / (18 a) on (Reno) the bucket is never full
    again, the throughput is r, and a larger burst changes nothing.

    The packets leave evenly. Simulated flows of Linux that pace have this throughput from bursts of ten packets on.
    Those that do not pace send bunches, and have it from the packets of a round trip on: `burst_share` of the domain
    is b / (r T).

    Examples
    --------
    10 Mbit/s in packets of 1,500 bytes, 40 ms; bursts of a third of a round trip's packets, and of twice as many.

    >>> found = policed_aimd(833.3, [11.0, 62.0], 0.04)
    >>> print((found.throughput / 833.3).round(3), found.loss_fraction.round(3))
    [0.87 1.  ] [0.009 0.015]
    """
    r, b, trip, add, beta = model_of(policed_aimd).take(
        rate=rate, burst=burst, round_trip_time=round_trip_time, increase=increase, remainder=remainder
    )
    # The excess over r at which the bucket is empty: of a full one, and of one that the cycle itself fills.
    full = np.sqrt(2.0 * b * add) / trip
    own = np.maximum(0.0, (r * (1.0 - beta) - beta * add / trip) / (1.0 + beta))
    excess = np.minimum(full, own)
    largest = (r + excess) * trip + add
    period = (1.0 - beta) * largest * trip / add
    sent = largest * (1.0 + beta) / 2.0 * period / trip
    lost = excess * trip + add / 2.0
    return PolicedFlow(
        throughput=plain((sent - lost) / period),
        loss_fraction=plain(lost / sent),
        largest_window=plain(largest),
        period=plain(period),
        tokens=plain((excess * trip) ** 2 / (2.0 * add)),
    )


@model(
    domain={"pipe": _LEAST_PIPE, "burst": _LEAST_BURST, "burst_share": _LEAST_SHARE, "left": _BELOW},
    quantities=_of_cubic,
    assumes=f"{_ASSUMES}; each cycle has the largest window of the one before, without fast convergence",
    rate=PACKET_RATE,
    burst=FINITE_BUFFER,
    round_trip_time=TIME,
    steepness=FACTOR,
    remainder=OPEN_FRACTION,
)
def policed_cubic(
    rate: ArrayLike,
    burst: ArrayLike,
    round_trip_time: ArrayLike,
    steepness: ArrayLike = 0.4,
    remainder: ArrayLike = 0.7,
) -> PolicedFlow:
    """Compute the throughput and the loss of a CUBIC flow through a policer [rfc9438, section 4.2], [flach].

    Parameters
    ----------
    rate, burst, round_trip_time : array_like
        As for `policed_aimd`.
    steepness : array_like
        C of the cubic function [pkt/s^3], > 0.
    remainder : array_like
        Fraction of the window that a loss leaves, beta_cubic [1], in (0, 1).

    Returns
    -------
    PolicedFlow
        Throughput, loss and cycle.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    The window is that of the growth with the shorter cycle: the cubic function, or 3 (1 - beta) / (1 + beta) packets a
    round trip, with which CUBIC is as fast as Reno. The cubic function is flat at its end, so the bucket is empty a
    round trip before, and the flow exceeds r by little for a long time. A flow that does not pace needs a burst of a
    round trip's packets, as in `policed_aimd`: at 100 Mbit/s, 30 ms and a burst of 33 packets it gets half of this.

    Examples
    --------
    100 Mbit/s in packets of 1,500 bytes, 100 ms; bursts of 50 packets, and of as many as a round trip has.

    >>> found = policed_cubic(8333.0, [50.0, 833.0], 0.1)
    >>> print((found.throughput / 8333.0).round(3), found.loss_fraction.round(5))
    [0.929 0.956] [5.0e-05 4.1e-04]
    """
    r, b, trip, steep, beta = model_of(policed_cubic).take(
        rate=rate, burst=burst, round_trip_time=round_trip_time, steepness=steepness, remainder=remainder
    )
    linear = policed_aimd(r, b, trip, 3.0 * (1.0 - beta) / (1.0 + beta), beta)
    # The time before the end of the cycle from which on the rate is above r.
    above = bisected(
        lambda one: np.minimum(b, _filled(one, r, trip, steep, beta)) - _spent(one, trip, steep),
        trip + 0.0 * b,
        np.maximum(trip, np.cbrt((1.0 - beta) * r * trip / (beta * steep))),
    )
    largest = r * trip + steep * above**3
    period = np.cbrt((1.0 - beta) * largest / steep)
    sent = (largest * period - steep * period**4 / 4.0) / trip
    lost = np.maximum(0.0, steep * above**3 - steep * trip**3 / 4.0)
    is_linear = np.asarray(linear.period) < period
    return PolicedFlow(
        throughput=plain(np.where(is_linear, linear.throughput, (sent - lost) / period)),
        loss_fraction=plain(np.where(is_linear, linear.loss_fraction, lost / sent)),
        largest_window=plain(np.where(is_linear, linear.largest_window, largest)),
        period=plain(np.where(is_linear, linear.period, period)),
        tokens=plain(np.where(is_linear, linear.tokens, _spent(above, trip, steep))),
    )


def _filled(above: FloatArray, r: FloatArray, trip: FloatArray, steep: FloatArray, beta: FloatArray) -> FloatArray:
    """Compute the tokens that come while the rate is below r [pkt], if it is above for a time at the cycle's end."""
    period = np.cbrt((1.0 - beta) * (r * trip + steep * above**3) / steep)
    return np.asarray(steep * ((period**4 - above**4) / 4.0 - above**3 * (period - above)) / trip)


def _spent(above: FloatArray, trip: FloatArray, steep: FloatArray) -> FloatArray:
    """Compute the tokens that the flow takes from the bucket until a round trip before the cycle's end [pkt]."""
    return np.asarray(steep * (above**3 * (above - trip) - (above**4 - trip**4) / 4.0) / trip)
