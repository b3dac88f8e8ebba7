"""Figure 2 of Barakat and Altman (1999) by ns-2.35, as a sweep: rates of the first node, both readings of T."""

import csv
from pathlib import Path
from typing import Any

import pytest

import ackclock

ROOT = Path(__file__).parent.parent.parent
ROWS = list(csv.DictReader((Path(__file__).parent / "ns2_figure_2.csv").read_text(encoding="utf-8").splitlines()))
READINGS = {"prop": "two_way_propagation", "rtt": "rtt"}


@pytest.mark.parametrize("mode", READINGS)
def test_throughput_and_largest_window_are_those_of_ns2(mode: str) -> None:
    rows = [row for row in ROWS if row["T_mode"] == mode]
    text = (ROOT / "scenarios" / "geo-two-nodes.toml").read_text(encoding="utf-8")
    scenario = text.replace('two_way_propagation = "560 ms"', f'{READINGS[mode]} = "560 ms"')
    vary: dict[Any, Any] = {"link.feeder.rate": [f"{row['mu_1_mbps']} Mbit/s" for row in rows]}
    data = ackclock.sweep(scenario, vary, duration="1100 s", warmup="100 s").isel(replication=0, flow=0)
    for row in rows:
        point = data.sel({"link.feeder.rate": 1e6 * float(row["mu_1_mbps"])})
        # Rates that are multiples of one another make ties, which decide a packet: 0.3% in throughput.
        assert float(point.flow_goodput_bps) == pytest.approx(float(row["throughput_bps"]), rel=0.005), row
        assert float(point.flow_cwnd_max_packets) == pytest.approx(float(row["wmax"]), abs=1.01), row
