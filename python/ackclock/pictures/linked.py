"""The picture of a run as panels over one time axis: windows, queues, round trips, rates, and packets by number.

The first two are those of the overview; the others need the traces `cwnd`, `rtt` and `sequence`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Events, Panel, SecondScale, Span, StraightLine
from ackclock.paths import empty_round_trip_s
from ackclock.pictures.aqm import aqm_panels
from ackclock.pictures.dropped import drop_events
from ackclock.pictures.parts import (
    MOST_LINES,
    TIME,
    end_s,
    finishes,
    flow_curves,
    named_lines,
    step_curve,
    warmup,
    window_panel,
)
from ackclock.pictures.queues import longest_queues, queue_panel
from ackclock.pictures.states import state_panels
from ackclock.scenario import Resolved, ResolvedFlow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.prediction import ReferenceLine

WINDOWS, STATES, PACING, QUEUES, ROUND_TRIPS, RATES, SEQUENCE = (
    "Congestion window",
    "States of the senders",
    "Pacing and delivery",
    "Queues",
    "Round trips",
    "Rates",
    "Packets by number",
)
"""Titles of the panels, by which a page finds them."""
MOST_SSTHRESH: Final = 2
"""Largest number of flows whose slow start thresholds are drawn."""
RATE_INTERVALS: Final = 240
"""Number of intervals of a run over which rates are averaged."""
SLOW_START: Final = 2
RECOVERY: Final = 5
TIMEOUT: Final = 1
MBIT: Final = 1e6
PANEL_INCHES: Final = 3.2
"""Height of a panel."""
_RETRANSMITTED: Final = "retransmitted"
_ACKNOWLEDGED: Final = "acknowledged"


def linked_chart(
    resolved: Resolved,
    traces: Mapping[str, pd.DataFrame],
    reference_lines: "Sequence[ReferenceLine]" = (),
) -> Chart:
    """Draw what happened over time in panels one below the other, all with the time axis of the run.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    traces : mapping of str to DataFrame
        Traces of the run by name: `overview`, and of `queue`, `cwnd`, `aqm`, `state`, `recovery`, `sequence`, `rtt`
        or `rounds` those that were recorded. The first replication is drawn.
    reference_lines : sequence of ReferenceLine, optional
        What the theory says of windows, queues and rates: a dashed line each, named at its end.

    Returns
    -------
    Chart
        A panel for each quantity that was recorded; `states` and `payload rate` follow the windows if there are some.
    """
    panels = list(linked_panels(resolved, resolved, traces, reference_lines).values())
    return Chart(resolved.title, panels, share_x=True, legend="panel", size_inches=(12.0, PANEL_INCHES * len(panels)))


def linked_panels(
    resolved: Resolved,
    drawn: Resolved,
    traces: Mapping[str, pd.DataFrame],
    reference_lines: "Sequence[ReferenceLine]" = (),
) -> dict[str, Panel]:
    """Draw the panels of `linked_chart`, by name: cwnd, states, pacing, queue, rtt, rate, sequence.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    drawn : Resolved
        The same, or with some of its flows alone, which are those that are drawn.
    traces, reference_lines
        As for `linked_chart`; of the flows that are drawn.
    """
    first = {name: frame if name == "overview" else _first(frame) for name, frame in traces.items()}
    overview = _with_each_change(first["overview"], first.get("queue"))
    queues = longest_queues(overview)
    panels = dict(_window_panels(drawn, first, reference_lines))
    if queues:
        lines = named_lines(line for line in reference_lines if line.kind == "queue" and line.name in queues)
        panel = queue_panel(resolved, overview, queues, QUEUES, lines)
        panels["queue"] = replace(panel, second=_delay_scale(resolved, queues[0]))
    else:
        panels["cwnd"] = replace(panels["cwnd"], events=drop_events(resolved, overview, ()))
    for number, panel in enumerate(aqm_panels(resolved, first.get("aqm"))):
        panels[f"aqm{number}"] = panel
    round_trips = first.get("rtt", first.get("rounds"))
    if round_trips is not None and len(round_trips):
        label = "round trip" if "rtt" in first else "round trip, repairs included"
        panels["rtt"] = _round_trips(drawn, round_trips, finishes(overview), f"{label} [ms]")
    if "sequence" in first and len(first["sequence"]):
        panels["rate"] = _rates(drawn, first["sequence"], reference_lines)
        panels["sequence"] = _numbers(drawn, first["sequence"], drop_events(resolved, overview, queues))
    return panels


def _with_each_change(overview: pd.DataFrame, queue: pd.DataFrame | None) -> pd.DataFrame:
    """Put each change of each queue in the place of the extremes of intervals, if it was recorded."""
    if queue is None:
        return overview
    rows = pd.DataFrame(
        {
            "kind": pd.Categorical.from_codes(np.zeros(len(queue), dtype=np.int64), categories=pd.Index(["queue"])),
            "name": queue["link"],
            "time_s": queue["time_s"],
            "value": queue["packets"].astype(float),
        }
    )
    others = overview[overview["kind"] != "queue"]
    return pd.concat([others.astype({"kind": str, "name": str}), rows.astype({"kind": str, "name": str})])


def _first(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the first replication."""
    if "replication" not in frame or not len(frame):
        return frame
    numbers = frame["replication"].to_numpy()
    return frame if numbers[0] == numbers[-1] else frame[numbers == numbers[0]]


