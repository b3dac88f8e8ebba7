"""The queue of DCTCP flows at a link that marks from a threshold on: Alizadeh and others.

Sections 3.3 and 3.4 of the paper were read for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, pi
from typing import Any, Final

import numpy as np

from ackclock.models.domain import ArrayLike, FloatArray, Limits, model, model_of, plain
from ackclock.models.limits import COUNT, PACKET_RATE, QUEUE, TIME

_LEAST_WINDOW: Final = Limits(
    8.0, inf, low_included=True, unit="pkt", reason="windows of few whole packets oscillate more widely"
)
_BUSY: Final = Limits(0.0, inf, low_included=True, unit="pkt", reason="the queue runs empty, and the link idles")


@dataclass(frozen=True, slots=True, eq=False)
class DctcpQueue:
    """The sawtooth of windows and queue of identical DCTCP flows in step.

    Parameters
    ----------
    window : array
        Window of each flow at which the queue reaches the threshold, W* [pkt].
    marked_fraction : array
        Fraction of the packets that are marked, alpha [1].
    amplitude : array
        Amplitude of the queue, A [pkt].
    period : array
        Duration of a sawtooth, T_C round trips with their mean wait in the queue [s].
    largest, smallest : array
        Ends of the queue, Q_max and Q_min [pkt]; a negative one means that the link idles.
    """

    window: FloatArray
    marked_fraction: FloatArray
    amplitude: FloatArray
    period: FloatArray
    largest: FloatArray
    smallest: FloatArray


def _quantities(**arguments: Any) -> Mapping[str, Any]:
    found = dctcp_queue(**arguments)
    return {"window": found.window, "smallest": found.smallest}


@model(
    domain={"window": _LEAST_WINDOW, "smallest": _BUSY},
    quantities=_quantities,
    assumes="DCTCP alone: flows in step with one round trip, all packets of a round trip beyond the threshold marked",
    flows=COUNT,
    bottleneck_rate=PACKET_RATE,
    round_trip_time=TIME,
    threshold=QUEUE,
)
def dctcp_queue(
    flows: ArrayLike, bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, threshold: ArrayLike
) -> DctcpQueue:
    """Compute the sawtooth of the queue that DCTCP flows leave [dctcp, eqs. 3 to 12].

    Parameters
    ----------
    flows : array_like
        Number of flows, N, >= 1.
    bottleneck_rate : array_like
        Rate of the link, C [pkt/s], > 0.
    round_trip_time : array_like
        Round-trip time without the queue [s], > 0.
    threshold : array_like
        Queue from which on packets are marked, K [pkt], >= 0.

    Returns
    -------
    DctcpQueue
        Windows, marks, amplitude, period and ends of the queue.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    The paper approximates alpha by sqrt(2 / W*); here the equation for it is solved, a^2 (1 - a / 4) = (2 W* + 1) /
    (W* + 1)^2, whose root below 1 is a cosine. The paper counts the period in round trips, D of them: one for each
    packet that a window grows. Linux's cwnd comes down twice in a period, which has two to three more (docs/models.md).

    Examples
    --------
    Two flows at 10 Gbit/s in packets of 1,500 bytes, 100 us, and a threshold of 40 packets.

    >>> found = dctcp_queue(flows=2, bottleneck_rate=833333.0, round_trip_time=100e-6, threshold=40.0)
    >>> print(f"{found.window:.1f} {found.marked_fraction:.3f} {found.smallest:.1f} {found.largest:.1f}")
    61.7 0.182 30.6 42.0
    """
    n, c, rtt, k = model_of(dctcp_queue).take(
        flows=flows, bottleneck_rate=bottleneck_rate, round_trip_time=round_trip_time, threshold=threshold
    )
    window = (c * rtt + k) / n
    reached = (2.0 * window + 1.0) / (window + 1.0) ** 2
    marked = 4.0 / 3.0 + 8.0 / 3.0 * np.cos((np.arccos(1.0 - 27.0 / 32.0 * reached) - 2.0 * pi) / 3.0)
    # The decrease of one window, D: it grows by a packet a round trip, so this is the period in round trips.
    decrease = (window + 1.0) * marked / 2.0
    largest = k + n
    amplitude = n * decrease
    return DctcpQueue(
        window=plain(window),
        marked_fraction=plain(marked),
        amplitude=plain(amplitude),
        period=plain(decrease * (rtt + np.maximum(0.0, largest - amplitude / 2.0) / c)),
        largest=plain(largest),
        smallest=plain(largest - amplitude),
    )


@model(
    assumes="as `dctcp_queue`, and alpha = sqrt(2 / W*)",
    bottleneck_rate=PACKET_RATE,
    round_trip_time=TIME,
)
def dctcp_least_threshold(bottleneck_rate: ArrayLike, round_trip_time: ArrayLike) -> FloatArray:
    """Compute the least threshold with which the link never idles, for any number of flows [dctcp, eq. 13].

    Parameters
    ----------
    bottleneck_rate : array_like
        Rate of the link, C [pkt/s], > 0.
    round_trip_time : array_like
        Round-trip time without the queue [s], > 0.

    Returns
    -------
    array
        K [pkt], a seventh of the bandwidth-delay product.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    The worst number of flows has W* = 8, where the paper's alpha is 3% too small: by `dctcp_queue` the link idles there
    for a moment, with windows that together are a quarter of the threshold too small.

    Examples
    --------
    >>> print(f"{dctcp_least_threshold(833333.0, 100e-6):.1f}")
    11.9
    """
    c, rtt = model_of(dctcp_least_threshold).take(bottleneck_rate=bottleneck_rate, round_trip_time=round_trip_time)
    return plain(c * rtt / 7.0)
