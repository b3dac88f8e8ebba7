"""Figure 3.1: the proof of lemma 2, drawn from a run, and its steps measured busy period by busy period."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from ackclock.charts import Chart, Curve, Panel, StraightLine
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way.line import PER_SECOND, TIE_S, Pair, Visit, end_of, scenario, visits
from ackclock.models import two_way
from ackclock.scenario import Resolved

SHOWN: Final = (Pair((10, 8), (5.0, 5.0)), 2.5)
"""The pair that is drawn, and the phase: the time from the start of j to that of i, in segments."""
PAIRS: Final = (
    Pair((10, 8), (5.0, 5.0)),
    Pair((8, 8), (4.0, 4.0)),
    Pair((12, 9), (5.0, 5.0)),
    Pair((9, 12), (6.0, 4.0)),
)
PHASES: Final = (1.0, 2.5, 4.0)
BEFORE: Final = 14.0
"""Time that is drawn before the busy period, in segments."""
Key = tuple[Pair, float]
"""The pair, and the phase."""
TOGETHER: Final = 0.05
"""Time within which ACKs arrive bunched, in segments: those of 1 byte need a ten thousandth of that each."""


class Busy(NamedTuple):
    """A busy period of node i, with what its first segment meets at node j; times in segments.

    Parameters
    ----------
    begin, end : float
        Instants at which node i begins and ends to transmit it.
    reached : float
        Instant at which its first bit reaches node j, tau_i,k.
    queue : float
        Segments of connection j that node j has not transmitted by then, Q_j.
    begun : float
        Instant at which the first bit of that busy period of j reaches node i, tau_j,m.
    bunched : int
        Segments that entered node j's queue together as that busy period began.
    """

    begin: float
    end: float
    reached: float
    queue: float
    begun: float
    bunched: int


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Let both begin with their whole window, i later by a phase."""
    rounds = setting.pick(40, 400)
    return {(pair, phase): _resolved(pair, phase, rounds) for pair in PAIRS for phase in PHASES}


