"""Figure 8: the burst S that fills the bottleneck's buffer, against mu'/mu."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.bottlenecks.figure_5 import LARGEST_BURST, first_overflow, first_slow_start
from ackclock.experiments.bottlenecks.path import MU_MBPS
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models import bottlenecks
from ackclock.scenario import Resolved

Key = tuple[int, float]
"""The buffer B, and mu'/mu."""
BUFFERS = (10, 20, 30, 40, 50)
RATIOS = np.round(np.arange(1.1, 2.01, 0.1), 2)
FINE = np.linspace(1.0, 2.0, 2001)[1:]
NEAR = 1.25
"""The paper's "approximately unchanged", read as within a quarter."""


def scenarios(_setting: Setting) -> Mapping[Key, Resolved]:
    """Give the first slow start for each buffer and ratio; the node before never overflows."""
    return {
        (buffer, ratio): first_slow_start(round(float(ratio) * MU_MBPS, 6), "unlimited", f"{buffer} pkt")
        for buffer in BUFFERS
        for ratio in RATIOS
    }


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge S as measured, and the fraction of the interval in which it is near its least value."""
    theory = {buffer: _sizes(RATIOS, buffer) for buffer in BUFFERS}
    measured = {b: np.array([first_overflow(runs[b, ratio])[0] for ratio in RATIOS]) for b in BUFFERS}
    small = {buffer: theory[buffer] <= LARGEST_BURST for buffer in BUFFERS}
    errors = np.concatenate([np.abs(measured[buffer] - theory[buffer])[small[buffer]] for buffer in BUFFERS])
    near = 100.0 * float(np.mean(_sizes(FINE, 10) <= NEAR * 20.0))
    twice = 100.0 * float(np.mean(_sizes(FINE, 10) <= 40.0))
    measured_near = [measured[10] <= NEAR * measured[10][-1]]
    findings = {
        "burst": Finding(
            float(np.max(errors)),
            note=f"largest error in {len(errors)} runs with S up to {LARGEST_BURST:g} packets, at mu' = 1.1 mu, "
            f"where one packet of B is 11 of S; from 1.2 mu on it is {_from(1.2, measured, theory):.2g}",
        ),
        "least": Finding(float(np.max([abs(measured[b][-1] / b - 2.0) for b in BUFFERS])), 0.0, "at mu' = 2 mu"),
        "flat": Finding(
            100.0 * float(np.mean(measured_near)),
            near,
            f"S is within a quarter of 2 B in the last {near:.0f}% of [mu, 2 mu], below 4 B in the last {twice:.0f}%",
        ),
        "smaller_is_flatter": Finding(
            model=share(_flatter(10, 50)),
            note="S is proportional to B: in packets a small buffer's curve is flatter, in proportion it is the same",
        ),
    }
    return Outcome(findings, {"figure": _chart(measured)})


def _sizes(ratios: float | NDArray[np.float64], buffer: float) -> NDArray[np.float64]:
    return np.asarray(bottlenecks.two_node_bursts(1.0, ratios, buffer, np.inf).bottleneck)


def _from(
    ratio: float, measured: Mapping[int, NDArray[np.float64]], theory: Mapping[int, NDArray[np.float64]]
) -> float:
    """Give the largest error of bursts from some mu'/mu on."""
    known = {b: (ratio <= RATIOS) & (theory[b] <= LARGEST_BURST) for b in BUFFERS}
    return float(max(np.max(np.abs(measured[b] - theory[b])[known[b]]) for b in BUFFERS))


def _flatter(small: float, large: float) -> list[bool]:
    """Return whether S grows less towards mu for the smaller buffer, in packets and in proportion."""
    (near, least), (near_large, least_large) = ([float(_sizes(r, b)) for r in (1.25, 2.0)] for b in (small, large))
    return [near - least < near_large - least_large, near / least < near_large / least_large - 1e-9]


def _chart(measured: Mapping[int, NDArray[np.float64]]) -> Chart:
    curves = [
        Curve(f"B = {buffer}, theory", FINE[60:], _sizes(FINE[60:], buffer), "theory", number)
        for number, buffer in enumerate(BUFFERS)
    ]
    curves += [
        Curve(f"B = {buffer}, simulated", RATIOS, measured[buffer], "marks", number)
        for number, buffer in enumerate(BUFFERS)
    ]
    panel = Panel("mu' / mu", "burst S that fills the buffer [packets]", curves, y_top=400.0)
    return Chart("Figure 8: the burst that fills the bottleneck's buffer", [panel])
