"""The comparison of the packets that both sides send."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from crosscheck.linux import recorded
from crosscheck.linux.check import resolved, same_packets
from crosscheck.linux.draw import draw
from crosscheck.linux.packets import FIRST_PORT, RECORD, Packets, Same, compare_sent, read_sent


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
        pytest.param(
            1, sent((1.05, 0), (1.25, 1), (1.3995, 2)), Same(6, 6, np.inf), id="one more in the last millisecond"
        ),
    ],
)
def test_the_first_packet_that_differs_ends_what_is_the_same(flow: int, ours: Packets, same: Same) -> None:
    assert compare_sent(THEIRS, {**THEIRS, flow: ours}, 1.4) == same


def test_a_flow_that_sends_on_one_side_alone_differs_from_its_first_packet_on() -> None:
    assert compare_sent(THEIRS, {0: THEIRS[0]}, 1.4) == Same(1, 6, 1.05)
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


DRAWN = sorted(path.name.removesuffix(".csv.gz") for path in (recorded.FOLDER / "drawn").glob("*.csv.gz"))
"""Seed and number of the drawn scenarios whose packets are recorded."""


@pytest.mark.parametrize("name", DRAWN)
def test_each_packet_of_a_drawn_path_is_sent_when_the_kernel_sends_it(name: str) -> None:
    """Reno and CUBIC in one queue: 11,222 packets, 139 of them twice, in 14 recoveries."""
    with gzip.open(recorded.FOLDER / "drawn" / f"{name}.csv.gz", "rt") as file:
        after_us, flows, numbers = np.loadtxt(file, delimiter=",", skiprows=1, unpack=True)
    times_s = np.cumsum(after_us) * 1e-6
    theirs = {int(flow): (times_s[flows == flow], numbers[flows == flow].astype(np.int64)) for flow in np.unique(flows)}
    scenario = resolved(draw(*map(int, name.split("-"))))
    seconds = float(np.ceil(times_s[-1]))
    scenario = {**scenario, "run": {**scenario["run"], "duration_s": seconds, "warmup_s": 0.0}}
    assert same_packets(scenario, theirs) == Same(times_s.size, times_s.size, np.inf)
