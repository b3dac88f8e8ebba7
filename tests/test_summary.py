import json
import math
from typing import Any

import numpy as np
import pytest

from ackclock import scenario
from ackclock.engine import run_resolved
from ackclock.replication import Columns, grouped
from ackclock.result import Result
from ackclock.scenario import Resolved
from ackclock.scenario.contract import MOST_ROWS_OF_A_GROUP
from fakes import make_flow, make_replication, make_resolved


def summarise(resolved: Resolved, *changes: dict[str, Any]) -> Any:
    replications = [make_replication(resolved, number, **change) for number, change in enumerate(changes)]
    return Result.from_replications(resolved, replications, version="0.0").summary


def test_rates_count_from_warm_up_on() -> None:
    flow = summarise(make_resolved(), {"flows": {"received_packets": 900, "delivered_packets": 800}})["flows"][0]
    assert flow["throughput_bps"]["mean"] == pytest.approx(900 * 512 * 8 / 80.0)
    assert flow["goodput_bps"]["mean"] == pytest.approx(800 * 512 * 8 / 80.0)


def test_fractions_are_of_what_was_sent_or_arrived() -> None:
    summary = summarise(
        make_resolved(),
        {
            "flows": {"sent_packets": 1000, "dropped_packets": 20, "retransmitted_packets": 30},
            "links": {"arrived_packets": 500, "dropped_packets": 5, "busy_s": 40.0},
        },
    )
    assert summary["flows"][0]["loss_fraction"]["mean"] == pytest.approx(0.02)
    assert summary["flows"][0]["retransmitted_fraction"]["mean"] == pytest.approx(0.03)
    assert summary["links"][0]["loss_fraction"]["mean"] == pytest.approx(0.01)
    assert summary["links"][0]["utilisation_fraction"]["mean"] == pytest.approx(0.5)


def test_time_averages_divide_by_the_time_measured() -> None:
    summary = summarise(
        make_resolved(),
        {"flows": {"cwnd_area": 800.0, "rtt_sum_s": 30.0, "rtt_samples": 60}, "links": {"queue_area_packet_s": 160.0}},
    )
    assert summary["flows"][0]["cwnd_mean_packets"]["mean"] == pytest.approx(10.0)
    assert summary["flows"][0]["rtt_mean_s"]["mean"] == pytest.approx(0.5)
    assert summary["links"][0]["queue_mean_packets"]["mean"] == pytest.approx(2.0)


def test_what_was_never_measured_is_null() -> None:
    flow = summarise(make_resolved(), {"flows": {"sent_packets": 0, "rtt_samples": 0}})["flows"][0]
    nothing = {"mean": None, "low": None, "high": None, "n": 0}
    assert flow["loss_fraction"] == nothing
    assert flow["rtt_mean_s"] == nothing


def test_intervals_come_from_the_replications() -> None:
    timeouts = summarise(make_resolved(), *({"flows": {"timeouts": count}} for count in (9, 10, 11)))["flows"][0][
        "timeouts"
    ]
    assert timeouts["n"] == 3
    assert timeouts["high"] - timeouts["mean"] == pytest.approx(4.3027 / math.sqrt(3), rel=1e-4)


def test_a_bulk_flow_never_finishes_and_a_transfer_may() -> None:
    resolved = make_resolved([make_flow("bulk", start_spread_s=1.0), make_flow("transfer", size_packets=10)])
    summary = summarise(
        resolved, {"flows": {"finish_s": [math.nan, 2.0]}}, {"flows": {"finish_s": [math.nan, math.nan]}}
    )
    bulk, transfer = summary["flows"]
    assert bulk["finish_s"] is None
    assert (transfer["finish_s"]["mean"], transfer["finish_s"]["n"]) == (2.0, 1)


def test_a_deterministic_scenario_is_exact() -> None:
    """That is, of transfers with an end; the long-run means of an endless flow are not."""
    summary = summarise(
        make_resolved([make_flow("flow", size_packets=9)], replications=10), {"flows": {"finish_s": 29.0}}
    )
    assert summary["deterministic"]
    assert summary["replications"] == 1
    found = summary["flows"][0]["goodput_bps"]
    assert found["low"] == found["mean"] == found["high"]
    assert summary["intervals"] == "exact"
    assert summary["warnings"] == []
    endless = summarise(make_resolved([make_flow("flow")], replications=10), {})
    assert endless["intervals"] == "none"
    assert endless["flows"][0]["goodput_bps"]["low"] is None
    assert endless["flows"][0]["timeouts"]["low"] == endless["flows"][0]["timeouts"]["mean"]


def test_the_summary_is_json_with_the_agreed_keys() -> None:
    summary = summarise(make_resolved(), {"flows": {"rtt_samples": 0}})
    text = json.dumps(summary, allow_nan=False)
    assert list(json.loads(text)) == [
        *("title", "tcp", "duration_s", "warmup_s", "replications", "seed", "deterministic", "intervals"),
        *("loss_cycles", "precision"),
        *("flows", "links", "recoveries", "warnings", "verdict", "version"),
    ]
    assert list(summary["links"][0]) == [
        *("name", "rate_bps", "drain_s", "utilisation_fraction", "loss_fraction", "dropped_packets"),
        *("dropped_by_buffer_packets", "dropped_by_aqm_packets", "dropped_by_policer_packets"),
        *("marked_packets", "lost_packets", "throughput_bps", "queue_mean_packets", "queue_max_packets"),
        *("queueing_mean_s", "queueing_p50_s", "queueing_p95_s", "queueing_p99_s", "queueing_max_s"),
    ]


MANY = """\
[[link]]
name = "only"
rate = "1 Mbit/s"
[[flow]]
name = "many"
count = {count}
path = ["only"]
rtt = "100 ms"
tcp = "reno-ns2"
[run]
duration = "1 s"
"""


def columns(rows: list[dict[str, float]]) -> Columns:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def test_a_large_group_is_one_row_whether_the_engine_counted_it_as_one_or_flow_by_flow() -> None:
    flows = make_resolved([make_flow("few", count=2), make_flow("many", count=1001), make_flow("one")]).rows
    assert [flow.name for flow in flows] == ["few[0]", "few[1]", "many", "one"]

    def row(sent: float, largest: float) -> dict[str, float]:
        return {"sent_packets": sent, "cwnd_max": largest}

    few, one = [row(10.0, 2.0), row(11.0, 3.0)], row(13.0, 5.0)
    together = columns([*few, row(1001 * 12.0, 9.0), one])
    singly = columns([*few, *(row(12.0, 9.0 if number == 700 else 4.0) for number in range(1001)), one])
    for found in (grouped(together, flows), grouped(singly, flows)):
        assert {name: column.tolist() for name, column in found.items()} == {
            "sent_packets": [10.0, 11.0, 12012.0, 13.0],
            "cwnd_max": [2.0, 3.0, 9.0, 5.0],
        }


@pytest.mark.parametrize(
    ("count", "rows"), [(MOST_ROWS_OF_A_GROUP, MOST_ROWS_OF_A_GROUP), (MOST_ROWS_OF_A_GROUP + 1, 1)]
)
def test_engine_and_summary_mean_the_same_large_groups(count: int, rows: int) -> None:
    resolved = scenario.resolve(scenario.load(MANY.format(count=count)))
    (replication,) = run_resolved(resolved).replications
    assert {len(column) for column in replication["flows"].values()} == {rows}
    assert len(resolved.rows) == rows
