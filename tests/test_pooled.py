"""Percentiles over the values of all replications, and how often their intervals hold the true ones."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from ackclock.histograms import percentiles
from ackclock.pooled import Pooled, extreme_estimate, percentile_estimate, pool

TRIALS = 400


def pooled(values: NDArray[np.float64]) -> Pooled:
    """Pool values of replications by values."""
    flat, replication = values.ravel(), np.repeat(np.arange(len(values)), values.shape[1])
    order = np.argsort(flat)
    return Pooled(replication[order], flat[order], np.ones(flat.size, int), float(flat.max()))


def table(values: NDArray[np.float64], row: int) -> dict[str, NDArray[np.float64]]:
    ends = np.geomspace(1e-3, 1e3, 2000)
    buckets, counts = np.unique(np.searchsorted(ends, values, side="right") - 1, return_counts=True)
    rows = np.full(len(buckets), row)
    return {"row": rows, "bucket": buckets, "low_s": ends[buckets], "high_s": ends[buckets + 1], "count": counts}


@pytest.mark.parametrize("fraction", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("shared", [0.0, 0.3], ids=["independent", "alike-within-a-run"])
@pytest.mark.parametrize(("replications", "values"), [(400, 1), (100, 10), (100, 200), (50, 400)])
def test_intervals_hold_the_true_percentile(replications: int, values: int, shared: float, fraction: float) -> None:
    random, true, held = np.random.default_rng(1), np.exp(norm.ppf(fraction)), []
    for _ in range(TRIALS):
        common = random.normal(size=(replications, 1)) * np.sqrt(shared)
        found = percentile_estimate(
            pooled(np.exp(common + random.normal(size=(replications, values)) * np.sqrt(1.0 - shared))), fraction, 0.95
        )
        if found["low"] is not None and found["high"] is not None:
            held.append(found["low"] <= true <= found["high"])
    assert len(held) > 0.5 * TRIALS
    assert np.mean(held) > 0.92


def test_a_percentile_that_may_be_above_the_longest_has_no_interval() -> None:
    values = np.linspace(1.0, 2.0, 75)[:, None]
    assert percentile_estimate(pooled(values), 0.95, 0.95)["low"] is None
    assert percentile_estimate(pooled(np.linspace(1.0, 2.0, 76)[:, None]), 0.95, 0.95)["high"] == 2.0
    # Ten values of one kind say nothing of the twentieth.
    alike = np.ones((10, 1))
    assert percentile_estimate(pooled(alike), 0.95, 0.95) == {"mean": 1.0, "low": None, "high": None, "n": 10}


def test_one_replication_and_none_have_no_interval() -> None:
    assert percentile_estimate(pooled(np.ones((1, 100))), 0.5, 0.95)["low"] is None
    nothing = Pooled(np.array([], int), np.array([]), np.array([], int), np.nan)
    assert percentile_estimate(nothing, 0.5, 0.95) == {"mean": None, "low": None, "high": None, "n": 0}
    assert extreme_estimate(np.array([np.nan]), np.nan)["mean"] is None


def test_the_interval_of_a_deterministic_scenario_is_a_point() -> None:
    found = percentile_estimate(pooled(np.arange(1.0, 101.0)[None]), 0.5, 0.95, exact=True)
    assert (found["low"], found["mean"], found["high"]) == (50.0, 50.0, 50.0)
    assert extreme_estimate(np.array([2.0]), 2.0, exact=True)["low"] == 2.0


def test_rows_of_several_tables_are_put_together() -> None:
    random = np.random.default_rng(2)
    runs = [random.lognormal(size=50) for _ in range(4)]
    every = np.concatenate(runs)
    tables = [table(values, row=3) for values in runs]
    found = pool(tables, [3], every.min(), every.max())
    assert found.total == 200
    assert found.of_rank(1) == pytest.approx(every.min(), rel=0.008)
    assert found.of_rank(200) == every.max()
    assert found.of_rank(100) == pytest.approx(percentiles(table(every, row=0), 0, every.max(), [0.5])[0], rel=1e-12)
    assert pool(tables, [2], 0.0, np.nan).total == 0
