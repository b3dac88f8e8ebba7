"""Theory beside simulation: the difference, its interval, and both as a table and a picture."""

from typing import Any

import numpy as np
import pytest

from ackclock.comparison import Comparison, Pair, compare
from ackclock.result import Result
from fakes import make_flow, make_replication, make_resolved

SENDER = {"max_window": 100, "rto": {"min_s": 1.0, "initial_s": 3.0}, "initial_window": 1.0}


def comparison(*received: int) -> Comparison:
    flow = make_flow("flow", start_spread_s=0.5, sender=SENDER)
    resolved = make_resolved(flows=[flow], trace={"overview_interval_s": 1.0})
    replications = [
        make_replication(resolved, number, {"received_packets": packets}) for number, packets in enumerate(received)
    ]
    return compare(Result.from_replications(resolved, replications, version="0.0"))


def throughput(found: Comparison) -> Pair:
    return next(pair for pair in found.pairs if (pair.model, pair.key) == ("window", "throughput_bps"))


def test_the_difference_is_a_part_of_the_simulation() -> None:
    pair = throughput(comparison(10_000, 10_000))
    assert pair.simulated == pytest.approx(10_000 * 4096 / 80.0)
    assert pair.difference == pytest.approx(pair.predicted / pair.simulated - 1.0)


def test_its_interval_comes_from_the_replications() -> None:
    pair = throughput(comparison(9_990, 10_010))
    low, high = pair.difference_interval
    assert low == pytest.approx(pair.predicted / pair.high - 1.0)
    assert low < pair.difference < high


def test_one_replication_gives_no_interval() -> None:
    assert np.isnan(throughput(comparison(9_000)).difference_interval).all()


def test_the_table_has_all_numbers() -> None:
    table = comparison(9_990, 10_010).table
    assert {"model", "key", "predicted", "simulated", "low", "high", "difference"} <= set(table.columns)
    assert len(table) == len(comparison(9_990, 10_010).pairs)


def test_json_has_no_value_where_there_is_none() -> None:
    (window,) = (one for one in comparison(9_000).to_dict()["models"] if one["model"] == "window")
    assert window["numbers"][0]["low"] is None
    assert window["numbers"][0]["difference"] == pytest.approx(throughput(comparison(9_000)).difference)


def test_the_plot_has_a_dot_a_number_that_a_run_measures() -> None:
    found = comparison(9_990, 10_010)
    (axes,) = found.plot().axes
    both = [pair for pair in found.pairs if np.isfinite(pair.difference)]
    assert [label.get_text().split("\n")[0] for label in axes.get_yticklabels()] == [pair.text for pair in both]


def test_the_picture_draws_the_levels_of_the_theory() -> None:
    found = comparison(9_990, 10_010)
    windows = found.picture().axes[0]
    dashed: list[Any] = [np.asarray(line.get_ydata())[0] for line in windows.lines if line.get_linestyle() == "--"]
    assert dashed == [level.value for level in found.levels] == [100.0]
    assert "receiver's window = 100" in [text.get_text() for text in windows.texts]


def test_a_notebook_shows_the_tables() -> None:
    assert "receiver&#x27;s window" in comparison(9_000)._repr_html_().lower()
