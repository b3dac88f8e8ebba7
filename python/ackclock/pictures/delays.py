"""The distributions of a run's delays: how many packets take longer than a time."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pandas as pd

from ackclock.charts import Curve, Panel, StraightLine
from ackclock.pictures.parts import MOST_LINES
from ackclock.scenario import Resolved
from ackclock.wording import plural

LONGER: Final = "packets with a longer one [%]"
LEAST_PERCENT: Final = 0.01
PERCENTILES: Final = tuple(
    StraightLine(100.0 - percentile, f"p{percentile}", "limit", named="margin") for percentile in (50, 95, 99)
)


def delay_panels(resolved: Resolved, delays: pd.DataFrame, queues: Sequence[str]) -> tuple[Panel, ...]:
    """Draw the distributions of the flows' delays and of the waits at links, side by side.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    delays : DataFrame
        The distribution of delays: kind, name, delay_s, packets, in order of the delay.
    queues : sequence of str
        The links to draw, in the order of their colours.

    Returns
    -------
    tuple of Panel
        Round trips of the flows with TCP; of datagrams, where there are none, one-way delays. More than six flows are
        one curve. Then the waits at the links, if there are any to draw.
    """
    panels = [
        _panel(label, curves)
        for kind, label in (("rtt", "round trip [ms]"), ("delay", "one-way delay [ms]"))
        if (curves := tuple(_flow_curves(resolved, delays[delays["kind"] == kind])))
    ][:1]
    waits = delays[delays["kind"] == "wait"]
    links = [_curve(name, waits[waits["name"] == name], number) for number, name in enumerate(queues)]
    links = [curve for curve in links if len(curve.x) > 0]
    if links:
        panels.append(_panel("queueing delay at a link [ms]", links))
    return tuple(panels)


def _panel(label: str, curves: Sequence[Curve]) -> Panel:
    return Panel(label, LONGER, curves, lines=PERCENTILES, log_y=True, y_bottom=LEAST_PERCENT, y_top=100.0, own_x=True)


def _flow_curves(resolved: Resolved, rows: pd.DataFrame) -> Iterator[Curve]:
    names = [row.name for row in resolved.rows]
    found = set(rows["name"].unique())
    measured = [name for name in names if name in found]
    if len(measured) > MOST_LINES:
        yield _curve(f"all {plural(len(measured), 'flow')}", rows.sort_values("delay_s", kind="stable"), 0)
        return
    for name in measured:
        yield _curve(name, rows[rows["name"] == name], names.index(name))


def _curve(name: str, rows: pd.DataFrame, colour: int) -> Curve:
    """Draw the part of the packets that take longer than each value; it falls at the value."""
    delays, packets = rows["delay_s"].to_numpy(dtype=float), rows["packets"].to_numpy(dtype=float)
    if len(delays) == 0:
        return Curve(name, delays, packets, "step", colour)
    longer = np.maximum(packets.sum() - np.cumsum(packets), 0.0)
    # From the first value on, and to the foot at the last one.
    longer[-1] = 0.0
    shares = np.concatenate([[packets.sum()], longer]) / packets.sum() * 100.0
    shares = np.maximum(shares, LEAST_PERCENT / 10.0)
    return Curve(name, np.concatenate([delays[:1], delays]) * 1e3, shares, "step", colour)
