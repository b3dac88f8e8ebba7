"""Figure 2.4: what a node sends: a whole window of segments, then the ACKs of the other connection."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way.line import Pair, end_of, runs_of_data, scenario, visits
from ackclock.scenario import Resolved

PAIR = Pair((12, 12), (6.0, 6.0))
SHOWN_S = 0.06


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give two equal connections whose windows fill the pipe."""
    return {"pair": scenario(PAIR, {"flow.j.start": "3.3 ms"}, setting.pick(40, 200))}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge how long the runs of segments and of ACKs are."""
    run = runs["pair"]
    found = visits(run)
    late, end = end_of(run) / 2.0, end_of(run) - PAIR.round_s
    lengths = [length for stays in found for length in runs_of_data(stays, late, end)]
    findings = {
        "whole_windows": Finding(
            share([length == PAIR.windows[0] for length in lengths]), note=f"{len(lengths)} runs of segments, both ends"
        )
    }
    panels = []
    for node, name in enumerate("ij"):
        shown = [stay for stay in found[node] if late <= stay.start <= late + SHOWN_S]
        curves = []
        for is_data, label, height in ((True, "segments of its own connection", 1.0), (False, "ACKs", 0.0)):
            times = np.array([stay.end for stay in shown if stay.is_data is is_data]) - late
            curves.append(Curve(label, 1e3 * times, np.full(len(times), height), "marks", int(not is_data)))
        panels.append(Panel("time [ms]", "", curves, f"leaves node {name}", y_ticks=("ACKs", "segments")))
    title = "Figure 2.4: a node sends its window as one burst, the ACKs between (W = 12, L = 6; 1 ms is a segment)"
    return Outcome(findings, {"figure": Chart(title, panels, 1)})
