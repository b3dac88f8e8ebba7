"""Advice: what to change, by which rule, and what a simulation makes of it."""

import json
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ackclock
from ackclock.advice import BeforeAfter, Recommendation
from ackclock.cli import app
from ackclock.models import bottlenecks
from ackclock.scenario.resolved_buffers import PacketBuffer
from advising import recommended

SCENARIOS = Path(__file__).parents[1] / "scenarios"
SATELLITE = SCENARIOS / "geo-retransmission-loss.toml"
ACCESS = SCENARIOS / "access-bufferbloat.toml"


def row(recommendation: Recommendation, text: str) -> BeforeAfter:
    return next(one for one in recommendation.check if one.text == text)


def mean(estimate: Any) -> float:
    return float(estimate["mean"])


def test_a_ping_whose_echoes_cross_the_bottleneck_is_no_obstacle() -> None:
    link = {
        "name": "home",
        "rate": "50 Mbit/s",
        "delay": "12 ms",
        "buffer": "200 pkt",
        "reverse": {"rate": "10 Mbit/s"},
    }
    ping = {"name": "ping", "path": ["home.reverse"], "traffic": {"kind": "ping", "interval": "100 ms"}}
    scenario = {"link": [link], "flow": [{"path": ["home"]}, ping], "run": {"duration": "5 s"}}
    assert ackclock.advise(scenario, simulate=False).recommendations == ()


@pytest.fixture(scope="module")
def satellite() -> Recommendation:
    return recommended(SATELLITE, "slow-start-buffers")


def test_the_satellite_path_loses_its_double_slow_start(satellite: Recommendation) -> None:
    lost = row(satellite, "packets lost in slow start")
    assert mean(lost.before) > 100.0
    assert mean(lost.after) == 0.0
    assert mean(row(satellite, "timeouts").after) == 0.0
    throughput = row(satellite, "throughput")
    assert mean(throughput.after) > 1.5 * mean(throughput.before)


def test_the_changes_run_as_they_stand(satellite: Recommendation) -> None:
    assert set(satellite.changes) == {"link.feeder.buffer", "link.satellite.buffer"}
    resolved = ackclock.run(SATELLITE, overrides=satellite.changes, duration="1 s").resolved
    assert resolved.elements[4].buffer == PacketBuffer(int(str(satellite.changes["link.satellite.buffer"]).split()[0]))


def test_the_formula_s_buffers_are_the_least_without_an_overflow() -> None:
    found = recommended(SATELLITE, "slow-start-buffers", simulate=False)
    feeder, satellite = (int(one.value) for one in found.rules if one.chosen)
    rates = [2.2e6 / 4096, 1.5e6 / 4096]
    round_trip = 0.56 + sum((4096 + 320) / rate for rate in (2.7e6, 2.2e6, 1.5e6))

    def overflows(*buffers: int) -> bool:
        return bool(bottlenecks.cycle(rates, buffers, round_trip, 2.7e6 / 4096).double_slow_start)

    assert not overflows(feeder, satellite)
    assert overflows(feeder - 1, satellite)
    assert overflows(feeder, satellite - 1)


def test_without_a_simulation_there_is_no_check() -> None:
    found = recommended(SATELLITE, "slow-start-buffers", simulate=False)
    assert found.changes
    assert not found.check


def test_large_buffers_are_left_alone() -> None:
    found = recommended(SCENARIOS / "geo-two-nodes.toml", "slow-start-buffers")
    assert not found.changes
    assert found.answer.startswith("The ones that are there")


def test_a_bloated_buffer_shrinks_to_what_keeps_the_link_busy() -> None:
    found = recommended(ACCESS, "bottleneck-buffer")
    throughput, round_trip = row(found, "throughput"), row(found, "round trip, p95")
    assert mean(throughput.after) > 0.99 * mean(throughput.before)
    assert mean(round_trip.after) < 0.3 * mean(round_trip.before)


def test_a_small_buffer_grows_until_the_link_stays_busy() -> None:
    found = recommended(ACCESS, "bottleneck-buffer", overrides={"link.access.buffer": "5 pkt"})
    busy = row(found, "access is busy")
    assert mean(busy.before) < 0.9
    assert mean(busy.after) > 0.99


def test_without_a_simulation_a_rule_is_named_and_nothing_is_recommended() -> None:
    many = {"flow.download.count": 600, "flow.download.tcp": "newreno-rfc6582"}
    found = recommended(ACCESS, "bottleneck-buffer", overrides=many, simulate=False)
    (valid,) = (rule for rule in found.rules if rule.valid)
    assert valid.name == "mu T / sqrt(n)"
    assert valid.value == ceil(50e6 * 0.030 / 12000 / 600**0.5)
    assert found.answer.startswith("mu T / sqrt(n) says 6 packets at access; without a simulation")
    assert not found.changes


def test_the_command_prints_answer_check_and_rules() -> None:
    done = CliRunner().invoke(app, ["advise", str(SATELLITE), "--no-picture"])
    assert done.exit_code == 0
    assert "Which buffers let slow start reach its threshold" in done.stdout
    assert "decided" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_command_gives_json() -> None:
    done = CliRunner().invoke(app, ["advise", str(SATELLITE), "--no-simulate", "--json"])
    assert json.loads(done.stdout)["recommendations"][0]["topic"] == "slow-start-buffers"


