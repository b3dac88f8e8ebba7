"""The picture of a run."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from ackclock.charts import Chart
from ackclock.pictures.aqm import aqm_panels
from ackclock.pictures.delays import delay_panels
from ackclock.pictures.dropped import drop_events
from ackclock.pictures.magnified import is_magnified, magnified_chart
from ackclock.pictures.parts import finishes, named_lines, shown_until_s, window_panel
from ackclock.pictures.queues import longest_queues, queue_panel, rate_panel
from ackclock.pictures.states import state_panels
from ackclock.pictures.transfers import completion_panel, ping_panel
from ackclock.scenario import Resolved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.prediction import ReferenceLine

SIZE_INCHES = (12.0, 8.0)
PANEL_INCHES = 3.0
"""Height of each panel beyond two."""
BELOW_INCHES = 4.0
"""Height of the distributions below."""


@dataclass(frozen=True)
class Measured:
    """Tables of a result that its picture draws in addition to the overview, if they are there.

    Parameters
    ----------
    completion_times : DataFrame, optional
        Buckets of completion times, as `Result.completion_times` has them.
    delays : DataFrame, optional
        The distribution of delays; below the other panels, how many packets take longer than a time.
    states : DataFrame, optional
        The trace of senders' states; bands behind the cwnd of one sender, lanes of several, and rates that are paced.
    aqm : DataFrame, optional
        The trace of the states of queues' AQMs; a panel for each quantity, of the first replication.
    """

    completion_times: pd.DataFrame | None = None
    delays: pd.DataFrame | None = None
    states: pd.DataFrame | None = None
    aqm: pd.DataFrame | None = None


NOTHING = Measured()


def overview_chart(
    resolved: Resolved,
    overview: pd.DataFrame,
    reference_lines: "Sequence[ReferenceLine]" = (),
    measured: Measured = NOTHING,
) -> Chart:
    """Draw each flow's cwnd, the queues of the links where packets waited, rates that change, pings, completion times.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    overview : DataFrame
        The overview trace: kind ("cwnd", "queue", "drop", ...), name, time_s, value, in order of time.
    reference_lines : sequence of ReferenceLine, optional
        What the theory says of windows and queues: a dashed line each, named at the right.
    measured : Measured
        Other tables that are drawn.

    Returns
    -------
    Chart
        Of more than six flows those of groups become a band from the lowest to the highest cwnd; of more than six
        queues the longest are drawn. The time axis ends soon after the last of transfers that all end early. If the
        overview magnifies the run's end, it is the chart of `magnified_chart`.
    """
    if is_magnified(overview):
        return magnified_chart(resolved, overview, reference_lines)
    queues = longest_queues(overview)
    windows = named_lines(line for line in reference_lines if line.kind == "cwnd")
    panels = [window_panel(resolved, overview, lines=windows)]
    if queues:
        waiting = named_lines(line for line in reference_lines if line.kind == "queue" and line.name in queues)
        panels.append(queue_panel(resolved, overview, queues, lines=waiting))
    else:
        panels = [replace(panels[0], events=drop_events(resolved, overview, ()))]
    rates = rate_panel(resolved, overview, queues)
    panels += [] if rates is None else [rates]
    if measured.states is not None and len(measured.states):
        panels[:1] = state_panels(resolved, measured.states, panels[0], finishes(overview))
    panels += aqm_panels(resolved, measured.aqm)
    pings = ping_panel(resolved, overview)
    panels += [] if pings is None else [pings]
    completions = None if measured.completion_times is None else completion_panel(measured.completion_times)
    below = [] if measured.delays is None else [*delay_panels(resolved, measured.delays, queues)]
    below += [] if completions is None else [replace(completions, own_x=True)]
    width, height = SIZE_INCHES
    size = (width, height + PANEL_INCHES * (len(panels) - 2 if len(panels) > 2 else 0) + BELOW_INCHES * bool(below))
    columns = max(1, len(below))
    shown = (0.0, shown_until_s(resolved, overview))
    wide = [replace(panel, columns=columns, x_range=shown) for panel in panels]
    return Chart(resolved.title, [*wide, *below], columns, share_x=True, legend="panel", size_inches=size)
