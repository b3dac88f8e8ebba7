"""Figure 15: the packets that a fast recovery retransmits, and those that its end sends."""

from collections.abc import Mapping
from typing import Any

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.heavy import events, heavy
from ackclock.experiments.engset.path import curve, loss_percent, rate_kbps
from ackclock.experiments.frame import Finding, Outcome, Run, Setting
from ackclock.scenario import Resolved

SHOWN = {"EE-44": "W_R = 44", "EE-12": "W_R = 12"}
MOST = 20


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give both windows, without and with a limit of two packets a burst."""
    return heavy(setting, *SHOWN, *(f"{name}-limited" for name in SHOWN))


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Compare the bursts at the end of a recovery."""
    again = {name: _percent(events(runs[name])[1]["retransmissions"]) for name in SHOWN}
    bursts = {name: _percent(events(runs[name])[1]["sent_on_end"]) for name in SHOWN}
    findings = {
        "two": Finding(
            bursts["EE-44"][2],
            note=f"{bursts['EE-44'][0]:.1f}% send nothing; of the rest {_of_others(bursts['EE-44']):.1f}% two",
        ),
        "three": Finding(bursts["EE-44"][3]),
        "seven": Finding(bursts["EE-12"][7]),
        "up_to_seven": Finding(float(bursts["EE-12"].loc[8:].sum())),
        "limited": _gain(runs),
    }
    panels = []
    for label, found in (("retransmissions in a recovery", again), ("packets that its end sends", bursts)):
        curves = [
            curve(f"{title}, simulated", found[name].index, found[name], "simulation", number)
            for number, (name, title) in enumerate(SHOWN.items())
        ]
        if found is bursts:
            curves.append(curve("the paper", [2.0, 3.0], [82.8, 6.1], "paper", 0))
            curves.append(curve("the paper", [7.0], [11.5], "paper", 1))
        panels.append(Panel(label, "part of the recoveries [%]", curves))
    title = "Figure 15: fast recoveries, N = 134, (10M, 2M, R50), EE, F = 12, B = 150"
    return Outcome(findings, {"figure": Chart(title, panels, 2, size_inches=(13.0, 6.0))})


def _gain(runs: Mapping[str, Run]) -> Finding:
    """Compute how much faster connections are with bursts of two packets at most: the larger gain of both windows."""
    gains, losses = [], []
    for name in SHOWN:
        free, limited = runs[name], runs[f"{name}-limited"]
        gains.append(100.0 * (rate_kbps(limited).value / rate_kbps(free).value - 1.0))
        losses.append(f"{loss_percent(free).value:.2f} and {loss_percent(limited).value:.2f}%")
    words = ", ".join(f"{gain:+.2f}%" for gain in gains)
    note = f"h with W_R = 44, 12: {words}; packets lost without and with the limit: {'; '.join(losses)}"
    return Finding(max(gains), note=note)


def _of_others(percent: Any) -> float:
    return float(100.0 * percent[2] / (100.0 - percent[0]))


def _percent(counts: Any) -> Any:
    return 100.0 * counts.value_counts(normalize=True).reindex(range(MOST + 1)).fillna(0.0)
