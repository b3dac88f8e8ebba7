"""Items that earlier calls reproduced: each leaves a file, from which later reports take it."""

import json
from collections.abc import Iterator, Mapping
from math import isfinite, nan
from pathlib import Path
from typing import Any, Final

import ackclock
from ackclock.charts import Chart
from ackclock.experiments.criteria import judge
from ackclock.experiments.frame import Finding, Measure, Outcome
from ackclock.experiments.papers import Item, Paper, papers
from ackclock.experiments.reproduction import ReproducedItem, item_folder
from ackclock.experiments.side_by_side import SideBySide
from ackclock.folders import Writer

KEPT: Final = "item.json"
_FINDING: Final = ("value", "low", "high", "model", "model_low", "model_high")


def kept_writer(reproduced: ReproducedItem) -> Writer:
    """Return what writes the file of an item: its findings, the names of its charts, its tables and notes."""
    outcome = reproduced.outcome
    content = {
        "version": ackclock.__version__,
        "points": reproduced.points,
        "packets": reproduced.packets,
        "findings": {key: _written(found) for key, found in outcome.findings.items()},
        "charts": {name: chart.title for name, chart in outcome.charts.items()},
        "tables": {name: table.to_dict() for name, table in outcome.tables.items()},
        "notes": list(outcome.notes),
    }
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    return lambda path: path.write_text(f"{text}\n", encoding="utf-8")


def kept_items(
    out: Path, made: tuple[tuple[Paper, tuple[ReproducedItem, ...]], ...]
) -> Iterator[tuple[Paper, tuple[ReproducedItem, ...]]]:
    """Yield all papers of a folder's report: the items of this call, and those that earlier calls left there.

    Parameters
    ----------
    out : Path
        The folder of a form.
    made : tuple of (Paper, tuple of ReproducedItem)
        The items of this call.
    """
    now = {one.item: one for _, items in made for one in items}
    for paper in papers():
        found = [now.get(item) or read_item(out, item) for item in paper.items]
        items = tuple(one for one in found if one is not None)
        if items:
            yield paper, items


def read_item(out: Path, item: Item) -> ReproducedItem | None:
    """Read an item that an earlier call left; None if no call left it, or its file cannot be read.

    Its numbers are judged by the criteria of today, which the report shows.
    """
    try:
        content = json.loads((item_folder(out, item) / KEPT).read_text(encoding="utf-8"))
        findings = {key: _read(found) for key, found in content["findings"].items()}
        charts = {str(name): Chart(str(title), ()) for name, title in content["charts"].items()}
        tables = {str(name): SideBySide.from_dict(table) for name, table in content["tables"].items()}
        outcome = Outcome(findings, charts, tuple(map(str, content["notes"])), tables)
        made_by, packets, points = str(content["version"]), int(content["packets"]), int(content["points"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if any(not (item_folder(out, item) / f"{name}.png").is_file() for name in charts):
        return None
    rows = item.expected if item.module else ()
    judgements = {row.key: judge(row, findings.get(row.key, Finding())) for row in rows}
    return ReproducedItem(item, outcome, judgements, packets, points, made_by)


def _written(found: Finding) -> dict[str, Any]:
    measure = found.measure
    numbers = (measure.value, measure.low, measure.high, found.model, *found.model_ends)
    plain = {name: float(n) if isfinite(n) else None for name, n in zip(_FINDING, numbers, strict=True)}
    return {**plain, "note": found.note}


def _read(content: Mapping[str, Any]) -> Finding:
    numbers = [nan if content[name] is None else float(content[name]) for name in _FINDING]
    value, low, high, model, model_low, model_high = numbers
    return Finding(Measure(value, low, high), model, str(content["note"]), (model_low, model_high))
