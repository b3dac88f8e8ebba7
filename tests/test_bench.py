import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from ackclock import scenario
from benches import compare, lab_latency, ns2_cost, run_bench
from benches.calibration import Calibration
from benches.checkout import HERE, Checkout
from benches.cost import Cost
from benches.rows import BUDGET_STEPS, TODAY, Row
from crosscheck import ns2

TINY = """\
title = "tiny"
[[link]]
name = "bottleneck"
rate = "10 Mbit/s"
buffer = "20 pkt"
[[flow]]
count = 2
path = ["bottleneck"]
rtt = "50 ms"
start_spread = "1 s"
tcp = "newreno-ns2"
[run]
duration = "20 s"
"""
KEYS = {
    *{"row", "scenario", "tcp", "times_own_tcp", "most_times_own_tcp"},
    *{"packets", "events_per_packet", "steps_per_packet", "budget_steps_per_packet", "ns2_ratio"},
    *{"ns_per_packet", "ns2_ns_per_packet", "peak_rss_bytes"},
}


def bench(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str, repeats: int = 1) -> dict[str, Any]:
    monkeypatch.setattr(run_bench, "HERE", checkout(folder, TINY))
    arguments = ["run_bench", "--repeats", str(repeats), "--out", str(folder / "bench.json"), *names]
    monkeypatch.setattr(sys, "argv", arguments)
    run_bench.main()
    return dict(json.loads((folder / "bench.json").read_text()))


def test_it_leaves_the_documented_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_bench, "why_no_ns2", lambda: "not wanted here")
    record = bench(tmp_path, monkeypatch, "tiny")
    (entry,) = record.pop("scenarios")
    assert set(entry) == KEYS
    assert entry["scenario"] == "tiny"
    assert entry["ns2_ns_per_packet"] is entry["ns2_ratio"] is None
    # 20 s at 10 Mbit/s are at most 16667 packets of 1500 bytes
    assert 10_000 < entry["packets"] <= 16_667
    assert entry["ns_per_packet"] > 0
    assert (record["form"], record["repeats"]) == (run_bench.FORM, 1)
    text = Path(run_bench.__file__).with_name("README.md").read_text()
    assert {field for field in (KEYS | set(record) | {"scenarios"}) if f"| `{field}` |" not in text} == set()


def test_a_cost_is_a_ratio_to_the_calibrations_around_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps_ns = iter([10.0, 30.0, 40.0, 80.0])
    monkeypatch.setattr(run_bench, "why_no_ns2", lambda: "not wanted here")
    monkeypatch.setattr(Calibration, "ns_per_step", lambda _: next(steps_ns))
    costs = iter([Cost(100, 200, 4e-6, 7), Cost(100, 200, 6e-6, 9)])
    monkeypatch.setattr(Checkout, "run", lambda *_: next(costs))
    record = bench(tmp_path, monkeypatch, "tiny", repeats=2)
    # 40 ns a packet over 20 ns a step, 60 over 60
    assert record["scenarios"][0]["steps_per_packet"] == {"min": 1.0, "median": 1.5, "max": 2.0}
    assert record["scenarios"][0]["ns_per_packet"] == 50.0
    assert record["calibration_step_ns"] == {"min": 20.0, "median": 40.0, "max": 60.0}


def test_today_s_tcp_is_compared_with_the_scenario_s_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_bench, "why_no_ns2", lambda: "not wanted here")
    monkeypatch.setattr(lab_latency, "why_not_measured", lambda: "not wanted here")
    today = Row("tiny-cubic", "tiny", "linux-cubic", 1.8)
    monkeypatch.setattr(run_bench, "rows", lambda _: [Row("tiny", "tiny"), today])
    own, cubic = bench(tmp_path, monkeypatch, repeats=2)["scenarios"]
    assert (own["tcp"], own["times_own_tcp"], own["most_times_own_tcp"]) == (None, None, None)
    assert (cubic["scenario"], cubic["tcp"], cubic["most_times_own_tcp"]) == ("tiny", "linux-cubic", 1.8)
    assert cubic["packets"] != own["packets"]
    assert 0.0 < cubic["times_own_tcp"]["min"] <= cubic["times_own_tcp"]["median"]
    assert bench(tmp_path, monkeypatch, "tiny-cubic")["scenarios"][0]["times_own_tcp"] is None


def test_an_unknown_row_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        bench(tmp_path, monkeypatch, "huge")
    assert "no row named huge; allowed tiny, linux-cubic-one," in capsys.readouterr().err


