"""Figure 16: timeouts by the window at which they occur."""

from collections.abc import Mapping
from typing import Any

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.heavy import events, heavy
from ackclock.experiments.engset.path import curve
from ackclock.experiments.frame import Finding, Outcome, Run, Setting
from ackclock.scenario import Resolved

SHOWN = {"EE-44": "exponential tail (EE)", "E-44": "exponential (E)"}
SMALL = 5
WIDEST = 44


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give both laws."""
    return heavy(setting, *SHOWN)


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge where timeouts occur."""
    timeouts = {name: events(run)[0] for name, run in runs.items()}
    parts = {name: _percent(frame) for name, frame in timeouts.items()}
    small = {name: float(found.loc[:SMALL].sum()) for name, found in parts.items()}
    slow = min(100.0 * float(frame["slow_start"].mean()) for frame in timeouts.values())
    repeated = 100.0 * float((timeouts["EE-44"]["event"] == "timeout-repeated").mean())
    findings = {
        "slow_start": Finding(slow, note="the lesser of the two laws"),
        "at_one": Finding(
            parts["EE-44"][1] / repeated,
            note=f"W = 1: {parts['EE-44'][1]:.1f}% of those in slow start; TOTO: {repeated:.1f}%",
        ),
        "by_law": Finding(
            float(small["EE-44"] > small["E-44"]),
            note=f"at windows up to {SMALL}: {small['EE-44']:.0f}% with EE, {small['E-44']:.0f}% with E",
        ),
    }
    panels = [
        Panel(
            "window W [packets]",
            "part of the timeouts in slow start [%]",
            [curve("simulated", parts[name].index, parts[name], "simulation", number)],
            title,
        )
        for number, (name, title) in enumerate(SHOWN.items())
    ]
    title = "Figure 16: timeouts in slow start, N = 134, (10M, 2M, R50), F = 12, W_R = 44, B = 150"
    return Outcome(findings, {"figure": Chart(title, panels, 2, share_y=True, size_inches=(13.0, 6.0))})


def _percent(timeouts: Any) -> Any:
    windows = timeouts[timeouts["slow_start"]]["window"]
    return 100.0 * windows.value_counts(normalize=True).reindex(range(1, WIDEST + 1)).fillna(0.0)
