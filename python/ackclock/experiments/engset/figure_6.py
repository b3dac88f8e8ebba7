"""Figure 6: the ON time of a transfer of five packets."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.engset.path import KILO, curve
from ackclock.experiments.engset.single import finish_ms, lone, lone_path
from ackclock.experiments.frame import Finding, Outcome, Run, Setting
from ackclock.models import engset
from ackclock.scenario import Resolved

CAPACITY = 2.0
RTT_MS = 50.0
FILE = 5
WINDOW = 44


def scenarios(_setting: Setting) -> Mapping[str, Resolved]:
    """Give the one transfer."""
    return {"transfer": lone(CAPACITY, RTT_MS, WINDOW, FILE, duration="1 s", sequence=True)}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Compare its time, and the instants of its packets."""
    run, path = runs["transfer"], lone_path(CAPACITY, RTT_MS)
    course = engset.course(path, FILE, WINDOW)
    events = run.trace("sequence")
    sent = KILO * events[events["kind"] == "sent"]["time_s"].to_numpy()
    acknowledged = KILO * events[events["kind"] == "acknowledged"]["time_s"].to_numpy()
    apart = np.concatenate([sent - KILO * course.sent, acknowledged - KILO * course.acknowledged])
    model = KILO * float(engset.transfer(path, FILE, WINDOW).on_time)
    findings = {
        "on_time": Finding(finish_ms(run), model),
        "instants": Finding(float(np.max(np.abs(apart)))),
    }
    return Outcome(findings, {"figure": _chart(sent, acknowledged, course, model)})


def _chart(sent: np.ndarray, acknowledged: np.ndarray, course: engset.Course, on_ms: float) -> Chart:
    numbers = np.arange(1.0, FILE + 1.0)
    curves: list[Curve] = []
    for number in range(FILE):
        ends = [KILO * course.sent[number], KILO * course.acknowledged[number]]
        curves.append(curve("sent to acknowledged, theory", ends, [number + 1.0] * 2, "theory", 4))
    curves += [
        curve("packet sent, simulated", sent, numbers, "marks", 0),
        curve("ACK received, simulated", acknowledged, numbers, "marks", 1),
        curve(f"ON_0 = 2 RTT_0 + 2 Delta* = {on_ms:.0f} ms", [on_ms, on_ms], [0.0, FILE + 1.0], "guide"),
    ]
    title = "flights of 2 and 3 packets, (100M, 10M, 2M, R50)"
    panel = Panel("time since the first packet [ms]", "packet", curves, title)
    return Chart("Figure 6: the ON time of F = 5 packets", [panel])
