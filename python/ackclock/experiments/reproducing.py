"""Makes the figures and tables of the papers: runs, findings, verdicts, files."""

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import folders
from ackclock.charts import Chart
from ackclock.experiments.criteria import judge
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, item_module, key_text
from ackclock.experiments.papers import Item, Paper, chosen
from ackclock.experiments.report import Reproduction, html_report, markdown_report, verdict_table
from ackclock.experiments.reproduction import ReproducedItem, item_folder
from ackclock.experiments.uncertainty import judged_outcome
from ackclock.sweeps import Folder, Store, csv_writer, netcdf_writer, packets_of, point_key, run_points
from ackclock.transfers import source_rows

if TYPE_CHECKING:
    import pandas as pd

    from ackclock.scenario import Resolved

POINTS = "points"
REPORTS = ("verdicts.csv", "report.md", "report.html")
OnProgress = Callable[[float, int], None]
OnStep = Callable[[str], None]


def reproduce(  # noqa: PLR0913  all but one by name
    names: Sequence[str] = (),
    *,
    full: bool = False,
    out: str | Path = "results/papers",
    jobs: int | None = None,
    cluster: str | None = None,
    on_progress: OnProgress | None = None,
    on_step: OnStep | None = None,
) -> Reproduction:
    """Make figures and tables of the papers again, and judge them by what the papers say.

    Parameters
    ----------
    names : sequence of str
        "PAPER" or "PAPER/ITEM"; all papers by default.
    full : bool
        The papers' lengths and all points, else shorter runs.
    out : str or Path
        Folder for figures, tables, data, the report (report.html, report.md) and each finished point: an interrupted
        call goes on where it was.
    jobs, cluster
        As for `ackclock.sweep`.
    on_progress : callable, optional
        A function that receives the fraction of the simulations done, and the number of points finished.
    on_step : callable, optional
        A function that receives in words what is drawn, once the simulations are finished.

    Returns
    -------
    Reproduction
        The items with their findings and verdicts.

    Raises
    ------
    SweepError
        If there is no such paper or item.
    KeyboardInterrupt
        After Ctrl-C; finished points are kept.
    """
    picked, setting, out = chosen(names), Setting(full), Path(out)
    folders.prepare_folder(out, REPORTS)
    store = Folder(out / POINTS)
    scenarios = _scenarios(picked, setting)
    wall, cpu = time.perf_counter(), time.process_time()
    points = [resolved for by_key in scenarios.values() for resolved in by_key.values()]
    ran = run_points(points, store, jobs=jobs, cluster=cluster, on_progress=on_progress)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    reproduced: dict[str, list[ReproducedItem]] = {}
    for paper, items in picked:
        for item in items:
            if on_step is not None:
                on_step(f"drawing {paper.name}/{item.name}")
            reproduced.setdefault(paper.name, []).append(_reproduced(item, setting, scenarios[item], store, out))
    reproduction = Reproduction(
        setting=setting,
        papers=tuple((paper, tuple(reproduced[paper.name])) for paper, _ in picked),
        points=ran.points,
        computed=ran.computed,
        packets=sum(packets_of(store.read(key)) for key in {point_key(resolved) for resolved in points}),
        wall_s=wall,
        cpu_s=cpu,
    )
    _write_report(reproduction, out)
    return reproduction


def _scenarios(
    picked: Sequence[tuple[Paper, list[Item]]], setting: Setting
) -> dict[Item, Mapping[Hashable, "Resolved"]]:
    items = [item for _, found in picked for item in found]
    return {item: item_module(item.paper, item.module).scenarios(setting) if item.module else {} for item in items}


def _reproduced(
    item: Item, setting: Setting, scenarios: Mapping[Hashable, "Resolved"], store: Store, out: Path
) -> ReproducedItem:
    if not item.module:
        return ReproducedItem(item, Outcome({}), {})
    runs = {key: Run(resolved, store.read(point_key(resolved))) for key, resolved in scenarios.items()}
    outcome = judged_outcome(item_module(item.paper, item.module), setting, runs, item.shares)
    judgements = {row.key: judge(row, outcome.findings.get(row.key, Finding())) for row in item.expected}
    folders.write_files(item_folder(out, item), _writers(outcome, runs), "item")
    packets = sum(packets_of(run.replications) for run in runs.values())
    return ReproducedItem(item, outcome, judgements, packets, len(runs))


def _writers(outcome: Outcome, runs: Mapping[Hashable, Run]) -> dict[str, folders.Writer]:
    writers: dict[str, folders.Writer] = {}
    for name, chart in outcome.charts.items():
        writers |= _chart_writers(name, chart)
    if runs:
        frame = _run_table(runs)
        writers["runs.csv"] = csv_writer(frame)
        writers["runs.nc"] = netcdf_writer(_run_dataset(frame))
    return writers


def _chart_writers(name: str, chart: Chart) -> dict[str, folders.Writer]:
    from ackclock.plots import chart_picture  # noqa: PLC0415  half a second that data need not pay

    pictures: dict[str, folders.Writer] = dict.fromkeys((f"{name}.png", f"{name}.svg"), chart_picture(chart).save)
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


def _write_report(reproduction: Reproduction, out: Path) -> None:
    html, markdown = html_report(reproduction, out), markdown_report(reproduction)
    writers = (
        csv_writer(verdict_table(reproduction)),
        lambda path: path.write_text(markdown, encoding="utf-8"),
        lambda path: path.write_text(html, encoding="utf-8"),
    )
    folders.write_files(out, dict(zip(REPORTS, writers, strict=True)), "report")
