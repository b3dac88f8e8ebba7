"""Figure 4.1: efficiencies of both connections against the rate of one."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way.line import PER_SECOND, Pair, measured, scenario
from ackclock.scenario import Resolved

Key = tuple[float, Literal["analysis", "ACKs"]]
"""The rate of connection i [Mbit/s]; ACKs of 1 byte as in the analysis, or of 41 bytes."""
RATE_J = 155.0
WINDOW_BITS = 128 * 1024 * 8
WINDOW = 16
"""Window [segments]: 128 Kbytes are 16 segments of 8 Kbytes, a size that the paper does not print."""
DELAY_MS = 5.0
MBPS_OF_A_SEGMENT = WINDOW_BITS / WINDOW / 1e6 * PER_SECOND
TOTAL = 95.0


def _pair(rate: float) -> Pair:
    """Scale time so that 155 Mbit/s of 8-Kbyte segments are the scenario's thousand segments a second."""
    stretch = RATE_J / MBPS_OF_A_SEGMENT
    length = DELAY_MS * 1e-3 * PER_SECOND * stretch
    return Pair((WINDOW, WINDOW), (length, length), (rate / RATE_J, 1.0))


def _rates(setting: Setting) -> list[float]:
    return sorted({*np.arange(10.0, 155.1, setting.pick(10.0, 5.0)).tolist(), 20.0, 60.0, 155.0})


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give rates of connection i, with ACKs of 1 byte as the analysis has it and of 0.45% of a segment."""
    rounds = setting.pick(40, 200)
    rates = _rates(setting)
    found: dict[Key, Resolved] = {
        (rate, "analysis"): scenario(_pair(rate), {"flow.j.start": "2.7 ms"}, rounds) for rate in rates
    }
    acks = {"flow.i.ack": "41 B", "flow.j.ack": "41 B", "flow.j.start": "2.7 ms"}
    with_acks: dict[Key, Resolved] = {(rate, "ACKs"): scenario(_pair(rate), acks, rounds) for rate in rates}
    return found | with_acks


def outcome(setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge the numbers that the text reads from the figure."""
    rates = np.array(_rates(setting))
    found = np.array([[measured(runs[rate, "analysis"], flow) for flow in (0, 1)] for rate in rates])
    acks = np.array([[measured(runs[rate, "ACKs"], flow) for flow in (0, 1)] for rate in rates])
    exact = np.array([_pair(rate).efficiency for rate in rates])
    at = {rate: int(np.flatnonzero(rates == rate)[0]) for rate in (20.0, 60.0, 155.0)}
    bend = WINDOW_BITS / 1e6 / (WINDOW_BITS / 1e6 / RATE_J + 2e-3 * DELAY_MS)
    low = rates <= 60.0
    # As much of the gained link rate as the throughputs gain.
    gain = [float(part @ [155.0, RATE_J] - before @ [60.0, RATE_J]) for part, before in _ends(found, exact, at)]
    findings = {
        "at_20": Finding(100.0 * found[at[20.0], 1], 100.0 * exact[at[20.0], 1]),
        "j_at_60": Finding(100.0 * found[at[60.0], 1], 100.0 * exact[at[60.0], 1]),
        "j_at_155": Finding(100.0 * found[at[155.0], 1], 100.0 * exact[at[155.0], 1]),
        "i_at_155": Finding(100.0 * found[at[155.0], 0], 100.0 * exact[at[155.0], 0]),
        "bend": Finding(model=bend, note="where case 3 of (4.2) ends"),
        "linear": Finding(share(list(np.abs(found[low, 1] / rates[low] * RATE_J - 1.0) < 0.01))),
        "ideal": Finding(share(list(found[low, 0] > 0.99))),
        "gain": Finding(
            gain[0], gain[1], "the paper's 64 is 2 x 155 x 0.6 - (60 + 155 x 0.4), of rounded efficiencies"
        ),
        "lost": Finding(TOTAL - gain[0], TOTAL - gain[1], "likewise"),
        "formula": Finding(
            100.0 * float(np.max(np.abs(found - exact))),
            note=f"largest error of (4.2); with ACKs of 41 bytes, 0.45% of a segment, "
            f"{100 * float(np.max(np.abs(acks - exact))):.1f} points",
        ),
    }
    return Outcome(findings, {"figure": _chart(rates, found)})


def _ends(
    found: NDArray[np.float64], exact: NDArray[np.float64], at: Mapping[float, int]
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    return [(values[at[155.0]], values[at[60.0]]) for values in (found, exact)]


def _chart(rates: NDArray[np.float64], found: NDArray[np.float64]) -> Chart:
    fine = np.linspace(5.0, 155.0, 300)
    exact = np.array([_pair(rate).efficiency for rate in fine])
    curves = []
    for flow, name in enumerate("ij"):
        curves += [
            Curve(f"connection {name}, theory", fine, exact[:, flow], "theory", flow),
            Curve(f"connection {name}, simulated", rates, found[:, flow], "marks", flow),
        ]
    paper = np.array([[20.0, 0.15], [60.0, 0.4], [155.0, 0.6]]).T
    curves.append(Curve("the paper's numbers of connection j", paper[0], paper[1], "paper", 1))
    panel = Panel("rate of connection i [Mbit/s]", "efficiency", curves, y_top=1.05)
    title = "Figure 4.1: efficiencies against the rate of connection i (connection j: 155 Mbit/s, W = 128 KB, D = 5 ms)"
    return Chart(title, [panel])
