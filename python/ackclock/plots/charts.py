"""Draws charts that are given as data."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ackclock.charts import Chart, Curve, Panel
from ackclock.plots.parts import COLOURS, style

MARKERS = ("o", "s", "^", "D", "v", "P")
PAPER: dict[str, Any] = {
    "marker": "*",
    "markersize": 17.0,
    "markerfacecolor": "none",
    "markeredgewidth": 1.6,
    "linestyle": "",
}
MARKED_THEORY = 12
"""Hollow marks along a line of theory, so that it is told from others by more than its colour."""
FEW_DECADES = 2.3
LONGEST_MARKED = 60
"""Points of a curve that still get a mark each."""


def chart_picture(chart: Chart) -> Figure:
    """Draw a chart.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Returns
    -------
    Figure
        Simulations are solid with a mark a point, theory is dashed, the paper's numbers are stars. Colours are those of
        Okabe and Ito, and no two curves differ by colour alone.
    """
    columns = min(chart.columns, len(chart.panels))
    rows = -(-len(chart.panels) // columns)
    with style():
        figure = Figure(figsize=chart.size_inches, dpi=100, layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False, sharey="row" if chart.share_y else False)
        handles: dict[str, Any] = {}
        for axes, panel in zip(grid.flat, chart.panels, strict=False):
            _draw_panel(axes, panel)
            handles |= {label: handle for label, handle in _handles(axes, panel).items() if label not in handles}
        for axes in list(grid.flat)[len(chart.panels) :]:
            axes.set_axis_off()
        figure.suptitle(chart.title, wrap=True, fontsize=14.0)
        if handles:
            names = list(handles)
            figure.legend(handles.values(), names, loc="outside lower center", ncols=_columns(names), fontsize=11.0)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out: saving it in several formats need not do it again
    return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
    labels = list(dict.fromkeys(curve.label for curve in panel.curves))
    for curve in panel.curves:
        place = labels.index(curve.label) if curve.colour is None else curve.colour
        _draw_curve(axes, curve, place)
    axes.set_title(panel.title, fontsize=12.0)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.x_ticks is not None:
        axes.set_xticks(range(len(panel.x_ticks)), list(panel.x_ticks))
    if panel.log_x:
        axes.set_xscale("log")
        _number_decades(axes.xaxis)
    if panel.log_y:
        axes.set_yscale("log")
        axes.set_ylim(bottom=panel.y_bottom)
        _number_decades(axes.yaxis)
    elif panel.from_zero:
        axes.set_ylim(bottom=0.0)
    if panel.y_top is not None:
        axes.set_ylim(top=panel.y_top)


def _number_decades(axis: Axis) -> None:
    """Write numbers, not powers; over few decades more than one in each."""
    low, high = sorted(axis.get_view_interval())
    few = np.log10(high / low) < FEW_DECADES
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _draw_curve(axes: Axes, curve: Curve, place: int) -> None:
    colour = COLOURS[place % len(COLOURS)]
    x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
    match curve.kind:
        case "band":
            low, high = (y if end is None else end for end in (curve.low, curve.high))
            axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0, label=curve.label)
        case "guide":
            axes.plot(x, y, color="0.45", linestyle=":", linewidth=1.4, label=curve.label)
        case "step":
            axes.plot(x, y, color=colour, drawstyle="steps-post", linewidth=1.0, label=curve.label)
        case "theory" | "theory-2":
            dash = "--" if curve.kind == "theory" else "-."
            every = max(1, len(x) // MARKED_THEORY)
            hollow: dict[str, Any] = {"marker": MARKERS[place % len(MARKERS)], "markersize": 5.0, "markevery": every}
            style_of = {"color": colour, "linestyle": dash, "linewidth": 1.6, "markerfacecolor": "none", **hollow}
            axes.plot(x, y, label=curve.label, **style_of)
        case "thick":
            axes.plot(x, y, color=colour, linewidth=6.0, alpha=0.35, label=curve.label, zorder=1)
        case "marks":
            axes.plot(x, y, color=colour, linestyle="", marker=MARKERS[place % len(MARKERS)], label=curve.label)
        case "paper":
            axes.plot(x, y, color="black", label=curve.label, zorder=4, **PAPER)
        case _:
            _draw_measured(axes, curve, colour, MARKERS[place % len(MARKERS)])


def _draw_measured(axes: Axes, curve: Curve, colour: str, marker: str) -> None:
    mark: dict[str, Any] = {"marker": marker, "markersize": 6.0} if len(curve.x) <= LONGEST_MARKED else {}
    if curve.low is None or curve.high is None or np.array_equal(curve.low, curve.high, equal_nan=True):
        axes.plot(curve.x, curve.y, color=colour, label=curve.label, **mark)
        return
    error = np.maximum(np.nan_to_num(np.stack([curve.y - curve.low, curve.high - curve.y])), 0.0)
    axes.errorbar(curve.x, curve.y, yerr=error, color=colour, capsize=3.0, label=curve.label, **mark)


def _handles(axes: Axes, panel: Panel) -> dict[str, Any]:
    """Give what the legend shows by label, in the curves' order."""
    handles, labels = axes.get_legend_handles_labels()
    found: dict[str, Any] = {}
    for handle, label in zip(handles, labels, strict=True):
        found.setdefault(label, handle[0] if isinstance(handle, ErrorbarContainer) else handle)
    return {curve.label: found[curve.label] for curve in panel.curves if curve.label in found}


def _columns(names: list[str]) -> int:
    """Choose the legend's columns: as many as fit, for rows of about a hundred letters."""
    return max(1, min(len(names), 110 // (max(map(len, names)) + 6)))
