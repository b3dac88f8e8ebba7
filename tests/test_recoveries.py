import math

import pytest

import ackclock
from ackclock.recoveries import ALL_FLOWS
from ackclock.result import Result
from fakes import make_flow, make_replication, make_resolved

LOSSY = """
[[link]]
name = "bottleneck"
rate = "2 Mbit/s"
buffer = "8 pkt"
queue = "random-drop"
[[flow]]
name = "web"
count = 6
path = ["bottleneck"]
rtt = "80 ms"
start_spread = "2 s"
tcp = "newreno-engset"
[run]
duration = "120 s"
seed = 3
[trace]
losses = true
recovery = true
rounds = true
"""


@pytest.fixture(scope="module")
def lossy() -> Result:
    return ackclock.run(LOSSY, picture=False)


def test_the_kinds_of_timeouts_add_up(lossy: Result) -> None:
    table = lossy.recoveries
    kinds = ["at_beginning", "at_end", "repeated", "in_recovery", "other"]
    assert float(table["timeouts"].iloc[-1]) > 20
    assert (table[[f"timeouts_{kind}" for kind in kinds]].sum(axis=1) == table["timeouts"]).all()


def test_the_last_row_is_the_sum_of_all_flows(lossy: Result) -> None:
    table = lossy.recoveries
    assert table["timeouts"].iloc[:-1].sum() == table.loc[ALL_FLOWS, "timeouts"] == lossy.flows["timeouts"].sum()
    assert table["recovery_s"].iloc[:-1].sum() == pytest.approx(table.loc[ALL_FLOWS, "recovery_s"])


def test_counts_and_traces_tell_the_same(lossy: Result) -> None:
    total, events = lossy.recoveries.loc[ALL_FLOWS], lossy.traces["recovery"]
    recovered = events[events["event"] == "recovery"]
    assert len(recovered) == total["recoveries"] > 0
    assert recovered["retransmissions"].sum() == total["recovery_retransmissions"]
    assert recovered["sent_on_end"].sum() == total["recovery_sent_on_end"]
    assert events.loc[events["event"] != "recovery", "duration_s"].sum() == pytest.approx(total["stalled_s"])
    assert (events["event"] == "timeout-repeated").sum() == total["timeouts_repeated"]
    spurious = lossy.traces["losses"].query("spurious")["cause"].value_counts()
    assert spurious["timeout"] == total["spurious_timeouts"] == lossy.flows["spurious_timeouts"].sum()


def test_means_are_of_what_was_counted(lossy: Result) -> None:
    total = lossy.recoveries.loc[ALL_FLOWS]
    assert total["stalled_mean_s"] == pytest.approx(total["stalled_s"] / total["timeouts"])
    assert total["recovery_mean_s"] == pytest.approx(total["recovery_s"] / total["recoveries"])
    # [engset, table 7]: 11.1 packets of 1500 bytes in 614.3 ms are 216.8 kbit/s.
    rate = total["recovery_sent"] * 1500 * 8 / total["recovery_s"]
    assert total["recovery_rate_bps"] == pytest.approx(rate)


def test_a_timeout_in_slow_start_comes_at_the_window_that_was_open(lossy: Result) -> None:
    events = lossy.traces["recovery"]
    assert (events.loc[events["event"] == "timeout-repeated", "window"] == 1).all()
    assert (events["window"] >= 1).all()


def test_rounds_tile_the_time(lossy: Result) -> None:
    for _, rounds in lossy.traces["rounds"].groupby("flow", observed=True):
        starts = rounds["time_s"] - rounds["rtt_s"]
        assert starts.iloc[1:].to_numpy() == pytest.approx(rounds["time_s"].iloc[:-1].to_numpy())
        assert (rounds["rtt_s"] >= 0.08 - 1e-9).all()
        assert rounds["rtt_s"].sum() > 100.0


def test_rounds_are_columns_that_a_csv_file_holds(lossy: Result) -> None:
    columns = lossy.traces["rounds"].columns.tolist()
    assert columns == ["replication", "flow", "time_s", "rtt_s", "window"]


def test_flows_without_a_loss_are_left_out() -> None:
    resolved = make_resolved([make_flow("a", start_spread_s=1.0), make_flow("b")])
    runs = [
        make_replication(resolved, number, flows={"timeouts": [0, 3], "fast_retransmits": 0}) for number in range(2)
    ]
    result = Result.from_replications(resolved, runs, version="0")
    assert result.recoveries.index.tolist() == ["b", ALL_FLOWS]
    assert "all flows" not in result.flows.index


def test_nothing_lost_is_an_empty_table() -> None:
    resolved = make_resolved()
    runs = [make_replication(resolved, 0, flows={"timeouts": 0, "fast_retransmits": 0})]
    result = Result.from_replications(resolved, runs, version="0")
    assert len(result.recoveries) == 0
    assert "timeouts_at_end" in result.recoveries.columns


def test_no_recovery_has_no_mean_length() -> None:
    resolved = make_resolved()
    runs = [make_replication(resolved, 0, flows={"recoveries": 0, "recovery_s": 0.0, "recovery_sent": 0})]
    table = Result.from_replications(resolved, runs, version="0").recoveries
    assert math.isnan(float(table["recovery_mean_s"].iloc[0]))


SLOW_EGRESS = """
# [engset, section 4.2], special setting: 100M-1.5M-128k-D300ms-P576B, W_R = 44, room for all.
[[link]]
name = "ingress"
rate = "100 Mbit/s"
[[link]]
name = "multiplexing"
rate = "1.5 Mbit/s"
[[link]]
name = "egress"
rate = "128 kbit/s"
[[flow]]
path = ["ingress", "multiplexing", "egress"]
two_way_propagation = "300 ms"
packet = "576 B"
size = "SIZE pkt"
tcp = { preset = "newreno-engset", max_window = "44 pkt" }
[run]
duration = "60 s"
[trace]
losses = true
"""


@pytest.mark.parametrize(("size", "packet"), [(54, 54), (106, 90)])
def test_the_engset_paper_s_spurious_timeouts_come_at_its_packets(size: int, packet: int) -> None:
    result = ackclock.run(SLOW_EGRESS.replace("SIZE", str(size)), picture=False)
    first = result.traces["losses"].iloc[0]
    assert (first["cause"], first["sequence"] + 1, first["spurious"]) == ("timeout", packet, True)
    assert result.flows["spurious_timeouts"].tolist() == result.flows["timeouts"].tolist()
    assert "spurious (nothing had been dropped" in result.summary["verdict"]


@pytest.mark.parametrize("size", [53, 107])
def test_smaller_and_larger_transfers_of_the_engset_paper_time_out_never(size: int) -> None:
    result = ackclock.run(SLOW_EGRESS.replace("SIZE", str(size)), picture=False)
    assert result.flows.loc["flow", "timeouts"] == 0
    assert "false" not in result.summary["verdict"]
