"""Window and throughput for round trips that a Markov chain correlates [variable-delay, sections 3.1.2 and 3.2.2]."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, checked, model, model_of
from ackclock.models.limits import EVENT_RATE_OR_ZERO, PROBABILITY, PROBABILITY_BELOW_ONE, SIZE, TIME
from ackclock.models.variable_delay.arguments import ASSUMES, WINDOW_DOMAIN, Reaction, window_quantities
from ackclock.models.variable_delay.independent import SendingRate
from ackclock.models.variable_delay.round_trips import RoundTrips

_ROW_SUM: Final = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class RoundTripChain:
    """Round trips whose distribution is set by the state of a Markov chain; make one by `round_trip_chain`.

    Parameters
    ----------
    transitions : array of float
        P_ij, from state i (row) to state j, a step a round.
    round_trips : tuple of RoundTrips
        By state.
    stationary : array of float
        pi_j.
    """

    transitions: FloatArray
    round_trips: tuple[RoundTrips, ...]
    stationary: FloatArray

    @property
    def means(self) -> FloatArray:
        """The mean round trip of each state, E[R] [s]."""
        return np.array([state.mean for state in self.round_trips])

    @property
    def mean(self) -> float:
        """The mean round trip, E[R] [s]."""
        return float(self.stationary @ self.means)


class MarkovWindow(NamedTuple):
    """The results of the Markov model."""

    window: FloatArray
    """Mean window at the end of a round, E[W] [pkt]."""
    by_state: FloatArray
    """Shares of the states in it, ``w_j = E[W 1{state j}]`` [pkt], states on the last axis; their sum is E[W]."""
    time_average: FloatArray
    """Time average of the window, E[W(t)] [pkt]."""
    rate: SendingRate
    """Sending rate, X [pkt/s]."""
    reduction_rate: FloatArray
    """Rate of reductions of the window [1/s]: rounds with losses (A1.i), or losses (A1.ii)."""
    reduction_probability: FloatArray
    """Reductions for each packet sent, p, by the printed X [1]."""


@model(transitions=PROBABILITY, round_trips=TIME)
def round_trip_chain(transitions: ArrayLike, round_trips: Sequence[RoundTrips | float | ArrayLike]) -> RoundTripChain:
    """Check a Markov chain of round trips and compute its stationary probabilities [variable-delay, section 3.1.2].

    Parameters
    ----------
    transitions : array_like
        P_ij [1], square; each row sums to 1.
    round_trips : sequence
        By state: a number (constant) [s], an array of samples [s], or `RoundTrips`.

    Returns
    -------
    RoundTripChain

    Raises
    ------
    ModelError
        For rows that do not sum to 1, and where not every state can be reached from every other one.

    Notes
    -----
    A chain that is irreducible but periodic is accepted: its stationary sequence is ergodic, as the paper needs.

    Examples
    --------
    >>> round_trip_chain([[0.9, 0.1], [0.3, 0.7]], [0.1, 0.5]).stationary.round(3).tolist()
    [0.75, 0.25]
    """
    (p,) = model_of(round_trip_chain).take(transitions=transitions)
    if p.ndim != 2 or p.shape[0] != p.shape[1] or not p.size:
        raise ModelError(Fault("transitions", "is not a square matrix", f"shape {p.shape}", "(states, states)"))
    try:
        states = list(round_trips)
    except TypeError:
        given = type(round_trips).__name__
        raise ModelError(Fault("round_trips", "is not a sequence", given, "round trips, one a state")) from None
    if len(states) != len(p):
        given = f"{len(states)} for {len(p)} states"
        raise ModelError(Fault("round_trips", "has another number of states than transitions", given, "one a state"))
    _check_rows(p)
    _check_irreducible(p)
    return RoundTripChain(p, tuple(_of_state(state) for state in states), _stationary(p))


# (5) needs the transpose: w_j sums a_i w_i P_ij over i. As printed, (I - A) w sums over the wrong index.
@model(
    domain=WINDOW_DOMAIN,
    quantities=window_quantities,
    assumes=ASSUMES,
    loss_rate=EVENT_RATE_OR_ZERO,
    decrease=PROBABILITY_BELOW_ONE,
    increase=SIZE,
)
def markov_window(
    chain: RoundTripChain,
    loss_rate: ArrayLike,
    decrease: ArrayLike = 0.5,
    increase: ArrayLike = 1.0,
    reaction: Reaction = "per-round",
) -> MarkovWindow:
    """Compute window and throughput for Markov round trips, ``(I - A^T) w = pi beta`` [variable-delay, eqs. 5 to 7].

    Parameters
    ----------
    chain : RoundTripChain
        Of `round_trip_chain` or of a fit.
    loss_rate : array_like
        lambda [1/s], >= 0, in some state > 0: a single number, or by state on the last axis.
    decrease, increase : array_like, optional
        gamma [1] and beta [pkt]; broadcast with the axes of `loss_rate` before its last one.
    reaction : {"per-round", "per-loss"}
        A1.i or A1.ii.

    Returns
    -------
    MarkovWindow
        window, by_state, time_average, rate, reduction_rate, reduction_probability.

    Examples
    --------
    Two states that alternate slowly: the window is wider than for independent round trips of the same distribution.

    >>> chain = round_trip_chain([[0.99, 0.01], [0.01, 0.99]], [0.1, 0.5])
    >>> found = markov_window(chain, 0.1)
    >>> print(f"E[W] = {found.window:.2f}, E[W(t)] = {found.time_average:.2f}, X = {found.rate.printed:.1f} pkt/s")
    E[W] = 83.36, E[W(t)] = 67.49, X = 277.9 pkt/s
    >>> from ackclock.models.variable_delay import mean_window
    >>> print(f"{mean_window(RoundTrips.from_samples([0.1, 0.5]), 0.1):.2f}")
    68.12
    """
    lam, gamma, beta = _by_state(chain, loss_rate, decrease, increase)
    lost = _mean_losses(chain, lam, gamma, reaction)
    P, pi = chain.transitions, chain.stationary  # noqa: N806
    w = _solve(P, pi, lost, beta)
    window = w.sum(axis=-1)
    # E[R_1 A_0 W_0] = sum_i w_i a_i sum_j P_ij E[R | j]
    time_average = beta[..., 0] / 2.0 + (w * (1.0 - lost)) @ (P @ chain.means) / chain.mean
    printed = window / chain.mean
    reductions = (lost / (1.0 - gamma) if reaction == "per-round" else lam * chain.means) @ pi / chain.mean
    return MarkovWindow(
        window[()],
        w,
        time_average[()],
        SendingRate(printed[()], (printed - beta[..., 0] / (2.0 * chain.mean))[()]),
        np.asarray(reductions)[()],
        np.asarray(reductions / printed)[()],
    )


@model(loss_rate=EVENT_RATE_OR_ZERO, decrease=PROBABILITY_BELOW_ONE)
def mean_factors(
    chain: RoundTripChain, loss_rate: ArrayLike, decrease: ArrayLike = 0.5, reaction: Reaction = "per-round"
) -> FloatArray:
    """Compute a_i = E[A | state i], the mean factor of the window by state [variable-delay, eqs. 6 and 7].

    ``gamma + (1 - gamma) R_i*(lambda_i)`` under A1.i, ``R_i*(lambda_i (1 - gamma))`` under A1.ii.

    Parameters
    ----------
    chain, loss_rate, decrease, reaction
        As for `markov_window`.

    Returns
    -------
    array of float
        a_i [1], states on the last axis.

    Examples
    --------
    >>> chain = round_trip_chain([[0.99, 0.01], [0.01, 0.99]], [0.1, 0.5])
    >>> mean_factors(chain, 0.1).round(5).tolist(), mean_factors(chain, 0.1, reaction="per-loss").round(5).tolist()
    ([0.99502, 0.97561], [0.99501, 0.97531])
    """
    lam, gamma, _ = _by_state(chain, loss_rate, decrease, 1.0)
    return np.asarray(1.0 - _mean_losses(chain, lam, gamma, reaction))


def _mean_losses(chain: RoundTripChain, lam: FloatArray, gamma: FloatArray, reaction: Reaction) -> FloatArray:
    """Compute 1 - a_i, which is exact where losses are rare and a_i is 1 to the last digit."""
    share = 1.0 if reaction == "per-round" else 1.0 - gamma
    arguments = np.moveaxis(share * np.broadcast_to(lam, np.broadcast_shapes(lam.shape, gamma.shape)), -1, 0)
    transforms = zip(chain.round_trips, arguments, strict=True)
    complement = np.stack([state.complement(s) for state, s in transforms], axis=-1)
    return np.asarray((1.0 - gamma) * complement if reaction == "per-round" else complement)


# The columns of I - A^T add up to 1 - a_i: in place of the last equation, their sum, sum_i (1 - a_i) w_i = beta, keeps
# its digits where all a_i are near 1 and the matrix as printed is singular. So does 1 - P_ii as the sum of the others.
def _solve(p: FloatArray, pi: FloatArray, lost: FloatArray, beta: FloatArray) -> FloatArray:
    shape = np.broadcast_shapes(lost.shape, beta.shape)
    leaving = p - np.diag(np.diag(p))
    matrix = np.diag(leaving.sum(axis=1)) - leaving.T + np.swapaxes(lost[..., :, None] * p, -1, -2)
    total = lost.sum(axis=-1)
    matrix[..., -1, :] = lost / total[..., None]
    right = np.broadcast_to(pi * beta, shape).copy()
    right[..., -1] = beta[..., 0] / total
    return np.asarray(np.linalg.solve(matrix, right[..., None])[..., 0])


def _by_state(
    chain: RoundTripChain, loss_rate: ArrayLike, decrease: ArrayLike, increase: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Check the arguments, and append an axis of states, along which gamma and beta are constant."""
    record = model_of(markov_window)
    (lam,) = record.take(loss_rate=loss_rate)
    states = len(chain.round_trips)
    if lam.ndim and lam.shape[-1] not in (1, states):
        given, allowed = f"shape {lam.shape}", f"a single number, or {states} on the last axis"
        raise ModelError(Fault("loss_rate", "has another number of states than the chain", given, allowed))
    lam = np.broadcast_to(lam, (*lam.shape[:-1], states))
    if not np.all(np.any(lam > 0.0, axis=-1)):
        raise ModelError(Fault("loss_rate", "is 0 in every state", "0", "> 0 in one state at least [1/s]"))
    gamma, beta = record.take(decrease=decrease, increase=increase)
    try:
        np.broadcast_shapes(lam.shape[:-1], gamma.shape, beta.shape)
    except ValueError:
        shapes = f"shapes {lam.shape[:-1]} (without states), {gamma.shape}, {beta.shape}"
        raise ModelError(Fault("loss_rate, decrease, increase", "do not broadcast together", shapes)) from None
    return lam, gamma[..., None], beta[..., None]


