"""Cost of points: what is expected before they run is what they take, up to a factor."""

from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock.cost import POINT, expected_cost, expected_packets
from ackclock.engine import run_resolved
from ackclock.scenario.ready import ready_names
from ackclock.sweeps import Folder, run_points

FACTOR = 2.0
"""Largest ratio of the packets that are expected to those that are sent, either way: the losses are not known."""


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *(("access-bufferbloat", {"link.access.rate": rate}) for rate in ("5 Mbit/s", "50 Mbit/s", "500 Mbit/s")),
        *(("geo-random-drop", {"run.replications": number}) for number in (1, 3)),
        *(("web-access-link", {"flow.web.count": number}) for number in (20, 134)),
        ("geo-two-nodes", {"flow.flow.tcp.max_window": "10 pkt"}),
        ("geo-two-nodes", {"flow.flow.size": "100 kB"}),
    ],
)
def test_the_expected_packets_are_about_those_that_are_sent(name: str, changes: dict[str, Any]) -> None:
    resolved = ackclock.resolve(name, overrides={"run.duration": "120 s", "run.warmup": "0 s", **changes})
    sent = sum(one["packets"] for one in run_resolved(resolved).replications)
    assert 1.0 / FACTOR < expected_packets(resolved) / sent < FACTOR


@pytest.mark.parametrize("name", ready_names())
def test_every_kind_of_scenario_has_a_cost_that_grows_with_its_length(name: str) -> None:
    short = ackclock.resolve(name, overrides={"run.duration": "10 s", "run.warmup": "0 s"})
    long = ackclock.resolve(name, overrides={"run.duration": "1000 s", "run.warmup": "0 s"})
    assert POINT < expected_cost(short) < expected_cost(long) < 101.0 * expected_cost(short)


def test_progress_goes_by_the_cost_of_points_and_the_longest_is_first(tmp_path: Path) -> None:
    points = [
        ackclock.resolve("geo-two-nodes", overrides={"run.duration": f"{seconds} s", "run.warmup": "0 s"})
        for seconds in (20, 20_000, 40, 60)
    ]
    costs = sorted((expected_cost(point) for point in points), reverse=True)
    seen: list[tuple[float, int]] = []
    run_points(points, Folder(tmp_path), jobs=1, on_progress=lambda done, finished: seen.append((done, finished)))
    assert seen == sorted(seen)
    assert {finished for _, finished in seen} >= {1, 2, 3, 4}
    for done, finished in seen:
        # What is running counts too: the next point may have run to its end while this one was written.
        assert done >= sum(costs[:finished]) / sum(costs) - 1e-9
    assert min(done for done, finished in seen if finished == 1) > 0.9
    assert seen[-1][0] == pytest.approx(1.0)


def test_pings_cost_one_packet_an_interval() -> None:
    link = {"name": "link", "rate": "1 Mbit/s", "delay": "10 ms"}
    flow = {"path": ["link"], "traffic": {"kind": "ping", "interval": "100 ms"}}
    resolved = ackclock.resolve({"link": [link], "flow": [flow], "run": {"duration": "100 s"}})
    assert expected_packets(resolved) == pytest.approx(1000.0)


@pytest.mark.parametrize(
    ("fields", "duration"),
    [
        ({"rate": "100 Gbit/s", "delay": "100 ms", "buffer": "50 ms"}, "5 s"),
        ({"rate": "10 Tbit/s", "delay": "1 s", "buffer": "20000 pkt"}, "60 s"),
        ({"rate": "1 Gbit/s", "delay": "100 s", "buffer": "1000 pkt"}, "1000 s"),
    ],
)
def test_what_socket_buffers_and_the_first_round_trips_bound_is_not_expected_to_fill_the_link(
    fields: dict[str, str], duration: str
) -> None:
    """An estimate that is too high refuses work that is cheap; it is an upper bound where losses are not known."""
    link = {"name": "link", **fields}
    resolved = ackclock.resolve({"link": [link], "flow": [{"path": ["link"]}], "run": {"duration": duration}})
    sent = sum(one["packets"] for one in run_resolved(resolved).replications)
    assert sent <= expected_packets(resolved) < 10.0 * sent
