"""The bench on which a recommendation is tried: simulations of a scenario with some fields changed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ackclock import api
from ackclock.advice.records import BeforeAfter
from ackclock.result import Result
from ackclock.scenario import Resolved, Scenario
from ackclock.stats import Estimate, estimate

Measure = Callable[[Result], Estimate]
"""A quantity of a run."""

REPLICATIONS = 5
"""Least number of replications of a scenario that draws random numbers."""


@dataclass
class Bench:
    """Runs of one scenario, with changes.

    Parameters
    ----------
    scenario : Scenario
        As the user gave it.
    overrides : mapping of str to object
        The user's own changes.
    on_step : callable, optional
        Gets in words what is being simulated.
    threads : int, optional
        Replications at a time, all cores by default.
    wanted_loss : float
        The part of the packets that a buffer may lose.
    """

    scenario: Scenario
    overrides: Mapping[str, Any] = field(default_factory=dict)
    on_step: Callable[[str], None] = lambda _: None
    threads: int | None = None
    wanted_loss: float = 0.01

    @cached_property
    def resolved(self) -> Resolved:
        """The scenario before any change."""
        return api.resolve(self.scenario, overrides=self.overrides)

    def run(self, changes: Mapping[str, Any], what: str) -> Result:
        """Simulate with some fields changed."""
        self.on_step(what)
        resolved, warnings = api.resolve_with_warnings(self.scenario, {**self.overrides, **changes})
        if not resolved.is_deterministic:
            replications = max(REPLICATIONS, resolved.run.replications)
            resolved = replace(resolved, run=replace(resolved.run, replications=replications))
        return api.simulate(resolved, warnings, threads=self.threads, picture=False)


def before_after(text: str, unit: str, before: Result, after: Result, measure: Measure) -> BeforeAfter:
    """Measure a quantity in both runs."""
    return BeforeAfter(text, unit, measure(before), measure(after))


def of_flows(key: str) -> Measure:
    """Measure a quantity of the only flow, or the sum over several; a sum has no interval."""

    def measure(result: Result) -> Estimate:
        rows = [row[key] for row in result.summary["flows"]]
        return rows[0] if len(rows) == 1 else _total(rows)

    return measure


def rate_of(names: Sequence[str]) -> Measure:
    """Measure the throughput of some flows together."""

    def measure(result: Result) -> Estimate:
        rows = [row["throughput_bps"] for row in result.summary["flows"] if row["name"] in names]
        return rows[0] if len(rows) == 1 else _total(rows)

    return measure


def of_link(name: str, key: str) -> Measure:
    """Measure a quantity of a link."""

    def measure(result: Result) -> Estimate:
        found: Estimate = next(row[key] for row in result.summary["links"] if row["name"] == name)
        return found

    return measure


def of_source(name: str, key: str) -> Measure:
    """Measure a quantity of web sources."""

    def measure(result: Result) -> Estimate:
        found: Estimate = next(row[key] for row in result.summary["sources"] if row["name"] == name)
        return found

    return measure


def lost_in_slow_start(result: Result) -> Estimate:
    """Count the packets of slow start that a buffer dropped after the warm-up; needs the trace of drops."""
    frame, run = result.traces["drops"], result.resolved.run
    frame = frame[frame["slow_start"] & (frame["time_s"] >= run.warmup_s)]
    counts = [float((frame["replication"] == number).sum()) for number in range(result.summary["replications"])]
    return estimate(counts, run.confidence, exact=result.resolved.is_deterministic)


def _total(rows: Sequence[Estimate]) -> Estimate:
    means = [row["mean"] for row in rows if row["mean"] is not None]
    return Estimate(mean=sum(means), low=None, high=None, n=max(row["n"] for row in rows))
