"""Figure 4: the same fall in the busy period, with a fast retransmit."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Curve
from ackclock.experiments.abrupt_delay.figure_2 import SCANNED, listed
from ackclock.experiments.abrupt_delay.figure_3 import FITTING, NEW_S, OLD_S
from ackclock.experiments.abrupt_delay.path import RATE, STEP_S, WINDOWS, step, total
from ackclock.experiments.abrupt_delay.steps import (
    all_spurious,
    chart,
    in_idle_period,
    window_after,
    window_scan_chart,
)
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models import abrupt_delay
from ackclock.scenario import Resolved

Key = int | tuple[int, float]
"""The window; in the scan also the instant of the fall [s]."""
INSTANT_S = 6.07


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give the fall at each window, and at other windows at both instants."""
    longer = {"run.duration": setting.pick("20 s", "60 s")}
    shown: dict[Key, Resolved] = {window: step(OLD_S, NEW_S, window, longer, INSTANT_S) for window in WINDOWS}
    scan: dict[Key, Resolved] = {
        (window, instant): step(OLD_S, NEW_S, window, {}, instant)
        for window in SCANNED
        for instant in (STEP_S, INSTANT_S)
    }
    return shown | scan


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge the fast retransmits, and the window after them."""
    fitting = {window: runs[window] for window in FITTING}
    happen = {window: total(run, "fast_retransmits") > 0 for window, run in fitting.items()}
    both = [window for window in SCANNED if not _any(runs, window, STEP_S) and _any(runs, window, INSTANT_S)]
    findings = {
        "td_26": Finding(
            total(runs[26], "fast_retransmits"),
            note="26 > mu T_1 = 25: no idle period, so never two duplicate ACKs in a row; both figures come with "
            f"w_m = {listed(both)} of 1 to 28",
        ),
        "td": Finding(share(list(happen.values()))),
        "spurious": Finding(share([all_spurious(run, "fast-retransmit") for run in fitting.values()])),
        "busy": Finding(
            share([not in_idle_period(run, INSTANT_S) and in_idle_period(run, STEP_S) for run in fitting.values()])
        ),
        **{
            f"halved_{window}": Finding(window_after(run) if happen[window] else float("nan"))
            for window, run in fitting.items()
        },
    }
    shown = {f"w_m = {window}": runs[window] for window in WINDOWS}
    title = "Figure 4: the round trip falls from 0.2 to 0.1 s at 6.07 s"
    return Outcome(findings, {"figure": chart(title, shown, INSTANT_S), "windows": _windows(runs)})


def _any(runs: Mapping[Key, Run], window: int, instant_s: float) -> bool:
    return total(runs[window, instant_s], "fast_retransmits") > 0


def _windows(runs: Mapping[Key, Run]) -> Chart:
    """Draw how many duplicate ACKs the fall brings, and where it brings a fast retransmit."""
    windows = np.array(SCANNED, dtype=float)
    curves = []
    for colour, instant in enumerate((STEP_S, INSTANT_S)):
        # The first packet of a round leaves the link a service time after the round's start at 6.0 s.
        after = (instant - STEP_S - 1.0 / RATE) % OLD_S
        fall = abrupt_delay.step_in_round(windows, RATE, OLD_S, step_instant=after)
        count = np.asarray(abrupt_delay.spurious_fast_retransmit(fall, NEW_S).duplicates, dtype=float)
        happen = np.array([_any(runs, window, instant) for window in SCANNED])
        curves += [
            Curve(f"duplicate ACKs in a row, theory, fall at {instant:.2f} s", windows, count, "theory", colour),
            Curve("with a spurious fast retransmit, simulated", windows[happen], count[happen], "marks", 4),
            Curve("without, simulated", windows[~happen], count[~happen], "marks", 2),
        ]
    curves.append(Curve("D = 3", windows[[0, -1]], np.array([3.0, 3.0]), "guide"))
    return window_scan_chart("The windows at which the fall brings a fast retransmit", "duplicate ACKs", curves)
