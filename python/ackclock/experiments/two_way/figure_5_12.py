"""Figure 5.12: the IP queue at node 1L, with four connections each way."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting
from ackclock.experiments.two_way import r_1
from ackclock.experiments.two_way.atm import peaks, rows, stepped
from ackclock.models import two_way
from ackclock.scenario import Resolved

PEAK = 23


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the run, and the same with later phases."""
    return {"shown": r_1.shown(setting)} | r_1.staggered(setting)


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge the peaks, one by one and in pairs."""
    # As in figure 5.3: segments that wait, without the one in service.
    tops = {name: peaks(run, "vc1", r_1.WARMUP_S)[1] - 1.0 for name, run in runs.items()}
    shown = tops["shown"]
    highest = ", ".join(f"{tops[time].max():g}" for time in r_1.PHASES)
    following = two_way.next_queue(PEAK, windows=r_1.FAT, delays=r_1.LENGTH)
    findings = {
        "peak": Finding(
            float(shown.max()), note=f"all together; right nodes later by {', '.join(r_1.PHASES)}: {highest}"
        ),
        "some_phase": Finding(
            float(max(float(one.max()) for one in tops.values())), note="the largest of all phases tried"
        ),
        "empties": Finding(float(rows(runs["shown"], "ip_queue", "vc1")[1][-200:].min())),
        "pairs": Finding(
            float(np.median(np.concatenate([one[1:] + one[:-1] for one in tops.values()]))),
            PEAK + float(following[0]),
            "two peaks in turn; the formula with L = 9",
        ),
    }
    panels = []
    for title, name in (("all together", "shown"), (f"right nodes {r_1.PHASES[0]} later", r_1.PHASES[0])):
        until = r_1.WARMUP_S + 0.5
        curves = [
            stepped(
                runs[name], "ip_queue", "vc1", "data packets in the IP queue of 1L", 0, since=r_1.WARMUP_S, until=until
            ),
            Curve("the paper: up to 23", np.array([r_1.WARMUP_S, until]), np.full(2, float(PEAK)), "guide"),
        ]
        panels.append(Panel("time [s]", "data packets", curves, title))
    return Outcome(findings, {"figure": Chart("Figure 5.12: the IP queue at node 1L", panels, 1)})
