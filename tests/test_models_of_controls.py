"""Models of other controls than Reno's next to simulations; the tolerances were chosen before the first run."""

from math import ceil
from typing import Any

import numpy as np
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
    assert set(ackclock.compare(run).table.model) == {"cubic", "losses"}
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
    assert measured == pytest.approx(found["short-flow"].numbers[1].value, rel=1e-6)


def transfer(preset: str, size: str, **tcp: Any) -> dict[str, Any]:
    """Describe a transfer without loss over 100 Mbit/s and 50 ms, a pipe of 417 packets."""
    return {
        "link": [{"name": "path", "rate": "100 Mbit/s", "delay": "25 ms"}],
        "flow": [{"name": "flow", "path": ["path"], "size": size, "tcp": {"preset": preset, **tcp}}],
        "run": {"duration": "20 s"},
    }


@pytest.mark.parametrize("handshake", ["none", "tcp", "tls"])
@pytest.mark.parametrize("size", ["20 kB", "200 kB", "2 MB"])
def test_a_transfer_without_loss_takes_its_handshake_and_whole_round_trips(size: str, handshake: str) -> None:
    comparison = ackclock.compare(ackclock.run(transfer("linux-cubic", size, handshake=handshake), picture=False))
    pairs = {pair.key: pair for pair in comparison.pairs if pair.model == "short-flow"}
    # Chosen was 1%, for delayed ACKs may move the last packets; they do not, as these are of an even number.
    assert abs(pairs["transfer_whole_rounds_s"].difference) < 1e-4
    # Cardwell's rounds are a real number: at most one too few, of two or more.
    assert -0.5 < pairs["transfer_s"].difference <= 0.0
    assert ("handshake_s" in pairs) == (handshake != "none")
    if handshake != "none":
        # A round trip, and one more; a SYN has 60 B, the hellos of TLS one packet and three.
        trips = {"tcp": 0.05, "tls": 0.1}[handshake]
        assert pairs["handshake_s"].predicted == pytest.approx(trips, abs=1e-3)


@pytest.mark.parametrize("handshake", ["tcp", "tls"])
def test_a_last_packet_with_the_fin_needs_no_round_trip_of_its_own(handshake: str) -> None:
    """Linux sends it whatever cwnd is, so that eleven packets take as long as ten, and answers it at once."""
    found = {}
    for size in (10, 11, 12, 15, 31):
        run = ackclock.run(transfer("linux-cubic", f"{size} pkt", handshake=handshake, close="tcp"), picture=False)
        pairs = {pair.key: pair for pair in ackclock.compare(run).pairs if pair.model == "short-flow"}
        assert abs(pairs["transfer_whole_rounds_s"].difference) < 1e-4
        found[size] = pairs["transfer_whole_rounds_s"].simulated
    packet_s = 1500 * 8 / 100e6
    assert found[11] - found[10] == pytest.approx(packet_s, rel=1e-3)
    assert found[12] - found[11] == pytest.approx(0.05, rel=0.05)


def test_behind_a_hello_the_ack_of_an_odd_last_packet_is_late() -> None:
    """Linux's server answered the hello, so that it waits for a second packet or for more to answer."""
    found = {}
    for handshake in ("tcp", "tls"):
        run = ackclock.run(transfer("linux-cubic", "15 pkt", handshake=handshake), picture=False)
        pairs = {pair.key: pair for pair in ackclock.compare(run).pairs if pair.model == "short-flow"}
        whole = pairs["transfer_whole_rounds_s"]
        assert abs(whole.predicted - whole.simulated) < (1e-5 if handshake == "tcp" else 6e-4)
        found[handshake] = whole.simulated - pairs["handshake_s"].predicted
    assert 0.04 < found["tls"] - found["tcp"] < 0.0415


def test_the_prediction_of_a_transfer_says_where_hystart_may_end_its_slow_start() -> None:
    """Here it ends at 75 packets, as in the kernel, with the pipe of 68 full: the transfer takes no longer."""
    slow = transfer("linux-cubic", "2 MB")
    slow["link"][0] |= {"rate": "20 Mbit/s", "delay": "20 ms"}
    pairs = {pair.key: pair for pair in ackclock.compare(ackclock.run(slow, picture=False)).pairs}
    assert abs(pairs["transfer_whole_rounds_s"].difference) < 1e-4
    (found,) = (one for one in ackclock.predict(slow).applicable if one.model == "short-flow")
    assert any("HyStart" in warning for warning in found.warnings)
    slow["flow"][0]["tcp"] = "linux-reno"
    (found,) = (one for one in ackclock.predict(slow).applicable if one.model == "short-flow")
    assert not found.warnings


