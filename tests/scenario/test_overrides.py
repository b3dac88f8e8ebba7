import json

import numpy as np
import pytest

import ackclock
from ackclock.scenario import Scenario, ScenarioError, load, resolve, with_overrides
from ackclock.scenario.override import read_list, read_value
from ackclock.scenario.places import as_toml

TEXT = """\
title = "base"
[[link]]
name = "satellite"
rate = "1.5 Mbit/s"
buffer = "18 pkt"
queue = "red"
[[flow]]
path = ["satellite"]
rtt = "560 ms"
tcp = "tahoe-ns2"
[[flow]]
name = "web"
path = ["satellite.reverse"]
tcp = { preset = "reno-ns2", ack_every = 3 }
[run]
duration = "100 s"
"""


@pytest.fixture(name="base")
def make_base() -> Scenario:
    return load(TEXT)


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("title", "other", 'title = "other"'),
        ("link.satellite.buffer", "20 pkt", 'buffer = "20 pkt"'),
        ("link.satellite.queue", {"discipline": "red", "weight": 0.1}, 'queue = { discipline = "red", weight = 0.1 }'),
        ("link.satellite.queue.weight", 0.1, 'queue = { discipline = "red", weight = 0.1 }'),
        ("flow.flow1.rtt", "600 ms", 'rtt = "600 ms"'),
        ("flow.flow1.tcp", "reno-ns2", 'tcp = "reno-ns2"'),
        ("flow.flow1.tcp.ack_every", 2, 'tcp = { preset = "tahoe-ns2", ack_every = 2 }'),
        ("flow.flow1.tcp.rto.min", "1 s", 'tcp = { preset = "tahoe-ns2", rto = { min = "1 s" } }'),
        ("flow.web.tcp.preset", "tahoe-ns2", 'tcp = { preset = "tahoe-ns2", ack_every = 3 }'),
        ("run.duration", "50 s", 'duration = "50 s"'),
    ],
)
def test_an_override_is_like_another_text(base: Scenario, key: str, value: object, line: str) -> None:
    field = line.split(" = ", maxsplit=1)[0]
    lines = TEXT.split("\n")
    positions = [number for number, old in enumerate(lines) if old.startswith(f"{field} =")]
    position = positions[-1] if key.startswith("flow.web") else positions[0]
    text = "\n".join([*lines[:position], line, *lines[position + 1 :]])
    assert resolve(with_overrides(base, {key: value})) == resolve(load(text))


def test_fields_that_were_not_given_can_be_overridden(base: Scenario) -> None:
    changed = with_overrides(base, {"link.satellite.reverse.rate": "9 Mbit/s", "trace.cwnd": True, "run.seed": 5})
    resolved = resolve(changed)
    assert (resolved.elements[1].rate_bps, resolved.trace.cwnd, resolved.run.seed) == (9e6, True, 5)


def test_the_base_stays_as_it_is(base: Scenario) -> None:
    before = resolve(base)
    with_overrides(base, {"link.satellite.queue.weight": 0.1, "flow.web.tcp.rto.min": "1 s"})
    assert resolve(base) == before == resolve(load(TEXT))


def test_overrides_add_up(base: Scenario) -> None:
    first = with_overrides(base, {"link.satellite.buffer": "20 pkt"})
    both = with_overrides(first, {"run.duration": "50 s"})
    assert resolve(both) == resolve(with_overrides(base, {"link.satellite.buffer": "20 pkt", "run.duration": "50 s"}))


def test_faults_name_the_override_or_else_the_line(base: Scenario) -> None:
    changes = {
        "link.satellite.buffer": 20,
        "link.satellite.colour": "red",
        "flow.web.tcp.rto": {"min": "1 kB"},
        "run.duration": "200 ms",
        "flow.flow1.rtt": "1 ms",
    }
    with pytest.raises(ScenarioError) as caught:
        with_overrides(base, changes)
    places = [fault.place for fault in caught.value.faults]
    assert places == [
        'link "satellite" (1st [[link]]), field buffer, override "link.satellite.buffer"',
        'link "satellite" (1st [[link]]), field colour, override "link.satellite.colour"',
        'flow "web" (2nd [[flow]]), field tcp.rto.min, override "flow.web.tcp.rto"',
    ]
    with pytest.raises(ScenarioError) as caught:
        with_overrides(base, {"link.satellite.rate": "1.5 kbit/s"})
    assert [fault.place for fault in caught.value.faults] == ["1st [[flow]], field rtt, line 9"]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("link.satelite.buffer", 'no link named "satelite"; allowed "satellite"; did you mean "satellite"?'),
        ("flow.flow.rtt", 'no flow named "flow"; allowed "flow1", "web"; did you mean "flow1"?'),
        ("links.satellite.buffer", 'begins with "links"; allowed link.NAME.FIELD, flow.NAME.FIELD, run.FIELD, '
         'trace.FIELD or title; did you mean "link"?'),
        ("link.satellite", "names no field; allowed a path such as link.NAME.FIELD"),
        ("run", "names no field; allowed a path such as run.FIELD"),
    ],
)  # fmt: skip
def test_paths_that_lead_nowhere_are_explained(base: Scenario, key: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        with_overrides(base, {key: 1})
    assert str(caught.value.faults[0]) == f'override "{key}": {message}'


def test_numbers_of_numpy_are_numbers() -> None:
    document = {
        "link": [{"name": "line", "rate": "10 Mbit/s"}],
        "flow": [{"path": ["line"], "count": np.int64(3)}],
        "run": {"duration": "1 s", "seed": np.uint8(7), "delays": np.bool_(True)},
    }
    resolved = ackclock.resolve(document)
    assert (resolved.flows[0].count, resolved.run.seed, resolved.run.delays) == (3, 7, True)
    changed = ackclock.resolve(document, overrides={"run.seed": np.int64(2)}, replications=np.int32(4))
    assert (changed.run.seed, changed.run.replications) == (2, 4)
    assert json.loads(changed.to_json())["run"]["seed"] == 2
    with pytest.raises(ScenarioError, match="must be a whole number"):
        ackclock.resolve(document, seed=np.float64(2.5))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{discipline="codel"', "begins as a table and is not valid TOML: unclosed inline table"),
        ("{discipline=codel}", "begins as a table and is not valid TOML: invalid value"),
        ('["a", "b"', "begins as a list and is not valid TOML: unclosed array"),
    ],
)
def test_what_begins_as_a_table_or_a_list_is_not_taken_as_text(text: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read_value(text, "--set link.l.queue")
    (fault,) = caught.value.faults
    assert (fault.place, fault.problem, fault.given) == ("--set link.l.queue", problem, as_toml(text))
    assert (fault.hint is not None and "single ones" in fault.hint) == ('"' not in text)
    assert read_value("a {text} [with] brackets", "--set title") == "a {text} [with] brackets"
    assert read_list("drop-tail,red", "axis") is None
    assert read_list('"drop-tail", {discipline = "red"}', "axis") == ["drop-tail", {"discipline": "red"}]
