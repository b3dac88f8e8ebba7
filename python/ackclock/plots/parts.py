"""What the pictures of runs are made of: colours, the look, curves that hold their value, windows of all flows."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from ackclock.scenario import Resolved
from ackclock.scenario.resolved_queues import PacketBuffer

# Okabe and Ito's colours, told apart by colour-blind readers too; yellow is left out, it fades on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MOST_LINES = len(COLOURS)
BAND_POINTS = 1000
DASHES: tuple[Any, ...] = ("-", (0, (4, 2)), "-.", (0, (1, 1)), (0, (6, 2, 1, 2)), (0, (2, 2)))
"""Curves that may lie upon one another differ by these too: through the gaps one sees the lower one."""


def save_picture(figure: Figure, path: Path) -> None:
    """Write a picture in the format of the path's ending; the same picture gives the same bytes."""
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    with style():
        figure.savefig(path, metadata=metadata)


def style() -> AbstractContextManager[None]:
    """Set the look of all pictures."""
    return mpl.rc_context(
        {
            "axes.grid": True,
            "axes.spines.right": False,
            "axes.spines.top": False,
            "font.size": 12.0,
            "grid.alpha": 0.3,
            "lines.linewidth": 1.3,
            "svg.hashsalt": "ackclock",
            "text.parse_math": False,
        }
    )


def draw_windows(axes: Axes, resolved: Resolved, overview: pd.DataFrame, *, dashed: bool = False) -> None:
    """Draw each flow's cwnd; of many a band from the lowest to the highest."""
    names = resolved.flow_names
    windows = overview[overview["kind"] == "cwnd"]
    end = resolved.run.duration_s
    if len(names) > MOST_LINES:
        grid = np.linspace(0.0, end, BAND_POINTS)
        draw_band(axes, grid, (held(rows, grid) for _, rows in windows.groupby("name", observed=True)))
    else:
        for number, name in enumerate(names):
            draw_steps(axes, windows[windows["name"] == name], end, number, name, dashed=dashed)
    axes.set_ylabel("cwnd [packets]")


def draw_band(axes: Axes, grid: NDArray[np.float64], curves: Iterable[NDArray[np.float64]]) -> None:
    """Draw the lowest, median and highest value of all flows; a flow counts from its first value on."""
    found = list(curves)
    if not found:
        return
    values = np.stack(found)
    started = ~np.isnan(values).all(axis=0)
    grid, values = grid[started], values[:, started]
    axes.fill_between(
        grid,
        np.nanmin(values, axis=0),
        np.nanmax(values, axis=0),
        step="post",
        color=COLOURS[0],
        alpha=0.25,
        linewidth=0,
        label=f"lowest to highest of {len(found)} flows",
    )
    axes.plot(grid, np.nanmedian(values, axis=0), drawstyle="steps-post", color=COLOURS[0], label="median")


def held(rows: pd.DataFrame, grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sample a stepwise constant value; nan before its first row."""
    if rows.empty:
        return np.full(len(grid), np.nan)
    last = np.searchsorted(rows["time_s"].to_numpy(), grid, side="right") - 1
    return np.where(last >= 0, rows["value"].to_numpy()[np.maximum(last, 0)], np.nan)


def draw_steps(  # noqa: PLR0913  one curve
    axes: Axes, rows: pd.DataFrame, end: float, number: int, label: str, *, dashed: bool = False
) -> None:
    """Draw a value that holds until the next, in the colour of a number; with `dashed` in its line style too."""
    if rows.empty:
        return
    times = np.append(rows["time_s"].to_numpy(), end)
    values = np.append(rows["value"].to_numpy(), rows["value"].iloc[-1])
    line = DASHES[number % len(DASHES)] if dashed else "-"
    colour = COLOURS[number % len(COLOURS)]
    axes.plot(times, values, drawstyle="steps-post", color=colour, linestyle=line, label=shown(label))


def shown(name: str) -> str:
    """Keep matplotlib from hiding a name that begins with an underscore."""
    return f" {name}" if name.startswith("_") else name


def shade_warmup(axes: Axes, resolved: Resolved, label: str | None) -> None:
    """Shade what is not measured."""
    warmup = resolved.run.warmup_s
    if warmup > 0.0:
        axes.axvspan(0.0, warmup, color="0.9", zorder=0, label=label)


def put_legend(axes: Axes, columns: int) -> None:
    """Put the legend above the axes, where no curve is."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.03), ncols=columns, frameon=False, borderaxespad=0.0)


def longest_queues(overview: pd.DataFrame) -> list[str]:
    """Name the links where a packet ever waited, the longest queues first; the packet in transmission counts."""
    longest = overview[overview["kind"] == "queue"].groupby("name", observed=True)["value"].max()
    waited = longest[longest > 1.0].sort_values(ascending=False, kind="stable")
    return [str(name) for name in waited.index[:MOST_LINES]]


def draw_queues(axes: Axes, resolved: Resolved, overview: pd.DataFrame, names: Sequence[str]) -> None:
    """Draw the queues of some links over the whole run, and their buffers."""
    end = resolved.run.duration_s
    queued = overview[overview["kind"] == "queue"]
    for place, (name, colour) in enumerate(zip(names, COLOURS, strict=False)):
        draw_steps(axes, queued[queued["name"] == name], end, place, name)
        axes.lines[-1].set_zorder(2.9 - 0.1 * place)  # the longest queue in front
        buffer = resolved.links_by_name[name].buffer
        if isinstance(buffer, PacketBuffer):
            axes.axhline(buffer.packets, color=colour, linestyle=":", linewidth=1.0)
    if any(line.get_linestyle() == ":" for line in axes.lines):
        axes.plot([], [], color="0.4", linestyle=":", linewidth=1.0, label="buffer")
    axes.set_ylabel("queue [packets]")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def draw_drops(axes: Axes, dropped: pd.DataFrame, names: Sequence[str]) -> None:
    """Mark drops along the top, in the colour of their link."""
    colours = dict(zip(names, COLOURS, strict=False))
    mark: dict[str, Any] = {"linestyle": "", "marker": "x", "markersize": 5.0}
    for name, rows in dropped.groupby("name", observed=True):
        height = np.full(len(rows), 1.02)
        colour = colours.get(str(name), "black")
        axes.plot(rows["time_s"], height, transform=axes.get_xaxis_transform(), clip_on=False, color=colour, **mark)
    if not dropped.empty:
        axes.plot([], [], color="0.4", label="drop", **mark)
