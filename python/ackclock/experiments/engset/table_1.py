"""Table 1: how many files fall into each interval of sizes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.engset.path import FILES, Law, Values, Web, classes, curve, packets, printed
from ackclock.experiments.frame import Finding, Outcome, Run, Setting
from ackclock.experiments.side_by_side import SideBySide, column
from ackclock.models import engset
from ackclock.scenario import Resolved

CONNECTIONS = {5: 800e3, 12: 800e3, 22: 450e3, 36: 250e3, 80: 120e3, 120: 80e3}
TAIL_STARTS = {5: 5.4, 12: 17.2, 22: 34.1, 36: 57.8, 80: 132.3, 120: 200.0}
PANELS: Mapping[Law, str] = {"E": "exponential", "EP": "exponential body, Pareto tail"}
RATE = 10.0
Key = tuple[int, Law]
"""The mean file size F, and the law of sizes."""


def _webs() -> dict[Key, Web]:
    return {(files, law): Web(1, files, law, egress=1000.0).at_load(1.0) for files in FILES for law in PANELS}


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give a run for each F and law; figure 9 has the same ones."""
    return {key: web.scenario(packets(setting, QUICK)) for key, web in _webs().items()}


QUICK = 150e3


def law_of(law: Law, files: float) -> engset.FileSizes:
    """Give the model's law of a mean."""
    kinds: Mapping[Law, type[engset.Exponential | engset.ExponentialPareto | engset.ExponentialExponential]] = {
        "E": engset.Exponential,
        "EP": engset.ExponentialPareto,
        "EE": engset.ExponentialExponential,
    }
    return kinds[law].of_mean(files)


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Compare the parts with what chance allows between two samples."""
    table, findings, worst_of_model = printed("table-1"), {}, 0.0
    panels: dict[Law, list[Curve]] = {law: [] for law in PANELS}
    parts: list[Values] = []
    for number, files in enumerate(FILES):
        for law in PANELS:
            rows = table[(table["files"] == files) & (table["law"] == law)]
            found, count = _simulated(runs[files, law], rows)
            formula = 100.0 * law_of(law, files).proportion(rows["low"], rows["high"])
            worst = float(np.max(_errors(found, rows["percent"], formula, count, CONNECTIONS[files])))
            model = float(np.max(_errors(formula, rows["percent"], formula, np.inf, CONNECTIONS[files])))
            worst_of_model = max(worst_of_model, model)
            findings[f"{law}-{files}"] = Finding(worst, model, f"{count:.0f} files, {len(rows)} intervals")
            place = rows["low"].to_numpy(dtype=float)
            parts.append(found)
            panels[law] += [
                curve(f"F = {files}, simulated", place, found, "simulation", number),
                curve("the paper", place, rows["percent"], "paper", number),
            ]
    sizes = table[table["size"].notna()]
    means = [law_of(row.law, row.files).mean_size(row.low, row.high) for row in sizes.itertuples()]
    findings["sizes"] = Finding(model=100.0 * float(np.max(np.abs(np.array(means) / sizes["size"] - 1.0))))
    starts = [abs(law_of("EP", files).tail_start - start) for files, start in TAIL_STARTS.items()]
    findings["tail_starts"] = Finding(model=max(starts))
    drawn = [
        Panel("smallest size of the interval [packets]", "files in the interval [%]", panels[law], title, log_x=True)
        for law, title in PANELS.items()
    ]
    notes = [
        "The intervals are those of table 1: 3 to 6, 7 to 14, 15 to 30, 31 to 62, 63 to 128, ..., above 4096 packets."
    ]
    chart = Chart("Table 1: files by their size", drawn, 2, size_inches=(13.0, 6.5))
    return Outcome(findings, {"table": chart}, notes, {"table": _side_by_side(table, parts)})


def _side_by_side(table: Any, parts: Sequence[Values]) -> SideBySide:
    """Put the parts of the files next to the printed ones, in the order of the runs."""
    rows = [table[(table["files"] == files) & (table["law"] == law)] for files in FILES for law in PANELS]
    shown = [row for one in rows for row in one.itertuples()]
    names = {
        "F": [f"{row.files}" for row in shown],
        "law": [f"{row.law}" for row in shown],
        "packets": [f"{row.low:g} and more" if np.isnan(row.high) else f"{row.low:g} to {row.high:g}" for row in shown],
    }
    percent = column("files in the interval [%]", [row.percent for row in shown], np.concatenate(parts))
    return SideBySide("Table 1: files by their size", names, [percent])


def _simulated(run: Run, rows: Any) -> tuple[Values, float]:
    found = classes(run)
    parts = found["share_percent"].reindex([0 if low == 3 else low for low in rows["low"]]).fillna(0.0)
    return parts.to_numpy(dtype=float), float(found["transfers"].sum())


def _errors(found: Values, paper: Any, formula: Any, count: float, connections: float) -> Values:
    """Give deviations in standard errors: of both samples, and of the rounding of what is printed."""
    part = np.clip(formula, 1e-6, 100.0 - 1e-6) / 100.0
    chance = 100.0 * np.sqrt(part * (1.0 - part) * (1.0 / count + 1.0 / connections))
    text = paper.map(lambda value: f"{value:g}")
    last_digit = 10.0 ** -text.map(lambda value: len(value.partition(".")[2])).to_numpy(dtype=float)
    return np.asarray(np.abs(found - paper.to_numpy(dtype=float)) / np.hypot(chance, last_digit / np.sqrt(12.0)))
