"""Figure 7: throughput against the intermediate rate mu' for three buffers B'."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.bottlenecks.path import formula_finding, mbps, predicted, scenario, simulated, throughputs
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

Key = tuple[int, int, float]
"""The buffers B and B', and mu' [Mbit/s]."""
BUFFERS = (35, 40, 45, 50, 55, 60, 70)
SHOWN = (40, 50, 60)
"""Buffers B that are simulated, for the paper does not print its own, and those that are drawn."""
OTHERS = {80: "large", 45: "medium", 20: "small"}
JUMP = 1.10
"""Half of the step that theory has where the double slow start ends (1.20)."""
LOW_MBPS, HIGH_MBPS = 1.9, 2.4
"""Small and large mu'."""


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
    findings, all_fits = {}, []
    for other, judge in ((80, _large), (45, _medium), (20, _small)):
        fits = [judge(shapes[buffer, other]) for buffer in BUFFERS]
        by_theory = [judge(theory[buffer, other]) for buffer in BUFFERS]
        findings[OTHERS[other]] = Finding(
            share(fits), share(by_theory), f"fits at B = {_listed(fits)}; by theory at B = {_listed(by_theory)}"
        )
        all_fits.append(fits)
    low, high = rates < LOW_MBPS, rates > HIGH_MBPS
    falls = [bool(shapes[buffer, 20][low].mean() < shapes[buffer, 20][high].mean()) for buffer in BUFFERS]
    findings["small_falls"] = Finding(
        share(falls),
        share([bool(theory[buffer, 20][0] < theory[buffer, 20][-1]) for buffer in BUFFERS]),
        f"at B = {_listed(falls)}",
    )
    findings["formula"] = formula_finding(
        np.concatenate(list(theory.values())),
        np.concatenate(list(shapes.values())),
        [f"B = {buffer}, B' = {other}, {rate} Mbit/s" for buffer, other in shapes for rate in rates],
    )
    together = [all(each) for each in zip(*all_fits, falls, strict=True)]
    rises = {b: 100.0 * (shapes[b, 20].max() / shapes[b, 20][-3:].mean() - 1.0) for b in BUFFERS}
    findings["at_once"] = Finding(
        share(together),
        note=f"at B = {_listed(together)}; largest rise with B' = 20 above the mean of the three largest mu', of which "
        f"10% is a jump: {', '.join(f'{rise:.1f}% at B = {buffer}' for buffer, rise in rises.items())}",
    )
    return Outcome(findings, {"figure": _chart(setting, runs, theory)})


def _listed(which: list[bool]) -> str:
    return ", ".join(str(buffer) for buffer, each in zip(BUFFERS, which, strict=True) if each) or "none"


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
    for buffer in SHOWN:
        curves = []
        for colour, (other, word) in enumerate(OTHERS.items()):
            keys = [(buffer, other, rate) for rate in rates]
            curves.append(simulated(f"B' = {other} ({word}), simulated", rates, runs, keys, colour))
            curves.append(Curve(f"B' = {other}, theory", rates, theory[buffer, other], "theory", colour))
        panels.append(Panel("mu' [Mbit/s]", "throughput [Mbit/s]", curves, f"B = {buffer} packets"))
    title = "Figure 7: throughput against the intermediate rate (0 to 500 s; the paper does not print B)"
    return Chart(title, panels, 3, share_y=True, size_inches=(18.0, 7.5))
