"""Pings: their rows, tables and traces."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ackclock
from ackclock.quantities import PING_QUANTITIES
from ackclock.report import ping_table
from ackclock.result import Result

LINK = {"name": "link", "rate": "1 Mbit/s", "delay": "20 ms", "buffer": "20 pkt"}
PING = {"name": "ping", "path": ["link"], "traffic": {"kind": "ping", "interval": "100 ms"}}
BULK = {"name": "bulk", "path": ["link"]}


def scenario(*flows: dict[str, Any], **run: object) -> dict[str, Any]:
    return {"link": [LINK], "flow": list(flows), "run": {"duration": "20 s", **run}}


def test_a_ping_alone_has_the_round_trip_of_the_path() -> None:
    result = ackclock.run(scenario({**PING, "two_way_propagation": "60 ms"}), threads=1)
    row = result.pings.loc["ping"]
    exact = 0.06 + 2 * 84 * 8 / 1e6
    assert (row["sent"], row["answered"], row["lost"], row["loss_fraction"]) == (201, 200, 0, 0.0)
    for name in ("min", "mean", "p50", "p95", "p99", "max"):
        assert row[f"rtt_{name}_s"] == pytest.approx(exact, rel=0.008 if name in {"p50", "p95"} else 1e-12)
    assert row["rtt_mdev_s"] == pytest.approx(0.0, abs=1e-8)
    flow = result.flows.loc["ping"]
    assert flow["throughput_bps"] == pytest.approx(84 * 8 * 201 / 20, rel=0.01)
    assert flow[["rtt_mean_s", "cwnd_mean_packets", "fct_mean_s", "finish_s"]].isna().all()


def test_percentiles_and_mdev_are_those_of_the_trace() -> None:
    given = scenario(BULK, PING, duration="300 s", warmup="30 s") | {"trace": {"rtt": True}}
    result = ackclock.run(given, threads=1)
    trace = result.traces["rtt"].query("flow == 'ping'")
    rtts = trace["rtt_s"][trace["time_s"] - trace["rtt_s"] >= 30.0 - 1e-9]
    row = result.pings.loc["ping"]
    assert len(rtts) == row["answered"] > 2500
    assert row["rtt_mean_s"] == pytest.approx(rtts.mean(), rel=1e-9)
    assert (row["rtt_min_s"], row["rtt_max_s"]) == pytest.approx((rtts.min(), rtts.max()), rel=1e-12)
    assert row["rtt_mdev_s"] == pytest.approx(rtts.std(ddof=0), rel=1e-6)
    for share in (50, 95, 99):
        expected = rtts.quantile(share / 100, interpolation="lower")
        assert row[f"rtt_p{share}_s"] == pytest.approx(expected, rel=0.01)
    # Next to a long flow a ping waits for the queue, that of 20 packets of 12 ms at most.
    assert 0.1 < row["rtt_mean_s"] < row["rtt_max_s"] <= 0.04 + 20 * 0.012 + 2 * 0.000672
    assert row["sent"] >= row["answered"] + row["lost"] >= row["sent"] - 3
    assert row["loss_fraction"] == row["lost"] / (row["lost"] + row["answered"])


def test_a_replys_path_and_the_size_may_be_given() -> None:
    links = [LINK, {**LINK, "name": "slow", "rate": "100 kbit/s", "delay": "100 ms"}]
    ping = {**PING, "packet": "1000 B", "return_path": ["slow"]}
    result = ackclock.run({"link": links, "flow": [ping], "run": {"duration": "10 s"}}, threads=1)
    assert result.pings.loc["ping", "rtt_min_s"] == pytest.approx(0.02 + 0.008 + 0.1 + 0.08, rel=1e-12)


def test_lost_pings_are_a_ratio_of_those_whose_fate_is_known() -> None:
    link = {**LINK, "loss": {"model": "bernoulli", "probability": 0.1}}
    given = {**scenario({**PING, "count": 20, "start_spread": "100 ms"}, duration="100 s"), "link": [link]}
    row = ackclock.run(given, threads=1).pings.loc["ping"]
    # About 20,000 pings, lost on the way there: four standard errors.
    assert row["loss_fraction"] == pytest.approx(0.1, abs=0.0085)


def test_pings_are_in_json_stored_results_and_tables(tmp_path: Path) -> None:
    result = ackclock.run(scenario(PING), threads=1)
    (row,) = result.summary["pings"]
    assert set(PING_QUANTITIES) < set(row)
    result.save(tmp_path)
    pd.testing.assert_frame_equal(Result.load(tmp_path).pings, result.pings)
    assert "mdev" in result._repr_html_()


def test_the_table_has_what_ping_prints_and_the_median() -> None:
    result = ackclock.run(scenario(BULK, PING), threads=1)
    table = ping_table(result.summary)
    cells = {title.split("\n")[-1]: cell for title, cell in zip(table.headers, table.rows[0], strict=True)}
    row = result.pings.loc["ping"]
    keys = {"min": "min", "avg": "mean", "median": "p50", "95%": "p95", "max": "max", "mdev": "mdev"}
    assert {name: float(cells[name]) for name in keys} == {
        name: pytest.approx(1e3 * row[f"rtt_{key}_s"], rel=1e-3) for name, key in keys.items()
    }
    assert cells["median"] != cells["avg"]


def test_sweeps_have_pings(tmp_path: Path) -> None:
    data = ackclock.sweep(scenario(PING), {"link.link.delay": ["10 ms", "30 ms"]}, out=tmp_path)
    expected = [2 * delay + 2 * 0.000672 for delay in (0.01, 0.03)]
    assert data["ping_rtt_mean_s"].to_numpy().ravel().tolist() == pytest.approx(expected, rel=1e-9)
    assert pd.read_csv(tmp_path / "pings.csv")["ping"].tolist() == ["ping", "ping"]


def test_the_picture_has_round_trips_over_time_and_completion_times() -> None:
    web = {"name": "web", "path": ["link"], "count": 5, "traffic": {"kind": "web", "size": "5 pkt", "off": "1 s"}}
    result = ackclock.run(scenario(BULK, PING, web), threads=1)
    panels = {panel.y_label: panel for panel in result.chart().panels}
    (pings,) = panels["RTT of pings [ms]"].curves
    assert pings.label == "ping"
    row = result.pings.loc["ping"]
    assert (pings.y.min(), pings.y.max()) == pytest.approx((1e3 * row["rtt_min_s"], 1e3 * row["rtt_max_s"]), rel=1e-9)
    (completed,) = panels["fraction of transfers"].curves
    assert completed.label == f"web: {row_of(result, 'transfers'):.0f} transfers"
    assert completed.y[-1] == 1.0
    median = completed.x[(completed.y >= 0.5).argmax()]
    assert median == pytest.approx(row_of(result, "fct_p50_s"), rel=0.02)
    without = ackclock.run(scenario(BULK), threads=1).chart()
    longer = "packets with a longer one [%]"
    assert [panel.y_label for panel in without.panels] == ["cwnd [packets]", "queue [packets]", longer, longer]


def row_of(result: Result, quantity: str) -> float:
    return float(result.completions[quantity].iloc[0])
