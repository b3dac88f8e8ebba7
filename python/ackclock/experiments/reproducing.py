"""Makes the figures and tables of the papers: runs, findings, verdicts, files."""

import hashlib
import re
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import folders
from ackclock.charts import Chart
from ackclock.errors import Fault, ModelError, SweepError
from ackclock.experiments.changing import Changes, changed
from ackclock.experiments.criteria import judge
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, item_module, key_text
from ackclock.experiments.kept import KEPT, kept_items, kept_writer
from ackclock.experiments.naming import chosen
from ackclock.experiments.papers import Item, Paper
from ackclock.experiments.print_form import for_print
from ackclock.experiments.report import Reproduction, html_report, latex_report, markdown_report, verdict_table
from ackclock.experiments.reproduction import ReproducedItem, item_folder
from ackclock.experiments.uncertainty import judged_outcome
from ackclock.scenario.arguments import NAMES, check_arguments
from ackclock.sweeps import Folder, csv_writer, netcdf_writer, packets_of, point_key, run_points
from ackclock.transfers import source_rows

if TYPE_CHECKING:
    import pandas as pd

    from ackclock.scenario import Resolved

POINTS = "points"
REPORTS = ("verdicts.csv", "report.md", "report.tex", "report.html")
ITEM_S, RUN_S, NOTHING_S = 0.8, 0.015, 0.05
"""Usual processor time after the simulations: of an item, of each of its runs, of an item with nothing to make [s]."""
LONGEST_NAME = 60
OnProgress = Callable[[float, int], None]
OnStep = Callable[[str], None]
OnPlan = Callable[[Sequence[float]], None]


def reproduce(  # noqa: PLR0913  all but one by name
    names: str | Sequence[str] = (),
    *,
    full: bool = False,
    overrides: Mapping[str, Any] | None = None,
    out: str | Path = "results/papers",
    jobs: int | None = None,
    cluster: str | None = None,
    on_progress: OnProgress | None = None,
    on_step: OnStep | None = None,
    on_plan: OnPlan | None = None,
) -> Reproduction:
    """Make figures and tables of the papers again, and judge them by what the papers say.

    Parameters
    ----------
    names : str or sequence of str
        "PAPER", "PAPER/ITEM" or "ITEM", also as the papers write them: "RR-3620/fig. 4", "Table 7". All by default.
    full : bool
        The papers' lengths and all points, else shorter runs.
    overrides : mapping of str to object, optional
        Fields that all scenarios get that have them, by dotted path, such as {"link.satellite.buffer": "30 pkt"};
        `*` in a name fits several: "link.node*.buffer". The report then says what was changed.
    out : str or Path
        Folder for each finished point, so that an interrupted call goes on where it was, and for the folder of the form
        (`report_folder`): figures, tables, data, and the report (report.html, .md, .tex, verdicts.csv), which keeps the
        items of earlier calls.
    jobs, cluster
        As for `ackclock.sweep`.
    on_progress : callable, optional
        A function that receives the fraction of the simulations done, and the number of points finished.
    on_step : callable, optional
        A function that receives in words what is drawn, once the simulations are finished.
    on_plan : callable, optional
        A function that receives the processor time that each of these steps usually takes [s], before the simulations.

    Returns
    -------
    Reproduction
        The items of this call with their findings and verdicts.

    Raises
    ------
    ArgumentError
        If the names are not texts.
    SweepError
        If there is no such paper or item, or a change fits none of an item's scenarios.
    ScenarioError
        If a change is not a valid value.
    KeyboardInterrupt
        After Ctrl-C; finished points are kept.

    Examples
    --------
    >>> import ackclock
    >>> ackclock.reproduce("bottlenecks/figure-4", overrides={"link.satellite.buffer": "30 pkt"})  # doctest: +SKIP
    """
    named = (names,) if isinstance(names, str) else names
    check_arguments("reproduce", names=(named, NAMES))
    picked = chosen(named)
    setting, changes = Setting(full), Changes(dict(overrides or {}))
    folder = report_folder(out, full=full, overrides=changes.overrides)
    folders.prepare_folder(folder, REPORTS)
    store = Folder(Path(out) / POINTS)
    scenarios, notes = _scenarios(picked, setting, changes)
    if on_plan is not None:
        on_plan([ITEM_S + RUN_S * len(runs) if item.maker else NOTHING_S for item, runs in scenarios.items()])
    wall, cpu = time.perf_counter(), time.process_time()
    points = [resolved for by_key in scenarios.values() for resolved in by_key.values()]
    ran = run_points(points, store, jobs=jobs, cluster=cluster, on_progress=on_progress)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    made: dict[str, list[ReproducedItem]] = {}
    packets: dict[str, int] = {}
    for item, by_key in scenarios.items():
        if on_step is not None:
            on_step(f"drawing {item.paper}/{item.name}")
        runs = {}
        for key, resolved in by_key.items():
            point = point_key(resolved)
            runs[key] = Run(resolved, store.read(point))
            packets[point] = packets_of(runs[key].replications)
        made.setdefault(item.paper, []).append(_reproduced(item, setting, runs, folder, notes.get(item)))
    reproduction = Reproduction(
        setting=setting,
        papers=tuple((paper, tuple(made[paper.name])) for paper, _ in picked),
        points=ran.points,
        computed=ran.computed,
        packets=sum(packets.values()),
        wall_s=wall,
        cpu_s=cpu,
        overrides=changes.overrides,
    )
    _write_report(replace(reproduction, papers=tuple(kept_items(folder, reproduction.papers))), folder)
    return reproduction