def _window_panels(
    resolved: Resolved, traces: Mapping[str, pd.DataFrame], reference_lines: "Sequence[ReferenceLine]"
) -> Iterator[tuple[str, Panel]]:
    """Give the panel of the windows with its name, then those of the states of senders."""
    lines = named_lines(line for line in reference_lines if line.kind == "cwnd")
    panel = window_panel(resolved, traces["overview"], WINDOWS, lines)
    windows = traces.get("cwnd")
    ends = finishes(traces["overview"])
    if windows is not None and len(windows):
        panel = replace(panel, curves=(*_thresholds(resolved, windows, ends), *panel.curves))
        if len(resolved.flow_names) == 1:
            end = ends.get(resolved.flow_names[0], end_s(resolved))
            spans, marks = _phases(resolved, windows, traces, end)
            panel = replace(panel, spans=(*panel.spans, *spans), curves=(*panel.curves, *marks))
    states = traces.get("state")
    if states is None or not len(states):
        yield "cwnd", panel
        return
    titled = {"state": ("states", STATES), "payload rate [Mbit/s]": ("pacing", PACING)}
    windows_and_states = state_panels(resolved, states, panel, ends)
    yield "cwnd", windows_and_states[0]
    for one in windows_and_states[1:]:
        name, title = titled[one.y_label]
        yield name, replace(one, title=title)


def _delay_scale(resolved: Resolved, link: str) -> SecondScale | None:
    """Give the time that a queue takes to drain as its second scale, if data of one size wait, in order, at one rate.

    A rate that changes has no such time, a token bucket lets a burst go at once (its `service_s` is 0), and where
    several queues are served in turn or by priority a packet may wait for more than those that came before it.
    """
    index = next(index for index, element in enumerate(resolved.elements) if element.name == link)
    process = resolved.elements[index].rate_process
    if (process is not None and process.law.changes) or not resolved.elements[index].queue.is_fifo:
        return None
    sizes = {flow.packet_bytes for flow in resolved.flows if index in flow.path and flow.kind != "ping"}
    service_s = resolved.elements[index].service_s(max(sizes, default=0))
    if len(sizes) != 1 or service_s <= 0.0 or any(index in flow.return_path for flow in resolved.flows):
        return None
    return SecondScale(f"delay at {link} [ms]", service_s * 1e3)


