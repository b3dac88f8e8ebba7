"""Intervals of findings: how far chance moves a number that is computed from several runs."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import isfinite, isnan, nan, sqrt
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from ackclock.charts import Chart, Curve
from ackclock.experiments.frame import Finding, ItemModule, Measure, Outcome, Run, Setting
from ackclock.experiments.side_by_side import SideBySide
from ackclock.stats import student_t
from ackclock.traces import OVERVIEW

if TYPE_CHECKING:
    from ackclock.replication import Replication

CONFIDENCE: Final = 0.95
MOST_GROUPS: Final = 20
MOST_HALVES: Final = 20
_SEED: Final = 1
_CHANCE: Final = frozenset({"simulation", "marks"})
"""Kinds of curves whose points come from runs."""
_LONGEST: Final = 1000
"""Largest number of points of a curve that get intervals."""
_ROUNDING: Final = 1e-9


def judged_outcome(module: ItemModule, setting: Setting, runs: Mapping[Hashable, Run], shares: set[str]) -> Outcome:
    """Return the outcome of an item's runs, with an interval of each finding that chance moves.

    A finding that has an interval keeps it. The others get that of the delete-half jackknife: the item's `outcome` is
    computed again with half of the replications, for each of some halves, and the scatter of these values is the
    standard error [Shao and Wu 1989]; Student's t of the number of replications widens it. For a mean it is the usual
    interval. A fraction of cases has the range of these values, in which a case that chance decides comes out both
    ways.

    Parameters
    ----------
    module : ItemModule
        The item's module.
    setting : Setting
        Quick or full.
    runs : mapping of Hashable to Run
        Its runs, by key.
    shares : set of str
        Keys of the findings that are fractions of cases.

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
    kept = [module.outcome(setting, _part(runs, half, groups)) for half in halves(groups)]
    findings = {
        key: _with_interval(found, [part.findings[key] for part in kept], groups, is_share=key in shares)
        for key, found in outcome.findings.items()
    }
    charts = {
        name: chart_with_intervals(chart, [part.charts[name] for part in kept], groups)
        for name, chart in outcome.charts.items()
    }
    tables = {
        name: _table_with_intervals(table, [part.tables[name] for part in kept], groups)
        for name, table in outcome.tables.items()
    }
    return replace(outcome, findings=findings, charts=charts, tables=tables)


def halves(groups: int) -> list[tuple[int, ...]]:
    """Return halves of some groups, the larger one if their number is odd: all, or a fixed sample of them.

    Examples
    --------
    >>> halves(3), len(halves(4)), len(halves(20))
    ([(0, 1), (0, 2), (1, 2)], 6, 20)
    """
    size = groups - groups // 2
    if groups <= 6:
        return list(combinations(range(groups), size))
    random = np.random.default_rng(_SEED)
    return [tuple(sorted(random.permutation(groups)[:size].tolist())) for _ in range(MOST_HALVES)]


def jackknife(value: float, parts: Sequence[float], groups: int) -> tuple[float, float]:
    """Return the ends of the interval of a value from those of halves of its groups; nan if it does not move.

    Examples
    --------
    >>> low, high = jackknife(10.0, [9.5, 10.0, 10.5], 3)
    >>> print(f"{low:.3f} {high:.3f}")
    7.516 12.484
    >>> jackknife(1.0, [1.0, 1.0], 2)
    (nan, nan)
    """
    found = np.array(parts, dtype=float)
    if not (isfinite(value) and bool(np.isfinite(found).all())):
        return (nan, nan)
    left_out = groups // 2
    error = sqrt((groups - left_out) / left_out * float(np.mean((found - found.mean()) ** 2)))
    if error <= _ROUNDING * abs(value):
        return (nan, nan)
    half = float(student_t(CONFIDENCE, groups - 1)) * error
    return (value - half, value + half)


def chart_with_intervals(chart: Chart, parts: Sequence[Chart], groups: int) -> Chart:
    """Return a chart whose simulated points have intervals, by the same points of halves of the replications.

    A curve that has intervals keeps them. A point that a half lacks has none.
    """
    panels = [
        replace(
            panel,
            curves=tuple(
                _curve_with_interval(curve, [part.panels[row].curves[place] for part in parts], groups)
                for place, curve in enumerate(panel.curves)
            ),
        )
        for row, panel in enumerate(chart.panels)
    ]
    return replace(chart, panels=tuple(panels))


def _curve_with_interval(curve: Curve, parts: Sequence[Curve], groups: int) -> Curve:
    if curve.kind not in _CHANCE or curve.low is not None or len(curve.x) > _LONGEST:
        return curve
    known = [dict(zip(part.x.tolist(), part.y.tolist(), strict=True)) for part in parts]
    ends = np.array(
        [
            jackknife(y, [part.get(x, nan) for part in known], groups)
            for x, y in zip(curve.x.tolist(), curve.y.tolist(), strict=True)
        ]
    ).reshape(-1, 2)
    if np.isnan(ends).all():
        return curve
    # A point without an interval is drawn as one of no width.
    low, high = np.where(np.isnan(ends), np.asarray(curve.y, dtype=float)[:, None], ends).T
    return replace(curve, low=low, high=high)


def _table_with_intervals(table: SideBySide, parts: Sequence[SideBySide], groups: int) -> SideBySide:
    columns = []
    for place, column in enumerate(table.columns):
        others = [part.columns[place].cells for part in parts]
        cells = [
            replace(cell, low=low, high=high)
            if isnan(cell.low) and all(len(other) == len(column.cells) for other in others)
            else cell
            for row, cell in enumerate(column.cells)
            for low, high in [
                jackknife(cell.ours, [other[row].ours for other in others if row < len(other)] or [nan], groups)
            ]
        ]
        columns.append(replace(column, cells=cells))
    return replace(table, columns=columns)


def _with_interval(found: Finding, parts: Sequence[Finding], groups: int, *, is_share: bool) -> Finding:
    def ends(value: float, others: Sequence[float]) -> tuple[float, float]:
        if not is_share:
            return jackknife(value, others, groups)
        return (min(value, *others), max(value, *others)) if isfinite(value) else (nan, nan)

    measure = found.measure
    if isnan(measure.low):
        measure = Measure(measure.value, *ends(measure.value, [part.measure.value for part in parts]))
    return replace(found, simulation=measure, model_ends=ends(found.model, [part.model for part in parts]))


def _part(runs: Mapping[Hashable, Run], half: tuple[int, ...], groups: int) -> dict[Hashable, Run]:
    return {key: _replications(run, half, groups) for key, run in runs.items()}


def _replications(run: Run, half: tuple[int, ...], groups: int) -> Run:
    if len(run.replications) < groups:
        return run
    places = [number for number in range(len(run.replications)) if number % groups in half]
    kept = [run.replications[place] for place in places]
    # Some findings and pictures are of replication 0, which alone has an overview: each part has one.
    overview = {key: trace for key, trace in run.replications[0]["traces"].items() if key == OVERVIEW}
    numbered = [{**one, "replication": number} for number, one in enumerate(kept)]
    numbered[0] = {**kept[0], "replication": 0, "traces": {**kept[0]["traces"], **overview}}
    return Run(run.resolved, [cast("Replication", one) for one in numbered], part_of=(run, places))
