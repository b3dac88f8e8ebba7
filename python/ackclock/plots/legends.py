"""Puts legends where no curve is: above each panel, or below all of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ackclock.charts import Chart, Panel
from ackclock.plots.curves import shown

Handles = dict[str, Any]
"""Entries of a legend by label."""

LETTERS_OF_A_ROW = 110
WIDE_SIZE, NARROW_SIZE, TITLE_SIZE = 12.0, 9.5, 11.0
"""Letters of a legend above a panel as wide as the chart, above a narrower one, and of a panel's title [pt]."""
LETTER_WIDTH, LETTER_HEIGHT = 0.56, 1.63
"""Width of a letter and height of a row relative to the size of the letters."""
HANDLE_WIDTH = 46.0
"""Width of an entry without its label [pt]."""
AXIS_ROOM = 47.0
"""Room that labels of the y axis take [pt]."""
MARGIN_ROOM = 165.0
"""Room that names of lines take at the right [pt]."""


def put_chart_legend(figure: Figure, handles: Handles) -> None:
    """Put one legend below all panels."""
    if handles:
        longest = max(map(len, handles))
        columns = max(1, min(len(handles), LETTERS_OF_A_ROW // (longest + 6)))
        names = [shown(label) for label in handles]
        figure.legend(handles.values(), names, loc="outside lower center", ncols=columns, fontsize=11.0)


def legend_width(panel: Panel, chart: Chart) -> float:
    """Compute the width that a chart has for the legend above a panel [pt]."""
    width = chart.size_inches[0] * 72.0 * panel.columns / chart.columns - AXIS_ROOM
    if any(line.named == "margin" for one in chart.panels for line in one.lines):
        width -= MARGIN_ROOM
    return width


def put_panel_legend(axes: Axes, panel: Panel, handles: Handles, width: float, *, is_wide: bool) -> None:
    """Put a legend of a width [pt] between the axes and the panel's title, in as many columns as fit.

    Letters above a panel that is as wide as its chart are larger.
    """
    if not handles:
        axes.set_title("")
        axes.set_title(panel.title, loc="left", fontsize=TITLE_SIZE)
        return
    size = WIDE_SIZE if is_wide else NARROW_SIZE
    labels = [shown(label) for label in handles]
    columns = next((count for count in range(len(labels), 1, -1) if _fits(labels, count, width, size)), 1)
    legend = axes.legend(
        handles.values(),
        labels,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.03 if panel.events or not panel.title else 1.0),
        ncols=columns,
        frameon=False,
        borderaxespad=0.3,
        columnspacing=1.2,
        handlelength=2.6,
        fontsize=size,
    )
    if panel.title:
        legend.set_in_layout(False)
        rows = -(-len(labels) // columns)
        pad = 6.0 + LETTER_HEIGHT * size * rows + (8.0 if panel.events else 0.0)
        axes.set_title("")
        axes.set_title(panel.title, loc="left", fontsize=TITLE_SIZE, pad=pad)


def _fits(labels: Sequence[str], columns: int, width: float, size: float) -> bool:
    """Return whether a legend with this number of columns, the first ones the longest, is no wider than its axes."""
    lengths = np.array_split([len(label) for label in labels], columns)
    letters = sum(float(column.max()) for column in lengths)
    return letters * LETTER_WIDTH * size + columns * HANDLE_WIDTH * size / NARROW_SIZE <= width
