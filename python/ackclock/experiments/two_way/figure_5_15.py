"""Figure 5.15: sequence numbers of the three connections from the server."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way import client_server as setup
from ackclock.experiments.two_way.atm import sent, straight, user_mbps
from ackclock.experiments.two_way.line import instants
from ackclock.scenario import Resolved


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the run of the section."""
    return {"shown": setup.shown(setting)}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge that each pair has the effect, and all have the same."""
    run = runs["shown"]
    rates = [user_mbps(run, flow) for flow in setup.TO_CLIENT]
    bunched = []
    for flow in setup.TO_CLIENT:
        times = instants(run, flow, "sent")
        bunched.append(float(np.mean(np.diff(times[times > setup.WARMUP_S]) < setup.SHARE_SEGMENT_S / 2.0)))
    findings = {
        "effect": Finding(
            share([rate < 0.8 * setup.USER for rate in rates]),
            note="each connection from the server below four fifths of its channel",
        ),
        "steps": Finding(min(bunched), note="part of the segments that leave TCP in the wake of another"),
        "alike": Finding(max(rates) / min(rates) - 1.0, note="largest throughput over the smallest, less 1"),
    }
    curves = [
        sent(run, flow, f"server to {place + 1}L", place, until=0.5) for place, flow in enumerate(setup.TO_CLIENT)
    ]
    curves.append(straight("optimal: 43.6 Mbit/s", setup.USER, (0.0, 0.0), 0.5, 4))
    panel = Panel("time [s]", "data sent by TCP [MB]", curves)
    note = "The three start together and are alike in all, so their curves lie on one another."
    return Outcome(findings, {"figure": Chart("Figure 5.15: the connections from the server", [panel])}, (note,))
