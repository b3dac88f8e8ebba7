"""Figure 3.3: efficiency against the window for L = 8 segments, in both directions and in one."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way.line import Pair, measured, one_way, scenario
from ackclock.models import two_way
from ackclock.scenario import Resolved

Key = tuple[Literal["both", "one"], float]
"""The directions with data, and the window [segments]."""
LENGTH = 8


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give windows up to six times the link, both ways and one way."""
    rounds = setting.pick(40, 200)
    both: dict[Key, Resolved] = {
        ("both", w): scenario(_pair(w), {"flow.j.start": "2.3 ms"}, rounds) for w in _windows(setting)
    }
    one: dict[Key, Resolved] = {("one", w): one_way(_pair(w)) for w in _windows(setting)}
    return both | one


def _windows(setting: Setting) -> list[int]:
    return sorted({*range(2, 49, setting.pick(4, 1)), 8, 16, 24, 32, 40, 48})


def _pair(window: int) -> Pair:
    return Pair((window, window), (LENGTH, LENGTH))


def outcome(setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge where the curves bend, and how near the simulation is."""
    windows = np.array(_windows(setting), dtype=float)
    both = np.array([measured(runs["both", w]) for w in windows])
    one = np.array([measured(runs["one", w]) for w in windows])
    exact = two_way.equal_window_efficiency(windows, LENGTH)
    beyond = windows > LENGTH
    slopes = np.diff(both) / np.diff(windows)
    below, above = windows[1:] <= LENGTH, (windows[:-1] >= LENGTH) & (windows[1:] <= 2 * LENGTH)
    findings = {
        "at_L": Finding(100.0 * both[windows == LENGTH][0], 100.0 * float(exact[windows == LENGTH][0])),
        "at_2L": Finding(100.0 * both[windows == 2 * LENGTH][0], 100.0 * float(exact[windows == 2 * LENGTH][0])),
        "formula": Finding(
            float(np.max(np.abs(both - exact)[windows > LENGTH + 1])) * 100.0,
            note="largest error of W / (W + L) above W = L + 1; below, the own transmission of a segment counts",
        ),
        "linear": Finding(
            share(list(np.abs(both[windows <= LENGTH] / windows[windows <= LENGTH] * (2 * LENGTH + 1) - 1) < 0.01)),
            note="up to W = L in proportion to W",
        ),
        "slower": Finding(
            float(np.mean(slopes[above]) / np.mean(slopes[below])),
            float((2.0 / 3.0 - 0.5) / 0.5),
            "slope between W = L and 2 L as a fraction of the slope below L",
        ),
        "below_one_way": Finding(share(list(both[beyond] < one[beyond]))),
    }
    return Outcome(findings, {"figure": _chart(windows, both, one)})


def _chart(windows: NDArray[np.float64], both: NDArray[np.float64], one: NDArray[np.float64]) -> Chart:
    fine = np.linspace(0.1, 48.0, 300)
    curves = [
        Curve("both directions, theory", fine, two_way.equal_window_efficiency(fine, LENGTH), "theory", 0),
        Curve("one direction, theory", fine, np.minimum(fine / (2 * LENGTH), 1.0), "theory-2", 1),
        Curve("both directions, simulated", windows, both, "marks", 0),
        Curve("one direction, simulated", windows, one, "marks", 1),
        Curve("the paper's numbers", np.array([8.0, 16.0]), np.array([0.5, 2.0 / 3.0]), "paper", 0),
    ]
    panel = Panel("window W [segments]", "efficiency", curves, y_top=1.05)
    return Chart("Figure 3.3: effect of the window on a connection's efficiency, L = 8 segments", [panel])
