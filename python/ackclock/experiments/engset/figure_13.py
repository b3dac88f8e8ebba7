"""Figure 13: the queue at a moderate and at a high load, B = 200."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ackclock.charts import Chart
from ackclock.experiments.engset.figure_12 import BUFFER, above, averages, model_exceedance, near_model, queue_panel
from ackclock.experiments.engset.path import Law, Web, exceedance, packets
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

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


def scenarios(setting: Setting) -> Mapping[Web, Resolved]:
    """Give both loads, and the same with packets paced on their way in."""
    webs = [_web(sources, case) for sources in LOADS for case in CASES]
    webs += [_turned(web) for web in webs]
    return {web: web.scenario(packets(setting, QUICK), queue_distribution=True) for web in webs}


def outcome(_setting: Setting, runs: Mapping[Web, Run]) -> Outcome:
    """Judge the model at both loads, and the paced packets."""
    found = {(sources, case): runs[_web(sources, case)] for sources in LOADS for case in CASES}
    paced = {(sources, case): runs[_turned(_web(sources, case))] for sources in LOADS for case in CASES}
    panels, notes = [], []
    for sources, load in LOADS.items():
        own = {case: found[sources, case] for case in CASES}
        panels.append(queue_panel(own, _web(sources, "E, W_R = 44"), f"N = {sources}: rho_0 = {load}"))
        notes.append(f"N = {sources}: {averages(own)}.")
    title = "Figure 13: the queue at a moderate and a high load, (10M, 2M, R50), F = 12, B = 200"
    chart = Chart(title, panels, 2, share_y=True, size_inches=(14.0, 7.0))
    return Outcome(_loads(found) | _paced(found, paced), {"figure": chart}, notes)


def _loads(found: Mapping[tuple[int, str], Run]) -> dict[str, Finding]:
    moderate, high = LOADS
    plain = _web(moderate, "E, W_R = 44")
    near = near_model(found[moderate, "E, W_R = 44"], plain, LEAST)
    theory = float(model_exceedance(plain, np.array([LONG]))[0])
    long = {case: above(found[moderate, case], LONG) / theory for case in CASES}
    bulges = {case: _bulge(found[high, case], _web(high, case)) for case in CASES}
    spread = {sources: _spread([found[sources, case] for case in CASES]) for sources in LOADS}
    multiples = ", ".join(f"{case}: {one:.1f}" for case, one in long.items())
    largest = ", ".join(f"{case}: {one:.2f}" for case, one in bulges.items())
    return {
        "follows": Finding(100.0 * share(near)),
        "underestimates": Finding(
            share([long[case] > 2.0 for case in ("EE, W_R = 44", "EE, W_R = 12")]),
            note=f"P(Q > {LONG:g}), as a multiple of the theory: {multiples}",
        ),
        "bulge": Finding(
            share([one > 0.05 for one in bulges.values()]), note=f"largest P(Q > x) above the theory: {largest}"
        ),
        "closer": Finding(
            float(spread[high] < spread[moderate]),
            note=f"largest by least P(Q > {LONG:g}) of the three: {spread[moderate]:.1f}, then {spread[high]:.1f}",
        ),
    }


def _paced(found: Mapping[tuple[int, str], Run], paced: Mapping[tuple[int, str], Run]) -> dict[str, Finding]:
    apart = {key: _apart(run, paced[key]) for key, run in found.items()}
    farthest = max(apart, key=lambda key: apart[key][0])
    beyond = max(found_apart for found_apart, _ in (_apart(run, paced[key], 20) for key, run in found.items()))
    note = f"N = {farthest[0]}, {farthest[1]}, x = {apart[farthest][1]}; from x = 20 on at most {beyond:.3f}"
    return {"paced": Finding(apart[farthest][0], note=note)}


def _bulge(run: Run, web: Web) -> float:
    x, found = exceedance(run)
    return float(np.max(found - model_exceedance(web, x)))


def _spread(runs: Sequence[Run]) -> float:
    found = [above(run, LONG) for run in runs]
    return max(found) / min(found)


def _apart(one: Run, other: Run, first: int = 0) -> tuple[float, int]:
    """Give the largest difference of P(Q > x), and its x."""
    found = [exceedance(run)[1] for run in (one, other)]
    length = max(map(len, found))
    pad = [np.pad(values, (0, length - len(values))) for values in found]
    apart = np.abs(pad[0] - pad[1])[first:]
    return float(apart.max()), first + int(apart.argmax())
