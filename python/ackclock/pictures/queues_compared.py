"""The picture of queues that were compared: throughput and fairness against the delay."""

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Final

import numpy as np

from ackclock.charts import Chart, Curve, Panel

if TYPE_CHECKING:
    from ackclock.advice.queue_records import QueueAlternative
    from ackclock.stats import Estimate

DELAY = "queueing delay, 95th percentile [ms]"
LIGHT = "light_p95_s"
# From 0 a few percent of throughput would not be seen.
PANELS: Final[Sequence[tuple[str, str, float | None, bool]]] = (
    ("throughput_bps", "throughput", None, False),
    ("reverse_throughput_bps", "throughput in the other direction", None, False),
    ("slowdown_mean", "slowdown of transfers", 1.0, False),
    ("fairness_index", "fairness between flows (Jain)", 1.0, True),
    (LIGHT, "queueing delay of light flows, 95th percentile [ms]", 1e3, True),
)
"""The quantities drawn against the delay: name, label, scale (rates choose theirs), whether the axis begins at 0."""
GIGA: Final = 1e9
MOST_NAMES: Final = 8
"""Most queues whose names have room next to their points; points of more have numbers, which the legend explains."""


def queues_chart(title: str, place: str, rows: "Sequence[QueueAlternative]") -> Chart:
    """Draw each queue as a point with its name or number: throughput against delay, and fairness where there is one.

    Parameters
    ----------
    title : str
        The scenario's.
    place : str
        The link.
    rows : sequence of QueueAlternative
        The queues.

    Returns
    -------
    Chart
        Points with their intervals; the chosen queue is named so.
    """
    # Delays of a full buffer and of an AQM are often decades apart; a logarithm has no place for 0.
    is_log = all((row.wait_p95_s["mean"] or 0.0) > 0.0 for row in rows)
    panels: list[Panel] = []
    for key, words, fixed, from_zero in PANELS:
        means = [mean for row in rows if (mean := getattr(row, key)["mean"]) is not None]
        if means:
            # The first rates are the only ones, of whatever direction.
            label, scale = (words, fixed) if fixed else _rate_scale(words if panels else PANELS[0][1], max(means))
            points = _points(rows, key, scale)
            is_high_log = key == LIGHT and all((row.light_p95_s["mean"] or 0.0) > 0.0 for row in rows)
            panels.append(Panel(DELAY, label, points, log_x=is_log, log_y=is_high_log, from_zero=from_zero))
    columns = min(len(panels), 2)
    size = (max(8.0 * columns, 10.0), 7.0 * ceil(len(panels) / columns))
    return Chart(f"{title}: queues at {place}", panels, columns=columns, size_inches=size)


def _rate_scale(words: str, most_bps: float) -> tuple[str, float]:
    """Give the label and the scale of rates up to the largest one."""
    return (f"{words} [Gbit/s]", 1.0 / GIGA) if most_bps >= GIGA else (f"{words} [Mbit/s]", 1e-6)


def _points(rows: "Sequence[QueueAlternative]", key: str, scale: float) -> list[Curve]:
    return [_point(index, row, getattr(row, key), scale, len(rows)) for index, row in enumerate(rows)]


def _point(index: int, row: "QueueAlternative", height: "Estimate", scale: float, queues: int) -> Curve:
    x, x_low, x_high = _scaled(row.wait_p95_s, 1e3)
    y, low, high = _scaled(height, scale)
    chosen = " (chosen)" if row.is_chosen else ""
    name = note = f"{row.name}{chosen}"
    if queues > MOST_NAMES:
        name, note = f"{index + 1}: {name}", f"{index + 1}{chosen}"
    return Curve(name, x, y, "marks", index, low, high, x_low, x_high, notes=[note])


def _scaled(found: "Estimate", scale: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    mean, low, high = (
        np.array([np.nan if value is None else scale * value]) for value in (found["mean"], found["low"], found["high"])
    )
    return mean, low, high
