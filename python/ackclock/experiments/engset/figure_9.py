"""Figure 9: how the connection rate changes with the receiver window, by the law of sizes."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.path import FILES, LAWS, Law, Web, curve, packets, rate_kbps
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

QUICK = 150e3
LOADS = (0.8, 1.0, 1.2)
SMALL_WINDOWS = {5: 12, 12: 12, 22: 12, 36: 20, 80: 32}
"""Windows with which h is as with 44, by F; no smaller one has it for F = 120."""
NAMES: Mapping[Law, str] = {"E": "exponential", "EE": "exponential tail", "EP": "Pareto tail"}
SHORT = (12, 22)
TAILS: tuple[Law, ...] = ("EE", "EP")


def webs(*, small: bool) -> Iterator[tuple[Law, int, float, Web]]:
    """Give the points of (10M, 1G, R50) with the large or the small windows."""
    for law in LAWS:
        for files in SMALL_WINDOWS if small else FILES:
            for load in LOADS:
                web = Web(1, files, law, egress=1000.0).at_load(load)
                yield (
                    law,
                    files,
                    load,
                    Web(web.sources, files, law, SMALL_WINDOWS[files] if small else 44, egress=1000.0),
                )


def scenarios(setting: Setting) -> Mapping[Web, Resolved]:
    """Give both windows."""
    number = packets(setting, QUICK)
    return {web: web.scenario(number) for small in (False, True) for *_, web in webs(small=small)}


def outcome(_setting: Setting, runs: Mapping[Web, Run]) -> Outcome:
    """Compare rates with both windows."""
    large = {(law, files, load): rate_kbps(runs[web]).value for law, files, load, web in webs(small=False)}
    ratio = {
        (law, files, load): 100.0 * rate_kbps(runs[web]).value / large[law, files, load]
        for law, files, load, web in webs(small=True)
    }
    tails = [(law, load) for law in TAILS for load in LOADS]
    exponential = [abs(found - 100.0) for (law, *_), found in ratio.items() if law == "E"]
    short = [ratio[law, files, load] for law, load in tails for files in SHORT]
    falling = [[ratio[law, files, load] for files in SMALL_WINDOWS] for law, load in tails]
    findings = {
        "little": Finding(max(exponential), note=f"on average {np.mean(exponential):.1f}"),
        "faster": Finding(
            share([ratio[law, files, load] > 100.0 for law, load in tails for files in SMALL_WINDOWS]),
            note=f"by {np.mean(short) - 100.0:.1f}% in the mean of F = 12 and 22",
        ),
        "falls": Finding(
            share([after < before for gains in falling for before, after in pairwise(gains)]),
            note=f"from F = 5 to 12 in {sum(gains[1] < gains[0] for gains in falling)} of {len(falling)} curves",
        ),
        "falls_in_all": Finding(share([gains[-1] < gains[1] for gains in falling])),
    }
    panels = []
    for law, name in NAMES.items():
        sizes = list(SMALL_WINDOWS)
        curves = [
            curve(f"load {load:.0%}", sizes, [ratio[law, files, load] for files in sizes], "simulation", number)
            for number, load in enumerate(LOADS)
        ]
        curves.append(curve("no change", [5.0, 80.0], [100.0, 100.0], "guide"))
        panels.append(
            Panel("F [packets]", "h with the small W_R, of that with 44 [%]", curves, name, from_zero=False, log_x=True)
        )
    title = "Figure 9: connection rate with W_R = 12 (F up to 22), 20 (36), 32 (80) against W_R = 44"
    return Outcome(findings, {"figure": Chart(title, panels, 3, share_y=True, size_inches=(15.0, 6.5))})
