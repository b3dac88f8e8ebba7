"""Resolved scenarios in older formats, which results on disk have."""

import json
from pathlib import Path

import pytest

from ackclock.scenario import Resolved, ScenarioError, load, resolve
from digest.draw import draw

OLD = json.loads(Path(__file__).with_name("format_2.json").read_text(encoding="utf-8"))
"""Scenarios in format 2 as version 0.1.0 wrote them, by the number that draws them."""


@pytest.mark.parametrize("number", OLD)
def test_a_scenario_in_format_2_is_read_as_what_it_is_today(number: str) -> None:
    assert Resolved.from_dict(OLD[number]) == resolve(load(draw(int(number))))


def test_the_old_scenarios_have_all_kinds_of_elements_queues_and_traffic() -> None:
    read = [Resolved.from_dict(old) for old in OLD.values()]
    elements = [element for scenario in read for element in scenario.elements]
    assert {element.kind for element in elements} == {"link", "private-link", "channel", "host"}
    names = {"drop-tail", "drop-from-front", "random-drop", "red", "priority"}
    assert {str(element.queue) for element in elements} == names
    kinds = {flow.traffic.kind for scenario in read for flow in scenario.flows}
    assert kinds == {"tcp", "web", "constant", "poisson", "on-off", "poisson-on-off"}


def test_format_1_lacks_what_format_2_added() -> None:
    old = json.loads(json.dumps(next(iter(OLD.values()))))
    old["format"] = 1
    for name in ("delay", "recovery", "rounds", "overview_detail_s"):
        del old["trace"][name]
    del old["atm"], old["run"]["precision"]
    for link in old["links"]:
        link.pop("private"), link.pop("processing"), link.pop("loss"), link.pop("delay_process")
    read = Resolved.from_dict(old)
    assert read.atm is None
    assert not read.trace.rounds


def test_what_is_wrong_in_an_old_form_is_said() -> None:
    old = json.loads(json.dumps(next(iter(OLD.values()))))
    old["links"][0]["rate_bps"] = -1.0
    with pytest.raises(ScenarioError, match=r"field elements\[0\]\.rate_bps"):
        Resolved.from_dict(old)
    for broken in ({}, {"format": 2}, {**old, "links": None}, {**old, "flows": [{"name": "x"}]}):
        with pytest.raises(ScenarioError):
            Resolved.from_dict(broken)


def test_a_format_of_the_future_is_refused() -> None:
    with pytest.raises(ScenarioError, match="field format"):
        Resolved.from_dict({**resolve(load(draw(0))).to_dict(), "format": 4})


@pytest.mark.parametrize(
    ("dialect", "half_window"), [("ns2", "whole-packets"), ("rfc", "fractional"), ("engset", "whole-packets")]
)
def test_a_sender_without_its_half_of_the_window_has_the_dialects(dialect: str, half_window: str) -> None:
    resolved = resolve(load({**draw(0), "flow": [{**draw(0)["flow"][0], "tcp": {"dialect": dialect}}]}))
    old = resolved.to_dict()
    sender = old["flows"][0]["traffic"]["connection"]["sender"]
    assert sender.pop("half_window") == half_window
    assert Resolved.from_dict(old) == resolved


def test_red_without_its_rules_has_those_of_the_paper() -> None:
    resolved = resolve(load({**draw(0), "link": [{**link, "queue": "red"} for link in draw(0)["link"]]}))
    old = resolved.to_dict()
    for element in old["elements"]:
        for rule in ("wait", "least_queue_packets", "first_passes", "overflow_restarts"):
            element.get("queue", {}).get("aqm", {}).pop(rule, None)
    assert Resolved.from_dict(old) == resolved


def test_a_sender_without_a_machine_is_the_classic_one() -> None:
    resolved = resolve(load(draw(0)))
    old = resolved.to_dict()
    assert old["flows"][0]["traffic"]["connection"]["sender"].pop("machine") == "classic"
    assert Resolved.from_dict(old) == resolved
    old["flows"][0]["traffic"]["connection"]["sender"]["machine"] = "quantum"
    with pytest.raises(ScenarioError, match="quantum"):
        Resolved.from_dict(old)
