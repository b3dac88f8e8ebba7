from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any

import pytest

from crosscheck import build, engine, ns2
from crosscheck.check import Mark, check
from crosscheck.draw import DEFAULT_SEED
from crosscheck.draw_elements import DEFAULT_COUNT, draw_elements
from crosscheck.ns2_script import script
from crosscheck.outcome import Outcome, compare_outcomes
from crosscheck.subset import ExcludedError, UnsupportedError

Scenario = dict[str, Any]


STEPS_S = [(0.0, 0.01), (5.0, 0.2), (9.5, 0.0), *((11.0 + 1.3 * step, 0.01 + 0.1 * (step % 3)) for step in range(20))]
"""Instants and delays."""


def one_flow(recovery: str = "newreno", *, duration_s: float = 40.0, **sender: Any) -> Scenario:
    links = [
        build.link("access", 1_317_011.0, delay_s=0.011, buffer_packets=40),
        build.link("shared", 1_000_003.0, delay_s=0.031, buffer_packets=12),
        build.link("back", 2_000_003.0, delay_s=0.042),
    ]
    flow = build.flow("flow", [0, 1], [2], build.sender(recovery, **sender), packet_bytes=700)
    return build.scenario("one flow", links, [flow], duration_s=duration_s)


def all_elements() -> Scenario:
    scenario = one_flow()
    shared, back = scenario["elements"][1:]
    shared["delay_process"] = build.delay_steps("shared", STEPS_S)
    shared["loss"] = build.lost_at([3.25, 17.5], "data")
    back["loss"] = build.lost_packets([7, 8, 30], "acks")
    scenario["elements"][0].update(queue=build.queue(levels=2), buffer=None)
    scenario["flows"][0]["priority"] = 1
    scenario["flows"][0]["traffic"]["connection"]["ack_priority"] = 1
    scenario["flows"] += [
        build.source("high", [0], build.constant(0.03, 700), packet_bytes=700, start_s=0.5),
        build.source("crossing", [2], build.constant(0.011, 200), packet_bytes=200),
    ]
    return scenario


def changed(scenario: Scenario, place: str, value: object) -> Scenario:
    """Copy a scenario with another value at a place such as ``elements.1.loss``."""
    other = deepcopy(scenario)
    *way, last = [int(step) if step.isdigit() else step for step in place.split(".")]
    table: Any = other
    for step in way:
        table = table[step]
    table[last] = value
    return other


@cache
def said_by_ns2() -> Outcome:
    return ns2.run(all_elements())


@pytest.mark.golden
def test_the_script_of_all_elements(golden: Callable[[str, str], None]) -> None:
    golden("../crosscheck/golden/elements.tcl", script(all_elements()))


def test_a_scenario_without_elements_has_none_of_their_procedures() -> None:
    assert "ErrorModel" not in script(one_flow())


def test_packets_are_counted_from_0_in_ns2() -> None:
    assert "lose_packets 2 {6 7 29}\n" in script(all_elements())


def test_only_what_a_loss_applies_to_enters_at_the_error_model() -> None:
    said = script(all_elements())
    assert "$receiver(0) target $loss(2)\n" in said
    assert "$datagrams(2) target $queue(2)\n" in said


def test_a_delay_changes_a_service_time_earlier_in_ns2() -> None:
    said = script(all_elements())
    service_s = 700 * 8 / 1_000_003
    assert "add_link 1 1000003.0 0.041 12\n" in said
    assert f'$ns at {5.0 - service_s!r} "set_delay 1 0.231"\n' in said


def test_a_delay_that_changes_under_packets_of_several_sizes_is_refused() -> None:
    scenario = one_flow()
    scenario["elements"][0]["delay_process"] = build.delay_steps("access", [(0.0, 0.01), (5.0, 0.2)])
    scenario["flows"].append(build.source("other", [0], build.constant(0.05, 300), packet_bytes=300))
    with pytest.raises(UnsupportedError, match=r"elements.0: sizes of the packets where the delay changes: .*given 2"):
        script(scenario)


def test_only_flow_0_can_have_the_lower_level() -> None:
    scenario = changed(all_elements(), "flows.1.priority", 1)
    with pytest.raises(UnsupportedError, match=r"flows.1.priority: not in ns-2; given 1; allowed 0"):
        script(scenario)


@pytest.mark.parametrize(
    ("place", "value", "name"),
    [
        ("elements.0.buffer", {"packets": 30}, "levels-share-the-buffer"),
        ("elements.1.delay_process.order", "keep", "kept-order"),
    ],
)
def test_what_ns2_does_otherwise_is_excluded_by_name(place: str, value: object, name: str) -> None:
    with pytest.raises(ExcludedError, match=f"^{name}: "):
        script(changed(all_elements(), place, value))


@pytest.mark.usefixtures("needs_ns2")
def test_all_elements_at_once_give_the_same_windows() -> None:
    report = check(all_elements())
    assert report.mark is Mark.PASS
    assert report.compared > 500


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("elements.1.loss", None),
        ("elements.1.delay_process.law.steps_s", [[max(0.0, at - 0.0056), delay] for at, delay in STEPS_S]),
        ("elements.1.delay_process.order", "keep"),
        ("elements.2.loss.law.numbers", [7, 8, 31]),
        ("elements.2.loss.applies_to", "all"),
        ("elements.0.queue", build.queue()),
        ("flows.1.traffic.rate_bps", 187_000.0),
    ],
)
def test_each_element_shows_where_our_engine_plays_another(place: str, value: object) -> None:
    scenario = all_elements()
    ours = engine.run(changed(scenario, place, value))
    assert not compare_outcomes(scenario, said_by_ns2(), ours)[0].passed


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize("number", range(DEFAULT_COUNT))
def test_the_first_half_minute_of_each_drawn_scenario_agrees(number: int) -> None:
    scenario = draw_elements(DEFAULT_SEED)[number]
    scenario["run"]["duration_s"] = 30.0
    assert check(scenario).mark is Mark.PASS


@pytest.mark.usefixtures("needs_ns2")
def test_one_instant_takes_one_packet_in_ns2_as_in_ours() -> None:
    scenario = one_flow("tahoe", initial_ssthresh=4)
    scenario["elements"][0]["loss"] = build.lost_at([5.0])
    theirs, ours = ns2.run(scenario), engine.run(scenario)
    assert theirs.flows[0].retransmitted_packets == ours.flows[0].retransmitted_packets > 0
    assert check(scenario).mark is Mark.PASS
