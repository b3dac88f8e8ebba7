"""Completion times of transfers: what a run's rows, tables and warnings say of them."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ackclock
from ackclock.histograms import percentiles, rank_of
from ackclock.quantities import COMPLETION_QUANTITIES, PERCENTILES
from ackclock.result import Result
from ackclock.wording import seconds

LINK = {"name": "link", "rate": "10 Mbit/s", "delay": "20 ms", "buffer": "1000 pkt"}


def scenario(*flows: dict[str, Any], **run: object) -> dict[str, Any]:
    return {"link": [LINK], "flow": [{"path": ["link"], **flow} for flow in flows], "run": {"duration": "20 s", **run}}


def transfer_durations(result: Result) -> "pd.Series[float]":
    """Find each transfer's time to its last ACK from the trace of all packets; a new one begins after a silence."""
    durations = []
    for _, rows in result.traces["sequence"].groupby(["replication", "flow"], observed=True):
        begun = first = sent = acked = 0.0
        for time, kind, number in zip(rows["time_s"], rows["kind"], rows["sequence"], strict=True):
            if kind == "acknowledged":
                acked = max(acked, number)
                if acked > sent:
                    last = time
            else:
                if number > sent and acked > sent and time > last:
                    durations.append((last, last - begun))
                    begun = time
                elif first == 0.0:
                    begun, first = time, 1.0
                sent = max(sent, number)
        if acked > sent:
            durations.append((last, last - begun))
    return pd.Series([duration for end, duration in durations if end >= result.resolved.run.warmup_s])


def test_percentiles_of_web_sources_are_those_of_their_packets() -> None:
    size = {"law": "exponential-pareto", "mean": "12 pkt"}
    web = {"name": "web", "count": 40, "traffic": {"kind": "web", "size": size, "off": "1 s"}}
    given = scenario(web, duration="60 s", warmup="5 s", replications=2) | {"trace": {"sequence": True}}
    result = ackclock.run(given, threads=1, picture=False)
    durations = transfer_durations(result)
    frame = result.completion_times.query("quantity == 'fct_acked'")
    assert frame["count"].sum() == len(durations) > 1500
    merged = {
        "row": np.zeros(len(frame), int),
        "low_s": frame["low"].to_numpy(),
        "high_s": frame["high"].to_numpy(),
        "count": frame["count"].to_numpy(),
    }
    order = np.argsort(merged["low_s"], kind="stable")
    merged = {name: column[order] for name, column in merged.items()}
    for share in (0.5, 0.95, 0.99):
        (found,) = percentiles(merged, 0, durations.max(), [share])
        exact = durations.sort_values().iloc[rank_of(share, len(durations)) - 1]
        assert found == pytest.approx(exact, rel=0.01)
    row = result.completions.loc["web"]
    assert row["fct_acked_mean_s"] == pytest.approx(durations.mean(), rel=0.02)
    assert 2 * row["transfers"] == len(durations)


def test_percentiles_are_exact_at_the_longest_and_off_by_less_than_a_hundredth_elsewhere() -> None:
    durations = np.random.default_rng(1).lognormal(-2.0, 1.5, 999)
    ends = np.geomspace(1e-6, 1e6, 4000)
    buckets, counts = np.unique(np.searchsorted(ends, durations, side="right") - 1, return_counts=True)
    rows = np.zeros(len(buckets), int)
    table = {"row": rows, "low_s": ends[buckets], "high_s": ends[buckets + 1], "count": counts}
    shares = [0.001, 0.1, 0.5, 0.9, 0.95, 0.99]
    found = percentiles(table, 0, durations.max(), [*shares, 1.0])
    exact = np.sort(durations)[[rank_of(share, 999) - 1 for share in shares]]
    np.testing.assert_allclose(found[:-1], exact, rtol=0.008)
    assert found[-1] == durations.max()
    assert np.isnan(percentiles(table, 1, 1.0, [0.5])[0])


