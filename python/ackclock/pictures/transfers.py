"""Round trips of pings over time, and the distribution of completion times."""

from typing import Final

import numpy as np
import pandas as pd

from ackclock.charts import Curve, Panel
from ackclock.pictures.parts import MOST_LINES, TIME, by_name, end_s, of_kind, warmup
from ackclock.scenario import Resolved
from ackclock.wording import plural

LEAST_TRANSFERS: Final = 10
"""Transfers of a [[flow]] below which their distribution is not drawn."""
MS: Final = 1e-3


def ping_panel(resolved: Resolved, overview: pd.DataFrame) -> Panel | None:
    """Draw the round trips of pings over time; None if no ping came back.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    overview : DataFrame
        The overview trace, which holds the least and the largest round trip of each interval.
    """
    pings = by_name(of_kind(overview, "ping"))
    curves = [
        Curve(name, rows["time_s"].to_numpy(dtype=float), rows["value"].to_numpy(dtype=float) / MS, "step", number)
        for number, (name, rows) in enumerate(list(pings.items())[:MOST_LINES])
    ]
    if not curves:
        return None
    return Panel(TIME, "RTT of pings [ms]", curves, spans=warmup(resolved), x_range=(0.0, end_s(resolved)))


def completion_panel(completion_times: pd.DataFrame) -> Panel | None:
    """Draw the fraction of transfers that completed within a time; None if they are few.

    Parameters
    ----------
    completion_times : DataFrame
        The buckets of each [[flow]], as `Result.completion_times` has them; replications are merged.
    """
    fct = completion_times[completion_times["quantity"] == "fct"]
    counted = fct.groupby(["flow", "high"], observed=True)["count"].sum()
    shortest = fct.groupby("flow", observed=True)["low"].min()
    curves = []
    for number, name in enumerate(counted.index.unique("flow")[:MOST_LINES]):
        own = counted.loc[name]
        total = int(own.sum())
        if total >= LEAST_TRANSFERS:
            # From 0 on: the curve of transfers that are all in one bucket is a step.
            times = np.array([shortest[name], *own.index])
            fractions = np.array([0.0, *np.cumsum(own.to_numpy(dtype=float))]) / total
            label = f"{name}: {plural(total, 'transfer')}"
            curves.append(Curve(label, times, fractions, "step", number))
    if not curves:
        return None
    return Panel("flow completion time [s]", "fraction of transfers", curves, log_x=True, y_top=1.02)
