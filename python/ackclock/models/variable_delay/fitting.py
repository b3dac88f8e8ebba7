"""Round trips and chains from a measured sequence of round trips [variable-delay, section 6.2]."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from typing_extensions import TypeAliasType

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, IntArray, Limits, checked, model, model_of
from ackclock.models.limits import OPEN_FRACTION, TIME
from ackclock.models.variable_delay.arguments import measured
from ackclock.models.variable_delay.markov import RoundTripChain, round_trip_chain
from ackclock.models.variable_delay.round_trips import RoundTrips

Contents = TypeAliasType("Contents", Literal["samples", "mean"])
"""Contents of a state of a fitted chain: the distribution of its samples, or their mean alone."""

PAPER_QUANTILE: Final = 0.85
"""Fraction of the ordered samples that the paper takes for its OFF state."""

_STATES: Final = Limits(2.0, 1e6, low_included=True, high_included=True, whole=True)
_VISITS: Final[Mapping[str, Limits]] = {
    "visits of a state": Limits(20.0, low_included=True, reason="transition probabilities of so few visits are a guess")
}


def _quantities(visits: ArrayLike) -> dict[str, Any]:
    return {"visits of a state": visits}


class FittedChain(NamedTuple):
    """A chain fitted to measured round trips."""

    chain: RoundTripChain
    """The chain, for `markov_window` and `simulate_window`."""
    thresholds: FloatArray
    """The smallest round trip of each state but the first [s]."""
    states: IntArray
    """The state of each sample, from 0 for the shortest round trips."""
    visits: IntArray
    """Number of times that each state is entered from another one."""


@model(round_trips=TIME)
def fit_fixed(round_trips: ArrayLike) -> RoundTrips:
    """Fit a constant round trip to the mean, the paper's "Fixed" [variable-delay, section 6.2].

    Parameters
    ----------
    round_trips : array_like
        One sample a round [s], > 0.

    Examples
    --------
    >>> fit_fixed([0.1, 0.1, 0.4]).mean.__round__(3)
    0.2
    """
    return RoundTrips.constant(float(measured("round_trips", round_trips).mean()))


@model(round_trips=TIME)
def fit_variable(round_trips: ArrayLike) -> RoundTrips:
    """Fit the distribution of the samples, the paper's "Variable" [variable-delay, section 6.2].

    Parameters
    ----------
    round_trips : array_like
        One sample a round [s], > 0.

    Examples
    --------
    >>> print(f"{fit_variable([0.1, 0.1, 0.4]).transform(5.0):.4f}")
    0.4495
    """
    return RoundTrips.from_samples(round_trips)


@model(domain=_VISITS, quantities=_quantities, round_trips=TIME, threshold=TIME, quantile=OPEN_FRACTION)
def fit_two_states(
    round_trips: ArrayLike,
    *,
    threshold: float | None = None,
    quantile: float = PAPER_QUANTILE,
    contents: Contents = "samples",
) -> FittedChain:
    """Fit the paper's chain of an OFF and an ON state, its "Markov" [variable-delay, section 6.2].

    Parameters
    ----------
    round_trips : array_like
        One sample a round [s], > 0, in the order of time.
    threshold : float, optional
        The smallest round trip of the ON state [s]; where none is given, `quantile` decides.
    quantile : float, optional
        The part of the ordered samples below the ON state [1], in (0, 1).
    contents : {"samples", "mean"}
        Contents of a state; the paper's "vector R_i" may be either.

    Returns
    -------
    FittedChain
        chain, thresholds, states, visits.

    Examples
    --------
    >>> fitted = fit_two_states([0.1, 0.1, 0.1, 0.1, 0.6, 0.6, 0.1, 0.1], threshold=0.5)
    >>> fitted.chain.transitions.round(3).tolist(), fitted.chain.stationary.round(3).tolist()
    ([[0.833, 0.167], [0.5, 0.5]], [0.75, 0.25])
    """
    samples, record = measured("round_trips", round_trips), model_of(fit_two_states)
    if threshold is None:
        (share,) = record.take(quantile=quantile)
        bounds = _ordered_at(np.atleast_1d(share), samples)
    else:
        (bound,) = record.take(threshold=threshold)
        bounds = np.atleast_1d(bound)
    return _fitted(samples, bounds, contents)


# N_ij / N_i and pi_i = N_i / N, as printed, agree only where each state is left as often as it is entered, and then the
# rows sum to 1 over all N_i samples. So the last sample is followed by the first.
@model(domain=_VISITS, quantities=_quantities, round_trips=TIME, thresholds=TIME, quantiles=OPEN_FRACTION)
def fit_states(
    round_trips: ArrayLike,
    *,
    thresholds: ArrayLike | None = None,
    quantiles: ArrayLike | None = None,
    contents: Contents = "samples",
) -> FittedChain:
    """Fit a chain of N states, each a range of round trips [variable-delay, sections 6.2 and 7].

    Parameters
    ----------
    round_trips : array_like
        One sample a round [s], > 0, in the order of time.
    thresholds : array_like, optional
        The smallest round trip of each state but the first [s], increasing.
    quantiles : array_like, optional
        Or the parts of the ordered samples that lie below these states [1], in (0, 1), increasing.
    contents : {"samples", "mean"}
        Contents of a state.

    Returns
    -------
    FittedChain
        chain, thresholds, states, visits.

    Notes
    -----
    The sequence is closed to a circle, so that ``pi_i = N_i / N`` and every state leads to every other one.

    Examples
    --------
    >>> fit_states([0.1, 0.2, 0.3, 0.1, 0.2, 0.3], quantiles=[1 / 3, 2 / 3]).thresholds.tolist()
    [0.2, 0.3]
    """
    samples = measured("round_trips", round_trips)
    if (thresholds is None) == (quantiles is None):
        raise ModelError(Fault("thresholds, quantiles", "do not go together", None, "one of the two"))
    if thresholds is None:
        bounds = _ordered_at(_increasing("quantiles", quantiles, OPEN_FRACTION), samples)
    else:
        bounds = _increasing("thresholds", thresholds, TIME)
    return _fitted(samples, bounds, contents)


def _fitted(samples: FloatArray, bounds: FloatArray, contents: Contents) -> FittedChain:
    """Count the states and the transitions of samples in the ranges between bounds."""
    states = np.searchsorted(bounds, samples, side="right")
    counts = np.bincount(states, minlength=bounds.size + 1)
    if not counts.all():
        given = f"state {np.flatnonzero(counts == 0)[0]} for thresholds {bounds.tolist()} s"
        raise ModelError(Fault("round_trips", "leave a state empty", given, None, "choose other thresholds"))
    moves = np.zeros((counts.size, counts.size))
    np.add.at(moves, (states, np.roll(states, -1)), 1.0)
    groups = [samples[states == state] for state in range(counts.size)]
    held = [RoundTrips.from_samples(group) if contents == "samples" else fit_fixed(group) for group in groups]
    visits = np.asarray(moves.sum(axis=0) - np.diag(moves), dtype=np.int64)
    return FittedChain(round_trip_chain(moves / counts[:, None], held), bounds, states, visits)


@model(round_trips=TIME, states=_STATES)
def equal_time_thresholds(round_trips: ArrayLike, states: int) -> FloatArray:
    """Choose thresholds for `fit_states` that give each state about the same time [variable-delay, section 7].

    Parameters
    ----------
    round_trips : array_like
        One sample a round [s], > 0.
    states : int
        Largest number of states, whole, >= 2: equal round trips stay together.

    Returns
    -------
    array of float
        The smallest round trip of each state but the first [s]; empty where all round trips are equal.

    Examples
    --------
    >>> equal_time_thresholds([0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.4], 3).tolist()
    [0.2, 0.4]
    """
    (wanted,) = model_of(equal_time_thresholds).take(states=states)
    ordered = np.sort(measured("round_trips", round_trips))
    # The time taken by all shorter round trips.
    before = np.append(0.0, np.cumsum(ordered)[:-1])
    places = np.searchsorted(before, np.arange(1, int(wanted)) / wanted * ordered.sum())
    bounds = np.unique(ordered[np.minimum(places, ordered.size - 1)])
    longer = ordered[ordered > ordered[0]]
    # Where the shortest round trip alone takes most of the time, all others are one state.
    return np.asarray(bounds[bounds > ordered[0]] if bounds[-1] > ordered[0] else longer[:1])


def _increasing(name: str, values: ArrayLike | None, limits: Limits) -> FloatArray:
    (array,) = checked(**{name: (values, limits)})
    array = np.atleast_1d(array)
    if array.ndim != 1 or not array.size or np.any(np.diff(array) <= 0.0):
        raise ModelError(Fault(name, "do not increase", f"{array.tolist()}", "one or more, increasing"))
    return array


def _ordered_at(quantiles: FloatArray, samples: FloatArray) -> FloatArray:
    """Take the ordered samples behind the given parts; equal ones leave a state empty."""
    places = quantiles * samples.size
    # A third of 6 samples is 2 of them, whatever the last bit of 1/3 is.
    return np.asarray(np.sort(samples)[np.minimum(np.floor(places + 1e-9).astype(np.int64), samples.size - 1)])
