"""Figure 8: OldTahoe's goodput against the clock's granularity G, with RTO_min = 2 G."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Panel
from ackclock.experiments.abrupt_delay.path import alternating, goodputs, ideal, lengths, level, simulated
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

GRANULARITIES_MS = (1, 2, 5, 10, 20, 30, 50, 70, 100, 150, 200, 300, 400, 500)
RATE_MBPS, WINDOW = 2.0, 24
PAPER_FACTOR, LOSS = 10.0, 0.01
CASES = ((0.0, 10.0), (0.001, 10.0), (0.01, 10.0), (0.03, 10.0), (0.01, 1.0), (0.01, 100.0))
"""The pairs (p, h), that of the caption first."""
Case = tuple[float, float]
Clock = Literal["G", "fine"]
Key = tuple[Clock, Case, int]
"""The clock, p and h, and G or half of RTO_min [ms]."""


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give OldTahoe at each G, without losses as in the caption and with some; a fine clock with the same RTO_min."""
    length = lengths(setting.pick(1000.0, 10000.0), setting.pick(4, 20))
    sender: dict[str, Any] = {
        "flow.flow.tcp.preset": "old-tahoe-abrupt-delay",
        "flow.flow.tcp.max_window": f"{WINDOW} pkt",
    }
    coarse: dict[Key, Resolved] = {
        ("G", case, milliseconds): alternating(
            case[1],
            sender | length | {"flow.flow.tcp.rto.granularity": f"{milliseconds} ms"},
            rate_mbps=RATE_MBPS,
            loss=case[0],
        )
        for case in CASES
        for milliseconds in GRANULARITIES_MS
    }
    fine: dict[Key, Resolved] = {
        ("fine", case, milliseconds): alternating(
            case[1],
            sender | length | {"flow.flow.tcp.rto.min": f"{2 * milliseconds} ms"},
            rate_mbps=RATE_MBPS,
            loss=case[0],
        )
        for case in CASES[:3]
        for milliseconds in GRANULARITIES_MS
    }
    return coarse | fine


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge whether there is an optimum, and whether it moves."""
    found = {case: goodputs(runs, _keys(case))[0] for case in CASES}
    together = np.min([values / values.max() for values in found.values()], axis=0)
    findings = {
        "ideal": Finding(model=ideal(PAPER_FACTOR, WINDOW, RATE_MBPS * 125.0)),
        "optimum": _optimum(found[0.0, PAPER_FACTOR]),
        "optimum_losses": _optimum(found[LOSS, PAPER_FACTOR]),
        "depends": Finding(
            share([bool(together.max() < 0.98)]),
            note="best G: "
            + ", ".join(
                f"p = {100.0 * loss:g}%, h = {factor:g}: {_best(found[loss, factor])} ms" for loss, factor in CASES
            )
            + f"; the best single G has {100.0 * together.max():.0f}% of the best goodput in its worst case",
        ),
    }
    return Outcome(findings, {"figure": _chart(runs)})


def _keys(case: Case, clock: Clock = "G") -> Sequence[Key]:
    return [(clock, case, milliseconds) for milliseconds in GRANULARITIES_MS]


def _best(values: NDArray[np.float64]) -> int:
    return GRANULARITIES_MS[int(np.argmax(values))]


def _optimum(values: NDArray[np.float64]) -> Finding:
    ends = [100.0 * (values.max() / values[place] - 1.0) for place in (0, -1)]
    return Finding(
        float(min(ends)),
        note=f"best {values.max():.1f} packets/s at G = {_best(values)} ms; {ends[0]:.1f}% above that at 1 ms, "
        f"{ends[1]:.1f}% above that at 500 ms",
    )


def _chart(runs: Mapping[Key, Run]) -> Chart:
    x = np.array(GRANULARITIES_MS, dtype=float)
    panels = []
    for case, title in zip(CASES[:3], ("p = 0 (the caption)", "p = 0.1%", "p = 1%"), strict=True):
        curves = [
            level("R_I, equation 3", GRANULARITIES_MS, ideal(PAPER_FACTOR, WINDOW, RATE_MBPS * 125.0), 3),
            simulated("clock of G, RTO_min = 2 G", x, runs, _keys(case), 0),
            simulated("clock of 10 us, RTO_min = 2 G", x, runs, _keys(case, "fine"), 2),
        ]
        panels.append(Panel("G [ms]", "goodput [packets/s]", curves, f"{title}, h = 10", log_x=True))
    curves = [
        simulated(f"p = {100.0 * case[0]:g}%, h = {case[1]:g}", x, runs, _keys(case), colour)
        for colour, case in enumerate(CASES)
    ]
    panels.append(Panel("G [ms]", "goodput [packets/s]", curves, "other losses and holding times", log_x=True))
    title = "Figure 8: OldTahoe's goodput against the clock's granularity, w_m = 24, 2 Mbit/s, T = 0.1 and 0.3 s"
    return Chart(title, panels, 2, size_inches=(14.0, 12.0))
