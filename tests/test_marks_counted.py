"""Fractions of marked and lost packets, waits and loss cycles at the edges of a run: none above all of the packets."""

from typing import Any

import numpy as np

import ackclock
from ackclock.delays import delays_of

STEP = {"discipline": "step", "threshold": "5 pkt"}


def scenario(links: list[dict[str, Any]], **flow: Any) -> dict[str, Any]:
    path = [link["name"] for link in links]
    run = {"duration": "8 s", "warmup": "7.9 s"}
    return {"link": links, "flow": [{"name": "f", "path": path, "tcp": "draft-prague", **flow}], "run": run}


def link(name: str, rate: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "rate": rate, "delay": "10 ms", "buffer": "100 pkt", "queue": STEP, **fields}


def test_marks_of_packets_of_the_warm_up_are_not_marks_of_those_after_it() -> None:
    """A hundred packets wait for 1.2 s and are marked as they leave; some ten are sent after the beginning."""
    slow = link("l", "1 Mbit/s", buffer="400 pkt", queue={"discipline": "codel", "ecn": "all"})
    tcp = {"preset": "linux-cubic", "initial_window": "100 pkt", "ecn": "classic"}
    document = scenario([slow], tcp=tcp, size="110 pkt")
    document["run"] = {"duration": "8 s", "warmup": "50 ms"}
    result = ackclock.run(document, picture=False)
    assert 0.0 <= float(result.flows.marked_fraction["f"]) <= 1.0
    assert float(result.links.marked_packets["l"]) > 20


def test_a_packet_that_two_queues_mark_is_one_marked_packet() -> None:
    """Forty windows of two packets are more than the second path holds: it marks all, the first link some of them."""
    low = {"discipline": "step", "threshold": "0 pkt"}
    links = [link(name, rate, queue=low, delay="1 ms") for name, rate in (("a", "10 Mbit/s"), ("b", "12 Mbit/s"))]
    document = scenario(links, tcp="linux-dctcp", count=20)
    document["flow"].append({"name": "g", "path": ["b"], "tcp": "linux-dctcp", "count": 20})
    result = ackclock.run(document, overrides={"run.warmup": "2 s"}, picture=False)
    sent = result.links.throughput_bps * 6.0 / 12e3
    marks = result.links.marked_packets / sent
    assert marks["a"] > 0.0
    assert marks["b"] > 0.99
    assert (result.flows.marked_fraction <= 1.0).all()


def test_a_class_whose_packets_only_leave_in_the_measured_part_has_a_row() -> None:
    document = scenario([link("l", "1 Mbit/s", buffer="1000 pkt", queue={"discipline": "fq", "separation": "group"})])
    burst = {
        "name": "burst",
        "path": ["l"],
        "size": "40 pkt",
        "tcp": {"preset": "linux-reno", "initial_window": "40 pkt"},
    }
    document["flow"] = [{"name": "f", "path": ["l"]}, burst]
    document["run"] = {"duration": "3 s", "warmup": "300 ms"}
    rows = ackclock.run(document, picture=False).classes
    assert rows.throughput_bps["l", "burst"] > 0.0


def test_a_mean_wait_is_never_above_the_longest() -> None:
    """A bucket's middle is, where all packets wait for the time at which the bucket begins."""
    buckets = {"row": np.array([0]), "bucket": np.array([700]), "count": np.array([8])}
    buckets |= {"low_s": np.array([1.0]), "high_s": np.array([1.008])}
    found = delays_of("queueing", buckets, np.array([1.001, np.nan]))
    assert found["queueing_mean_s"][0] == 1.001
    assert np.isnan(found["queueing_mean_s"][1])


def test_no_duration_is_named_where_nothing_arrives() -> None:
    document = scenario([link("l", "10 Mbit/s", loss={"model": "bernoulli", "probability": 1.0})])
    document["run"] = {"duration": "60 s"}
    warnings = ackclock.run(document, picture=False).summary["warnings"]
    assert not any("loss cycle" in str(one) for one in warnings)
    some = ackclock.run(document, overrides={"link.l.loss.probability": 0.001}, duration="5 s", picture=False)
    assert any("loss cycle" in str(one) for one in some.summary["warnings"])
