"""Figure 5.3: the IP queue at node 1L, data packets."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way.atm import LENGTH, peaks, rows, stepped
from ackclock.experiments.two_way.symmetric import SHOWN_S, WARMUP_S, shown
from ackclock.models import two_way
from ackclock.scenario import Resolved

PEAK = 13
STEADY_S = 0.12


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the run of the section."""
    return {"shown": shown(setting)}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge the peaks and that the queue empties between them."""
    run = runs["shown"]
    _, tops = peaks(run, "vc", WARMUP_S)
    _, other = peaks(run, "vc.reverse", WARMUP_S)
    # The paper's queue holds the segments that wait: with the one in service all of its numbers are one less.
    waiting = tops - 1.0
    pairs = waiting[1:] + waiting[:-1]
    _, values = rows(run, "ip_queue", "vc")
    following = two_way.next_queue(PEAK, windows=28, delays=LENGTH)
    findings = {
        "peak": Finding(
            float(np.median(waiting)),
            note=f"{waiting.min():g} to {waiting.max():g} wait in {len(tops)} busy periods, next to the one in service",
        ),
        "following": Finding(
            float(np.median(pairs)) - PEAK,
            float(following[0]),
            "simulated: two peaks in turn, less 13. With L = 14.25, the propagation alone, (3.9) gives 14.5",
        ),
        "equal": Finding(share(list(np.abs(tops - np.median(tops)) <= 1.0)), note="to within a segment"),
        "same_at_both": Finding(
            share(list(np.abs(tops[: len(other)] - other[: len(tops)]) <= 1.0)), note="both open at once"
        ),
        "empties": Finding(float(values[-len(values) // 2 :].min())),
    }
    seen = peaks(run, "vc", STEADY_S)[0]
    seen = seen[seen < SHOWN_S]
    curves = [
        stepped(run, "ip_queue", "vc", "data packets in the IP queue of 1L, with the one in service", 0, until=SHOWN_S),
        Curve("the paper: 13 at each busy period", seen, np.full(len(seen), float(PEAK)), "paper"),
    ]
    panel = Panel("time [s]", "data packets", curves)
    return Outcome(findings, {"figure": Chart("Figure 5.3: the IP queue at node 1L", [panel])})