def _by_flow(rows: pd.DataFrame, column: str, kind: str | None = None) -> dict[str, pd.DataFrame]:
    """Return the times and values of a column for each flow that has any, of one kind of rows if it is given."""
    codes, times, values = rows["flow"].cat.codes.to_numpy(), rows["time_s"].to_numpy(), rows[column].to_numpy()
    if kind is not None:
        chosen = rows["kind"].cat.codes.to_numpy() == rows["kind"].cat.categories.get_loc(kind)
        codes, times, values = codes[chosen], times[chosen], values[chosen]
    names = rows["flow"].cat.categories
    found = {}
    for code in np.flatnonzero(np.bincount(codes, minlength=1)).tolist():
        own = codes == code
        found[str(names[code])] = pd.DataFrame({"time_s": times[own], "value": values[own]}, copy=False)
    return found


def _thresholds(resolved: Resolved, windows: pd.DataFrame, ends: Mapping[str, float]) -> Iterator[Curve]:
    """Draw the slow start threshold of each flow, if they are few; the first one, which limits nothing, is left out."""
    flows = _by_flow(windows, "ssthresh")
    if len(flows) > MOST_SSTHRESH:
        return
    most = 2.0 * float(windows["cwnd"].max())
    for name, own in flows.items():
        known = own[own["value"].to_numpy() <= most]
        if len(known):
            label = "ssthresh" if len(flows) == 1 else f"ssthresh of {name}"
            yield replace(
                _changes(step_curve(label, known, ends.get(name, end_s(resolved)), 0)), kind="step-guide", colour=None
            )


def _changes(curve: Curve) -> Curve:
    """Leave out the points at which a value that holds until the next stays."""
    kept = np.append(True, curve.y[1:] != curve.y[:-1])
    kept[-1] = True
    return replace(curve, x=curve.x[kept], y=curve.y[kept])


def _phases(
    resolved: Resolved, own: pd.DataFrame, traces: Mapping[str, pd.DataFrame], end: float
) -> tuple[list[Span], list[Curve]]:
    """Shade slow start and, of the senders without a trace of states, fast recovery; mark their timeouts."""
    times = own["time_s"].to_numpy(dtype=float)
    slow = own["cwnd"].to_numpy(dtype=float) < own["ssthresh"].to_numpy(dtype=float)
    spans = [
        Span(a, b, "slow start", SLOW_START) for a, b in _runs(times, slow, end) if b - a > end_s(resolved) / 2000.0
    ]
    states, repairs = traces.get("state"), traces.get("recovery")
    if (states is not None and len(states)) or repairs is None or not len(repairs):
        return spans, []
    kinds = repairs["event"].astype(str).to_numpy()
    ends, lengths = (repairs[column].to_numpy(dtype=float) for column in ("time_s", "duration_s"))
    recovered = kinds == "recovery"
    fast = zip(ends[recovered], lengths[recovered], strict=True)
    spans += [Span(stop - length, stop, "fast recovery", RECOVERY) for stop, length in fast]
    timeouts = ends[~recovered]
    heights = own["cwnd"].to_numpy(dtype=float)[np.maximum(np.searchsorted(times, timeouts, side="right") - 1, 0)]
    return spans, [Curve("timeout", timeouts, heights, "marks", TIMEOUT)] if len(timeouts) else []


