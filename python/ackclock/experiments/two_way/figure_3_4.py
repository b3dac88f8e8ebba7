"""Figure 3.4: efficiency against the length of the link for W = 8 segments, in both directions and in one."""

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
"""The directions with data, and the length of the link [segments]."""
WINDOW = 8
LOSS = 0.03
"""Least loss of efficiency that counts as one; half a segment of round trip is as much at L = 8."""


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give links up to twice the window, both ways and one way."""
    rounds = setting.pick(40, 200)
    both: dict[Key, Resolved] = {
        ("both", x): scenario(_pair(x), {"flow.j.start": "1.3 ms"}, rounds) for x in _lengths(setting)
    }
    one: dict[Key, Resolved] = {("one", x): one_way(_pair(x)) for x in _lengths(setting)}
    return both | one


def _lengths(setting: Setting) -> list[float]:
    return [float(x) for x in np.arange(0.0, 16.1, setting.pick(1.0, 0.25))]


def _pair(length: float) -> Pair:
    return Pair((WINDOW, WINDOW), (length, length))


def outcome(setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge where both directions cost throughput."""
    lengths = np.array(_lengths(setting))
    both = np.array([measured(runs["both", x]) for x in lengths])
    one = np.array([measured(runs["one", x]) for x in lengths])
    exact = two_way.equal_window_efficiency(WINDOW, lengths)
    lost = one - both
    inside = (lengths > 0.0) & (lengths < WINDOW)
    findings = {
        "degraded": Finding(
            share(list(lost[(lengths >= 1.0) & (lengths <= WINDOW - 1.0)] > LOSS)),
            note=f"largest loss {100 * lost.max():.1f} points at L = {lengths[lost.argmax()]:g}",
        ),
        "not_beyond": Finding(share(list(np.abs(lost[lengths >= WINDOW]) < LOSS))),
        "formula": Finding(
            100.0 * float(np.max(np.abs(both - exact)[inside & (lengths <= WINDOW - 1.0)])),
            note="largest error of W / (W + L) where the windows exceed the pipe by two segments",
        ),
    }
    return Outcome(findings, {"figure": _chart(lengths, both, one)})


def _chart(lengths: NDArray[np.float64], both: NDArray[np.float64], one: NDArray[np.float64]) -> Chart:
    fine = np.linspace(0.0, 16.0, 300)
    alone = np.minimum(WINDOW / np.maximum(2.0 * fine, 1e-9), 1.0)
    curves = [
        Curve("both directions, theory", fine, two_way.equal_window_efficiency(WINDOW, fine), "theory", 0),
        Curve("one direction, theory", fine, alone, "theory-2", 1),
        Curve("both directions, simulated", lengths, both, "marks", 0),
        Curve("one direction, simulated", lengths, one, "marks", 1),
    ]
    panel = Panel("delay-bandwidth product L of the link [segments]", "efficiency", curves, y_top=1.05)
    return Chart("Figure 3.4: effect of the link's delay on a connection's efficiency, W = 8 segments", [panel])
