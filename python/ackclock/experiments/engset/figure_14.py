"""Figure 14: drops by the packet's number within its transfer."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.heavy import CASES, heavy
from ackclock.experiments.engset.path import Values, curve, loss_percent, rate_kbps, totals
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

SHOWN = {"EE-44": "W_R = 44", "EE-12": "W_R = 12"}
PRINTED_LOSS = {"EE-44": 6.3, "EE-12": 4.6}
"""Losses in the paper's figure [%]."""
LAST_OF_SLOW_START = {"EE-44": 86, "EE-12": 22}
FARTHEST = 200


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give both windows, and packets paced on their way in."""
    return heavy(setting, "EE-44", "EE-12", "EE-44-paced")


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge the losses and where they fall."""
    drops = {name: _percent(run) for name, run in runs.items()}
    lost = {name: loss_percent(run) for name, run in runs.items()}
    findings = {
        "loss_44": Finding(lost["EE-44"]),
        "loss_12": Finding(lost["EE-12"]),
        "second": Finding(drops["EE-44"][1] / drops["EE-44"][0]),
        "second_paced": Finding(drops["EE-44-paced"][1] / drops["EE-44-paced"][0]),
        "paced_alike": _paced_alike(runs),
        "even_after": _even_after(drops),
    }
    panels = [
        _panel(name, drops[name], f"{title}: L = {lost[name].value:.2f}% (the paper: {PRINTED_LOSS[name]}%)")
        for name, title in SHOWN.items()
    ]
    title = f"Figure 14: drops by packet, N = {CASES['EE-44'].sources}, (10M, 2M, R50), EE, F = 12, B = 150"
    return Outcome(findings, {"figure": Chart(title, panels, 2, size_inches=(14.0, 6.5))})


def _paced_alike(runs: Mapping[str, Run]) -> Finding:
    """Compare losses and rates with and without pacing."""
    burst, paced = runs["EE-44"], runs["EE-44-paced"]
    loss, rate = loss_percent(paced).value, rate_kbps(paced).value
    alike = [abs(loss / loss_percent(burst).value - 1.0) < 0.15, abs(rate / rate_kbps(burst).value - 1.0) < 0.05]
    return Finding(share(alike), note=f"L = {loss:.2f}%, h = {rate:.1f} kbit/s where packets are paced")


def _even_after(drops: Mapping[str, Values]) -> Finding:
    """Compare how uneven the drops are before and after slow start's last packet."""
    uneven = {
        name: (_unevenness(drops[name], 1, last), _unevenness(drops[name], last, 2 * last))
        for name, last in LAST_OF_SLOW_START.items()
    }
    return Finding(
        share([after < before for before, after in uneven.values()]),
        note="difference of neighbours, of their mean, before and after the last packet of slow start: "
        + "; ".join(f"{SHOWN[name]}: {before:.2f}, {after:.2f}" for name, (before, after) in uneven.items()),
    )


def _panel(name: str, drops: Values, title: str) -> Panel:
    last = LAST_OF_SLOW_START[name]
    curves = [
        curve("drops, simulated", np.arange(1.0, FARTHEST + 1.0), drops[:FARTHEST], "step", 0),
        curve("last packet of slow start, 2 W_R - 2", [last, last], [2e-3, 30.0], "guide"),
    ]
    return Panel(
        "number within the transfer", "part of all drops [%]", curves, title, log_x=True, log_y=True, y_bottom=2e-3
    )


def _percent(run: Run) -> Values:
    drops = totals(run, "sequence_drops", "number").set_index("number")["drops"]
    found = drops.reindex(range(1, 1025)).fillna(0.0).to_numpy(dtype=float)
    return np.asarray(100.0 * found / float(drops.sum()))


def _unevenness(drops: Values, first: int, last: int) -> float:
    part = drops[first - 1 : last]
    return float(np.abs(np.diff(part)).mean() / part.mean())
