"""A chart as data: panels, and what each shows. It is plain numbers and strings, so any front end can draw it.

`ackclock.plots` draws it with matplotlib, `Chart.to_dict` gives it to others as JSON, `Chart.table` lists its numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal[
    "simulation",
    "marks",
    "theory",
    "theory-2",
    "theory-marks",
    "theory-marks-2",
    "thick",
    "paper",
    "step",
    "band",
    "step-band",
    "guide",
    "step-guide",
]
"""Styles of a curve: measured points joined by a line; those points alone; a dashed line; a dash-dotted one; hollow
points alone; larger ones; a thick line; large open stars; a value that holds until the next; a band from `low` to
`high`; such a band whose ends hold until the next; a thin grey line; such a line whose values hold until the next."""
_OF_CELLS = ("values", "low", "high")
LineKind = Literal["theory", "limit", "whole"]
"""Styles of a straight line: dashed, dotted, solid."""
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """A curve, a set of points or a band.

    Parameters
    ----------
    label : str
        Name in the legend; curves of one label share an entry.
    x, y : array
        Its points; nan leaves a gap.
    kind : str
        How it is drawn.
    colour : int, optional
        Number of its colour; by default the index of its label among the panel's labels.
    low, high : array, optional
        Ends of each point's interval along y, or of the band.
    x_low, x_high : array, optional
        Ends of each point's interval along x.
    notes : sequence of str, optional
        Words next to each point.
    """

    label: str
    x: Array
    y: Array
    kind: Kind = "simulation"
    colour: int | None = None
    low: Array | None = None
    high: Array | None = None
    x_low: Array | None = None
    x_high: Array | None = None
    notes: Sequence[str] | None = None


@dataclass(frozen=True)
class StraightLine:
    """A line from end to end of a panel, at one value of an axis.

    Parameters
    ----------
    value : float
        Where on the axis; a line outside of the axis is in the legend only.
    label : str
        Its name; without one the line has none.
    kind : str
        How it is drawn.
    axis : str
        The axis that has the value: "y" for a horizontal line, "x" for a vertical one.
    named : str
        Where its name is: "legend" (lines of one label share an entry) or "margin", at the right end of the line.
    colour : int, optional
        Number of its colour; grey without one.
    """

    value: float
    label: str = ""
    kind: LineKind = "theory"
    axis: Literal["x", "y"] = "y"
    named: Literal["legend", "margin"] = "legend"
    colour: int | None = None


@dataclass(frozen=True)
class Span:
    """A shaded phase: the panel between two values of x.

    Parameters
    ----------
    start, end : float
        The values of x.
    label : str
        Name in the legend; spans of one label share an entry.
    colour : int, optional
        Number of its colour; light grey without one.
    low, high : float, optional
        Ends along y; otherwise all of the panel.
    """

    start: float
    end: float
    label: str = ""
    colour: int | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Events:
    """Marks along the upper edge of a panel, such as drops.

    Parameters
    ----------
    label : str
        Name in the legend; events of one label share an entry.
    x : array
        Where they are.
    colour : int, optional
        Number of their colour; black without one.
    """

    label: str
    x: Array
    colour: int | None = None


@dataclass(frozen=True)
class SecondScale:
    """A scale of the y axis at its right side, in another unit.

    Parameters
    ----------
    label : str
        What it shows, with the unit.
    factor : float
        The value at the right relative to that at the left, > 0.
    """

    label: str
    factor: float


@dataclass(frozen=True)
class HeatMap:
    """Cells with a colour by their value, at the words of both axes.

    Parameters
    ----------
    label : str
        What the colour shows, with the unit.
    values : array
        A row for each word of the y axis, a column for each of the x axis; nan leaves a cell empty.
    low, high : array, optional
        Ends of each value's interval.
    """

    label: str
    values: Array
    low: Array | None = None
    high: Array | None = None


@dataclass(frozen=True)
class Panel:
    """A pair of axes and what they show.

    Parameters
    ----------
    x_label, y_label : str
        What the axes show, with the unit.
    curves : sequence of Curve
        The curves, the later ones in front.
    title : str
        Title of the panel, which distinguishes it from the others.
    lines : sequence of StraightLine
        Reference lines and limits.
    events : sequence of Events
        Marks along the upper edge.
    spans : sequence of Span
        Shaded phases.
    x_ticks, y_ticks : sequence of str, optional
        Words at 0, 1, ... on an axis.
    x_range : pair of float, optional
        Ends of the x axis; otherwise those of the curves.
    from_zero : bool
        Whether the y axis begins at 0.
    y_top : float, optional
        End of the y axis, if the curves leave the range of interest.
    log_x, log_y : bool
        Whether an axis is logarithmic; such a y axis does not begin at 0.
    y_bottom : float, optional
        Beginning of a logarithmic y axis.
    y_down : bool
        Whether the y axis points downwards.
    y_whole : bool
        Whether the y axis counts: its ticks are whole numbers.
    first_in_front : bool
        Whether the earlier curves are in front, not the later ones.
    dashed : bool
        Whether step curves differ in their dashes too, because they may lie on one another.
    own_x : bool
        Whether the panel has an x axis of its own in a chart whose panels share theirs.
    columns : int
        Columns of the chart that the panel takes.
    second : SecondScale, optional
        A scale at the right side.
    cells : HeatMap, optional
        Cells at the words of both axes.
    """

    x_label: str
    y_label: str
    curves: Sequence[Curve]
    title: str = ""
    lines: Sequence[StraightLine] = ()
    events: Sequence[Events] = ()
    spans: Sequence[Span] = ()
    x_ticks: Sequence[str] | None = None
    y_ticks: Sequence[str] | None = None
    x_range: tuple[float, float] | None = None
    from_zero: bool = True
    y_top: float | None = None
    log_x: bool = False
    log_y: bool = False
    y_bottom: float | None = None
    y_down: bool = False
    y_whole: bool = False
    first_in_front: bool = False
    dashed: bool = False
    own_x: bool = False
    columns: int = 1
    second: SecondScale | None = None
    cells: HeatMap | None = None


@dataclass(frozen=True)
class Chart:
    """Panels under one title.

    Parameters
    ----------
    title : str
        Title of the chart.
    panels : sequence of Panel
        The panels, row by row.
    columns : int
        Number of columns.
    share_x, share_y : bool
        Whether the panels of a column have one x axis, those of a row one scale of y.
    legend : str
        "chart" for one legend below all panels, "panel" for one above each.
    size_inches : pair of float
        Width and height.
    math : bool
        Whether words between dollar signs are formulas, in matplotlib's mathtext.
    """

    title: str
    panels: Sequence[Panel]
    columns: int = 1
    share_x: bool = False
    share_y: bool = False
    legend: Literal["chart", "panel"] = "chart"
    size_inches: tuple[float, float] = (12.0, 7.5)
    math: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON: numbers, strings, lists; a number that is not finite is `None`."""
        content: dict[str, Any] = _plain(asdict(self))
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Chart":
        """Read what `to_dict` gave."""
        panels = tuple(_panel(panel) for panel in content["panels"])
        return cls(**{**content, "panels": panels, "size_inches": tuple(content["size_inches"])})

    @property
    def table(self) -> "pd.DataFrame":
        """All points of curves, lines and events: a row each, with panel, curve, kind, x, y, low and high."""
        import pandas as pd  # noqa: PLC0415  half a second that drawing alone does not need

        frames = [rows for number, panel in enumerate(self.panels) for rows in _panel_rows(number, panel)]
        return pd.concat([pd.DataFrame(frame) for frame in frames], ignore_index=True)


