from typing import Any

import numpy as np
import pytest

import ackclock
from ackclock.engine import run_resolved
from ackclock.errors import ScenarioError
from ackclock.precision import (
    expected_replications,
    further_replications,
    is_met,
    precision_warnings,
    relative_half_width,
)
from ackclock.quantities import FLOW_QUANTITIES, LINK_QUANTITIES, without_unit
from ackclock.result import Result
from ackclock.scenario import load, resolve
from ackclock.scenario.resolved import Resolved
from fakes import FakeJob, make_flow, make_replication, make_resolved

Fake = type[FakeJob]


def wanted(**changes: Any) -> dict[str, Any]:
    precision = {"element": "flow", "name": "flow", "quantity": "goodput_bps", "within": 0.02, "most": 20, "batch": 5}
    return precision | changes


def replications(resolved: Resolved, *delivered: float) -> list[Any]:
    return [
        make_replication(resolved, number, flows={"delivered_packets": each}) for number, each in enumerate(delivered)
    ]


def test_half_an_interval_is_relative_to_the_mean() -> None:
    resolved = make_resolved(precision=wanted())
    width = relative_half_width(resolved, replications(resolved, 900.0, 1000.0, 1100.0))
    assert width == pytest.approx(4.3027 * 100.0 / np.sqrt(3.0) / 1000.0, rel=1e-4)


def test_counted_flows_count_by_their_mean() -> None:
    flows = [make_flow("web", count=2, start_spread_s=1.0), make_flow("other")]
    resolved = make_resolved(flows, precision=wanted(name="web"))
    runs = [
        make_replication(resolved, 0, flows={"delivered_packets": [900.0, 1100.0, 5.0]}),
        make_replication(resolved, 1, flows={"delivered_packets": [1100.0, 900.0, 9.0]}),
    ]
    assert relative_half_width(resolved, runs) == 0.0


def test_a_link_has_precision_too() -> None:
    resolved = make_resolved(precision=wanted(element="link", name="satellite", quantity="utilisation_fraction"))
    runs = [make_replication(resolved, number, links={"busy_s": 40.0 + number}) for number in range(2)]
    assert relative_half_width(resolved, runs) == pytest.approx(12.706 * 0.5 / 40.5, rel=1e-4)


def test_the_number_of_replications_is_expected_from_the_interval_so_far() -> None:
    resolved = make_resolved(precision=wanted(most=500, batch=5))
    assert expected_replications(resolved, []) == 500
    runs = replications(resolved, *(1000.0, 1200.0) * 5)
    reached = relative_half_width(resolved, runs)
    assert reached is not None
    needed = 10 * (reached / 0.02) ** 2
    assert needed <= expected_replications(resolved, runs) < needed + 5
    assert expected_replications(resolved, replications(resolved, *(1000.0,) * 5)) == 5
    assert expected_replications(make_resolved(precision=wanted(most=20)), runs) == 20


@pytest.mark.parametrize(
    ("delivered", "further"),
    [
        ((), 5),
        ((1000.0, 1200.0), 5),
        ((1000.0,) * 4 + (1001.0,), 0),
        ((1000.0, 1200.0) * 9, 2),
        ((1000.0, 1200.0) * 10, 0),
        ((0.0,) * 5, 5),  # nothing seen so far is not known to be nothing
    ],
)
def test_batches_follow_until_it_is_precise_or_there_are_most(delivered: tuple[float, ...], further: int) -> None:
    resolved = make_resolved(replications=3, precision=wanted())
    assert further_replications(resolved, replications(resolved, *delivered)) == further


def test_the_first_batch_is_as_large_as_replications_ask_for() -> None:
    assert further_replications(make_resolved(replications=8, precision=wanted()), []) == 8
    assert further_replications(make_resolved(replications=80, precision=wanted()), []) == 20


def test_one_value_is_no_interval() -> None:
    resolved = make_resolved(precision=wanted())
    assert not is_met(resolved, replications(resolved, 1000.0))


