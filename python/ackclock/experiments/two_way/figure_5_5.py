"""Figure 5.5: sequence numbers of both connections, with unequal rates."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting
from ackclock.experiments.two_way.asymmetric import ENDS, MODEL, USER, shown
from ackclock.experiments.two_way.atm import MEGABYTE, sent, straight, user_mbps
from ackclock.experiments.two_way.line import instants
from ackclock.scenario import Resolved

SINCE_S, UNTIL_S = 0.4, 1.0


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the run of the section."""
    return {"shown": shown(setting)}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge both efficiencies."""
    run = runs["shown"]
    left, right = (user_mbps(run, flow) / USER[flow] for flow in (0, 1))
    findings = {
        "right": Finding(100.0 * right, 100.0 * MODEL[1]),
        "left": Finding(100.0 * left, 100.0 * MODEL[0]),
        "left_formula": Finding(100.0 * left, 100.0 * MODEL[0], "with L = 14.25, the propagation alone, 85.3%"),
        "impacted": Finding(float(right < 0.651), note="below what equal rates leave it, 65.1%"),
    }
    curves = []
    for flow, name in enumerate(ENDS):
        at = (SINCE_S, float(np.sum(instants(run, flow, "sent") <= SINCE_S)) * MEGABYTE)
        curves += [
            sent(run, flow, f"{name}, simulated", flow, until=UNTIL_S),
            straight(f"{name}, optimal: {USER[flow]:.1f} Mbit/s", USER[flow], at, UNTIL_S, flow + 2),
            straight(f"{name}, by (4.2): {100 * MODEL[flow]:.0f}% of it", MODEL[flow] * USER[flow], at, UNTIL_S, flow),
        ]
    panel = Panel("time [s]", "data sent by TCP [MB]", curves)
    return Outcome(
        findings, {"figure": Chart("Figure 5.5: sequence numbers with rates of 51.6 and 155 Mbit/s", [panel])}
    )
