"""ns-2's `precisionReduce_`, its default in 2.35: the exact half of the window, change by change."""

import math
from typing import Any

import pytest

from crosscheck import build, engine, ns2, ties
from crosscheck.check import Mark, check
from crosscheck.mrg32k3a import Mrg32k3a
from crosscheck.ns2_script import script

RECOVERIES = ("old-tahoe", "tahoe", "reno", "newreno")


def small_window(recovery: str, half_window: str = "fractional", **sender: Any) -> dict[str, Any]:
    """Describe a flow over a path of some five packets and a buffer of as many: windows of 5 to 12 packets."""
    links = [
        build.link("access", 1_190_009.0, delay_s=0.003, buffer_packets=60),
        build.link("shared", 800_011.0, delay_s=0.017, buffer_packets=6),
        build.link("back", 2_000_029.0, delay_s=0.021),
    ]
    sender = build.sender(recovery, half_window=half_window, **sender)
    flow = build.flow("flow", [0, 1], [2], sender, packet_bytes=1000)
    return build.scenario(f"{recovery} {half_window}", links, [flow], duration_s=60.0)


def test_the_half_is_a_setting_of_each_agent() -> None:
    for half_window, value in (("fractional", 1), ("whole-packets", 0)):
        assert f" precisionReduce_ {value} " in script(small_window("reno", half_window))


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize("half_window", ["fractional", "whole-packets"])
@pytest.mark.parametrize("recovery", RECOVERIES)
def test_every_change_is_that_of_ns2(recovery: str, half_window: str) -> None:
    report = check(small_window(recovery, half_window))
    assert report.mark is Mark.PASS, report.line()
    assert report.compared > 100


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize(
    "sender",
    [
        {"max_window": 11},
        {"dupack_threshold": 2},
        {"limited_transmit": True, "initial_window": 3.0},
        {"increase": "counted"},
        {"max_burst": 2},
        {"max_burst": 1, "initial_window": 4.0},
        {"initial_ssthresh": 7},
        {"partial_ack_timer": "slow-but-steady", "dupack_threshold": 4},
    ],
    ids="-".join,
)
@pytest.mark.parametrize("recovery", ["reno", "newreno"])
def test_every_change_is_that_of_ns2_with_other_axes(recovery: str, sender: dict[str, Any]) -> None:
    report = check(small_window(recovery, **sender))
    assert report.mark is Mark.PASS, report.line()
    assert report.compared > 100


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize("recovery", ["reno", "newreno"])
def test_the_other_half_is_found(recovery: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # test_red.py has a longer search for ties.
    monkeypatch.setattr(ties, "MOST_RUNS", 3)
    fractional, whole = (small_window(recovery, half) for half in ("fractional", "whole-packets"))
    for scenario in (fractional, whole):
        scenario["run"]["duration_s"] = 20.0
    theirs = ns2.run(whole)
    report = check(fractional, play=lambda _: theirs)
    assert report.mark is Mark.FAIL


@pytest.mark.parametrize("recovery", ["old-tahoe", "tahoe"])
def test_without_fast_recovery_the_half_has_no_effect(recovery: str) -> None:
    fractional, whole = (engine.run(small_window(recovery, half)) for half in ("fractional", "whole-packets"))
    assert fractional == whole
    assert fractional.flows[0].timeouts + fractional.flows[0].fast_retransmits > 1


def lossy(recovery: str, half_window: str) -> dict[str, Any]:
    """Describe a flow that loses three packets in a hundred, the same ones on both sides: windows of some 7 packets."""
    random, lost = Mrg32k3a(777), [1]
    while lost[-1] < 12_000:
        lost.append(lost[-1] + 1 + int(math.log(random.uniform()) / math.log(0.97)))
    links = [
        build.link("shared", 5_000_011.0, delay_s=0.04, buffer_packets=100) | {"loss": build.lost_packets(lost)},
        build.link("back", 6_000_029.0, delay_s=0.04),
    ]
    flow = build.flow("flow", [0], [1], build.sender(recovery, half_window=half_window), packet_bytes=1000)
    return build.scenario(f"lossy {recovery} {half_window}", links, [flow], duration_s=150.0)


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize("recovery", ["reno", "newreno"])
def test_goodput_at_small_windows_gains_what_ns2s_gains(recovery: str) -> None:
    acked = {
        half: [play(lossy(recovery, half)).flows[0].acked_packets for play in (ns2.run, engine.run)]
        for half in ("fractional", "whole-packets")
    }
    assert acked["fractional"][0] == acked["fractional"][1]
    assert acked["whole-packets"][0] == acked["whole-packets"][1]
    assert acked["fractional"][0] > 1.02 * acked["whole-packets"][0]
