import math
import re
from copy import deepcopy
from typing import Any

import pytest

from crosscheck import build, engine, ns2, ties
from crosscheck.__main__ import main
from crosscheck.check import Mark, Report, check
from crosscheck.compare import Change
from crosscheck.ns2_shake import Shake
from crosscheck.outcome import FlowCounts, Outcome, compare_outcomes

COUNTS = FlowCounts(10, 10, 12, 2, 1, 1)


def scenario() -> dict[str, Any]:
    links = [build.link("there", 1_000_003.0, delay_s=0.05, buffer_packets=20), build.link("back", 2_000_003.0)]
    return build.scenario("plain", links, [build.flow("flow", [0], [1], build.sender("tahoe"))], duration_s=10.0)


def outcome(*values: float) -> Outcome:
    return Outcome([[Change(1.0 + number, value) for number, value in enumerate(values)]], [COUNTS], [0, 0])


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch) -> dict[int, Outcome]:
    """Let ns-2 say what the test puts here, by the way of shaking; 0 is the run that is not shaken."""
    said: dict[int, Outcome] = {0: outcome(2.0, 3.0, 4.0)}

    def run(_: dict[str, Any], *, shake: Shake | None = None, until_s: float = math.inf) -> Outcome:
        assert until_s > 0.0
        return said.get(shake.pieces[-1].way if shake else 0, said[0])

    monkeypatch.setattr(ns2, "run", run)
    monkeypatch.setattr(ns2, "find_ns", lambda: "ns")
    return said


@pytest.mark.usefixtures("plays")
def test_the_same_changes_pass() -> None:
    report = check(scenario(), lambda _: outcome(2.0, 3.0, 4.0))
    assert (report.mark, report.compared, report.worst_time_s) == (Mark.PASS, 3, 0.0)


@pytest.mark.usefixtures("plays")
def test_another_change_fails_with_the_first_difference() -> None:
    report = check(scenario(), lambda _: outcome(2.0, 5.0, 4.0))
    assert (report.mark, report.compared) == (Mark.FAIL, 1)
    assert report.detail.startswith("flow: first difference at change 2 ")


def test_a_difference_that_a_shaken_run_shares_is_a_tie(plays: dict[int, Outcome]) -> None:
    plays[5] = outcome(2.0, 5.0, 4.0)
    report = check(scenario(), lambda _: outcome(2.0, 5.0, 4.0))
    assert report.mark is Mark.TIE
    assert report.detail.splitlines()[-1].startswith("run 5 of ns-2, shaken by as much as the clocks differ, agrees")


def test_a_difference_where_ns2_parts_from_itself_another_way_fails(plays: dict[int, Outcome]) -> None:
    plays[5] = outcome(2.0, 6.0, 4.0)
    report = check(scenario(), lambda _: outcome(2.0, 5.0, 4.0))
    assert report.mark is Mark.FAIL
    assert report.detail.splitlines()[-1].endswith("none agrees with ours; the best one does until 2.000000000 s")


@pytest.mark.usefixtures("plays")
def test_an_engine_that_gives_up_fails_with_its_message() -> None:
    def refuse(_: dict[str, Any]) -> Outcome:
        raise ValueError("elements.0.rate_bps: too slow")

    report = check(scenario(), refuse)
    assert report.mark is Mark.FAIL
    assert report.detail == "ackclock: ValueError: elements.0.rate_bps: too slow"


def test_a_buffer_of_one_packet_is_excluded_before_anything_runs() -> None:
    small = scenario()
    small["elements"][0]["buffer"] = {"packets": 1}
    report = check(small, lambda _: outcome())
    assert report.mark is Mark.EXCLUDED
    assert report.detail.startswith("buffer-of-one-packet: ")


@pytest.mark.usefixtures("needs_ns2")
def test_another_threshold_is_found_and_is_no_tie(monkeypatch: pytest.MonkeyPatch) -> None:
    # test_red.py has a longer search.
    monkeypatch.setattr(ties, "MOST_RUNS", 10)
    lossy = scenario()
    lossy["run"]["duration_s"] = 20.0
    other = deepcopy(lossy)
    other["flows"][0]["traffic"]["connection"]["sender"]["dupack_threshold"] = 4
    said = ns2.run(other)
    assert check(lossy, lambda _: ns2.run(lossy)).mark is Mark.PASS
    assert check(lossy, lambda _: said).mark is Mark.FAIL


def test_without_ns2_the_command_says_so_and_succeeds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ns2, "find_ns", lambda: None)
    assert main(["--count", "1"]) == 0
    assert capsys.readouterr().out == "skipped: ns-2 is not installed (Debian: apt-get install ns2)\n"


