"""Section 5.2: the model's error with long-tailed sizes, and what the window has to do with it."""

from collections.abc import Mapping

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.figure_9 import LOADS
from ackclock.experiments.engset.path import KILO, Web, curve, packets, rate_kbps
from ackclock.experiments.frame import Finding, Measure, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

QUICK = 1.5e6
PRINTED = {44: (11.6, 19.4, 7.8), 12: (0.2, 4.5, 2.5)}


def _webs() -> dict[tuple[int, float], Web]:
    found = {}
    for window in PRINTED:
        for load in LOADS:
            sources = Web(1, egress=1000.0).at_load(load).sources
            found[window, load] = Web(sources, law="EE", window=window, egress=1000.0)
    return found


def scenarios(setting: Setting) -> Mapping[Web, Resolved]:
    """Give both windows at three loads."""
    return {web: web.scenario(packets(setting, QUICK)) for web in _webs().values()}


def outcome(_setting: Setting, runs: Mapping[Web, Run]) -> Outcome:
    """Compare the errors with the printed ones."""
    errors = {}
    for key, web in _webs().items():
        model, found = float(web.prediction.rate) / KILO, rate_kbps(runs[web])
        errors[key] = Measure(*(100.0 * (model / value - 1.0) for value in (found.value, found.high, found.low)))
    findings = {f"W{window}_{round(100 * load)}": Finding(found) for (window, load), found in errors.items()}
    findings["window"] = Finding(share([errors[12, load].value < errors[44, load].value for load in LOADS]))
    loads = [100.0 * load for load in LOADS]
    curves = []
    for number, (window, paper) in enumerate(PRINTED.items()):
        curves.append(
            curve(
                f"W_R = {window}, simulated",
                loads,
                [errors[window, load].value for load in LOADS],
                "simulation",
                number,
            )
        )
        curves.append(curve("the paper", loads, paper, "paper", number))
    panel = Panel("open-loop load rho_0 [%]", "model less simulation [%]", curves, from_zero=False)
    title = "Section 5.2: error of the calculated rate with an exponential tail (EE), F = 12, (10M, 1G, R50)"
    return Outcome(findings, {"errors": Chart(title, [panel])})