def test_what_is_not_random_runs_once() -> None:
    resolved = make_resolved([make_flow("flow")], precision=wanted())
    assert expected_replications(resolved, []) == 1
    assert further_replications(resolved, replications(resolved, 1000.0)) == 0


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize(("within", "count"), [(1e-4, 5), (1e-5, 23)])
def test_all_replications_are_kept_whatever_the_threads(
    fake_engine: Fake, threads: int, within: float, count: int
) -> None:
    seen: list[tuple[float, int]] = []
    resolved = make_resolved(replications=2, precision=wanted(within=within, most=23))
    outcome = run_resolved(resolved, threads=threads, overview=True, on_progress=lambda *now: seen.append(now))
    assert [one["replication"] for one in outcome] == list(range(count))
    assert outcome.requested == count
    assert seen == sorted(seen)
    assert seen[-1] == (1.0, count)
    sizes = [1, 4] + [5] * ((count - 5) // 5) + [(count - 5) % 5] * (count > 5)
    assert [len(job.replications) for job in fake_engine.started] == sizes


def test_the_result_says_what_was_reached() -> None:
    resolved = make_resolved(precision=wanted(most=5))
    result = Result.from_replications(resolved, replications(resolved, *(900.0, 1100.0) * 2, 1000.0), version="0")
    assert result.summary["replications"] == 5
    precision = result.summary["precision"]
    assert precision is not None
    assert (precision["quantity"], precision["within"]) == ("flow.flow.goodput_bps", 0.02)
    assert precision["reached"] > 0.02
    (warning,) = (warning for warning in result.summary["warnings"] if "goodput" in warning)
    assert warning == (
        "flow.flow.goodput_bps is known to ±12% only after 5 replications, ±2% was wanted; "
        "raise run.precision.most or run.duration"
    )
    assert not result.interrupted


def test_a_precision_beyond_100_percent_has_no_exponent() -> None:
    found = {"quantity": "flow.flow.goodput_bps", "within": 0.02, "reached": 1.83, "most": 50}
    (warning,) = precision_warnings(found, 3)
    assert warning == "flow.flow.goodput_bps is known to ±180% only after 3 replications, ±2% was wanted"


def test_a_run_that_ended_before_it_was_precise_was_interrupted() -> None:
    resolved = make_resolved(precision=wanted())
    result = Result.from_replications(resolved, replications(resolved, 900.0, 1100.0), version="0")
    assert result.interrupted
    precise = Result.from_replications(resolved, replications(resolved, *(1000.0, 1000.5) * 3), version="0")
    assert not precise.interrupted
    assert not any("wanted" in warning for warning in precise.summary["warnings"])


SCENARIO = """
[[link]]
name = "satellite"
rate = "1 Mbit/s"
buffer = "10 pkt"
queue = "random-drop"
[[flow]]
name = "web"
count = 2
path = ["satellite"]
rtt = "100 ms"
start_spread = "1 s"
[run]
duration = "20 s"
warmup = "5 s"
precision = { quantity = "QUANTITY", within = "2 %", most = 40 }
"""


@pytest.mark.parametrize("kind", ["flow.web", "flow.web[1]", "link.satellite", "link.satellite.reverse"])
def test_each_quantity_of_a_result_may_be_named_with_its_unit_or_without(kind: str) -> None:
    for name in FLOW_QUANTITIES if kind.startswith("flow") else LINK_QUANTITIES:
        for word in (name, without_unit(name)):
            resolved = resolve(load(SCENARIO.replace("QUANTITY", f"{kind}.{word}")))
            precision = resolved.run.precision
            assert precision is not None
            assert (f"{precision.element}.{precision.name}", precision.quantity) == (kind, name)
            assert (precision.within, precision.most, precision.batch) == (0.02, 40, 10)
            assert Resolved.from_dict(resolved.to_dict()) == resolved


def test_a_flow_of_a_large_group_has_no_quantity_of_its_own() -> None:
    text = SCENARIO.replace("count = 2", "count = 1001")
    resolve(load(text.replace("QUANTITY", "flow.web.goodput")))
    with pytest.raises(ScenarioError, match=r'no flow named "web\[5\]"'):
        load(text.replace("QUANTITY", "flow.web[5].goodput"))


def test_a_real_run_is_the_same_for_any_number_of_threads() -> None:
    text = (
        SCENARIO.replace("QUANTITY", "link.satellite.loss")
        .replace("2 %", "8 %")
        .replace("most = 40", "most = 24, batch = 4")
    )
    alone, crowd = (ackclock.run(text, threads=threads, picture=False) for threads in (1, 3))
    assert alone.summary == crowd.summary
    precision = alone.summary["precision"]
    assert precision is not None
    assert alone.summary["replications"] % 4 == 0
    assert precision["reached"] <= 0.08 or alone.summary["replications"] == 24


LINE = """
[[link]]
name = "line"
rate = "10 Mbit/s"
delay = "18 ms"
buffer = "50 pkt"
loss = { model = "bernoulli", probability = 0.001 }
[[flow]]
name = "one"
path = ["line"]
[run]
duration = "5 s"
replications = 4
"""
RARE = {"link.line.loss.probability": 1e-9, "link.line.buffer": "unlimited", "flow.one.tcp.max_window": "20 pkt"}
"""Losses that no replication sees, so that all are alike."""


def test_a_percentile_is_known_to_a_bucket_of_its_histogram_and_no_better() -> None:
    row = ackclock.run(LINE, overrides=RARE, picture=False).summary["flows"][0]
    assert row["rtt_max_s"]["high"] == row["rtt_max_s"]["low"], "all replications agree"
    found = row["rtt_p95_s"]
    assert (found["high"] - found["low"]) / 2 == pytest.approx(0.008 * found["mean"])
    precise = {"run.precision": {"quantity": "flow.one.rtt_p95", "within": "0.5%", "most": 10}}
    with pytest.raises(
        ScenarioError, match=r"within.*is not above what a histogram.s buckets leave open.*allowed above 0.8%"
    ):
        ackclock.run(LINE, overrides=precise)


def test_the_precision_of_a_percentile_is_not_better_than_a_bucket() -> None:
    precise = {"run.precision": {"quantity": "flow.one.rtt_p95", "within": "50%", "most": 10, "batch": 4}}
    found = ackclock.run(LINE, overrides=RARE | precise, picture=False).summary["precision"]
    assert found is not None
    assert found["reached"] == pytest.approx(0.008)


def test_a_loss_that_no_replication_has_seen_is_not_known_to_be_none() -> None:
    precise = {"run.precision": {"quantity": "flow.one.loss", "within": "5%", "most": 6, "batch": 3}}
    summary = ackclock.run(LINE, overrides=RARE | precise, picture=False).summary
    assert summary["flows"][0]["loss_fraction"]["mean"] == 0.0
    assert summary["replications"] == 6
    assert any(line.startswith("flow.one.loss_fraction is not known") for line in summary["warnings"])
