"""Figures 1 to 4: what is measured around one step of the round trip, and how it is drawn."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.abrupt_delay.path import PACKET_BITS, STEP_S
from ackclock.experiments.frame import Run
from ackclock.scenario import Resolved
from ackclock.scenario.resolved_elements import DelayProcessSettings, StepsLaw

if TYPE_CHECKING:
    import pandas as pd

SHOWN_S = (-0.35, 0.85)
"""Time that the figures show of packets and windows, around the step [s]."""
SHOWN_TIMER_S = (-0.5, 3.5)
"""Time that they show of the RTO, whose decay takes longer [s]."""
CAUSES = {"timeout": "spurious timeout", "fast-retransmit": "spurious fast retransmit"}


def rto_before(run: Run, instant_s: float = STEP_S) -> float:
    """Give the RTO just before an instant: the paper's Y_1 [s]."""
    cwnd = run.trace("cwnd")
    return float(cwnd.loc[cwnd["time_s"] < instant_s, "rto_s"].iloc[-1])


def spurious_losses(run: Run, cause: str) -> NDArray[np.float64]:
    """Give the instants of spurious timeouts or fast retransmits [s]."""
    losses = run.trace("losses")
    return losses.loc[(losses["cause"] == cause) & losses["spurious"], "time_s"].to_numpy(dtype=float)


def all_spurious(run: Run, cause: str) -> bool:
    """Return whether there are losses of the cause, and all of them are spurious."""
    losses = run.trace("losses")
    found = losses[losses["cause"] == cause]
    return len(found) > 0 and bool(found["spurious"].all())


