"""Table 3: flights, and the ON time of a lone transfer."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.path import KILO, curve, printed
from ackclock.experiments.engset.single import finish_ms, lone, lone_path
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
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


def _label(row: Any) -> str:
    return f"F{row.files}-{row.capacity:g}M-R{row.rtt_ms}-W{row.window}"


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Compare (m, n) with the rule and the printed ones, and the time with the simulation."""
    table = printed("table-3")
    paths = [lone_path(row.capacity, row.rtt_ms) for row in table.itertuples()]
    rules = [
        engset.rounds(row.files, row.window, path.pipe_size)
        for row, path in zip(table.itertuples(), paths, strict=True)
    ]
    flights = [
        engset.flight_sizes(row.files, row.window, float(path.pipe_size))
        for row, path in zip(table.itertuples(), paths, strict=True)
    ]
    simulated = np.array([finish_ms(runs[_key(row)]) for row in table.itertuples()])
    formula = np.array(
        [_on_ms(path, float(rule.flights), float(rule.following)) for path, rule in zip(paths, rules, strict=True)]
    )
    as_printed = np.array([_on_ms(path, row.m, row.n) for path, row in zip(paths, table.itertuples(), strict=True)])
    same = [
        (float(rule.flights), float(rule.following)) == (row.m, row.n)
        for rule, row in zip(rules, table.itertuples(), strict=True)
    ]
    same_flights = [
        sizes == [int(one) for one in row.flights.split()]
        for sizes, row in zip(flights, table.itertuples(), strict=True)
    ]
    odd = [_label(row) for row, found in zip(table.itertuples(), same, strict=True) if not found]
    odd_flights = [_label(row) for row, found in zip(table.itertuples(), same_flights, strict=True) if not found]
    findings = {
        "printed": Finding(model=share(same), note=f"{sum(same)} of {len(same)}; not: {', '.join(odd)}"),
        "flights": Finding(
            model=share(same_flights), note=f"{sum(same_flights)} of {len(same_flights)}; not: {', '.join(odd_flights)}"
        ),
        "on_time": Finding(float(np.max(np.abs(simulated - formula)))),
        "misprints": Finding(
            share(
                [abs(one - two) > 1.0 for one, two, found in zip(simulated, as_printed, same, strict=True) if not found]
            ),
            note="where the rule gives another (m, n), the simulated time is not that of the printed one",
        ),
    }
    place = np.arange(len(table), dtype=float)
    curves = [
        curve("simulated", place, simulated, "marks", 0),
        curve("m RTT_0 + n Delta* by the rule", place, formula, "theory", 1),
        curve("the paper's (m, n)", place, as_printed, "paper"),
    ]
    ticks = [f"F{row.files}\n{row.capacity}M\nR{row.rtt_ms}\nW{row.window}" for row in table.itertuples()]
    panel = Panel("transfer", "ON_0 [ms]", curves, x_ticks=ticks)
    return Outcome(
        findings, {"table": Chart("Table 3: how long a lone transfer takes", [panel], size_inches=(13.0, 7.5))}
    )


def _on_ms(path: engset.Path, flights: float, following: float) -> float:
    return KILO * float(flights * path.rtt + following * path.slowest_service_time)
