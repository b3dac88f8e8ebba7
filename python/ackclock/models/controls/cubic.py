"""CUBIC's mean window under losses at equal distances: Ha, Rhee, Xu; RFC 9438.

Section 5.1 of the RFC was read in the draft that became it (draft-ietf-tcpm-rfc8312bis); the paper of 2008, which has
the same formula with another remainder, is cited from memory.
"""

import numpy as np

from ackclock.models.classics.throughput import NO_TIMEOUTS
from ackclock.models.domain import ArrayLike, FloatArray, model, model_of, plain
from ackclock.models.limits import FACTOR, OPEN_FRACTION, POSITIVE_PROBABILITY, TIME, UNBOUNDED_WINDOW

_ASSUMES = "CUBIC alone: one loss after each 1/p packets, a constant round trip"


@model(
    domain={"loss_probability": NO_TIMEOUTS},
    assumes=_ASSUMES,
    round_trip_time=TIME,
    loss_probability=POSITIVE_PROBABILITY,
    steepness=FACTOR,
    remainder=OPEN_FRACTION,
    max_window=UNBOUNDED_WINDOW,
)
def cubic_window(
    round_trip_time: ArrayLike,
    loss_probability: ArrayLike,
    steepness: ArrayLike = 0.4,
    remainder: ArrayLike = 0.7,
    max_window: ArrayLike = np.inf,
) -> FloatArray:
    """Compute the mean window of CUBIC, the larger one of its two regions [rfc9438, section 5.1], [cubic, section 4].

    Parameters
    ----------
    round_trip_time : array_like
        Round-trip time [s], > 0.
    loss_probability : array_like
        Losses a packet [1], in (0, 1].
    steepness : array_like
        C of the cubic function [pkt/s^3], > 0.
    remainder : array_like
        Fraction of the window that a loss leaves, beta_cubic [1], in (0, 1).
    max_window : array_like
        Largest window, of the receiver or of a socket buffer [pkt], > 0; infinite by default.

    Returns
    -------
    array
        Mean window [pkt].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    In the Reno-friendly region the window is Reno's, sqrt(3 / (2 p)), whatever the remainder: the additive increase is
    chosen so. The RFC's tables have 1.2 / sqrt(p) there, which is 2% less. The window of the cubic region grows with
    the round trip, and with p^(-3/4).

    With a largest window M the formulas are ours, from the same cycle of 1/p packets: a loss leaves beta M, the window
    grows to M as each region has it, and stays there until the cycle's packets are sent. Where a cycle ends before, the
    largest window limits nothing.

    Examples
    --------
    The factor 1.054 of the RFC, and the round trip up to which the window is Reno's at a loss in 10,000 packets.

    >>> print(f"{cubic_window(1.0, 1e-4) * 1e-3:.3f}")
    1.054
    >>> print(cubic_window([0.02, 0.05, 0.1], 1e-4).round(1))
    [122.5 122.5 187.4]

    A receiver whose window is 150 packets:

    >>> print(cubic_window([0.02, 0.05, 0.1], 1e-4, max_window=150.0).round(1))
    [122.5 122.5 142.3]
    """
    rtt, p, c, beta, most = model_of(cubic_window).take(
        round_trip_time=round_trip_time,
        loss_probability=loss_probability,
        steepness=steepness,
        remainder=remainder,
        max_window=max_window,
    )
    cubic = (c * (3.0 + beta) / (4.0 * (1.0 - beta))) ** 0.25 * (rtt / p) ** 0.75
    reno = np.sqrt(1.5 / p)
    # Round trips in which a window of M grows back after a loss, and its mean then [pkt].
    rounds = np.cbrt(most * (1.0 - beta) / c) / rtt
    limited = _with_most(most, rounds, most * (3.0 + beta) / 4.0, p)
    # Additive increase by 3 (1 - beta) / (1 + beta) a round trip [rfc9438, section 4.3].
    limited_reno = _with_most(most, most * (1.0 + beta) / 3.0, most * (1.0 + beta) / 2.0, p)
    return plain(np.maximum(np.minimum(cubic, limited), np.minimum(reno, limited_reno)))


def _with_most(most: FloatArray, rounds: FloatArray, mean: FloatArray, p: FloatArray) -> FloatArray:
    """Compute the mean window of cycles that end at the largest window [pkt], infinite of those that end before."""
    with np.errstate(invalid="ignore", over="ignore"):
        rest = 1.0 / p - rounds * mean
        return np.where(rest >= 0.0, 1.0 / p / (rounds + rest / most), np.inf)


@model(
    domain={"loss_probability": NO_TIMEOUTS},
    assumes=_ASSUMES,
    round_trip_time=TIME,
    loss_probability=POSITIVE_PROBABILITY,
    steepness=FACTOR,
    remainder=OPEN_FRACTION,
    max_window=UNBOUNDED_WINDOW,
)
def cubic_rate(
    round_trip_time: ArrayLike,
    loss_probability: ArrayLike,
    steepness: ArrayLike = 0.4,
    remainder: ArrayLike = 0.7,
    max_window: ArrayLike = np.inf,
) -> FloatArray:
    """Compute the rate of CUBIC, its mean window a round trip [rfc9438, section 5.1].

    Parameters
    ----------
    round_trip_time, loss_probability, steepness, remainder, max_window : array_like
        As for `cubic_window`.

    Returns
    -------
    array
        Rate [pkt/s].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Examples
    --------
    >>> print(f"{cubic_rate(0.1, 1e-4):.0f}")
    1874
    """
    return plain(
        cubic_window(round_trip_time, loss_probability, steepness, remainder, max_window) / np.asarray(round_trip_time)
    )
