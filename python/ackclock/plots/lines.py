"""Draws what is not a curve: straight lines, events along the upper edge, shaded phases."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ackclock.charts import Events, Span, StraightLine
from ackclock.plots.style import GREY, colour

LOOKS: dict[str, dict[str, Any]] = {
    "theory": {"linestyle": "--", "linewidth": 1.0},
    "limit": {"linestyle": ":", "linewidth": 1.2},
    "whole": {"linestyle": "-", "linewidth": 1.0},
}
EVENT: dict[str, Any] = {"linestyle": "", "markersize": 5.0}
EVENT_MARKERS = ("x", "+", "1", "2", "3", "4", "|")
"""Marks of events by the order of their labels: no two differ by colour alone."""
EVENT_HEIGHT = 1.02
LABEL_DISTANCE = 0.055
"""Least distance of two names in the margin, relative to the axis."""
LABEL_SIZE = 10.0
LEAST_ROOM = 1.05
SHADE = 0.45
"""Opacity of a coloured phase."""


def draw_lines(axes: Axes, lines: Sequence[StraightLine]) -> dict[str, Any]:
    """Draw straight lines, and return what the legend shows of each label."""
    low, high = axes.get_ylim()
    for line in lines:
        draw = axes.axhline if line.axis == "y" else axes.axvline
        draw(line.value, color=colour(line.colour), **LOOKS[line.kind])
    heights = [line.value for line in lines if line.axis == "y"]
    if heights:
        axes.set_ylim(low, max(high, LEAST_ROOM * max(heights)))
    in_legend = (line for line in lines if line.label and line.named == "legend")
    return {line.label: Line2D([], [], color=GREY, **LOOKS[line.kind]) for line in in_legend}


def put_margin_names(axes: Axes, lines: Sequence[StraightLine]) -> None:
    """Write the names at the right ends of lines, moved apart if two would cover each other."""
    top = axes.get_ylim()[1]
    place = -LABEL_DISTANCE * top
    named = (line for line in lines if line.label and line.named == "margin")
    for line in sorted(named, key=lambda line: line.value):
        place = max(line.value, place + LABEL_DISTANCE * top)
        axes.text(
            1.005,
            place,
            line.label,
            transform=axes.get_yaxis_transform(),
            va="center",
            fontsize=LABEL_SIZE,
            color="0.25",
        )


def draw_events(axes: Axes, events: Sequence[Events]) -> dict[str, Any]:
    """Mark events along the upper edge, and return what the legend shows of each label."""
    labels = list(dict.fromkeys(one.label for one in events))
    drawn: dict[str, Any] = {}
    for one in events:
        height = np.full(len(one.x), EVENT_HEIGHT)
        marker = EVENT_MARKERS[labels.index(one.label) % len(EVENT_MARKERS)]
        look = {"color": colour(one.colour, "black"), "marker": marker, **EVENT}
        axes.plot(one.x, height, transform=axes.get_xaxis_transform(), clip_on=False, **look)
        drawn.setdefault(one.label, Line2D([], [], **look))
    return drawn


def draw_spans(axes: Axes, spans: Sequence[Span]) -> dict[str, Any]:
    """Shade phases, and return what the legend shows of each label."""
    alike: dict[tuple[str, int | None, float | None, float | None], list[tuple[float, float]]] = {}
    for span in spans:
        key = (span.label, span.colour, span.low, span.high)
        alike.setdefault(key, []).append((span.start, span.end - span.start))
    drawn: dict[str, Any] = {}
    for (label, number, low, high), extents in alike.items():
        look: dict[str, Any] = {"color": "0.9"} if number is None else {"color": colour(number), "alpha": SHADE}
        if low is None or high is None:
            where: dict[str, Any] = {"yrange": (0.0, 1.0), "transform": axes.get_xaxis_transform()}
        else:
            where = {"yrange": (low, high - low)}
        axes.broken_barh(extents, zorder=0, linewidth=0, **where, **look)
        drawn.setdefault(label, Patch(linewidth=0, **look))
    return {label: patch for label, patch in drawn.items() if label}
