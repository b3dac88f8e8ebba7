"""A chart for a page: as many points as its pixels can show, between two times, as plain data."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Events, Panel, Span

Array = NDArray[Any]
SIGNIFICANT: Final = 6
"""Digits that a page needs of a number."""
ROWS: Final = 150
"""Pixels that a panel is high, for marks that would cover each other."""


def thinned(chart: Chart, start: float, end: float, columns: int) -> Chart:
    """Keep of each curve what is seen between two times.

    Parameters
    ----------
    chart : Chart
        Panels that share a time axis; those with an axis of their own stay as they are.
    start, end : float
        The times [s].
    columns : int
        Pixels that the panels are wide.

    Returns
    -------
    Chart
        The same chart: of curves the smallest, largest and last point of each column of pixels, of marks one of
        those that cover each other; and the point before the start and after the end.
    """
    panels = [panel if panel.own_x else _panel(panel, start, end, columns) for panel in chart.panels]
    return replace(chart, panels=panels)


def chart_data(chart: Chart) -> dict[str, Any]:
    """Give a chart as data for JSON, as `Chart.to_dict` does, with numbers of six digits."""
    return _plain_fields(chart) | {"panels": [_panel_data(panel) for panel in chart.panels]}


def _panel(panel: Panel, start: float, end: float, columns: int) -> Panel:
    width = (end - start) / columns
    spans = [one for one in panel.spans if one.end >= start and one.start <= end]
    return replace(
        panel,
        curves=[_curve(curve, start, end, columns) for curve in panel.curves],
        spans=list(_merged(spans, width)),
        events=[_events(events, start, end, width) for events in panel.events],
        x_range=(start, end),
    )


def _curve(curve: Curve, start: float, end: float, columns: int) -> Curve:
    x = np.asarray(curve.x, dtype=float)
    first = max(0, int(np.searchsorted(x, start, side="right")) - 1)
    last = min(len(x), int(np.searchsorted(x, end, side="right")) + 1)
    if "marks" in curve.kind:
        kept = first + _uncovered(x[first:last], np.asarray(curve.y[first:last]), columns)
    elif curve.low is not None or last - first <= 2 * columns:
        kept = np.arange(first, last)
    else:
        kept = first + _extremes(x[first:last], np.asarray(curve.y[first:last]), start, end, columns)
    ends = {name: values[kept] for name in ("low", "high") if (values := getattr(curve, name)) is not None}
    return replace(curve, x=x[kept], y=np.asarray(curve.y)[kept], **ends)


def _extremes(x: Array, y: Array, start: float, end: float, columns: int) -> Array:
    """Give the indices of the smallest, largest and last value of each column of pixels, and of the first of all."""
    column = np.clip((x - start) * (columns / (end - start)), -1, columns).astype(np.int64)
    firsts = np.flatnonzero(np.append(True, column[1:] != column[:-1]))
    lasts = np.append(firsts[1:], len(x)) - 1
    values = np.nan_to_num(y, nan=0.0)
    if (values[1:] >= values[:-1]).all():  # of what never falls, the last value of a column is its largest
        return _marked(len(x), firsts[:1], lasts)
    numbers = np.repeat(np.arange(len(firsts)), np.diff(np.append(firsts, len(x))))
    order = np.lexsort((values, numbers))
    return _marked(len(x), firsts[:1], order[firsts], order[lasts], lasts)


def _marked(length: int, *indices: Array) -> Array:
    """Give the indices that are in any of some arrays, in order and once."""
    marked = np.zeros(length, dtype=bool)
    for some in indices:
        marked[some] = True
    return np.flatnonzero(marked)


def _uncovered(x: Array, y: Array, columns: int) -> Array:
    """Give the index of one mark of each two pixels."""
    if len(x) <= columns:
        return np.arange(len(x))
    across = (x - x[0]) * (columns / max(x[-1] - x[0], 1e-300))
    low, high = float(np.nanmin(y)), float(np.nanmax(y))
    down = (y - low) * (ROWS / max(high - low, 1e-300))
    pixels = across.astype(np.int64) * (ROWS + 1) + np.nan_to_num(down).astype(np.int64)
    return np.sort(np.unique(pixels, return_index=True)[1])


def _events(events: Events, start: float, end: float, width: float) -> Events:
    x = np.asarray(events.x, dtype=float)
    x = x[(x >= start) & (x <= end)]
    columns = (x / (2.0 * width)).astype(np.int64)
    return replace(events, x=x[np.unique(columns, return_index=True)[1]])


def _merged(spans: list[Span], gap: float) -> Iterator[Span]:
    """Join phases of one label between which less than a pixel lies."""
    groups: dict[Any, list[Span]] = {}
    for span in spans:
        groups.setdefault((span.label, span.colour, span.low, span.high), []).append(span)
    for group in groups.values():
        current: Span | None = None
        for span in group:
            if current is not None and span.start <= current.end + gap:
                current = replace(current, end=max(current.end, span.end))
                continue
            if current is not None:
                yield current
            current = span
        if current is not None:
            yield current


def _panel_data(panel: Panel) -> dict[str, Any]:
    return _plain_fields(panel) | {
        "curves": [_curve_data(curve) for curve in panel.curves],
        "lines": [vars(line) for line in panel.lines],
        "events": [_plain_fields(events) | {"x": _numbers(events.x)} for events in panel.events],
        "spans": [vars(span) for span in panel.spans],
        "second": None if panel.second is None else vars(panel.second),
    }


def _curve_data(curve: Curve) -> dict[str, Any]:
    arrays = {name: _numbers(getattr(curve, name)) for name in ("x", "y", "low", "high", "x_low", "x_high")}
    return _plain_fields(curve) | arrays


def _plain_fields(record: Any) -> dict[str, Any]:
    nested = {"panels", "curves", "lines", "events", "spans", "second", "x", "y", "low", "high", "x_low", "x_high"}
    return {name: value for name, value in vars(record).items() if name not in nested}


def _numbers(values: Any) -> list[float | None] | None:
    """Give numbers with six digits of the range that they span; None for those that are not finite."""
    if values is None:
        return None
    array = np.asarray(values, dtype=float)
    finite = np.isfinite(array)
    known = array[finite]
    size = float(np.ptp(known)) or float(np.abs(known).max()) if len(known) else 0.0
    digits = SIGNIFICANT - 1 - int(np.floor(np.log10(size))) if size > 0.0 else 0
    rounded: list[float | None] = np.round(array, max(0, digits)).tolist()
    return (
        rounded
        if finite.all()
        else [value if is_known else None for value, is_known in zip(rounded, finite, strict=True)]
    )
