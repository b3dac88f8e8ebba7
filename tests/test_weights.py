"""Weights of flows at fair queues: deficit round robin shares the rate in their proportion."""

from typing import Any

import pytest

import ackclock

RATE_BPS = 20e6


def shares(discipline: str, separation: str, flows: list[dict[str, Any]]) -> Any:
    """Run flows through one link, and give the rows of its [[flow]]."""
    queue = {"discipline": discipline, "separation": separation}
    link = {"name": "home", "rate": "20 Mbit/s", "delay": "1 ms", "buffer": "400 pkt", "queue": queue}
    given = {
        "link": [link],
        "flow": [{"path": ["home"], "packet": "1500 B", **flow} for flow in flows],
        "run": {"duration": "90 s", "warmup": "10 s", "replications": 4, "seed": 7},
    }
    result = ackclock.run(given)
    assert not [text for text in result.summary["warnings"] if "weight" in text]
    return result.classes.loc["home"]


@pytest.mark.parametrize(
    ("discipline", "separation"),
    [("drr", "perfect"), ("fq", "perfect"), ("drr", "group"), ("wfq", "perfect"), ("wfq", "group")],
)
def test_backlogged_flows_have_shares_equal_to_their_weights_whatever_their_round_trips(
    discipline: str, separation: str
) -> None:
    """Shreedhar, Varghese 1996, theorem 2: the shares of backlogged flows are those of their quanta."""
    tcp = {"tcp": "linux-cubic"}
    rows = shares(
        discipline,
        separation,
        [
            {"name": "far", "rtt": "80 ms", "weight": 3, **tcp},
            {"name": "near", "rtt": "10 ms", **tcp},
            {"name": "middle", "rtt": "40 ms", "weight": 2, "start_spread": "100 ms", **tcp},
        ],
    )
    for name, weight in (("far", 3), ("near", 1), ("middle", 2)):
        expected = RATE_BPS * weight / 6
        assert rows.loc[name, "throughput_bps"] == pytest.approx(expected, rel=0.01)


def test_a_group_has_its_share_however_many_flows_it_has() -> None:
    flows = [
        {"name": "many", "count": 10, "rtt": "20 ms", "start_spread": "1 s", "tcp": "linux-cubic"},
        {"name": "one", "rtt": "20 ms", "weight": 3, "tcp": "linux-cubic"},
    ]
    group = shares("drr", "group", flows)
    assert group.loc["one", "throughput_bps"] == pytest.approx(0.75 * RATE_BPS, rel=0.01)
    each = shares("drr", "perfect", flows)
    assert each.loc["one", "throughput_bps"] == pytest.approx(3 / 13 * RATE_BPS, rel=0.01)


def test_datagrams_share_exactly_and_a_share_that_is_not_used_goes_to_the_others() -> None:
    def source(name: str, rate: str, weight: int) -> dict[str, Any]:
        return {"name": name, "weight": weight, "traffic": {"kind": "constant", "rate": rate}}

    rows = shares("drr", "group", [source("a", "30 Mbit/s", 3), source("b", "30 Mbit/s", 1)])
    assert rows.loc["a", "throughput_bps"] == pytest.approx(0.75 * RATE_BPS, rel=1e-3)
    idle = shares("drr", "group", [source("a", "2 Mbit/s", 3), source("b", "30 Mbit/s", 1)])
    assert idle.loc["a", "throughput_bps"] == pytest.approx(2e6, rel=1e-3)
    assert idle.loc["b", "throughput_bps"] == pytest.approx(RATE_BPS - 2e6, rel=1e-3)


@pytest.mark.parametrize("queue", ["fq", "drop-tail", "cake"])
def test_a_weight_without_a_queue_that_weighs_has_no_effect_and_is_warned_of(queue: str) -> None:
    link = {"name": "home", "rate": "20 Mbit/s", "delay": "1 ms", "buffer": "400 pkt", "queue": queue}
    flow = {"name": "one", "path": ["home"], "weight": 3, "rtt": "20 ms"}
    result = ackclock.run({"link": [link], "flow": [flow], "run": {"duration": "1 s"}})
    assert any("weight" in text and "no effect" in text for text in result.summary["warnings"])


def weighted() -> dict[str, Any]:
    """Two flows with weights of 3 and 1 at a queue that shares by them."""
    link = {"name": "home", "rate": "20 Mbit/s", "delay": "10 ms", "buffer": "200 pkt", "queue": "wfq"}
    flows: list[dict[str, Any]] = [{"name": "heavy", "weight": 3}, {"name": "light"}]
    return {
        "link": [link],
        "flow": [{"path": ["home"], "rtt": "40 ms", **flow} for flow in flows],
        "run": {"duration": "20 s", "warmup": "5 s"},
    }


def test_shares_are_called_unequal_over_their_weights() -> None:
    assert "unequal" not in ackclock.run(weighted()).summary["verdict"]
    without = weighted()
    without["link"][0]["queue"] = "drop-tail"
    del without["flow"][0]["weight"]
    without["flow"][1]["tcp"] = {"preset": "linux-cubic", "max_window": "2 pkt"}
    assert "Mbit/s (Jain's index 0.51)" in ackclock.run(without).summary["verdict"]
    limited = weighted()
    limited["flow"][1]["tcp"] = {"preset": "linux-cubic", "max_window": "2 pkt"}
    assert "(Jain's index of shares over weights 0." in ackclock.run(limited).summary["verdict"]


def test_advice_compares_queues_by_shares_over_weights() -> None:
    (found,) = ackclock.advise(weighted(), topics=["which-queue"]).recommendations
    assert found.queues is not None
    index = {row.name: float(row.fairness_index["mean"] or 0.0) for row in found.queues.rows}
    assert index["WFQ, 200 packets (now)"] > 0.99
    assert index["FQ-CoDel"] > 0.99, "each flow has a queue of its own, so that weights count"
    assert index["CoDel"] < 0.9
