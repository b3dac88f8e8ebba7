import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.stats import estimate, estimates, jain_index, student_t


@pytest.mark.parametrize(
    ("confidence", "degrees", "expected"),
    [(0.95, 1, 12.706), (0.95, 4, 2.776), (0.99, 9, 3.250), (0.90, 30, 1.697)],
)
def test_student_t_is_the_printed_table_s(confidence: float, degrees: int, expected: float) -> None:
    assert student_t(confidence, degrees) == pytest.approx(expected, abs=5e-4)


def test_one_value_has_no_interval() -> None:
    assert estimate([3.0], 0.95) == {"mean": 3.0, "low": None, "high": None, "n": 1}


def test_an_exact_value_is_its_own_interval() -> None:
    assert estimate([3.0], 0.95, exact=True) == {"mean": 3.0, "low": 3.0, "high": 3.0, "n": 1}


def test_what_was_not_measured_does_not_count() -> None:
    found = estimate([math.nan, 1.0, math.inf, 3.0], 0.95)
    assert (found["mean"], found["n"]) == (2.0, 2)
    assert estimate([math.nan], 0.95) == {"mean": None, "low": None, "high": None, "n": 0}


def test_a_table_is_estimated_column_by_column() -> None:
    table = np.array([[1.0, math.nan, 5.0], [2.0, 4.0, math.nan], [4.0, math.nan, math.nan]])
    assert estimates(table, 0.9)[0] == pytest.approx(estimate(table[:, 0], 0.9))
    assert [found["n"] for found in estimates(table, 0.9)] == [3, 1, 1]
    assert estimates(table, 0.9)[1] == {"mean": 4.0, "low": None, "high": None, "n": 1}


def test_the_interval_holds_the_mean_as_often_as_it_says() -> None:
    draws = np.random.default_rng(7).normal(5.0, 2.0, size=(4000, 5))
    found = estimates(draws.T, 0.9)
    holds = sum(row["low"] <= 5.0 <= row["high"] for row in found if row["low"] is not None and row["high"] is not None)
    # 90% of 4000 with four standard deviations of the binomial on each side
    assert holds / 4000 == pytest.approx(0.9, abs=4 * math.sqrt(0.09 / 4000))


@given(st.lists(st.floats(0.0, 1e9), min_size=1, max_size=50))
def test_jain_s_index_lies_between_one_nth_and_one(shares: list[float]) -> None:
    index = jain_index(shares)
    if any(share > 1e-100 for share in shares):
        assert 1.0 / len(shares) - 1e-9 <= index <= 1.0 + 1e-9
    assert jain_index([share + 1.0 for share in [shares[0]] * 5]) == pytest.approx(1.0)
