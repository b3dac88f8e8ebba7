"""Section 4.2: a lone transfer in the special setting, and timeouts without a loss."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.path import KILO, curve
from ackclock.experiments.engset.single import SPECIAL, finish_ms, special
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models import engset
from ackclock.scenario import Resolved

SIZES = tuple(range(40, 121))
WINDOW, SMALL, SMALLEST = 44, 12, 8
Key = tuple[int, int]
"""The file's size and W_R."""
LARGE = 347


def scenarios(_setting: Setting) -> Mapping[Key, Resolved]:
    """Give a file of each size with the large window, and the large file with the small ones."""
    found = {(size, WINDOW): special(WINDOW, size) for size in SIZES}
    small = {(size, SMALL): special(SMALL, size) for size in SIZES[::8]}
    return found | small | {(LARGE, window): special(window, LARGE) for window in (WINDOW, SMALLEST)}


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Say which sizes time out, at which packet."""
    first = {size: _first_timeout(runs[size, WINDOW]) for size in SIZES}
    model = engset.spurious_timeouts(SPECIAL, SIZES, WINDOW)
    late = [size for size in SIZES if first[size]]
    modelled = [size for size, occurs in zip(SIZES, model.occurs.tolist(), strict=True) if occurs]
    large = engset.transfer(SPECIAL, LARGE, WINDOW)
    normal = engset.renormalised(large.rounds, SPECIAL)
    small = engset.transfer(SPECIAL, LARGE, SMALLEST)
    course = engset.course(SPECIAL, 120, WINDOW)
    round_trip = KILO * float(course.acknowledged[53] - course.sent[53])
    found_by = course.waiting[:, -1] / 0.036
    on_ms = finish_ms(runs[LARGE, WINDOW])
    findings = {
        "rtt": Finding(model=KILO * float(SPECIAL.rtt)),
        "rate": Finding(LARGE * 8 * 576 / on_ms, float(large.peak_rate) / KILO),
        "on_time": Finding(on_ms, KILO * float(large.on_time)),
        "renormalised": Finding(model=KILO * float(normal.flights * SPECIAL.rtt + normal.following * 0.036)),
        "rate_8": Finding(LARGE * 8 * 576 / finish_ms(runs[LARGE, SMALLEST]), float(small.peak_rate) / KILO),
        "on_time_8": Finding(finish_ms(runs[LARGE, SMALLEST]), KILO * float(small.on_time)),
        "smallest": Finding(float(min(late, default=0)), float(min(modelled, default=0))),
        "largest": Finding(float(max(late, default=0)), float(max(modelled, default=0))),
        "all_between": Finding(share([bool(first[size]) for size in range(54, 107)])),
        "packet_54": Finding(float(first[54]), float(model.packet[SIZES.index(54)])),
        "packet_106": Finding(float(first[106]), float(model.packet[SIZES.index(106)])),
        "round_trip": Finding(model=round_trip),
        "queue_31": Finding(model=float(found_by[30]), note=f"packet 63, timed next, finds {found_by[62]:.1f}"),
        "small_window": Finding(share([not _first_timeout(runs[size, SMALL]) for size in SIZES[::8]])),
    }
    curves = [
        curve("simulated", SIZES, [first[size] or np.nan for size in SIZES], "marks", 0),
        curve("theory", SIZES, np.where(model.occurs, model.packet, np.nan), "theory", 1),
        curve("the paper", [54, 106], [54, 90], "paper"),
    ]
    panel = Panel("size of the file [packets]", "packet that times out", curves, "W_R = 44; none with W_R = 12")
    notes = ["For these files the timer expires although no packet was dropped: (100M, 1.5M, 128k, D300, P576)."]
    return Outcome(findings, {"timeouts": Chart("Section 4.2: timeouts without a loss", [panel])}, notes)


def _first_timeout(run: Run) -> int:
    """Give the packet of the first spurious timeout, from 1; 0 without one."""
    losses = run.trace("losses")
    losses = losses[(losses["cause"] == "timeout") & losses["spurious"]]
    return int(losses["sequence"].iloc[0]) + 1 if len(losses) else 0
