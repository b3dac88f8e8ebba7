"""The picture of a run with the panels, the flows and the part of the run that the reader chooses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from ackclock.charts import Chart, Curve, Panel
from ackclock.pictures.delays import delay_panels
from ackclock.pictures.linked import PANEL_INCHES, STATES, linked_panels
from ackclock.pictures.overview import NOTHING, Measured
from ackclock.pictures.queues import longest_queues, rate_panel
from ackclock.pictures.states import lanes_panel
from ackclock.pictures.transfers import completion_panel, ping_panel
from ackclock.scenario import Resolved

if TYPE_CHECKING:
    from ackclock.prediction import ReferenceLine

TRACES_OF_PANELS: Final[Mapping[str, tuple[str, ...]]] = {
    "cwnd": ("cwnd", "state", "recovery"),
    "states": ("state",),
    "pacing": ("state",),
    "queue": ("queue",),
    "aqm": ("aqm",),
    "rtt": ("rtt",),
    "rate": ("sequence",),
    "sequence": ("sequence",),
    "link-rate": (),
    "ping": (),
    "delay": (),
    "completion": (),
    "delay-throughput": (),
}
"""The panels that can be chosen, by name, with the traces that each draws in addition to the overview."""
OVER_TIME: Final = frozenset(
    ("cwnd", "states", "pacing", "queue", "aqm", "rtt", "rate", "sequence", "link-rate", "ping")
)
"""The panels with a time axis."""
ABSENT: Final[Mapping[str, str]] = {
    "states": "no sender that is drawn has selective acknowledgment, or more than six do; choose some with flows=[...]",
    "pacing": "no sender that is drawn paces, or more than three do; choose some with flows=[...]",
    "queue": "no packet waited at any link",
    "aqm": "no queue has an AQM with a state",
    "rtt": "no round trip was measured",
    "rate": "no sender with TCP is drawn",
    "sequence": "no sender with TCP is drawn",
    "link-rate": "the rate of no link changes",
    "ping": "no ping came back",
    "delay": "no delays were measured; run.delays was off, or the result is an older one",
    "completion": "fewer than ten transfers completed",
    "delay-throughput": "no delays were measured; run.delays was off, or the result is an older one",
}
"""The reason for which a run does not have a panel."""
_OF_FLOWS: Final = ("cwnd", "acked", "ping")
"""Kinds of rows of the overview that have the name of a flow."""
_MBIT: Final = 1e6
_MS: Final = 1e-3


@dataclass(frozen=True)
class Choice:
    """Selection of what a picture of a run shows.

    Parameters
    ----------
    panels : tuple of str
        Names out of `TRACES_OF_PANELS`, in the order in which they are drawn.
    between : pair of float, optional
        Begin and end of the part of the run [s].
    flows : tuple of str, optional
        Names of the flows, of a group `name` or `name[3]`; all by default.
    """

    panels: tuple[str, ...]
    between: tuple[float, float] | None = None
    flows: tuple[str, ...] | None = None


class AbsentPanelError(Exception):
    """A panel that a run does not have; its argument says why."""


def chosen_chart(  # noqa: PLR0913  of a result all that it draws
    resolved: Resolved,
    traces: Mapping[str, pd.DataFrame],
    rows: Sequence[Mapping[str, Any]],
    choice: Choice,
    *,
    measured: Measured = NOTHING,
    reference_lines: "Sequence[ReferenceLine]" = (),
) -> Chart:
    """Draw the chosen panels of a run, one below the other.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    traces : mapping of str to DataFrame
        Its traces, among them the overview and what `TRACES_OF_PANELS` names.
    rows : sequence of dict
        The flows of its summary.
    choice : Choice
        What is shown.
    measured : Measured
        Its distributions.
    reference_lines : sequence of ReferenceLine, optional
        What the theory says of windows, queues and rates.

    Raises
    ------
    AbsentPanelError
        If the run does not have a panel.
    """
    drawn = resolved if choice.flows is None else _narrowed(resolved, choice.flows)
    names = set(drawn.flow_names) | {flow.name for flow in drawn.flows}
    if choice.flows is not None:
        traces = {name: _of_flows(frame, names) for name, frame in traces.items()}
    linked = linked_panels(resolved, drawn, traces, reference_lines)
    queues, times = longest_queues(traces["overview"]), measured.completion_times
    others: dict[str, Callable[[], Panel | None]] = {
        "states": lambda: lanes_panel(drawn, traces.get("state"), STATES),
        "link-rate": lambda: rate_panel(resolved, traces["overview"], queues),
        "ping": lambda: ping_panel(resolved, traces["overview"]),
        "delay": lambda: _delays(drawn, measured.delays, names),
        "completion": lambda: None if times is None else completion_panel(times),
        "delay-throughput": lambda: delay_throughput_panel([row for row in rows if row["name"] in names]),
    }
    panels = []
    for name in choice.panels:
        if name == "aqm" and "aqm0" in linked:
            panels += [panel for key, panel in linked.items() if key.startswith("aqm")]
            continue
        panel = others[name]() if name in others else linked.get(name)
        if panel is None:
            raise AbsentPanelError(f"panel {name}: {ABSENT[name]}")
        panels.append(panel if name in OVER_TIME else replace(panel, own_x=True))
    if choice.between is not None:
        panels = [panel if panel.own_x else _clipped(panel, *choice.between) for panel in panels]
    height = max(PANEL_INCHES * len(panels), 5.0)
    return Chart(resolved.title, panels, share_x=True, legend="panel", size_inches=(12.0, height))


def delay_throughput_panel(rows: Sequence[Mapping[str, Any]]) -> Panel | None:
    """Draw the throughput of each flow against the 95th percentile of its round trips, or of its one-way delays.

    Parameters
    ----------
    rows : sequence of dict
        The flows of a summary.

    Returns
    -------
    Panel or None
        A point a flow, with both intervals; None if no delays were measured.
    """
    kinds = (("rtt", "round trip"), ("delay", "one-way delay"))
    found = ((key, title) for key, title in kinds if any(_known(row.get(f"{key}_p95_s")) for row in rows))
    kind = next(found, None)
    if kind is None:
        return None
    key, title = kind
    curves = [_point(number, row, f"{key}_p95_s") for number, row in enumerate(rows) if _known(row.get(f"{key}_p95_s"))]
    return Panel(f"{title}, 95th percentile [ms]", "throughput [Mbit/s]", curves)


def _known(found: Mapping[str, Any] | None) -> bool:
    return found is not None and found["mean"] is not None


def _point(number: int, row: Mapping[str, Any], delay: str) -> Curve:
    x, x_low, x_high = _ends(row[delay], _MS)
    y, low, high = _ends(row["throughput_bps"], _MBIT)
    name = str(row["name"])
    return Curve(name, x, y, "marks", number, low, high, x_low, x_high, notes=[name])


def _ends(found: Mapping[str, Any], unit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    values = (found["mean"], found["low"], found["high"])
    mean, low, high = (np.array([np.nan if value is None else value / unit]) for value in values)
    return mean, low, high


def _narrowed(resolved: Resolved, names: Sequence[str]) -> Resolved:
    """Return the scenario with some of its flows alone, in its order; a group's name means all of the group."""
    chosen = set(names)
    flows = [
        single
        for flow in resolved.flows
        for single in ([flow] if flow.name in chosen else flow.singles())
        if single.name in chosen
    ]
    return replace(resolved, flows=tuple(flows))


