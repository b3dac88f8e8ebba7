"""The picture of a run in which data of some flows meet the ACKs of others, over plain links or ATM channels.

ACKs come in bunches and cause bursts that last less than a round trip, so the last ones are magnified.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pandas as pd

from ackclock.charts import Chart, Panel, StraightLine
from ackclock.overview import DROP, DROP_OR_LOSS, LOSS
from ackclock.pictures.atm import cell_panel, rate_panel
from ackclock.pictures.line_end import end_panels
from ackclock.pictures.parts import (
    MOST_THEORY_LINES,
    TIME,
    by_name,
    end_s,
    flow_curves,
    grid,
    held,
    of_kind,
    theory_lines,
    warmup,
    window_panel,
)
from ackclock.pictures.queues import longest_queues, queue_panel
from ackclock.scenario import Resolved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.prediction import ReferenceLine

WIDTH_INCHES: Final = 12.0
ROW_INCHES: Final = 4.0
UNSTEADY: Final = 0.2
"""Relative difference of the queues of the first and of the last quarter above which they have a panel."""


def is_magnified(overview: pd.DataFrame) -> bool:
    """Return whether the overview has what `magnified_chart` draws."""
    return bool((overview["kind"] == "acked").any())


def magnified_chart(
    resolved: Resolved, overview: pd.DataFrame, reference_lines: "Sequence[ReferenceLine]" = ()
) -> Chart:
    """Draw windows and throughput of the whole run, rates and cells of ATM channels, queue and data of the run's end.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    overview : DataFrame
        The overview trace: kind, name, time_s, value, in order of time.
    reference_lines : sequence of ReferenceLine, optional
        What the theory says of throughput and queues: dashed lines.

    Returns
    -------
    Chart
        Rows of two panels: cwnd and throughput averaged from t = 0; with ATM channels, the allowed cell rates until
        they settle and the longest cell queues; the queues at both ends of the line with the longest one, and what its
        flows had acknowledged. If packets were dropped, or a queue of a plain line grows or drains, the queues of the
        whole run are between.
    """
    panels = [_windows(resolved, overview), _throughput(resolved, overview, reference_lines)]
    atm = of_kind(overview, "acr")
    if len(atm):
        panels += [rate_panel(resolved, atm), cell_panel(resolved, of_kind(overview, "cell_queue"))]
    elif _is_unsteady(resolved, overview):
        panels.append(_whole_queues(resolved, overview))
    panels += end_panels(resolved, overview, reference_lines)
    rows = sum(panel.columns for panel in panels) // 2
    size = (WIDTH_INCHES, ROW_INCHES * rows)
    return Chart(resolved.title, panels, 2, legend="panel", size_inches=size)


def _windows(resolved: Resolved, overview: pd.DataFrame) -> Panel:
    windows = {tcp.sender.max_window for flow in resolved.flows if (tcp := flow.connection) is not None}
    limits = sorted(window for window in windows if window is not None)
    lines = [StraightLine(float(limit), "receiver's window", "limit") for limit in limits[:MOST_THEORY_LINES]]
    return replace(window_panel(resolved, overview, "Congestion windows", lines), dashed=True)


def _throughput(resolved: Resolved, overview: pd.DataFrame, reference_lines: "Sequence[ReferenceLine]") -> Panel:
    """Draw the throughput averaged from t = 0 [two-way, figure 5.8]."""
    acked = by_name(of_kind(overview, "acked"))
    times = grid(resolved)[1:]
    curves = {
        name: pd.DataFrame({"time_s": times, "value": held(acked[name], times) * flow.packet_bytes * 8e-6 / times})
        for flow in resolved.flows
        for name in flow.names
        if name in acked
    }
    theory = [line.value / 1e6 for line in reference_lines if line.kind == "throughput"]
    return Panel(
        TIME,
        "throughput [Mbit/s]",
        flow_curves(resolved, curves),
        "Throughput, averaged from t = 0",
        theory_lines(theory, "theory, {} Mbit/s"),
        spans=warmup(resolved),
        x_range=(0.0, end_s(resolved)),
        dashed=True,
    )


def _is_unsteady(resolved: Resolved, overview: pd.DataFrame) -> bool:
    """Return whether packets were dropped, or the longest queue is another at the end of the run."""
    if overview["kind"].isin([DROP, LOSS, DROP_OR_LOSS]).any():
        return True
    queued, begin, end = of_kind(overview, "queue"), resolved.run.warmup_s, end_s(resolved)
    quarter = (end - begin) / 4.0
    early, late = (
        float(queued[queued["time_s"].between(since, since + quarter)]["value"].max())
        for since in (begin, end - quarter)
    )
    return abs(late - early) > UNSTEADY * max(late, early)


def _whole_queues(resolved: Resolved, overview: pd.DataFrame) -> Panel:
    return replace(queue_panel(resolved, overview, longest_queues(overview), "Queues"), columns=2)
