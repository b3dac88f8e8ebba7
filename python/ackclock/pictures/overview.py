"""The picture of a run."""

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from ackclock.charts import Chart
from ackclock.pictures.magnified import is_magnified, magnified_chart
from ackclock.pictures.parts import named_lines, window_panel
from ackclock.pictures.queues import drop_events, longest_queues, queue_panel
from ackclock.scenario import Resolved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.prediction import ReferenceLine

SIZE_INCHES = (12.0, 8.0)


def overview_chart(
    resolved: Resolved, overview: pd.DataFrame, reference_lines: "Sequence[ReferenceLine]" = ()
) -> Chart:
    """Draw each flow's cwnd and the queues of the links where packets waited, on one time axis.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    overview : DataFrame
        The overview trace: kind ("cwnd", "queue", "drop", ...), name, time_s, value, in order of time.
    reference_lines : sequence of ReferenceLine, optional
        What the theory says of windows and queues: a dashed line each, named at the right.

    Returns
    -------
    Chart
        Of more than six flows those of groups become a band from the lowest to the highest cwnd; of more than six
        queues the longest are drawn. If the overview magnifies the run's end, it is the chart of `magnified_chart`.
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
        panels = [replace(panels[0], events=drop_events(overview, ()))]
    return Chart(resolved.title, panels, share_x=True, legend="panel", size_inches=SIZE_INCHES)
