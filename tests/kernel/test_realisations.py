"""Realisations of a scenario, which differ in nothing that matters."""

import re
from typing import Any

import numpy as np
import pytest

from ackclock.scenario import load, resolve
from crosscheck.linux import ours
from crosscheck.linux.draw import draw, draw_impaired, draw_managed
from crosscheck.linux.experiment import BOOT_S, JITTER_S, TICKS_S
from crosscheck.linux.kernel import KIT
from crosscheck.linux.path import tcp_of
from crosscheck.linux.realisations import SHIFTS_US, phase_of_s, realise, shift_name, shifts_of, slowed
from crosscheck.linux.recorded import figures, lost, runs

SCENARIO = resolve(load(draw(5, 3))).to_dict()


def test_a_realisation_starts_later_with_another_seed() -> None:
    later = realise(SCENARIO, 200.0)
    starts = [
        (flow["start_s"], other["start_s"])
        for flow, other in zip(realise(SCENARIO, 0.0)["flows"], later["flows"], strict=True)
    ]
    assert all(abs(after - before - 200e-6) < 1e-12 for before, after in starts)
    assert later["run"]["seed"] == SCENARIO["run"]["seed"] + 200


def test_a_step_of_the_delay_comes_later_too() -> None:
    """Else a start of 0.8 ms decides which packet is the last one before the step of `J_bbr` (kit/lab.c: `base`)."""
    scenario = runs()["J_bbr"].scenario()
    plain, later = (
        np.array(element["delay_process"]["law"]["steps_s"])
        for one in (realise(scenario, 0.0), realise(scenario, 800.0))
        for element in one["elements"]
        if element["name"] == "wire"
    )
    assert plain == pytest.approx(np.array([[0.0, 0.0], [10.0 + phase_of_s(scenario), 0.3]]), abs=1e-9)
    assert later - plain == pytest.approx(np.array([[0.0, 0.0], [800e-6, 0.0]]), abs=1e-9)


def test_the_run_itself_begins_at_the_kernels_time_after_a_tick() -> None:
    plain = realise(SCENARIO, 0.0)
    later = {
        round(flow["start_s"] - other["start_s"], 9)
        for flow, other in zip(plain["flows"], SCENARIO["flows"], strict=True)
    }
    clocks = {flow["traffic"]["connection"]["sender"]["rto"]["clock_offset_s"] for flow in plain["flows"]}
    assert later == {0.0001}, "no connection begins before 0 s, and the kernel's clock shows 101.1 ms"
    assert list(clocks) == pytest.approx([TICKS_S - 0.0001], abs=1e-12)
    assert plain["elements"] == SCENARIO["elements"]


def test_the_first_update_of_pie_stays_at_its_time_of_the_kernels_clock() -> None:
    scenario = resolve(load(draw_managed(1, 0))).to_dict()
    first, later = (
        one["elements"][0]["queue"]["aqm"]["first_update_s"] for one in (scenario, realise(scenario, 800.0))
    )
    assert later - first == pytest.approx(0.0001, abs=1e-9), "the queue is there before the run begins"


def test_its_acks_cross_a_link_whose_delays_are_shorter_than_ten_microseconds() -> None:
    later = realise(SCENARIO, 1.0)
    added = later["elements"][len(SCENARIO["elements"]) :]
    for element in added:
        delays = [state["delay_s"] for state in element["delay_process"]["law"]["states"]]
        assert len(set(delays)) == len(delays) > 1
        assert (min(delays), max(delays) < 2.0 * JITTER_S) == (0.0, True)
    assert len({element["delay_process"]["stream"] for element in added}) == len(later["flows"])
    hops = [flow["traffic"]["connection"]["return_path"][-1] for flow in later["flows"]]
    assert hops == list(range(len(SCENARIO["elements"]), len(later["elements"])))


def test_it_can_be_played_and_changes_little() -> None:
    plain, later = ours.play(SCENARIO), ours.play(realise(SCENARIO, 1.0))
    total = sum(plain.goodput_mbps)
    assert abs(sum(later.goodput_mbps) - total) < 0.1 * total
    assert later != plain


