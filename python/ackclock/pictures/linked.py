"""The picture of a run as panels over one time axis: windows, queues, round trips, rates, and packets by number.

The first two are those of the overview; the others need the traces `cwnd`, `rtt` and `sequence`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Events, Panel, Span, StraightLine
from ackclock.paths import empty_round_trip_s
from ackclock.pictures.parts import (
    MOST_LINES,
    TIME,
    by_name,
    end_s,
    flow_curves,
    named_lines,
    of_kind,
    step_curve,
    warmup,
    window_panel,
)
from ackclock.pictures.queues import drop_events, longest_queues, queue_panel
from ackclock.pictures.states import state_panels
from ackclock.scenario import Resolved, ResolvedFlow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.prediction import ReferenceLine

WINDOWS, QUEUES, ROUND_TRIPS, RATES, SEQUENCE = (
    "Congestion window",
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
        Traces of the run by name: `overview`, and of `queue`, `cwnd`, `state`, `recovery`, `sequence`, and `rtt`
        or `rounds` those that were recorded. The first replication is drawn.
    reference_lines : sequence of ReferenceLine, optional
        What the theory says of windows, queues and rates: a dashed line each, named at its end.

    Returns
    -------
    Chart
        A panel for each quantity that was recorded; `states` and `payload rate` follow the windows if there are some.
    """
    first = {name: frame if name == "overview" else _first(frame) for name, frame in traces.items()}
    overview = _with_each_change(first["overview"], first.get("queue"))
    queues = longest_queues(overview)
    panels = [*_window_panels(resolved, first, reference_lines)]
    if queues:
        lines = named_lines(line for line in reference_lines if line.kind == "queue" and line.name in queues)
        panels.append(queue_panel(resolved, overview, queues, QUEUES, lines))
    else:
        panels[0] = replace(panels[0], events=drop_events(overview, ()))
    round_trips = first.get("rtt", first.get("rounds"))
    if round_trips is not None and len(round_trips):
        panels.append(_round_trips(resolved, round_trips))
    if "sequence" in first and len(first["sequence"]):
        panels.append(_rates(resolved, first["sequence"], reference_lines))
        panels.append(_numbers(resolved, first["sequence"], overview))
    return Chart(resolved.title, panels, share_x=True, legend="panel", size_inches=(12.0, 3.2 * len(panels)))


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
) -> list[Panel]:
    lines = named_lines(line for line in reference_lines if line.kind == "cwnd")
    panel = window_panel(resolved, traces["overview"], WINDOWS, lines)
    windows = traces.get("cwnd")
    if windows is not None and len(windows):
        of_flows = by_name(windows.rename(columns={"flow": "name"}))
        panel = replace(panel, curves=(*_thresholds(resolved, of_flows), *panel.curves))
        if len(resolved.flow_names) == 1:
            spans, marks = _phases(resolved, next(iter(of_flows.values())), traces)
            panel = replace(panel, spans=(*panel.spans, *spans), curves=(*panel.curves, *marks))
    states = traces.get("state")
    return [panel] if states is None or not len(states) else state_panels(resolved, states, panel)


def _thresholds(resolved: Resolved, flows: Mapping[str, pd.DataFrame]) -> Iterator[Curve]:
    """Draw the slow start threshold of each flow, if they are few; the first one, which limits nothing, is left out."""
    if len(flows) > MOST_SSTHRESH:
        return
    for name, own in flows.items():
        thresholds = own["ssthresh"].to_numpy(dtype=float)
        known = np.isfinite(thresholds) & (thresholds <= 2.0 * own["cwnd"].to_numpy(dtype=float).max())
        rows = own[known].rename(columns={"ssthresh": "value"})
        if len(rows):
            curve = step_curve("ssthresh" if len(flows) == 1 else f"ssthresh of {name}", rows, end_s(resolved), 0)
            yield replace(_changes(curve), kind="guide", colour=None)


