"""What the wider drawing needs beyond the plain one, item by item: the same in ns-2, and another setting is seen."""

from copy import deepcopy
from math import inf
from typing import Any

import pytest

from crosscheck import build, engine, ns2
from crosscheck.compare import Change
from crosscheck.outcome import FlowCounts, Outcome, compare_outcomes

Scenario = dict[str, Any]
COUNTS = FlowCounts(10, 10, 12, 2, 1, 1)


def one_flow() -> Scenario:
    links = [
        build.link("access", 1_317_011.0, delay_s=0.011, buffer_packets=40),
        build.link("shared", 1_000_003.0, delay_s=0.031, buffer_packets=12),
        build.link("back", 2_000_003.0, delay_s=0.042),
    ]
    flow = build.flow("flow", [0, 1], [2], build.sender("newreno"), packet_bytes=700)
    return build.scenario("one flow", links, [flow], duration_s=40.0)


def with_buffer(limit: dict[str, int], counting: str = "with-service", overflow: str = "arriving") -> Scenario:
    scenario = one_flow()
    scenario["elements"][1].update(buffer=limit, counting=counting)
    scenario["elements"][1]["queue"]["overflow"] = overflow
    return scenario


def with_small_packets_too(limit: int) -> Scenario:
    scenario = with_buffer({"bytes": limit}, "waiting")
    source = build.source("small", [1], build.constant(0.0087, 130), packet_bytes=130)
    return scenario | {"flows": [*scenario["flows"], source]}


def with_back_data(packets: int) -> Scenario:
    """Send data over the link of the ACKs, whose buffer drops both."""
    scenario = one_flow()
    scenario["elements"][2].update(buffer={"packets": packets}, rate_bps=700_001.0)
    back = build.flow("back", [2], [0, 1], build.sender("reno"), packet_bytes=900, start_s=0.37)
    return scenario | {"flows": [*scenario["flows"], back]}


def with_size(packets: int) -> Scenario:
    scenario = one_flow()
    scenario["flows"][0]["traffic"]["size_packets"] = packets
    return scenario


def with_timer(**settings: object) -> Scenario:
    """Lose the first packets and runs of them later, so that the timer backs off."""
    scenario = one_flow()
    scenario["elements"][1]["loss"] = build.lost_packets([1, 2, 3, *range(300, 325), *range(700, 705)])
    scenario["flows"][0]["traffic"]["connection"]["sender"]["rto"].update(settings)
    return scenario


PAIRS = {
    "drop-from-front": (with_buffer({"packets": 12}, overflow="front"), with_buffer({"packets": 12})),
    "bytes": (with_buffer({"bytes": 8400}), with_buffer({"bytes": 8399})),
    "bytes, not whole packets": (with_buffer({"bytes": 9099}), with_buffer({"bytes": 9100})),
    "bytes that wait": (with_buffer({"bytes": 8400}, "waiting"), with_buffer({"bytes": 8399}, "waiting")),
    "bytes that wait, of two sizes": (with_small_packets_too(5000), with_small_packets_too(4800)),
    "bytes dropped from the front": (with_buffer({"bytes": 8400}, overflow="front"), with_buffer({"bytes": 8400})),
    "two-way data": (with_back_data(9), with_back_data(10)),
    "a transfer": (with_size(345), with_size(346)),
    "a transfer of one packet": (with_size(1), with_size(2)),
    "samples of each ACK": (with_timer(sample="per-ack", granularity_s=0.01), with_timer(granularity_s=0.01)),
    "initial timeout": (with_timer(initial_s=1.5), with_timer()),
    "maximum timeout": (with_timer(max_s=2.0), with_timer()),
}


def same(scenario: Scenario, theirs: Outcome, ours: Outcome) -> bool:
    return all(verdict.passed for verdict in compare_outcomes(scenario, theirs, ours))


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize("item", PAIRS)
def test_each_item_is_the_same_in_ns2_and_another_setting_is_seen(item: str) -> None:
    scenario, other = PAIRS[item]
    theirs = ns2.run(scenario)
    assert same(scenario, theirs, engine.run(scenario))
    assert not same(scenario, theirs, engine.run(other))


@pytest.mark.usefixtures("needs_ns2")
def test_ns2s_windows_after_the_end_of_a_transfer_are_left_out() -> None:
    scenario = with_size(345)
    theirs = ns2.run(scenario)
    assert max(change.time_s for change in theirs.changes[0]) <= theirs.finishes_s[0] < 20.0


@pytest.mark.parametrize(
    ("their_s", "our_s", "passed"),
    [(5.0, 5.0 + 9e-7, True), (5.0, 5.0 + 2e-6, False), (5.0, inf, False), (inf, 5.0, False), (40.0, inf, True)],
)
def test_transfers_are_over_at_the_same_time(their_s: float, our_s: float, passed: bool) -> None:
    def outcome(finish_s: float) -> Outcome:
        finishes = {} if finish_s == inf else {0: finish_s}
        return Outcome([[Change(1.0, 2.0)]], [COUNTS], [0, 0, 0], finishes)

    (verdict,) = compare_outcomes(deepcopy(one_flow()), outcome(their_s), outcome(our_s))
    assert verdict.passed is passed
    assert verdict.differs_s == (inf if passed else 5.0)
