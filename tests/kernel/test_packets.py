"""The comparison of the packets that both sides send."""

from pathlib import Path

import numpy as np
import pytest

from crosscheck.linux import recorded
from crosscheck.linux.check import resolved, same_packets
from crosscheck.linux.draw import SCRIPTED, draw, draw_scripted
from crosscheck.linux.draw_queued import PACED, QUEUED, draw_paced, draw_queued
from crosscheck.linux.packets import (
    FIRST_PORT,
    LAST_S,
    RECORD,
    Packets,
    Same,
    compare_sent,
    load_sent,
    read_sent,
    save_sent,
)
from crosscheck.linux.path import Scenario, tcp_of


def sent(*packets: tuple[float, int]) -> Packets:
    times, numbers = zip(*packets, strict=True)
    return np.array(times), np.array(numbers)


THEIRS = {0: sent((1.0, 0), (1.1, 1), (1.2, 2), (1.3, 1)), 1: sent((1.05, 0), (1.25, 1))}


@pytest.mark.parametrize(
    ("flow", "ours", "same"),
    [
        pytest.param(0, sent((1.00005, 0), (1.1, 1), (1.2, 2), (1.3, 1)), Same(6, 6, np.inf), id="0.05 ms late"),
        pytest.param(0, sent((1.0, 0), (1.1003, 1), (1.2, 2), (1.3, 1)), Same(2, 6, 1.1), id="0.3 ms late"),
        pytest.param(0, sent((1.0, 0), (1.1, 1), (1.2, 1), (1.3, 2)), Same(3, 6, 1.2), id="another packet"),
        pytest.param(0, sent((1.0, 0), (1.1, 1), (1.2, 2)), Same(5, 6, 1.3), id="one less"),
        pytest.param(1, sent((1.05, 0), (1.25, 1), (1.28, 2)), Same(5, 6, 1.28), id="one more"),
        pytest.param(1, sent((1.05, 0), (1.25, 1), (1.3995, 2)), Same(6, 6, np.inf), id="one more at the very end"),
        pytest.param(2, sent((1.3995, 0)), Same(6, 6, np.inf), id="a flow that begins at the very end"),
    ],
)
def test_the_first_packet_that_differs_ends_what_is_the_same(flow: int, ours: Packets, same: Same) -> None:
    assert compare_sent(THEIRS, {**THEIRS, flow: ours}, 1.4) == same


def test_what_the_kernel_alone_sends_at_the_very_end_is_not_counted() -> None:
    longer = {**THEIRS, 1: sent((1.05, 0), (1.25, 1), (1.3995, 2), (1.6, 3))}
    assert compare_sent(longer, THEIRS, 1.4) == Same(6, 6, np.inf)
    # Just before the end one side may have a packet that the other one has just behind it.
    last_s = 1.4 - LAST_S
    before, behind = sent((1.05, 0), (last_s - 5e-6, 1)), sent((1.05, 0), (last_s + 5e-6, 1))
    assert compare_sent({0: before}, {0: behind}, 1.4) == Same(2, 2, np.inf)


def test_a_flow_that_sends_on_one_side_alone_differs_from_its_first_packet_on() -> None:
    assert compare_sent(THEIRS, {0: THEIRS[0]}, 1.4) == Same(1, 6, 1.05)
    assert compare_sent({0: THEIRS[0]}, THEIRS, 1.4) == Same(1, 4, 1.05)
    assert compare_sent({}, {}, 1.4) == Same(0, 0, np.inf)


def test_the_line_says_how_many_and_until_when() -> None:
    assert Same(2, 6, 1.1).line() == "packets as the kernel's within 0.1 ms: the first 2 of 6, until 1.100 s"
    assert Same(6, 6, np.inf).line() == "packets as the kernel's within 0.1 ms: all 6"