def _runs(times: NDArray[np.float64], true: NDArray[np.bool_], end: float) -> Iterator[tuple[float, float]]:
    """Give begin and end of each time in which a condition that holds until the next row is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], true, [False]]).astype(np.int8)))
    stops = np.append(times, end)
    return ((float(times[first]), float(stops[last])) for first, last in edges.reshape(-1, 2))


def _round_trips(resolved: Resolved, rows: pd.DataFrame, ends: Mapping[str, float], label: str) -> Panel:
    """Draw each flow's round trips, or its rounds: until all that was in flight is acknowledged, repairs included."""
    values = {name: own.assign(value=own["value"] * 1e3) for name, own in _by_flow(rows, "rtt_s").items()}
    least = {
        f"{name}: " if len(resolved.flow_names) > 1 else "": empty_round_trip_s(resolved, flow) * 1e3
        for flow in resolved.flows
        if flow.connection is not None
        for name in flow.names[:1]
    }
    lines = [StraightLine(value, f"{whose}empty path {value:.4g} ms", "limit") for whose, value in least.items()]
    return Panel(
        TIME,
        label,
        flow_curves(resolved, values, ends),
        ROUND_TRIPS,
        lines if len(lines) <= MOST_LINES // 2 else (),
        spans=warmup(resolved),
        x_range=(0.0, end_s(resolved)),
    )


def _rates(resolved: Resolved, rows: pd.DataFrame, reference_lines: "Sequence[ReferenceLine]") -> Panel:
    """Draw the rate at which each flow's data are acknowledged, averaged over the intervals of a grid."""
    edges = np.linspace(0.0, end_s(resolved), RATE_INTERVALS + 1)
    acked = _by_flow(rows, "sequence", _ACKNOWLEDGED)
    values = {}
    for flow in resolved.flows:
        for name in flow.names:
            if name in acked:
                own = acked[name]
                last = np.searchsorted(own["time_s"].to_numpy(), edges, side="right")
                counts = np.append(0.0, own["value"].to_numpy(dtype=float))[last]
                rate = np.diff(counts) * flow.packet_bits / np.diff(edges) / MBIT
                values[name] = pd.DataFrame({"time_s": edges[:-1], "value": np.maximum(rate, 0.0)})
    theory = [line for line in reference_lines if line.kind == "throughput"]
    scaled = named_lines(replace(line, value=line.value / MBIT) for line in theory)
    slowest = sorted({link for flow in resolved.flows if (link := _slowest_bps(resolved, flow)) is not None})
    limits = [StraightLine(rate / MBIT, f"slowest link {rate / MBIT:g} Mbit/s", "limit") for rate in slowest]
    return Panel(
        TIME,
        "acknowledged [Mbit/s]",
        flow_curves(resolved, values),
        RATES,
        (*limits[:1], *scaled),
        spans=warmup(resolved),
        x_range=(0.0, end_s(resolved)),
    )


def _slowest_bps(resolved: Resolved, flow: ResolvedFlow) -> float | None:
    """Give the rate of the slowest link of a flow's path [bit/s]; None if none has one, or the rate of one changes."""
    path = [resolved.elements[index] for index in flow.path]
    if any(one.rate_process is not None for one in path):
        return None
    return min((one.rate_bps for one in path if one.rate_bps is not None), default=None)


def _numbers(resolved: Resolved, rows: pd.DataFrame, events: "Sequence[Events]") -> Panel:
    """Draw the time-sequence graph: packets sent, those sent again as hollow marks, and what is acknowledged."""
    curves: list[Curve] = []
    several, drawn = len(resolved.flow_names) > 1, resolved.flow_names[:MOST_LINES]
    for kind, label, style in (
        ("sent", "sent", "marks"),
        (_ACKNOWLEDGED, "acknowledged", "step"),
        (_RETRANSMITTED, "sent again", "theory-marks"),
    ):
        flows = _by_flow(rows, "sequence", kind)
        for number, name in enumerate(drawn):
            if name in flows:
                times, numbers = (flows[name][column].to_numpy(dtype=float) for column in ("time_s", "value"))
                colour = 1 if kind == _RETRANSMITTED and not several else number
                own_label = f"{name}: {label}" if several else label
                curves.append(Curve(own_label, times, numbers, style, colour))  # type: ignore[arg-type]
    return Panel(
        TIME,
        "packet number",
        curves,
        SEQUENCE,
        events=events,
        spans=warmup(resolved),
        x_range=(0.0, end_s(resolved)),
        y_whole=True,
    )
