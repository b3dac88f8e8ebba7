"""Draws a chart: its panels, their axes and legends."""

from collections.abc import Iterable
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator

from ackclock.charts import Chart, Panel
from ackclock.errors import ArgumentError, Fault
from ackclock.plots.cells import draw_cells
from ackclock.plots.curves import draw_curves
from ackclock.plots.decades import number_decades
from ackclock.plots.legends import Handles, legend_width, put_chart_legend, put_panel_legend
from ackclock.plots.lines import draw_events, draw_lines, draw_spans, put_margin_names
from ackclock.plots.notes import put_notes
from ackclock.plots.picture import POINTS_OF_AN_INCH, Picture
from ackclock.plots.style import style

FEW_POINTS, LEAST_GAP = 5, 10.0
"""Largest number of whole x values that are the ticks themselves, and their range by the smallest step at most."""
WORD_TICK_SIZE = 10.0
HEADROOM, HEADROOM_OF_NOTES = 1.03, 1.12
"""Least end of a y axis from 0 relative to the highest point, so that its mark is whole, and a word above it too."""
SIDE_ROOM, SIDE_ROOM_OF_WORDS = 0.5, 0.7
"""Room on both sides of an axis with words, in distances of two words."""
SIDE_ROOM_OF_NOTES = 0.12
"""Room on both sides of an axis of numbers whose points have words, relative to the axis."""


AxesLike = Axes | Iterable[Axes]
"""A matplotlib Axes, or several, such as the array that `matplotlib.pyplot.subplots` gives."""


def chart_picture(chart: Chart) -> Picture:
    """Draw a chart.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Returns
    -------
    Picture
        A figure. Simulations are solid with a mark a point, theory is dashed, the paper's numbers are stars. Colours
        are those of Okabe and Ito, and no two curves differ by colour alone.
    """
    layout = ConstrainedLayoutEngine()
    with style(math=chart.math):
        figure = Picture(figsize=chart.size_inches, dpi=100, layout=layout)
        grid = _axes(figure, chart)
        handles: Handles = {}
        for axes, panel in zip(grid, chart.panels, strict=True):
            own = _draw_panel(axes, panel)
            if chart.legend == "panel":
                put_panel_legend(axes, panel, own, legend_width(panel, chart), is_wide=panel.columns == chart.columns)
            handles |= {label: handle for label, handle in own.items() if label not in handles}
        figure.suptitle(chart.title, wrap=True, fontsize=14.0)
        if chart.legend == "chart":
            put_chart_legend(figure, handles)
        layout.execute(figure)
        for axes, panel in zip(grid, chart.panels, strict=True):
            put_notes(axes, panel)
        figure.set_layout_engine(None)  # laid out: with any engine, even "none", saving it would draw it twice
    return figure


def draw_into(chart: Chart, axes: AxesLike) -> None:
    """Draw the panels of a chart into axes of the caller, one each; sizes and letters are those of the caller.

    Parameters
    ----------
    chart : Chart
        What to draw.
    axes : Axes or iterable of Axes
        As many as the chart has panels.

    Raises
    ------
    ArgumentError
        If they are of another type or number.
    """
    given: list[Any] = [axes] if isinstance(axes, Axes) else list(np.ravel(np.asarray(axes, dtype=object)))
    if len(given) != len(chart.panels) or not all(isinstance(one, Axes) for one in given):
        kinds = ", ".join(dict.fromkeys(type(one).__name__ for one in given))
        allowed = f"{len(chart.panels)} matplotlib Axes, one a panel"
        shown = f"{len(given)} of type {kinds}" if given else "none"
        raise ArgumentError(Fault('argument "axes"', "does not fit the panels", shown, allowed))
    with mpl.rc_context({"text.parse_math": False}):
        for one, panel in zip(given, chart.panels, strict=True):
            one.set(xlabel=panel.x_label, ylabel=panel.y_label)
            width = one.get_window_extent().width * POINTS_OF_AN_INCH / one.get_figure(root=True).dpi
            put_panel_legend(one, panel, _draw_panel(one, panel), width, is_wide=False)
        for one, panel in zip(given, chart.panels, strict=True):
            if any(curve.notes is not None for curve in panel.curves):
                one.get_figure(root=True).draw_without_rendering()
                put_notes(one, panel)


