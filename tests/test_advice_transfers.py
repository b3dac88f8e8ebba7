"""Advice on transfers: no rates that each had alone are added, and the slowest is that of each run."""

from typing import Any

import pytest

import ackclock
from ackclock.advice import Alternative
from ackclock.stats import estimate

INCAST: dict[str, Any] = {
    "link": [{"name": "port", "rate": "10 Gbit/s", "delay": "20 us", "buffer": "150 kB"}],
    "flow": [
        {"name": "incast", "count": 20, "path": ["port"], "rtt": "100 us", "size": "64 kB", "start_spread": "10 us"}
    ],
    "run": {"duration": "2 s", "replications": 5},
}


@pytest.fixture(scope="module")
def result() -> ackclock.Result:
    return ackclock.run(INCAST, picture=False)


def test_the_verdict_has_the_slowest_transfer_of_the_table(result: ackclock.Result) -> None:
    slowest = result.summary["completions"][0]["fct_max_s"]["mean"]
    (found,) = (one for one in result.findings if one.kind == "transfers")
    assert found.numbers["fct_max_s"] == slowest
    assert slowest > 1.5 * max(row["fct_max_s"]["mean"] for row in result.summary["flows"])


def test_the_verdict_names_transfers_that_waited_for_a_timer(result: ackclock.Result) -> None:
    assert "after a loss they waited for a timer" in result.summary["verdict"]
    ample = ackclock.run(INCAST, overrides={"link.port.buffer": "400 pkt"}, picture=False)
    assert "timer" not in ample.summary["verdict"]


def test_rates_that_transfers_had_each_over_its_life_are_not_added(result: ackclock.Result) -> None:
    (found,) = ackclock.advise(INCAST, topics=["bottleneck-buffer"]).recommendations
    slowest = result.summary["completions"][0]["fct_max_s"]["mean"]
    assert f"the slowest transfer takes {slowest:.4g} s" in found.answer
    (table,) = found.alternatives
    assert all(row.throughput_bps["mean"] is None for row in table.rows)
    assert "put" not in " ".join(table.table.headers)
    assert "throughput" not in str(found.tables[1])
    alone = ackclock.advise({**INCAST, "flow": [{**INCAST["flow"][0], "count": 1}]}, topics=["bottleneck-buffer"])
    assert not alone.recommendations


SHAPED: dict[str, Any] = {
    "link": [
        {
            "name": "isp",
            "rate": "20 Mbit/s",
            "delay": "20 ms",
            "buffer": "300 pkt",
            "token_bucket": {"kind": "shaper", "burst": "2 MB"},
        }
    ],
    "flow": [{"name": "download", "path": ["isp"], "size": "3 MB"}],
    "run": {"duration": "10 s"},
}


def test_the_one_loss_of_a_lone_transfer_does_not_decide_on_a_size() -> None:
    """With 2 packets it loses after a burst of 2 MB, and is quicker by chance than with 300."""
    (found,) = ackclock.advise(SHAPED, topics=["bottleneck-buffer"]).recommendations
    assert not found.changes
    assert found.answer.startswith("Keep 300 packets at isp: the targets are met. With 2 packets, ")
    assert "1 loss cycle: too few to advise a size by" in found.answer


def test_a_chosen_size_that_misses_a_target_says_so() -> None:
    half = estimate([0.5], 0.95)
    missed = ("loss", "round trip")
    row = Alternative(83.0, half, half, half, half, 9.0, meets=False, chosen=True, note="now", missed=missed)
    assert row.cells[-1] == "chosen, misses loss and round trip, now"


def test_where_nothing_is_dropped_the_advice_says_where_packets_wait() -> None:
    link = {"name": "dsl", "rate": "20 Mbit/s", "delay": "20 ms", "buffer": "300 pkt"}
    flow = {"name": "download", "path": ["dsl"], "size": "2 MB"}
    run = {"duration": "10 s"}
    waiting = ackclock.advise({"link": [link], "flow": [flow], "run": run})
    assert "Packets wait at dsl, 95% of them up to 3" in waiting.reasons[0]
    assert "no link has a queue" not in waiting.reasons[0]
    ping = {"name": "ping", "path": ["dsl"], "traffic": {"kind": "ping", "interval": "100 ms"}}
    assert "next to no packet waits" in ackclock.advise({"link": [link], "flow": [ping], "run": run}).reasons[0]
