"""The bench on which a recommendation is tried: simulations of a scenario with some fields changed."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ackclock import api
from ackclock.advice.budget import Budget
from ackclock.advice.lengths import Length
from ackclock.advice.records import BeforeAfter
from ackclock.advice.targets import Targets
from ackclock.completions import COMPLETION_TIMES
from ackclock.cost import Estimate as Expected
from ackclock.engine import usable_cores
from ackclock.findings import mean
from ackclock.result import Result
from ackclock.scenario import Resolved, Scenario
from ackclock.stats import Estimate, estimate

Measure = Callable[[Result], Estimate]
"""A quantity of a run."""

REPLICATIONS = 5
"""Least number of replications of a scenario that draws random numbers."""
MOST_RUNS = 60
"""Number of simulations from which a search of sizes tries no further ones; a confirmation and queues come on top."""
LEAST_SEARCH, TWICE = 5, 3
"""Number of simulations of a search at least, and of those of twice the length that confirm it."""
_UNCHANGED = repr([])
_SUMS = frozenset({"throughput_bps", "timeouts", "fast_retransmits"})
_RATES = frozenset({"throughput_bps", "goodput_bps"})
_KEPT = _SUMS | {"rtt_mean_s", "rtt_p95_s", "queueing_p95_s", "loss_fraction", "finish_s"}
"""The quantities of flows that a search looks at."""
_OF_EACH = "throughputs_bps"
"""The throughput of each flow of a [[flow]], in a row of all its flows."""
NOTHING = Estimate(mean=None, low=None, high=None, n=0)
"""The estimate of what cannot be measured."""


@dataclass
class Bench:
    """Runs of one scenario, with changes; equal ones are run once.

    Parameters
    ----------
    scenario : Scenario
        As the user gave it.
    overrides : mapping of str to object
        The user's own changes.
    on_step : callable, optional
        Gets in words what is being simulated.
    threads : int, optional
        Simulations at a time, all cores by default.
    targets : Targets
        What a change must reach.
    asked : collection of str
        The topics that the user names.
    budget : Budget
        What all simulations together may take.
    """

    scenario: Scenario
    overrides: Mapping[str, Any] = field(default_factory=dict)
    on_step: Callable[[str], None] = lambda _: None
    threads: int | None = None
    targets: Targets = field(default_factory=Targets)
    asked: Collection[str] = ()
    budget: Budget = field(default_factory=Budget)
    sized: dict[str, str] = field(default_factory=dict)
    """The buffers that a search has found, as changes."""
    _kept: dict[tuple[str, Length | None], Result] = field(default_factory=dict)

    @cached_property
    def resolved(self) -> Resolved:
        """The scenario before any change."""
        return api.resolve(self.scenario, overrides=self.overrides)

    @property
    def base(self) -> Result | None:
        """The scenario as it is, if a topic has simulated it: the run of the searches, if there is one."""
        runs = [(length, run) for (changes, length), run in self._kept.items() if changes == _UNCHANGED]
        searched = [run for length, run in runs if length is not None]
        return next(iter(searched or [run for _, run in runs]), None)

    @property
    def spent(self) -> bool:
        """Return whether a search should end with what it has: its next step takes two simulations."""
        return len(self._kept) > MOST_RUNS - 2

    def run(self, changes: Mapping[str, Any], what: str, length: Length | None = None) -> Result:
        """Simulate with some fields changed."""
        return self.run_all([changes], what, length)[0]

    def run_all(
        self, changes: Sequence[Mapping[str, Any]], what: str, length: Length | None = None, *, whole: bool = False
    ) -> list[Result]:
        """Simulate several changes, as many at a time as there are threads; the results do not depend on that.

        Parameters
        ----------
        changes : sequence of mapping
            The fields that differ, for each simulation.
        what : str
            What is being simulated, in words.
        length : Length, optional
            Duration and random numbers of the runs; those of the scenario by default.
        whole : bool
            Whether the rows of all flows are kept, where each [[flow]] would be one; changes must make such runs
            different from others.
        """
        keys = [_key(one, length) for one in changes]
        wanted = {key: one for key, one in zip(keys, changes, strict=True) if key not in self._kept}
        if wanted:
            foreseen_s = self._charge(list(wanted.values()), length)
            self.on_step(f"{what} (simulation {len(self._kept) + len(wanted)})")
            started_s = self.budget.clock()
            with ThreadPoolExecutor(max_workers=min(len(wanted), self.threads or len(wanted))) as pool:
                threads = self.threads if len(wanted) == 1 else 1
                simulate = partial(self._simulate, length=length, threads=threads, whole=whole)
                futures = [(key, pool.submit(simulate, one)) for key, one in wanted.items()]
                self._kept.update((key, future.result()) for key, future in futures)
            self.budget.settle(foreseen_s, self.budget.clock() - started_s, len(wanted))
        return [self._kept[key] for key in keys]

    def announce_search(self, length: Length) -> None:
        """Say what a search of sizes is expected to take, before it begins, if that is long."""
        least = LEAST_SEARCH + 2 * TWICE
        most = max(least, MOST_RUNS - len(self._kept) + 2 * TWICE)
        at_once = min(self._cores, 2)
        self.budget.announce([self._expected({}, length, self._cores // at_once)] * least, at_once, most / least)

    def announce(self, changes: Sequence[Mapping[str, Any]], length: Length, twice: int) -> None:
        """Say the same of a comparison of several changes, some of which are then simulated for twice the time."""
        new = [one for one in changes if _key(one, length) not in self._kept]
        each = [self._expected(one, length, 1) for one in [*new, *changes[: 2 * twice]]]
        self.budget.announce(each, max(1, min(self._cores, len(each))))

    def _charge(self, changes: Sequence[Mapping[str, Any]], length: Length | None) -> float:
        """Refuse simulations with which all of them are expected to take more than the user allows."""
        threads = self._cores if len(changes) == 1 else 1
        each = [self._expected(one, length, threads) for one in changes]
        return self.budget.charge(each, max(1, min(self._cores, len(changes))))

    @property
    def _cores(self) -> int:
        return self.threads or usable_cores()

    def _expected(self, changes: Mapping[str, Any], length: Length | None, threads: int) -> Expected:
        return api.expected(self._resolve(changes, length)[0], max(1, threads))

    def _resolve(self, changes: Mapping[str, Any], length: Length | None) -> tuple[Resolved, list[str]]:
        """Resolve the scenario with some fields changed, for runs of a length."""
        resolved, warnings = api.resolve_with_warnings(self.scenario, {**self.overrides, **changes})
        if length is not None:
            resolved = length.applied(resolved)
        elif not resolved.is_deterministic:
            replications = max(REPLICATIONS, resolved.run.replications)
            resolved = replace(resolved, run=replace(resolved.run, replications=replications))
        return resolved, warnings

    def _simulate(
        self, changes: Mapping[str, Any], *, length: Length | None, threads: int | None, whole: bool
    ) -> Result:
        resolved, warnings = self._resolve(changes, length)
        # The limits are of all simulations together.
        watch = (lambda *_: self.budget.check()) if self.budget.has_time else None
        result = api.simulate(resolved, warnings, threads=threads, picture=False, limit=(), on_progress=watch)
        return _grouped(result) if changes and length is not None and not whole else result


def _grouped(result: Result) -> Result:
    """Put the flows of each [[flow]] into one row and drop what was recorded of single ones, to save memory.

    A search keeps some dozens of results, and the rows of 20,000 flows take 100 MB each.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in result.summary["flows"]:
        groups.setdefault(row["name"].partition("[")[0], []).append(row)
    if len(groups) == len(result.summary["flows"]):
        return result
    flows = [
        {
            "name": name,
            **{key: _of_rows(rows, key) for key in _KEPT & set(rows[0])},
            _OF_EACH: np.array([mean(row, "throughput_bps") for row in rows]),
        }
        for name, rows in groups.items()
    ]
    summary = result.summary.copy()
    summary["flows"], summary["recoveries"] = flows, []
    times = {name: rows for name, rows in result.traces.items() if name == COMPLETION_TIMES}
    return Result(summary, result.resolved, result.version, times)


