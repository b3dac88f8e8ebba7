import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ackclock import scenario
from benches import ns2_cost, run_bench
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
KEYS = {"scenario", "ns_per_packet", "events_per_packet", "packets", "peak_rss_bytes", "ns2_ns_per_packet"}


def bench(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    (folder / "tiny.toml").write_text(TINY)
    arguments = ["run_bench", "--repeats", "1", "--out", str(folder / "bench.json"), str(folder / "tiny.toml")]
    monkeypatch.setattr(sys, "argv", arguments)
    run_bench.main()
    return list(json.loads((folder / "bench.json").read_text()))


def test_it_leaves_the_agreed_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_bench, "why_no_ns2", lambda: "not wanted here")
    (entry,) = bench(tmp_path, monkeypatch)
    assert set(entry) == KEYS
    assert entry["scenario"] == "tiny"
    assert entry["ns2_ns_per_packet"] is None
    # 20 s at 10 Mbit/s are at most 16667 packets of 1500 bytes
    assert 10_000 < entry["packets"] <= 16_667
    assert entry["ns_per_packet"] > 0


def test_it_says_why_ns2_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ns2, "find_ns", lambda: None)
    (entry,) = bench(tmp_path, monkeypatch)
    assert entry["ns2_ns_per_packet"] is None
    assert "ns-2 is not measured: ns-2 is not installed" in capsys.readouterr().out


def test_flows_that_start_at_random_start_evenly_in_ns2() -> None:
    resolved = scenario.resolve(scenario.load(TINY)).to_dict()
    flows = ns2_cost._evenly_started(resolved)["flows"]
    assert [(flow["start_s"], flow["start_spread_s"]) for flow in flows] == [(0.0, 0.0), (0.5, 0.0)]


@pytest.mark.parametrize("path", sorted(run_bench.SCENARIOS.glob("*.toml")), ids=lambda path: str(path.stem))
def test_each_scenario_has_its_budget(path: Path) -> None:
    assert scenario.resolve(scenario.load(path)).run.replications == 1
    assert path.stem in run_bench.BUDGET_NS


def test_the_ten_node_path_is_the_paper_s() -> None:
    path = scenario.resolve(scenario.load(run_bench.SCENARIOS / "ten-node-path.toml"))
    rates = [path.links[index].rate_bps for index in path.flows[0].path]
    assert rates[1:] == pytest.approx([2 * 1.5e6 - i * 1.5e6 / 11 for i in range(1, 12)], rel=1e-8)
