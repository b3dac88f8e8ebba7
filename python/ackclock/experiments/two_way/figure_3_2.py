"""Figure 3.2: node j segment by segment, with windows of 4 over links of 2 segments."""

from collections.abc import Mapping
from typing import Final, Literal

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way.line import Pair, Visit, end_of, measured, most_data, scenario, visits
from ackclock.models import two_way
from ackclock.scenario import Resolved

PAIR = Pair((4, 4), (2.0, 2.0))
PHASES = tuple(round(0.25 * number, 2) for number in range(1, 25))
"""Times from the start of connection i to that of j, in segments; the paper's is one."""
PAPER: Final = "paper"
Key = Literal["paper"] | float
"""The paper's start, or another phase [ms]."""
CYCLE = 12
EFFICIENCY = 2.0 / 3.0
ROWS: Final = ("ACKs, simulated", "ACKs, model", "segments, simulated", "segments, model")


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Let both begin with their whole window, connection j later by a phase."""
    begin = {"flow.i.tcp.initial_window": "4 pkt", "flow.j.tcp.initial_window": "4 pkt"}
    rounds = setting.pick(40, 400)
    # In the paper node j begins its window a segment before node i's.
    found: dict[Key, Resolved] = {PAPER: scenario(PAIR, begin | {"flow.i.start": "1 ms"}, rounds)}
    found |= {phase: scenario(PAIR, begin | {"flow.j.start": f"{phase} ms"}, rounds) for phase in PHASES}
    return found


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge the timeline of the model and of the simulation, and whether the phase matters."""
    exact = two_way.timeline(windows=4, delays=2, starts=(-2, -3), until=4 * CYCLE)
    stays = visits(runs[PAPER])[1]
    late = end_of(runs[PAPER]) / 2.0
    begins = np.diff([stay.start for stay in _first_of_bursts(stays) if stay.start >= late]) * 1e3
    model_begins = np.diff([one.start for one in exact.j.sent if one.kind == "segment" and one.number % 4 == 1])
    by_phase = [measured(runs[phase]) for phase in PHASES]
    findings = {
        "efficiency": Finding(100.0 * measured(runs[PAPER], 1), 100.0 * float(exact.efficiencies[1])),
        "efficiency_other": Finding(100.0 * measured(runs[PAPER], 0), 100.0 * float(exact.efficiencies[0])),
        "period": Finding(float(begins[:2].sum()), float(exact.period), "two busy periods, in segments"),
        "busy_short": Finding(float(begins.min()), float(model_begins[2:].min()), "from t = 4 to t = 9"),
        "busy_long": Finding(float(begins.max()), float(model_begins[2:].max()), "from t = 9 to t = 16"),
        "queue": Finding(float(most_data(stays, late)), float(exact.j.queue[exact.j.queue_times > CYCLE].max())),
        "phase": Finding(
            share([abs(found - EFFICIENCY) < 0.003 for found in by_phase]),
            note=f"{len(PHASES)} phases: {100 * min(by_phase):.2f} to {100 * max(by_phase):.2f}%",
        ),
    }
    note = "ACKs have 1 byte in the simulation, none in the model; its segments are drawn as they leave node j's queue."
    return Outcome(findings, {"figure": _chart(exact, stays)}, (note,))


def _first_of_bursts(stays: list[Visit]) -> list[Visit]:
    return [stay for number, stay in enumerate(one for one in stays if one.is_data) if number % 4 == 0]


def _chart(exact: two_way.Timeline, stays: list[Visit]) -> Chart:
    sent = [one for one in exact.j.sent if 0 <= one.start < 2 * CYCLE]
    curves = []
    for kind, height, colour in (("segment", 3.0, 0), ("ACK", 1.0, 1)):
        times = np.array([one.end for one in sent if one.kind == kind])
        curves.append(Curve(f"{kind}s, model", times, np.full(len(times), height), "marks", colour))
    # The simulation's cycle that begins as the paper's does, with the last segment of a busy period in transmission.
    bursts = _first_of_bursts(stays)
    place = next(n for n in range(20, len(bursts)) if bursts[n + 1].start - bursts[n].start < 6e-3)
    zero = bursts[place].start - 4e-3
    for label, is_data, height, colour in (("segments, simulated", True, 2.0, 2), ("ACKs, simulated", False, 0.0, 3)):
        times = 1e3 * (np.array([stay.end for stay in stays if stay.is_data is is_data]) - zero)
        # ACKs take time in the simulation: its last segment of the two cycles ends a little later than the model's.
        times = times[(times >= 0.0) & (times < 2 * CYCLE + 0.5)]
        curves.append(Curve(label, times, np.full(len(times), height), "marks", colour))
    shown = (exact.j.queue_times >= 0) & (exact.j.queue_times < 2 * CYCLE)
    queue = [Curve("segments in node j's queue, model", exact.j.queue_times[shown], exact.j.queue[shown], "step", 0)]
    panels = [
        Panel("time [segments]", "", curves, "leaves node j", y_ticks=ROWS),
        Panel("time [segments]", "segments in the queue", queue, "node j's queue", y_whole=True),
    ]
    return Chart("Figure 3.2: node j with W = 4, L = 2: 8 of 12 slots carry segments", panels, 1)
