"""The parts of an item of a paper: its scenarios, its runs, and what it found.

The module of an item has two functions: `scenarios(setting)` returns resolved scenarios by key, `outcome(setting,
runs)` what the runs say. So the runs of all items are one list, which all cores share and which an interrupted command
resumes.

The key of a run holds its parameters, never a text that is built and parsed. A module with one parameter uses its
value; one with several uses a tuple or a frozen dataclass such as `engset.path.Web`; one with several kinds of runs
uses a union of tuples that begin with a `Literal`::

    Key = tuple[Literal["rise"], int, float] | tuple[Literal["fall"], float]

    def scenarios(setting: Setting) -> Mapping[Key, Resolved]: ...
    def outcome(setting: Setting, runs: Mapping[Key, Run]) -> Outcome: ...

The type checker then refuses a key that no run has, which otherwise would be a KeyError after the simulations.
`key_text` writes a key for people.
"""

import tomllib
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.resources import files
from math import nan
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from ackclock import scenario as toml_scenarios
from ackclock.charts import Chart
from ackclock.experiments.changing import with_changes
from ackclock.experiments.side_by_side import SideBySide
from ackclock.quantities import FLOW_DELAYS
from ackclock.replication import Replication
from ackclock.scenario import Resolved
from ackclock.scenario.override import overridden
from ackclock.scenario.scenario import checked
from ackclock.scenario.source import read_source
from ackclock.summary import flow_quantity, flow_rows, flow_values
from ackclock.traces import trace_frames

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
PACKAGE = "ackclock.experiments"


@dataclass(frozen=True)
class Setting:
    """The length of the runs, and the number of points and replications.

    Parameters
    ----------
    full : bool
        The paper's lengths, and as many points and replications as a curve wants; else shorter runs.
    """

    full: bool = False

    def pick(self, quick: T, full: T) -> T:
        """Choose a value."""
        return full if self.full else quick


@dataclass(frozen=True)
class Run:
    """A scenario with its replications.

    Parameters
    ----------
    resolved : Resolved
        What was run.
    replications : sequence of Replication
        What came of it.
    part_of : tuple, optional
        The run that has these replications with others, and their places there: what it computed of them is used.
    """

    resolved: Resolved
    replications: Sequence[Replication]
    part_of: "tuple[Run, Sequence[int]] | None" = None

    def trace(self, name: str) -> "pd.DataFrame":
        """Give a trace that the scenario asked for."""
        return self._traces[name]

    @cached_property
    def _traces(self) -> "dict[str, pd.DataFrame]":
        return trace_frames(self.resolved, self.replications)

    @cached_property
    def flows(self) -> list[dict[str, Any]]:
        """The flows' quantities with their intervals."""
        return flow_rows(self.resolved, self.replications)

    @cached_property
    def flow_values(self) -> list[dict[str, Any]]:
        """The flows' quantities of each replication."""
        if self.part_of is not None:
            run, places = self.part_of
            return [run.flow_values[place] for place in places]
        return [flow_values(self.resolved, one) for one in self.replications]

    def _quantity(self, name: str) -> list[dict[str, Any] | None]:
        if len(self.replications) == 1 or name in FLOW_DELAYS:
            return [row[name] for row in self.flows]
        return self.once(_of_replications, name)

    def once(self, compute: "Callable[..., T]", *arguments: Hashable) -> T:
        """Give `compute(run, *arguments)`, computed at the first call alone: outcomes are judged many times."""
        if (compute, *arguments) not in self._computed:
            self._computed[compute, *arguments] = compute(self, *arguments)
        return cast("T", self._computed[compute, *arguments])

    @cached_property
    def _computed(self) -> dict[tuple[Hashable, ...], Any]:
        return {}

    def flow(self, quantity: str, scale: float = 1.0, flow: int = 0) -> "Measure":
        """Give a quantity of a flow, divided by `scale`."""
        found = self._quantity(quantity)[flow]
        if found is None:
            raise ValueError(f"flow {flow} of {self.resolved.title!r} has no {quantity}")
        return Measure(*(nan if found[part] is None else found[part] / scale for part in ("mean", "low", "high")))


