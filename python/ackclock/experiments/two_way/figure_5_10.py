"""Figure 5.10: sequence numbers of the four connections from node 1L."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way import r_1
from ackclock.experiments.two_way.atm import sent, straight, user_mbps
from ackclock.scenario import Resolved


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the run, and the same with later phases."""
    return {"shown": r_1.shown(setting), "one way": r_1.one_way(setting)} | r_1.staggered(setting)


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge efficiency, steps and that the four go on together."""
    run = runs["shown"]
    times, owners = r_1.sends(run)
    begins = [begin for begin, _ in r_1.clusters(times)]
    periods = [np.bincount(owners[one:other], minlength=4) for one, other in pairwise(begins)]
    each = [user_mbps(run, number) for number in range(4)]
    others = ", ".join(f"{100 * r_1.efficiency(runs[time], '1L'):.1f}" for time in r_1.PHASES)
    findings = {
        "efficiency": Finding(
            100.0 * r_1.efficiency(run, "1L"),
            100.0 * r_1.MODEL,
            f"right nodes later by {', '.join(r_1.PHASES)}: {others}%; the IP queue stores and forwards once more: "
            "with L = 9.9 the formula has 73.9%",
        ),
        "available": Finding(
            user_mbps(runs["one way"], 0, 1, 2, 3), r_1.USER, "the four from 1L, where no connection goes the other way"
        ),
        "synchronized": Finding(
            share([bool(np.all(counts == r_1.WINDOW)) for counts in periods]),
            note=f"each sends its whole window in each of {len(periods)} busy periods",
        ),
        "equal": Finding(max(each) / min(each) - 1.0, note="largest throughput of the four over the smallest, less 1"),
    }
    curves = [sent(run, number, f"1L, connection {number + 1}", number, until=0.8) for number in range(4)]
    curves.append(straight("a quarter of 43.6 Mbit/s", r_1.USER / 4.0, (0.0, 0.0), 0.8, 4))
    panel = Panel("time [s]", "data sent by TCP [MB]", curves)
    return Outcome(findings, {"figure": Chart("Figure 5.10: the four connections from node 1L", [panel])})
