"""Intervals of findings: how far chance moves a number that is computed from several runs."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from math import isfinite, isnan, sqrt
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from ackclock.experiments.frame import Finding, ItemModule, Measure, Outcome, Run, Setting
from ackclock.stats import student_t
from ackclock.traces import OVERVIEW

if TYPE_CHECKING:
    from ackclock.replication import Replication

CONFIDENCE: Final = 0.95
MOST_GROUPS: Final = 10
_ROUNDING: Final = 1e-9


def judged_outcome(module: ItemModule, setting: Setting, runs: Mapping[Hashable, Run]) -> Outcome:
    """Return the outcome of an item's runs, with an interval of each finding that chance moves.

    A finding that has an interval keeps it. The others get that of the jackknife: the item's `outcome` is computed
    again without each group of replications in turn, and Student's t of the number of groups widens the standard error
    that these values give [Quenouille 1956; Tukey 1958]. For a mean over replications it is the usual interval; for a
    largest deviation or a fraction of cases it is an approximation.

    Parameters
    ----------
    module : ItemModule
        The item's module.
    setting : Setting
        Quick or full.
    runs : mapping of Hashable to Run
        Its runs, by key.

    Returns
    -------
    Outcome
        The outcome of all replications. Where no run has two replications nothing is random, or nothing is known.
    """
    outcome = module.outcome(setting, runs)
    groups = min((len(run.replications) for run in runs.values() if len(run.replications) > 1), default=0)
    groups = min(groups, MOST_GROUPS)
    if groups == 0:
        return outcome
    parts = [module.outcome(setting, _without(runs, group, groups)).findings for group in range(groups)]
    findings = {key: _with_interval(found, [part[key] for part in parts]) for key, found in outcome.findings.items()}
    return replace(outcome, findings=findings)


def jackknife(value: float, without: list[float]) -> tuple[float, float]:
    """Return the ends of the interval of a value from those without each group; nan if it does not move.

    Examples
    --------
    >>> low, high = jackknife(10.0, [10.5, 10.0, 9.5])
    >>> print(f"{low:.3f} {high:.3f}")
    7.516 12.484
    >>> jackknife(1.0, [1.0, 1.0])
    (nan, nan)
    """
    found = np.array(without, dtype=float)
    if not (isfinite(value) and bool(np.isfinite(found).all())):
        return (np.nan, np.nan)
    error = sqrt((len(found) - 1) / len(found) * float(np.sum((found - found.mean()) ** 2)))
    if error <= _ROUNDING * abs(value):
        return (np.nan, np.nan)
    half = float(student_t(CONFIDENCE, len(found) - 1)) * error
    return (value - half, value + half)


def _with_interval(found: Finding, parts: list[Finding]) -> Finding:
    measure = found.measure
    if isnan(measure.low):
        ends = jackknife(measure.value, [part.measure.value for part in parts])
        measure = Measure(measure.value, *ends)
    ends = jackknife(found.model, [part.model for part in parts])
    return replace(found, simulation=measure, model_ends=ends)


def _without(runs: Mapping[Hashable, Run], group: int, groups: int) -> dict[Hashable, Run]:
    return {key: _part(run, group, groups) for key, run in runs.items()}


def _part(run: Run, group: int, groups: int) -> Run:
    if len(run.replications) < groups:
        return run
    kept = [one for number, one in enumerate(run.replications) if number % groups != group]
    # Some findings and pictures are of replication 0, which alone has an overview: each part has one.
    overview = {key: trace for key, trace in run.replications[0]["traces"].items() if key == OVERVIEW}
    numbered = [{**one, "replication": number} for number, one in enumerate(kept)]
    numbered[0] = {**kept[0], "replication": 0, "traces": {**kept[0]["traces"], **overview}}
    return Run(run.resolved, [cast("Replication", one) for one in numbered])
