"""Rates that change: from the table to the resolved law, files, and what a run makes of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import ackclock
from ackclock.cli import app
from ackclock.errors import ArgumentError
from ackclock.mahimahi import write_deliveries
from ackclock.scenario import Resolved, ScenarioError, load, resolve, with_overrides
from ackclock.scenario.resolved_rates import AlternatingRate, OpportunitiesRate, RateStateSettings, StepsRate

SCENARIOS = Path(__file__).parents[2] / "scenarios"
TEXT = """
[[link]]
name = "a"
{0}
delay = "5 ms"
buffer = "100 ms"
[[flow]]
path = ["a"]
rtt = "1 s"
[run]
duration = "100 s"
"""
MARKOV = """
rate_process = { kind = "markov", start_state = 2, states = [
    { rate = "8 Mbit/s", mean_stay = "2 s" },
    { rate = "2 Mbit/s", mean_stay = "1 s" },
    { rate = "0 bit/s", mean_stay = "1 s" },
] }
"""


def resolved(table: str) -> Resolved:
    return resolve(load(TEXT.format(table)))


def law(table: str) -> StepsRate | AlternatingRate | OpportunitiesRate:
    process = resolved(table).elements[0].rate_process
    assert process is not None
    assert process.stream == "a"
    return process.law


def test_steps_are_resolved_with_their_mean_over_the_run() -> None:
    steps = '[["0 s", "10 Mbit/s"], ["25 s", "2 Mbit/s"], ["1000 s", "1 Mbit/s"]]'
    table = f'rate_process = {{ kind = "steps", steps = {steps} }}'
    assert law(table) == StepsRate("steps", ((0.0, 10e6), (25.0, 2e6), (1000.0, 1e6)), None)
    link = resolved(table).elements[0]
    assert link.rate_bps == 4e6
    assert link.buffer is not None
    assert link.buffer.capacity_bytes(1500) == 50_000  # 100 ms of the mean
    assert link.service_s(1500) == 1500 * 8 / 10e6


def test_steps_that_repeat_have_the_mean_of_a_period() -> None:
    table = 'rate_process = {{ kind = "steps", steps = [["0 s", "10 Mbit/s"], ["3 s", "0 bit/s"]], repeat = "{0}" }}'
    assert resolved(table.format("4 s")).elements[0].rate_bps == 7.5e6
    # The first 100 s of a period of 200 s.
    assert resolved(table.format("200 s")).elements[0].rate_bps == 0.3e6


def test_outages_are_steps_to_zero_and_back() -> None:
    table = 'rate_process = {{ kind = "outages", rate = "8 Mbit/s", outages = [["{0}", "2 s"], ["60 s", "500 ms"]] }}'
    steps = ((0.0, 8e6), (30.0, 0.0), (32.0, 8e6), (60.0, 0.0), (60.5, 8e6))
    assert law(table.format("30 s")) == StepsRate("steps", steps, None)
    assert law(table.format("0 s")) == StepsRate("steps", ((0.0, 0.0), (2.0, 8e6), *steps[3:]), None)


def test_a_markov_chain_jumps_to_each_other_state() -> None:
    states = (RateStateSettings(8e6, 0.0, 2.0), RateStateSettings(2e6, 0.0, 1.0), RateStateSettings(0.0, 0.0, 1.0))
    rows = ((0.0, 0.5, 0.5), (0.5, 0.0, 0.5), (0.5, 0.5, 0.0))
    assert law(MARKOV) == AlternatingRate("alternating", states, 1, rows)
    # A third of the visits each, half of the time at 8 and a quarter at 2 Mbit/s.
    assert resolved(MARKOV).elements[0].rate_bps == pytest.approx(4.5e6)


def test_the_mean_of_a_chain_with_transient_states_is_that_of_where_it_ends() -> None:
    states = [{"rate": "9 Mbit/s", "mean_stay": "1 s"}] + 2 * [{"rate": "1 Mbit/s", "mean_stay": "1 s"}]
    text = load(TEXT.format('rate = "1 Mbit/s"')).source.document
    process = {"kind": "markov", "states": states, "transitions": [[0.5, 0.5, 0], [0, 0, 1], [0, 1, 0]]}
    link = {"name": "a", "rate_process": process}
    document = {"link": [link], "flow": text["flow"], "run": text["run"]}
    assert resolve(load(document)).elements[0].rate_bps == pytest.approx(1e6)


def test_the_reverse_direction_has_the_forward_rate_unless_it_has_its_own() -> None:
    assert resolved(MARKOV).elements[1].rate_process == resolved(MARKOV).elements[0].rate_process
    own = resolved(f'{MARKOV}\nreverse = {{ rate = "3 Mbit/s" }}').elements[1]
    assert (own.rate_process, own.rate_bps) == (None, 3e6)
    table = 'rate = "3 Mbit/s"\nreverse = { rate_process = { kind = "steps", steps = [["0 s", "1 Mbit/s"]] } }'
    there, back = resolved(table).elements
    assert (there.rate_process, there.rate_bps) == (None, 3e6)
    assert back.rate_process is not None
    assert (back.rate_process.stream, back.rate_bps) == ("a.reverse", 1e6)


def test_the_resolved_form_reads_itself_again_and_lacks_the_field_in_older_results() -> None:
    for table in (MARKOV, 'rate_process = { kind = "steps", steps = [["0 s", "1 Mbit/s"]], repeat = "9 s" }'):
        assert Resolved.from_dict(resolved(table).to_dict()) == resolved(table)
    plain = resolved('rate = "1 Mbit/s"')
    older = plain.to_dict()
    for element in older["elements"]:
        del element["rate_process"]
    assert Resolved.from_dict(older) == plain


@pytest.mark.parametrize(
    ("table", "random"),
    [('rate_process = { kind = "steps", steps = [["0 s", "9 Mbit/s"]] }', False), (MARKOV, True)],
)
def test_only_random_laws_make_replications_differ(table: str, *, random: bool) -> None:
    assert resolved(table).is_deterministic is not random


def scenario_with(folder: Path, content: str, kind: str) -> Path:
    (folder / "file").write_text(content, encoding="utf-8")
    scenario = folder / "scenario.toml"
    scenario.write_text(TEXT.format(f'rate_process = {{ kind = "{kind}", file = "file" }}'), encoding="utf-8")
    return scenario


def test_a_trace_becomes_steps(tmp_path: Path) -> None:
    link = resolve(
        load(scenario_with(tmp_path, "time_s, rate_bps\n0.5, 8e6\n\n7,0  # off\n9,1e6\n", "trace"))
    ).elements[0]
    assert link.rate_process is not None
    assert link.rate_process.law == StepsRate("steps", ((0.0, 8e6), (7.0, 0.0), (9.0, 1e6)), None)


def test_a_file_of_mahimahi_becomes_opportunities(tmp_path: Path) -> None:
    link = resolve(load(scenario_with(tmp_path, "0\n4\n4\n10\n", "mahimahi"))).elements[0]
    assert link.rate_process is not None
    assert link.rate_process.law == OpportunitiesRate("opportunities", (0, 4, 4, 10), 1504, 4)
    assert link.rate_bps == 4 * 1504 * 8 / 10e-3
    assert link.service_s(1500) == 0.0


@pytest.mark.parametrize(
    ("kind", "content", "fault"),
    [
        ("mahimahi", "", "has no lines"),
        ("mahimahi", "3\n\n5\n", "has no whole number in line 2"),
        ("mahimahi", "3\n-5\n", "has no whole number in line 2"),
        ("mahimahi", "3\n4.5\n", "has no whole number in line 2"),
        ("mahimahi", "3\n²\n", "has no whole number in line 2"),
        ("mahimahi", "5\n3\n", "goes back in time in line 2: 3"),
        ("mahimahi", "0\n0\n", "ends at 0 ms"),
        ("mahimahi", "99999999999\n", "is out of range in line 1"),
        ("mahimahi", "9" * 5000, "is out of range in line 1"),
        ("mahimahi", "1\n" * 1_000_001, "has more than 1000000 lines"),
        ("trace", "", "has no rows"),
        ("trace", "0,1e6\n5,1e6\n4,1e6\n", "goes back in time in line 3"),
        ("trace", "0,-1\n", "is out of range in line 1"),
        ("trace", "0,nan\n", "is out of range in line 1"),
        ("trace", "0,0.5\n", "has a rate between 0 and 1 bit/s"),
        ("trace", "0,1e6\n5,0\n", "ends at 0 bit/s"),
        ("trace", "0,1e6\n5;1e6\n", "has no pair of numbers in line 2"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, kind: str, content: str, fault: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(scenario_with(tmp_path, content, kind))
    assert len(caught.value.faults) == 1
    assert "rate_process.file" in str(caught.value)
    assert fault in str(caught.value)


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ("", 'field "rate" is missing'),
        (f'rate = "1 Mbit/s"\n{MARKOV}', "field rate, line 4: is given in addition to rate_process"),
        (f"private = true\n{MARKOV}", "is the rate_process of a private link"),
        ('rate_process = { kind = "steps", steps = [["0 s", "9 kbit/s"], ["9 s", "0 bit/s"]] }', "ends at 0 bit/s"),
        ('rate_process = { kind = "steps", steps = [["0 s", "0 bit/s"]], repeat = "9 s" }', "ends at 0 bit/s"),
        ('rate_process = { kind = "steps", steps = [["1 s", "1 Mbit/s"]] }', "does not begin at 0 s"),
        (
            'rate_process = { kind = "steps", steps = [["0 s", "1 Mbit/s"], ["9 s", "2 Mbit/s"]], repeat = "9 s" }',
            "is not after the last change, at 9 s",
        ),
        ('rate_process = { kind = "steps", steps = [["0 s", "1 Mbit/s"]], repeat = "1 us" }', "more than 1e7 times"),
        (
            'rate_process = { kind = "outages", rate = "1 Mbit/s", outages = [["1 s", "2 s"], ["2 s", "1 s"]] }',
            "begins before the one before it has ended",
        ),
        ('rate_process = { kind = "markov", states = [{ rate = "1 Mbit/s" }] }', "has no mean_stay in state 1"),
        (
            'rate_process = { kind = "markov", states = [{ rate = "1 Mbit/s", least_stay = "1 s" }] }',
            'has the field least_stay of the kind "alternating" in state 1',
        ),
        ('rate_process = { kind = "markov", states = [] }', "is empty"),
        (
            'rate_process = { kind = "markov", states = [{ rate = "1 Mbit/s", mean_stay = "1 s" }, '
            '{ rate = "0 bit/s", mean_stay = "1 s" }], transitions = [[0, 1], [0, 1]] }',
            "has a state, number 2, of 0 bit/s that no state with a rate follows",
        ),
        ('rate_process = { kind = "mahimahi", file = "none" }', "no such file"),
    ],
)
def test_what_no_link_can_have_is_refused(table: str, fault: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(TEXT.format(table))
    assert len(caught.value.faults) == 1
    assert fault in str(caught.value)


def test_a_missing_rate_is_found_among_other_faults() -> None:
    with pytest.raises(ScenarioError) as caught:
        load(TEXT.format('queue = "no-such"'))
    problems = [fault.problem for fault in caught.value.faults]
    assert problems[0] == 'field "rate" is missing'
    assert len(problems) == 2


def test_the_engine_says_what_is_wrong_with_a_resolved_law() -> None:
    plain = resolved('rate_process = { kind = "steps", steps = [["0 s", "1 Mbit/s"]] }')
    link = plain.elements[0]
    assert link.kind == "link"
    assert link.rate_process is not None
    off = replace(link.rate_process, law=StepsRate("steps", ((0.0, 1e6), (5.0, 0.0)), None))
    with pytest.raises(ackclock.AckclockError, match="0 for ever"):
        ackclock.run(replace(plain, elements=(replace(link, rate_process=off), *plain.elements[1:])), picture=False)


def test_utilisation_is_of_what_the_link_could_carry() -> None:
    """A source of 1 Mbit/s on a link of 2 Mbit/s that is off for half of the time, with room for all."""
    text = """
    [[link]]
    name = "a"
    rate_process = {{ kind = "{0}", states = [
        {{ rate = "{1}", {2} = "1 s" }}, {{ rate = "0 bit/s", {2} = "1 s" }}
    ] }}
    [[flow]]
    path = ["a"]
    packet = "100 B"
    traffic = {{ kind = "constant", rate = "1 Mbit/s" }}
    [run]
    duration = "400 s"
    warmup = "10 s"
    """
    for kind, field, allowed in (("alternating", "least_stay", 0.01), ("markov", "mean_stay", 0.1)):
        link = ackclock.run(load(text.format(kind, "4 Mbit/s", field)), picture=False).summary["links"][0]
        assert link["rate_changes"] is True
        assert link["rate_bps"] == 2e6
        assert link["drain_s"] is None
        assert link["utilisation_fraction"]["mean"] == pytest.approx(0.5, abs=allowed)
    full = ackclock.run(load(text.format("alternating", "1.5 Mbit/s", "least_stay")), picture=False)
    assert full.summary["links"][0]["utilisation_fraction"]["mean"] == pytest.approx(1.0, abs=1e-3)
    assert "a is the bottleneck and full" in full.summary["verdict"]


def test_no_model_applies_where_the_rate_changes() -> None:
    scenario = load(SCENARIOS / "geo-two-nodes.toml")
    link = scenario.links[-1]
    assert link.rate is not None
    steps = {"kind": "steps", "steps": [["0 s", f"{link.rate} bit/s"], ["50 s", f"{link.rate / 2} bit/s"]]}
    document = {**scenario.source.document}
    document["link"] = [dict(one) for one in document["link"]]
    del document["link"][-1]["rate"]
    document["link"][-1]["rate_process"] = steps
    assert ackclock.predict(SCENARIOS / "geo-two-nodes.toml").applicable
    prediction = ackclock.predict(document)
    assert not prediction.applicable
    reasons = {reason for model in prediction.inapplicable for reason in model.reasons}
    assert f"the rate of {link.name} changes; the model has a constant one" in reasons


def test_the_picture_has_the_rate_of_the_link() -> None:
    table = (
        'rate_process = { kind = "steps", steps = [["0 s", "4 Mbit/s"], ["40 s", "0 bit/s"], ["45 s", "1 Mbit/s"]] }'
    )
    result = ackclock.run(load(TEXT.format(table) + "[trace]\nrate = true\n"))
    assert list(result.traces["rate"].query("link == 'a'")["rate_bps"]) == [4e6, 0.0, 1e6]
    rates = result.traces["overview"].query("kind == 'rate' and name == 'a'")
    assert list(rates["time_s"]) == [0.0, 40.0, 45.0]
    assert list(rates["value"]) == [4e6, 0.0, 1e6]
    (panel,) = (panel for panel in result.chart().panels if panel.y_label == "rate [Mbit/s]")
    (curve,) = panel.curves
    assert (curve.label, float(np.max(curve.y))) == ("a", 4.0)


def test_the_same_seed_gives_the_same_rates_and_another_seed_others() -> None:
    def throughput(seed: int) -> float:
        scenario = with_overrides(load(TEXT.format(MARKOV)), {"run.seed": seed, "run.duration": "20 s"})
        return float(ackclock.run(scenario, picture=False).summary["flows"][0]["throughput_bps"]["mean"])

    assert throughput(1) == throughput(1) != throughput(2)


def test_deliveries_of_a_file_of_mahimahi_are_its_lines(tmp_path: Path) -> None:
    times = [2, 2, 5, 11, 11, 11]
    write_deliveries(tmp_path / "file", times)
    scenario = scenario_with(tmp_path, (tmp_path / "file").read_text(encoding="ascii"), "mahimahi")
    found = ackclock.deliveries(scenario, "a", overrides={"run.duration": "33 ms"})
    assert found == [time + 11 * again for again in range(3) for time in times]


def test_the_synthetic_trace_is_that_of_the_fading_link() -> None:
    kept = (SCENARIOS / "lte-synthetic.trace").read_text(encoding="ascii")
    assert [int(line) for line in kept.splitlines()] == ackclock.deliveries("lte-fading", "lte")
    assert ackclock.deliveries("lte-fading", "lte", replication=1) != ackclock.deliveries("lte-fading", "lte")


def test_the_command_writes_a_file_and_replaces_none(tmp_path: Path) -> None:
    out = tmp_path / "lte.trace"
    command = ["deliveries", "lte-fading", "lte", "--out", str(out)]
    done = CliRunner().invoke(app, [*command, "--set", "run.duration=2 s"])
    assert (done.exit_code, done.output) == (0, f"1154 deliveries in 2 s: {out}\n")
    kept = out.read_text(encoding="ascii")
    assert len(kept.splitlines()) == 1154
    refused = CliRunner().invoke(app, command)
    assert isinstance(refused.exception, ackclock.AckclockError)
    assert out.read_text(encoding="ascii") == kept


def test_the_command_names_its_own_arguments_and_makes_no_folder_for_nothing(tmp_path: Path) -> None:
    out = tmp_path / "new" / "lte.trace"
    for scenario, link, changed, message in (
        ("lte-fading", "lta", "2 s", 'LINK: no such link; given "lta"; allowed "lte", "lte.reverse"'),
        (
            "lte-fading",
            "lte",
            "1e5 s",
            "[run], field duration: more than 1000000 deliveries; given 100000 s; allowed a shorter run",
        ),
    ):
        command = ["deliveries", scenario, link, "--out", str(out), "--set", f"run.duration={changed}"]
        assert str(CliRunner().invoke(app, command).exception) == message
        assert not out.parent.exists()
    made = CliRunner().invoke(app, ["deliveries", "lte-fading", "lte", "--out", str(out), "--set", "run.duration=1 s"])
    assert made.exit_code == 0
    assert out.is_file()


def test_deliveries_of_what_has_no_rate_are_refused() -> None:
    text = TEXT.format('rate = "unlimited"').replace('buffer = "100 ms"', "")
    unlimited = load(text.replace("[run]", 'size = "9 pkt"\n[run]'))
    with pytest.raises(ArgumentError, match=r'no such link; given "none"; allowed "lte", "lte\.reverse"'):
        ackclock.deliveries("lte-fading", "none")
    with pytest.raises(ArgumentError, match="not a shared link with a rate"):
        ackclock.deliveries(unlimited, "a")
    with pytest.raises(ArgumentError, match="less than 1504 bytes"):
        ackclock.deliveries(load(TEXT.format('rate = "1 Mbit/s"')), "a", overrides={"run.duration": "12 ms"})
    with pytest.raises(ArgumentError, match="more than 1000000 deliveries"):
        ackclock.deliveries(load(TEXT.format('rate = "1 Gbit/s"')), "a")
    with pytest.raises(ArgumentError, match="a whole number from 0 to 2"):
        ackclock.deliveries("lte-fading", "lte", replication=-1)
    with pytest.raises(ArgumentError, match="a whole number from 0 to 2"):
        ackclock.deliveries("lte-fading", "lte", replication=10**30)


def test_a_rate_that_changes_is_shared_with_other_traffic() -> None:
    """A source of 4 Mbit/s takes its part of 10 and 6 Mbit/s in turn, and TCP what is left."""
    text = """
    [[link]]
    name = "a"
    rate_process = { kind = "steps", steps = [["0 s", "10 Mbit/s"], ["5 s", "6 Mbit/s"]], repeat = "10 s" }
    buffer = "100 pkt"
    reverse = { rate = "10 Mbit/s" }
    [[flow]]
    name = "bulk"
    path = ["a"]
    rtt = "40 ms"
    [[flow]]
    name = "cross"
    path = ["a"]
    traffic = { kind = "poisson", rate = "4 Mbit/s" }
    [run]
    duration = "200 s"
    warmup = "10 s"
    """
    summary = ackclock.run(load(text), picture=False).summary
    bulk, cross = (flow["throughput_bps"]["mean"] for flow in summary["flows"])
    assert cross == pytest.approx(4e6, rel=0.03)
    assert bulk == pytest.approx(4e6, rel=0.06)
    assert summary["links"][0]["utilisation_fraction"]["mean"] == pytest.approx((bulk + cross) / 8e6, abs=1e-3)
