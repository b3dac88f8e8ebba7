"""Figure 5.13: figure 5.10 magnified: segments in clusters, and some one by one."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way import r_1
from ackclock.experiments.two_way.atm import sent
from ackclock.scenario import Resolved

PEAK = 23
LAST = 5
"""Number of segments between two clusters: in the paper 23 of 28 come in a cluster."""


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the run, and the same with later phases."""
    return {"shown": r_1.shown(setting)} | r_1.staggered(setting)


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge the clusters and what comes between them."""
    run = runs["shown"]
    times, owners = r_1.sends(run)
    found = r_1.clusters(times)
    sizes = {name: [end - begin for begin, end in r_1.clusters(r_1.sends(one)[0])] for name, one in runs.items()}
    single, alike = [], []
    for (_, end), (following, _) in pairwise(found):
        single += np.diff(times[end:following]).tolist()
        alike.append(len(set(owners[following - LAST : following].tolist())) == 1)
    others = ", ".join(f"{max(sizes[time])}" for time in r_1.PHASES)
    findings = {
        "cluster": Finding(
            float(np.median(sizes["shown"])),
            note=f"all together; largest with the right nodes later by {', '.join(r_1.PHASES)}: {others}",
        ),
        "some_phase": Finding(float(max(max(one) for one in sizes.values())), note="the largest of all phases tried"),
        "spacing": Finding(float(np.median(single)) / r_1.SHARE_SEGMENT_S, note=f"of {len(single)} gaps"),
        "one_connection": Finding(share(alike), note=f"the last {LAST} of each busy period are of one connection"),
    }
    since = times[found[0][0]] - 0.01
    curves = [
        sent(run, number, f"1L, connection {number + 1}", number, since=since, until=since + 0.2) for number in range(4)
    ]
    panel = Panel("time [s]", "data sent by TCP [MB]", curves, from_zero=False)
    return Outcome(findings, {"figure": Chart("Figure 5.13: the four connections from node 1L, magnified", [panel])})
