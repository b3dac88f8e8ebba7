"""Advice on links that have an AQM already: its buffer is a backstop, and hosts may be what it is fair to."""

from typing import Any

import pytest

import ackclock
from advising import recommended


def line(queue: Any, buffer: str = "1000 pkt", **flow: Any) -> dict[str, Any]:
    return {
        "link": [{"name": "home", "rate": "20 Mbit/s", "delay": "10 ms", "buffer": buffer, "queue": queue}],
        "flow": [{"name": "bulk", "count": 2, "path": ["home"], "rtt": "40 ms", **flow}],
        "run": {"duration": "30 s", "warmup": "5 s"},
    }


@pytest.mark.parametrize(
    ("queue", "title"),
    [("codel", "CoDel"), ("pie", "PIE"), ("fq-codel", "FQ-CoDel"), ("cake", "CAKE"), ("dualpi2", "DualPI2")],
)
def test_a_buffer_is_not_shrunk_where_an_aqm_bounds_the_wait(queue: str, title: str) -> None:
    found = recommended(line(queue), "bottleneck-buffer")
    assert not found.changes
    assert found.answer.startswith("Keep 1,000 packets at home")
    assert f"the delay is {title}'s job, and packets wait" in found.answer


def test_a_buffer_that_drops_before_its_aqm_may_grow_and_does_not_shrink() -> None:
    assert int(recommended(line("codel", "3 pkt"), "bottleneck-buffer").changes["link.home.buffer"].split()[0]) > 3
    plenty = recommended(line("codel", "18 pkt"), "bottleneck-buffer")
    assert not plenty.changes
    assert "the delay is CoDel's job" in plenty.answer


def test_a_buffer_is_searched_where_an_aqm_does_not_bound_the_wait() -> None:
    """RED's thresholds are no bound, and with those of a thousand packets it never drops."""
    red = {"discipline": "red", "min_threshold": "900 pkt", "max_threshold": "1000 pkt"}
    assert recommended(line(red), "bottleneck-buffer").changes


def two_hosts(queue: Any) -> dict[str, Any]:
    document = line(queue, host="pc", count=6)
    document["flow"].append({"name": "movie", "host": "tv", "path": ["home"], "rtt": "40 ms"})
    return document


CAKE = {"discipline": "cake", "bandwidth": "18 Mbit/s"}


def test_shares_of_hosts_are_compared_where_cake_is_fair_to_these() -> None:
    fair = ackclock.run(two_hosts(CAKE), picture=False)
    rates = [row["goodput_bps"]["mean"] for row in fair.summary["flows"]]
    assert max(rates) > 4 * min(rates)
    assert "unequal" not in fair.summary["verdict"]
    by_flows = ackclock.run(two_hosts({**CAKE, "isolation": "flows"}), picture=False)
    assert "unequal" not in by_flows.summary["verdict"]
    limited = {"flow.movie.tcp.max_window": "4 pkt"}
    unfair = ackclock.run(two_hosts(CAKE), overrides=limited, picture=False)
    assert "shares of hosts are unequal" in unfair.summary["verdict"]


def test_queues_in_the_place_of_cake_are_as_fair_to_hosts_and_shaped_like_it() -> None:
    found = recommended(two_hosts(CAKE), "which-queue")
    assert not found.changes
    assert found.queues is not None
    now, *others = found.queues.rows
    assert now.fairness_index["mean"] == pytest.approx(1.0, abs=0.01)
    fair_to_flows = next(row for row in others if row.name.startswith("FQ-CoDel"))
    # 6 of 7 shares and 1 of 7.
    assert fair_to_flows.fairness_index["mean"] == pytest.approx(49 / (2 * 37), abs=0.02)
    assert fair_to_flows.changes["link.home.rate"] == "18 Mbit/s"
    assert fair_to_flows.changes["link.home.reverse.rate"] == "20 Mbit/s"
    assert all((row.throughput_bps["mean"] or 0.0) <= 18e6 for row in found.queues.rows)


@pytest.mark.parametrize(
    "queue",
    [
        {"discipline": "step", "threshold": "30 pkt"},
        {"discipline": "red", "min_threshold": "30 pkt", "max_threshold": "90 pkt", "ecn": "early"},
    ],
    ids=["step", "red"],
)
def test_a_buffer_behind_a_queue_that_marks_is_left_as_it_is(queue: dict[str, Any]) -> None:
    """A smaller one would lose packets where none is lost: one of 14 packets had 2,722 loss cycles in place of none."""
    is_step = queue["discipline"] == "step"
    tcp = {"preset": "linux-dctcp"} if is_step else {"preset": "linux-cubic", "ecn": "classic"}
    document = {
        "link": [{"name": "tor", "rate": "200 Mbit/s", "delay": "1 ms", "buffer": "200 pkt", "queue": queue}],
        "flow": [{"path": ["tor"], "count": 2, "tcp": tcp}],
        "run": {"duration": "5 s", "warmup": "1 s"},
    }
    found = recommended(document, "bottleneck-buffer")
    assert not found.changes
    assert found.answer.startswith("Keep 200 packets at tor: the delay is ")
