"""Writes the words that belong to points next to them, where they cover neither points nor one another."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

from ackclock.charts import Array, Panel
from ackclock.plots.style import colour

DISTANCE: Final = 7.0
"""Distance of a word from its point [pt]."""
FAR: Final = 24.0
"""The same where all places next to the point are taken [pt]."""
LEADER: Final = {"arrowstyle": "-", "color": "0.6", "linewidth": 0.8, "shrinkA": 0.0, "shrinkB": 3.0}
"""Look of the line from a word to its point where it is far from it."""
POINT: Final = 5.0
"""Half of the square about a point that words leave free [pt]."""
_SIDES: Final = (
    (0, 1, "center", "bottom"),
    (1, 0, "left", "center"),
    (0, -1, "center", "top"),
    (-1, 0, "right", "center"),
    (1, 1, "left", "bottom"),
    (1, -1, "left", "top"),
    (-1, -1, "right", "top"),
    (-1, 1, "right", "bottom"),
)


@dataclass(frozen=True)
class _Place:
    """A place for a word: its offset from the point [pt], and the side of it that is there."""

    x: float
    y: float
    horizontal: str
    vertical: str


_PLACES: Final = tuple(
    _Place(distance * x, distance * y, horizontal, vertical)
    for distance in (DISTANCE, FAR)
    for x, y, horizontal, vertical in _SIDES
)


def put_notes(axes: Axes, panel: Panel) -> None:
    """Write the notes of a panel's curves; the axes have their final place in the figure.

    Where several curves have notes, each note has the colour of its curve.
    """
    figure = axes.get_figure(root=True)
    if figure is None or not any(curve.notes is not None for curve in panel.curves):
        return
    renderer = RendererAgg(*figure.bbox.size, figure.dpi)  # type: ignore[no-untyped-call]
    taken = np.array([box.extents for box in (*_points(axes, panel), *_intervals(axes, panel))]).reshape(-1, 4)
    inside = axes.get_window_extent(renderer)
    points = np.vstack([np.empty((0, 2)), *(_shown(axes, curve.x, curve.y) for curve in panel.curves)])
    labels = list(dict.fromkeys(curve.label for curve in panel.curves))
    several = sum(curve.notes is not None for curve in panel.curves) > 1
    for curve in panel.curves:
        own = labels.index(curve.label) if curve.colour is None else curve.colour
        look: dict[str, Any] = {"color": colour(own if several else None, "black"), "arrowprops": LEADER}
        for x, y, note in zip(curve.x, curve.y, curve.notes or (), strict=curve.notes is not None):
            if np.isfinite(x) and np.isfinite(y):
                text = axes.annotate(note, (x, y), xytext=(0.0, DISTANCE), textcoords="offset points", **look)
                own_point = axes.transData.transform((x, y))
                others = points[np.abs(points - own_point).max(axis=1) > 1.0]
                taken = np.vstack([taken, _put(text, taken, inside, renderer, (own_point, others)).extents])


def _put(text: Annotation, taken: Array, inside: Bbox, renderer: RendererAgg, points: tuple[Array, Array]) -> Bbox:
    """Move a word to the first of its places that is free, or to the one that covers least; return what it covers.

    `taken` has the left, lower, right and upper ends of what is there already [pixels], a row each; `points` the word's
    own point and all others [pixels]. Of free places the first is taken that is nearest to its own point; a word that
    is nearer to another one has a line to its own.
    """
    found: list[tuple[float, bool, int, _Place, Bbox]] = []
    for order, place in enumerate(_PLACES):
        box = _moved(text, place, renderer)
        within = _overlaps(box, np.array([inside.extents])).item()
        covered = float(_overlaps(box, taken).sum()) + box.width * box.height - within
        found.append((covered, _is_nearer_to_another(box, *points), order, place, box))
        if found[-1][:2] == (0.0, False):
            break
    _, is_nearer, _, place, box = min(found, key=lambda one: one[:3])
    _moved(text, place, renderer)
    if text.arrow_patch is not None:
        text.arrow_patch.set_visible(is_nearer or max(abs(place.x), abs(place.y)) > DISTANCE)
    return box


def _is_nearer_to_another(box: Bbox, own: Array, others: Array) -> bool:
    """Return whether a word's box is as near to another point as to its own, or nearer."""
    return bool(len(others)) and float(_distances(box, others).min()) <= float(_distances(box, own[np.newaxis]).min())


def _distances(box: Bbox, points: Array) -> Array:
    """Compute the distance of points from a box [pixels]."""
    beyond = np.maximum(np.maximum(box.extents[:2] - points, points - box.extents[2:]), 0.0)
    distances: Array = np.hypot(beyond[:, 0], beyond[:, 1])
    return distances


def _moved(text: Annotation, place: _Place, renderer: RendererAgg) -> Bbox:
    text.set(ha=place.horizontal, va=place.vertical)
    text.xyann = (place.x, place.y)
    text.update_positions(renderer)  # applies the offset
    return Text.get_window_extent(text, renderer)  # without the leader


def _overlaps(box: Bbox, others: Array) -> Array:
    """Compute the areas that a box has in common with others [pixels]."""
    sides = np.minimum(box.extents[2:], others[:, 2:]) - np.maximum(box.extents[:2], others[:, :2])
    areas: Array = np.prod(np.maximum(sides, 0.0), axis=1)
    return areas


def _points(axes: Axes, panel: Panel) -> Iterator[Bbox]:
    half = POINT * _pixels(axes)
    for curve in panel.curves:
        for x, y in _shown(axes, curve.x, curve.y):
            yield Bbox.from_extents(x - half, y - half, x + half, y + half)


def _intervals(axes: Axes, panel: Panel) -> Iterator[Bbox]:
    """Give the boxes of the intervals of points, a pixel wide."""
    for curve in panel.curves:
        ends: list[tuple[Array | None, ...]] = []
        if _both(curve.low, curve.high):
            ends.append((curve.x, curve.low, curve.x, curve.high))
        if _both(curve.x_low, curve.x_high):
            ends.append((curve.x_low, curve.y, curve.x_high, curve.y))
        for x_low, y_low, x_high, y_high in ends:
            starts, stops = _shown(axes, x_low, y_low), _shown(axes, x_high, y_high)
            yield from (Bbox.from_extents(*start, *(stop + 1.0)) for start, stop in zip(starts, stops, strict=False))


def _both(low: Array | None, high: Array | None) -> bool:
    return low is not None and high is not None and bool(np.all(np.isfinite(low) & np.isfinite(high)))


def _shown(axes: Axes, x: Array | None, y: Array | None) -> Array:
    """Give the places of points on the picture [pixels], a row each; points without a place are left out."""
    pairs = np.column_stack([np.asarray(x, dtype=float), np.asarray(y, dtype=float)])
    shown: Array = axes.transData.transform(pairs[np.isfinite(pairs).all(axis=1)])
    return shown


def _pixels(axes: Axes) -> float:
    """Return the pixels of a point of print."""
    figure = axes.get_figure(root=True)
    return 1.0 if figure is None else float(figure.dpi) / 72.0
