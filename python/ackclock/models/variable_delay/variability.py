"""The effect of more variable round trips on the throughput [variable-delay, section 5]."""

from typing import NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, IntArray, model, model_of
from ackclock.models.limits import EVENT_RATE, FACTOR_OR_ZERO, PROBABILITY_BELOW_ONE
from ackclock.models.variable_delay.arguments import Reaction
from ackclock.models.variable_delay.independent import mean_window
from ackclock.models.variable_delay.round_trips import RoundTrips

_EQUAL = 1e-12


class Comparison(NamedTuple):
    """The comparison of two distributions of round trips with the same mean, under the same losses."""

    more_variable: IntArray
    """Sign: 1 where the first has the larger transform, -1 where the second has, 0 where both are equal."""
    first_transform: FloatArray
    """Transform R*(s) of the first [1], at s = lambda (A1.i) or lambda (1 - gamma) (A1.ii)."""
    second_transform: FloatArray
    """Transform of the second [1]."""
    gain: FloatArray
    """Ratio of the mean windows, and of the printed throughputs, first to second [1]."""


# Remark 1: exp(-s R) is convex and decreasing, so the increasing convex order alone does not order the transforms; with
# equal means it is the convex order, which does. (ii) has its inequality the wrong way round, and needs equality too.
@model(loss_rate=EVENT_RATE, decrease=PROBABILITY_BELOW_ONE, mean_tolerance=FACTOR_OR_ZERO)
def compare_variability(  # noqa: PLR0913, PLR0917  two systems and the parameters that they share
    first: RoundTrips,
    second: RoundTrips,
    loss_rate: ArrayLike,
    decrease: ArrayLike = 0.5,
    reaction: Reaction = "per-round",
    mean_tolerance: float = 1e-6,
) -> Comparison:
    """Compare the windows under two independent sequences of round trips [variable-delay, theorem 2, eq. 10].

    Parameters
    ----------
    first, second : RoundTrips
        With equal means.
    loss_rate : array_like
        lambda [1/s], > 0.
    decrease : array_like, optional
        gamma [1], from 0 to less than 1.
    reaction : {"per-round", "per-loss"}
        A1.i or A1.ii.
    mean_tolerance : float, optional
        By how much the means may differ, relatively [1].

    Returns
    -------
    Comparison
        more_variable, first_transform, second_transform, gain.

    Raises
    ------
    ModelError
        Where the means differ: then the transform does not order the throughputs.

    Notes
    -----
    A constant round trip is the least variable of all with its mean. The verdict holds at the given loss rates; at
    others it may be the opposite, unless the two are in convex order.

    Examples
    --------
    >>> from scipy import stats
    >>> found = compare_variability(RoundTrips.from_distribution(stats.expon()), RoundTrips.constant(1.0), [0.01, 1.0])
    >>> found.more_variable.tolist(), found.gain.round(4).tolist()
    ([1, 1], [1.005, 1.2642])
    """
    record = model_of(compare_variability)
    (tolerance,) = record.take(mean_tolerance=mean_tolerance)
    if abs(first.mean - second.mean) > tolerance * second.mean:
        given = f"{first.mean:g} s and {second.mean:g} s"
        hint = "the theorem compares equal means; compare sending_rate instead"
        raise ModelError(Fault("first, second", "have different means", given, "equal means", hint))
    lam, gamma = record.take(loss_rate=loss_rate, decrease=decrease)
    gain = mean_window(first, lam, gamma, 1.0, reaction) / mean_window(second, lam, gamma, 1.0, reaction)
    s = lam if reaction == "per-round" else lam * (1.0 - gamma)
    # The gain is exact also where both transforms are near 1.
    verdict = np.where(np.abs(gain - 1.0) <= _EQUAL, 0, np.sign(gain - 1.0)).astype(np.int64)
    return Comparison(verdict[()], first.transform(s), second.transform(s), np.asarray(gain)[()])
