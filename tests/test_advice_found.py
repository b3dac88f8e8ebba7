"""Advice that was searched: what it finds is what a sweep shows, and the verdict never says the opposite."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ackclock
from ackclock.advice import Advice, Alternatives, Recommendation
from ackclock.advice.bench import Bench, loss_cycles, of_flows, of_longest_round_trip
from ackclock.advice.lengths import Length
from ackclock.advice.targets import read_targets
from ackclock.cli import app
from ackclock.scenario import load, resolve
from advising import recommended

SCENARIOS = Path(__file__).parents[1] / "scenarios"
NEWRENO = Path(__file__).parent / "scenarios"
MODEM = NEWRENO / "newreno-modem.toml"
SATELLITE = NEWRENO / "newreno-satellite.toml"
THREE = SCENARIOS / "access-unequal-rtts.toml"
DOWNLOAD = SCENARIOS / "satellite-download.toml"
ONE_WORKER = {name: pytest.mark.xdist_group(f"advice on {name}") for name in ("modem", "three", "download")}
"""Marks of tests that share one advice, so that no two workers search for it."""
SMALL_SATELLITE = {"link.satellite.rate": "3 Mbit/s", "link.satellite.buffer": "15 pkt"}
"""A pipe of 150 packets instead of 1000."""


def buffers(advice: Advice) -> Recommendation:
    return next(one for one in advice.recommendations if one.topic == "bottleneck-buffer")


def searched(scenario: Any, **arguments: Any) -> Recommendation:
    return recommended(scenario, "bottleneck-buffer", **arguments)


def size(recommendation: Recommendation, field: str) -> int:
    return int(str(recommendation.changes[field]).removesuffix(" pkt"))


def link(scenario: Any, name: str, key: str, **overrides: Any) -> float:
    summary = ackclock.run(scenario, overrides=overrides, picture=False).summary
    return float(next(row for row in summary["links"] if row["name"] == name)[key]["mean"])


@cache
def advised(scenario: Path) -> Advice:
    return ackclock.advise(scenario)


@pytest.fixture
def modem() -> Advice:
    return advised(MODEM)


@pytest.fixture
def three() -> Advice:
    return advised(THREE)


@pytest.mark.parametrize(
    ("scenario", "name", "overrides", "least", "run"),
    [
        pytest.param(
            MODEM, "modem", {}, 6, {"run.duration": "2000 s", "run.warmup": "200 s"}, marks=ONE_WORKER["modem"]
        ),
        (SATELLITE, "satellite", SMALL_SATELLITE, 113, {"run.duration": "9000 s", "run.warmup": "3000 s"}),
        pytest.param(
            THREE, "line", {}, 35, {"run.duration": "2500 s", "run.warmup": "250 s"}, marks=ONE_WORKER["three"]
        ),
        (SCENARIOS / "access-modem.toml", "modem", {}, 4, {"run.duration": "2000 s", "run.warmup": "200 s"}),
        pytest.param(
            DOWNLOAD,
            "satellite",
            {},
            288,
            {"run.duration": "2000 s", "run.warmup": "200 s"},
            marks=ONE_WORKER["download"],
        ),
    ],
)
def test_a_sweep_shows_that_the_answer_is_the_least(
    scenario: Path, name: str, overrides: dict[str, str], least: int, run: dict[str, str]
) -> None:
    """The least that gives 99% is from sweeps of 5 to 20 times the length, before this test was written."""
    recommendation = searched(scenario, overrides=overrides) if overrides else buffers(advised(scenario))
    found = size(recommendation, f"link.{name}.buffer")
    assert least <= found <= max(least, 1.05 * least)

    def used(packets: int) -> float:
        fields = {**overrides, **run, f"link.{name}.buffer": f"{packets} pkt"}
        return link(scenario, name, "utilisation_fraction", **fields)

    assert used(found) >= 0.99
    assert used(round(1.2 * found)) >= 0.99
    assert used(int(0.9 * found)) < 0.99


@ONE_WORKER["download"]
def test_a_search_with_cubic_simulates_some_twenty_of_its_own_loss_cycles() -> None:
    """Reno's cycle on this path would be a hundred times as long."""
    (table,) = buffers(advised(DOWNLOAD)).alternatives
    assert all(15 <= row.loss_cycles <= 40 for row in table.rows)


