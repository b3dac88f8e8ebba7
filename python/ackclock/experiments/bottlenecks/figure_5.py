"""Figure 5: the bursts S and S' that fill the two buffers, against mu'."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.bottlenecks.path import MU, PACKETS_PER_MEGABIT, PIPE, scenario
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models import bottlenecks
from ackclock.scenario import Resolved

BUFFER, OTHER_BUFFER = 50, 45
RATES = np.round(np.arange(1.5, 3.01, 0.1), 2)
Case = Literal["both", "S", "S'"]
CASES: Mapping[Case, tuple[str, str]] = {
    "both": (f"{OTHER_BUFFER} pkt", f"{BUFFER} pkt"),
    "S": ("unlimited", f"{BUFFER} pkt"),
    "S'": (f"{OTHER_BUFFER} pkt", "unlimited"),
}
"""The buffers B' and B: both limited, or one alone, whose burst is measured."""
Key = tuple[Case, float]
"""The buffers, and mu' [Mbit/s]."""
FIRST_SLOW_START = "12 s"
LARGEST_BURST = 128.0
"""Largest burst that fits the round trip [packets]: the first ACKs of a larger one come while it is sent."""


def scenarios(_setting: Setting) -> Mapping[Key, Resolved]:
    """Give the first slow start, with both buffers and with either alone."""
    return {
        (case, rate): first_slow_start(rate, feeder, satellite)
        for rate in RATES
        for case, (feeder, satellite) in CASES.items()
    }


def first_slow_start(rate_mbps: float, feeder: str, satellite: str) -> Resolved:
    """Resolve a scenario of the first slow start alone, with its drops."""
    changes = {
        "link.feeder.rate": f"{rate_mbps} Mbit/s",
        "link.feeder.buffer": feeder,
        "link.satellite.buffer": satellite,
        "run.duration": FIRST_SLOW_START,
        "trace.drops": True,
    }
    return scenario("two-nodes", changes)


def first_overflow(run: Run) -> tuple[float, str]:
    """Measure the burst that fills a buffer: which packet of its mini-cycle is the first one lost, and where.

    Mini-cycle n sends the packets from 2^n - 1 to 2^(n + 1) - 2, counted from 0. It is a burst of its own only while
    the one before leaves no queue: while 2^(n - 1) packets are fewer than the pipe holds. Beyond, nan.
    """
    drops = run.trace("drops")
    if drops.empty:
        return np.nan, ""
    lost = drops.iloc[int(drops["sequence"].to_numpy().argmin())]
    packet = int(lost["sequence"])
    first = 2 ** int(np.log2(packet + 1)) - 1
    size = float(packet - first + 1) if (first + 1) / 2 <= PIPE else np.nan
    return size, str(lost["link"])


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge S and S' as measured, and which buffer overflows first."""
    exact = _sizes(RATES)
    theory: dict[Case, NDArray[np.float64]] = {"S": exact.bottleneck, "S'": exact.intermediate}
    measured = {case: np.array([first_overflow(runs[case, rate])[0] for rate in RATES]) for case in theory}
    errors = np.concatenate([np.abs(measured[case] - theory[case]) for case in theory])
    small = np.concatenate([theory[case] for case in theory]) <= LARGEST_BURST
    places = [first_overflow(runs["both", rate])[1] for rate in RATES]
    expected = np.where(exact.intermediate < exact.bottleneck, "feeder", "satellite")
    findings = {
        "least_S": Finding(measured["S"][-1], float(exact.bottleneck[-1])),
        "least_S'": Finding(measured["S'"][0], float(exact.intermediate[0])),
        "S_grows": Finding(
            share([*_steps(measured["S"], falling=True), *_steps(measured["S'"], falling=False)]),
            share([*_steps(exact.bottleneck, falling=True), *_steps(exact.intermediate, falling=False)]),
            f"for bursts up to {LARGEST_BURST:g} packets",
        ),
        "burst": Finding(
            float(np.max(errors[small])),
            note=f"largest error of S and S' in {int(small.sum())} runs, for bursts up to {LARGEST_BURST:g} packets",
        ),
        "place": Finding(
            share([place == where for place, where in zip(places, expected, strict=True)]),
            note="first drop at B' below the rate where the curves cross, at B above"
            + _but(
                [f"{rate:g} Mbit/s" for rate, *pair in zip(RATES, places, expected, strict=True) if pair[0] != pair[1]]
            ),
        ),
    }
    return Outcome(findings, {"figure": _chart(measured)})


def _but(exceptions: list[str]) -> str:
    return f"; not at mu' = {', '.join(exceptions)}" if exceptions else ""


def _sizes(rates_mbps: NDArray[np.float64]) -> bottlenecks.TwoNodeBursts:
    rates = np.clip(rates_mbps * PACKETS_PER_MEGABIT, MU, 2.0 * MU)
    return bottlenecks.two_node_bursts(MU, rates, BUFFER, OTHER_BUFFER)


def _steps(sizes: NDArray[np.float64], *, falling: bool) -> list[bool]:
    """Return for each step to a larger mu' whether the burst changes as the paper says."""
    known = sizes[sizes <= LARGEST_BURST]
    return [bool(step < 0.0) == falling for step in np.diff(known)]


def _chart(measured: Mapping[Case, NDArray[np.float64]]) -> Chart:
    rates = np.linspace(1.501, 2.999, 300)
    found = _sizes(rates)
    curves = [
        Curve("S, theory", rates, found.bottleneck, "theory", 0),
        Curve("S', theory", rates, found.intermediate, "theory", 1),
        Curve("S_B, the smaller (the paper's thick line)", rates, np.minimum(*found), "thick", 2),
        Curve("S, simulated", RATES, measured["S"], "marks", 0),
        Curve("S', simulated", RATES, measured["S'"], "marks", 1),
    ]
    panel = Panel("mu' [Mbit/s]", "burst that fills the buffer [packets]", curves, y_top=300.0)
    return Chart(f"Figure 5: bursts that fill B = {BUFFER} and B' = {OTHER_BUFFER} packets, mu = 1.5 Mbit/s", [panel])