@pytest.mark.usefixtures("plays")
def test_the_command_tells_each_scenario_and_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter([outcome(2.0, 3.0, 4.0), outcome(2.0, 3.0, 9.0)])
    monkeypatch.setattr("crosscheck.batch.draw", lambda _, count: [scenario() for _ in range(count)])
    monkeypatch.setattr("crosscheck.__main__.check", lambda drawn: check(drawn, lambda _: next(answers)))
    monkeypatch.setattr("crosscheck.means.scenarios", list)
    assert main(["--count", "2", "--elements", "0", "--wide", "0", "--sack", "0", "--ecn", "0", "--jobs", "1"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["PASS", "plain", "3", "changes", "0.0e+00", "s"]
    assert lines[1].split()[:2] == ["FAIL", "plain"]
    assert lines[-1] == "1 passed, 1 failed"


@pytest.mark.usefixtures("plays")
def test_scenarios_with_elements_and_means_are_played_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played: list[str] = []

    def play(drawn: dict[str, Any]) -> Report:
        played.append(drawn["title"])
        return Report(drawn["title"], Mark.PASS)

    monkeypatch.setattr("crosscheck.__main__.check", play)
    monkeypatch.setattr("crosscheck.means.play_engine", lambda _: [[COUNTS], [COUNTS]])
    monkeypatch.setattr("crosscheck.means.play_ns2", lambda *_: [COUNTS])
    assert main(["--count", "1", "--elements", "2", "--wide", "1", "--sack", "1", "--ecn", "0", "--only", "seed2"]) == 0
    assert [name.split("-")[1] for name in played] == ["00", "e00", "e01", "w00", "s00"]
    assert main(["--only", "means-bernoulli"]) == 0
    assert len(played) == 5
    assert capsys.readouterr().out.splitlines()[-1] == "2 passed, 0 failed"


def fails(drawn: dict[str, Any]) -> Report:
    return Report(drawn["title"], Mark.FAIL)


@pytest.mark.usefixtures("plays")
def test_fresh_scenarios_come_from_another_seed_each_time_which_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("crosscheck.__main__.check", lambda drawn: Report(drawn["title"], Mark.PASS))
    plain = ["--count", "0", "--elements", "0", "--wide", "0", "--sack", "0", "--ecn", "0", "--only", "seed"]
    told = []
    for _ in range(2):
        assert main([*plain, "--fresh", "3"]) == 0
        first, *lines = capsys.readouterr().out.splitlines()
        found = re.fullmatch(r"fresh seed (\d+): python -m crosscheck (.*)", first)
        assert found
        assert [line.split()[1].split("-")[:2] for line in lines[:-1]] == [
            [f"seed{found[1]}", f"w{number:02d}"] for number in range(3)
        ]
        assert main(found[2].split()) == 0
        assert capsys.readouterr().out.splitlines() == lines
        told.append(found[1])
    assert told[0] != told[1]


@pytest.mark.usefixtures("plays")
def test_a_failure_comes_with_the_command_that_repeats_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("crosscheck.__main__.check", fails)
    none = [word for name in ("count", "elements", "wide", "sack", "ecn") for word in (f"--{name}", "0")]
    assert main([*none, "--fresh", "2", "--only", "seed"]) == 1
    lines = capsys.readouterr().out.splitlines()
    commands = [line.removeprefix("    repeat: python -m crosscheck ") for line in lines if "repeat:" in line]
    failed = [line for line in lines if line.startswith("FAIL")]
    assert len(commands) == len(failed) == 2
    for command, line in zip(commands, failed, strict=True):
        assert main(command.split()) == 1
        assert capsys.readouterr().out.splitlines()[0] == line


def test_the_engines_columns_are_split_by_flow() -> None:
    class Column(list[float]):
        def tolist(self) -> list[float]:
            return list(self)

    trace = {
        "flow": Column([0, 1, 0]),
        "time_s": Column([1, 2, 3]),
        "cwnd": Column([2, 2, 3]),
        "ssthresh": Column([9, 8, 9]),
    }
    assert engine.read_changes(trace, 2) == [[Change(1, 2, 9), Change(3, 3, 9)], [Change(2, 2, 8)]]


def test_a_source_without_tcp_has_no_window_so_any_is_a_difference() -> None:
    mixed = scenario()
    mixed["flows"].append(build.source("source", [0], build.constant(0.1, 500)))
    silent, windowed = (Outcome([[], changes], [COUNTS] * 2, [0, 0]) for changes in ([], [Change(1.0, 1.0)]))
    assert [verdict.passed for verdict in compare_outcomes(mixed, silent, silent)] == [True, True]
    assert [verdict.passed for verdict in compare_outcomes(mixed, silent, windowed)] == [True, False]