def _of_flows(frame: pd.DataFrame, names: set[str]) -> pd.DataFrame:
    """Return the rows of some flows, and those of links."""
    if "flow" in frame:
        return frame[frame["flow"].isin(names)]
    if "kind" not in frame:
        return frame
    return frame[frame["name"].isin(names) | ~frame["kind"].isin(_OF_FLOWS)]


def _delays(resolved: Resolved, distribution: pd.DataFrame | None, names: set[str]) -> Panel | None:
    """Draw the distribution of the flows' delays, and not of the waits at links."""
    if distribution is None:
        return None
    panels = delay_panels(resolved, distribution[distribution["name"].isin(names)], ())
    return panels[0] if panels else None


def _clipped(panel: Panel, start: float, end: float) -> Panel:
    """Show a part of a panel: its y axis is then that of the part."""
    return replace(
        panel,
        curves=[part for curve in panel.curves if len((part := _part(curve, start, end)).x)],
        events=[replace(one, x=one.x[(one.x >= start) & (one.x <= end)]) for one in panel.events],
        spans=[
            replace(one, start=max(one.start, start), end=min(one.end, end))
            for one in panel.spans
            if one.end > start and one.start < end
        ],
        x_range=(start, end),
        from_zero=panel.from_zero and panel.y_label != "packet number",
    )


def _part(curve: Curve, start: float, end: float) -> Curve:
    """Cut a curve; a value that holds until the next begins and ends at the ends."""
    x = np.asarray(curve.x, dtype=float)
    if curve.kind not in {"step", "step-guide", "step-band"} or not len(x):
        return _picked(curve, (x >= start) & (x <= end))
    first = max(0, int(np.searchsorted(x, start, side="right")) - 1)
    last = int(np.searchsorted(x, end, side="right"))
    picked = _picked(curve, slice(first, last))
    kept = np.clip(picked.x, start, None)
    if not len(kept):
        return picked
    both: dict[str, Any] = {name: values for name in ("low", "high") if (values := getattr(picked, name)) is not None}
    held: dict[str, Any] = {name: np.append(values, values[-1:]) for name, values in both.items()}
    return replace(picked, x=np.append(kept, end), y=np.append(picked.y, picked.y[-1:]), **held)


def _picked(curve: Curve, which: Any) -> Curve:
    ends = ("low", "high", "x_low", "x_high")
    cut: dict[str, Any] = {}
    for name in ("x", "y", *ends):
        values = getattr(curve, name)
        cut[name] = None if values is None else np.asarray(values)[which]
    return replace(curve, **cut)
