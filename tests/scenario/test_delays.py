"""Delays that change: from the table to the resolved law, traces from their file, and what a run makes of them."""

from pathlib import Path

import pytest

import ackclock
from ackclock.scenario import Resolved, ScenarioError, load, resolve, with_overrides
from ackclock.scenario.resolved_elements import AlternatingLaw, DelayStateSettings, HandoverLaw, StepsLaw

SCENARIOS = Path(__file__).parents[2] / "scenarios"
TEXT = """
[[link]]
name = "a"
rate = "1 Mbit/s"
delay = "5 ms"
{0}
[[flow]]
path = ["a"]
rtt = "1 s"
[run]
duration = "100 s"
"""
TWO = """
[link.delay_process]
kind = "alternating"
order = "keep"
start_state = 2
states = [{ delay = "92 ms", least_stay = "100 ms", mean_extra = "1 s" }, { delay = "0.2 s", least_stay = "300 ms" }]
"""


def resolved(table: str) -> Resolved:
    return resolve(load(TEXT.format(table)))


def test_steps_are_resolved_as_they_stand() -> None:
    link = resolved('delay_process = { kind = "steps", steps = [["0 s", "20 ms"], ["6 s", "0.01 s"]] }').elements[0]
    assert link.delay_s == 0.005
    assert link.delay_process is not None
    assert (link.delay_process.order, link.delay_process.stream) == ("overtake", "a")
    assert link.delay_process.law == StepsLaw("steps", ((0.0, 0.02), (6.0, 0.01)))


def test_states_are_counted_from_one_by_people_and_from_zero_by_the_engine() -> None:
    process = resolved(TWO).elements[0].delay_process
    assert process is not None
    assert process.order == "keep"
    states = (DelayStateSettings(0.092, 0.1, 1.0), DelayStateSettings(0.2, 0.3, 0.0))
    assert process.law == AlternatingLaw("alternating", states, 1, None)


def test_the_reverse_direction_stays_unless_the_delay_changes_both_ways() -> None:
    handover = 'delay_process = {{ kind = "handover", low = "10 ms", high = "30 ms"{0} }}'
    assert resolved(handover.format("")).elements[1].delay_process is None
    there, back = resolved(handover.format(", both_ways = true")).elements
    assert there.delay_process == back.delay_process
    assert back.delay_process is not None
    assert (back.delay_process.stream, back.delay_process.law) == ("a", HandoverLaw("handover", 0.01, 0.03, 15.0))


def test_the_least_round_trip_counts_with_the_least_delay() -> None:
    flow = resolved(TWO).flows[0]
    needed = 0.005 + 0.092 + 0.005 + 1500 * 8 / 1e6 + 40 * 8 / 1e6
    assert flow.forward_delay_s + flow.tcp.return_delay_s == pytest.approx(1.0 - needed, abs=2e-12)
    for table in (TWO, 'delay_process = { kind = "steps", steps = [["0 s", "99 ms"], ["6 s", "10 ms"]] }'):
        link = resolved(table).elements[0]
        assert link.delay_process is not None
        assert link.least_delay_s == 0.005 + link.delay_process.law.least_s


def test_the_resolved_form_reads_itself_again() -> None:
    for table in (TWO, 'delay_process = { kind = "handover", low = "10 ms", high = "30 ms", both_ways = true }', ""):
        assert Resolved.from_dict(resolved(table).to_dict()) == resolved(table)


@pytest.mark.parametrize(
    ("table", "random"),
    [("", False), ('delay_process = { kind = "steps", steps = [["0 s", "9 ms"]] }', False), (TWO, True)],
)
def test_only_random_laws_make_replications_differ(table: str, *, random: bool) -> None:
    assert resolved(table).is_deterministic is not random


def trace(folder: Path, content: str, file: str = "delays.csv") -> Path:
    (folder / "delays.csv").write_text(content, encoding="utf-8")
    scenario = folder / "scenario.toml"
    scenario.write_text(TEXT.format(f'delay_process = {{ kind = "trace", file = "{file}" }}'), encoding="utf-8")
    return scenario


def test_a_trace_is_read_beside_the_scenario_and_becomes_steps(tmp_path: Path) -> None:
    content = "time_s, delay_s\n# measured\n0.5, 0.02\n\n7,1e-2  # lower\n"
    process = resolve(load(trace(tmp_path, content))).elements[0].delay_process
    assert process is not None
    assert process.law == StepsLaw("steps", ((0.0, 0.02), (7.0, 0.01)))


def test_a_trace_is_found_when_fields_are_overridden(tmp_path: Path) -> None:
    scenario = with_overrides(load(trace(tmp_path, "0,0.02\n")), {"run.duration": "200 s"})
    assert resolve(scenario).elements[0].delay_process is not None


@pytest.mark.parametrize("file", ["../delays.csv", "/etc/passwd", "sub/../../x.csv", "a\\u0000b"])
def test_a_trace_from_elsewhere_is_refused(tmp_path: Path, file: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "delays.csv").write_text("0,0.1\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"leads out of|has the control character U\+0000"):
        load(trace(tmp_path / "in", "0,0.1\n", file))


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "delays.csv").write_text("0,0.1\n", encoding="utf-8")
    (tmp_path / "in" / "link.csv").symlink_to(tmp_path / "delays.csv")
    with pytest.raises(ScenarioError, match="leads out of"):
        load(trace(tmp_path / "in", "0,0.1\n", "link.csv"))


def test_the_jump_of_the_delay_times_out_at_13_packets_and_not_at_26() -> None:
    """Abouzeid, Roy, figures 1 and 2."""
    scenario = load(SCENARIOS / "mobile-delay-steps.toml")
    for window, timeouts in (("13 pkt", 1), ("26 pkt", 0)):
        result = ackclock.run(with_overrides(scenario, {"flow.transfer.tcp.max_window": window}))
        assert result.summary["flows"][0]["timeouts"]["mean"] == timeouts
        assert list(result.traces["delay"]["delay_s"]) == [0.192, 0.292]


@pytest.mark.parametrize("tcp", ["linux-cubic", "newreno-rfc6582"])
def test_a_handover_makes_fast_retransmits_without_a_loss_where_packets_overtake(tcp: str) -> None:
    window = {"flow.download.tcp": tcp, "flow.download.tcp.max_window": "64 KiB"}
    scenario = with_overrides(load(SCENARIOS / "leo-handover.toml"), window)
    for order, some in (("overtake", True), ("keep", False)):
        result = ackclock.run(with_overrides(scenario, {"link.satellite.delay_process.order": order}))
        flow = result.summary["flows"][0]
        assert (flow["fast_retransmits"]["mean"] > 0) is some
        assert (flow["spurious_fast_retransmits"]["mean"] > 0) is some
        assert flow["loss_fraction"]["mean"] == 0
