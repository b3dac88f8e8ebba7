"""The state of AQMs as a trace, and as panels of the picture."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import ackclock
from ackclock.pictures.aqm import aqm_panels


def scenario(queue: dict[str, Any] | str, *, traced: bool = True) -> dict[str, Any]:
    link = {"name": "home", "rate": "20 Mbit/s", "delay": "25 ms", "buffer": "1000 pkt", "queue": queue}
    flow = {"name": "flow", "path": ["home"], "count": 4, "tcp": "linux-cubic", "packet": "1500 B"}
    return {
        "link": [link],
        "flow": [flow],
        "run": {"duration": "20 s"},
        "trace": {"aqm": traced, "drops": traced, "overview_interval": "100 ms"},
    }


def states(queue: dict[str, Any] | str) -> tuple[pd.DataFrame, ackclock.Result]:
    result = ackclock.run(scenario(queue))
    return result.traces["aqm"], result


def test_codels_count_rises_by_one_at_each_drop_and_the_next_one_is_ahead() -> None:
    rows, result = states("codel")
    assert set(rows["link"]) == {"home"}
    dropping = rows[rows["dropping"]]
    drops = result.traces["drops"]["time_s"].to_numpy()
    rises = rows[(rows["count"].diff() == 1) & rows["dropping"]]
    assert len(rises) > 10
    assert np.isin(rises["time_s"].to_numpy(), drops).all()
    assert (dropping["next_drop_s"] > dropping["time_s"]).mean() > 0.99
    assert rows.loc[~rows["dropping"], "next_drop_s"].isna().all()
    assert rows["probability"].isna().all()


def test_a_queue_has_one_colour_in_all_panels() -> None:
    """CAKE's queues have counts and probabilities, the other link's queue a probability alone."""
    document = scenario("cake")
    document["link"].append({"name": "back", "rate": "10 Mbit/s", "buffer": "1000 pkt", "queue": "pie"})
    document["flow"][0]["path"] = ["home", "back"]
    panels = aqm_panels(*((result := ackclock.run(document, picture=False)).resolved, result.traces["aqm"]))
    drawn = [(curve.label, curve.colour) for panel in panels for curve in panel.curves]
    assert len({label for label, _ in drawn}) == len(set(drawn)) < len(drawn)


@pytest.mark.parametrize("discipline", ["pie", "dualpi2", "cobalt"])
def test_probabilities_are_recorded_as_they_change(discipline: str) -> None:
    rows, _ = states(discipline)
    values = rows["probability"].to_numpy()
    assert ((values >= 0) & (values <= 1)).all()
    if discipline != "cobalt":
        assert 0.001 < values.max() < 0.5
        assert (np.diff(np.unique(rows["time_s"])) > 0).all()
    else:
        # The buffer never overflows.
        assert (values == 0).all()


def test_the_average_of_red_lies_between_its_thresholds() -> None:
    rows, _ = states({"discipline": "red", "min_threshold": "20 pkt", "max_threshold": "60 pkt", "weight": 0.02})
    late = rows[rows["time_s"] > 5.0]
    assert 10 < late["average_packets"].mean() < 70
    above = late[late["average_packets"].between(21, 59)]
    expected = 0.1 * (above["average_packets"] - 20) / 40
    assert np.allclose(above["probability"], expected)


def test_each_queue_of_a_flow_has_a_state_of_its_own() -> None:
    rows, result = states({"discipline": "fq-codel", "separation": "perfect"})
    assert set(rows["queue"]) == {0, 1, 2, 3}
    signals = rows.sort_values(["queue", "time_s"], kind="stable").groupby("queue")["count"].diff()
    assert 0 < (signals == 1).sum() <= len(result.traces["drops"])


@pytest.mark.parametrize("discipline", ["codel", "fq-codel", "cake", "pie", "red", "dualpi2", "step"])
def test_a_trace_of_the_aqm_changes_no_number(discipline: str) -> None:
    with_trace, without = (ackclock.run(scenario(discipline, traced=traced)) for traced in (True, False))
    assert with_trace.summary["links"] == without.summary["links"]
    assert with_trace.summary["flows"] == without.summary["flows"]


@pytest.mark.parametrize(
    ("queue", "labels"),
    [
        ("codel", {"CoDel's count of drops"}),
        ("pie", {"drop probability"}),
        ("cobalt", {"CoDel's count of drops", "drop probability"}),
        ("red", {"drop probability", "average queue [packets]"}),
        ("drop-tail", set()),
    ],
)
def test_the_picture_has_a_panel_for_each_quantity(queue: str, labels: set[str]) -> None:
    _, result = states(queue) if queue != "drop-tail" else (None, ackclock.run(scenario(queue)))
    panels = {panel.y_label for panel in result.chart().panels if panel.title == "AQM"}
    assert panels == labels
