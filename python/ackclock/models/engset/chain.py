"""The states of the superposition and the rates in them [engset, sections 4.1 and 4.3]."""

from math import nan
from typing import NamedTuple

import numpy as np

from ackclock.models.domain import ArrayLike, FloatArray, model, model_of
from ackclock.models.engset.path import floor
from ackclock.models.limits import BIT_RATE, FACTOR, LISTED_COUNT, TIME, WHOLE_COUNT


@model(active=WHOLE_COUNT, peak_rate=BIT_RATE, capacity=BIT_RATE)
def rate_in_state(active: ArrayLike, peak_rate: ArrayLike, capacity: ArrayLike) -> FloatArray:
    """Compute the rate of each of j active sources, ``h_j = min(h_0, C / j)`` [engset, section 4.3, figure 11].

    Parameters
    ----------
    active : array_like
        j [1], whole, >= 1.
    peak_rate : array_like
        h_0 [bit/s], > 0.
    capacity : array_like
        C of the multiplexing link [bit/s], > 0.

    Returns
    -------
    array of float
        h_j [bit/s]: h_0 up to s = floor(C / h_0) sources, an equal share of C beyond.

    Examples
    --------
    >>> rate_in_state([1, 2, 3, 4], peak_rate=800e3, capacity=2e6).tolist()
    [800000.0, 800000.0, 666666.6666666666, 500000.0]
    """
    j, h, c = model_of(rate_in_state).take(active=active, peak_rate=peak_rate, capacity=capacity)
    return np.asarray(np.minimum(h, c / j))[()]


class Superposition(NamedTuple):
    """The averages over the states; rates in units of the capacity C."""

    threshold: float
    """Largest number of sources at their peak rate, s [1]."""
    overload_probability: float
    """Probability of more than s active sources, P_OL [1]."""
    active_underload: float
    """Sum of k P_k up to s, n_UL [1]."""
    active_overload: float
    """Sum of k P_k above s, n_OL [1]."""
    active: float
    """Mean number of active sources, <n> [1]."""
    overload_mean: float
    """Mean number of active sources when there are more than s, v_OL [1]; nan where N <= s."""
    throughput: float
    """Throughput by the capacity, T / C = rho_(1) [1]."""


@model(sources=LISTED_COUNT, on_time=TIME, off_time=TIME, capacity_ratio=FACTOR)
def state_probabilities(sources: int, on_time: float, off_time: float, capacity_ratio: float) -> FloatArray:
    """Compute the probability of j active sources, P_0 to P_N [engset, eqs. 9 to 11 of section 4.3].

    Parameters
    ----------
    sources : int
        N [1], >= 1.
    on_time, off_time : float
        ON_0 and OFF [s], > 0.
    capacity_ratio : float
        C / h_0 [1], > 0: how many sources at their peak rate fill the link; s is its whole part.

    Returns
    -------
    array of float
        P_0, ..., P_N [1]; their sum is 1.

    Notes
    -----
    The ratio of neighbours falls with j, so the P_j rise to one mode and fall. They are built outwards from the mode by
    factors of at most 1: nothing overflows, the relative error is some N times 1e-16, and P_j far out is 0.

    Examples
    --------
    With room for all, each source is active by itself: binomial.

    >>> state_probabilities(2, on_time=1.0, off_time=1.0, capacity_ratio=2.0).tolist()
    [0.25, 0.5, 0.25]
    """
    ratios = _neighbour_ratios(*_single(sources, on_time, off_time, capacity_ratio))
    weights = _weights(ratios)
    return np.asarray(weights / weights.sum())


def _single(sources: float, on_time: float, off_time: float, ratio: float) -> tuple[int, float, float]:
    n, on, off, kappa = model_of(superposition).take(
        sources=sources, on_time=on_time, off_time=off_time, capacity_ratio=ratio
    )
    return int(n), float(on / off), float(kappa)


def _neighbour_ratios(sources: int, on_to_off: float, ratio: float) -> FloatArray:
    """Compute P_j / P_(j-1) = lambda_(j-1) / delta_j, for j = 1 to N [engset, eqs. 9 and 10 of section 4.3]."""
    j = np.arange(1.0, sources + 1.0)
    # delta_j = j / ON_0 up to s and C / (F P) = (C / h_0) / ON_0 above: whichever is smaller
    return np.asarray((sources - j + 1.0) * on_to_off / np.where(j <= floor(np.asarray(ratio)), j, ratio))


def _weights(ratios: FloatArray) -> FloatArray:
    """Compute numbers in the given ratios, the largest of which is 1; the ratios never rise."""
    mode = int(np.searchsorted(-ratios, -1.0))
    rising = np.cumprod(1.0 / ratios[:mode][::-1])[::-1]
    return np.concatenate([rising, [1.0], np.cumprod(ratios[mode:])])


@model(sources=LISTED_COUNT, on_time=TIME, off_time=TIME, capacity_ratio=FACTOR)
def superposition(sources: int, on_time: float, off_time: float, capacity_ratio: float) -> Superposition:
    """Compute s, P_OL, n_UL, n_OL, <n>, v_OL and the throughput T / C [engset, eqs. 4, 6 and 8].

    Parameters
    ----------
    sources : int
        N [1], >= 1.
    on_time, off_time : float
        ON_0 and OFF [s], > 0.
    capacity_ratio : float
        C / h_0 [1], > 0.

    Returns
    -------
    Superposition
        threshold, overload_probability, active_underload, active_overload, active, overload_mean, throughput.

    Notes
    -----
    v_OL is taken from the conditional distribution, so it is right even where P_OL is too small for a float.

    Examples
    --------
    >>> found = superposition(2, on_time=1.0, off_time=1.0, capacity_ratio=1.0)
    >>> [round(float(number), 3) for number in found]
    [1.0, 0.4, 0.4, 0.8, 1.2, 2.0, 0.8]
    """
    n, on_to_off, kappa = _single(sources, on_time, off_time, capacity_ratio)
    ratios = _neighbour_ratios(n, on_to_off, kappa)
    weights = _weights(ratios)
    weighted = np.arange(n + 1.0) * weights
    threshold = float(floor(np.asarray(kappa)))
    s = int(min(threshold, n))
    total = float(weights.sum())
    overload = float(weights[s + 1 :].sum()) / total
    under, over = float(weighted[: s + 1].sum()) / total, float(weighted[s + 1 :].sum()) / total
    mean = nan
    if n > s:
        tail = _weights(ratios[s + 1 :])
        mean = s + 1.0 + float((np.arange(float(n - s)) * tail).sum() / tail.sum())
    return Superposition(threshold, overload, under, over, under + over, mean, under / kappa + overload)