@pytest.mark.parametrize("row", TODAY, ids=lambda row: row.name)
def test_rows_of_today_s_tcp_can_be_resolved_for_both(row: Row) -> None:
    control = row.resolved(HERE)["flows"][0]["traffic"]["connection"]["sender"]["congestion_control"]["name"]
    assert row.name.startswith(f"linux-{control}")
    form = row.for_ns2(HERE)
    assert (form is None) is ("web" in row.name or "fq-codel" in row.name), "ns-2 has neither"
    if form is not None:
        connection = form["flows"][0]["traffic"]["connection"]
        assert connection["sender"]["recovery"] == "sack1"
        assert connection["receiver"]["ack_every"] == 2, "as many ACKs as the receivers of today's hosts send"


def test_the_calibration_s_work_is_what_it_was(tmp_path: Path) -> None:
    # the program compares its check sum, and fails where the work has changed
    assert Calibration.compiled(tmp_path).ns_per_step() > 0.0


def test_it_says_why_ns2_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ns2, "find_ns", lambda: None)
    (entry,) = bench(tmp_path, monkeypatch, "tiny")["scenarios"]
    assert entry["ns2_ns_per_packet"] is None
    assert "ns-2 is not measured: ns-2 is not installed" in capsys.readouterr().out


def checkout(root: Path, text: str) -> Checkout:
    (root / "benches" / "scenarios").mkdir(parents=True, exist_ok=True)
    (root / "benches" / "scenarios" / "tiny.toml").write_text(text)
    here = HERE.root.resolve()
    for name in ("benches/one_run.py", "python"):
        if not (root / name).exists():
            (root / name).symlink_to(here / name)
    return Checkout(root)


@pytest.mark.parametrize(("duration", "word"), [("20 s", "same"), ("21 s", "differ")])
def test_two_builds_are_compared_scenario_by_scenario(
    duration: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    base = checkout(tmp_path / "base", TINY.replace("20 s", duration))
    monkeypatch.setattr(compare, "HERE", checkout(tmp_path / "new", TINY))
    monkeypatch.setattr(sys, "argv", ["compare", "--rounds", "2", str(base.root)])
    compare.main()
    (row,) = [line for line in capsys.readouterr().out.splitlines() if "tiny" in line]
    name, *numbers, packets_and_events = row.split()
    assert (name, len(numbers), packets_and_events) == ("tiny", 6, word)


def test_the_build_that_goes_first_changes_from_round_to_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base, new = checkout(tmp_path / "base", TINY), checkout(tmp_path / "new", TINY)
    order = []

    def run(build: Checkout, _: object) -> Cost:
        order.append(build.root.name)
        return Cost(1, 1, {"base": 2.0, "new": 3.0}[build.root.name], 1)

    monkeypatch.setattr(Checkout, "run", run)
    pairs = list(islice(compare.take_turns(base, new, "tiny", 1.0), 4))
    assert order == ["base", "new", "new", "base"] * 2
    assert [pair.ratio for pair in pairs] == [1.5] * 4


def test_a_checkout_without_an_engine_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["compare", str(tmp_path)])
    with pytest.raises(SystemExit):
        compare.main()
    assert "has no engine: build it there with `make build`" in capsys.readouterr().err


def test_flows_that_start_at_random_start_evenly_in_ns2() -> None:
    resolved = scenario.resolve(scenario.load(TINY))
    flows = ns2_cost._evenly_started(resolved).flows
    assert [(flow.start_s, flow.start_spread_s) for flow in flows] == [(0.0, 0.0), (0.5, 0.0)]


@pytest.mark.parametrize("path", HERE.scenarios().values(), ids=HERE.scenarios())
def test_each_scenario_has_its_budget(path: Path) -> None:
    assert scenario.resolve(scenario.load(path)).run.replications == 1
    assert path.stem in BUDGET_STEPS


def test_the_ten_node_path_is_the_paper_s() -> None:
    path = scenario.resolve(scenario.load(HERE.scenarios()["ten-node-path"]))
    rates = [path.elements[index].rate_bps for index in path.flows[0].path]
    assert rates[1:] == pytest.approx([2 * 1.5e6 - i * 1.5e6 / 11 for i in range(1, 12)], rel=1e-8)


def test_the_latency_of_the_page_is_a_median_and_a_percentile() -> None:
    found = lab_latency.Latency("a", [float(number) for number in range(1, 102)], [7.0])
    assert found.record() == {"lesson": "a", "moves": 101, "median_ms": 51.0, "p95_ms": 96.0, "server_median_ms": 7.0}
