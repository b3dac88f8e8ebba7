"""The axes of a congestion control in scenarios: its numbers, its dialect, and the end of slow start."""

import re
from typing import Any

import pytest

import ackclock
from ackclock.scenario import ScenarioError, load, preset_names, resolve
from ackclock.scenario.contract import CONGESTION_CONTROLS
from ackclock.scenario.resolved_tcp import ControlSettings, SelectiveSettings
from ackclock.scenario.scenario import with_overrides
from ackclock.scenario.tcp_names import tcp_names


def document(**tcp: Any) -> dict[str, Any]:
    """Give a path of 10 Mbit/s with this TCP."""
    link = {"name": "line", "rate": "10 Mbit/s", "buffer": "40 pkt"}
    flow = {"path": ["line"], "rtt": "40 ms", "packet": "1500 B", "tcp": tcp}
    return {"link": [link], "flow": [flow], "run": {"duration": "30 s"}}


def control(**tcp: Any) -> ControlSettings:
    (flow,) = resolve(load(document(**tcp))).flows
    assert flow.connection is not None
    sender = flow.connection.sender
    assert isinstance(sender, SelectiveSettings)
    return sender.congestion_control


def mean_window(**tcp: Any) -> float:
    return float(ackclock.run(document(**tcp)).flows["cwnd_mean_packets"].iloc[0])


@pytest.mark.parametrize(
    ("tcp", "expected"),
    [
        ({"preset": "linux-cubic"}, ControlSettings("cubic", "linux", "hystart", {})),
        ({"preset": "rfc-cubic"}, ControlSettings("cubic", "rfc", "hystart++", {})),
        ({"recovery": "sack", "dialect": "rfc"}, ControlSettings("cubic", "rfc", "hystart++", {})),
        ({"preset": "linux-cubic", "slow_start": "standard"}, ControlSettings("cubic", "linux", "standard", {})),
        ({"preset": "linux-reno", "slow_start": "hystart"}, ControlSettings("reno", "linux", "hystart", {})),
        ({"preset": "linux-cubic", "congestion_control": "htcp"}, ControlSettings("htcp", "linux", "standard", {})),
        (
            {"preset": "linux-reno", "congestion_control": "aimd", "parameters": {"beta": 0.1, "alpha": 8}},
            ControlSettings("aimd", "linux", "standard", {"alpha": 8.0, "beta": 0.1}),
        ),
    ],
)
def test_a_scenario_chooses_the_control_its_rules_and_its_slow_start(
    tcp: dict[str, Any], expected: ControlSettings
) -> None:
    assert control(**tcp) == expected


@pytest.mark.parametrize(
    ("tcp", "field", "problem", "allowed"),
    [
        ({"parameters": {"delta": 1}}, "parameters.delta", "is not a number of", "beta, beta_ecn, c"),
        ({"parameters": {"beta": 2}}, "parameters.beta", "is too large", "0.1 to 0.95"),
        ({"parameters": {"c": 0}}, "parameters.c", "is too small", "0.02 to 10.0 packet/s^3"),
        (
            {"parameters": {"c": float("nan")}},
            "parameters",
            "has the entry c of nan, which is not finite",
            "a table of",
        ),
        ({"parameters": {"c": "steep"}}, "parameters", "must be a number, not a string", "{ beta = 0.8 }"),
        ({"parameters": 0.7}, "parameters", "must be a table, not a float", "a table of"),
        ({"congestion_control": "htcp", "parameters": {"beta": 0.5}}, "parameters.beta", "is not a number of", "none"),
        ({"slow_start": "hystart+"}, "slow_start", "unknown end of slow start", '"hystart++"'),
    ],
)
def test_what_a_control_does_not_have_is_a_fault(tcp: dict[str, Any], field: str, problem: str, allowed: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(problem)) as raised:
        resolve(load(document(preset="linux-cubic", **tcp)))
    (line,) = [line for line in str(raised.value).splitlines() if f"tcp.{field}" in line]
    assert allowed in line


@pytest.mark.parametrize("field", ["parameters", "slow_start"])
def test_the_sender_of_cumulative_acks_has_neither(field: str) -> None:
    value = {"parameters": {"beta": 0.7}, "slow_start": "hystart"}[field]
    with pytest.raises(ScenarioError, match=rf'tcp\.{field}.*is not an axis of recovery = "newreno"'):
        resolve(load(document(**{"preset": "newreno-rfc6582", field: value})))


def test_the_numbers_of_a_control_reach_the_engine() -> None:
    gentle = mean_window(preset="linux-reno", parameters={"beta": 0.9})
    usual = mean_window(preset="linux-reno")
    assert mean_window(preset="linux-reno", parameters={"beta": 0.5}) == usual
    assert gentle > 1.1 * usual


def test_slow_start_and_dialect_reach_the_engine() -> None:
    windows = {
        mean_window(preset="linux-cubic"),
        mean_window(preset="linux-cubic", slow_start="standard"),
        mean_window(preset="rfc-cubic"),
    }
    assert len(windows) == 3


def test_a_single_number_is_overridden_and_swept() -> None:
    scenario = load(document(preset="linux-reno", congestion_control="aimd", parameters={"alpha": 2, "beta": 0.25}))
    (flow,) = resolve(with_overrides(scenario, {"flow.flow.tcp.parameters.alpha": 4})).flows
    assert flow.connection is not None
    sender = flow.connection.sender
    assert isinstance(sender, SelectiveSettings)
    assert sender.congestion_control.parameters == {"alpha": 4.0, "beta": 0.25}


def test_a_run_names_the_control_that_is_not_its_preset_s() -> None:
    resolved = resolve(load(document(preset="linux-reno", congestion_control="scalable")))
    assert tcp_names(resolved) == {"flow": 'linux-reno with another congestion_control ("scalable")'}


def test_a_run_names_the_numbers_in_which_it_is_another() -> None:
    resolved = resolve(load(document(preset="linux-cubic", parameters={"beta": 0.8})))
    assert tcp_names(resolved) == {"flow": "linux-cubic with another parameters"}


def test_each_preset_of_this_sender_has_a_control_of_the_list() -> None:
    for name in preset_names():
        if name.startswith(("linux-", "rfc-")):
            assert control(preset=name).name in CONGESTION_CONTROLS
