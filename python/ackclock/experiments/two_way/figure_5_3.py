"""Figure 5.3: the IP queue at node 1L, data packets."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way.atm import LENGTH, peaks, rows, stepped
from ackclock.experiments.two_way.symmetric import SHOWN_S, WARMUP_S, shown, staggered
from ackclock.models import two_way
from ackclock.scenario import Resolved

PEAK = 13
STEADY_S = 0.12
TWICE = 1.5
LATER_MS = (5, 12, 31)
"""Times by which the right connection opens later [ms], as in figure 5.4."""


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the run of the section."""
    later = {f"{milliseconds} ms": staggered(setting, f"{milliseconds} ms") for milliseconds in LATER_MS}
    return {"shown": shown(setting)} | later


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
    findings["staggered"] = _staggered(runs)
    seen = peaks(run, "vc", STEADY_S)[0]
    seen = seen[seen < SHOWN_S]
    curves = [
        stepped(run, "ip_queue", "vc", "data packets in the IP queue of 1L, with the one in service", 0, until=SHOWN_S),
        Curve("the paper: 13 at each busy period", seen, np.full(len(seen), float(PEAK)), "paper"),
    ]
    panel = Panel("time [s]", "data packets", curves)
    return Outcome(findings, {"figure": Chart("Figure 5.3: the IP queue at node 1L", [panel])})


def _staggered(runs: Mapping[str, Run]) -> Finding:
    """Judge (3.9) where one connection opens later: two peaks in turn have 26 segments that wait."""
    wanted = PEAK + float(two_way.next_queue(PEAK, windows=28, delays=LENGTH)[0])
    errors, texts = [], []
    for milliseconds in LATER_MS:
        for link in ("vc", "vc.reverse"):
            times, tops = peaks(runs[f"{milliseconds} ms"], link, WARMUP_S)
            waiting = tops - 1.0
            # Every other queue may be too short for a peak: then peaks are twice as far apart.
            single = np.median(np.diff(times)) > TWICE * np.median(np.diff(peaks(runs["shown"], link, WARMUP_S)[0]))
            pairs = waiting if single else waiting[1:] + waiting[:-1]
            errors.append(abs(float(np.median(pairs)) - wanted))
            if link == "vc":
                texts.append(f"{milliseconds} ms: {np.median(waiting[::2]):g} and {np.median(waiting[1::2]):g}")
    return Finding(max(errors), note=f"segments that wait at 1L, in turn, by the later start: {'; '.join(texts)}")
