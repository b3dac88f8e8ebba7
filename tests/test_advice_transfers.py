"""Advice on transfers: no rates that each had alone are added, and the slowest is that of each run."""

from typing import Any

import pytest

import ackclock

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
