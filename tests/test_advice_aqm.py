"""Advice on links that have an AQM already: its buffer is a backstop, and hosts may be what it is fair to."""

from typing import Any

import pytest

import ackclock
from ackclock.advice import Recommendation


def line(queue: Any, buffer: str = "1000 pkt", **flow: Any) -> dict[str, Any]:
    return {
        "link": [{"name": "home", "rate": "20 Mbit/s", "delay": "10 ms", "buffer": buffer, "queue": queue}],
        "flow": [{"name": "bulk", "count": 2, "path": ["home"], "rtt": "40 ms", **flow}],
        "run": {"duration": "30 s", "warmup": "5 s"},
    }


def advised(document: Any, topic: str) -> Recommendation:
    (found,) = ackclock.advise(document, topics=[topic]).recommendations
    return found


@pytest.mark.parametrize(
    ("queue", "title"),
    [("codel", "CoDel"), ("pie", "PIE"), ("fq-codel", "FQ-CoDel"), ("cake", "CAKE"), ("dualpi2", "DualPI2")],
)
def test_a_buffer_is_not_shrunk_where_an_aqm_bounds_the_wait(queue: str, title: str) -> None:
    found = advised(line(queue), "bottleneck-buffer")
    assert not found.changes
    assert found.answer.startswith("Keep 1,000 packets at home")
    assert f"the delay is {title}'s job, and packets wait" in found.answer


def test_a_buffer_that_drops_before_its_aqm_may_grow_and_does_not_shrink() -> None:
    assert int(advised(line("codel", "3 pkt"), "bottleneck-buffer").changes["link.home.buffer"].split()[0]) > 3
    plenty = advised(line("codel", "18 pkt"), "bottleneck-buffer")
    assert not plenty.changes
    assert "the delay is CoDel's job" in plenty.answer


def test_a_buffer_is_searched_where_an_aqm_does_not_bound_the_wait() -> None:
    """RED's thresholds are no bound, and with those of a thousand packets it never drops."""
    red = {"discipline": "red", "min_threshold": "900 pkt", "max_threshold": "1000 pkt"}
    assert advised(line(red), "bottleneck-buffer").changes