@ONE_WORKER["modem"]
def test_the_row_of_alternatives_has_its_loss_cycles_and_one_chosen(modem: Advice) -> None:
    (table,) = buffers(modem).alternatives
    sizes = [row.size_packets for row in table.rows]
    assert {4, 5, 6, 7, 8} <= set(sizes)
    assert [row.size_packets for row in table.rows if row.chosen] == [6]
    at = {row.size_packets: row for row in table.rows}
    assert not at[4].meets
    assert at[4].note == "rule"
    assert at[8].utilisation_fraction["mean"] == pytest.approx(1.0, abs=1e-4)
    assert at[8].rtt_p95_s["mean"] == pytest.approx(0.101, rel=0.2)
    assert all(row.loss_cycles >= 6 for row in table.rows)


@ONE_WORKER["modem"]
def test_the_rule_stands_next_to_the_search_with_what_became_of_it(modem: Advice) -> None:
    rules = {rule.name: rule for rule in buffers(modem).rules}
    assert rules["the search at modem"].value == 6
    assert rules["mu T, the bandwidth-delay product"].value == 4
    assert rules["mu T, the bandwidth-delay product"].outcome == "too few here"


@pytest.mark.parametrize("packets", ["2 pkt", "4 pkt", "6 pkt", "8 pkt", "256 KiB", "unlimited"])
def test_verdict_and_advice_never_say_the_opposite(packets: str) -> None:
    overrides = {"link.modem.buffer": packets, "flow.download.tcp.max_window": "400 pkt"}
    advice = ackclock.advise(MODEM, overrides=overrides)
    changes = buffers(advice).changes
    assert advice.verdict
    if packets in {"2 pkt", "4 pkt"}:
        assert changes == {"link.modem.buffer": "6 pkt"}
        assert "more buffer than TCP needs" not in advice.verdict
    elif packets == "6 pkt":
        assert not changes
        assert buffers(advice).answer.startswith("Keep 6 packets at modem")
        assert "more buffer than TCP needs" not in advice.verdict
    elif packets == "8 pkt":
        assert changes == {"link.modem.buffer": "6 pkt"}
    else:
        assert changes == {"link.modem.buffer": "6 pkt"}
        assert "modem has more buffer than TCP needs" in advice.verdict


@ONE_WORKER["modem"]
def test_the_verdict_of_the_advice_is_of_its_findings(modem: Advice) -> None:
    kinds = [one.kind for one in modem.findings]
    assert "full-link" in kinds
    assert "oversized-buffer" in kinds
    assert modem.verdict.startswith("modem is the bottleneck and full")


@ONE_WORKER["modem"]
def test_the_threads_do_not_change_the_answer(modem: Advice) -> None:
    assert ackclock.advise(MODEM, threads=1) == modem


def test_each_step_says_what_is_simulated_and_how_far_it_is() -> None:
    steps: list[str] = []
    ackclock.advise(MODEM, on_step=steps.append)
    assert "buffer of 4 and 5 packets at modem, up to simulation 60 (simulation 4)" in steps
    assert len(steps) < 15


@ONE_WORKER["three"]
def test_shares_go_as_one_over_the_round_trip_and_no_buffer_changes_that(three: Advice) -> None:
    assert "TCP's throughput goes as 1 / RTT" in three.verdict
    assert any("flows with longer round trips get less: no buffer" in remark for remark in buffers(three).remarks)


@ONE_WORKER["three"]
def test_a_buffer_that_costs_the_nearest_flow_most_is_too_large_for_all(three: Advice) -> None:
    """The round trips of the far flow hardly change: 95% of them are shorter with 250 packets than with 36."""
    assert "More only make packets wait: 95% of the round trips of near are up to 16" in buffers(three).answer


def test_a_target_for_the_utilisation_moves_the_answer() -> None:
    found = {
        target: size(searched(MODEM, targets={"utilisation": target}), "link.modem.buffer")
        for target in ("80%", "95%", "100%")
    }
    assert found == {"80%": 3, "95%": 4, "100%": 8}


