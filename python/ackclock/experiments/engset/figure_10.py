"""Figure 10: the connection rate with long tails against exponential sizes, W_R = 44."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.figure_9 import LOADS, NAMES, QUICK, TAILS, webs
from ackclock.experiments.engset.path import FILES, Web, curve, packets, rate_kbps
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved


def scenarios(setting: Setting) -> Mapping[Web, Resolved]:
    """Give the runs of figure 9 with the large window."""
    return {web: web.scenario(packets(setting, QUICK)) for *_, web in webs(small=False)}


def outcome(_setting: Setting, runs: Mapping[Web, Run]) -> Outcome:
    """Judge the penalty, and how it depends on F."""
    rates = {(law, files, load): rate_kbps(runs[web]).value for law, files, load, web in webs(small=False)}
    ratio = {key: 100.0 * found / rates["E", key[1], key[2]] for key, found in rates.items() if key[0] in TAILS}
    penalties = {key: 100.0 - found for key, found in ratio.items()}
    series = [[penalties[law, files, load] for files in FILES] for law in TAILS for load in LOADS]
    worst = max(penalties, key=lambda key: penalties[key])
    findings = {
        "decreases": Finding(share([after < before for found in series for before, after in pairwise(found)])),
        "from_12": Finding(share([np.corrcoef(np.log(FILES[1:]), found[1:])[0, 1] < 0.0 for found in series])),
        "largest": Finding(penalties[worst], note=f"{worst[0]}, F = {worst[1]}, load {worst[2]:.0%}"),
    }
    panels = []
    for law in TAILS:
        curves = [
            curve(f"load {load:.0%}", FILES, [ratio[law, files, load] for files in FILES], "simulation", number)
            for number, load in enumerate(LOADS)
        ]
        curves.append(curve("as with exponential sizes", [5.0, 120.0], [100.0, 100.0], "guide"))
        panels.append(
            Panel(
                "F [packets]", "h, of that with exponential sizes [%]", curves, NAMES[law], from_zero=False, log_x=True
            )
        )
    title = "Figure 10: connection rate by the law of sizes, W_R = 44"
    return Outcome(findings, {"figure": Chart(title, panels, 2, share_y=True, size_inches=(13.0, 6.5))})
