"""The state of the AQM of queues over time: counts of CoDel, probabilities, and averages of RED."""

from collections.abc import Iterator
from typing import Final

import pandas as pd

from ackclock.charts import Panel
from ackclock.pictures.parts import MOST_LINES, TIME, end_s, step_curve, warmup
from ackclock.scenario import Resolved

QUANTITIES: Final = {
    "count": "CoDel's count of drops",
    "probability": "drop probability",
    "average_packets": "average queue [packets]",
}
"""Columns of the trace that are drawn, and the labels of their axes."""
TITLE: Final = "AQM"
"""Title of the panels."""


def aqm_panels(resolved: Resolved, states: pd.DataFrame | None) -> list[Panel]:
    """Draw the states of AQMs: a panel for each quantity, a line for each queue.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    states : DataFrame, optional
        The trace `aqm`; its first replication is drawn.

    Returns
    -------
    list of Panel
        The panels of the quantities that some AQM has; of more than six queues those with the most rows are drawn.
    """
    if states is None or not len(states):
        return []
    return list(_panels(resolved, states[states["replication"] == states["replication"].min()]))


def _panels(resolved: Resolved, states: pd.DataFrame) -> Iterator[Panel]:
    numbers: dict[str, int] = {}  # a queue has one colour in all panels
    for column, label in QUANTITIES.items():
        rows = states.loc[states[column].notna(), ["link", "queue", "time_s", column]]
        if not len(rows):
            continue
        rows = rows.rename(columns={column: "value"}).astype({"link": str})
        names = rows["link"].where(rows["queue"] == 0, rows["link"] + " queue " + rows["queue"].astype(str))
        drawn = names.value_counts().index[:MOST_LINES]
        curves = [
            step_curve(str(name), rows[names == name], end_s(resolved), numbers.setdefault(str(name), len(numbers)))
            for name in sorted(drawn)
        ]
        yield Panel(TIME, label, curves, title=TITLE, spans=tuple(warmup(resolved)), x_range=(0.0, end_s(resolved)))