def test_a_target_for_the_loss_wants_a_larger_buffer() -> None:
    recommendation = searched(MODEM, overrides={"link.modem.buffer": "6 pkt"}, targets={"loss": "0.5%"})
    found = size(recommendation, "link.modem.buffer")
    run = {"run.duration": "2000 s", "run.warmup": "200 s"}
    losses = [
        link(MODEM, "modem", "loss_fraction", **run, **{"link.modem.buffer": f"{packets} pkt"})
        for packets in (found - 1, found)
    ]
    assert losses[1] <= 0.005 < losses[0]
    assert "Now the loss is 1.28%" in recommendation.answer


def test_targets_that_no_buffer_meets_together_are_said_to_be_so() -> None:
    found = searched(MODEM, targets={"utilisation": "99%", "rtt-p95": "60 ms"})
    assert found.answer.startswith("No buffer at modem meets all targets: 6 packets are the least for the others")
    assert not found.changes


def test_a_loss_that_the_load_makes_is_not_blamed_on_the_buffer() -> None:
    """Each of 300 sources has one or two packets in flight and cannot have less: the rest is lost in any buffer."""
    changes = {"flow.web.count": 300}
    found = searched(SCENARIOS / "web-access-link.toml", overrides=changes, targets={"loss": "1%"})
    assert found.answer.startswith("No buffer of up to ")
    assert "a loss of at most 1%" in found.answer
    assert "The load has to fall, or the rate to rise" in found.answer
    assert not found.changes


LINK = {"name": "a", "rate": "2 Mbit/s", "delay": "5 ms"}
RUN = {"duration": "60 s", "warmup": "10 s"}


def test_two_bottlenecks_are_searched_together() -> None:
    """A parking lot: a flow crosses two links, and each of these has a flow of its own."""
    links = [{**LINK, "name": name, "buffer": buffer} for name, buffer in (("a", "3 pkt"), ("b", "300 pkt"))]
    paths = {"both": ["a", "b"], "first": ["a"], "second": ["b"]}
    flows = [{"name": name, "path": path, "rtt": "60 ms"} for name, path in paths.items()]
    scenario = {"title": "parking lot", "link": links, "flow": flows, "run": RUN}
    found = searched(scenario)
    sizes = {name: size(found, f"link.{name}.buffer") for name in ("a", "b")}
    fields = {"run.duration": "1000 s", **{f"link.{name}.buffer": f"{packets} pkt" for name, packets in sizes.items()}}
    assert sizes["a"] > 3
    assert sizes["b"] < 100
    for name in ("a", "b"):
        assert link(scenario, name, "utilisation_fraction", **fields) >= 0.985
    assert len(found.alternatives) == 2


def test_a_window_that_limits_a_flow_is_searched() -> None:
    overrides = {"flow.download.tcp.max_window": "2 pkt", "link.modem.buffer": "50 pkt"}
    advice = ackclock.advise(MODEM, overrides=overrides)
    (found,) = (one for one in advice.recommendations if one.topic == "window")
    packets = size(found, "flow.download.tcp.max_window")
    assert "the receiver's window of 2 packets limits 1 flow" in advice.verdict

    def used(window: int) -> float:
        fields = {**overrides, "flow.download.tcp.max_window": f"{window} pkt"}
        return link(MODEM, "modem", "utilisation_fraction", **fields)

    assert used(packets) >= 0.99
    assert used(packets - 1) < 0.99


def test_transfers_that_end_are_judged_by_their_time() -> None:
    """The link carries the same bytes with any buffer: its utilisation says nothing."""
    overrides = {"link.modem.buffer": "2 pkt", "flow.download.size": "300 pkt", "run.warmup": "0 s"}
    found = searched(MODEM, overrides=overrides)
    packets = size(found, "link.modem.buffer")

    def finish_s(buffer: int) -> float:
        result = ackclock.run(MODEM, overrides={**overrides, "link.modem.buffer": f"{buffer} pkt"}, picture=False)
        return float(result.summary["flows"][0]["finish_s"]["mean"])

    assert finish_s(packets) < 1.02 * finish_s(50)
    assert finish_s(packets) < 0.8 * finish_s(2)


