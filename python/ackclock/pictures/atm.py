"""The panels of ATM channels: allowed cell rates and cells that wait in ports."""

from typing import Final

import numpy as np
import pandas as pd

from ackclock.charts import Panel
from ackclock.pictures.parts import MOST_LINES, TIME, by_name, end_s, step_curve, warmup
from ackclock.scenario import Resolved
from ackclock.wording import seconds

CELL_BINS: Final = 300
SETTLED: Final = 0.01
"""Relative distance from its last value within which a rate has settled."""
LEAST_MAGNIFICATION: Final = 1.5


def rate_panel(resolved: Resolved, rates: pd.DataFrame) -> Panel:
    """Draw the allowed cell rates until all of them settle; of many, one for each rate that they come to."""
    channels = {name: rows for name, rows in by_name(rates).items() if len(rows) > 1}
    end = end_s(resolved)
    curves = [
        step_curve(
            name if len(group) == 1 else f"{name} and {len(group) - 1} alike",
            channels[name].assign(value=channels[name]["value"] / 1e6),
            end,
            number,
        )
        for number, (name, group) in enumerate(list(_alike(channels).items())[:MOST_LINES])
    ]
    settled = max((_settles_s(rows) for rows in channels.values()), default=end)
    shown = min(end, LEAST_MAGNIFICATION * settled) if settled < end / LEAST_MAGNIFICATION else end
    return Panel(
        TIME,
        "allowed cell rate [Mbit/s]",
        curves,
        "Allowed cell rates at the ends of the channels",
        x_range=(0.0, shown),
        dashed=True,
    )


def _alike(channels: dict[str, pd.DataFrame]) -> dict[str, list[str]]:
    """Group channels by the rate that they come to, if there are more than colours; by the first one's name."""
    groups: dict[str, list[str]] = {}
    for name, rows in channels.items():
        last = float(rows["value"].iloc[-1])
        same = (first for first in groups if abs(last / float(channels[first]["value"].iloc[-1]) - 1.0) < SETTLED)
        key = next(same, name) if len(channels) > MOST_LINES else name
        groups.setdefault(key, []).append(name)
    return groups


def _settles_s(rows: pd.DataFrame) -> float:
    """Return the time from which on a value stays near its last one [s]."""
    off = np.flatnonzero(np.abs(rows["value"] / rows["value"].iloc[-1] - 1.0) > SETTLED)
    return float(rows["time_s"].iloc[min(off[-1] + 1, len(rows) - 1)]) if len(off) else 0.0


def cell_panel(resolved: Resolved, cells: pd.DataFrame) -> Panel:
    """Draw the longest queue of cells within each short time, for the ports with the longest ones."""
    end = end_s(resolved)
    edges = np.linspace(0.0, end, CELL_BINS + 1)
    ports = by_name(cells)
    names = sorted(ports, key=lambda name: -float(ports[name]["value"].max()))[:MOST_LINES]
    curves = [step_curve(name, _longest(ports[name], edges), end, number) for number, name in enumerate(names)]
    return Panel(
        TIME,
        "cell queue [cells]",
        curves,
        f"Cells in ports, the most in each {seconds(end / CELL_BINS)}",
        spans=warmup(resolved),
        x_range=(0.0, end),
        y_whole=True,
        dashed=True,
    )


def _longest(rows: pd.DataFrame, edges: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> pd.DataFrame:
    """Return the largest value between each two edges; 0 if it has none."""
    bins = len(edges) - 1
    index = np.minimum(np.searchsorted(edges, rows["time_s"], side="right") - 1, bins - 1)
    most = pd.Series(rows["value"].to_numpy()).groupby(index).max().reindex(range(bins), fill_value=0.0)
    return pd.DataFrame({"time_s": edges[:-1], "value": most.to_numpy()})
