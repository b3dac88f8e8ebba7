"""Models of other controls than Reno's next to simulations; the tolerances were chosen before the first run."""

from math import ceil
from typing import Any

import pytest

import ackclock
from ackclock.models import classics, controls


def path(preset: str, **link: Any) -> dict[str, Any]:
    return {
        "link": [{"name": "path", "rate": "1 Gbit/s", "delay": "50 ms", **link}],
        "flow": [
            {"name": "flow", "path": ["path"], "tcp": {"preset": preset, "max_window": "unlimited", "ack_every": 1}}
        ],
        "run": {"duration": "600 s", "warmup": "60 s"},
    }


def every(packets: int, number: int) -> dict[str, Any]:
    return {"model": "packets", "packets": [packets * one for one in range(1, number + 1)]}


def relative_rate(dialect: str, packets: int, number: int) -> float:
    """Give the throughput with a loss after each so many packets, relative to the formula's."""
    form = ackclock.resolve(path("linux-cubic", loss=every(packets, number)), warmup="300 s").to_dict()
    form["flows"][0]["traffic"]["connection"]["sender"]["congestion_control"]["dialect"] = dialect
    result = ackclock.run(ackclock.scenario.Resolved.from_dict(form), picture=False)
    return float(result.flows.throughput_bps["flow"] / (controls.cubic_rate(0.1, 1.0 / packets) * 1500 * 8))


@pytest.mark.parametrize(("packets", "number"), [(10_000, 150), (500, 2000)])
def test_cubic_with_losses_at_equal_distances_sends_at_the_rate_of_its_rfc(packets: int, number: int) -> None:
    # The cubic region, and Reno's; 10%, since a recovery takes a round trip that the formula does not have.
    assert relative_rate("rfc", packets, number) == pytest.approx(1.0, rel=0.1)
    # Linux's is beyond these 10% in the cubic region: its whole packets hold the largest window where the cube is flat.
    assert 0.95 < relative_rate("linux", packets, number) < 1.2


def test_cubic_is_predicted_where_packets_are_lost_at_random_and_no_other_control_is() -> None:
    lossy = path("linux-cubic", rate="100 Mbit/s", loss={"model": "bernoulli", "probability": 1e-4})
    found = {model.model: model for model in ackclock.predict(lossy).applicable}
    assert set(found) == {"cubic"}
    numbers = {number.key: number.value for number in found["cubic"].numbers}
    assert numbers["cubic_window_packets"] == pytest.approx(controls.cubic_window(0.1, 1e-4), rel=5e-3)
    # Random distances instead of equal ones: 20%.
    run = ackclock.run(lossy, duration="1500 s", replications=4, picture=False)
    assert run.flows.throughput_bps["flow"] == pytest.approx(numbers["cubic_bps"], rel=0.2)
    assert set(ackclock.compare(run).table.model) == {"cubic"}
    for preset in ("linux-reno", "newreno-rfc6582"):
        other = {**lossy, "flow": [{"path": ["path"], "tcp": preset}]}
        assert "cubic" not in {model.model for model in ackclock.predict(other).applicable}


@pytest.mark.parametrize("size", [25, 60, 200])
def test_a_short_transfer_with_the_first_window_of_linux_takes_cardwell_s_time(size: int) -> None:
    document = path("linux-reno")
    document["flow"][0]["size"] = f"{size} pkt"
    found = {model.model: model for model in ackclock.predict(document).applicable}
    predicted = found["short-flow"].numbers[0].value
    assert predicted == pytest.approx(
        float(classics.short_flow_latency(size, 0.1, 0.0, 0.3, 1e9, initial_window=10).transfer), rel=1e-3
    )
    measured = float(ackclock.run(document, warmup="0 s").completions.fct_acked_mean_s.iloc[0])
    # The model's round trips are a real number, those of the transfer whole ones; 1% for the service of the packets.
    assert measured == pytest.approx(0.1 * ceil(predicted / 0.1), rel=0.01)