@pytest.mark.parametrize(
    ("flow", "change", "reason"),
    [
        ({"size": "1 pkt"}, {}, "no buffer drops a packet, next to no packet waits"),
        (
            {"size": "4 pkt"},
            {},
            "no buffer drops a packet, and no window limits a flow. Packets wait at a, 95% of them",
        ),
        ({"rtt": "60 ms"}, {"loss": {"model": "bernoulli", "probability": 0.1}}, "a loses packets before its queue"),
    ],
)
def test_without_advice_there_is_a_reason(flow: dict[str, Any], change: dict[str, Any], reason: str) -> None:
    scenario = {
        "title": "idle",
        "link": [LINK | change],
        "flow": [{"path": ["a"]} | flow],
        "run": RUN | {"warmup": "0 s"},
    }
    advice = ackclock.advise(scenario)
    assert not any(one.changes for one in advice.recommendations)
    assert any(text.startswith(reason) for text in advice.reasons)


def sites(count: int, users: int, rate: str) -> dict[str, Any]:
    """Describe sites of web users, each behind a line of its own, that share one core link."""
    names = [f"site-{number}" for number in range(1, count + 1)]
    traffic = {"kind": "web", "size": {"law": "exponential", "mean": "12 pkt", "min": "3 pkt"}, "off": "2 s"}
    user = {"count": users, "rtt": "50 ms", "packet": "1500 B", "ack": "40 B", "tcp": "newreno-engset"}
    return {
        "title": f"{count} sites of {users} users",
        "link": [
            {"name": "core", "rate": rate, "buffer": "10 pkt"},
            *({"name": n, "rate": "100 Mbit/s"} for n in names),
        ],
        "flow": [{"name": f"users-{name}", "path": [name, "core"], **user, "traffic": traffic} for name in names],
        "run": {"duration": "40 s", "warmup": "10 s", "replications": 2},
    }


