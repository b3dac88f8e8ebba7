"""Shapers and policers from a scenario to its counters; the engine's tests have single packets."""

from typing import Any

import pytest

import ackclock
from ackclock.api import resolve_with_warnings
from ackclock.scenario import ScenarioError, load

POLICER = {"name": "policer", "rate": "10 Mbit/s", "token_bucket": {"kind": "policer", "burst": "30 kB"}}
SHAPER = POLICER | {"name": "shaper", "buffer": "100 pkt", "token_bucket": {"kind": "shaper", "burst": "0 B"}}


def scenario(link: dict[str, Any], tcp: str = "linux-cubic") -> dict[str, Any]:
    access = {"name": "access", "rate": "100 Mbit/s", "delay": "10 ms"}
    flow = {"name": "flow", "path": [link["name"], "access"], "packet": "1500 B", "tcp": tcp}
    return {"link": [link, access], "flow": [flow], "run": {"duration": "40 s", "warmup": "10 s"}}


def measured(document: dict[str, Any], name: str) -> tuple[float, dict[str, float]]:
    """Give the flow's throughput [Mbit/s] and the means of a link's figures."""
    summary = ackclock.run(document).summary
    (flow,) = summary["flows"]
    (link,) = [row for row in summary["links"] if row["name"] == name]
    means = {key: value["mean"] for key, value in link.items() if isinstance(value, dict) and "mean" in value}
    return flow["throughput_bps"]["mean"] / 1e6, means


def test_a_shaper_is_a_bottleneck_with_a_queue() -> None:
    throughput, link = measured(scenario(SHAPER), "shaper")
    assert throughput == pytest.approx(10, rel=0.01)
    assert link["utilisation_fraction"] == pytest.approx(1, abs=0.01)
    assert link["queue_mean_packets"] > 20


def test_a_shaper_without_a_burst_differs_from_a_line_by_the_time_of_a_packet() -> None:
    line = {"name": "line", "rate": "10 Mbit/s", "buffer": "100 pkt", "counting": "waiting"}
    through, shaped = measured(scenario(SHAPER), "shaper")
    other, lined = measured(scenario({**line, "delay": "0 ms"}), "line")
    assert through == pytest.approx(other, rel=0.01)
    # The line holds the packet in transmission too.
    assert shaped["queue_mean_packets"] == pytest.approx(lined["queue_mean_packets"] - 1, rel=0.05)


def test_constant_traffic_below_the_rate_passes_a_policer_and_half_of_twice_the_rate_is_dropped() -> None:
    below, above = (
        measured(scenario(POLICER) | {"flow": [datagrams(rate)]}, "policer")[1] for rate in ("9.9 Mbit/s", "20 Mbit/s")
    )
    assert below["dropped_packets"] == 0
    assert above["loss_fraction"] == pytest.approx(0.5, abs=0.002)
    assert above["queueing_max_s"] == 0


def datagrams(rate: str) -> dict[str, Any]:
    traffic = {"kind": "constant", "rate": rate}
    return {"name": "flow", "path": ["policer", "access"], "packet": "1500 B", "traffic": traffic}


def test_a_larger_burst_of_a_policer_lets_tcp_have_more_of_its_rate() -> None:
    """Flach and others 2016: a bucket of a few packets costs a loss-based control much of the policed rate."""
    rates = []
    for burst in ("3 kB", "30 kB", "300 kB"):
        policer = POLICER | {"token_bucket": {"kind": "policer", "burst": burst}}
        rates.append(measured(scenario(policer, tcp="linux-reno"), "policer")[0])
    assert rates[0] < rates[1] < rates[2] <= 10.1
    assert rates[0] < 8


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        (POLICER | {"rate": "unlimited"}, "needs a link with a constant rate"),
        (POLICER | {"private": True}, "belongs to a private link"),
        (
            POLICER | {"token_bucket": {"kind": "policer", "burst": "1499 B"}},
            "larger than the token bucket",
        ),
        (POLICER | {"token_bucket": {"kind": "leaky", "burst": "3 kB"}}, 'allowed "shaper" | "policer"'),
        (POLICER | {"token_bucket": {"kind": "policer", "burst": "2 GB"}}, "0 B to 1 GB"),
    ],
)
def test_what_a_token_bucket_cannot_have_is_a_fault(link: dict[str, Any], problem: str) -> None:
    with pytest.raises(ScenarioError) as error:
        load(scenario(link))
    assert problem in str(error.value)


def test_models_of_queues_do_not_speak_for_a_policer() -> None:
    prediction = ackclock.predict(scenario(POLICER))
    assert any("policer is a policer" in " ".join(answer.reasons) for answer in prediction.inapplicable)
    assert not prediction.applicable


def test_the_verdict_names_the_bucket_and_nothing_warns_of_a_queue() -> None:
    result = ackclock.run(scenario(POLICER))
    assert "its 30000-byte token bucket dropped" in result.summary["verdict"]
    _, warnings = resolve_with_warnings(scenario(POLICER))
    assert not [warning for warning in warnings if "queue" in warning]
