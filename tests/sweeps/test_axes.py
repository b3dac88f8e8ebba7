"""Axes: from text or Python to the values of fields, and what is said where they are wrong."""

from typing import Any

import numpy as np
import pytest

from ackclock import scenario as scenarios
from ackclock.errors import ScenarioError, SweepError
from ackclock.scenario.resolved_buffers import PacketBuffer
from ackclock.sweeps import MOST_POINTS, Axis, parse_axis, plan, planned_sweep
from ackclock.sweeps.axes import axes_of, coordinate, with_units

SCENARIO = """\
[[link]]
name = "satellite"
rate = "1.5 Mbit/s"
buffer = "18 pkt"

[[flow]]
path = ["satellite"]
rtt = "560 ms"
tcp = "tahoe-ns2"

[run]
duration = "20 s"
"""


@pytest.fixture(scope="module")
def scenario() -> scenarios.Scenario:
    return scenarios.load(SCENARIO)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("10:16:2", [10, 12, 14, 16]),
        ("10:15:2", [10, 12, 14]),
        ("1:2:0.1 Mbit/s", [f"{value:.12g} Mbit/s" for value in np.arange(10, 21) / 10]),
        ("3:1:-1", [3, 2, 1]),
        ("10,20,40", [10, 20, 40]),
        ("10,20,40 pkt", ["10 pkt", "20 pkt", "40 pkt"]),
        ("10 kB,20", ["10 kB", 20]),
        ("drop-tail, red", ["drop-tail", "red"]),
        ('"5 pkt","7 pkt"', ["5 pkt", "7 pkt"]),
        ("true,false", [True, False]),
    ],
)
def test_an_axis_is_read_from_text(text: str, values: list[object]) -> None:
    axis = parse_axis(f"link.satellite.buffer={text}")
    assert axis.name == "link.satellite.buffer"
    assert axis.column(axis.name) == values


def test_a_range_has_no_rounding_errors() -> None:
    assert parse_axis("run.x=0:1:0.1").column("run.x")[3] == 0.3


def test_bare_numbers_get_the_unit_that_the_scenario_writes(scenario: scenarios.Scenario) -> None:
    axis = with_units(parse_axis("link.satellite.rate=1,2"), scenario)
    assert axis.column(axis.name) == ["1 Mbit/s", "2 Mbit/s"]


def test_fields_change_in_step(scenario: scenarios.Scenario) -> None:
    axis = parse_axis("link.satellite.rate=1,2 Mbit/s & link.satellite.buffer=10,20 pkt")
    assert axis == Axis(
        ("link.satellite.rate", "link.satellite.buffer"), (("1 Mbit/s", "10 pkt"), ("2 Mbit/s", "20 pkt"))
    )
    points = plan(scenario, [axis]).points
    assert [point.resolved.elements[0].rate_bps for point in points] == [1e6, 2e6]
    assert [point.resolved.elements[0].buffer for point in points] == [PacketBuffer(10), PacketBuffer(20)]


def test_python_gives_axes_as_values_text_or_tuples(scenario: scenarios.Scenario) -> None:
    vary: dict[Any, Any] = {
        "link.satellite.buffer": np.array([10, 20]),
        "run.seed": "1:3:1",
        ("flow.flow.rtt", "link.satellite.rate"): [("100 ms", 1), ("200 ms", 2)],
    }
    axes = axes_of(vary, scenario)
    assert [axis.rows for axis in axes] == [
        (("10 pkt",), ("20 pkt",)),
        ((1,), (2,), (3,)),
        (("100 ms", "1 Mbit/s"), ("200 ms", "2 Mbit/s")),
    ]


def test_points_are_the_product_with_the_last_axis_fastest(scenario: scenarios.Scenario) -> None:
    axes = [parse_axis("link.satellite.buffer=10,20 pkt"), parse_axis("run.seed=1,2,3")]
    planned = plan(scenario, axes)
    assert [point.place for point in planned.points] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert [point.resolved.run.seed for point in planned.points] == [1, 2, 3, 1, 2, 3]


