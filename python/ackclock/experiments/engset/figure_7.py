"""Figure 7: the queue of a round in which slow start reaches the receiver window."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.path import KILO, curve
from ackclock.experiments.engset.single import lone, lone_path, queue_of
from ackclock.experiments.frame import Finding, Outcome, Run, Setting
from ackclock.models import engset
from ackclock.scenario import Resolved

WINDOW = 12
FILE = 62
ROUNDS = 5
SERVICE_MS = 1.2
RTT_MS = 50.0


def scenarios(_setting: Setting) -> Mapping[str, Resolved]:
    """Give one transfer over (10M, 1G, R50) with W_R = 12: eight ACKs, four increases in its fourth round."""
    return {"transfer": lone(10.0, RTT_MS, WINDOW, FILE, duration="1 s", ingress=10_000.0, queue=True)}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Compare the largest queue and the contribution of each round."""
    frame = queue_of(runs["transfer"], "shared")
    time, queue = KILO * frame["time_s"].to_numpy(), frame["packets"].to_numpy(dtype=float)
    model = engset.single_queue(lone_path(10.0, RTT_MS), FILE, WINDOW).rounds[:ROUNDS]
    rounds = (time / RTT_MS).astype(int)
    lasting = np.append(np.diff(time), 0.0)
    areas = [float((queue * lasting)[rounds == number].sum()) / SERVICE_MS for number in range(ROUNDS)]
    largest = [float(queue[rounds == number].max()) for number in range(ROUNDS)]
    formulas = [KILO * one.contribution / SERVICE_MS for one in model]
    findings = {
        "largest": Finding(largest[3], float(model[3].largest_queue)),
        "contribution": Finding(areas[3], formulas[3]),
        "slow_start": Finding(areas[2], formulas[2]),
        "reached": Finding(areas[4], formulas[4]),
    }
    shown = rounds < ROUNDS
    panels = [
        Panel(
            "time [ms]",
            "packets at the link",
            [curve("simulated", time[shown], queue[shown], "step", 0)],
            "five rounds",
        ),
        Panel(
            "time [ms]",
            "packets at the link",
            [
                curve("simulated", time[rounds == 3], queue[rounds == 3], "step", 0),
                curve("Q_max = v + 1, theory", [150.0, 166.0], [model[3].largest_queue] * 2, "theory", 1),
            ],
            f"round 4: v = 4 increases, 8 ACKs; {areas[3]:.1f} Delta (formula: {formulas[3]:.0f})",
        ),
    ]
    title = "Figure 7: four increases up to the receiver window of 12, link not saturated"
    return Outcome(findings, {"figure": Chart(title, panels, 2, size_inches=(13.0, 6.0))})
