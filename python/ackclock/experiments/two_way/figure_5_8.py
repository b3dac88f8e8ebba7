"""Figure 5.8: throughput of both connections averaged from t = 0, and the expected one."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way.asymmetric import ENDS, MODEL, USER, shown
from ackclock.experiments.two_way.atm import average_from_zero, user_mbps
from ackclock.experiments.two_way.line import end_of
from ackclock.scenario import Resolved


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the run of the section."""
    return {"shown": shown(setting)}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge the throughput in steady state and how near the average comes to it."""
    run = runs["shown"]
    times = np.linspace(0.02, end_of(run), 400)
    averages = [average_from_zero(run, flow, times) for flow in (0, 1)]
    expected = [part * rate for part, rate in zip(MODEL, USER, strict=True)]
    steady = [user_mbps(run, flow) for flow in (0, 1)]
    findings = {
        "right": Finding(
            steady[1], expected[1], f"steady; averaged from 0 to {times[-1]:g} s it is {averages[1][-1]:.1f}"
        ),
        "left": Finding(steady[0], expected[0], f"steady; averaged from 0 it is {averages[0][-1]:.1f}"),
        "close": Finding(
            share([abs(found[-1] / model - 1.0) < 0.05 for found, model in zip(averages, expected, strict=True)]),
            note="the averages at the end, within 5%",
        ),
    }
    curves = []
    for flow, name in enumerate(ENDS):
        curves += [
            Curve(f"{name}, averaged from t = 0", times, averages[flow], "simulation", flow),
            Curve(f"{name}, expected by (4.2)", np.array([0.0, times[-1]]), np.full(2, expected[flow]), "theory", flow),
        ]
    curves.append(Curve("the paper: 1R reaches 73.5 Mbit/s", times[-1:], np.array([73.5]), "paper", 1))
    panel = Panel("time [s]", "throughput of TCP segments [Mbit/s]", curves)
    return Outcome(findings, {"figure": Chart("Figure 5.8: throughput averaged from t = 0", [panel])})