def test_rates_of_a_transfer_are_over_its_own_life() -> None:
    rates = {}
    for start in ("0 s", "10 s"):
        result = ackclock.run(scenario({"size": "500 pkt", "start": start}), threads=1, picture=False)
        flow, row = result.flows.iloc[0], result.completions.iloc[0]
        assert flow["goodput_bps"] == pytest.approx(500 * 12_000 / row["fct_mean_s"], rel=1e-12)
        assert flow["fct_mean_s"] == flow["fct_max_s"] == row["fct_p50_s"] == row["fct_max_s"]
        rates[start] = flow["goodput_bps"]
    assert rates["0 s"] == pytest.approx(rates["10 s"], rel=1e-12)


def test_a_transfer_that_does_not_finish_lives_until_the_end() -> None:
    result = ackclock.run(scenario({"size": "1 GB", "start": "10 s"}), threads=1, picture=False)
    row = result.completions.iloc[0]
    assert (row["transfers"], row["unfinished"]) == (0, 1)
    assert row[["fct_mean_s", "fct_p95_s", "fct_max_s", "slowdown_max"]].isna().all()
    at_once = ackclock.run(scenario({"size": "1 GB"}, duration="10 s"), threads=1, picture=False)
    goodput = at_once.flows.iloc[0]["goodput_bps"]
    assert result.flows.iloc[0]["goodput_bps"] == pytest.approx(goodput, rel=1e-12)


def test_a_flow_that_never_starts_has_no_rate() -> None:
    late = {"name": "late", "size": "10 pkt", "start": "19 s", "start_spread": "1000 s"}
    result = ackclock.run(scenario(late), threads=1, picture=False)
    assert result.flows.loc["late", "goodput_bps"] == 0.0
    assert result.completions.loc["late", "unfinished"] == 1


def test_unfinished_transfers_warn_where_they_would_change_the_percentiles() -> None:
    web = {"name": "web", "count": 100, "traffic": {"kind": "web", "size": "100 pkt", "off": "100 ms"}}
    short = ackclock.run(scenario(web, duration="10 s"), threads=1, picture=False)
    (warning,) = [text for text in short.summary["warnings"] if "did not finish" in text]
    assert "of web" in warning
    assert "95th percentile of completion times is" in warning
    several = ackclock.run(scenario(web, duration="10 s"), replications=3, threads=1, picture=False)
    (warning,) = [text for text in several.summary["warnings"] if "did not finish" in text]
    shown = several.completions["fct_p95_s"].iloc[0]
    assert warning.endswith(f"not {seconds(shown)}")
    rare = {**web, "traffic": {"kind": "web", "size": "3 pkt", "off": "1 s"}}
    calm = ackclock.run(scenario(rare, duration="60 s"), threads=1, picture=False)
    assert calm.completions["unfinished"].iloc[0] > 0
    assert not any("did not finish" in text for text in calm.summary["warnings"])


def lossy(size: str, **run: object) -> dict[str, Any]:
    link = {**LINK, "loss": {"model": "bernoulli", "probability": 0.03, "applies_to": "data"}}
    return scenario({"name": "flow", "size": size}, **run) | {"link": [link]}


def test_percentiles_are_of_all_runs_together_and_the_longest_is_that_of_all() -> None:
    result = ackclock.run(lossy("20 kB", replications=200), picture=False)
    rows = result.completion_times.query("quantity == 'fct'")
    middles = np.sort(np.repeat(((rows["low"] + rows["high"]) / 2.0).to_numpy(), rows["count"].to_numpy(int)))
    assert len(middles) == 200
    (row,) = result.summary["completions"]
    for name, fraction in PERCENTILES.items():
        of_rank = middles[rank_of(fraction, 200) - 1]
        assert row[f"fct_{name}_s"]["mean"] == pytest.approx(min(of_rank, row["fct_max_s"]["mean"]), rel=1e-12)
    assert row["fct_max_s"] == {"mean": pytest.approx(middles[-1], rel=0.01), "low": None, "high": None, "n": 200}
    low, high = row["fct_p95_s"]["low"], row["fct_p95_s"]["high"]
    assert low < row["fct_p95_s"]["mean"] < high <= row["fct_max_s"]["mean"]
    assert row["fct_p99_s"]["low"] is None
    assert not [line for line in result.summary["warnings"] if "has no interval" in line]