def _of_replications(run: Run, name: str) -> list[dict[str, Any] | None]:
    return flow_quantity(run.resolved, [table[name] for table in run.flow_values], name)


@dataclass(frozen=True)
class Measure:
    """A simulated number with its interval; without one, low and high are the number itself or nan."""

    value: float
    low: float = nan
    high: float = nan


@dataclass(frozen=True)
class Finding:
    """The finding on one of the paper's numbers or claims.

    Parameters
    ----------
    simulation : Measure or float, optional
        As simulated; for a claim in words the fraction of its cases in which it holds.
    model : float
        As the model has it; nan if it says nothing.
    note : str
        A note for the reader of the number.
    model_ends : tuple of float
        Ends of the interval of the model's number, where it is computed from what a run measured; else nan.
    """

    simulation: Measure | float = nan
    model: float = nan
    note: str = ""
    model_ends: tuple[float, float] = (nan, nan)

    @property
    def measure(self) -> Measure:
        """The simulation with its interval."""
        return self.simulation if isinstance(self.simulation, Measure) else Measure(float(self.simulation))

    def judged(self, which: str) -> Measure:
        """Return what a row compares with the paper's number, with its interval: the simulation or the model."""
        return Measure(self.model, *self.model_ends) if which == "model" else self.measure


@dataclass(frozen=True)
class Outcome:
    """The outcome of an item: its findings, charts and notes.

    Parameters
    ----------
    findings : mapping of str to Finding
        By the key of expected.csv.
    charts : mapping of str to Chart
        By file name.
    notes : sequence of str
        What the report says below the figures.
    tables : mapping of str to SideBySide
        The paper's tables with our numbers next to its own, by file name.
    """

    findings: Mapping[str, Finding]
    charts: Mapping[str, Chart] = field(default_factory=dict)
    notes: Sequence[str] = ()
    tables: Mapping[str, SideBySide] = field(default_factory=dict)


class ItemModule(Protocol):
    """The module of an item."""

    def scenarios(self, setting: Setting) -> Mapping[Hashable, Resolved]:
        """Return the resolved scenarios by key."""
        ...

    def outcome(self, setting: Setting, runs: Mapping[Any, Run]) -> Outcome:
        """Return what the runs found."""
        ...


def key_text(key: Hashable) -> str:
    """Write the key of a run for people, as in the column `run` of runs.csv.

    Examples
    --------
    >>> key_text(("rise", 13, 0.1)), key_text("shown"), key_text(((0.01, 10.0), 3))
    ('rise 13 0.1', 'shown', '0.01 10 3')
    """
    if isinstance(key, tuple):
        return " ".join(key_text(part) for part in key)
    return f"{key:g}" if isinstance(key, float) else str(key)


def item_module(paper: str, name: str) -> ItemModule:
    """Import the module of an item."""
    return cast("ItemModule", import_module(f"{PACKAGE}.{paper}.{name}"))


def scenario_tables(paper: str, name: str) -> dict[str, Any]:
    """Read a scenario of a paper as tables, for the caller to change.

    Parameters
    ----------
    paper : str
        The paper's folder.
    name : str
        The file in its `scenarios`, without ".toml".
    """
    return deepcopy(_scenario_file(paper, name))


@cache
def _scenario_file(paper: str, name: str) -> dict[str, Any]:
    text = files(f"{PACKAGE}.{paper}").joinpath("scenarios", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def resolved(tables: Mapping[str, Any], changes: Mapping[str, Any] | None = None) -> Resolved:
    """Resolve tables, with an item's changes by dotted path, and then the user's."""
    # Checked once, with the changes in it, where with_overrides(load(tables), changes) checks twice.
    return toml_scenarios.resolve(with_changes(checked(overridden(read_source(tables), changes or {}))))


def share(cases: Sequence[bool]) -> float:
    """Give the fraction of the cases in which a claim holds; 0 without a case, as nothing was shown.

    Examples
    --------
    >>> share([True, True, False, True]), share([])
    (0.75, 0.0)
    """
    return sum(cases) / len(cases) if cases else 0.0
