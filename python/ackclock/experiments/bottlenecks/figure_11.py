"""Figure 11: throughput against B with drop-tail, drop-from-front and random-drop buffers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.bottlenecks.path import (
    TIMES,
    Time,
    count_cycles,
    formula_finding,
    mbps,
    predicted,
    scenario,
    simulated,
    throughputs,
)
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

BUFFERS = tuple(range(10, 21))
QUEUES = {"drop-tail": "DropTail", "drop-from-front": "Drop from Front", "random-drop": "Random Drop"}
TITLES: Mapping[Time, str] = {"shown": "0 to 150 s, as figures 9 and 10", "steady": "steady state"}
Key = tuple[str, int, Time]
"""The discipline, B, and the time."""
PAPER_LOST = (13, 16, 18)
LARGER = (22, 24, 26, 28, 30)
"""Buffers at which condition (5) does not hold; it does at each of the paper's."""


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Resolve each discipline at each B, over the 150 s of figures 9 and 10, and in steady state."""
    long = {"run.warmup": "200 s", "run.duration": setting.pick("1700 s", "20200 s"), "trace.losses": True}
    lengths: dict[Time, dict[str, Any]] = {"shown": {}, "steady": long}
    replications: dict[Time, int] = {"shown": setting.pick(40, 400), "steady": setting.pick(3, 20)}
    found: dict[Key, Resolved] = {
        (queue, buffer, time): scenario("slow-access", _changes(queue, buffer, replications[time]) | lengths[time])
        for queue in QUEUES
        for buffer in BUFFERS
        for time in TIMES
    }
    larger: dict[Key, Resolved] = {
        ("drop-tail", buffer, "steady"): scenario("slow-access", _changes("drop-tail", buffer, 1) | long)
        for buffer in LARGER
    }
    return found | larger


def _changes(queue: str, buffer: int, replications: int) -> dict[str, Any]:
    """Give both nodes a discipline; random ones are run several times."""
    return {
        "link.feeder.queue": queue,
        "link.satellite.queue": queue,
        "link.satellite.buffer": f"{buffer} pkt",
        "run.replications": replications if queue == "random-drop" else 1,
    }


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge where drop-tail loses the retransmission, and which discipline is best there and elsewhere."""
    tail, front, drawn = (_rates(runs, queue, "steady") for queue in QUEUES)
    losing = {buffer: _loses(runs["drop-tail", buffer, "steady"]) for buffer in (*BUFFERS, *LARGER)}
    lost = np.array([losing[buffer] for buffer in BUFFERS])
    found = [buffer for buffer in BUFFERS if losing[buffer]]
    elsewhere = [buffer for buffer in BUFFERS if buffer not in PAPER_LOST]
    as_in_paper = (share([losing[b] for b in PAPER_LOST]) + share([not losing[b] for b in elsewhere])) / 2.0
    ratio = f"{tail.min() * 1e3:.0f} to {tail.max() * 1e3:.0f} kbit/s with drop-tail in steady state"
    excluded = [b for b in losing if predicted(runs["drop-tail", b, "steady"].resolved).retransmission_loss.node < 0]
    findings = {
        "oscillates": Finding(
            float(_turns(tail)), note=f"{ratio}; {_turns(_rates(runs, 'drop-tail'))} turns over 0 to 150 s"
        ),
        "lost_at": Finding(as_in_paper, note=f"lost in most cycles at B = {', '.join(map(str, found)) or 'none'}"),
        "only_where_possible": Finding(
            share([not losing[buffer] for buffer in excluded]) if lost.any() else 0.0,
            note=f"by (5) it cannot be lost at B = {', '.join(map(str, excluded)) or 'none'}",
        ),
        "better_where_lost": Finding(
            share([*(front[lost] > tail[lost]), *(drawn[lost] > tail[lost])]),
            note=f"in steady state, at B = {', '.join(map(str, found)) or 'none'}, both gateways",
        ),
        "worse_elsewhere": Finding(
            share([*(front[~lost] < tail[~lost]), *(drawn[~lost] < tail[~lost])]),
            note="in steady state, at the other B",
        ),
        "random_beats_front": Finding(
            share([bool(drawn[BUFFERS.index(b)] > front[BUFFERS.index(b)]) for b in (13, 20)]),
            float(_theory(runs, "random-drop")[3] > _theory(runs, "drop-from-front")[3]),
            f"of all B in {100.0 * share(list(drawn > front)):.0f}%",
        ),
        "formula": _formula(runs, losing),
        "order_of_theory": Finding(
            model=share(_ordered(runs)), note="W_S grows with alpha: drop-from-front, random drop, drop-tail"
        ),
    }
    return Outcome(findings, {"figure": _chart(runs)})


