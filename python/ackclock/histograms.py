"""Distributions of durations as the engine counts them: buckets that are narrow relative to what is in them."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ackclock.replication import Columns

Values = NDArray[np.float64]

COLUMNS = ("row", "bucket", "low_s", "high_s", "count")
"""Columns of the engine's tables of buckets."""


def middles_s(table: Columns) -> Values:
    """Give the middle of each bucket [s]; 0 of the first one, which holds the packets that did not wait.

    Parameters
    ----------
    table : dict of str to array
        The engine's table of buckets, with the ends of each in `low_s` and `high_s` [s].

    Returns
    -------
    array of float
        A value for each row of the table [s].

    Examples
    --------
    >>> middles_s({"low_s": np.array([0.0, 2.0]), "high_s": np.array([1.0, 3.0])})
    array([0. , 2.5])
    """
    return np.asarray(np.where(table["low_s"] == 0.0, 0.0, (table["low_s"] + table["high_s"]) / 2.0), dtype=float)


def merged(tables: Iterable[Columns]) -> Columns:
    """Add histograms of several replications.

    Parameters
    ----------
    tables : iterable of dict of str to array
        The engine's tables of buckets: `row`, `bucket`, `low_s`, `high_s` and `count`.

    Returns
    -------
    dict of str to array
        One such table, by row and bucket.
    """
    found = list(tables)
    rows = {name: np.concatenate([table[name] for table in found]) for name in COLUMNS}
    order = np.lexsort((rows["bucket"], rows["row"]))
    rows = {name: values[order] for name, values in rows.items()}
    row, bucket, count = rows["row"], rows["bucket"], rows["count"]
    first = np.flatnonzero(np.r_[len(row) > 0, (np.diff(row) != 0) | (np.diff(bucket) != 0)][: len(row)])
    sums = np.add.reduceat(count, first) if len(first) else count
    return {name: sums if name == "count" else values[first] for name, values in rows.items()}


def percentiles_of_rows(table: Columns, longest: Values, fractions: Sequence[float]) -> list[Values]:
    """Compute percentiles of each histogram of a table, by nearest rank.

    Parameters
    ----------
    table : dict of str to array
        The engine's table of buckets, in order.
    longest : array of float
        The longest duration of each histogram, which is known exactly [s].
    fractions : sequence of float
        Fractions of the durations, in (0, 1].

    Returns
    -------
    list of array of float
        For each fraction, and for each histogram, the least duration [s] that this fraction does not exceed, off by
        0.8% at most; nan where nothing was counted.
    """
    counts = table["count"].astype(np.int64)
    ends = np.searchsorted(table["row"], np.arange(len(longest)), side="right")
    up_to = np.concatenate([[0], np.cumsum(counts)])
    last = up_to[ends]
    before = np.concatenate([[0], last[:-1]])[: len(last)]
    total = last - before
    known, found = total > 0, []
    for fraction in fractions:
        # 0.95 * 100 is a little more than 95 in binary.
        rank = np.clip(np.ceil(fraction * total - 1e-9 * total), 1, None).astype(np.int64)
        places = np.searchsorted(up_to[1:], before + rank)
        values = np.full(len(longest), np.nan)
        values[known] = middles_s(table)[places[known]]
        found.append(np.where(rank >= total, np.where(known, longest, np.nan), np.minimum(values, longest)))
    return found


def percentiles(table: Columns, row: int, longest: float, fractions: Sequence[float]) -> list[float]:
    """Compute percentiles of one histogram of a table, as `percentiles_of_rows`."""
    own = table["row"] == row
    single = {name: values[own] for name, values in table.items()} | {"row": np.zeros(int(own.sum()), np.int64)}
    return [float(values[0]) for values in percentiles_of_rows(single, np.array([longest]), fractions)]


def rank_of(fraction: float, total: int) -> int:
    """Give the rank of a percentile among sorted values, from 1 on: the least that leaves no more above.

    Examples
    --------
    >>> rank_of(0.5, 4), rank_of(0.95, 100), rank_of(0.95, 3)
    (2, 95, 3)
    """
    # 0.95 * 100 is a little more than 95 in binary.
    return min(total, max(1, int(np.ceil(fraction * total - 1e-9 * total))))