def _axes(figure: Figure, chart: Chart) -> list[Axes]:
    """Place the panels row by row."""
    columns = min(chart.columns, sum(panel.columns for panel in chart.panels))
    places, used = [], 0
    for panel in chart.panels:
        places.append(divmod(used, columns))
        used += panel.columns
    rows = -(-used // columns)
    grid = figure.add_gridspec(rows, columns)
    drawn: list[Axes] = []
    for (row, column), panel in zip(places, chart.panels, strict=True):
        beside = next((axes for axes, place in zip(drawn, places, strict=False) if place[0] == row), None)
        above = next((axes for axes, place in zip(drawn, places, strict=False) if place[1] == column), None)
        shares = chart.share_x and not panel.own_x
        axes = figure.add_subplot(
            grid[row, column : column + panel.columns],
            sharex=above if shares else None,
            sharey=beside if chart.share_y else None,
        )
        last = row == rows - 1 or any(
            place == (row + 1, column) and other.own_x for place, other in zip(places, chart.panels, strict=True)
        )
        _label(axes, panel, below=not shares or last, left=not chart.share_y or column == 0)
        drawn.append(axes)
    return drawn


def _label(axes: Axes, panel: Panel, *, below: bool, left: bool) -> None:
    """Label the axes; numbers of a shared axis are at its outer end only."""
    axes.set_title(panel.title, fontsize=12.0)
    if below:
        axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    axes.tick_params(labelbottom=below, labelleft=left)


def _draw_panel(axes: Axes, panel: Panel) -> Handles:
    if panel.cells is not None:
        draw_cells(axes, panel.cells)
    handles = {
        **draw_curves(axes, panel),
        **draw_lines(axes, panel.lines),
        **draw_events(axes, panel.events),
        **draw_spans(axes, panel.spans),
    }
    _set_x(axes, panel)
    _set_y(axes, panel)
    put_margin_names(axes, panel.lines)
    if panel.second is not None:
        factor = panel.second.factor
        both_ways = (lambda y: np.asarray(y) * factor, lambda y: np.asarray(y) / factor)
        at_right = axes.secondary_yaxis("right", functions=both_ways)
        at_right.set_ylabel(panel.second.label)
    return handles


def _set_x(axes: Axes, panel: Panel) -> None:
    if panel.x_ticks is not None:
        axes.set_xticks(range(len(panel.x_ticks)), list(panel.x_ticks))
        axes.set_xlim(-SIDE_ROOM, len(panel.x_ticks) - 1 + SIDE_ROOM)
    elif any(curve.notes is not None for curve in panel.curves):
        axes.margins(x=SIDE_ROOM_OF_NOTES)
    elif not panel.log_x and 1 < len(few := _few_whole(panel)) <= FEW_POINTS:
        axes.set_xticks(few)
    elif not panel.log_x and _are_whole(panel):
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    if panel.log_x:
        axes.set_xscale("log")
        number_decades(axes.xaxis)
    if panel.x_range is not None:
        axes.set_xlim(*panel.x_range)


def _are_whole(panel: Panel) -> bool:
    """Return whether all of a panel's points lie at whole numbers of x, as counts do."""
    given = [np.asarray(curve.x, dtype=float) for curve in panel.curves]
    x = np.concatenate([*given, np.empty(0)])
    return bool(len(x)) and bool(np.all(x[np.isfinite(x)] == np.round(x[np.isfinite(x)])))


def _few_whole(panel: Panel) -> list[float]:
    """List the x values of points that are few, whole and of similar steps; else none."""
    points = [curve.x for curve in panel.curves if curve.kind in {"simulation", "marks", "paper"}]
    x = np.unique(np.concatenate([*(np.asarray(one, dtype=float) for one in points), np.empty(0)]))
    if not _are_whole(panel) or not np.isfinite(x).all() or len(x) < 2:
        return []
    return x.tolist() if np.diff(x).min() * LEAST_GAP >= x[-1] - x[0] else []


def _set_y(axes: Axes, panel: Panel) -> None:
    if panel.y_ticks is not None:
        axes.set_yticks(range(len(panel.y_ticks)), list(panel.y_ticks), fontsize=WORD_TICK_SIZE)
        room = SIDE_ROOM if panel.cells is not None else SIDE_ROOM_OF_WORDS
        axes.set_ylim(-room, len(panel.y_ticks) - 1 + room)
    elif panel.log_y:
        axes.set_yscale("log")
        axes.set_ylim(bottom=panel.y_bottom)
        number_decades(axes.yaxis)
    elif panel.from_zero:
        axes.set_ylim(0.0, _top(axes, panel))
    if panel.y_top is not None:
        axes.set_ylim(top=panel.y_top)
    if panel.y_whole:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    if panel.y_down:
        axes.invert_yaxis()


def _top(axes: Axes, panel: Panel) -> float:
    """Give the end of a y axis that begins at 0: all marks and words are within it."""
    room = HEADROOM_OF_NOTES if any(curve.notes is not None for curve in panel.curves) else HEADROOM
    highest = float(axes.dataLim.y1)
    return max(axes.get_ylim()[1], room * highest if np.isfinite(highest) else 0.0)