def departures(run: Run) -> NDArray[np.float64]:
    """Compute when the last bit of each packet leaves the link [s]."""
    sequence = run.trace("sequence")
    sent = sequence.loc[sequence["kind"] != "acknowledged", "time_s"].to_numpy(dtype=float)
    service = run.resolved.elements[0].service_s(PACKET_BITS // 8)
    leaves = np.empty(len(sent))
    last = -np.inf
    for number, time in enumerate(sent):
        leaves[number] = last = max(time, last) + service
    return leaves


def in_idle_period(run: Run, instant_s: float) -> bool:
    """Return whether an instant lies between two rounds: the link is idle just before, and no packet is on it.

    A round that begins at the very instant belongs to what follows: its packets leave the link later.
    """
    service = run.resolved.elements[0].service_s(PACKET_BITS // 8)
    leaves, tie = departures(run), 1e-9
    before, after = leaves[leaves <= instant_s + tie].max(), leaves[leaves > instant_s + tie].min()
    return bool(after - before > service + tie and after - service >= instant_s - tie)


def window_after(run: Run) -> float:
    """Give cwnd after the first fast recovery, as the first ACK of new data leaves it [packets]."""
    time = spurious_losses(run, "fast-retransmit")[0]
    sequence, cwnd = run.trace("sequence"), run.trace("cwnd")
    acknowledged = sequence[(sequence["kind"] == "acknowledged") & (sequence["time_s"] > time)]
    new = acknowledged.loc[acknowledged["sequence"] > _acknowledged_by(run, time), "time_s"].iloc[0]
    return float(cwnd.loc[cwnd["time_s"] <= new, "cwnd"].iloc[-1])


def _acknowledged_by(run: Run, time_s: float) -> int:
    sequence = run.trace("sequence")
    return int(sequence.loc[(sequence["kind"] == "acknowledged") & (sequence["time_s"] <= time_s), "sequence"].max())


def decay_s(run: Run, level_s: float) -> float:
    """Give the time from the largest RTO after the step to half of the way down to a level [s]."""
    cwnd = run.trace("cwnd")
    cwnd = cwnd[cwnd["time_s"] >= STEP_S]
    times, timers = (cwnd[column].to_numpy(dtype=float) for column in ("time_s", "rto_s"))
    peak = int(timers.argmax())
    down = np.flatnonzero(timers[peak:] <= (timers[peak] + level_s) / 2.0)
    return float(times[peak + down[0]] - times[peak]) if len(down) else np.inf


def chart(title: str, runs: Mapping[str, Run], instant_s: float = STEP_S) -> Chart:
    """Draw sequence numbers, windows, RTO and round trip against time: a column a run."""
    rows = (_sequence_panel, _window_panel, _time_panel)
    panels = [row(name, run, instant_s) for row in rows for name, run in runs.items()]
    return Chart(title, panels, len(runs), size_inches=(5.4 * max(len(runs), 2) + 1.0, 13.0))


def _sequence_panel(name: str, run: Run, instant_s: float) -> Panel:
    found = _shown(run.trace("sequence"), instant_s)
    kinds = (("sent", "sent", 0), ("retransmitted", "sent again", 1), ("acknowledged", "acknowledged", 2))
    first = int(found["sequence"].min())
    curves = []
    for kind, label, colour in kinds:
        own = found[found["kind"] == kind]
        x, y = (own[column].to_numpy(dtype=float) for column in ("time_s", "sequence"))
        if len(own):
            curves.append(Curve(label, x, y - first, "marks", colour))
    top = float(found["sequence"].max()) - first
    curves += [*_events(run, instant_s, None, first), _instant(instant_s, top)]
    return Panel("time [s]", "packets since the first one shown", curves, name)


def _window_panel(name: str, run: Run, instant_s: float) -> Panel:
    window = run.resolved.flows[0].tcp.sender.window_packets
    found = _shown(run.trace("cwnd"), instant_s)
    usable = np.minimum(found["cwnd"].to_numpy(dtype=float), window)
    curves = [
        Curve("min(cwnd, w_m)", found["time_s"].to_numpy(dtype=float), usable, "step", 0),
        *_events(run, instant_s, 1.1 * window),
        _instant(instant_s, 1.1 * window),
    ]
    return Panel("time [s]", "window [packets]", curves, name, y_top=30.0)


def _steps(resolved: Resolved) -> tuple[tuple[float, float], ...]:
    """Give the instants and delays of the path's only link."""
    match resolved.elements[0].delay_process:
        case DelayProcessSettings(law=StepsLaw(steps_s=steps)):
            return steps
    raise AssertionError("the scenario has a delay that changes in steps")


def _time_panel(name: str, run: Run, instant_s: float) -> Panel:
    found = _shown(run.trace("cwnd"), instant_s, SHOWN_TIMER_S)
    service = run.resolved.elements[0].service_s(PACKET_BITS // 8)
    steps = _steps(run.resolved)
    times = instant_s + np.array([SHOWN_TIMER_S[0], 0.0, SHOWN_TIMER_S[1]])
    totals = np.array([steps[0][1], steps[1][1], steps[1][1]]) + service
    curves = [
        Curve("RTO", found["time_s"].to_numpy(dtype=float), found["rto_s"].to_numpy(dtype=float), "step", 3),
        Curve("round trip of the path", times, totals, "step", 4),
        *_events(run, instant_s, 0.05),
    ]
    return Panel("time [s]", "RTO and round trip [s]", curves, name, y_top=0.65)


def _shown(frame: "pd.DataFrame", instant_s: float, span_s: tuple[float, float] = SHOWN_S) -> "pd.DataFrame":
    return frame[frame["time_s"].between(instant_s + span_s[0], instant_s + span_s[1])]


def _events(run: Run, instant_s: float, height: float | None, first: int = 0) -> Sequence[Curve]:
    """Mark spurious timeouts and fast retransmits at a height, or at the packet that is sent again."""
    losses = _shown(run.trace("losses"), instant_s)
    curves = []
    for colour, (cause, label) in enumerate(CAUSES.items()):
        own = losses[(losses["cause"] == cause) & losses["spurious"]]
        times = own["time_s"].to_numpy(dtype=float)
        places = own["sequence"].to_numpy(dtype=float) - first if height is None else np.full(len(times), height)
        if len(times):
            curves.append(Curve(label, times, places, "marks", 4 + colour))
    return curves


def _instant(instant_s: float, top: float) -> Curve:
    return Curve("the step", np.array([instant_s, instant_s]), np.array([0.0, top]), "guide")


def window_scan_chart(title: str, y_label: str, curves: Sequence[Curve]) -> Chart:
    """Draw what a window does: the windows on the x axis."""
    return Chart(title, [Panel("w_m, the window [packets]", y_label, curves)])
