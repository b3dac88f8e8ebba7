"""Figure 2: the same rise with a timeout, w_m = 13."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from ackclock.charts import Chart, Curve
from ackclock.experiments.abrupt_delay.figure_1 import NEW_S, OLD_S
from ackclock.experiments.abrupt_delay.figure_1 import Key as Rise
from ackclock.experiments.abrupt_delay.figure_1 import scenarios as rises
from ackclock.experiments.abrupt_delay.path import RATE, STEP_S, step, total
from ackclock.experiments.abrupt_delay.steps import all_spurious, chart, decay_s, rto_before, window_scan_chart
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models import abrupt_delay
from ackclock.scenario import Resolved

Key = Rise | tuple[Literal["scan"], int] | tuple[Literal["clock"], float]
"""A rise of figure 1, a window of the scan, or a granularity of the clock [ms]."""
SCANNED = tuple(window for window in range(1, 29) if window != round(RATE * OLD_S))
"""Windows of the scan, without mu T_1, at which one round ends at the instant at which the next begins."""
CLOCKS_MS = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give those of figure 1, and the rise at other windows and with other clocks."""
    scan: dict[Key, Resolved] = {("scan", window): step(OLD_S, NEW_S, window, {}) for window in SCANNED}
    clocks: dict[Key, Resolved] = {
        ("clock", milliseconds): step(OLD_S, NEW_S, 13, {"flow.flow.tcp.rto.granularity": f"{milliseconds:g} ms"})
        for milliseconds in CLOCKS_MS
    }
    figure_1: dict[Key, Resolved] = dict(rises(setting).items())
    return figure_1 | scan | clocks


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge the timeout at w_m = 13, and say at which windows there is one."""
    run, other = runs[13, "time stamps"], runs[13, "no time stamps"]
    timer = rto_before(run)
    with_timeout = [window for window in SCANNED if total(runs["scan", window], "timeouts") > 0]
    times = {"with": decay_s(run, NEW_S), "without": decay_s(other, NEW_S)}
    findings = {
        "timeout": Finding(
            total(run, "timeouts"),
            note=f"T_2 - (w_m - 1)/mu = 0.204 s without an ACK; timeouts at w_m = {listed(with_timeout)} of 1 to 28",
        ),
        "spurious": Finding(share([all_spurious(run, "timeout")])),
        "rto_before": Finding(timer),
        "below_sufficient": Finding(
            share([total(run, "timeouts") > 0 and OLD_S < NEW_S < OLD_S + timer]),
            note=f"T_1 + Y_1 = {OLD_S + timer:.4f} s",
        ),
        "window_decides": Finding(
            share([total(run, "timeouts") > 0 and total(runs[26, "time stamps"], "timeouts") == 0])
        ),
        "without_time_stamps": Finding(
            share([total(other, "timeouts") > 0, total(runs[26, "no time stamps"], "timeouts") == 0])
        ),
        "slower_decay": Finding(
            share([times["without"] > times["with"]]),
            note=f"{times['with']:.2f} s with time stamps, {times['without']:.2f} s without",
        ),
    }
    shown = {"w_m = 13": run, "w_m = 13, without time stamps": other, "w_m = 20": runs[20, "time stamps"]}
    title = "Figure 2: the round trip rises from 0.2 to 0.3 s at 6 s, w_m = 13 (and 20)"
    fine = [clock for clock in CLOCKS_MS if total(runs["clock", clock], "timeouts") > 0]
    ends = f"{CLOCKS_MS[0]:g} to {CLOCKS_MS[-1]:g} ms"
    note = f"Of clocks from {ends} those up to {max(fine, default=0.0):g} ms bring the timeout."
    return Outcome(findings, {"figure": chart(title, shown), "windows": _windows(runs)}, [note])


def listed(windows: list[int]) -> str:
    """Write a range as such."""
    return f"{windows[0]} to {windows[-1]}" if windows == list(range(windows[0], windows[-1] + 1)) else str(windows)


def _windows(runs: Mapping[Key, Run]) -> Chart:
    """Draw the longest silence of the ACKs, and where the timer expires."""
    windows = np.array(SCANNED, dtype=float)
    timers = np.array([rto_before(runs["scan", window]) for window in SCANNED])
    found = np.array([total(runs["scan", window], "timeouts") > 0 for window in SCANNED])
    rise = abrupt_delay.step_in_round(windows, RATE, OLD_S, step_instant=OLD_S * (1.0 - 1e-6))
    silence = np.asarray(abrupt_delay.spurious_timeout(rise, NEW_S, timers).silence)
    curves = [
        Curve("longest time without an ACK after the rise, theory", windows, silence, "theory", 0),
        Curve("RTO just before the rise, simulated", windows, timers, "step", 3),
        Curve("with a spurious timeout, simulated", windows[found], silence[found], "marks", 1),
        Curve("without, simulated", windows[~found], silence[~found], "marks", 2),
    ]
    return window_scan_chart(f"The windows at which the rise at {STEP_S:g} s brings a timeout", "time [s]", curves)
