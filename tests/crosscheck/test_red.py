"""ns-2's RED, change by change: ns-2 draws the random numbers that our engine draws."""

from copy import deepcopy
from functools import cache
from math import inf
from typing import Any

import pytest

from crosscheck import build, engine, ns2, ties
from crosscheck.check import Mark, check
from crosscheck.draw_wide import draw_wide
from crosscheck.ns2_script import script
from crosscheck.ns2_shake import Piece, Shake
from crosscheck.outcome import Found, Outcome, compare_outcomes, queues_differ_s
from crosscheck.subset import UnsupportedError

Scenario = dict[str, Any]


def one_flow(recovery: str = "newreno", *, buffer_packets: int = 40, duration_s: float = 12.0, **red: Any) -> Scenario:
    queue = build.red(3.0, 9.0, **{"weight": 0.02, "mean_packet_bytes": 1000} | red)
    shared = build.link("shared", 800_011.0, delay_s=0.057, buffer_packets=buffer_packets)
    links = [
        build.link("access", 1_190_009.0, delay_s=0.003, buffer_packets=100),
        shared | {"counting": "waiting", "queue": queue},
        build.link("back", 2_000_029.0, delay_s=0.061),
    ]
    flow = build.flow("flow", [0, 1], [2], build.sender(recovery), packet_bytes=1000)
    return build.scenario("red", links, [flow], duration_s=duration_s)


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize(
    ("wait", "gentle", "buffer_packets"), [(True, True, 40), (True, False, 7), (False, True, 7), (False, False, 40)]
)
@pytest.mark.parametrize("recovery", ["old-tahoe", "tahoe", "reno", "newreno"])
def test_every_change_is_that_of_ns2(*, recovery: str, wait: bool, gentle: bool, buffer_packets: int) -> None:
    report = check(one_flow(recovery, wait=wait, gentle=gentle, buffer_packets=buffer_packets))
    assert report.mark is Mark.PASS, report.line()
    assert report.compared > 500


@pytest.mark.usefixtures("needs_ns2")
def test_ns2_draws_our_numbers_after_a_drop_and_a_short_queue() -> None:
    """The first packet of the next longer queue passes and counts: the one after it is the second, not the first."""
    report = check(draw_wide(51_426_449, 461)[460])
    assert report.mark is Mark.PASS, report.line()


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize("wait", [True, False])
def test_each_packet_that_is_taken_finds_the_queue_of_ns2(*, wait: bool) -> None:
    """Shake ns-2 so that departures go first: after idle times packets come as others depart, which no window shows."""
    scenario = one_flow("reno", wait=wait, buffer_packets=12)
    plain, ours = ns2.run(scenario), engine.run(scenario)
    assert all(verdict.passed for verdict in compare_outcomes(scenario, plain, ours))
    assert queues_differ_s(plain, ours, 1e-6) == pytest.approx(3.0943, abs=1e-4)
    theirs = ns2.run(scenario, shake=Shake((Piece(1),)))
    assert queues_differ_s(theirs, ours, 1e-6) == inf
    assert theirs.queues.keys() == ours.queues.keys() == {1}
    assert max(one.packets for one in theirs.queues[1]) > 5
    # ns-2 tells of none before the average rises above zero, nor of the last one
    assert 0 < len(ours.queues[1]) - len(theirs.queues[1]) < 20
    assert ours.drops[1] > 5


def test_a_packet_that_finds_another_queue_or_comes_alone_is_found() -> None:
    def outcome(*found: tuple[float, int]) -> Outcome:
        return Outcome([], [], [], queues={3: [Found(*one) for one in found]})

    ours = outcome((0.0, 0), (0.5, 0), (1.0, 1), (2.0, 0), (3.0, 4))
    assert queues_differ_s(outcome((1.0, 1), (2.0, 0)), ours, 1e-6) == inf
    assert queues_differ_s(outcome((1.0, 1), (2.0, 1), (3.0, 4)), ours, 1e-6) == 2.0
    assert queues_differ_s(outcome((1.0, 1), (3.0, 4)), ours, 1e-6) == 2.0
    assert queues_differ_s(outcome((1.0, 1), (1.9999, 0), (3.0, 4)), ours, 1e-6) == 1.9999
    assert queues_differ_s(Outcome([], [], []), Outcome([], [], []), 1e-6) == inf


