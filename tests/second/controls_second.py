"""Models of CUBIC, DCTCP and BBR a second time, from the algorithms alone: plain numbers, slow and obvious.

Where `ackclock.models.controls` has closed forms, here cycles are summed up and equations are solved by halving
intervals.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def bisected(function: Callable[[float], float], low: float, high: float) -> float:
    """Find the zero of a rising function."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) < 0.0 else (low, middle)
    return 0.5 * (low + high)


def cubic_mean_window(round_trip_time: float, p: float, c: float, beta: float) -> float:
    """RFC 9438, section 4.2: W(t) = C (t - K)^3 + W_max from beta W_max on, until 1/p packets are sent, at t = K.

    W is of the third degree in time, so Simpson's rule with a few intervals gives its area exactly.
    """

    def area(k: float) -> float:
        peak = c * k**3 / (1.0 - beta)

        def window(t: float) -> float:
            return c * (t - k) ** 3 + peak

        return k / 6.0 * (window(0.0) + 4.0 * window(k / 2.0) + window(k))

    logarithm = bisected(lambda x: math.log(area(math.exp(x)) * p / round_trip_time), -40.0, 40.0)
    k = math.exp(logarithm)
    cubic = area(k) / k
    # Section 4.3: the increase with which a sawtooth that keeps beta of its window has Reno's mean.
    alpha = 3.0 * (1.0 - beta) / (1.0 + beta)
    # From beta W to W: (1 - beta) W / alpha round trips, at the mean (1 + beta) W / 2, carry 1/p packets.
    peak = math.sqrt(2.0 * alpha / (p * (1.0 - beta) * (1.0 + beta)))
    return max(cubic, (1.0 + beta) * peak / 2.0)


def cubic_window_with_most(round_trip_time: float, p: float, c: float, beta: float, most: float) -> float:
    """The cycle of 1/p packets that ends with the window with which it began; no window is above the most."""

    def cycle(lost_at: float, grown: Callable[[float, FloatArray], FloatArray]) -> tuple[float, float]:
        """Give how long a cycle lasts after a loss at a window, and its last window, in steps of time."""
        # A window that never grew would take the longest.
        times = np.linspace(0.0, round_trip_time / p / (beta * lost_at), 4001)
        window = np.minimum(most, grown(lost_at, times))
        steps = (window[1:] + window[:-1]) / 2.0 * np.diff(times) / round_trip_time
        sent = np.concatenate([[0.0], np.cumsum(steps)])
        lasts = float(np.interp(1.0 / p, sent, times))
        return lasts, float(np.interp(lasts, times, window))

    def mean_window(grown: Callable[[float, FloatArray], FloatArray]) -> float:
        # A window that is too large at a loss is smaller at the next.
        repeats = bisected(lambda log: math.exp(log) - cycle(math.exp(log), grown)[1] - 1e-12, -30.0, math.log(most))
        return round_trip_time / p / cycle(math.exp(repeats), grown)[0]

    def cubic(lost_at: float, times: FloatArray) -> FloatArray:
        return np.asarray(c * (times - (lost_at * (1.0 - beta) / c) ** (1.0 / 3.0)) ** 3 + lost_at)

    def reno(lost_at: float, times: FloatArray) -> FloatArray:
        return beta * lost_at + 3.0 * (1.0 - beta) / (1.0 + beta) * times / round_trip_time

    return max(mean_window(cubic), mean_window(reno))


def dctcp_sawtooth(n: float, rate: float, round_trip_time: float, k: float) -> tuple[float, float, float]:
    """The fraction of marks, and the ends of the queue, from the packets that a flow sends in its cycle."""
    full = (rate * round_trip_time + k) / n

    def sent(start: float, end: float) -> float:
        # A packet more in each round trip: the sum of an arithmetic series.
        return (end - start) * (end + start) / 2.0

    def excess(alpha: float) -> float:
        # Marked are the packets of the last round trip, from full to full + 1.
        return alpha - sent(full, full + 1.0) / sent((full + 1.0) * (1.0 - alpha / 2.0), full + 1.0)

    alpha = bisected(excess, 1e-12, 2.0)
    most = n * (full + 1.0) - rate * round_trip_time
    least = n * (full + 1.0) * (1.0 - alpha / 2.0) - rate * round_trip_time
    return alpha, least, most


def bbr_fraction(n: float, rate: float, round_trip_time: float, buffer: float, *, pipe_first: bool = False) -> float:
    """The share at which what BBR has in flight is its cap, less the time of the search for the round trip.

    With `pipe_first` the others' packets fill the pipe before they queue.
    """

    def room(share: float) -> float:
        in_flight = share * (buffer + rate * round_trip_time)
        # While BBR flows have four packets each in flight, the others' part of the buffer is what it sees.
        seen = ((1.0 - share) * buffer + 4.0 * n) / rate + round_trip_time
        if pipe_first:
            others = (1.0 - share) * (buffer + rate * round_trip_time)
            seen = round_trip_time + (others + 4.0 * n - rate * round_trip_time) / rate
        cap = 2.0 * share * rate * seen
        return in_flight - cap

    share = 1.0 if room(1.0) <= 0.0 else bisected(room, 1e-9, 1.0)
    search = buffer / rate + 0.2 + round_trip_time
    return share * (10.0 - min(search, 10.0)) / 10.0
