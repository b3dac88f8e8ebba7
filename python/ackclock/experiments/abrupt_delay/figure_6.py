"""Figure 6: goodput against Reno's threshold D of duplicate ACKs, without losses."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.abrupt_delay.path import (
    alternating,
    best_within,
    goodput,
    goodputs,
    lengths,
    level,
    part_of_best,
    simulated,
)
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

Key = tuple[float, int | Literal["old-tahoe-abrupt-delay"]]
"""The factor h, and Reno's threshold or OldTahoe."""
WINDOW = 12
THRESHOLDS = tuple(range(1, 15))
FACTORS = (0.1, 1.0, 10.0)
PAPER_FACTOR = 0.1
OLD_TAHOE: Final = "old-tahoe-abrupt-delay"


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Resolve Reno at each D, and OldTahoe."""
    length = lengths(setting.pick(1000.0, 10000.0), setting.pick(8, 20))
    reno: dict[Key, Resolved] = {
        (factor, threshold): alternating(factor, {"flow.flow.tcp.dupack_threshold": threshold} | length)
        for factor in FACTORS
        for threshold in THRESHOLDS
    }
    tahoe: dict[Key, Resolved] = {
        (factor, OLD_TAHOE): alternating(factor, {"flow.flow.tcp.preset": OLD_TAHOE} | length) for factor in FACTORS
    }
    return reno | tahoe


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge which D is best, and how near OldTahoe is."""
    found = {factor: goodputs(runs, _keys(factor))[0] for factor in FACTORS}
    reno = found[PAPER_FACTOR]
    tahoe = goodput(runs[PAPER_FACTOR, OLD_TAHOE]).value
    best = {factor: least_best(values) for factor, values in found.items()}
    up_to_window = reno[: THRESHOLDS.index(WINDOW) + 1]
    findings = {
        "approaches": Finding(
            float(100.0 * np.max(np.abs(reno[THRESHOLDS.index(WINDOW) :] / tahoe - 1.0))),
            note=f"OldTahoe {tahoe:.2f} packets/s; Reno is within 2% of it from D = {_from(reno, tahoe)} on",
        ),
        "optimum": Finding(
            part_of_best(reno, THRESHOLDS.index(WINDOW)),
            note=f"least D within 1% of the best: {best[PAPER_FACTOR]}",
        ),
        "three": Finding(
            float(100.0 * reno[THRESHOLDS.index(3)] / reno.max()), note=f"{reno[2]:.2f} of {reno.max():.2f} packets/s"
        ),
        "rises": Finding(share(list(up_to_window[1:] >= 0.99 * up_to_window[:-1]))),
        "depends": Finding(
            share([best[0.1] != best[10.0]]), note=", ".join(f"h = {factor:g}: {best[factor]}" for factor in FACTORS)
        ),
    }
    return Outcome(findings, {"figure": _chart(runs)})


def least_best(values: NDArray[np.float64]) -> int:
    """Give the least D whose goodput is within 1% of the best."""
    return THRESHOLDS[int(np.argmax(best_within(values)))]


def _from(reno: NDArray[np.float64], tahoe: float) -> int | str:
    """Give the least D from which on Reno's goodput is OldTahoe's, to within 2%."""
    far = np.flatnonzero(np.abs(reno / tahoe - 1.0) > 0.02)
    last = int(far.max()) + 1 if len(far) else 0
    return THRESHOLDS[last] if last < len(THRESHOLDS) else "none"


def _keys(factor: float) -> Sequence[Key]:
    return [(factor, threshold) for threshold in THRESHOLDS]


def _chart(runs: Mapping[Key, Run]) -> Chart:
    panels = []
    for factor in FACTORS:
        top = goodput(runs[factor, OLD_TAHOE]).value
        curves = [
            simulated("Reno, simulated", THRESHOLDS, runs, _keys(factor), 0),
            level("OldTahoe, simulated", THRESHOLDS, top, 1),
            Curve("D = w_m", np.array([WINDOW, WINDOW], dtype=float), np.array([0.0, top]), "guide"),
        ]
        title = f"h = {factor:g}" + (" (the paper's)" if factor == PAPER_FACTOR else "")
        panels.append(Panel("D, the threshold of duplicate ACKs", "goodput [packets/s]", curves, title))
    title = "Figure 6: goodput against Reno's threshold, w_m = 12, T = 0.1 and 0.3 s, p = 0"
    return Chart(title, panels, len(panels), size_inches=(16.0, 6.5))
