"""Read-only results: nothing that a reader does with their data changes what they print, draw and save."""

import json
import pickle
from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any

import pytest

from ackclock.errors import ArgumentError
from ackclock.readonly import read_only
from ackclock.result import Result
from test_result import make_result


@pytest.fixture
def result() -> Result:
    return make_result()


@pytest.mark.parametrize(
    "change",
    [
        lambda summary: summary.__setitem__("tcp", "x"),
        lambda summary: summary.pop("flows"),
        lambda summary: summary.update(title="x"),
        lambda summary: summary.__ior__({"title": "x"}),
        lambda summary: summary["flows"].append({}),
        lambda summary: summary["flows"].sort(key=str),
        lambda summary: summary["flows"][0].__delitem__("name"),
        lambda summary: summary["links"][0]["utilisation_fraction"].clear(),
    ],
)
def test_a_summary_cannot_be_changed(result: Result, change: Callable[[Any], object]) -> None:
    before = str(result)
    with pytest.raises(ArgumentError, match="is read-only"):
        change(result.summary)
    assert str(result) == before


def test_its_copies_are_plain_data_that_can_be_changed(result: Result) -> None:
    changed = deepcopy(result.summary)
    changed["flows"][0]["name"] = "other"
    assert [type(one) for one in (changed, changed["flows"], changed["flows"][0])] == [dict, list, dict]
    assert result.summary["flows"][0]["name"] == "flow"
    assert [type(one) for one in (copy(result.summary), result.summary.copy())] == [dict, dict]
    assert json.loads(json.dumps(result.summary)) == result.summary


def test_a_pickled_summary_is_read_only_too(result: Result) -> None:
    again = pickle.loads(pickle.dumps(result))
    assert again.summary == result.summary
    assert again.traces["cwnd"].equals(result.traces["cwnd"])
    with pytest.raises(ArgumentError, match="is read-only"):
        again.summary["flows"].pop()


def test_a_change_of_a_trace_stays_with_whoever_made_it(result: Result) -> None:
    trace, flows = result.traces["cwnd"], result.flows
    trace["cwnd"], flows["timeouts"] = 0.0, 0.0
    assert result.traces["cwnd"]["cwnd"].max() > 0.0
    assert result.flows["timeouts"].max() > 0.0
    assert "cwnd" in result.traces
    assert len(result.traces) == len(list(result.traces))


def test_captures_cannot_be_changed(result: Result) -> None:
    with pytest.raises(ArgumentError, match="is read-only"):
        result.captures["satellite"] = b""  # type: ignore[index]


def test_the_data_that_it_was_made_of_stay_as_they_were() -> None:
    rows = {"rows": [{"name": "a"}]}
    kept = read_only(rows)
    rows["rows"][0]["name"] = "b"
    assert kept == {"rows": [{"name": "a"}]}