def test_users_of_several_sites_get_the_buffer_for_a_loss_though_no_rule_applies() -> None:
    scenario = sites(5, 40, "12.5 Mbit/s")
    found = searched(scenario, targets={"loss": "1%"})
    packets = size(found, "link.core.buffer")
    assert "no closed form is made for the traffic at core: the search alone decided" in found.remarks
    run = {"run.duration": "200 s", "run.replications": 4, "run.seed": 77}
    losses = [
        link(scenario, "core", "loss_fraction", **run, **{"link.core.buffer": f"{buffer} pkt"})
        for buffer in (packets // 2, packets)
    ]
    assert losses[0] > 0.013
    assert losses[1] < 0.013


def test_a_search_keeps_a_row_for_each_group_of_flows_and_the_same_answers() -> None:
    scenario = sites(2, 30, "5 Mbit/s")
    bench = Bench(ackclock.scenario.load(scenario))
    run = Length(20.0, 5.0, 2)
    whole, kept = bench.run({}, "", run), bench.run({"link.core.buffer": "10 pkt"}, "", run)
    assert len(whole.summary["flows"]) == 60
    assert [row["name"] for row in kept.summary["flows"]] == ["users-site-1", "users-site-2"]
    assert kept.summary["links"] == whole.summary["links"]
    assert loss_cycles(kept) == pytest.approx(loss_cycles(whole))
    assert of_longest_round_trip(kept) == of_longest_round_trip(whole)
    for one in (whole, kept):
        assert of_flows("throughput_bps")(one)["mean"] == pytest.approx(
            sum(row["throughput_bps"]["mean"] for row in whole.summary["flows"])
        )


def test_the_command_takes_targets_and_prints_alternatives() -> None:
    done = CliRunner().invoke(
        app, ["advise", str(MODEM), "--target", "utilisation=95%", "--target", "loss=3%", "--no-picture"]
    )
    assert done.exit_code == 0
    words = " ".join(done.stdout.split())
    assert "4 packets at modem, 48 ms of queue (now 174 packets): the least that gives at least 95%" in words
    assert "As it is: modem is the bottleneck and full" in words
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_json_has_alternatives_findings_and_the_verdict() -> None:
    done = CliRunner().invoke(app, ["advise", str(MODEM), "--json"])
    found = json.loads(done.stdout)
    table: Alternatives = found["recommendations"][0]["alternatives"][0]
    assert any(row["chosen"] and row["size_packets"] == 6 for row in table["rows"])  # type: ignore[index]
    assert found["findings"][0]["kind"] == "full-link"
    assert found["verdict"].startswith("modem is the bottleneck")


def test_theory_does_not_say_the_opposite_of_the_run() -> None:
    result = ackclock.run(MODEM, overrides={"link.modem.buffer": "4 pkt"}, picture=False)
    said = [text for model in ackclock.compare(result).predictions for text in model.sentences]
    assert any(text.endswith("says the model; in this run the utilisation of modem was 95%") for text in said)
    few = ackclock.run(THREE, overrides={"link.line.buffer": "60 pkt"}, picture=False)
    said = [text for model in ackclock.compare(few).predictions for text in model.sentences]
    assert any(
        "60 are too few to keep it busy, says the model; in this run the utilisation of line was 100%" in text
        for text in said
    )


def test_a_link_that_is_less_busy_than_with_its_present_buffer_is_named() -> None:
    """The reverse direction's 300 packets are more than an ample buffer, and its upload uses them."""
    both = {"name": "dsl", "rate": "50 Mbit/s", "delay": "5 ms", "buffer": "500 pkt"}
    call = {"packet": "1000 B", "traffic": {"kind": "constant", "rate": "1.5 Mbit/s"}}
    document = {
        "link": [{**both, "reverse": {"rate": "5 Mbit/s", "buffer": "300 pkt"}}],
        "flow": [
            {"name": "down", "path": ["dsl"], "rtt": "30 ms", "count": 2},
            {"name": "up", "path": ["dsl.reverse"], "rtt": "30 ms"},
            {"name": "call-down", "path": ["dsl"], **call},
            {"name": "call-up", "path": ["dsl.reverse"], **call},
        ],
        "run": {"duration": "60 s", "warmup": "10 s"},
    }
    found = searched(document)
    busy = {row.text: row for row in found.check if row.text.endswith("is busy")}
    less = {
        text.split()[0] for text, row in busy.items() if (row.after["mean"] or 0.0) < 0.98 * (row.before["mean"] or 0.0)
    }
    named = {text.split()[0] for text in found.remarks if "its present buffer is larger than an ample one" in text}
    assert named == less == {"dsl.reverse"}


def test_a_round_trip_that_is_missed_does_not_hold() -> None:
    document = {
        "link": [{"name": "line", "rate": "10 Mbit/s", "delay": "20 ms", "buffer": "200 pkt"}],
        "flow": [{"path": ["line"], "tcp": "linux-reno"}],
        "run": {"duration": "60 s", "warmup": "10 s"},
    }
    found = searched(document, targets={"rtt-p95": "45 ms"})
    assert found.answer.startswith("No buffer at line meets all targets")
    (rule,) = (rule for rule in found.rules if rule.name.startswith("the search"))
    assert rule.cells[2:] == ["too slow", "the least that meets the targets but the round trip"]
    assert not any("the answer holds" in remark for remark in found.remarks)


def test_transfers_with_an_end_have_targets_in_words_of_their_own() -> None:
    document = {
        "link": [{"name": "line", "rate": "20 Mbit/s", "delay": "10 ms", "buffer": "200 pkt"}],
        "flow": [{"path": ["line"], "size": "20 MB"}],
        "run": {"duration": "30 s"},
    }
    found = searched(document)
    assert "the least that gives transfers within 1% of the time that they take with an ample one" in found.answer
    assert "utilisation" not in found.answer


def test_a_small_target_for_the_loss_is_written_out() -> None:
    targets = read_targets({"loss": "0.0001%"}, resolve(load(MODEM)))
    assert targets.text.endswith(", a loss of at most 0.0001%")
