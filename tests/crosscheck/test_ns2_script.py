from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crosscheck import build
from crosscheck.ns2_queues import UNLIMITED
from crosscheck.ns2_script import SETTINGS, script
from crosscheck.ns2_shake import DELAY_S, Piece, Shake
from crosscheck.subset import ExcludedError, UnsupportedError

THREE_PIECES = Shake((Piece(3), Piece(6, 20.5), Piece(2, 100.0)))


def two_flows() -> dict[str, Any]:
    links = [
        build.link("access", 1_234_567.0),
        build.link("bottleneck", 1_000_003.0, delay_s=0.05, buffer_packets=20),
        build.link("back", 2_000_003.0, delay_s=0.05),
    ]
    reno = build.sender("reno", initial_window=2.0, initial_ssthresh=16, dupack_threshold=4, limited_transmit=True)
    old = build.sender("old-tahoe", max_window=30, increase="counted", rto=build.rto(clock_fraction=0.0))
    flows = [
        build.flow("long", [0, 1], [2], reno, forward_delay_s=0.1, return_delay_s=0.1),
        build.flow("short", [1], [2], old, packet_bytes=1000, start_s=1.5, ack_every=2, ack_delay_s=0.2),
    ]
    return build.scenario("two flows", links, flows, duration_s=200.0, warmup_s=20.0)


def begins(lines: list[str]) -> list[str]:
    return [line for line in lines if '"begin ' in line]


@pytest.mark.golden
def test_the_script_of_two_flows(golden: Callable[[str, str], None]) -> None:
    golden("../crosscheck/golden/two_flows.tcl", script(two_flows()))


def test_the_limit_that_counts_the_waiting_holds_one_more() -> None:
    scenario = two_flows()
    scenario["elements"][1]["counting"] = "waiting"
    assert "add_link 1 1000003.0 0.05 21\n" in script(scenario)


def test_no_limits_and_no_rate_are_written_as_large_numbers() -> None:
    scenario = two_flows()
    scenario["elements"][2]["rate_bps"] = None
    assert f"add_link 2 1e+18 0.05 {UNLIMITED}\n" in script(scenario)


def test_the_phase_of_the_clock_is_drawn_by_a_tick_that_makes_it_so() -> None:
    scenario = two_flows()
    scenario["flows"][0]["traffic"]["connection"]["sender"]["rto"]["clock_offset_s"] = 0.05
    draw_tick = float(next(line for line in script(scenario).splitlines() if '"begin 0 ' in line).split()[6])
    assert draw_tick * 0.12701112204657714 == pytest.approx(0.05, rel=1e-15)


def test_shaking_adds_to_the_script_and_changes_nothing_else() -> None:
    plain, shaken = script(two_flows()).splitlines(), script(two_flows(), shake=THREE_PIECES).splitlines()
    moved = begins(plain)
    assert [line for line in plain if line not in shaken] == moved
    starts = [
        (float(one.split()[2]), float(other.split()[2])) for one, other in zip(moved, begins(shaken), strict=True)
    ]
    assert all(0.0 < shaken_s - plain_s <= DELAY_S for plain_s, shaken_s in starts)


def test_each_piece_of_a_shaken_run_begins_at_its_instant() -> None:
    lines = script(two_flows(), shake=THREE_PIECES).splitlines()
    assert [line for line in lines if "shake_from" in line and "proc" not in line] == [
        "shake_from 0 3",
        '$ns at 20.5 "shake_from 1 6"',
        '$ns at 100.0 "shake_from 2 2"',
    ]


def test_a_buffer_of_one_packet_is_excluded_by_name() -> None:
    scenario = two_flows()
    scenario["elements"][1]["buffer"] = {"packets": 1}
    with pytest.raises(ExcludedError, match="buffer-of-one-packet: ns-2's DropTail with limit 1 drops every packet"):
        script(scenario)


def bytes_in(scenario: dict[str, Any], limit: int, counting: str = "with-service", **queue: str) -> dict[str, Any]:
    scenario["elements"][1].update(buffer={"bytes": limit}, counting=counting)
    scenario["elements"][1]["queue"].update(queue)
    return scenario


def test_a_limit_in_bytes_is_one_of_packets_of_one_byte_and_holds_one_less_than_ns2s() -> None:
    alone = two_flows()
    alone["flows"] = alone["flows"][:1]
    waiting = "add_link 1 1000003.0 0.05 9001 DropTail {queue_in_bytes_ true mean_pktsize_ 1}"
    assert waiting in script(bytes_in(two_flows(), 9000, "waiting"))
    assert waiting.replace("9001", "8489") in script(bytes_in(alone, 9000))