def report_folder(out: str | Path, *, full: bool, overrides: Mapping[str, Any] | None = None) -> Path:
    """Return the folder of a form's report: "quick" or "full"; with changes its name has them.

    Examples
    --------
    >>> report_folder("results/papers", full=True).as_posix()
    'results/papers/full'
    >>> report_folder("out", full=False, overrides={"link.satellite.buffer": "30 pkt"}).as_posix()
    'out/quick-link.satellite.buffer-30-pkt-098453'
    """
    form = "full" if full else "quick"
    if not overrides:
        return Path(out) / form
    text = ", ".join(f"{path}={value!r}" for path, value in sorted(overrides.items()))
    words = "-".join(f"{path}-{value}" for path, value in sorted(overrides.items()))
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", words)[:LONGEST_NAME].strip("-.")
    return Path(out) / f"{form}-{plain}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def _scenarios(
    picked: Sequence[tuple[Paper, list[Item]]], setting: Setting, changes: Changes
) -> tuple[dict[Item, Mapping[Hashable, "Resolved"]], dict[Item, str]]:
    """Return the scenarios of each item, and of an item that was changed what the report says of it."""
    found: dict[Item, Mapping[Hashable, Resolved]] = {}
    notes: dict[Item, str] = {}
    for item in (item for _, items in picked for item in items):
        changes.begin()
        with changed(changes if changes.overrides else None):
            found[item] = item_module(item.paper, item.maker).scenarios(setting) if item.maker else {}
        if changes.overrides:
            changes.check(f"{item.paper}/{item.name}")
            notes[item] = changes.note()
    return found, notes


def _reproduced(
    item: Item, setting: Setting, runs: Mapping[Hashable, Run], folder: Path, note: str | None
) -> ReproducedItem:
    outcome = _outcome(item, setting, runs, is_changed=note is not None)
    if note:
        outcome = replace(outcome, notes=(note, *outcome.notes))
    rows = item.expected if item.module else ()
    judgements = {row.key: judge(row, outcome.findings.get(row.key, Finding())) for row in rows}
    packets = sum(packets_of(run.replications) for run in runs.values())
    reproduced = ReproducedItem(item, outcome, judgements, packets, len(runs))
    folders.write_files(item_folder(folder, item), _writers(reproduced, runs), "item")
    return reproduced


def _outcome(item: Item, setting: Setting, runs: Mapping[Hashable, Run], *, is_changed: bool) -> Outcome:
    if not item.maker:
        return Outcome({})
    module = item_module(item.paper, item.maker)
    if not is_changed:
        return judged_outcome(module, setting, runs, item.shares)
    try:
        return judged_outcome(module, setting, runs, item.shares)
    except (ValueError, LookupError, ArithmeticError, AssertionError, TypeError, ModelError) as error:
        problem = f"cannot be judged with these changes: {error}"
        hint = "a change nearer to the paper's setting; the runs are kept"
        raise SweepError(Fault(f"{item.paper}/{item.name}", problem, hint=hint)) from error


def _writers(reproduced: ReproducedItem, runs: Mapping[Hashable, Run]) -> dict[str, folders.Writer]:
    writers: dict[str, folders.Writer] = {}
    for name, chart in reproduced.outcome.charts.items():
        writers |= _chart_writers(name, chart)
    for name, table in reproduced.outcome.tables.items():
        writers[f"{name}-side-by-side.csv"] = csv_writer(table.frame)
    if runs:
        frame = _run_table(runs)
        writers["runs.csv"] = csv_writer(frame)
        writers["runs.nc"] = netcdf_writer(_run_dataset(frame))
    return {**writers, KEPT: kept_writer(reproduced)}


def _chart_writers(name: str, chart: Chart) -> dict[str, folders.Writer]:
    from ackclock.plots import chart_picture  # noqa: PLC0415  half a second that data need not pay

    pictures: dict[str, folders.Writer] = dict.fromkeys(
        (f"{name}.png", f"{name}.svg"), chart_picture(for_print(chart)).save
    )
    return {**pictures, f"{name}.csv": csv_writer(chart.table)}


def _run_table(runs: Mapping[Hashable, Run]) -> "pd.DataFrame":
    """Write a row a run and flow; sources of transfers that are alike are one."""
    import pandas as pd  # noqa: PLC0415  half a second that other uses need not pay

    rows = []
    for key, run in runs.items():
        about = {"run": key_text(key), "point": point_key(run.resolved), "replications": len(run.replications)}
        packets = packets_of(run.replications)
        for row in source_rows(run.resolved, run.replications) or run.flows:
            cells: dict[str, Any] = {**about, "packets": packets, "flow": row["name"]}
            for name, found in row.items():
                if isinstance(found, Mapping):
                    cells |= {name: found["mean"], f"{name}_low": found["low"], f"{name}_high": found["high"]}
            rows.append(cells)
    return pd.DataFrame(rows)


def _run_dataset(frame: "pd.DataFrame") -> Any:
    numbers = frame.astype({name: "float64" for name in frame.columns if name not in {"run", "point", "flow"}})
    return numbers.rename_axis("row").to_xarray().drop_vars("row")


def _write_report(reproduction: Reproduction, folder: Path) -> None:
    texts = (markdown_report(reproduction), latex_report(reproduction), html_report(reproduction, folder))
    writers = (csv_writer(verdict_table(reproduction)), *map(_text_writer, texts))
    folders.write_files(folder, dict(zip(REPORTS, writers, strict=True)), "report")


def _text_writer(text: str) -> folders.Writer:
    return lambda path: path.write_text(text, encoding="utf-8")
