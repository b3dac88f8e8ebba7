"""Web sources, private links and sources without TCP, from the scenario to the result's tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ackclock
from ackclock.errors import ResultError
from ackclock.result import Result
from ackclock.scenario.resolved_traffic import EmpiricalSize, WebTraffic

WEB = """
[[link]]
name = "ingress"
rate = "100 Mbit/s"
private = true
[[link]]
name = "shared"
rate = "1 Mbit/s"
buffer = "10 pkt"
[[flow]]
name = "web"
count = {count}
path = ["ingress", "shared"]
rtt = "100 ms"
tcp = "newreno-engset"
traffic = {{ kind = "web", size = {size}, off = {off} }}
[run]
duration = "{duration}"
"""
EXPONENTIAL = '{ law = "exponential", mean = "12 pkt" }'


def at(frame: pd.DataFrame, row: str, column: str) -> float:
    return float(frame[column].to_dict()[row])


def web(
    count: int = 12, size: str = EXPONENTIAL, off: str = '"1 s"', duration: str = "200 s", **run_fields: Any
) -> Result:
    text = WEB.format(count=count, size=size, off=off, duration=duration)
    return ackclock.run(text, picture=False, **run_fields)


@pytest.fixture(scope="module")
def loaded() -> Result:
    return web(replications=2)


def test_tables_of_transfers_agree_with_one_another(loaded: Result) -> None:
    by_size, active = loaded.transfers, loaded.active
    for number in (0, 1):
        sizes, states = by_size[by_size["replication"] == number], active[active["replication"] == number]
        assert sizes["transfers"].sum() == states["transfers"].sum() > 500
        assert sizes["packets"].sum() == states["packets"].sum()
        assert sizes["on_s"].sum() == pytest.approx(states["on_s"].sum())
        assert states["probability"].sum() == pytest.approx(1.0)
        assert states["time_s"].sum() == pytest.approx(200.0)
        inside = sizes[sizes["transfers"] > 0]
        assert (inside["size_mean_packets"] >= inside["from_packets"]).all()
        assert (inside["size_mean_packets"] <= inside["to_packets"]).all()
        assert sizes["share"].sum() == pytest.approx(1.0)


def test_the_summary_has_a_row_of_sources(loaded: Result) -> None:
    (row,) = loaded.summary["sources"]
    assert (row["name"], row["sources"]) == ("web", 12)
    by_size = loaded.transfers.groupby("replication")[["packets", "on_s", "transfers"]].sum()
    rates = by_size["packets"] * 12_000 / by_size["on_s"]
    assert row["rate_bps"]["mean"] == pytest.approx(rates.mean())
    assert row["on_mean_s"]["mean"] == pytest.approx((by_size["on_s"] / by_size["transfers"]).mean())
    # Little's law for the sources: the mean number active is transfers a second, times the mean time of one.
    assert row["active_mean"]["mean"] == pytest.approx(by_size["on_s"].mean() / 200.0, rel=0.02)


def test_drops_by_number_are_drops_of_the_flows(loaded: Result) -> None:
    drops = loaded.sequence_drops
    assert drops["number"].min() == 1
    shared = loaded.summary["links"][2]
    assert drops["drops"].sum() / 2 <= shared["dropped_packets"]["mean"]
    assert drops["drops"].sum() / 2 > 0.95 * shared["dropped_packets"]["mean"]


def test_flows_of_a_group_keep_their_rows(loaded: Result) -> None:
    assert list(loaded.flows.index) == [f"web[{number}]" for number in range(12)]
    assert loaded.flows["cwnd_max_packets"].notna().all()


def test_a_private_link_is_one_row_of_means_and_sums(loaded: Result) -> None:
    links, carried = loaded.links, float(loaded.flows["throughput_bps"].sum())
    offered = at(links, "ingress", "throughput_bps")
    assert offered == pytest.approx(carried / (1 - at(links, "shared", "loss_fraction")), rel=0.01)
    assert at(links, "ingress", "utilisation_fraction") == pytest.approx(offered / 100e6 / 12)


def test_a_large_group_is_one_row() -> None:
    result = web(count=1001, duration="5 s")
    assert list(result.flows.index) == ["web"]
    flows = result.flows
    assert at(flows, "web", "throughput_bps") == pytest.approx(at(result.links, "shared", "throughput_bps"), rel=0.1)
    assert 1.0 <= at(flows, "web", "cwnd_mean_packets") <= 45.0


def test_tables_are_saved_and_read_again(loaded: Result, tmp_path: Path) -> None:
    loaded.save(tmp_path)
    again = Result.load(tmp_path)
    assert again.transfers.equals(loaded.transfers)
    assert again.active.equals(loaded.active)


def test_without_random_laws_one_run_is_exact() -> None:
    result = web(count=1, size='"5 pkt"', off='{ mean = "1 s", law = "fixed" }', duration="50 s", replications=5)
    assert result.summary["deterministic"]
    # Two round trips and two service times of 12 ms, at a rate that never fills the link.
    assert result.summary["sources"][0]["on_mean_s"]["mean"] == pytest.approx(0.224, abs=1e-9)


def test_sizes_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "sizes.txt").write_text("# packets\n4\n9\n\n9\n", encoding="utf-8")
    size = '{ law = "empirical", file = "sizes.txt" }'
    (tmp_path / "web.toml").write_text(WEB.format(count=5, size=size, off='"1 s"', duration="400 s"), encoding="utf-8")
    result = ackclock.run(tmp_path / "web.toml", picture=False)
    traffic = result.resolved.flows[0].traffic
    assert isinstance(traffic, WebTraffic)
    assert traffic.size == EmpiricalSize("empirical", (4, 9, 9))
    share = result.transfers["share"].to_numpy()
    # Of some 1500 transfers a third has 4 packets: four standard errors.
    assert share[0] == pytest.approx(1 / 3, abs=0.05)
    assert share[:2].sum() == pytest.approx(1.0)


def test_datagrams_have_no_window_and_no_round_trip() -> None:
    text = """