def test_drop_from_front_is_a_setting_of_drop_tail() -> None:
    scenario = two_flows()
    scenario["elements"][1]["queue"]["overflow"] = "front"
    assert "add_link 1 1000003.0 0.05 20 DropTail {drop_front_ true}" in script(scenario)


@pytest.mark.parametrize(
    ("limit", "counting", "overflow", "fault"),
    [
        (9000, "with-service", "arriving", "counting of bytes, packets differ in size: not in ns-2"),
        (9000, "waiting", "front", "queue.overflow of bytes, packets differ in size: not in ns-2"),
        (999, "waiting", "arriving", "buffer: ns-2 drops at an idle link"),
    ],
)
def test_bytes_that_ns2_counts_otherwise_are_refused(limit: int, counting: str, overflow: str, fault: str) -> None:
    with pytest.raises(UnsupportedError, match=fault):
        script(bytes_in(two_flows(), limit, counting, overflow=overflow))


def test_a_transfer_sends_its_packets_and_time_stamps_give_a_sample_for_each_ack() -> None:
    scenario = two_flows()
    scenario["flows"][0]["traffic"]["size_packets"] = 345
    scenario["flows"][1]["traffic"]["connection"]["sender"]["rto"]["sample"] = "per-ack"
    lines = script(scenario).splitlines()
    first, second = begins(lines)
    assert first.endswith(' 16 345"')
    assert second.endswith(' none"')
    assert ["timestamps_ true" in line for line in lines if line.startswith("add_flow ")] == [False, True]


def test_all_that_ns2_cannot_play_is_told_at_once() -> None:
    scenario = two_flows()
    first, second = (flow["traffic"] for flow in scenario["flows"])
    scenario["elements"][0] = {"kind": "host", "name": "slow", "data_s": 0.1, "ack_s": 0.1}
    scenario["elements"][1]["queue"] = {
        "scheduler": {"kind": "priority", "levels": 3},
        "aqm": {"kind": "red"},
        "overflow": "random",
    }
    first["connection"]["receiver"]["ack_every"] = 3
    second["connection"]["sender"]["dialect"] = "rfc"
    second["connection"]["sender"]["rto"]["sample"] = "per-ack-karn"
    scenario["flows"].append(build.source("web", [1], {"kind": "web"}))
    with pytest.raises(UnsupportedError) as refused:
        script(scenario)
    assert str(refused.value).splitlines() == [
        "elements.0.kind: not in ns-2; given 'host'; allowed 'link'",
        "elements.1.queue.overflow: not in ns-2; given 'random'; allowed 'arriving'",
        "elements.1.queue.scheduler.levels: not in ns-2; given 3; allowed 2",
        "elements.1.counting: not in ns-2; given 'with-service'; allowed 'waiting'",
        "elements.1.queue.scheduler.kind: not in ns-2; given 'priority'; allowed 'fifo'",
        "elements.1.queue.aqm.least_queue_packets: not in ns-2; given None; allowed 2.0",
        "elements.1.queue.aqm.first_passes: not in ns-2; given None; allowed True",
        "elements.1.queue.aqm.overflow_restarts: not in ns-2; given None; allowed True",
        "elements.1.queue.aqm.ecn: not in ns-2; given None; allowed 'off', 'early'",
        "elements.1.queue.aqm.max_probability: not in ns-2; given None; allowed above 0",
        "flows.0.traffic.connection.receiver.ack_every: not in ns-2; given 3; allowed 1, 2",
        "flows.1.traffic.connection.sender.dialect: not in ns-2; given 'rfc'; allowed 'ns2'",
        "flows.1.traffic.connection.sender.rto.sample: not in ns-2; given 'per-ack-karn'; "
        "allowed 'per-round', 'per-ack'",
        "flows.2.traffic.kind: not in ns-2; given 'web'; allowed 'tcp', 'constant', 'poisson', 'on-off'",
    ]


def test_the_readme_gives_a_reason_for_every_setting() -> None:
    readme = (Path(__file__).parents[2] / "crosscheck" / "README.md").read_text(encoding="utf-8")
    names = [name for values in SETTINGS.values() for name in values]
    names += [word for word in script(two_flows()).replace("{", " ").split() if word.endswith("_")]
    own = {"limit_", "bandwidth_", "delay_", "callback_", "fid_", "boot_time_", "scheduler_"}
    counters = {"cwnd_", "awnd_", "ack_", "ndatapack_", "nrexmitpack_", "nrexmit_", "ncwndcuts_", "bytes_", "pdrops_"}
    missing = {name for name in names if f"`{name}`" not in readme} - own - counters
    assert not missing