def test_the_slow_start_of_bbr_and_losses_of_cubic_have_no_model() -> None:
    lossy = transfer("linux-cubic", "20 kB")
    lossy["link"][0]["loss"] = {"model": "bernoulli", "probability": 0.01}
    for document in (lossy, transfer("linux-bbr", "20 kB")):
        assert "short-flow" not in {one.model for one in ackclock.predict(document).applicable}


def test_a_lost_syn_costs_its_timeout() -> None:
    lossy = transfer("linux-reno", "20 kB", handshake="tcp")
    lossy["link"][0]["loss"] = {"model": "bernoulli", "probability": 0.05, "applies_to": "data"}
    (found,) = (one for one in ackclock.predict(lossy).applicable if one.model == "short-flow")
    numbers = {number.key: number.value for number in found.numbers}
    assert numbers["handshake_s"] == pytest.approx(0.05 + 0.05 / 0.9, abs=1e-3)
    assert "transfer_whole_rounds_s" not in numbers


@pytest.mark.parametrize(("probability", "round_trip_s"), [(1e-3, 0.02), (1e-3, 0.1), (1e-4, 0.02)])
def test_cubic_with_random_losses_sends_at_most_a_fifth_more_than_its_rfc(
    probability: float, round_trip_s: float
) -> None:
    lossy = path("linux-cubic", rate="150 Mbit/s", delay=f"{500 * round_trip_s} ms", loss=bernoulli(probability))
    result = ackclock.run(lossy, duration="300 s", warmup="30 s", replications=4, picture=False)
    expected = controls.cubic_rate(round_trip_s, probability) * 1500 * 8
    assert result.flows.throughput_bps["flow"] == pytest.approx(expected, rel=0.2)


def bernoulli(probability: float) -> dict[str, Any]:
    return {"model": "bernoulli", "probability": probability}


@pytest.mark.parametrize("probability", [0.001, 0.01, 0.05])
def test_reno_with_sack_and_random_losses_has_no_timeouts_of_pftk(probability: float) -> None:
    lossy = path("linux-reno", rate="100 Mbit/s", delay="10 ms", loss=bernoulli(probability))
    run = ackclock.run(lossy, duration="600 s", replications=4, picture=False)
    pairs = {pair.key: pair for pair in ackclock.compare(run).pairs if pair.model == "random-loss"}
    assert set(pairs) == {"square_root_bps", "pftk_sack_bps"}
    # 10%; PFTK itself is 9% to 57% low here.
    assert abs(pairs["pftk_sack_bps"].difference) < 0.1
    by_measured = {pair.key: pair for pair in ackclock.compare(run).pairs if pair.model == "losses"}
    assert set(by_measured) == {"square_root_bps", "pftk_sack_bps"}
    published = classics.pftk_throughput(0.02, probability, 0.22, 1e9) * 1500 * 8
    assert published < (0.95 if probability < 0.01 else 0.8) * pairs["pftk_sack_bps"].simulated


def test_without_sack_the_timeouts_are_pftk_s() -> None:
    lossy = path("linux-reno", rate="100 Mbit/s", loss=bernoulli(0.01))
    lossy["flow"][0]["tcp"]["sack"] = False
    (found,) = (one for one in ackclock.predict(lossy).applicable if one.model == "random-loss")
    assert [number.key for number in found.numbers] == ["square_root_bps", "pftk_bps"]


STEP: dict[str, Any] = {
    "discipline": "red",
    "min_threshold": "40 pkt",
    "max_threshold": "40.5 pkt",
    "weight": 1.0,
    "max_probability": 1.0,
    "gentle": False,
    "ecn": "all",
}


