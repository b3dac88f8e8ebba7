"""Prague and accurate ECN from a scenario to its counters and captures; single steps are tests of the engine."""

from typing import Any

import numpy as np
import pytest

import ackclock
from ackclock.engine import run_resolved
from ackclock.scenario import load, resolve

STEP = {"discipline": "red", "min_threshold": "20 pkt", "max_threshold": "21 pkt", "weight": 1.0, "gentle": False}


def scenario(tcp: Any, delays: list[str], duration: str = "20 s") -> dict[str, Any]:
    """Give flows with 100 Mbit/s and a step of marks at 20 packets; each has a delay of its own there."""
    queue = STEP | {"max_probability": 1.0, "ecn": "all"}
    link = {"name": "bottleneck", "rate": "100 Mbit/s", "delay": "1 ms", "buffer": "600 pkt", "queue": queue}
    links = [{"name": f"access{number}", "rate": "unlimited", "delay": delay} for number, delay in enumerate(delays)]
    flows = [
        {"name": f"flow{number}", "path": [f"access{number}", "bottleneck"], "tcp": tcp, "start": f"{number} ms"}
        for number in range(len(delays))
    ]
    run = {"duration": duration, "warmup": "10 s"}
    return {"link": [*links, link | {"counting": "waiting"}], "flow": flows, "run": run}


def shares(document: dict[str, Any]) -> np.ndarray:
    """Compute the fraction of what is acknowledged, of each flow."""
    (columns,) = run_resolved(resolve(load(document)), threads=1)
    assert np.sum(columns["flows"]["dropped_packets"]) == 0
    acked = np.asarray(columns["flows"]["acked_packets"], dtype=float)
    found: np.ndarray = acked / np.sum(acked)
    return found


@pytest.mark.parametrize("flows", [1, 2, 10])
def test_prague_keeps_the_queue_at_the_step_and_the_link_busy(flows: int) -> None:
    summary = ackclock.run(scenario("draft-prague", ["8 ms"] * flows)).summary
    (bottleneck,) = [row for row in summary["links"] if row["name"] == "bottleneck"]
    # Ten flows that are marked at once leave 0.4% of the link.
    assert bottleneck["utilisation_fraction"]["mean"] > (0.99 if flows == 10 else 0.999)
    assert 12 < bottleneck["queue_mean_packets"]["mean"] < 25
    assert bottleneck["dropped_packets"]["mean"] == 0 < bottleneck["marked_packets"]["mean"]


def test_flows_of_prague_share_alike() -> None:
    found = shares(scenario("draft-prague", ["8 ms"] * 10, "60 s"))
    assert np.sum(found) ** 2 / (10 * np.sum(found**2)) > 0.95


def test_a_short_round_trip_is_no_advantage_after_a_time() -> None:
    """Round trips of 8 and 20 ms with the queue, section 2.4.4: both have the virtual one of 25 ms."""
    delays = ["2 ms", "8 ms"]
    independent = shares(scenario({"preset": "draft-prague", "parameters": {"independent_after": 0}}, delays, "60 s"))
    dependent = shares(scenario({"preset": "draft-prague", "parameters": {"rtt_virtual": 0}}, delays, "60 s"))
    assert independent[0] == pytest.approx(0.5, abs=0.05)
    assert dependent[0] > 0.7


@pytest.mark.parametrize("preset", ["linux-reno", "linux-cubic", "linux-dctcp"])
def test_accurate_ecn_is_read_by_every_control(preset: str) -> None:
    """A control that reduces once in a window has the windows that it has with the classic echo, nearly."""
    usual = "dctcp" if preset == "linux-dctcp" else "classic"
    summaries = [
        ackclock.run(scenario({"preset": preset, "ecn": ecn}, ["8 ms"])).summary["links"][-1]
        for ecn in ("accurate", usual)
    ]
    accurate, other = (row["utilisation_fraction"]["mean"] for row in summaries)
    assert accurate == pytest.approx(other, abs=0.02)
    marked = [row["marked_packets"]["mean"] for row in summaries]
    assert marked[0] == pytest.approx(marked[1], rel=0.15)
