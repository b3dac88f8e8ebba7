"""Percentiles over what all replications measured together, and their intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ackclock.histograms import middles_s, rank_of
from ackclock.quantities import BUCKET_ERROR, PERCENTILES
from ackclock.replication import Columns
from ackclock.stats import Estimate, student_t

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Pooled:
    """The values of one group, of all replications.

    Parameters
    ----------
    replication : array of int
        The index of the replication that each entry is of.
    middle : array of float
        The value of each entry, the middle of a bucket, not above the longest; in ascending order.
    count : array of int
        How many of the replication's values are in that bucket.
    longest : float
        The largest value of all, which is known exactly.
    """

    replication: NDArray[np.int64]
    middle: Values
    count: NDArray[np.int64]
    longest: float

    @property
    def total(self) -> int:
        """Count the values of all replications."""
        return int(self.count.sum())

    def of_rank(self, rank: int) -> float:
        """Give the value of a rank, from 1 on."""
        if rank >= self.total:
            return self.longest
        return float(self.middle[np.searchsorted(np.cumsum(self.count), rank)])


def pool(tables: Sequence[Columns], rows: Sequence[int], least: float, longest: float) -> Pooled:
    """Put the values of some rows of histograms together.

    Parameters
    ----------
    tables : sequence of dict of str to array
        A table of buckets a replication, as `ackclock.histograms.merged` takes them.
    rows : sequence of int
        The rows of each table to put together.
    least, longest : float
        The smallest and the largest value of all, or bounds of them.

    Returns
    -------
    Pooled
        All of their values.
    """
    parts = [np.flatnonzero(np.isin(table["row"], rows)) for table in tables]
    of_each = list(zip(tables, parts, strict=True))
    replication = np.repeat(np.arange(len(tables)), [len(part) for part in parts])
    middle = np.clip(np.concatenate([middles_s(table)[part] for table, part in of_each]), least, longest)
    count = np.concatenate([table["count"][part] for table, part in of_each]).astype(np.int64)
    order = np.argsort(middle, kind="stable")
    return Pooled(replication[order], middle[order], count[order], longest)


def percentile_estimate(pooled: Pooled, fraction: float, confidence: float, *, exact: bool = False) -> Estimate:
    """Compute a percentile over all values, by nearest rank, and its interval.

    Parameters
    ----------
    pooled : Pooled
        The values.
    fraction : float
        The fraction of the values that the percentile does not exceed, in (0, 1).
    confidence : float
        Probability that the interval holds the true percentile [1], between 0 and 1.
    exact : bool
        Whether the values come from a deterministic scenario: the interval is a point.

    Returns
    -------
    Estimate
        The percentile, off by 0.8% at most, as `mean`; the ends of its interval; the number of replications that have
        values. No interval if fewer than two have any, or if an end would be below the least or above the largest of
        all, as such a percentile may lie beyond what was measured.

    Notes
    -----
    The interval is Woodruff's (1952, Confidence intervals for medians and other position measures): the fraction of the
    values that are at most the percentile has a standard error, and the values at the ends of the fraction's Student t
    interval are the ends of the percentile's. Replications are clusters, as values of one replication depend on one
    another; the error is not taken to be less than that of independent values.
    """
    total = pooled.total
    if total == 0:
        return Estimate(mean=None, low=None, high=None, n=0)
    replications = len(np.unique(pooled.replication))
    found = pooled.of_rank(rank_of(fraction, total))
    if exact:
        return Estimate(mean=found, low=found, high=found, n=replications)
    half = (
        student_t(confidence, replications - 1) * _standard_error(pooled, found, fraction) if replications > 1 else 1.0
    )
    if fraction - half <= 0.0 or fraction + half >= 1.0:
        return Estimate(mean=found, low=None, high=None, n=replications)
    low, high = (pooled.of_rank(rank_of(end, total)) for end in (fraction - half, fraction + half))
    # The longest is known exactly.
    high = min(high * (1.0 + BUCKET_ERROR), pooled.longest)
    return Estimate(mean=found, low=low * (1.0 - BUCKET_ERROR), high=high, n=replications)


def percentile_estimates(
    pooled: Pooled, kind: str, unit: str, confidence: float, *, exact: bool
) -> dict[str, Estimate]:
    """Compute `percentile_estimate` of each percentile, by the name of the quantity of a kind and unit."""
    return {
        f"{kind}_{name}{unit}": percentile_estimate(pooled, fraction, confidence, exact=exact)
        for name, fraction in PERCENTILES.items()
    }


def _standard_error(pooled: Pooled, value: float, fraction: float) -> float:
    """Compute the standard error of the fraction of the values that are at most a value."""
    total, replications = pooled.total, len(np.unique(pooled.replication))
    of_each = np.bincount(pooled.replication, pooled.count)
    below = np.bincount(pooled.replication, pooled.count * (pooled.middle <= value), minlength=len(of_each))
    # Of a ratio over clusters (Cochran 1977, Sampling Techniques, section 2.11).
    residuals = below - below.sum() / total * of_each
    clusters = replications / (replications - 1) * float((residuals**2).sum()) / total**2
    return math.sqrt(max(clusters, fraction * (1.0 - fraction) / total))


def extreme_estimate(extremes: Values, extreme: float, *, exact: bool = False) -> Estimate:
    """Give the largest or the least value of all, which has no interval unless the scenario is deterministic.

    Parameters
    ----------
    extremes : array of float
        That of each replication, nan if it has no value.
    extreme : float
        That of all.
    exact : bool
        Whether the scenario is deterministic.
    """
    known = int(np.isfinite(extremes).sum())
    if not known:
        return Estimate(mean=None, low=None, high=None, n=0)
    return Estimate(mean=extreme, low=extreme if exact else None, high=extreme if exact else None, n=known)


def values_needed(fraction: float, confidence: float) -> int:
    """Compute how many independent values, one a replication, give a percentile's interval an end on both sides.

    Examples
    --------
    >>> values_needed(0.5, 0.95), values_needed(0.95, 0.95), values_needed(0.99, 0.95)
    (7, 76, 383)
    """
    ratio = max(fraction, 1.0 - fraction) / min(fraction, 1.0 - fraction)
    needed = 2
    while student_t(confidence, needed - 1) ** 2 * ratio >= needed:
        needed += 1
    return needed
