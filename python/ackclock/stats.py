"""Means over replications and their confidence intervals."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from ackclock.quantities import bucket_error

_ROUNDING = 1e-12
"""Relative difference that two ways to round one sum make, and more."""


class Estimate(TypedDict):
    """A quantity's mean over replications, the ends of its confidence interval, the number of values.

    `low` and `high` are `None` if there is no interval; all three are `None` without any value. `batches` is the number
    of batches of one run that the interval is made of, 0 if they give none.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    batches: NotRequired[int]


def estimate(values: Iterable[float], confidence: float, *, exact: bool = False) -> Estimate:
    """Compute the mean of independent replications with its Student t interval.

    Parameters
    ----------
    values : iterable of float
        One value a replication; those that are not finite (nothing was measured) are left out.
    confidence : float
        Probability that the interval holds the true mean [1], between 0 and 1.
    exact : bool
        The values come from a deterministic scenario: the interval is a point.

    Returns
    -------
    Estimate
        Mean, low, high and n.

    Notes
    -----
    Assumes that the replications' values are about normal, as averages over a long run are.

    Examples
    --------
    >>> e = estimate([9.0, 10.0, 11.0], confidence=0.95)
    >>> print(f"{e['mean']:.1f} in [{e['low']:.3f}, {e['high']:.3f}], n = {e['n']}")
    10.0 in [7.516, 12.484], n = 3
    """
    return estimates(np.array([list(values)], dtype=float).T, confidence, exact=exact)[0]


def estimates(
    values: NDArray[np.float64],
    confidence: float,
    *,
    exact: bool = False,
    error: float | NDArray[np.float64] = 0.0,
) -> list[Estimate]:
    """Compute `estimate` of each column of a table with a row a replication.

    Parameters
    ----------
    values : array of float
        Replications by quantities.
    confidence, exact
        As for `estimate`.
    error : float or array of float
        Relative error [1] of all values of a column, by which half the interval is larger: that of a histogram's
        bucket, which replications may share.

    Returns
    -------
    list of Estimate
        One a column.
    """
    known = np.isfinite(values)
    counts = known.sum(axis=0)
    means = np.where(known, values, 0.0).sum(axis=0) / np.maximum(counts, 1)
    squares = (np.where(known, values - means, 0.0) ** 2).sum(axis=0)
    halves = np.zeros(len(counts)) if exact else _half_widths(squares, counts, confidence) + error * np.abs(means)
    columns = zip(means.tolist(), halves.tolist(), counts.tolist(), strict=True)
    return [_estimate(mean, half, n) for mean, half, n in columns]


def estimates_of_rows(
    tables: Sequence[Mapping[str, NDArray[np.float64]]], names: Sequence[str], confidence: float, *, exact: bool
) -> list[dict[str, Estimate]]:
    """Compute each quantity of each row of tables, one a replication.

    Parameters
    ----------
    tables : sequence of mapping of str to array of float
        By quantity a value for each row.
    names : sequence of str
        The quantities to compute. The interval of a percentile is wider by the error of a histogram's bucket.
    confidence, exact
        As for `estimate`.

    Returns
    -------
    list of dict
        The quantities of each row by name.
    """
    # All in one call: by replication the quantities of the first row, of the second one, ...
    values = np.stack([np.column_stack([table[name] for name in names]).ravel() for table in tables])
    errors = np.tile([bucket_error(name) for name in names], values.shape[1] // len(names))
    found = estimates(values, confidence, exact=exact, error=errors)
    rows = (found[start : start + len(names)] for start in range(0, len(found), len(names)))
    return [dict(zip(names, row, strict=True)) for row in rows]


def _half_widths(squares: NDArray[np.float64], counts: NDArray[np.int64], confidence: float) -> NDArray[np.float64]:
    """Compute the intervals' half widths from the sums of squared deviations; nan for a single value."""
    quantiles = {int(n): student_t(confidence, int(n) - 1) if n > 1 else np.nan for n in np.unique(counts)}
    factors = np.array([quantiles[n] for n in counts.tolist()])
    return np.asarray(factors * np.sqrt(squares / np.maximum(counts - 1, 1) / np.maximum(counts, 1)))


def _estimate(mean: float, half: float, n: int) -> Estimate:
    if n == 0:
        return Estimate(mean=None, low=None, high=None, n=0)
    if math.isnan(half):
        return Estimate(mean=mean, low=None, high=None, n=n)
    return Estimate(mean=mean, low=mean - half, high=mean + half, n=n)


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """Divide, with nan where there is nothing to divide by.

    Examples
    --------
    >>> ratio(np.array([1, 1]), np.array([2, 0]))
    array([0.5, nan])
    """
    result = np.full(len(whole), np.nan)
    np.divide(part, whole, out=result, where=np.asarray(whole) > 0)
    return result


def fraction(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """Divide a part by the whole; where both are one sum that was rounded in two ways, the fraction is 1.

    Examples
    --------
    >>> fraction(np.array([0.3, 0.1 + 0.2, 0.4]), np.array([0.4, 0.3, 0.3])).round(3)
    array([0.75 , 1.   , 1.333])
    >>> bool(fraction(np.array([0.1 + 0.2]), np.array([0.3])).max() <= 1.0)
    True
    """
    found = np.asarray(part / whole, dtype=np.float64)
    return np.where(np.abs(found - 1.0) < _ROUNDING, np.minimum(found, 1.0), found)


def student_t(confidence: float, degrees_of_freedom: int) -> float:
    """Compute the two-sided quantile of Student's t distribution.

    Examples
    --------
    >>> round(student_t(0.95, 9), 3)
    2.262
    """
    from scipy.special import stdtrit  # noqa: PLC0415  a third of a second that short commands need not pay

    return float(stdtrit(degrees_of_freedom, 0.5 + confidence / 2.0))


def log_correlation(first: Iterable[float], second: Iterable[float]) -> float:
    """Compute the correlation of the logarithms of two positive quantities [1]; nan where one of them is constant.

    Examples
    --------
    >>> round(log_correlation([10.0, 100.0, 1000.0], [9.0, 3.0, 1.0]), 6)
    -1.0
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.corrcoef(np.log(list(first)), np.log(list(second)))[0, 1])


def log_slope(first: Iterable[float], second: Iterable[float]) -> float:
    """Compute the exponent of the power law of the second quantity over the first [1].

    Examples
    --------
    >>> round(log_slope([1.0, 10.0, 100.0], [5.0, 0.5, 0.05]), 6)
    -1.0
    """
    return float(np.polyfit(np.log(list(first)), np.log(list(second)), 1)[0])


def jain_index(shares: Iterable[float]) -> float:
    """Compute Jain's fairness index [1]: 1 where all shares are equal, 1/n where one has all.

    Examples
    --------
    >>> jain_index([1.0, 1.0, 0.0, 0.0])
    0.5
    """
    array = np.fromiter(shares, dtype=float)
    squares = float(np.sum(array**2))
    return float(np.sum(array)) ** 2 / (len(array) * squares) if squares > 0.0 else math.nan
