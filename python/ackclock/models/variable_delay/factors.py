"""The factor A_n of a round, and the stationary window as a sum of their products [variable-delay, section 3.1]."""

from typing import NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, model, model_of
from ackclock.models.limits import EVENT_RATE, PROBABILITY, SIZE, WHOLE_COUNT_OR_ZERO
from ackclock.models.variable_delay.arguments import Reaction
from ackclock.models.variable_delay.round_trips import RoundTrips

_CHUNK = 2**20


class StationaryWindow(NamedTuple):
    """The explicit stationary window, ``W*_n = window + weight W*_(n - J)``, of the J factors before it."""

    window: FloatArray
    """Sum of its first J terms, for j = 0 to J - 1 [pkt]."""
    weight: FloatArray
    """Product of all J factors [1]: the weight of the window before them, which vanishes as J grows."""


@model(loss_rate=EVENT_RATE, power=WHOLE_COUNT_OR_ZERO)
def factor_probability(
    round_trips: RoundTrips, loss_rate: ArrayLike, power: ArrayLike, reaction: Reaction = "per-loss"
) -> FloatArray:
    """Compute ``P(A = gamma^k)``, for independent round trips [variable-delay, section 3.1.1].

    Under A1.ii the probability of k losses in a round, ``E[(lambda R)^k / k! exp(-lambda R)]``; under A1.i R*(lambda)
    for k = 0, the rest for k = 1.

    Parameters
    ----------
    round_trips : RoundTrips
        The distribution of R.
    loss_rate : array_like
        lambda [1/s], > 0.
    power : array_like
        k [1], whole, >= 0.
    reaction : {"per-round", "per-loss"}
        A1.i or A1.ii.

    Returns
    -------
    array of float
        Probability [1]; over all k it sums to 1.

    Raises
    ------
    ModelError
        For round trips of which the transform alone is known, under A1.ii.

    Examples
    --------
    A constant round trip of 1 / lambda has the Poisson distribution of mean 1:

    >>> factor_probability(RoundTrips.constant(2.0), 0.5, [0, 1, 2, 3]).round(4).tolist()
    [0.3679, 0.3679, 0.1839, 0.0613]
    """
    from scipy.special import gammaln, xlogy  # noqa: PLC0415  a tenth of a second that others need not pay

    lam, k = model_of(factor_probability).take(loss_rate=loss_rate, power=power)
    if reaction == "per-round":
        lossy = round_trips.complement(lam)
        return np.asarray(np.select([k == 0.0, k == 1.0], [1.0 - lossy, lossy], 0.0))[()]
    if round_trips.atoms is None:
        hint = "RoundTrips.from_samples and from_distribution have values"
        raise ModelError(Fault("round_trips", "have no values to average over", "a transform alone", None, hint))
    values, weights = round_trips.atoms
    rates, counts = np.broadcast_arrays(lam, k)
    found = np.empty(rates.size)
    step = max(_CHUNK // values.size, 1)
    for first in range(0, rates.size, step):
        n, x = counts.flat[first : first + step], np.outer(rates.flat[first : first + step], values)
        found[first : first + step] = np.exp(xlogy(n[:, None], x) - x - gammaln(n[:, None] + 1.0)) @ weights
    return found.reshape(rates.shape)[()]


@model(factors=PROBABILITY, increase=SIZE)
def stationary_window(factors: ArrayLike, increase: ArrayLike = 1.0) -> StationaryWindow:
    """Compute the explicit ``W*_n``, the sum of ``beta A_(n-1) ... A_(n-j)`` over j [variable-delay, theorem 1].

    Parameters
    ----------
    factors : array_like
        A_(n-J), ..., A_(n-1) [1], from 0 to 1, of the J rounds before n; in order of time on the last axis.
    increase : array_like, optional
        beta, a round [pkt], > 0; has no axis of rounds.

    Returns
    -------
    StationaryWindow
        window, weight.

    Notes
    -----
    The sum has infinitely many terms: those from j = J on are ``weight W*_(n-J)``. So the window of any start is W*_n
    in the end; with a period of J rounds, W*_n is ``window / (1 - weight)``.

    Examples
    --------
    A loss each fourth round: the window rises from 5 to 8, and a round starts at 4.

    >>> found = stationary_window([1.0, 1.0, 1.0, 0.5])
    >>> float(found.window), float(found.weight), float(found.window / (1 - found.weight))
    (2.5, 0.5, 5.0)
    """
    record = model_of(stationary_window)
    (beta,) = record.take(increase=increase)
    values, _ = record.take(factors=factors, increase=beta[..., np.newaxis])
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ModelError(Fault("factors", "has no rounds", f"shape {values.shape}", "the rounds on the last axis"))
    products = np.cumprod(values[..., ::-1], axis=-1)
    window = beta * (1.0 + products[..., :-1].sum(axis=-1))
    return StationaryWindow(np.asarray(window)[()], np.asarray(products[..., -1])[()])