def test_data_that_arrive_at_the_bottleneck_are_read_by_flow(tmp_path: Path) -> None:
    start = 2**32 - 1000
    packets = np.zeros(6, RECORD)
    packets["time_ns"] = [500_000_000, 600_000_000, 700_000_000, 800_000_000, 900_000_000, 950_000_000]
    packets["port"] = FIRST_PORT + np.array([1, 1, 1, 1, 1, 0])
    packets["seq"] = [start, start, (start + 1448) % 2**32, start, start, 77]
    packets["payload"] = [0, 1448, 1448, 1448, 1448, 200]
    # The first has no data, the fourth leaves the bottleneck, and the fifth is an ACK's way back.
    packets["device"], packets["direction"] = [0, 0, 0, 1, 0, 0], [0, 0, 0, 1, 1, 0]
    path = tmp_path / "o.cap"
    packets.tofile(path)
    found = read_sent(path, 3, 1448, 0.5)
    assert sorted(found) == [0, 1]
    times, numbers = found[1]
    assert (times.round(9).tolist(), numbers.tolist()) == ([0.1, 0.2], [0, 1]), "numbers go past 2^32"
    assert found[0][1].tolist() == [0]


RECORDED = sorted(path.name.removesuffix(".csv.gz") for path in (recorded.FOLDER / "sends").glob("*.csv.gz"))
"""Recorded runs whose packets are recorded too, and drawn ones, by seed and number."""


def scenario_of(name: str, seconds: float) -> Scenario:
    if name in recorded.runs():
        return recorded.runs()[name].scenario(recorded.lost().get(name, ()))
    *kind, seed, number = name.split("-")
    if kind == [SCRIPTED]:
        return resolved(draw_scripted(int(seed), int(number)))
    if kind == [QUEUED]:
        return resolved(draw_queued(int(seed), int(number)))
    if kind == [PACED]:
        return resolved(draw_paced(int(seed), int(number)))
    drawn = resolved(draw(int(seed), int(number)))
    return {**drawn, "run": {**drawn["run"], "duration_s": seconds, "warmup_s": 0.0}}


def test_packets_of_recorded_and_drawn_runs_are_recorded() -> None:
    scripted = [name for name in RECORDED if name.startswith(SCRIPTED)]
    queued = [name for name in RECORDED if name.startswith(QUEUED)]
    paced = [name for name in RECORDED if name.startswith(PACED)]
    assert (len(scripted), len(queued), len(paced)) == (39, 9, 8)
    others = [name for name in RECORDED if name not in {*scripted, *queued, *paced}]
    assert others == ["112730-3", "R_reno_30", "U_cubic_few"]


@pytest.mark.parametrize("name", RECORDED)
def test_each_packet_is_sent_when_the_kernel_sends_it(name: str) -> None:
    """Two flows in one queue: 11,222 packets; Reno with losses of 30%: 439; CUBIC whose ACKs are dropped: 6,307.

    Flows of nine controls whose packets are lost by their numbers, or whose delay changes: 39 with 20 to 1,500 packets.
    Flows through CoDel, FQ-CoDel and SFQ: nine. One notices the timestamp of an ACK that a timer sends, and two that
    packets lie in two of their sender's pages. Flows of BBR: eight. Two notice the time of a packet that a timer sends.
    """
    theirs = load_sent(recorded.FOLDER / "sends" / f"{name}.csv.gz")
    last_s = max(times[-1] for times, _ in theirs.values())
    scenario = scenario_of(name, float(np.ceil(last_s)))
    same = same_packets(scenario, theirs)
    assert same.until_s == np.inf
    assert same.packets == same.of > (15 if name.startswith(SCRIPTED) else 400)


def test_a_wrong_rule_is_noticed_in_packets() -> None:
    """A first window of three packets is enough."""
    name = next(name for name in RECORDED if name.startswith(SCRIPTED))
    theirs = load_sent(recorded.FOLDER / "sends" / f"{name}.csv.gz")
    scenario = scenario_of(name, 30.0)
    (flow,) = scenario["flows"]
    sender = {**tcp_of(flow)["sender"], "initial_window": 3.0}
    other = {**flow, "traffic": {**flow["traffic"], "connection": {**tcp_of(flow), "sender": sender}}}
    same = same_packets({**scenario, "flows": [other]}, theirs)
    assert same.packets < same.of


def test_packets_come_back_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "sent.csv.gz"
    save_sent(path, THEIRS)
    found = load_sent(path)
    assert {flow: (times.round(9).tolist(), numbers.tolist()) for flow, (times, numbers) in found.items()} == {
        flow: (times.tolist(), numbers.tolist()) for flow, (times, numbers) in THEIRS.items()
    }
    again = tmp_path / "again.csv.gz"
    save_sent(again, found)
    assert again.read_bytes() == path.read_bytes()
