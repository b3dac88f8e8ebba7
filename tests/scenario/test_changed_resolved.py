"""Resolved scenarios that `dataclasses.replace` changed are checked before anything uses them."""

from collections.abc import Callable
from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest

import ackclock
from ackclock import api
from ackclock.scenario import Resolved, ScenarioError

RANDOM = ackclock.resolve("geo-random-drop")
ENTRANCES: list[Callable[[Resolved], object]] = [
    ackclock.run,
    ackclock.predict,
    ackclock.resolve,
    api.simulate,
    lambda resolved: ackclock.deliveries(resolved, "access"),
]


def run(**fields: Any) -> Resolved:
    return replace(RANDOM, run=replace(RANDOM.run, **fields))


def whole(**fields: Any) -> Resolved:
    return replace(RANDOM, **fields)


def element(**fields: Any) -> Resolved:
    first, *others = RANDOM.elements
    return replace(RANDOM, elements=(replace(first, **fields), *others))


def flow(**fields: Any) -> Resolved:
    return replace(RANDOM, flows=(replace(RANDOM.flows[0], **fields),))


def fault_of(resolved: Resolved) -> str:
    with pytest.raises(ScenarioError) as caught:
        resolved.check()
    (fault,) = caught.value.faults
    return str(fault).removeprefix("resolved scenario, field ")


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_whatever_takes_a_resolved_scenario_checks_it(entrance: Callable[[Resolved], object]) -> None:
    with pytest.raises(ScenarioError, match=r"run\.replications: input should be greater than or equal to 1; given 0"):
        entrance(run(replications=0))


BUFFERS = 'input should be a PacketBuffer or a ByteBuffer, in JSON {"packets": 20} or {"bytes": 99}'


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        (run(replications=10**9), "run.replications: input should be less than or equal to 1000000; given 1000000000"),
        (run(replications=True), "run.replications: input should be a valid integer; given true"),
        (run(confidence=2.0), "run.confidence: input should be less than 1; given 2.0"),
        (run(confidence=0.0), "run.confidence: input should be greater than 0; given 0.0"),
        (run(confidence=-1.0), "run.confidence: input should be greater than 0; given -1.0"),
        (run(duration_s="3"), 'run.duration_s: input should be a valid number; given "3"'),
        (run(duration_s=1e300), "run.duration_s: input should be less than or equal to 10000000; given 1e+300"),
        (run(duration_s=inf), "run.duration_s: input should be a finite number; given inf"),
        (run(duration_s=nan), "run.duration_s: input should be a finite number; given nan"),
        (run(warmup_s=1e6), "run.warmup_s: is not shorter than the duration; given 1000000.0"),
        (whole(elements=()), "elements: is empty; given []; allowed one entry or more"),
        (whole(flows=()), "flows: is empty; given []; allowed one entry or more"),
        (whole(flows=None), "flows: input should be a valid tuple; given None"),
        (whole(run=None), "run: input should be an instance of RunSettings; given None"),
        (whole(elements=(3,)), "elements[0]: is not a record; given 3; allowed a record with the field kind"),
        (
            whole(flows=(RANDOM.elements[0],)),
            "flows[0]: input should be an instance of ResolvedFlow; given an object of type SimplexLink",
        ),
        (element(rate_bps=0), "elements[0].rate_bps: input should be greater than or equal to 1; given 0"),
        (element(delay_s=1e300), "elements[0].delay_s: input should be less than or equal to 100000; given 1e+300"),
        (element(buffer="18 pkt"), f'elements[0].buffer: {BUFFERS}; given "18 pkt"'),
        (
            element(kind="chanel"),
            "elements[0].kind: is not a known kind; given chanel; allowed 'link', 'private-link', 'channel', 'host'",
        ),
        (flow(path=(99,)), "flows[0].path: names an element beyond the last, 5; given [99, 5, 3, 1]"),
        (
            flow(name="\ud800"),
            "flows[0].name: input should be a valid string, unable to parse raw data as a unicode string; "
            r'given "\ud800"',
        ),
    ],
)
def test_a_fault_names_the_field_the_value_and_what_is_allowed(changed: Resolved, fault: str) -> None:
    assert fault_of(changed) == fault


def test_whole_numbers_that_the_engine_cannot_hold_are_named_by_their_field() -> None:
    resolved = ackclock.resolve("two-way-abr")
    assert resolved.atm is not None
    first, *others = resolved.atm.ports
    ports = (replace(first, buffer_cells=10**30), *others)
    changed = replace(resolved, atm=replace(resolved.atm, ports=ports))
    assert fault_of(changed).startswith("atm.ports[0].buffer_cells: input should be less than ")


def test_one_with_faults_can_be_shown() -> None:
    assert repr(whole(flows=None, run=None)) == "<Resolved with 2 faults, which check() lists>"


def test_what_is_valid_is_taken_as_it_is() -> None:
    changed = run(replications=2, duration_s=100)
    changed.check()
    assert ackclock.resolve(changed) is changed


def test_the_check_of_100_000_flows_in_groups_is_that_of_as_many_single_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check looks at the records, of which a group has one: nothing is done for each flow."""
    groups = tuple(replace(RANDOM.flows[0], name=f"group {number}", count=25_000) for number in range(4))
    resolved = replace(RANDOM, flows=groups)
    monkeypatch.setattr(type(resolved), "rows", property(lambda _: pytest.fail("each flow was looked at")))
    resolved.check()