def marking(count: int, **queue: Any) -> dict[str, Any]:
    """Describe the path of the paper's figure 12: 10 Gbit/s, 100 us, a threshold of 40 packets."""
    link = {"name": "switch", "rate": "10 Gbit/s", "delay": "50 us", "buffer": "2000 pkt", "queue": STEP | queue}
    return {
        "link": [link],
        "flow": [{"name": "flow", "path": ["switch"], "count": count, "tcp": "linux-dctcp"}],
        "run": {"duration": "0.3 s", "warmup": "0.1 s"},
        "trace": {"queue": True},
    }


@pytest.mark.parametrize("count", [1, 2, 10])
def test_dctcp_s_queue_has_the_paper_s_ends(count: int) -> None:
    result = ackclock.run(marking(count), picture=False)
    pairs = {pair.key: pair for pair in ackclock.compare(result).pairs if pair.model == "dctcp"}
    trace = result.traces["queue"].query("link == 'switch'")
    instants = np.arange(0.1, 0.3, 5e-6)
    queue = trace.packets.to_numpy()[np.searchsorted(trace.time_s.to_numpy(), instants, side="right") - 1]
    smallest, largest = np.quantile(queue, [0.02, 0.98])
    # A tenth of the threshold; the paper calls its figure 12 fairly accurate for fewer than 10 flows.
    assert pairs["queue_largest_packets"].predicted == pytest.approx(largest, abs=4.0)
    assert pairs["queue_smallest_packets"].predicted == pytest.approx(smallest, abs=4.0)
    assert abs(pairs["queue_mean_packets"].difference) < 0.1


def test_dctcp_s_model_takes_a_step_as_it_takes_red_with_equal_thresholds() -> None:
    document = marking(2)
    document["link"][0]["queue"] = {"discipline": "step", "threshold": "40 pkt"}
    found = [
        one for given in (marking(2), document) for one in ackclock.predict(given).applicable if one.model == "dctcp"
    ]
    assert found[0].numbers[1].value == pytest.approx(found[1].numbers[1].value)
    document["link"][0]["queue"] = "codel"
    (refused,) = (one for one in ackclock.predict(document).inapplicable if one.model == "dctcp")
    assert refused.reasons == ("switch does not mark from a number of packets on; the model has such a threshold",)


def test_dctcp_s_mean_queue_is_the_kernel_s() -> None:
    """Two flows with 100 Mbit/s and 2 ms, a step at 20 packets: the recorded kernel's mean is 18.8 (A_dctcp_2)."""
    document = marking(2, min_threshold="20 pkt", max_threshold="21 pkt", weight=0.25)
    document["link"][0] |= {"rate": "100 Mbit/s", "delay": "1 ms"}
    (found,) = (one for one in ackclock.predict(document).applicable if one.model == "dctcp")
    assert found.numbers[0].value == pytest.approx(18.8, rel=0.1)


def dctcp_reasons(document: dict[str, Any]) -> str:
    return next("; ".join(one.reasons) for one in ackclock.predict(document).inapplicable if one.model == "dctcp")


def test_dctcp_s_queue_is_predicted_where_all_packets_are_marked_from_a_threshold_on() -> None:
    assert "marks no packets" in dctcp_reasons(marking(2, ecn="off"))
    assert "marks gradually" in dctcp_reasons(marking(2, max_threshold="80 pkt"))
    assert "too slowly" in dctcp_reasons(marking(2, weight=0.002))
    cubic = marking(2)
    cubic["flow"].append({"name": "other", "path": ["switch"], "tcp": "linux-cubic"})
    assert "another congestion control" in dctcp_reasons(cubic)
    small = marking(2)
    small["link"][0]["buffer"] = "41 pkt"
    assert "overflows" in dctcp_reasons(small)
    (found,) = (one for one in ackclock.predict(marking(40)).applicable if one.model == "dctcp")
    assert any("few whole packets" in warning for warning in found.warnings)


def competing(buffer: float, others: int, preset: str = "linux-cubic", **link: Any) -> dict[str, Any]:
    """Describe BBR next to others over 10 Mbit/s and 40 ms, the path of the paper, as long as there."""
    packets = f"{round(buffer * 33.3)} pkt"
    return {
        "link": [{"name": "shared", "rate": "10 Mbit/s", "delay": "20 ms", "buffer": packets, **link}],
        "flow": [
            {"name": "bbr", "path": ["shared"], "tcp": "linux-bbr"},
            {"name": "other", "path": ["shared"], "count": others, "tcp": preset},
        ],
        "run": {"duration": "460 s", "warmup": "60 s"},
    }