def _resolved(pair: Pair, phase: float, rounds: int) -> Resolved:
    begin = {
        f"flow.{flow}.tcp.initial_window": f"{window} pkt" for flow, window in zip("ij", pair.windows, strict=True)
    }
    return scenario(pair, begin | {"flow.i.start": f"{phase:g} ms"}, rounds)


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge the steps of the proof, and draw one case of it."""
    found = {key: busy_periods(run, key[0]) for key, run in runs.items()}
    steps = [(pair, one, two) for (pair, _), periods in found.items() for one, two in pairwise(periods)]
    queues = [abs(two.queue - _next(pair, one.queue)) for pair, one, two in steps]
    seen = sorted({round(one.queue, 1) for _, one, _ in steps})
    spacing = [
        abs(three.reached - one.reached - sum(pair.windows) - sum(pair.lengths))
        for (pair, _), periods in found.items()
        for one, three in zip(periods[:-2], periods[2:], strict=True)
    ]
    findings = {
        "queue": Finding(
            max(queues), 0.0, f"{len(queues)} busy periods of {len(found)} runs; Q_j from {seen[0]:g} to {seen[-1]:g}"
        ),
        "bunched": Finding(
            max(abs(two.bunched - _next(pair, one.queue)) for pair, one, two in steps),
            note="segments that enter node j's queue together, against (3.12)",
        ),
        "sent": Finding(
            max(abs(one.end - (one.reached - pair.lengths[0] + pair.windows[0])) for pair, one, _ in steps)
        ),
        "spacing": Finding(max(spacing)),
        "alternates": Finding(
            share(
                [
                    abs(three.queue - one.queue) < TOGETHER
                    for periods in found.values()
                    for one, three in zip(periods[:-2], periods[2:], strict=True)
                ]
            )
        ),
    }
    note = "Each line is the first bit of a segment between the nodes; instants and queue are the run's."
    return Outcome(findings, {"proof": _chart(found[SHOWN], runs[SHOWN])}, (note,))


def _next(pair: Pair, queue: float) -> float:
    bound = min(queue, float(pair.windows[1]))
    return float(two_way.next_queue([0.0, bound], windows=pair.windows, delays=pair.lengths)[1])


def busy_periods(run: Run, pair: Pair) -> list[Busy]:
    """Measure the busy periods of node i in the second half of a run."""
    here, there = ([stay for stay in stays if stay.is_data] for stays in visits(run))
    bursts = [_bursts(stays, window) for stays, window in zip((here, there), pair.windows, strict=True)]
    late, last = end_of(run) / 2.0, end_of(run) - 2.0 * pair.round_s
    starts = np.array([burst[0].start for burst in bursts[1]])
    found = []
    for burst in bursts[0]:
        if not late <= burst[0].start <= last:
            continue
        reached = burst[0].start + pair.lengths[0] / PER_SECOND
        other = bursts[1][int(np.searchsorted(starts, reached, side="right")) - 1]
        sent = min(max(PER_SECOND * (reached - other[0].start), 0.0), float(pair.windows[1]))
        bunched = [stay for stay in other if PER_SECOND * (stay.entered - other[0].entered) < TOGETHER]
        found.append(
            Busy(
                PER_SECOND * burst[0].start,
                PER_SECOND * burst[-1].end,
                PER_SECOND * reached,
                pair.windows[1] - sent,
                PER_SECOND * other[0].start + pair.lengths[1],
                len(bunched),
            )
        )
    return found


def _bursts(stays: Sequence[Visit], window: int) -> list[Sequence[Visit]]:
    """Part what a node sends into its busy periods, which are whole windows from the start on."""
    return [stays[place : place + window] for place in range(0, len(stays) - window + 1, window)]


def _chart(periods: Sequence[Busy], run: Run) -> Chart:
    """Draw node i, node j and the line between them from one busy period on, whose m-th one of j is in transit."""
    first = next(place for place, one in enumerate(periods) if one.begun > one.reached)
    one, following = periods[first], periods[first + 1]
    pair = SHOWN[0]
    zero, end = one.begin - BEFORE, following.end + pair.lengths[0]
    stays = visits(run)
    curves = [
        _lines(f"segments of connection {name}", stays[node], pair.lengths[node], (zero, end), node)
        for node, name in enumerate("ij")
    ]
    lines = [
        StraightLine(one.reached - zero, "tau_ik: i's first segment reaches node j", axis="x", colour=0),
        StraightLine(one.begun - zero, "tau_jm: j's first segment reaches node i", axis="x", colour=1),
    ]
    changes = sorted(
        [(PER_SECOND * stay.entered, 1) for stay in stays[1] if stay.is_data]
        + [(PER_SECOND * (stay.end - TIE_S), -1) for stay in stays[1] if stay.is_data]
    )
    times, queue = np.array([time for time, _ in changes]) - zero, np.cumsum([step for _, step in changes])
    within = (times >= 0.0) & (times <= end - zero)
    met = np.array([(period.reached - zero, period.queue) for period in (one, following)])
    queues = [
        Curve("segments at node j, simulated", times[within], queue[within].astype(float), "step", 1),
        Curve("Q_j as i's busy period reaches it", met[:, 0], met[:, 1], "marks", 0),
        Curve("by (3.9)", met[1:, 0], np.array([_next(pair, one.queue)]), "theory-marks-2", 4),
    ]
    span = (-1.0, end - zero + 1.0)
    panels = [
        Panel("time [segments]", "", curves, y_ticks=("node j", "node i"), lines=lines, x_range=span),
        Panel("time [segments]", "segments", queues, y_whole=True, x_range=span),
    ]
    title = "Figure 3.1: the proof of lemma 2 as a run shows it, W_i = 10, W_j = 8, L = 5 segments each way"
    return Chart(title, panels, 1, size_inches=(13.0, 9.0))


def _lines(label: str, stays: Sequence[Visit], length: float, within: tuple[float, float], node: int) -> Curve:
    """Make a line for the first bit of each segment, from the instant at which its node begins to transmit it."""
    starts = np.array([PER_SECOND * stay.start for stay in stays if stay.is_data])
    shown = starts[(starts >= within[0]) & (starts + length <= within[1])] - within[0]
    x = np.column_stack([shown, shown + length, np.full(len(shown), np.nan)]).ravel()
    y = np.tile([1.0 - node, float(node), np.nan], len(shown))
    return Curve(label, x, y, "simulation", node)
