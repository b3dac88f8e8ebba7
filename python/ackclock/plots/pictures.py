"""Pictures of a run and of its comparison with theory."""

from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ackclock.plots.parts import (
    COLOURS,
    draw_drops,
    draw_queues,
    draw_windows,
    longest_queues,
    put_legend,
    shade_warmup,
    style,
)
from ackclock.plots.two_way import is_magnified, magnified_picture
from ackclock.scenario import Resolved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.prediction import ReferenceLine

LEGEND_COLUMNS = 7
LABEL_DISTANCE = 0.055
"""Least distance of the names of two levels, as a part of the axis."""
LABEL_SIZE = 10.0
SIZE_INCHES = (12.0, 8.0)


def overview_picture(resolved: Resolved, overview: pd.DataFrame, levels: "Sequence[ReferenceLine]" = ()) -> Figure:
    """Draw each flow's cwnd and the queues of the links that queued, against one time axis.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    overview : DataFrame
        The overview trace: kind ("cwnd", "queue", "drop", ...), name, time_s, value, in order of time.
    levels : sequence of ReferenceLine, optional
        What the theory says of windows and queues: a dashed line each, named at the right.

    Returns
    -------
    Figure
        1200 x 800 pixels. More than six flows become a band from the lowest to the highest cwnd; of more than six
        queues the longest are drawn. Where the overview magnifies the run's end, it is `magnified_picture`.
    """
    if is_magnified(overview):
        return magnified_picture(resolved, overview, levels)
    queues = longest_queues(overview)
    with style():
        figure = Figure(figsize=SIZE_INCHES, dpi=100, layout="constrained")
        axes = figure.subplots(2 if queues else 1, 1, sharex=True, squeeze=False)[:, 0]
        draw_windows(axes[0], resolved, overview)
        if queues:
            draw_queues(axes[1], resolved, overview, queues)
        draw_drops(axes[-1], overview[overview["kind"] == "drop"], queues)
        _finish(figure, axes, resolved)
        _draw_levels(axes[0], [level for level in levels if level.kind == "cwnd"])
        if queues:
            _draw_levels(axes[1], [level for level in levels if level.kind == "queue" and level.name in queues])
    return figure


def comparison_picture(title: str, pairs: "Sequence[Any]") -> Figure:
    """Draw predictions as parts of what was simulated: 100% is agreement.

    Parameters
    ----------
    title : str
        The scenario's.
    pairs : sequence of Pair
        Those with both numbers.

    Returns
    -------
    Figure
        A dot a number, with the simulation's interval; one model a colour.
    """
    with style():
        figure = Figure(figsize=(12.0, 1.8 + 0.45 * max(len(pairs), 1)), dpi=100, layout="constrained")
        axes = figure.subplots()
        axes.axvline(100.0, color="0.3", linewidth=1.0)
        models = list(dict.fromkeys(pair.title for pair in pairs))
        for row, pair in enumerate(pairs):
            colour = COLOURS[models.index(pair.title) % len(COLOURS)]
            ratio = 100.0 * (1.0 + pair.difference)
            low, high = (100.0 * (1.0 + end) for end in pair.difference_interval)
            axes.plot([low, high], [row, row], color=colour, linewidth=2.5, alpha=0.5)
            axes.plot(ratio, row, "o", color=colour)
            axes.annotate(f"{ratio:.4g}%", (ratio, row), xytext=(0, 6), textcoords="offset points", ha="center")
        for model, colour in zip(models, COLOURS, strict=False):
            axes.plot([], [], "o", color=colour, label=model)
        axes.set_yticks(range(len(pairs)), [f"{pair.text}\n{pair.subject}" for pair in pairs], fontsize=10.0)
        axes.set_ylim(len(pairs) - 0.3, -0.7)
        axes.set_xlabel("theory as a part of the simulation [%]")
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.01), frameon=False, fontsize=10.0)
        figure.suptitle(title, wrap=True)
    return figure


def _draw_levels(axes: Axes, levels: "Sequence[ReferenceLine]") -> None:
    """Draw a dashed line a level; its name stands at the right, moved apart where two would cover each other."""
    if not levels:
        return
    top = max(axes.get_ylim()[1], 1.05 * max(level.value for level in levels))
    axes.set_ylim(top=top)
    place = -LABEL_DISTANCE * top
    for level in sorted(levels, key=lambda level: level.value):
        place = max(level.value, place + LABEL_DISTANCE * top)
        axes.axhline(level.value, color="0.35", linestyle="--", linewidth=0.9)
        axes.text(
            1.005,
            place,
            f"{level.label} = {level.value:.4g}",
            transform=axes.get_yaxis_transform(),
            va="center",
            fontsize=LABEL_SIZE,
            color="0.25",
        )


def _finish(figure: Figure, axes: NDArray[Any], resolved: Resolved) -> None:
    for number, ax in enumerate(axes):
        ax.set_ylim(bottom=0.0)
        shade_warmup(ax, resolved, "warm-up, not measured" if number == 0 else None)
        put_legend(ax, LEGEND_COLUMNS)
    axes[-1].set_xlim(0.0, resolved.run.duration_s)
    axes[-1].set_xlabel("time [s]")
    figure.suptitle(resolved.title, wrap=True)