def _of_state(state: RoundTrips | float | ArrayLike) -> RoundTrips:
    if isinstance(state, RoundTrips):
        return state
    return (
        RoundTrips.from_samples(state)
        if np.ndim(state)
        else RoundTrips.constant(float(checked(round_trips=(state, TIME))[0]))
    )


def _check_rows(p: FloatArray) -> None:
    wrong = np.flatnonzero(np.abs(p.sum(axis=1) - 1.0) > _ROW_SUM)
    if wrong.size:
        given = f"row {wrong[0]} sums to {p[wrong[0]].sum():.9g}"
        raise ModelError(Fault("transitions", "has a row that does not sum to 1", given, "1, to 1e-9"))


def _check_irreducible(p: FloatArray) -> None:
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415  a fifth of a second that others need not pay

    number, label = connected_components(p > 0.0, directed=True, connection="strong")
    if number == 1:
        return
    # A class that some transition leaves is never entered again; without such a class, the classes never meet.
    classes = [np.flatnonzero(label == index) for index in range(number)]
    left = [states for states in classes if p[np.ix_(states, np.setdiff1d(np.arange(len(p)), states))].any()]
    if left:
        given = f"states {', '.join(map(str, np.concatenate(left)))} are left for good"
    else:
        given = " never meet ".join(f"states {states.tolist()}" for states in classes)
    allowed = "that every state can be reached from every other one"
    raise ModelError(Fault("transitions", "are not ergodic", given, allowed))


def _stationary(p: FloatArray) -> FloatArray:
    """Solve pi P = pi with the sum 1 by state reduction (Grassmann, Taksar, Heyman 1985).

    It uses no P_ii and subtracts nothing, so chains that are seldom left keep their digits.
    """
    reduced = p.copy()
    for last in range(len(p) - 1, 0, -1):
        reduced[:last, last] /= reduced[last, :last].sum()
        reduced[:last, :last] += np.outer(reduced[:last, last], reduced[last, :last])
    weights = np.ones(len(p))
    for state in range(1, len(p)):
        weights[state] = weights[:state] @ reduced[:state, state]
    return np.asarray(weights / weights.sum())
