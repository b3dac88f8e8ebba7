"""Classes of packets at links: waits, drops and marks of each, and the causes of drops."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ackclock
from ackclock.quantities import CLASS_QUANTITIES
from ackclock.result import Result


def link(queue: object, **more: Any) -> dict[str, Any]:
    return {"name": "home", "rate": "10 Mbit/s", "delay": "10 ms", "buffer": "100 pkt", "queue": queue, **more}


def poisson(name: str, rate: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "path": ["home"], "packet": "1250 B", "traffic": {"kind": "poisson", "rate": rate}, **more}


def run(queue: object, *flows: dict[str, Any], link_has: dict[str, Any] | None = None, **more: Any) -> Result:
    given = {"link": [link(queue, **(link_has or {}))], "flow": list(flows), "run": {"duration": "200 s", **more}}
    return ackclock.run(given, threads=1)


def of_class(result: Result, name: str) -> Any:
    """Give the row of a class at the link."""
    return result.classes.loc[("home", name)]


def test_the_mean_waits_of_priority_levels_are_those_of_cobhams_formula() -> None:
    """M/D/1 with two levels without interruption, W1 = R / (1 - rho1), W2 = W1 / (1 - rho) (Cobham 1954)."""
    result = run(
        "priority",
        poisson("voice", "3 Mbit/s"),
        poisson("bulk", "5 Mbit/s", priority=1),
        link_has={"buffer": "100000 pkt"},
        duration="2000 s",
        replications=4,
    )
    rows, service_s = result.classes, 0.001
    residual_s = 0.8 * service_s / 2
    expected = {"level 0": residual_s / (1 - 0.3), "level 1": residual_s / ((1 - 0.3) * (1 - 0.8))}
    for level, mean_s in expected.items():
        row = of_class(result, level)
        assert row["queueing_mean_s_low"] <= row["queueing_mean_s"] <= row["queueing_mean_s_high"]
        assert row["queueing_mean_s"] == pytest.approx(mean_s, rel=0.02)
    assert list(rows.index) == [("home", "level 0"), ("home", "level 1")]


def test_flows_of_a_fair_queue_have_a_row_for_each_table_and_sum_up_to_the_link() -> None:
    flows = (poisson("heavy", "12 Mbit/s"), poisson("light", "400 kbit/s", count=5))
    result = run("fq", *flows)
    rows, home = result.classes, result.links.loc["home"]
    assert list(rows.index) == [("home", "heavy"), ("home", "light")]
    assert rows["dropped_packets"].sum() == home["dropped_packets"] > 1000
    assert of_class(result, "light")["dropped_packets"] == 0
    assert rows["throughput_bps"].sum() == pytest.approx(home["throughput_bps"], rel=1e-4)
    assert rows["queueing_max_s"].max() == home["queueing_max_s"]
    weights = rows["throughput_bps"] / rows["throughput_bps"].sum()
    assert (weights * rows["queueing_mean_s"]).sum() == pytest.approx(home["queueing_mean_s"], rel=1e-3)
    assert of_class(result, "light")["queueing_p99_s"] < 0.01 < of_class(result, "heavy")["queueing_p50_s"]


def test_l4s_waits_less_than_classic_traffic_and_is_marked() -> None:
    flows = [
        {"name": name, "path": ["home"], "packet": "1500 B", "tcp": tcp}
        for name, tcp in (("one", "draft-prague"), ("two", "linux-cubic"))
    ]
    result = run("dualpi2", *flows, duration="60 s", warmup="10 s")
    l4s, classic = of_class(result, "L4S"), of_class(result, "classic")
    assert 3 * l4s["queueing_p99_s"] < classic["queueing_p50_s"]
    assert l4s["marked_fraction"] > 0.01
    assert l4s["dropped_packets"] == 0 < classic["dropped_packets"]
    text = str(result)
    assert "home: L4S" in text
    assert "home: classic" in text
    percentiles = [l4s[f"queueing_{name}_s"] for name in ("p50", "p95", "p99", "max")]
    assert all(low <= high for low, high in pairwise(percentiles))


@pytest.mark.parametrize(("queue", "more"), [("drop-tail", {}), ("codel", {}), ("fq", {"delays": False})])
def test_a_queue_without_classes_and_a_run_without_delays_have_none(queue: str, more: dict[str, Any]) -> None:
    result = run(queue, poisson("one", "8 Mbit/s"), poisson("two", "1 Mbit/s"), duration="2 s", **more)
    assert "classes" not in result.summary
    assert result.classes.empty
    assert CLASS_QUANTITIES[0] in result.classes.columns


def test_more_than_64_tables_share_the_last_row() -> None:
    flows = [poisson(f"flow{number}", "100 kbit/s") for number in range(70)]
    result = run("fq", *flows, duration="20 s")
    names = [name for _, name in result.classes.index]
    assert names == [*(f"flow{number}" for number in range(63)), "(others)"]
    assert of_class(result, "(others)")["throughput_bps"] == pytest.approx(7 * 1e5, rel=0.2)


def test_a_stored_result_has_its_classes(tmp_path: Path) -> None:
    result = run("fq", poisson("one", "8 Mbit/s"), poisson("two", "1 Mbit/s"), duration="2 s")
    result.save(tmp_path / "out", picture=False)
    loaded = ackclock.Result.load(tmp_path / "out")
    assert loaded.classes.equals(result.classes)
    assert np.isfinite(loaded.classes["queueing_p99_s"]).all()


@pytest.mark.parametrize(
    ("queue", "more", "cause"),
    [
        ("drop-tail", {}, "buffer"),
        ({"discipline": "codel"}, {"buffer": "10000 pkt"}, "aqm"),
        ({"discipline": "step", "threshold": "20 pkt"}, {}, "aqm"),
        ("drop-tail", {"token_bucket": {"kind": "policer", "burst": "20 kB"}}, "policer"),
    ],
)
def test_drops_are_counted_by_their_cause(queue: object, more: dict[str, object], cause: str) -> None:
    home = run(queue, poisson("one", "13 Mbit/s"), link_has=more, duration="20 s").links.loc["home"]
    assert home["dropped_packets"] > 1000
    for name in ("buffer", "aqm", "policer"):
        expected = home["dropped_packets"] if name == cause else 0
        assert home[f"dropped_by_{name}_packets"] == expected


def test_a_link_with_drops_of_two_causes_shows_both() -> None:
    red = {"discipline": "red", "max_probability": 0.05, "max_threshold": "90 pkt", "weight": 0.01}
    result = run(red, poisson("one", "13 Mbit/s"), link_has={"buffer": "60 pkt"}, duration="20 s")
    home = result.links.loc["home"]
    assert home["dropped_by_aqm_packets"] > 10
    assert home["dropped_by_buffer_packets"] > 10
    assert home["dropped_by_aqm_packets"] + home["dropped_by_buffer_packets"] == home["dropped_packets"]
    assert "by full" in str(result)


def test_sweeps_have_the_classes_of_each_point(tmp_path: Path) -> None:
    given = {
        "link": [link({"discipline": "priority", "levels": 2})],
        "flow": [poisson("first", "3 Mbit/s"), poisson("second", "5 Mbit/s", priority=1)],
        "run": {"duration": "20 s", "replications": 3},
    }
    data = ackclock.sweep(given, {"link.home.queue": ["priority", "fq", "drop-tail"]}, out=tmp_path)
    assert data["class"].to_numpy().tolist() == ["home: level 0", "home: level 1", "home: first", "home: second"]
    of_run = of_class(ackclock.run(given, picture=False), "level 0")
    waits = data["class_queueing_mean_s"].sel({"link.home.queue": "priority", "class": "home: level 0"})
    assert float(waits.mean()) == pytest.approx(of_run["queueing_mean_s"], rel=1e-12)
    ends = data.ackclock.interval("class_queueing_mean").sel({"link.home.queue": "priority", "class": "home: level 0"})
    assert (float(ends["low"]), float(ends["high"])) == pytest.approx(
        (of_run["queueing_mean_s_low"], of_run["queueing_mean_s_high"]), rel=1e-9
    )
    missing = data["class_throughput_bps"].sel({"link.home.queue": "drop-tail"})
    assert np.isnan(missing.to_numpy()).all()
    table = pd.read_csv(tmp_path / "classes.csv")
    assert table["class"].tolist() == ["home: level 0", "home: level 1", "home: first", "home: second"]
    assert data.ackclock.plot("class_queueing_p95") is not None