@pytest.mark.usefixtures("needs_ns2")
def test_a_byte_is_a_part_of_a_mean_packet_where_all_packets_are_of_that_size() -> None:
    """`bytes_` and `queue_in_bytes_`, ns-2.35's defaults, change nothing there."""
    scenario = one_flow()
    text = script(scenario).replace("bytes_ false queue_in_bytes_ false", "bytes_ true queue_in_bytes_ true")
    assert text != script(scenario)
    ours = engine.run(scenario)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ns2, "script", lambda *_: text)
        theirs = ns2.run(scenario)
    assert all(verdict.passed for verdict in compare_outcomes(scenario, theirs, ours))
    assert theirs.drops[1] > 5


@cache
def theirs_by_the_right_rules() -> tuple[Scenario, Outcome]:
    scenario = one_flow("reno", buffer_packets=12, duration_s=30.0)
    return scenario, ns2.run(scenario)


@pytest.mark.usefixtures("needs_ns2")
def test_the_right_rules_are_not() -> None:
    scenario, theirs = theirs_by_the_right_rules()
    assert all(verdict.passed for verdict in compare_outcomes(scenario, theirs, engine.run(scenario)))


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize(
    "change",
    [
        {"wait": False},
        {"gentle": False},
        {"least_queue_packets": 0.0},
        {"first_passes": False},
        {"overflow_restarts": False},
        {"weight": 0.0201},
        {"max_probability": 0.11},
        {"mean_packet_bytes": 400},
    ],
    ids="-".join,
)
def test_another_rule_is_found(change: dict[str, Any]) -> None:
    scenario, theirs = deepcopy(theirs_by_the_right_rules())
    scenario["elements"][1]["queue"]["aqm"] |= change
    assert not all(verdict.passed for verdict in compare_outcomes(scenario, theirs, engine.run(scenario)))


@pytest.mark.usefixtures("needs_ns2")
def test_another_rule_is_no_tie_however_the_search_shakes(monkeypatch: pytest.MonkeyPatch) -> None:
    # A third of the whole search, which takes a minute.
    monkeypatch.setattr(ties, "MOST_RUNS", 25)
    scenario = one_flow("reno", buffer_packets=12, duration_s=6.0)
    other = deepcopy(scenario)
    other["elements"][1]["queue"]["aqm"]["mean_packet_bytes"] = 400
    assert check(scenario).mark is Mark.PASS
    report = check(scenario, lambda _: engine.run(other))
    assert report.mark is Mark.FAIL, report.line()


@pytest.mark.parametrize("overflow", ["arriving", "random"])
def test_a_full_buffer_restarts_the_count_whatever_packet_it_drops(overflow: str) -> None:
    scenario = one_flow(buffer_packets=7)
    scenario["elements"][1]["queue"]["overflow"] = overflow
    restarts = engine.run(scenario)
    scenario["elements"][1]["queue"]["aqm"]["overflow_restarts"] = False
    assert engine.run(scenario) != restarts


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [("least_queue_packets", 0.0, "2.0"), ("first_passes", False, "True"), ("overflow_restarts", False, "True")],
)
def test_rules_that_ns2_has_not_are_refused(field: str, value: float, allowed: str) -> None:
    scenario = one_flow()
    scenario["elements"][1]["queue"]["aqm"][field] = value
    with pytest.raises(UnsupportedError, match=rf"elements\.1\.queue\.aqm\.{field}: .* allowed {allowed}"):
        script(scenario)
