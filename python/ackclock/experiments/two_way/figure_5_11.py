"""Figure 5.11: a connection from node 1L next to one from node 3L."""

from collections.abc import Mapping

from ackclock.charts import Chart, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way import r_1
from ackclock.experiments.two_way.atm import sent, user_mbps
from ackclock.scenario import Resolved


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the run, and the same with later phases."""
    return {"shown": r_1.shown(setting)} | r_1.staggered(setting)


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge that the short connections get more."""
    run = runs["shown"]
    short = [user_mbps(one, r_1.FIRST["3L"] + number) for one in runs.values() for number in range(4)]
    long = [
        user_mbps(one, r_1.FIRST[node] + number)
        for one in runs.values()
        for node in ("1L", "2L")
        for number in range(4)
    ]
    findings = {
        "short_gets_more": Finding(
            share([min(short) > one for one in long]),
            note=", ".join(f"{node}: {100 * r_1.efficiency(run, node):.1f}%" for node in ("3L", "1L"))
            + " of its share",
        ),
        "compressed": Finding(
            share([r_1.efficiency(one, node) < 0.97 for one in runs.values() for node in r_1.FIRST]),
            note="below 97% at each node, the near ones too: there the loss is one segment of store and forward in 28",
        ),
    }
    curves = [
        sent(run, 0, "1L, connection 1", 0, until=0.8),
        sent(run, r_1.FIRST["3L"], "3L, connection 1", 1, until=0.8),
    ]
    panel = Panel("time [s]", "data sent by TCP [MB]", curves)
    return Outcome(findings, {"figure": Chart("Figure 5.11: a long connection (1L) and a short one (3L)", [panel])})