def test_the_curve_of_transfers_begins_at_none_even_if_all_take_as_long() -> None:
    document = lossy("20 kB", replications=100)
    document["flow"][0]["start_spread"] = "1 s"
    curves = []
    for loss in (0.0, 0.03):
        document["link"][0]["loss"]["probability"] = loss
        panels = ackclock.run(document).chart().panels
        (curve,) = next(panel for panel in panels if panel.y_label == "fraction of transfers").curves
        assert (curve.y[0], curve.y[-1]) == (0.0, 1.0)
        assert (np.diff(curve.x) > 0.0).all()
        curves.append(curve)
    assert [len(curve.x) == 2 for curve in curves] == [True, False]


def test_a_percentile_without_an_interval_is_named() -> None:
    result = ackclock.run(lossy("20 kB", replications=20), picture=False)
    (warning,) = (line for line in result.summary["warnings"] if "has no interval" in line)
    assert warning.endswith(
        "of flow has no interval, it may be above the longest: 20 transfers in all runs are too few, 76 are the least"
    )
    assert result.summary["completions"][0]["fct_p95_s"]["low"] is None
    alone = ackclock.run(lossy("20 kB"), picture=False)
    assert not [line for line in alone.summary["warnings"] if "has no interval" in line]
    same = ackclock.run(scenario({"size": "20 kB", "start_spread": "1 s"}, replications=3), picture=False)
    assert not [line for line in same.summary["warnings"] if "has no interval" in line]


def test_a_mean_of_some_runs_is_not_said_to_be_of_all() -> None:
    result = ackclock.run(lossy("1 MB", replications=30, duration="3 s"), picture=False)
    finished = sum(row["finish_s"]["n"] for row in result.summary["flows"])
    assert 0 < finished < 30
    assert (
        f"the transfer finished in only {finished} of 30 runs; those that finished took " in result.summary["verdict"]
    )


def test_slowdown_is_one_where_nothing_waits() -> None:
    # The whole transfer is in the first window, so that it takes what the empty path allows.
    tcp = {"preset": "reno-rfc5681", "initial_window": "20 pkt"}
    result = ackclock.run(scenario({"size": "20 pkt", "tcp": tcp}), threads=1, picture=False)
    row = result.completions.iloc[0]
    assert row["fct_mean_s"] == pytest.approx(0.02 + 20 * 1.2e-3, rel=1e-12)
    assert row["slowdown_mean"] == pytest.approx(1.0, rel=1e-12)
    assert row["fct_acked_mean_s"] > row["fct_mean_s"] + 0.02


def test_quantities_are_in_json_and_stored_results(tmp_path: Path) -> None:
    result = ackclock.run(scenario({"name": "one", "size": "20 pkt"}), threads=1, picture=False)
    (row,) = result.summary["completions"]
    assert set(COMPLETION_QUANTITIES) < set(row)
    result.save(tmp_path)
    stored = Result.load(tmp_path)
    pd.testing.assert_frame_equal(stored.completions, result.completions)
    assert stored.completion_times["count"].sum() == 3


def test_results_of_earlier_versions_have_no_completion_times(tmp_path: Path) -> None:
    result = ackclock.run(scenario({"size": "20 pkt"}), threads=1, picture=False)
    summary = deepcopy(result.summary)
    summary.pop("completions")
    for flow in summary["flows"]:
        for name in ("fct_mean_s", "fct_max_s", "fct_acked_mean_s", "slowdown_mean"):
            del flow[name]
    Result(summary, result.resolved, result.version, result.traces).save(tmp_path)
    stored = Result.load(tmp_path)
    assert stored.completions.empty
    assert stored.flows["fct_mean_s"].isna().all()
    assert "FCT" not in stored._repr_html_()


def test_a_scenario_may_ask_for_the_precision_of_a_percentile() -> None:
    web = {"name": "web", "count": 10, "traffic": {"kind": "web", "size": "12 pkt", "off": "1 s"}}
    precision = {"quantity": "completion.web.fct_p95", "within": "20%", "most": 20, "batch": 4}
    result = ackclock.run(scenario(web, precision=precision), threads=1, picture=False)
    found = result.summary["precision"]
    assert found is not None
    assert found["quantity"] == "completion.web.fct_p95_s"
    assert found["reached"] <= 0.2


