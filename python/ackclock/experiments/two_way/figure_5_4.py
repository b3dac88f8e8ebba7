"""Figure 5.4: sequence numbers of the left-to-right connection, and what they would be without the other."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way.atm import (
    LENGTH,
    MEGABYTE,
    SEGMENT_S,
    USER_MBPS,
    scenario,
    sent,
    straight,
    user_mbps,
)
from ackclock.experiments.two_way.line import instants
from ackclock.experiments.two_way.symmetric import SHOWN_S, WARMUP_S, shown
from ackclock.models import two_way
from ackclock.scenario import Resolved

TOGETHER = "0 s"
LARGER = "larger window"
"""The run in which the first connection is not idle by (3.21): its window exceeds the other by more than the pipe."""
LATER = ("5 ms", "12 ms", "31 ms")
SINCE_S = 0.15


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the run of the section, long ones with the second connection later, and one of the first alone."""
    long = {"run.duration": setting.pick("3 s", "20 s"), "run.warmup": "1 s", "trace.sequence": True}
    staggered = {time: scenario("abr", long | {"flow.right.start": time}) for time in (TOGETHER, *LATER)}
    return {"shown": shown(setting), LARGER: scenario("abr", long | {"flow.left.tcp.max_window": "64 pkt"})} | staggered


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge the throughput, its steps, and that a staggered start changes nothing."""
    run = runs["shown"]
    model = float(two_way.efficiency(28, LENGTH)[0])
    share_of = {name: [user_mbps(runs[name], f) / USER_MBPS for f in (0, 1)] for name in (TOGETHER, *LATER)}
    together = share_of[TOGETHER][0]
    times = instants(run, 0, "sent")
    gaps = np.diff(times[times > WARMUP_S])
    # Of segments that leave TCP nearer than half a segment's time: they come of ACKs that were bunched.
    bunched = float(np.mean(gaps < SEGMENT_S / 2.0))
    findings = {
        "efficiency": Finding(100.0 * together, 100.0 * model, "with L = 14.25, the propagation alone, 66.3%"),
        "available": Finding(
            user_mbps(runs[LARGER], 0),
            USER_MBPS,
            "windows of 64 and 28: by (3.21) the first is never idle; 155.52 Mbit/s",
        ),
        "below_optimal": Finding(share([one < 0.75 for ends in share_of.values() for one in ends])),
        "steps": Finding(bunched, note="part of the segments that leave TCP in the wake of another"),
        "staggered": Finding(
            100.0 * max(abs(one - together) for ends in share_of.values() for one in ends),
            note=f"largest difference in points; second start after {', '.join(LATER)}",
        ),
    }
    begin = (SINCE_S, float(np.sum(times <= SINCE_S)) * MEGABYTE)
    panels = []
    for title, since, until in (("from the start", 0.0, SHOWN_S), ("magnified", 0.3, 0.4)):
        at = begin if since == 0.0 else (since, float(np.sum(times <= since)) * MEGABYTE)
        curves = [
            sent(run, 0, "1L, simulated", 0, since=since, until=until),
            straight("optimal: 131 Mbit/s", USER_MBPS, at, until, 1),
            straight("by (3.21): 65.1% of it", model * USER_MBPS, at, until, 2),
        ]
        panels.append(Panel("time [s]", "data sent by TCP [MB]", curves, title, from_zero=since == 0.0))
    return Outcome(findings, {"figure": Chart("Figure 5.4: sequence numbers of connection 1L", panels, 1)})
