"""Figure 5.6: the allowed cell rates of both connections, with unequal rates."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting
from ackclock.experiments.two_way.asymmetric import ENDS, RATES, shown
from ackclock.experiments.two_way.atm import acr_reaches, rows, stepped
from ackclock.scenario import Resolved


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the run of the section."""
    return {"shown": shown(setting)}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge where both rates end."""
    run = runs["shown"]
    findings, curves = {}, []
    for number, (name, end) in enumerate(ENDS.items()):
        _, values = rows(run, "acr", end)
        reached = acr_reaches(run, end, RATES[number])
        findings[f"rate_{name}"] = Finding(float(values[-1]) / 1e6, note=f"reached after {1e3 * reached:.0f} ms")
        curves.append(stepped(run, "acr", end, f"{name}, simulated", number, until=0.4))
        level = np.full(2, RATES[number])
        curves.append(Curve(f"{name}, the paper's {RATES[number]:g} Mbit/s", np.array([0.0, 0.4]), level, "guide"))
    panel = Panel("time [s]", "allowed cell rate [Mbit/s]", curves, y_top=175.0)
    return Outcome(findings, {"figure": Chart("Figure 5.6: the allowed cell rates of both connections", [panel])})
