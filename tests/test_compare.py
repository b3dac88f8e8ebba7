"""Theory beside simulation: the difference, its interval, and both as a table and a picture."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ackclock
from ackclock.comparison import Comparison, compare
from ackclock.prediction import Pair
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


def test_the_picture_draws_the_lines_of_the_theory() -> None:
    found = comparison(9_990, 10_010)
    windows = found.picture().axes[0]
    dashed: list[Any] = [np.asarray(line.get_ydata())[0] for line in windows.lines if line.get_linestyle() == "--"]
    assert dashed == [line.value for line in found.reference_lines] == [100.0]
    assert "receiver's window = 100" in [text.get_text() for text in windows.texts]


def test_a_notebook_shows_the_tables() -> None:
    assert "receiver&#x27;s window" in comparison(9_000)._repr_html_().lower()


BUSY = Path(__file__).parents[1] / "scenarios" / "mobile-busy-priority.toml"


def by_rounds(**changes: Any) -> dict[str, Pair]:
    found = compare(ackclock.run(BUSY, overrides={"run.duration": "700 s", **changes}, picture=False))
    return {pair.key: pair for pair in found.pairs if pair.model == "measured-rounds"}


def test_the_rounds_of_a_run_predict_its_throughput_three_ways() -> None:
    found = by_rounds(**{"run.replications": 4})
    assert found["fixed_bps"].predicted < found["variable_bps"].predicted < found["markov_bps"].predicted
    assert found["markov_bps"].low < found["markov_bps"].simulated < found["markov_bps"].high
    assert found["markov_bps"].difference == pytest.approx(0.0, abs=0.15)
    assert found["fixed_bps"].subject == found["markov_bps"].subject
    assert "in 8 states" in found["markov_bps"].subject


def test_rounds_of_the_warm_up_are_left_out() -> None:
    mean = by_rounds()["mean_round_trip_s"]
    count = int(mean.subject.split(", ")[1].split()[0].replace(",", ""))
    assert count * mean.predicted == pytest.approx(700.0 - 200.0, rel=0.05)


def test_without_a_trace_of_rounds_the_comparison_says_how_to_get_one() -> None:
    changes = {"trace.rounds": False, "run.duration": "300 s"}
    found = compare(ackclock.run(BUSY, overrides=changes, picture=False))
    (reasons,) = (one.reasons for one in found.inapplicable if one.model == "measured-rounds")
    assert "trace.rounds = true" in reasons[0]


def test_a_run_too_short_for_a_fit_says_so() -> None:
    found = compare(ackclock.run(BUSY, overrides={"run.duration": "201 s"}, picture=False))
    (reasons,) = (one.reasons for one in found.inapplicable if one.model == "measured-rounds")
    assert "it takes 100" in reasons[0]
