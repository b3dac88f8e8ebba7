"""The process of the round trips: holding times and fractions of the time [abrupt-delay, section II]."""

from typing import Final, NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, checked, model, model_of
from ackclock.models.limits import FACTOR, PROBABILITY, TIME

_ROUNDING: Final = 1e-9


class RoundTripProcess(NamedTuple):
    """A round trip that stays ``V_i = T_i + Exp(mean 1/lambda_i)`` in state i; states on the last axis."""

    mean_holding_times: FloatArray
    """Mean holding time of each state, E[V_i] = T_i + 1/lambda_i [s]."""
    holding_time_deviations: FloatArray
    """Standard deviation of V_i [s]: that of its exponential part, 1/lambda_i."""
    proportions: FloatArray
    """Fraction of the time spent in each state [1]."""
    transition_rate: FloatArray
    """Changes of state per second [1/s]; without the axis of states."""


@model(round_trip_times=TIME, mean_exponential_times=TIME, transitions=PROBABILITY)
def round_trip_process(
    round_trip_times: ArrayLike, mean_exponential_times: ArrayLike, transitions: ArrayLike | None = None
) -> RoundTripProcess:
    """Compute holding times and proportions of time of ``V_i = T_i + Exp(1/lambda_i)`` [abrupt-delay, section II].

    Parameters
    ----------
    round_trip_times : array_like
        T_i [s], > 0, service time included; the states on the last axis.
    mean_exponential_times : array_like
        1/lambda_i = E[X_i] [s], > 0; as many as `round_trip_times`, or one for all.
    transitions : array_like, optional
        See `time_proportions`.

    Returns
    -------
    RoundTripProcess
        mean_holding_times, holding_time_deviations, proportions, transition_rate.

    Examples
    --------
    >>> found = round_trip_process([0.1, 0.3], [0.9, 2.7])
    >>> found.proportions.round(2).tolist(), float(found.transition_rate)
    ([0.25, 0.75], 0.5)
    """
    times, exponential = model_of(round_trip_process).take(
        round_trip_times=round_trip_times, mean_exponential_times=mean_exponential_times
    )
    holding = times + exponential
    visits = visit_proportions(_states(holding, "round_trip_times"), transitions)
    mean_stay = np.sum(visits * holding, axis=-1)
    return RoundTripProcess(
        mean_holding_times=holding,
        holding_time_deviations=np.broadcast_to(exponential, holding.shape),
        proportions=visits * holding / mean_stay[..., np.newaxis],
        transition_rate=1.0 / mean_stay,
    )


@model(round_trip_times=TIME, holding_time_factor=FACTOR, transitions=PROBABILITY)
def round_trip_process_of_factor(
    round_trip_times: ArrayLike, holding_time_factor: ArrayLike, transitions: ArrayLike | None = None
) -> RoundTripProcess:
    """Compute the round-trip process for ``E[X_i] = h T_i``, h > 0 [abrupt-delay, section IV.B].

    Parameters
    ----------
    round_trip_times : array_like
        T_i [s], > 0, the states on the last axis.
    holding_time_factor : array_like
        h [1], > 0, one for all states; has no axis of states.
    transitions : array_like, optional
        See `time_proportions`.

    Returns
    -------
    RoundTripProcess
        mean_holding_times, holding_time_deviations, proportions, transition_rate.

    Examples
    --------
    The proportions do not depend on h, the rate of the changes does:

    >>> found = round_trip_process_of_factor([0.1, 0.3], [0.1, 10])
    >>> found.proportions.round(2).tolist(), found.transition_rate.round(3).tolist()
    ([[0.25, 0.75], [0.25, 0.75]], [4.545, 0.455])
    """
    # The factor has no axis of states: give it one of length 1.
    record = model_of(round_trip_process_of_factor)
    (factor,) = record.take(holding_time_factor=holding_time_factor)
    times, factor = record.take(round_trip_times=round_trip_times, holding_time_factor=factor[..., np.newaxis])
    return round_trip_process(times, factor * times, transitions)


@model(mean_holding_times=TIME, transitions=PROBABILITY)
def time_proportions(mean_holding_times: ArrayLike, transitions: ArrayLike | None = None) -> FloatArray:
    """Compute the fraction of the time that each state takes [abrupt-delay, section IV.A].

    ``pi_i E[V_i] / sum_j pi_j E[V_j]``

    Parameters
    ----------
    mean_holding_times : array_like
        E[V_i] [s], > 0, the states on the last axis.
    transitions : array_like, optional
        Probability that state i (second to last axis) is followed by j (last axis) [1]; rows sum to 1. Without it, the
        states follow one another in turn: the paper's alternating process where there are two.

    Returns
    -------
    array of float
        [1], adding up to 1 over the last axis.

    Notes
    -----
    For more than two states this is the semi-Markov process that section II names and leaves out; only the means of
    the holding times enter. pi is the stationary distribution of the chain of visits.

    Examples
    --------
    >>> time_proportions([1.0, 3.0]).tolist()
    [0.25, 0.75]
    >>> time_proportions([1.0, 1.0, 2.0], [[0, 0.5, 0.5], [1, 0, 0], [1, 0, 0]]).round(3).tolist()
    [0.4, 0.2, 0.4]
    """
    (holding,) = model_of(time_proportions).take(mean_holding_times=mean_holding_times)
    weights = visit_proportions(_states(holding, "mean_holding_times"), transitions) * holding
    return np.asarray(weights / np.sum(weights, axis=-1, keepdims=True))


def visit_proportions(states: int, transitions: ArrayLike | None) -> FloatArray:
    """Compute the stationary distribution of the chain of visits, ``pi = pi P``; even where the states take turns."""
    if transitions is None:
        return np.full(states, 1.0 / states)
    (matrix,) = checked(transitions=(transitions, PROBABILITY))
    if matrix.ndim < 2 or matrix.shape[-2:] != (states, states):
        raise ModelError(
            Fault(
                "transitions", "has the wrong shape", f"shape {matrix.shape}", f"{states} x {states} on the last axes"
            )
        )
    sums = matrix.sum(axis=-1)
    if (wrong := np.abs(sums - 1.0) > _ROUNDING).any():
        raise ModelError(Fault("transitions", "has a row that does not sum to 1", f"{sums[wrong].flat[0]:g}", "1"))
    balance = np.swapaxes(matrix, -1, -2) - np.eye(states)
    if (np.linalg.matrix_rank(balance, tol=_ROUNDING) < states - 1).any():
        hint = "with several closed sets of states, the one that the process starts in decides"
        raise ModelError(Fault("transitions", "has no single stationary distribution", "", "one closed set", hint))
    # One equation of pi (P - I) = 0 follows from the others: sum(pi) = 1 takes its place.
    balance[..., -1, :] = 1.0
    unit = np.zeros((*balance.shape[:-1], 1))
    unit[..., -1, 0] = 1.0
    return np.asarray(np.linalg.solve(balance, unit)[..., 0])


def _states(values: FloatArray, name: str) -> int:
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ModelError(Fault(name, "has no states", f"shape {values.shape}", "the states on the last axis"))
    return int(values.shape[-1])