[[link]]
name = "link"
rate = "1 Mbit/s"
buffer = "100 pkt"
[[flow]]
name = "steady"
path = ["link"]
packet = "1000 B"
traffic = { kind = "constant", rate = "200 kbit/s" }
[[flow]]
name = "burst"
path = ["link"]
packet = "500 B"
traffic = { kind = "poisson-on-off", rate = "1 Mbit/s", on = "1 s", off = { mean = "3 s", law = "fixed" } }
[run]
duration = "2000 s"
"""
    result = ackclock.run(text, picture=False)
    flows = result.flows
    kept = 1 - at(flows, "steady", "loss_fraction")
    assert at(flows, "steady", "goodput_bps") == pytest.approx(200e3 * kept, rel=0.01)
    # A quarter of the time on; 500 cycles, whose lengths vary by a second each.
    assert at(flows, "burst", "goodput_bps") == pytest.approx(250e3, rel=4 / np.sqrt(500))
    assert np.isnan([at(flows, "steady", "cwnd_mean_packets"), at(flows, "burst", "rtt_mean_s")]).all()
    with pytest.raises(ResultError, match="no flow of the scenario has traffic of the kind web"):
        _ = result.transfers


def test_packets_tell_the_queue_that_they_find() -> None:
    # Flights of 2 and 3 packets on an empty path: the queue is 0, 1; 0, 1; 1, for the ACKs come a service time apart.
    run: dict[str, Any] = {"count": 1, "size": '"5 pkt"', "off": '{ mean = "1 s", law = "fixed" }', "duration": "50 s"}
    found = web(**run, overrides={"trace.queue_distribution": True}).transfers
    seen = found[found["transfers"] > 0]
    assert seen["queue_seen_mean_packets"].tolist() == [pytest.approx(3 / 5)]
    assert seen["arrivals"].tolist() == [5 * seen["transfers"].sum()]
    assert web(**run).transfers["queue_seen_mean_packets"].isna().all()


def test_the_queue_seen_is_that_of_all_arrivals() -> None:
    result = web(overrides={"trace.queue_distribution": True})
    transfers, queue = result.transfers, result.traces["queue_distribution"]
    shared = queue[queue["link"] == "shared"]
    by_transfers = (transfers["queue_seen_mean_packets"] * transfers["arrivals"]).sum() / transfers["arrivals"].sum()
    by_link = (shared["packets"] * shared["arrivals"]).sum() / shared["arrivals"].sum()
    assert by_transfers == pytest.approx(by_link, rel=0.01)
    assert transfers["arrivals"].sum() == pytest.approx(shared["arrivals"].sum(), rel=0.03)


def test_repetitions_in_recoveries_are_told_by_size(loaded: Result) -> None:
    by_size = loaded.transfers.groupby("replication")["recovery_retransmissions"].sum().mean()
    of_flows = float(loaded.recoveries.loc["all flows", "recovery_retransmissions"])  # type: ignore[arg-type]
    assert of_flows > 10
    assert by_size == pytest.approx(of_flows, rel=0.05)


def test_a_transfer_sends_until_its_last_packet_leaves_a_round_trip_before_its_end() -> None:
    # A window's worth of packets on an empty path: all leave at the start, and the transfer takes a round trip.
    run: dict[str, Any] = {"count": 1, "off": '{ mean = "1 s", law = "fixed" }', "duration": "50 s"}
    flight, more = (web(size=f'"{packets} pkt"', **run).transfers for packets in (2, 3))
    assert flight["sending_s"].sum() == 0.0
    assert flight["transfers"].sum() > 10
    sends_s, on_s = (more[key].sum() / more["transfers"].sum() for key in ("sending_s", "on_s"))
    one_s = flight["on_s"].sum() / flight["transfers"].sum()
    assert 0.0 < sends_s < one_s
    assert on_s < sends_s + one_s
