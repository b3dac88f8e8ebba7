"""The list of resolved scenarios from a scenario and axes."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock import scenario as scenarios
from ackclock.errors import Fault, ScenarioError, SweepError
from ackclock.scenario.places import as_toml
from ackclock.scenario.until import Until
from ackclock.sweeps.axes import Axis, refuse_shared_fields

if TYPE_CHECKING:
    from ackclock.scenario import Scenario

MOST_POINTS = 20_000
"""Largest number of points of a sweep: with their tables they take some 2 GB of memory."""


@dataclass(frozen=True)
class Point:
    """One scenario of a sweep.

    Parameters
    ----------
    place : tuple of int
        Its position on each axis.
    changes : mapping of str to object
        The values of the fields that vary.
    resolved : Resolved
        The scenario.
    warnings : tuple of str
        What to check before trusting its numbers.
    """

    place: tuple[int, ...]
    changes: Mapping[str, Any]
    resolved: scenarios.Resolved
    warnings: tuple[str, ...] = ()

    @property
    def written(self) -> str:
        """Changes of the point, as TOML writes them."""
        return _written(self.changes)


@dataclass(frozen=True)
class Plan:
    """A sweep as data.

    Parameters
    ----------
    scenario : Scenario
        What the axes start from.
    axes : tuple of Axis
        What varies; the points are their product.
    points : tuple of Point
        The last axis runs fastest.
    """

    scenario: "Scenario"
    axes: tuple[Axis, ...]
    points: tuple[Point, ...]

    @property
    def warnings(self) -> dict[str, int]:
        """Warnings to check before trusting the numbers, each with the number of its points."""
        return dict(Counter(warning for point in self.points for warning in point.warnings))


def plan(scenario: "Scenario", axes: Sequence[Axis]) -> Plan:
    """Resolve every point of a sweep.

    Raises
    ------
    SweepError
        If no axis is given, two hold one field, or there are too many points.
    ScenarioError
        If a field may not have its value; its source names the point.
    """
    _check(scenario, axes)
    return Plan(scenario, tuple(axes), tuple(_points(scenario, axes)))


def _check(scenario: "Scenario", axes: Sequence[Axis]) -> None:
    if not axes:
        raise SweepError(Fault("sweep", "has no axis", allowed="one at least, such as link.satellite.buffer=10:60:2"))
    refuse_shared_fields(axes)
    if scenario.trace.capture:
        hint = "capture single runs: ackclock run"
        raise SweepError(Fault("trace.capture", "is set; a sweep keeps no captures", hint=hint))
    precision = scenario.run.precision
    if isinstance(scenario.run.duration, Until) or (precision is not None and precision.longest is not None):
        hint = "give run.duration, or let run.precision add replications"
        raise SweepError(
            Fault("run", "lengthens single runs until they are precise; a sweep has one duration", hint=hint)
        )
    count = math.prod(len(axis.rows) for axis in axes)
    if count > MOST_POINTS:
        lengths = " x ".join(f"{len(axis.rows)} of {axis.name}" for axis in axes)
        allowed = f"at most {MOST_POINTS:,} points"
        raise SweepError(Fault("sweep", "has too many points", f"{count:,} ({lengths})", allowed))


def _points(scenario: "Scenario", axes: Sequence[Axis]) -> Iterator[Point]:
    for place in itertools.product(*(range(len(axis.rows)) for axis in axes)):
        rows = [(axis, axis.rows[index]) for axis, index in zip(axes, place, strict=True)]
        changes = {field: value for axis, row in rows for field, value in zip(axis.fields, row, strict=True)}
        changed = _changed(scenario, changes)
        warnings = tuple(str(warning) for warning in changed.warnings)
        yield Point(place, changes, scenarios.resolve(changed), warnings)


def _changed(scenario: "Scenario", changes: Mapping[str, Any]) -> "Scenario":
    try:
        return scenarios.with_overrides(scenario, changes)
    except ScenarioError as error:
        raise ScenarioError(error.faults, f"{error.source} at {_written(changes)}") from None


def _written(changes: Mapping[str, Any]) -> str:
    return ", ".join(f"{field} = {as_toml(value)}" for field, value in changes.items())
