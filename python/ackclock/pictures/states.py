"""States of senders with selective acknowledgment: bands behind cwnd or lanes, events on cwnd, and rates."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd

from ackclock.charts import Curve, Panel, Span
from ackclock.pictures.parts import MOST_LINES, TIME, by_name, end_s, step_curve, warmup
from ackclock.scenario import Resolved

STATES: Final = {"CWR": 4, "Recovery": 5, "Loss": 1}
"""Colours of the states that are drawn; Open is the rest, and Disorder too short to see."""
PHASES: Final = {"startup": 4, "drain": 5, "probe-rtt": 1}
"""Colours of the phases that are drawn; probing for bandwidth is the rest."""
EVENTS: Final = {"timeout": 1, "probe": 3, "probe-repair": 4, "undo": 2, "hystart-exit": 5}
"""Colours of the events that are drawn."""
RESOLUTION: Final = 2000
"""Fraction of a run below which a gap between two bands cannot be seen."""
MOST_RATES: Final = 3
"""Largest number of flows whose rates are drawn: two curves each."""
LANE: Final = 0.35
"""Half of the height of a lane, relative to the distance of two."""
MBIT: Final = 1e6


def state_panels(resolved: Resolved, states: pd.DataFrame, windows: Panel, ends: Mapping[str, float]) -> list[Panel]:
    """Draw the states of one sender behind its cwnd, or those of several in lanes; and the rates of those that pace.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    states : DataFrame
        The trace of states: replication, flow, time_s, event, state, phase, cwnd and rates. The first replication is
        drawn.
    windows : Panel
        Panel of the windows.
    ends : mapping of str to float
        The ends of the flows that finished [s]; rates are drawn until there.

    Returns
    -------
    list of Panel
        The panel of the windows, and others if there are some; more than six senders have no lanes.
    """
    flows = _flows(states)
    panels = [windows]
    if len(flows) == 1:
        (own,) = flows.values()
        bands = tuple(_bands(resolved, own, "state", STATES))
        panels = [replace(windows, curves=(*windows.curves, *_marks(own)), spans=(*windows.spans, *bands))]
    elif 1 < len(flows) <= MOST_LINES:
        panels.append(_lanes(resolved, flows))
    paced = {name: own for name, own in flows.items() if own["pacing_rate_bps"].notna().any()}
    if 0 < len(paced) <= MOST_RATES:
        panels.append(_rates(resolved, paced, ends))
    return panels


def lanes_panel(resolved: Resolved, states: pd.DataFrame | None, title: str) -> Panel | None:
    """Draw the states of senders in lanes, also that of one alone; None without any, or with more than six."""
    flows = {} if states is None or not len(states) else _flows(states)
    return replace(_lanes(resolved, flows), title=title) if 0 < len(flows) <= MOST_LINES else None


def _flows(states: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Give the states of each flow in the first replication."""
    rows = states[states["replication"] == states["replication"].min()]
    return by_name(rows.rename(columns={"flow": "name"}))


def _lanes(resolved: Resolved, flows: dict[str, pd.DataFrame]) -> Panel:
    spans = [
        replace(span, low=lane - LANE, high=lane + LANE)
        for lane, own in enumerate(flows.values())
        for span in _bands(resolved, own, "state", STATES)
    ]
    return Panel(
        TIME,
        "state",
        [],
        spans=(*warmup(resolved), *spans),
        y_ticks=list(flows),
        y_down=True,
        x_range=(0.0, end_s(resolved)),
    )


def _rates(resolved: Resolved, flows: dict[str, pd.DataFrame], ends: Mapping[str, float]) -> Panel:
    curves, spans = [], list(warmup(resolved))
    for number, (name, own) in enumerate(flows.items()):
        end = ends.get(name, end_s(resolved))
        whose = f"{name}: " if len(resolved.flow_names) > 1 else ""
        for offset, rate in enumerate(("pacing", "delivery")):
            values = own.assign(value=own[f"{rate}_rate_bps"] / MBIT)
            curves.append(step_curve(f"{whose}{rate} rate", values, end, 2 * number + offset))
        if len(flows) == 1:
            spans += _bands(resolved, own, "phase", PHASES)
    top = 1.3 * max(float(np.nanquantile(curve.y, 0.98)) for curve in curves if not np.isnan(curve.y).all())
    return Panel(
        TIME,
        "payload rate [Mbit/s]",
        curves,
        spans=tuple(spans),
        x_range=(0.0, end_s(resolved)),
        y_top=top,
    )


def _marks(own: pd.DataFrame) -> Iterator[Curve]:
    """Mark what happened on the line of cwnd."""
    kinds = [re.sub("^undo-.*", "undo", str(kind)) for kind in own["event"].cat.categories]
    of_row = np.array([*kinds, ""])[own["event"].cat.codes.to_numpy()]
    for event, colour in EVENTS.items():
        rows = own[of_row == event]
        if len(rows):
            times, windows = (rows[column].to_numpy(dtype=float) for column in ("time_s", "cwnd"))
            yield Curve(event.replace("hystart-exit", "HyStart exit"), times, windows, "marks", colour)


def _bands(resolved: Resolved, own: pd.DataFrame, column: str, colours: dict[str, int]) -> Iterator[Span]:
    """Shade the times in each of some states; a gap that cannot be seen is closed."""
    starts = own["time_s"].to_numpy(dtype=float)
    ends = np.append(starts[1:], end_s(resolved))
    for name, colour in colours.items():
        found = (own[column] == name).to_numpy()
        for start, end in _merged(starts[found].tolist(), ends[found].tolist(), end_s(resolved) / RESOLUTION):
            yield Span(start, end, name, colour)


def _merged(starts: Sequence[float], ends: Sequence[float], gap: float) -> Iterator[tuple[float, float]]:
    current: tuple[float, float] | None = None
    for start, end in zip(starts, ends, strict=True):
        if current is not None and start <= current[1] + gap:
            current = (current[0], float(end))
            continue
        if current is not None:
            yield current
        current = (float(start), float(end))
    if current is not None:
        yield current
