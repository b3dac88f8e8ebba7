"""Draws cells with a colour by their value, each with its number and its interval."""

from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes

from ackclock.charts import Array, HeatMap
from ackclock.wording import significant

MOST_WRITTEN: Final = 200
"""Largest number of cells that have their numbers in them."""
MAP: Final = "viridis"
"""Colours that rise in lightness, which colour-blind readers and printers can tell apart."""
EMPTY: Final = "0.88"
LIGHT: Final = 0.6
"""Height in the scale of colours above which a number is written in black."""
ROUNDING: Final = 1e-9
"""Relative half-width of an interval below which it is the rounding of sums."""
LETTER: Final = 0.58
"""Width of a letter relative to its size."""


def draw_cells(axes: Axes, cells: HeatMap) -> None:
    """Draw the cells, and a scale of their colours at the right.

    Parameters
    ----------
    axes : Axes
        Where to, in a figure that has its size.
    cells : HeatMap
        The cells.
    """
    values = np.ma.masked_invalid(cells.values)
    axes.set_facecolor(EMPTY)
    image = axes.imshow(values, cmap=MAP, origin="lower", aspect="auto", interpolation="nearest")
    axes.grid(visible=False)
    figure: Any = axes.get_figure()
    figure.colorbar(image, ax=axes, label=cells.label)
    if cells.values.size > MOST_WRITTEN or not values.count():
        return
    texts = {place: _text(cells, place) for place in np.ndindex(cells.values.shape) if np.isfinite(cells.values[place])}
    longest = max(len(line) for text in texts.values() for line in text.split("\n"))
    width = axes.get_window_extent().width * 72.0 / figure.dpi / cells.values.shape[1]
    size = min(10.0, 0.9 * width / longest / LETTER)
    for place, text in texts.items():
        height = (cells.values[place] - values.min()) / max(values.max() - values.min(), np.finfo(float).tiny)
        colour = "black" if height > LIGHT else "white"
        axes.text(place[1], place[0], text, ha="center", va="center", fontsize=size, color=colour)


def _text(cells: HeatMap, place: tuple[int, ...]) -> str:
    """Write a value, with half of its interval below if it has one."""
    value = float(cells.values[place])
    low, high = (_end(end, place) for end in (cells.low, cells.high))
    half = (high - low) / 2.0
    text = significant(value, 4)
    return f"{text}\n\u00b1{significant(half, 2)}" if half > ROUNDING * abs(value) else text


def _end(end: Array | None, place: tuple[int, ...]) -> float:
    return np.nan if end is None else float(end[place])
