"""Figure 7: throughput against the intermediate rate mu' for three buffers B'."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.bottlenecks.path import mbps, predicted, scenario, simulated, throughputs
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

Key = tuple[int, int, float]
"""The buffers B and B', and mu' [Mbit/s]."""
BUFFERS = (40, 50, 60)
DESCRIBED = 50
OTHERS = {80: "large", 45: "medium", 20: "small"}
JUMP = 1.10
"""Half of the step that theory has where the double slow start ends (1.20)."""


def _rates(setting: Setting) -> NDArray[np.float64]:
    """Give mu' [Mbit/s]; mu itself would move the queue of avoidance to B'."""
    return np.round(np.arange(1.55, 3.001, setting.pick(0.1, 0.025)), 3)


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Resolve the paper's runs from t = 0, for several B: the paper does not print its own."""
    return {
        (buffer, other, rate): scenario(
            "two-nodes",
            {
                "link.feeder.rate": f"{rate} Mbit/s",
                "link.feeder.buffer": f"{other} pkt",
                "link.satellite.buffer": f"{buffer} pkt",
            },
        )
        for buffer in BUFFERS
        for other in OTHERS
        for rate in _rates(setting)
    }


def outcome(setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge the paper's three descriptions, for each B."""
    rates = _rates(setting)
    shapes = {
        (buffer, other): throughputs(runs, [(buffer, other, rate) for rate in rates])[0]
        for buffer in BUFFERS
        for other in OTHERS
    }
    theory = {key: _theory(setting, runs, *key) for key in shapes}
    findings = {}
    for other, judge in ((80, _large), (45, _medium), (20, _small)):
        fits = [buffer for buffer in BUFFERS if judge(shapes[buffer, other])]
        by_theory = [buffer for buffer in BUFFERS if judge(theory[buffer, other])]
        findings[OTHERS[other]] = Finding(
            share([DESCRIBED in fits]),
            share([DESCRIBED in by_theory]),
            f"fits at B = {_listed(fits)}; by theory at B = {_listed(by_theory)}; least and largest at "
            f"B = {DESCRIBED}: {shapes[DESCRIBED, other].min():.3f}, {shapes[DESCRIBED, other].max():.3f} Mbit/s",
        )
    small = shapes[DESCRIBED, 20]
    findings["small_falls"] = Finding(
        share([bool(small[rates < 1.9].mean() < small[rates > 2.4].mean())]),
        share([bool(theory[DESCRIBED, 20][0] < theory[DESCRIBED, 20][-1])]),
        f"mean below 1.9 Mbit/s {small[rates < 1.9].mean():.3f}, above 2.4 Mbit/s {small[rates > 2.4].mean():.3f}",
    )
    return Outcome(findings, {"figure": _chart(setting, runs, theory)})


def _listed(buffers: list[int]) -> str:
    return ", ".join(str(buffer) for buffer in buffers) or "none"


def _high(rates: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which points lie in the upper half between the least and the largest throughput, if these are apart."""
    if rates.max() < JUMP * rates.min():
        return np.zeros(len(rates), dtype=bool)
    return np.asarray(rates > (rates.min() + rates.max()) / 2.0)


def _large(rates: NDArray[np.float64]) -> bool:
    """Return whether the throughput is low at 2 mu, and high at all mu' below some value."""
    high = _high(rates)
    return bool(high[0] and not high[-1] and np.count_nonzero(np.diff(high.astype(int))) == 1)


def _medium(rates: NDArray[np.float64]) -> bool:
    """Return whether the throughput is high in a middle range alone."""
    high = _high(rates)
    return bool(high.any() and not high[0] and not high[-1])


def _small(rates: NDArray[np.float64]) -> bool:
    """Return whether the throughput is nowhere much above that near 2 mu."""
    return bool(rates.max() < JUMP * rates[-3:].mean())


def _theory(setting: Setting, runs: Mapping[Key, Run], buffer: int, other: int) -> NDArray[np.float64]:
    found = [predicted(runs[buffer, other, rate].resolved).throughput.capped for rate in _rates(setting)]
    return np.asarray(mbps(np.array(found, dtype=float)))


def _chart(setting: Setting, runs: Mapping[Key, Run], theory: Mapping[tuple[int, int], NDArray[np.float64]]) -> Chart:
    rates = _rates(setting)
    panels = []
    for buffer in BUFFERS:
        curves = []
        for colour, (other, word) in enumerate(OTHERS.items()):
            keys = [(buffer, other, rate) for rate in rates]
            curves.append(simulated(f"B' = {other} ({word}), simulated", rates, runs, keys, colour))
            curves.append(Curve(f"B' = {other}, theory", rates, theory[buffer, other], "theory", colour))
        panels.append(Panel("mu' [Mbit/s]", "throughput [Mbit/s]", curves, f"B = {buffer} packets", y_top=1.5))
    title = "Figure 7: throughput against the intermediate rate (0 to 500 s; the paper does not print B)"
    return Chart(title, panels, 3, share_y=True, size_inches=(18.0, 7.5))