@pytest.mark.parametrize("others", [1, 2, 4])
@pytest.mark.parametrize("buffer", [4, 8])
def test_bbr_takes_a_share_that_the_number_of_others_does_not_change(buffer: float, others: int) -> None:
    comparison = ackclock.compare(ackclock.run(competing(buffer, others), picture=False))
    pairs = {pair.key: pair for pair in comparison.pairs if pair.model == "bbr"}
    share = pairs["bbr_bps"].simulated / (pairs["bbr_bps"].simulated + pairs["others_bps"].simulated)
    # A tenth of the link. The published equations have more, by 0.06 to 0.16: see docs/models.md.
    assert pairs["bbr_bps"].predicted / 10e6 == pytest.approx(share, abs=0.1)
    assert pairs["bbr_published_bps"].predicted > pairs["bbr_bps"].predicted


def bbr_reasons(document: dict[str, Any]) -> str:
    return next("; ".join(one.reasons) for one in ackclock.predict(document).inapplicable if one.model == "bbr")


def test_the_share_of_bbr_is_predicted_next_to_flows_that_fill_a_plain_buffer() -> None:
    assert "drops before its buffer is full" in bbr_reasons(competing(4, 2, queue="red"))
    endless = competing(4, 2)
    endless["link"][0]["buffer"] = "unlimited"
    assert "unlimited" in bbr_reasons(endless)
    assert "need not grow" in bbr_reasons(competing(4, 2, preset="linux-dctcp"))
    assert "all flows have BBR" in bbr_reasons(competing(4, 2, preset="linux-bbr"))
    far = competing(4, 2)
    far["link"].append({"name": "access", "rate": "unlimited", "delay": "30 ms"})
    far["flow"][1]["path"] = ["access", "shared"]
    assert "round trips differ" in bbr_reasons(far)
    (found,) = (one for one in ackclock.predict(competing(1, 2)).applicable if one.model == "bbr")
    assert any("buffer_ratio" in warning for warning in found.warnings)


def test_models_of_endless_data_have_no_application_that_pauses() -> None:
    document = path("linux-reno", loss=bernoulli(0.01))
    document["flow"][0]["writes"] = {"burst": "20 pkt", "every": "1 s"}
    refused = {one.model: "; ".join(one.reasons) for one in ackclock.predict(document).inapplicable}
    assert "writes in bursts" in refused["random-loss"]


def test_a_run_of_cubic_is_compared_with_its_law_at_the_measured_losses() -> None:
    lossy = path("linux-cubic", rate="100 Mbit/s", loss=bernoulli(1e-3))
    result = ackclock.run(lossy, duration="300 s", warmup="30 s", picture=False)
    (pair,) = (pair for pair in ackclock.compare(result).pairs if pair.model == "losses")
    flow = result.flows.loc["flow"]
    sent = flow.throughput_bps * 270 / 12000 / (1.0 - flow.loss_fraction)
    expected = controls.cubic_rate(flow.rtt_mean_s, flow.fast_retransmits / sent) * 12000
    assert pair.key == "cubic_bps"
    assert pair.predicted == pytest.approx(expected, rel=1e-6)
    assert abs(pair.difference) < 0.2


def test_many_flows_are_compared_together_by_their_laws() -> None:
    document = path("linux-cubic", rate="20 Mbit/s", buffer="50 pkt")
    (flow,) = document["flow"]
    document["flow"] = [{**flow, "count": 4}, {**flow, "name": "other", "count": 4, "tcp": "newreno-rfc6582"}]
    document["flow"].append({**flow, "name": "paced", "tcp": "linux-bbr"})
    document["flow"].append({**flow, "name": "kernel", "count": 2, "tcp": "linux-reno"})
    result = ackclock.run(document, duration="60 s", warmup="10 s", picture=False)
    found = [one for one in ackclock.compare(result).predictions if one.model == "losses"]
    assert {one.subject: [number.key for number in one.numbers][-1] for one in found if "4" not in one.subject} == {
        "2 flows together": "pftk_sack_bps"
    }
    four = [one for one in found if one.subject == "4 flows together"]
    assert [[number.key for number in one.numbers] for one in four] == [["square_root_bps", "pftk_bps"], ["cubic_bps"]]