def _formula(runs: Mapping[Key, Run], losing: Mapping[int, bool]) -> Finding:
    tail = np.where([losing[buffer] for buffer in BUFFERS], _theory_lost(runs), _theory(runs, "drop-tail"))
    theory = [tail, *(_theory(runs, queue) for queue in QUEUES if queue != "drop-tail")]
    names = [f"B = {buffer}, {title}" for title in QUEUES.values() for buffer in BUFFERS]
    return formula_finding(
        np.concatenate(theory), np.concatenate([_rates(runs, queue, "steady") for queue in QUEUES]), names
    )


def _loses(run: Run) -> bool:
    found = count_cycles(run)
    return found.retransmissions_lost > found.cycles / 2


def _keys(queue: str, time: Time) -> Sequence[Key]:
    return [(queue, buffer, time) for buffer in BUFFERS]


def _rates(runs: Mapping[Key, Run], queue: str, time: Time = "shown") -> NDArray[np.float64]:
    return np.asarray(throughputs(runs, _keys(queue, time))[0])


def _theory(runs: Mapping[Key, Run], queue: str) -> NDArray[np.float64]:
    found = [predicted(runs[queue, buffer, "shown"].resolved).throughput.capped for buffer in BUFFERS]
    return np.asarray(mbps(np.array(found, dtype=float)))


def _theory_lost(runs: Mapping[Key, Run]) -> NDArray[np.float64]:
    paths = [runs["drop-tail", buffer, "shown"].resolved for buffer in BUFFERS]
    found = [predicted(path).throughput_with_lost_retransmission.capped for path in paths]
    return np.asarray(mbps(np.array(found, dtype=float)))


def _ordered(runs: Mapping[Key, Run]) -> Sequence[bool]:
    tail, front, drawn = (_theory(runs, queue) for queue in QUEUES)
    return [bool(a < b < c) for a, b, c in zip(front, drawn, tail, strict=True)]


def _turns(rates: NDArray[np.float64]) -> int:
    """Count how often a curve changes between rising and falling."""
    steps = np.sign(np.diff(rates))
    return int(np.count_nonzero(np.diff(steps[steps != 0.0])))


def _chart(runs: Mapping[Key, Run]) -> Chart:
    panels = []
    for time, title in TITLES.items():
        curves = [
            simulated(f"{text}, simulated", BUFFERS, runs, _keys(queue, time), colour)
            for colour, (queue, text) in enumerate(QUEUES.items())
        ]
        if time == "shown":
            curves += [
                Curve("the paper: figure 9, figure 10", np.array([18.0]), np.array([value]), "paper", colour)
                for colour, value in ((0, 0.717), (2, 0.829))
            ]
        else:
            x = np.array(BUFFERS, dtype=float)
            curves += [
                Curve(f"{text}, theory", x, _theory(runs, queue), "theory", colour)
                for colour, (queue, text) in enumerate(QUEUES.items())
            ]
            curves.append(Curve("theory if the retransmission is lost", x, _theory_lost(runs), "guide"))
        panels.append(Panel("B, the bottleneck's buffer [packets]", "throughput [Mbit/s]", curves, title))
    title = "Figure 11: the buffer management policy and the throughput"
    return Chart(title, panels, 2, share_y=True, size_inches=(15.0, 7.5))