def _plain(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {key: _plain(value) for key, value in content.items()}
    if isinstance(content, np.ndarray | np.generic):
        return _plain(content.tolist())
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    return None if isinstance(content, float) and not isfinite(content) else content


def _panel(content: Mapping[str, Any]) -> Panel:
    parts = {"curves": _curve, "lines": _line, "events": _events, "spans": _span}
    read: dict[str, Any] = {name: tuple(make(one) for one in content[name]) for name, make in parts.items()}
    x_range, second = content["x_range"], content.get("second")
    read["second"] = None if second is None else SecondScale(**second)
    cells = content.get("cells")
    read["cells"] = None if cells is None else HeatMap(**{**cells, **{name: _array(cells[name]) for name in _OF_CELLS}})
    return Panel(**{**content, **read, "x_range": None if x_range is None else tuple(x_range)})


def _curve(content: Mapping[str, Any]) -> Curve:
    arrays = ("x", "y", "low", "high", "x_low", "x_high")
    return Curve(**{**content, **{name: _array(content[name]) for name in arrays}})


def _line(content: Mapping[str, Any]) -> StraightLine:
    return StraightLine(**content)


def _events(content: Mapping[str, Any]) -> Events:
    return Events(**{**content, "x": _array(content["x"])})


def _span(content: Mapping[str, Any]) -> Span:
    return Span(**content)


def _array(values: Sequence[float | None] | None) -> Any:
    return None if values is None else np.array(values, dtype=float)


def _panel_rows(number: int, panel: Panel) -> Iterator[dict[str, object]]:
    if panel.cells is not None:
        yield _cell_rows(number, panel, panel.cells)
    for curve in panel.curves:
        yield _rows(number, panel, curve, curve.kind)
    nowhere = np.array([np.nan])
    for line in panel.lines:
        x, y = (np.array([line.value]) if line.axis == axis else nowhere for axis in ("x", "y"))
        yield _rows(number, panel, Curve(line.label, x, y), line.kind)
    for events in panel.events:
        yield _rows(number, panel, Curve(events.label, events.x, np.full(len(events.x), np.nan)), "event")


def _cell_rows(number: int, panel: Panel, cells: HeatMap) -> dict[str, object]:
    """Give a row a cell, with the words of both axes and the value."""
    rows, columns = (index.ravel() for index in np.indices(np.shape(cells.values)))
    ends = {
        name: np.full(len(rows), np.nan) if (end := getattr(cells, name)) is None else np.ravel(end)
        for name in ("low", "high")
    }
    return {
        "panel": np.full(len(rows), panel.title or str(number + 1), dtype=object),
        "curve": np.full(len(rows), cells.label, dtype=object),
        "kind": np.full(len(rows), "cell", dtype=object),
        panel_column(panel.x_label): np.array(panel.x_ticks, dtype=object)[columns],
        panel_column(panel.y_label): np.array(panel.y_ticks, dtype=object)[rows],
        panel_column(cells.label): np.ravel(np.asarray(cells.values, dtype=float)),
        **ends,
    }


def _rows(number: int, panel: Panel, curve: Curve, kind: str) -> dict[str, object]:
    missing = np.full(len(curve.x), np.nan)
    return {
        "panel": np.full(len(curve.x), panel.title or str(number + 1), dtype=object),
        "curve": np.full(len(curve.x), curve.label, dtype=object),
        "kind": np.full(len(curve.x), kind, dtype=object),
        panel_column(panel.x_label): np.asarray(curve.x, dtype=float),
        panel_column(panel.y_label): np.asarray(curve.y, dtype=float),
        "low": missing if curve.low is None else np.asarray(curve.low, dtype=float),
        "high": missing if curve.high is None else np.asarray(curve.high, dtype=float),
    }


def panel_column(label: str) -> str:
    """Return the name of the column that holds the values of an axis."""
    return label.replace("\n", " ")
