"""Table 3: flights, and the ON time of a lone transfer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.path import KILO, curve, printed
from ackclock.experiments.engset.single import finish_ms, lone, lone_path
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.side_by_side import SideBySide, column
from ackclock.models import engset
from ackclock.scenario import Resolved

Key = tuple[int, float, int, int]
"""The setting: F, C [Mbit/s], RTT_0 [ms] and W_R."""


def scenarios(_setting: Setting) -> Mapping[Key, Resolved]:
    """Give one transfer for each row, on a path of the paper that meets the row's condition."""
    rows = printed("table-3").itertuples()
    return {_key(row): lone(row.capacity, row.rtt_ms, row.window, row.files) for row in rows}


def _key(row: Any) -> Key:
    return int(row.files), float(row.capacity), int(row.rtt_ms), int(row.window)


EXACT_MS, APART_MS = 0.2, 1.0
"""Largest difference of a time from the rule's, and least from the printed one [ms]."""


@dataclass(frozen=True)
class _Row:
    """A row of the table: its times by simulation, rule and print [ms], and whether rule and print agree."""

    label: str
    tick: str
    simulated: float
    formula: float
    as_printed: float
    same: bool
    same_flights: bool
    rounds: tuple[float, float]
    printed: tuple[float, float]


def _compare(row: Any, run: Run) -> _Row:
    path = lone_path(row.capacity, row.rtt_ms)
    rule = engset.rounds(row.files, row.window, path.pipe_size)
    flights = engset.flight_sizes(row.files, row.window, float(path.pipe_size))
    return _Row(
        label=f"F{row.files}-{row.capacity:g}M-R{row.rtt_ms}-W{row.window}",
        tick=f"F{row.files}\n{row.capacity}M\nR{row.rtt_ms}\nW{row.window}",
        simulated=finish_ms(run),
        formula=_on_ms(path, float(rule.flights), float(rule.following)),
        as_printed=_on_ms(path, row.m, row.n),
        same=(float(rule.flights), float(rule.following)) == (row.m, row.n),
        same_flights=flights == [int(one) for one in row.flights.split()],
        rounds=(float(rule.flights), float(rule.following)),
        printed=(float(row.m), float(row.n)),
    )


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Compare (m, n) with the rule and the printed ones, and the time with the simulation."""
    rows = [_compare(row, runs[_key(row)]) for row in printed("table-3").itertuples()]
    odd = [row for row in rows if not row.same]
    findings = {
        "printed": _agreeing(rows, [row.same for row in rows]),
        "flights": _agreeing(rows, [row.same_flights for row in rows]),
        "on_time": Finding(max(abs(row.simulated - row.formula) for row in rows)),
        "misprints": Finding(
            share([_is_the_rules(row) for row in odd]),
            note="where the rule gives another (m, n), the simulated time is not that of the printed one",
        ),
    }
    columns = [
        column("m", [row.printed[0] for row in rows], [row.rounds[0] for row in rows]),
        column("n", [row.printed[1] for row in rows], [row.rounds[1] for row in rows]),
        column(
            "ON_0, by the printed (m, n) and simulated [ms]",
            [row.as_printed for row in rows],
            [row.simulated for row in rows],
        ),
    ]
    table = SideBySide("Table 3: flights, and the ON time", {"transfer": [row.label for row in rows]}, columns)
    return Outcome(findings, {"table": _chart(rows)}, (), {"table": table})


def _is_the_rules(row: _Row) -> bool:
    """Return whether the simulated time is that of the rule, and not that of the printed (m, n)."""
    return abs(row.simulated - row.formula) <= EXACT_MS and abs(row.simulated - row.as_printed) > APART_MS


def _agreeing(rows: Sequence[_Row], same: Sequence[bool]) -> Finding:
    odd = [row.label for row, agrees in zip(rows, same, strict=True) if not agrees]
    return Finding(model=share(same), note=f"{sum(same)} of {len(same)}; not: {', '.join(odd)}")


def _chart(rows: Sequence[_Row]) -> Chart:
    place = np.arange(len(rows), dtype=float)
    curves = [
        curve("simulated", place, [row.simulated for row in rows], "marks", 0),
        curve("m RTT_0 + n Delta* by the rule", place, [row.formula for row in rows], "theory-marks", 1),
        curve("the paper's (m, n)", place, [row.as_printed for row in rows], "paper", 0),
    ]
    panel = Panel("transfer", "ON_0 [ms]", curves, x_ticks=[row.tick for row in rows])
    return Chart("Table 3: how long a lone transfer takes", [panel], size_inches=(13.0, 7.5))


def _on_ms(path: engset.Path, flights: float, following: float) -> float:
    return KILO * float(flights * path.rtt + following * path.slowest_service_time)