def test_packets_are_copied_where_losses_are_by_number() -> None:
    """The kernel's go through a program that reads and writes them, and share no pages behind it."""
    found: dict[bool, set[str]] = {}
    for number in range(12):
        scenario = resolve(load(draw_impaired(5, number))).to_dict()
        has_losses = any(element["loss"] is not None for element in scenario["elements"])
        memory = {tcp_of(flow)["receiver"]["linux"]["memory"] for flow in realise(scenario, 0.0)["flows"]}
        found[has_losses] = found.get(has_losses, set()) | memory
    assert found == {True: {"linear"}, False: {"veth"}}
    recorded_one = runs()["L_reno_1e3"].scenario(lost()["L_reno_1e3"])
    of_recorded = [
        tcp_of(realise(recorded_one, 0.0, copied=copied)["flows"][0])["receiver"]["linux"]["memory"]
        for copied in (runs()["L_reno_1e3"].is_copied, runs()["R_reno_30"].is_copied)
    ]
    assert of_recorded == ["veth", "linear"], "netem copies none"


def test_the_kernels_latency_delays_acks_and_starts() -> None:
    plain = realise(SCENARIO, 0.0)
    slow = slowed(plain, 2e-6, {0: 1e-5})
    for number, (before, after) in enumerate(zip(plain["flows"], slow["flows"], strict=True)):
        assert tcp_of(after)["return_delay_s"] - tcp_of(before)["return_delay_s"] == pytest.approx(2e-6, abs=1e-12)
        assert after["start_s"] - before["start_s"] == pytest.approx(1e-5 if number == 0 else 0.0, abs=1e-12)


def test_a_negative_latency_shortens_a_delay_that_is_there() -> None:
    def delays_s(forward_s: float, return_s: float) -> tuple[float, float]:
        (flow, *_) = realise(SCENARIO, 0.0)["flows"]
        connection = {**tcp_of(flow), "return_delay_s": return_s}
        one = {**flow, "forward_delay_s": forward_s, "traffic": {**flow["traffic"], "connection": connection}}
        (found,) = slowed({**SCENARIO, "flows": [one]}, -1e-6, {})["flows"]
        return found["forward_delay_s"], tcp_of(found)["return_delay_s"]

    assert delays_s(0.02, 0.01) == pytest.approx((0.02, 0.009999), abs=1e-12)
    assert delays_s(0.02, 0.0) == pytest.approx((0.019999, 0.0), abs=1e-12)
    assert delays_s(0.0, 0.0) == (0.0, 0.0)


def test_acks_that_queue_have_their_delay_in_front_of_the_receiver() -> None:
    """A timer's ACK reaches the queue at its tick then, as in the kernel's path."""
    document = draw_managed(5, 0)
    document["link"][0] = {"name": "bottleneck", "rate": "2 Mbit/s", "buffer": "20 pkt"}
    document["link"][0]["reverse"] = {"rate": "100 kbit/s", "buffer": "50 pkt"}
    scenario = load(document)
    plain, realised = resolve(scenario).to_dict(), realise(resolve(scenario).to_dict(), 0.0)
    for before, after in zip(plain["flows"], realised["flows"], strict=True):
        assert tcp_of(before)["return_delay_s"] > 0.0
        both_s = before["forward_delay_s"] + tcp_of(before)["return_delay_s"]
        assert (after["forward_delay_s"], tcp_of(after)["return_delay_s"]) == (pytest.approx(both_s), 0.0)


def test_recorded_ones_are_found_by_their_names() -> None:
    found = figures()["S_cubic"]
    assert shifts_of(found)[:3] == [0, 1, 2]
    assert all(shift_name(shift) in found for shift in shifts_of(found))
    assert len(shifts_of(found)) <= len(SHIFTS_US)


def test_the_guest_begins_a_run_at_the_time_that_is_known_here() -> None:
    (defined,) = re.findall(r"^#define BASE (\S+)", (KIT / "lab.c").read_text(), re.MULTILINE)
    assert float(defined) == BOOT_S


def test_packets_of_handshakes_are_as_long_as_in_front_of_an_aqm() -> None:
    """HTB counts 14 bytes more of each packet, and its rate is higher by 14 parts in 1500."""

    def lengths(scenario: dict[str, Any]) -> set[tuple[int, int]]:
        connections = [flow["traffic"]["connection"] for flow in realise(scenario, 0.0)["flows"]]
        return {(one["handshake"]["syn_bytes"], one["ack_bytes"]) for one in connections}

    assert lengths(SCENARIO) == {(60, 52)}
    managed = draw_managed(5, 0)
    assert lengths(resolve(load(managed)).to_dict()) == {(73, 65)}
    # A narrow link for ACKs counts them as they are.
    managed["link"][0]["reverse"] = {"rate": "100 kbit/s", "buffer": "50 pkt"}
    assert lengths(resolve(load(managed)).to_dict()) == {(60, 52)}
