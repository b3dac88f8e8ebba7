"""Draws the curves of a panel, each kind in its way."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from ackclock.charts import Curve, Kind, Panel
from ackclock.plots.style import COLOURS, DASHES, MARKERS, THEORY_DASHES

PAPER: dict[str, Any] = {
    "marker": "*",
    "markersize": 15.0,
    "markerfacecolor": "none",
    "markeredgewidth": 1.7,
    "linestyle": "",
    "zorder": 5,
    "path_effects": [withStroke(linewidth=3.4, foreground="white")],
}
"""Look of the paper's points: open stars, through which one sees the point below, with a light edge on lines."""
WITH_INTERVALS = frozenset({"simulation", "marks"})
LONGEST_MARKED = 60
"""Largest number of points of a curve that get a mark each."""
MOST_BARS = 25
"""Largest number of points of a curve whose intervals are bars; those of more are a band, or thin."""
MOST_LARGE_MARKS = 200
"""Largest number of marks of a curve of marks alone that are drawn large."""
SMALL = {"markersize": 2.0, "markeredgewidth": 0.0}
BEHIND, STEP_BETWEEN = 2.9, 0.1
"""Height of the first curve, and how much lower each further one is, where the first is in front."""


def draw_curves(axes: Axes, panel: Panel) -> dict[str, Any]:
    """Draw the curves of a panel, and return what the legend shows of each label."""
    labels = list(dict.fromkeys(curve.label for curve in panel.curves))
    handles: dict[str, Any] = {}
    crowded = any(curve.kind == "marks" and len(curve.x) > MOST_BARS for curve in panel.curves)
    for order, curve in enumerate(panel.curves):
        number = labels.index(curve.label) if curve.colour is None else curve.colour
        handle = _draw(axes, curve, number, dashed=panel.dashed, crowded=crowded)
        if panel.first_in_front:
            handle.set_zorder(BEHIND - STEP_BETWEEN * order)
        handles.setdefault(curve.label, handle)
    return handles | _stars(panel)


def _stars(panel: Panel) -> dict[str, Any]:
    """Return a black star for each label whose stars have several colours."""
    colours: dict[str, set[int | None]] = {}
    for curve in panel.curves:
        if curve.kind == "paper":
            colours.setdefault(curve.label, set()).add(curve.colour)
    return {label: Line2D([], [], color="black", **PAPER) for label, found in colours.items() if len(found) > 1}


def _draw(axes: Axes, curve: Curve, number: int, *, dashed: bool, crowded: bool) -> Any:
    look = _look(curve, number, dashed=dashed)
    if curve.kind in {"band", "step-band"}:
        return _draw_band(axes, curve, **look)
    (line,) = axes.plot(curve.x, curve.y, label=shown(curve.label), **look)
    _draw_intervals(axes, curve, look["color"], crowded=crowded)
    return line


def _look(curve: Curve, number: int, *, dashed: bool) -> dict[str, Any]:
    """Choose colour, line and mark of a curve by its kind and number."""
    colour = COLOURS[number % len(COLOURS)]
    # Where the colours begin again, the marks are others.
    marker = MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]
    looks: dict[Kind, dict[str, Any]] = {
        "simulation": {"marker": marker, "markersize": 6.0} if len(curve.x) <= LONGEST_MARKED else {},
        "marks": {"linestyle": "", "marker": marker, **({} if len(curve.x) <= MOST_LARGE_MARKS else SMALL)},
        "theory": {"linestyle": THEORY_DASHES[number % len(THEORY_DASHES)], "linewidth": 1.6},
        "theory-2": {"linestyle": THEORY_DASHES[(number + 1) % len(THEORY_DASHES)], "linewidth": 1.6},
        "theory-marks": {"linestyle": "", "marker": marker, "markersize": 8.0, "markerfacecolor": "none"},
        "theory-marks-2": {"linestyle": "", "marker": marker, "markersize": 13.0, "markerfacecolor": "none"},
        "thick": {"linewidth": 6.0, "alpha": 0.35, "zorder": 1},
        "paper": {**PAPER, "color": "black" if curve.colour is None else colour},
        "step": {"drawstyle": "steps-post", "linestyle": DASHES[number % len(DASHES)] if dashed else "-"},
        "band": {"alpha": 0.18},
        "step-band": {"alpha": 0.25, "step": "post", "zorder": 1.5},
        "guide": {"color": "0.45", "linestyle": ":", "linewidth": 1.4},
        "step-guide": {"color": "0.45", "linestyle": "--", "linewidth": 1.2, "drawstyle": "steps-post"},
    }
    return {"color": colour, **looks[curve.kind]}


def _draw_band(axes: Axes, curve: Curve, **look: Any) -> Any:
    low, high = (curve.y if end is None else end for end in (curve.low, curve.high))
    return axes.fill_between(curve.x, low, high, linewidth=0, label=shown(curve.label), **look)


def _draw_intervals(axes: Axes, curve: Curve, colour: str, *, crowded: bool) -> None:
    if curve.kind not in WITH_INTERVALS:
        return
    low, high = curve.low, curve.high
    if curve.kind == "simulation" and len(curve.x) > MOST_BARS and low is not None and high is not None:
        axes.fill_between(curve.x, low, high, color=colour, alpha=0.16, linewidth=0, zorder=1.2)
        return
    thin: dict[str, Any] = (
        {"elinewidth": 0.8, "alpha": 0.4, "capsize": 0.0} if crowded or len(curve.x) > MOST_BARS else {"capsize": 3.0}
    )
    y_error = _error(curve.y, curve.low, curve.high)
    x_error = _error(curve.x, curve.x_low, curve.x_high)
    if y_error is not None:
        axes.errorbar(curve.x, curve.y, yerr=y_error, color=colour, linestyle="", **thin)
    if x_error is not None:
        axes.errorbar(curve.x, curve.y, xerr=x_error, color=colour, elinewidth=2.5, alpha=0.5, linestyle="")


def _error(middle: Any, low: Any, high: Any) -> Any:
    """Return how far the interval extends downwards and upwards; None if there is no interval."""
    if low is None or high is None or np.array_equal(low, high, equal_nan=True):
        return None
    return np.maximum(np.nan_to_num(np.stack([middle - low, high - middle])), 0.0)


def shown(label: str) -> str:
    """Keep matplotlib from hiding a label that begins with an underscore."""
    return f" {label}" if label.startswith("_") else label
