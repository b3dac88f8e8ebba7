"""Figure 13: the queue at a moderate and at a high load, B = 200."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.figure_12 import BUFFER, model_exceedance, near_model, queue_panel
from ackclock.experiments.engset.path import Law, Web, exceedance, packets
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.replication import ResolvedDict

QUICK = 400e3
LOADS = {66: "80.5%", 98: "119.6%"}
CASES: Mapping[str, tuple[Law, int]] = {
    "E, W_R = 44": ("E", 44),
    "EE, W_R = 44": ("EE", 44),
    "EE, W_R = 12": ("EE", 12),
}
LEAST = 0.01
LONG = 60.0


def _web(sources: int, case: str) -> Web:
    law, window = CASES[case]
    return Web(sources, 12, law, window, BUFFER)


def _turned(web: Web) -> Web:
    """Give (2M, 10M, 100M, R50), paced by the ingress link."""
    return replace(web, ingress=2.0, egress=100.0)


def scenarios(setting: Setting) -> Mapping[str, ResolvedDict]:
    """Give both loads, and the same with packets paced on their way in."""
    webs = [_web(sources, case) for sources in LOADS for case in CASES]
    webs += [_turned(web) for web in webs]
    return {web.label: web.scenario(packets(setting, QUICK), queue_distribution=True) for web in webs}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge the model at both loads, and the paced packets."""
    moderate, high = LOADS
    webs = {(sources, case): _web(sources, case) for sources in LOADS for case in CASES}
    model = float(model_exceedance(webs[moderate, "E, W_R = 44"], np.array([LONG]))[0])
    long = {case: _at(runs[webs[moderate, case].label], LONG) / model for case in CASES}
    bulges = {case: _bulge(runs[webs[high, case].label], webs[high, case]) for case in CASES}
    spread = {sources: _spread({case: runs[webs[sources, case].label] for case in CASES}) for sources in LOADS}
    apart = {key: _apart(runs[web.label], runs[_turned(web).label]) for key, web in webs.items()}
    farthest = max(apart, key=lambda key: apart[key])
    findings = {
        "follows": Finding(
            100.0 * share(near_model(runs[webs[moderate, "E, W_R = 44"].label], webs[moderate, "E, W_R = 44"], LEAST))
        ),
        "underestimates": Finding(
            share([long[case] > 2.0 for case in ("EE, W_R = 44", "EE, W_R = 12")]),
            note=f"P(Q > {LONG:g}), as a multiple of the theory: "
            + ", ".join(f"{case}: {one:.1f}" for case, one in long.items()),
        ),
        "bulge": Finding(
            share([one > 0.05 for one in bulges.values()]),
            note="largest P(Q > x) above the theory: "
            + ", ".join(f"{case}: {one:.2f}" for case, one in bulges.items()),
        ),
        "closer": Finding(
            float(spread[high] < spread[moderate]),
            note=f"largest quotient of P(Q > {LONG:g}) between the three: {spread[moderate]:.1f}, then {spread[high]:.1f}",
        ),
        "paced": Finding(apart[farthest], note=f"N = {farthest[0]}, {farthest[1]}"),
    }
    panels: list[Panel] = []
    for sources, load in LOADS.items():
        own = {case: runs[webs[sources, case].label] for case in CASES}
        panels.append(queue_panel(own, webs[sources, "E, W_R = 44"], f"N = {sources}: rho_0 = {load}"))
    title = "Figure 13: the queue at a moderate and a high load, (10M, 2M, R50), F = 12, B = 200"
    return Outcome(findings, {"figure": Chart(title, panels, 2, size_inches=(14.0, 7.0))})


def _at(run: Run, x: float) -> float:
    places, found = exceedance(run)
    return float(found[places == x].sum())


def _bulge(run: Run, web: Web) -> float:
    x, found = exceedance(run)
    return float(np.max(found - model_exceedance(web, x)))


def _spread(runs: Mapping[str, Run]) -> float:
    found = [_at(run, LONG) for run in runs.values()]
    return max(found) / min(found)


def _apart(one: Run, other: Run) -> float:
    (_, first), (_, second) = exceedance(one), exceedance(other)
    length = max(len(first), len(second))
    pad = [np.pad(found, (0, length - len(found))) for found in (first, second)]
    return float(np.max(np.abs(pad[0] - pad[1])))