def test_a_precision_of_a_percentile_is_of_all_runs_together() -> None:
    precision = {"quantity": "completion.flow.fct_p95", "within": "50%", "most": 400, "batch": 20}
    result = ackclock.run(lossy("200 kB", precision=precision), picture=False)
    (row,), found = result.summary["completions"], result.summary["precision"]
    p95 = row["fct_p95_s"]
    assert found is not None
    assert found["reached"] == (p95["high"] - p95["low"]) / 2.0 / p95["mean"] <= 0.5
    # Of fewer than 76 transfers no interval is known.
    assert 76 <= p95["n"] < 400


def test_the_longest_of_all_has_no_precision() -> None:
    document = lossy("20 kB", precision={"quantity": "completion.flow.fct_max", "within": "20%"})
    with pytest.raises(ackclock.ScenarioError, match="which has no interval") as caught:
        ackclock.run(document)
    assert "fct_p95" in str(caught.value)


def test_sweeps_have_completion_times_by_flow_table(tmp_path: Path) -> None:
    flows = ({"name": "one", "size": "20 pkt"}, {"name": "bulk"})
    data = ackclock.sweep(scenario(*flows), {"flow.one.start": ["1 s", "2 s"]}, out=tmp_path)
    assert data["completion_fct_p95_s"].dims == ("flow.one.start", "replication", "completion")
    assert data["completion"].to_numpy().tolist() == ["one"]
    assert (data["completion_fct_p95_s"] > 0.02).all()
    table = pd.read_csv(tmp_path / "completions.csv")
    assert table["completion"].tolist() == ["one", "one"]
    assert table["fct_p95_s"].tolist() == data["completion_fct_p95_s"].to_numpy().ravel().tolist()
    assert not (tmp_path / "pings.csv").exists()


def test_a_sweep_has_percentiles_of_all_runs_together(tmp_path: Path) -> None:
    data = ackclock.sweep(lossy("20 kB"), {"link.link.delay": ["10 ms", "20 ms"]}, replications=100, out=tmp_path)
    table, shown = pd.read_csv(tmp_path / "completions.csv"), data.ackclock.interval("completion_fct_p95")
    assert shown["mean"].to_numpy().ravel().tolist() == table["fct_p95_s"].tolist()
    assert shown["low"].to_numpy().ravel().tolist() == table["fct_p95_s_low"].tolist()
    assert shown["high"].to_numpy().ravel().tolist() == table["fct_p95_s_high"].tolist()
    assert (data["completion_fct_max_s"].max("replication") == data["completion_fct_max_s_pooled"]).all()
    some = data.isel(replication=slice(0, 50)).ackclock.interval("completion_fct_p95")
    np.testing.assert_allclose(some["mean"], data["completion_fct_p95_s"][:, :50].mean("replication"), rtol=1e-12)


def test_over_an_atm_channel_no_slowdown_is_known_and_no_delay_is_longer_than_it_was() -> None:
    # Of the two channels' shares of the trunk the flow has both, as the other channel carries nothing.
    channels = [{"name": name, "path": ["trunk"]} for name in ("used", "idle")]
    document = {
        "atm_link": [{"name": "trunk", "rate": "10 Mbit/s", "delay": "1 ms"}],
        "channel": channels,
        "flow": [{"path": ["used"], "size": "1 pkt", "packet": "1500 B"}],
        "run": {"duration": "1 s"},
    }
    result = ackclock.run(document)
    (flow,), (completion,) = result.summary["flows"], result.summary["completions"]
    # 32 cells of data and 2 RM cells, of 424 bits at 10 Mbit/s, and 1 ms; at half of the rate it would be 3.7 ms.
    needed = pytest.approx(0.001 + 34 * 42.4e-6, rel=1e-9)
    assert flow["delay_max_s"]["mean"] == needed
    assert completion["fct_max_s"]["mean"] == needed
    assert flow["slowdown_mean"]["mean"] is None
    assert completion["slowdown_mean"]["mean"] is None