def _changes(curve: Curve) -> Curve:
    """Write a value that holds until the next as corners, without the points at which it stays."""
    x, y = curve.x, curve.y
    kept = np.append(True, (y[1:] != y[:-1]))
    kept[-1] = True
    x, y = x[kept], y[kept]
    return replace(curve, x=np.append(x[:1], np.repeat(x[1:], 2)), y=np.append(np.repeat(y[:-1], 2), y[-1:]))


def _phases(
    resolved: Resolved, own: pd.DataFrame, traces: Mapping[str, pd.DataFrame]
) -> tuple[list[Span], list[Curve]]:
    """Shade slow start and, of the senders without a trace of states, fast recovery; mark their timeouts."""
    times, end = own["time_s"].to_numpy(dtype=float), end_s(resolved)
    slow = own["cwnd"].to_numpy(dtype=float) < own["ssthresh"].to_numpy(dtype=float)
    spans = [Span(a, b, "slow start", SLOW_START) for a, b in _runs(times, slow, end) if b - a > end / 2000.0]
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


def _round_trips(resolved: Resolved, rows: pd.DataFrame) -> Panel:
    values = rows.assign(value=rows["rtt_s"] * 1e3).rename(columns={"flow": "name"})
    least = {
        f"{name}: " if len(resolved.flow_names) > 1 else "": empty_round_trip_s(resolved, flow) * 1e3
        for flow in resolved.flows
        if flow.connection is not None
        for name in flow.names[:1]
    }
    lines = [StraightLine(value, f"{whose}empty path {value:.4g} ms", "limit") for whose, value in least.items()]
    return Panel(
        TIME,
        "round trip [ms]",
        flow_curves(resolved, by_name(values)),
        ROUND_TRIPS,
        lines if len(lines) <= MOST_LINES // 2 else (),
        spans=warmup(resolved),
        x_range=(0.0, end_s(resolved)),
    )


def _rates(resolved: Resolved, rows: pd.DataFrame, reference_lines: "Sequence[ReferenceLine]") -> Panel:
    """Draw the rate at which each flow's data are acknowledged, averaged over the intervals of a grid."""
    edges = np.linspace(0.0, end_s(resolved), RATE_INTERVALS + 1)
    acked = by_name(rows[rows["kind"] == _ACKNOWLEDGED].rename(columns={"flow": "name"}))
    values = {}
    for flow in resolved.flows:
        for name in flow.names:
            if name in acked:
                own = acked[name]
                last = np.searchsorted(own["time_s"].to_numpy(), edges, side="right")
                counts = np.append(0.0, own["sequence"].to_numpy(dtype=float))[last]
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
    """Give the rate of the slowest link of a flow's path [bit/s]; None if all are unlimited."""
    rates = (resolved.elements[index].rate_bps for index in flow.path)
    return min((rate for rate in rates if rate is not None), default=None)


def _numbers(resolved: Resolved, rows: pd.DataFrame, overview: pd.DataFrame) -> Panel:
    """Draw the time-sequence graph: packets sent, those sent again, and what is acknowledged."""
    curves: list[Curve] = []
    flows = by_name(rows.rename(columns={"flow": "name"}))
    for number, name in enumerate(resolved.flow_names[:MOST_LINES]):
        if name not in flows:
            continue
        own, whose = flows[name], f"{name}: " if len(resolved.flow_names) > 1 else ""
        kinds = own["kind"].cat.codes.to_numpy()
        codes = {str(kind): code for code, kind in enumerate(own["kind"].cat.categories)}
        times, numbers = (own[column].to_numpy(dtype=float) for column in ("time_s", "sequence"))
        for kind, label, style in (
            ("sent", "sent", "marks"),
            (_ACKNOWLEDGED, "acknowledged", "step"),
            (_RETRANSMITTED, "sent again", "marks"),
        ):
            chosen = kinds == codes[kind]
            if chosen.any():
                colour = 1 if kind == _RETRANSMITTED and not whose else number
                curves.append(Curve(f"{whose}{label}", times[chosen], numbers[chosen], style, colour))  # type: ignore[arg-type]
    drops = [row["time_s"].to_numpy(dtype=float) for row in by_name(of_kind(overview, "drop")).values()]
    events = (Events("drop", np.sort(np.concatenate(drops))),) if drops else ()
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