def _of_rows(rows: Sequence[Mapping[str, Any]], key: str) -> Estimate | None:
    """Give the sum of a rate or count, the longest time: finished only if all are."""
    found = [row[key] for row in rows]
    if key in _RATES and len(rows) > 1 and rows[0]["finish_s"] is not None:
        return NOTHING
    if found[0] is None or key in _SUMS:
        return None if found[0] is None else _total(found)
    if key == "finish_s" and any(one["mean"] is None for one in found):
        return NOTHING
    return _longest(found)


def _longest(found: Sequence[Estimate | None]) -> Estimate:
    known = [one for one in found if one is not None and one["mean"] is not None]
    return max(known, key=lambda one: one["mean"] or 0.0, default=NOTHING)


def _key(changes: Mapping[str, Any], length: Length | None) -> tuple[str, Length | None]:
    return repr(sorted(changes.items())), length


def before_after(text: str, unit: str, before: Result, after: Result, measure: Measure) -> BeforeAfter:
    """Measure a quantity in both runs."""
    return BeforeAfter(text, unit, measure(before), measure(after))


def of_flows(key: str) -> Measure:
    """Measure a quantity of the only flow, or the sum over several; a sum has no interval.

    Rates of transfers, each over its own life, are added neither to those of flows that last nor to one another.
    """

    def measure(result: Result) -> Estimate:
        flows = result.summary["flows"]
        lasting = [row for row in flows if row["finish_s"] is None] if key in _RATES else flows
        if not lasting and len(flows) > 1:
            return NOTHING
        rows = [row[key] for row in lasting or flows]
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


