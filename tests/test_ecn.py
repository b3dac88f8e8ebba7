"""Explicit congestion notification from a scenario to its counters, its report and its captures."""

from typing import Any

import numpy as np
import pytest

import ackclock
from ackclock.engine import run_resolved
from ackclock.report import as_html
from ackclock.scenario import ScenarioError, load, resolve
from ackclock.wording import percent

RED = {"discipline": "red", "min_threshold": "20 pkt", "max_threshold": "60 pkt", "weight": 0.0625, "gentle": False}


def scenario(ecn: str | None, queue: dict[str, Any], **changes: Any) -> dict[str, Any]:
    link = {"name": "bottleneck", "rate": "20 Mbit/s", "delay": "25 ms", "buffer": "600 pkt", "queue": queue}
    tcp = {"preset": "linux-cubic"} | ({} if ecn is None else {"ecn": ecn})
    flow = {"name": "flow", "path": ["bottleneck"], "count": 4, "tcp": tcp | changes}
    return {"link": [link], "flow": [flow], "run": {"duration": "20 s", "warmup": "5 s"}}


def counters(document: dict[str, Any]) -> dict[str, float]:
    """Sum the counters of all flows, and those of the bottleneck."""
    (columns,) = run_resolved(resolve(load(document)), threads=1)
    flows, links = columns["flows"], columns["links"]
    names = ("dropped", "retransmitted", "marked")
    sums = {name: float(np.sum(flows[f"{name}_packets"])) for name in names}
    return sums | {"marked_total": float(np.sum(flows["marked_total"])), "link": float(links["marked_total"][0])}


def test_a_queue_that_marks_drops_no_packet_of_flows_with_ecn() -> None:
    marked = counters(scenario("classic", RED | {"ecn": "all"}))
    assert marked["marked"] > 20
    assert (marked["dropped"], marked["retransmitted"]) == (0, 0)
    assert marked["link"] == marked["marked_total"] >= marked["marked"]


@pytest.mark.parametrize(("ecn", "signal"), [(None, "all"), ("off", "all"), ("classic", "off")])
def test_without_ecn_at_either_end_packets_are_dropped(ecn: str | None, signal: str) -> None:
    found = counters(scenario(ecn, RED | {"ecn": signal}))
    assert found["marked"] == found["link"] == 0
    assert found["dropped"] > 10


def test_dctcp_keeps_the_queue_at_its_threshold() -> None:
    """Two flows with 100 Mbit/s and 2 ms, a step at 20 packets: the kernel's mean queue is 18.8 packets (A_dctcp_2)."""
    step: dict[str, Any] = {"discipline": "red", "min_threshold": "20 pkt", "max_threshold": "21 pkt", "weight": 0.25}
    link: dict[str, Any] = {"name": "bottleneck", "rate": "100 Mbit/s", "delay": "1 ms", "buffer": "600 pkt"}
    link |= {"counting": "waiting", "queue": step | {"max_probability": 1.0, "gentle": False, "ecn": "all"}}
    flow = {"name": "flow", "path": ["bottleneck"], "count": 2, "tcp": "linux-dctcp"}
    result = ackclock.run({"link": [link], "flow": [flow], "run": {"duration": "5 s", "warmup": "2 s"}})
    (bottleneck,) = [row for row in result.summary["links"] if row["name"] == "bottleneck"]
    assert bottleneck["utilisation_fraction"]["mean"] > 0.99
    assert 15 < bottleneck["queue_mean_packets"]["mean"] < 25
    assert bottleneck["marked_packets"]["mean"] > 1000 > bottleneck["dropped_packets"]["mean"] == 0
    assert "marked" in as_html(result.summary, 0.95)


def test_marks_in_place_of_losses_are_no_window_that_still_grows() -> None:
    warnings = ackclock.run(scenario("classic", RED | {"ecn": "all"})).summary["warnings"]
    assert not any("still grew" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("preset", "ecn", "message"),
    [
        ("newreno-rfc6582", "classic", r"field tcp.ecn: .* ns-2's own"),
        ("newreno-ns2", "dctcp", r"field tcp.ecn: is not for recovery = \"newreno\""),
    ],
)
def test_the_sender_without_selective_acknowledgment_has_the_ecn_of_ns2(preset: str, ecn: str, message: str) -> None:
    document = scenario(None, RED)
    document["flow"][0]["tcp"] = {"preset": preset, "ecn": ecn}
    with pytest.raises(ScenarioError, match=message):
        resolve(load(document))


@pytest.mark.parametrize("preset", ["tahoe-ns2", "reno-ns2", "newreno-ns2", "sack1-ns2"])
def test_presets_of_ns2_are_marked(preset: str) -> None:
    document = scenario(None, RED | {"ecn": "early"})
    document["flow"][0]["tcp"] = {"preset": preset, "ecn": "classic"}
    assert counters(document)["marked"] > 20


@pytest.mark.parametrize(
    ("tcp", "other", "whose"),
    [
        ("linux-dctcp", {"traffic": {"kind": "ping", "interval": "5 ms"}}, "of their packets other lost {}"),
        ("linux-dctcp", {"tcp": "linux-cubic"}, "of their packets other lost {}"),
        ("linux-dctcp", {"tcp": "linux-cubic", "path": ["a.reverse"]}, "ACKs, SYNs and retransmissions have none"),
        ("linux-dctcp", {"tcp": "linux-dctcp"}, None),
    ],
)
def test_those_without_ecn_whose_packets_a_step_drops_are_named(
    tcp: str, other: dict[str, Any], whose: str | None
) -> None:
    step = {"discipline": "step", "threshold": "9 pkt"}
    link = {"name": "a", "rate": "10 Mbit/s", "delay": "5 ms", "buffer": "100 pkt", "queue": step}
    flows = [{"name": "many", "count": 3, "path": ["a"], "tcp": tcp}, {"name": "other", "path": ["a"], **other}]
    summary = ackclock.run({"link": [link], "flow": flows, "run": {"duration": "10 s"}}).summary
    dropped = summary["links"][0]["dropped_by_aqm_packets"]["mean"]
    said = [warning for warning in summary["warnings"] if "at the threshold" in warning]
    lost = percent(summary["flows"][3]["loss_fraction"]["mean"])
    first = f"the step of a dropped {dropped:,.0f} packets at the threshold, where only packets with ECN are marked: "
    assert said == ([] if whose is None else [first + whose.format(lost)])
    assert (dropped > 1.0) == (whose is not None)


def test_steps_of_copies_are_one_warning() -> None:
    step = {"discipline": "step", "threshold": "9 pkt"}
    link = {"name": "a", "copies": 3, "rate": "10 Mbit/s", "delay": "5 ms", "buffer": "100 pkt", "queue": step}
    flow = {"name": "each", "path": ["a"], "tcp": "linux-cubic"}
    summary = ackclock.run({"link": [link], "flow": [flow], "run": {"duration": "10 s"}}).summary
    (said,) = (warning for warning in summary["warnings"] if "at the threshold" in warning)
    assert said.startswith("the steps of 3 copies of a dropped ")
    lost = percent(summary["flows"][0]["loss_fraction"]["mean"])
    assert said.endswith(f"of their packets each lost {lost}")