def test_coordinates_are_si_numbers_or_texts() -> None:
    values, unit = coordinate(["500 kbit/s", "1 Mbit/s"])
    assert values.tolist() == [5e5, 1e6]
    assert unit == "bit/s"
    assert coordinate([True, False])[0].tolist() == ["true", "false"]
    assert coordinate(["10 pkt", "5 kB"])[1] == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("link.satellite.buffer", ["names no field with values", "START:STOP:STEP"]),
        ("link.satellite.buffer=", ["names no field with values"]),
        ("link.satellite.buffer=60:10:2", ["link.satellite.buffer", "60:10:2", "a step from START towards STOP"]),
        ("link.satellite.buffer=10:60:0", ["10:60:0", "other than 0"]),
        ("link.satellite.buffer=10:60", ["10:60", "START:STOP:STEP"]),
        ("link.satellite.buffer=1:1000000:1", ["1:1000000:1", "at most"]),
        ("link.satellite.buffer=1,,2", ["1,,2", "empty value"]),
        ("link.satellite.buffer=5,5", ["twice", "5"]),
        ("link.satellite.buffer=10,10.0", ["twice", "given 10 and 10.0"]),
        ("link.satellite.rate=1 Mbit/s,1000 kbit/s", ["twice", '"1 Mbit/s" and "1000 kbit/s"']),
        ("run.seed=10 & run.seed=20", ["run.seed", "is given twice"]),
        ("run.seed=1:1e400000000:1", ["run.seed", "too large or too small", "1:1e400000000:1", "1e300"]),
        ("run.seed=1:1e4000000000000000000000:1", ["run.seed", "too large or too small"]),
        ("run.seed=1:3:1e-999999999", ["run.seed", "too large or too small"]),
        (f"run.seed=1:{'9' * 5000}:1", ["run.seed", "too large or too small"]),
        ("link.a.rate=1,2 & link.b.rate=1,2,3", ["3 values for link.b.rate", "2 for link.a.rate"]),
    ],
)
def test_a_wrong_axis_is_refused_with_its_name_value_and_what_is_allowed(text: str, expected: list[str]) -> None:
    with pytest.raises(SweepError) as caught:
        parse_axis(text)
    assert all(part in str(caught.value) for part in expected)


def test_a_message_about_an_axis_is_short(scenario: scenarios.Scenario) -> None:
    for text in (f"{'x' * 5000}=1,1", f"run.seed=1:{'9' * 5000}:0", f"run.seed=1,,{'9' * 5000}"):
        with pytest.raises(SweepError) as caught:
            parse_axis(text)
        assert len(str(caught.value)) < 2500


@pytest.mark.parametrize("text", [f"{'9' * 5000},1", f"1,{'9' * 5000} pkt,{'9' * 5000}", f"{'[' * 5000},1"])
def test_numbers_of_thousands_of_digits_are_refused(scenario: scenarios.Scenario, text: str) -> None:
    with pytest.raises((SweepError, ScenarioError)) as caught:
        plan(scenario, [with_units(parse_axis(f"link.satellite.buffer={text}"), scenario)])
    assert "link.satellite.buffer" in str(caught.value)
    with pytest.raises((SweepError, ScenarioError), match=r"run\.seed"):
        planned_sweep(scenario, {"run.seed": [10**5000, 1]}, {})
    with pytest.raises((SweepError, ScenarioError), match="buffer"):
        planned_sweep(scenario, {"link.satellite.buffer": [10**5000, 1]}, {})


def test_values_that_are_the_same_in_the_scenario_s_unit_are_refused(scenario: scenarios.Scenario) -> None:
    with pytest.raises(SweepError, match='has a value twice; given "10 pkt"'):
        with_units(parse_axis("link.satellite.buffer=10 pkt,10"), scenario)
    with pytest.raises(SweepError, match="is given twice"):
        axes_of({("run.seed", "run.seed"): [(1, 2), (3, 4)]}, scenario)
    assert axes_of({"run.seed": [1, 2**53, 2**53 + 1]}, scenario)[0].rows == ((1,), (2**53,), (2**53 + 1,))


def test_a_wrong_value_names_field_value_and_range(scenario: scenarios.Scenario) -> None:
    with pytest.raises(ScenarioError) as caught:
        plan(scenario, [parse_axis("link.satellite.buffer=10,0 pkt")])
    for part in ('at link.satellite.buffer = "0 pkt"', "is zero", "1 to 1e9 pkt"):
        assert part in str(caught.value)


def test_an_unknown_field_is_answered_with_the_nearest() -> None:
    with pytest.raises(ScenarioError, match='did you mean "satellite"'):
        planned_sweep(SCENARIO, {"link.satelite.buffer": [1, 2]}, {})


def test_sweeps_have_limits(scenario: scenarios.Scenario) -> None:
    with pytest.raises(SweepError, match="has no axis"):
        plan(scenario, [])
    with pytest.raises(SweepError, match="given twice"):
        plan(scenario, [parse_axis("run.seed=1,2"), parse_axis("run.seed=3,4")])
    with pytest.raises(SweepError, match=f"at most {MOST_POINTS:,} points"):
        plan(scenario, [parse_axis("run.seed=1:1000:1"), parse_axis("link.satellite.buffer=1:1000:1 pkt")])
    captured = scenarios.with_overrides(scenario, {"trace.capture": ["satellite"]})
    with pytest.raises(SweepError, match="keeps no captures"):
        plan(captured, [parse_axis("run.seed=1,2")])
