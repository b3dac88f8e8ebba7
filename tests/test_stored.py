"""Results come back from their folder as they were saved, whatever kinds of rows they have."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ackclock
from ackclock.errors import ResultError
from ackclock.scenario.ready import ready_names
from digest.draw import draw

SHORT = {"run.duration": "6 s", "run.warmup": "1 s", "run.replications": 2}
TRACES = {f"trace.{name}": True for name in ("drops", "losses", "recovery", "rounds")}
ODD = """\
[[link]]
name = "a"
delay = "10 ms"
buffer = "30 pkt"
rate_process = {{ {process} }}
[[link]]
name = "b"
rate = "20 Mbit/s"
queue = {{ discipline = "{queue}" }}
[[flow]]
name = "transfers"
count = 3
path = ["a", "b"]
size = "20 pkt"
[[flow]]
name = "web"
count = 4
path = ["a"]
traffic = {{ kind = "web", size = {{ law = "exponential", mean = "20 pkt" }}, off = "1 s" }}
[[flow]]
name = "ping"
path = ["b"]
traffic = {{ kind = "ping", interval = "100 ms" }}
[[flow]]
name = "late"
path = ["b"]
start = "4 s"
[run]
duration = "6 s"
"""
PROCESSES = {
    "steps": 'kind = "steps", steps = [["0 s", "10 Mbit/s"], ["2 s", "5 Mbit/s"]]',
    "alternating": 'kind = "alternating", states = [{ rate = "4 Mbit/s", least_stay = "1 s" }, '
    '{ rate = "9 Mbit/s", least_stay = "1 s" }]',
    "markov": 'kind = "markov", states = [{ rate = "4 Mbit/s", mean_stay = "1 s" }, '
    '{ rate = "9 Mbit/s", mean_stay = "1 s" }]',
}


def check_it_comes_back(result: ackclock.Result, folder: Path) -> None:
    result.save(folder, picture=False)
    loaded = ackclock.Result.load(folder)
    same = json.dumps(loaded.summary) == json.dumps(result.summary)
    assert same, "the summary is another"  # pytest's comparison of texts this long takes minutes
    assert loaded.resolved == result.resolved
    assert dict(loaded.captures) == dict(result.captures)
    assert sorted(loaded.traces) == sorted(result.traces)
    for name, frame in result.traces.items():
        assert list(loaded.traces[name]) == list(frame)
        for column in frame:  # as arrays: pandas compares names one by one
            np.testing.assert_array_equal(np.asarray(loaded.traces[name][column]), np.asarray(frame[column]))


@pytest.mark.parametrize("name", ready_names())
def test_every_ready_scenario_s_result_comes_back(name: str, tmp_path: Path) -> None:
    # Cells cost the most: a hundredth of a second has some thousands of them.
    shorter = {"run.duration": "50 ms", "run.warmup": "10 ms"} if ackclock.resolve(name).atm is not None else {}
    check_it_comes_back(ackclock.run(name, overrides=SHORT | TRACES | shorter), tmp_path)


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("queue", ["fq-codel", "dualpi2"])
def test_transfers_sources_pings_and_classes_come_back_from_links_whose_rate_changes(
    process: str, queue: str, tmp_path: Path
) -> None:
    result = ackclock.run(ODD.format(process=PROCESSES[process], queue=queue), overrides=SHORT)
    assert {"classes", "completions", "pings", "sources"} <= set(result.summary)
    check_it_comes_back(result, tmp_path)


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_results_of_random_scenarios_come_back(first: int, tmp_path: Path) -> None:
    for number in range(first, first + 8):
        check_it_comes_back(ackclock.run(draw(number)), tmp_path)


@pytest.mark.parametrize(
    ("table", "key", "value", "place"),
    [
        ("links", "rate_changes", 1, "summary.links: the row a: rate_changes: "),
        ("links", "rate_bps", True, "summary.links: the row a: rate_bps: "),
        ("flows", "goodput_bps", True, r"summary.flows: the row transfers\[0\]: goodput_bps: "),
        ("flows", "goodput_bps", {"mean": "1", "low": None, "high": None, "n": 1}, "goodput_bps.mean: "),
    ],
)
def test_what_is_wrong_in_a_row_is_named(table: str, key: str, value: Any, place: str, tmp_path: Path) -> None:
    ackclock.run(ODD.format(process=PROCESSES["steps"], queue="red"), overrides=SHORT).save(tmp_path, picture=False)
    content = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    content["summary"][table][0][key] = value
    (tmp_path / ".ackclock.json").unlink()
    (tmp_path / "result.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ResultError, match=f"result.json: cannot read the result; .*{place}"):
        ackclock.Result.load(tmp_path)
