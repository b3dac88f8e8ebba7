"""The user's form of a scenario, read and checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.errors import ScenarioError
from ackclock.scenario.arguments import OVERRIDES, PATH, Allowed, check_arguments, instance_of
from ackclock.scenario.atm import AtmTables
from ackclock.scenario.check import checker_of
from ackclock.scenario.check_numbers import number_faults
from ackclock.scenario.described import Description, described
from ackclock.scenario.network import flow_names
from ackclock.scenario.override import overridden
from ackclock.scenario.places import Places
from ackclock.scenario.plain import copied, refuse_odd_tables
from ackclock.scenario.programs import programs_of
from ackclock.scenario.read import read_form
from ackclock.scenario.schema import Flow, Run, Trace
from ackclock.scenario.schema_hosts import Host
from ackclock.scenario.schema_links import Link
from ackclock.scenario.source import ORIGINS, Source, read_source
from ackclock.scenario.warn import Warner, Warning_
from ackclock.tables import Printed
from ackclock.units import show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, ConsoleOptions, RenderableType

    from ackclock.controls import Controllers

ORIGIN = Allowed(
    ORIGINS,
    lambda value: PATH.holds(value) or isinstance(value, Mapping),
)


@dataclass(frozen=True, repr=False)
class Scenario(Printed):
    """A scenario without faults, as the user gave it.

    Parameters
    ----------
    title : str
        What it shows.
    links, flows : tuple
        Its tables, quantities in SI units.
    run, trace : Run, Trace
        How it is run, what is recorded.
    warnings : tuple of Warning_
        What to check before trusting the results.
    source : Source
        Where it comes from.
    atm : AtmTables
        The tables of its ATM network.
    hosts : tuple of Host
        The hosts with a processing time.
    """

    title: str
    links: tuple[Link, ...]
    flows: tuple[Flow, ...]
    run: Run
    trace: Trace
    warnings: tuple[Warning_, ...]
    source: Source = field(repr=False, compare=False)
    atm: AtmTables = field(default_factory=AtmTables)
    hosts: tuple[Host, ...] = ()

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[RenderableType]":
        yield from self._described().text()

    def __repr__(self) -> str:
        flows = sum(flow.count for flow in self.flows)
        counts = f"{flows:,} flow{'s' * (flows != 1)}, {len(self.links):,} link{'s' * (len(self.links) != 1)}"
        return f"<Scenario {self.title!r}: {counts}, {show(self.run.duration, 's')}>"

    def _repr_html_(self) -> str:
        return self._described().html()

    def _described(self) -> Description:
        names = flow_names([flow.name for flow in self.flows])
        channels = ", ".join(channel.name for channel in self.atm.channels if channel is not None)
        more = [f"ATM channels: {channels}"] if channels else []
        more += [f"Warning: {warning}" for warning in self.warnings]
        return described(self.title, self.links, zip(names, self.flows, strict=True), self.run, more)


ORIGIN_OR_SCENARIO = Allowed(
    f"{ORIGIN.text}, or a Scenario", lambda value: ORIGIN.holds(value) or isinstance(value, Scenario)
)


def load(origin: str | Path | Mapping[str, Any], *, controllers: "Controllers | None" = None) -> Scenario:
    """Read a scenario and check it.

    Parameters
    ----------
    origin : str, Path or mapping
        The path of a TOML file, the name of a ready scenario, TOML text (a string with a line break), or tables like
        those that TOML gives.
    controllers : mapping of str to type, optional
        Congestion controls that its runs are given, as `ackclock.run` takes them.

    Returns
    -------
    Scenario
        The scenario, with its warnings.

    Raises
    ------
    ScenarioError
        With all faults at once, in the order of the text.
    ArgumentError
        If a controller is not a congestion control.

    Examples
    --------
    >>> load({"link": [], "flow": [], "run": {"duration": "10 s"}})
    Traceback (most recent call last):
    ...
    ackclock.errors.ScenarioError: scenario: 2 faults
      scenario: [[link]] is missing; write one table for each link, with at least name = "satellite" ...
      scenario: [[flow]] is missing; write one table for each flow, with at least path = ["satellite"]
    """
    check_arguments("load", origin=(origin, ORIGIN))
    return checked(replace(read_source(origin), controls=programs_of(controllers)))


def with_overrides(
    scenario: Scenario, overrides: Mapping[str, Any], *, controllers: "Controllers | None" = None
) -> Scenario:
    """Change single fields of a scenario.

    Parameters
    ----------
    scenario : Scenario
        The scenario; it stays as it is.
    overrides : mapping of str to object
        For each dotted path of names, such as ``"link.satellite.buffer"``, ``"flow.web.tcp.rto.min"`` or
        ``"run.duration"``, the value as in the TOML.
    controllers : mapping of str to type, optional
        Congestion controls that its runs are given, in addition to those that `load` was given.

    Returns
    -------
    Scenario
        The changed scenario, checked like the first.

    Raises
    ------
    ScenarioError
        With all faults at once; the place names the override.

    Examples
    --------
    >>> with_overrides(scenario, {"link.satellite.buffer": "20 pkt"})  # doctest: +SKIP
    """
    scenarios = instance_of("a Scenario, which load() gives", Scenario)
    check_arguments("with_overrides", scenario=(scenario, scenarios), overrides=(overrides, OVERRIDES))
    controls = {**scenario.source.controls, **programs_of(controllers)}
    return checked(replace(overridden(scenario.source, overrides), controls=controls))


def loaded(
    scenario: str | Path | Mapping[str, Any] | Scenario,
    overrides: Mapping[str, Any] | None = None,
    *,
    controllers: "Controllers | None" = None,
) -> Scenario:
    """Read a scenario that may be read already, and change single fields.

    Parameters
    ----------
    scenario : str, Path, mapping or Scenario
        As `load` takes it, or what `load` gave.
    overrides : mapping of str to object, optional
        Fields to change, as `with_overrides` takes them.
    controllers : mapping of str to type, optional
        Congestion controls that its runs are given.

    Returns
    -------
    Scenario
        The scenario, checked.

    Raises
    ------
    ScenarioError
        With all that is wrong with the scenario.
    """
    read = scenario if isinstance(scenario, Scenario) else load(scenario, controllers=controllers)
    if overrides or (controllers and read is scenario):
        return with_overrides(read, overrides or {}, controllers=controllers)
    return read


def checked(source: Source) -> Scenario:
    """Check a scenario that was read.

    Parameters
    ----------
    source : Source
        Its tables, and the folder of the files that it names.

    Raises
    ------
    ScenarioError
        With all faults at once, in the order of the text.
    """
    refuse_odd_tables(source.document, source.name)
    if source.text is None and not source.overrides:
        source = replace(source, document=copied(source.document))
    places = Places(source)
    too_much = list(number_faults(places))
    if too_much:
        raise ScenarioError(too_much, source.name)
    draft, faults = read_form(places)
    checker = checker_of(draft, places)
    faults += checker.faults()
    links = tuple(link for link in draft.links if link is not None)
    flows = tuple(flow for flow in draft.flows if flow is not None)
    if faults or draft.run is None or draft.trace is None:
        faults.sort(key=lambda fault: (fault.line is None, fault.line or 0))
        raise ScenarioError(faults, source.name)
    hosts = tuple(host for host in draft.hosts if host is not None)
    warnings = Warner(links, flows, draft.run, places, checker.network).warnings()
    return Scenario(draft.title, links, flows, draft.run, draft.trace, tuple(warnings), source, draft.atm, hosts)