def test_two_way_traffic_wants_larger_windows() -> None:
    found = recommended(SCENARIOS / "two-way-symmetric.toml", "two-way")
    assert found.answer.startswith("30.2% of what there could have alone")
    assert set(found.changes) == {"flow.there.tcp.max_window", "flow.back.tcp.max_window"}
    for name in ("there", "back"):
        throughput = row(found, f"throughput, {name}")
        assert mean(throughput.before) == pytest.approx(0.651 * 131e6, rel=0.003)
        assert mean(throughput.after) == pytest.approx(0.9 * 131e6, rel=0.02)


def test_unequal_rates_get_windows_of_the_same_duration() -> None:
    slow = {"link.line.reverse.rate": "30 Mbit/s"}
    found = recommended(SCENARIOS / "two-way-symmetric.toml", "two-way", overrides=slow, simulate=False)
    there, back = (int(str(found.changes[f"flow.{name}.tcp.max_window"]).split()[0]) for name in ("there", "back"))
    assert there / back == pytest.approx(131 / 30, rel=0.03)


def test_a_floor_of_the_timer_ends_spurious_timeouts() -> None:
    found = recommended(SCENARIOS / "mobile-delay-steps.toml", "spurious-retransmissions")
    assert set(found.changes) == {"flow.transfer.tcp.rto.min"}
    assert mean(row(found, "timeouts").before) == 1.0
    assert mean(row(found, "timeouts").after) == 0.0
    goodput = row(found, "goodput")
    assert mean(goodput.after) > 1.05 * mean(goodput.before)


def test_overtaking_wants_more_duplicate_acks() -> None:
    states = [{"delay": f"{d} ms", "least_stay": f"{d + 8} ms", "mean_extra": f"{d / 5} ms"} for d in (92, 292)]
    process = {"kind": "alternating", "states": states, "order": "overtake"}
    changes = {"link.radio.delay_process": process, "flow.transfer.tcp.max_window": "12 pkt", "run.duration": "100 s"}
    found = recommended(SCENARIOS / "mobile-delay-steps.toml", "spurious-retransmissions", overrides=changes)
    assert found.changes["flow.transfer.tcp.dupack_threshold"] in {6, 8, 12, "infinite"}
    goodput = row(found, "goodput")
    assert mean(goodput.after) > 1.2 * mean(goodput.before)


def test_a_constant_delay_raises_no_question_of_alarms() -> None:
    assert all(
        one.topic != "spurious-retransmissions" for one in ackclock.advise(ACCESS, simulate=False).recommendations
    )


def test_a_delay_that_varies_is_worth_what_the_chain_says() -> None:
    states = [{"delay": f"{delay} ms", "least_stay": f"{delay} ms", "mean_extra": "40 s"} for delay in (100, 500)]
    changes = {
        "link.radio.rate": "100 Mbit/s",
        "link.radio.loss": {"model": "poisson", "mean_interval": "4 s"},
        "link.radio.delay_process": {"kind": "alternating", "states": states, "order": "keep"},
        "flow.transfer.tcp": {"preset": "newreno-rfc6582", "ack_every": 1, "max_window": "unlimited"},
        "run.duration": "5000 s",
    }
    scenario = SCENARIOS / "mobile-delay-steps.toml"
    found = recommended(scenario, "variable-delay", overrides=changes)
    assert found.answer.startswith("It raises it by 31.7%")
    throughput = row(found, "throughput")
    assert mean(throughput.after) > 1.1 * mean(throughput.before)


def test_an_unknown_topic_names_those_there_are() -> None:
    done = CliRunner().invoke(app, ["advise", str(ACCESS), "--topic", "routing"])
    assert "topic: is unknown; given routing; allowed slow-start-buffers, two-way" in str(done.exception)


WEB = {"flow.web.count": 82, "link.shared.buffer": "20 pkt"}


def test_web_sources_get_the_buffer_for_a_loss_of_1_percent() -> None:
    found = recommended(SCENARIOS / "web-access-link.toml", "bottleneck-buffer", overrides=WEB)
    lost, rate = row(found, "loss at shared"), row(found, "rate of a transfer")
    assert mean(lost.before) > 0.03
    assert mean(lost.after) <= 0.01
    assert mean(rate.after) > 1.2 * mean(rate.before)
    assert set(found.changes) == {"link.shared.buffer"}


def test_a_smaller_loss_wants_a_larger_buffer() -> None:
    scenario = SCENARIOS / "web-access-link.toml"
    rules = [
        recommended(scenario, "bottleneck-buffer", overrides=WEB, targets={"loss": loss}, simulate=False)
        for loss in ("5%", "1%", "0.1%")
    ]
    values = [one.rules[0].value for one in rules]
    assert values == sorted(values)
    assert values[0] < values[2]


def test_acks_first_make_up_for_two_way_traffic() -> None:
    found = recommended(SCENARIOS / "two-way-symmetric.toml", "two-way")
    assert mean(row(found, "there, ACKs first instead").after) > 0.89 * 131e6


def test_atm_channels_have_no_queue_for_acks_first() -> None:
    found = recommended(SCENARIOS / "two-way-abr.toml", "two-way")
    assert mean(row(found, "throughput, left").after) > 1.3 * mean(row(found, "throughput, left").before)
    assert not any("ACKs first" in one.text for one in found.check)
