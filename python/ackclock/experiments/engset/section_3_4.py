"""Section 3.4: the round trip of 300 ms, which was simulated and is in no figure."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.figure_8 import QUICK, SETTINGS, settings
from ackclock.experiments.engset.path import KILO, Web, curve, packets, rate_kbps
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

RTT_MS = 300


def scenarios(setting: Setting) -> Mapping[Web, Resolved]:
    """Give the settings of figure 8 with the long round trip."""
    return {web: web.scenario(packets(setting, QUICK)) for _, _, web in settings((RTT_MS,))}


def outcome(_setting: Setting, runs: Mapping[Web, Run]) -> Outcome:
    """Judge the rate as figure 8 does."""
    points = list(settings((RTT_MS,)))
    errors = np.array(
        [100.0 * (float(web.prediction.rate) / KILO / rate_kbps(runs[web]).value - 1.0) for _, _, web in points]
    )
    text = f"{len(errors)} points, error {errors.min():+.1f} to {errors.max():+.1f}%"
    findings = {"accurate": Finding(model=100.0 * share((np.abs(errors) <= 10.0).tolist()), note=text)}
    load = 100.0 * np.array([float(web.prediction.offered_load) for _, _, web in points])
    names = np.array([name for name, _, _ in points])
    curves = [
        curve(name, load[names == name], errors[names == name], "marks", number) for number, name in enumerate(SETTINGS)
    ]
    panel = Panel("open-loop load rho_0 [%]", "model less simulation [%]", curves, from_zero=False)
    return Outcome(findings, {"rate": Chart("Section 3.4: error of the rate with RTT_0 = 300 ms", [panel])})