def throughputs_of_each(result: Result) -> dict[str, NDArray[np.float64]]:
    """Give the throughput of each flow, by [[flow]] [bit/s]."""
    found: dict[str, list[NDArray[np.float64]]] = {}
    for row in result.summary["flows"]:
        own = row[_OF_EACH] if _OF_EACH in row else np.array([mean(row, "throughput_bps")])
        found.setdefault(row["name"].partition("[")[0], []).append(own)
    return {name: np.concatenate(parts) for name, parts in found.items()}


def of_longest_round_trip(result: Result) -> Estimate:
    """Measure the round trip that 95% of the packets have at most, of the flow that has the longest.

    The mean round trip, for runs that measured no percentiles.
    """
    key = "rtt_p95_s" if has_percentiles(result) else "rtt_mean_s"
    return _longest([row[key] for row in result.summary["flows"]])


def round_trips(before: Result, after: Result) -> BeforeAfter:
    """Compare the longest round trips, which the row's label names as percentiles or means."""
    longest = "longest " * (len(round_trips_s(before)) > 1)
    text = f"{longest}round trip, {_percentile(before, after)}"
    return before_after(text, "s", before, after, of_longest_round_trip)


def round_trips_of(name: str, before: Result, after: Result) -> BeforeAfter:
    """Compare the round trips of one [[flow]]: the longest of its flows."""

    def measure(result: Result) -> Estimate:
        key = "rtt_p95_s" if has_percentiles(result) else "rtt_mean_s"
        return _longest([row[key] for row in result.summary["flows"] if row["name"].partition("[")[0] == name])

    return before_after(f"round trip of {name}, {_percentile(before, after)}", "s", before, after, measure)


def _percentile(before: Result, after: Result) -> str:
    return "p95" if has_percentiles(before) and has_percentiles(after) else "mean"


def round_trips_s(result: Result) -> dict[str, float]:
    """Give the same of each [[flow]] that has round trips [s]: the longest of its flows."""
    key = "rtt_p95_s" if has_percentiles(result) else "rtt_mean_s"
    found: dict[str, float] = {}
    for row in result.summary["flows"]:
        if row[key] is not None and row[key]["mean"] is not None:
            name = row["name"].partition("[")[0]
            found[name] = max(found.get(name, 0.0), float(row[key]["mean"]))
    return found


def mean_slowdown(completions: Iterable[Mapping[str, Any]]) -> float:
    """Compute the mean slowdown of the transfers that finished [1], of rows of a summary's completions; nan of none."""
    rows = ((row["slowdown_mean"], row["transfers"]) for row in completions)
    known = [(one["mean"], many["mean"]) for one, many in rows if one and many and one["mean"] and many["mean"]]
    transfers = sum(many for _, many in known)
    return float(sum(one * many for one, many in known) / transfers) if transfers else nan


def has_percentiles(result: Result) -> bool:
    """Return whether the run measured percentiles of round trips."""
    return result.resolved.run.delays


def loss_cycles(result: Result) -> float:
    """Count the loss cycles of all flows over all replications: each begins with a fast retransmit or a timeout."""
    rows = result.summary["flows"]
    counts = (float(row[key]["mean"] or 0.0) for row in rows for key in ("fast_retransmits", "timeouts"))
    return sum(counts) * result.summary["replications"]


def lost_in_slow_start(result: Result) -> Estimate:
    """Count the packets of slow start that a buffer dropped after the warm-up; needs the trace of drops."""
    frame, run = result.traces["drops"], result.resolved.run
    frame = frame[frame["slow_start"] & (frame["time_s"] >= run.warmup_s)]
    counts = [float((frame["replication"] == number).sum()) for number in range(result.summary["replications"])]
    return estimate(counts, run.confidence, exact=result.resolved.is_deterministic)


def _total(rows: Sequence[Estimate]) -> Estimate:
    means = [row["mean"] for row in rows if row["mean"] is not None]
    return Estimate(mean=sum(means), low=None, high=None, n=max(row["n"] for row in rows))
