"""Figure 5.7: the IP queue with unequal rates; the caption has it at node 1L, the text at the right node."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting
from ackclock.experiments.two_way import asymmetric, symmetric
from ackclock.experiments.two_way.asymmetric import ENDS
from ackclock.experiments.two_way.atm import LENGTH, SEGMENT_S, USER_MBPS, peaks, stepped, user_mbps
from ackclock.models import two_way
from ackclock.scenario import Resolved


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the runs of sections 5.3 and 5.2."""
    return {"shown": asymmetric.shown(setting), "symmetric": symmetric.shown(setting)}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge how far apart peaks are, how high they are, and how idle the channel is."""
    run, before = runs["shown"], runs["symmetric"]
    found = {name: peaks(run, end, asymmetric.WARMUP_S) for name, end in ENDS.items()}
    spacing = {name: float(np.mean(np.diff(times))) for name, (times, _) in found.items()}
    highest = {name: float(np.mean(np.diff(times[tops > 0.8 * tops.max()]))) for name, (times, tops) in found.items()}
    times, tops = peaks(before, "vc", symmetric.WARMUP_S)
    symmetric_spacing = float(np.mean(np.diff(times[tops > 0.8 * tops.max()])))
    per_second = [user / USER_MBPS / SEGMENT_S for user in asymmetric.USER]
    most = np.asarray(two_way.maximum_queue(asymmetric.WINDOWS, LENGTH * SEGMENT_S, per_second)).tolist()
    idle = 1.0 - user_mbps(run, 1) / asymmetric.USER[1]
    idle_before = 1.0 - user_mbps(before, 0) / USER_MBPS
    ratios = [
        float(two_way.busy_period_interval(windows, LENGTH * SEGMENT_S, rates)[0])
        for windows, rates in ((asymmetric.WINDOWS, per_second), (28, 1.0 / SEGMENT_S))
    ]
    findings = {
        "spacing_1L": Finding(highest["1L"] / symmetric_spacing, note=_apart("its highest", highest["1L"])),
        "spacing_1R": Finding(highest["1R"] / symmetric_spacing, note=_apart("its highest", highest["1R"])),
        "spacing_all": Finding(
            spacing["1R"] / symmetric_spacing,
            ratios[0] / ratios[1],
            f"{_apart('all', spacing['1R'])}, with equal rates {1e3 * symmetric_spacing:.1f} ms",
        ),
        "idle": Finding(100.0 * (idle - idle_before), note="idle time of the 155 Mbit/s channel, in points more"),
        "queue_1L": Finding(float(found["1L"][1].max()), most[0], "less than the bound where the phase has it so"),
        "queue_1R": Finding(float(found["1R"][1].max()), most[1]),
    }
    since = asymmetric.WARMUP_S
    panels = []
    for number, (name, end) in enumerate(ENDS.items()):
        curve = stepped(run, "ip_queue", end, f"data packets at {name}", number, since=since, until=since + 0.25)
        panels.append(Panel("time [s]", "data packets", [curve], f"node {name}"))
    title = "Figure 5.7: the IP queues with rates of 51.6 (1L) and 155 Mbit/s (1R)"
    return Outcome(findings, {"figure": Chart(title, panels, 1)})


def _apart(which: str, seconds: float) -> str:
    return f"{which} peaks are {1e3 * seconds:.1f} ms apart"
