"""Table 1: the Markov approach at lambda = 1/10, with the intervals that 50 runs give; and what else it depends on."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.side_by_side import SideBySide, column
from ackclock.experiments.variable_delay.path import (
    CONFIDENCE,
    INTERVALS,
    MODELS,
    PERIODS,
    STEADY,
    Point,
    measured_curve,
    point,
    scenario,
    seeds,
)
from ackclock.scenario import Resolved
from ackclock.stats import student_t

INTERVAL: Final = INTERVALS[0]
PRINTED: Final = (2.3542, 2.4471, 2.4850, 2.4318, 2.6546, 2.6344, 2.3678, 2.4649, 2.4993, 2.6316)
PRINTED_HALF: Final = (0.0237, 0.0201, 0.0254, 0.0257, 0.0177, 0.0185, 0.0319, 0.0270, 0.0266, 0.0125)
M: Final = 50
SMALL: Final = 0.02
AT: Final = 25
NO_SLOW_START: Final = "without\nthe first 200 s"
ALWAYS: Final = f"periods always\n{AT} s"
FIXED_PERIODS: Final = {f"flow.on-off.traffic.{which}": {"mean": f"{AT} s", "law": "fixed"} for which in ("on", "off")}
READINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "as taken": {},
    NO_SLOW_START: STEADY,
    "ON rate\n9 Mbit/s": {"flow.on-off.traffic.rate": "9 Mbit/s"},
    "ON rate\n9.6 Mbit/s": {"flow.on-off.traffic.rate": "9.6 Mbit/s"},
    "round trip\n80 ms": {"link.bottleneck.delay": "30 ms"},
    "round trip\n120 ms": {"link.bottleneck.delay": "50 ms"},
    "least timeout\n0.2 s": {"flow.tcp.tcp.rto.min": "200 ms"},
    ALWAYS: FIXED_PERIODS,
}
"""Readings of settings that the paper does not print, one at a time, at periods of 25 s."""
Key = int | str
"""The period [s], or a reading."""


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give the ten rows, and other readings of what is not printed."""
    rows: dict[Key, Resolved] = {period: scenario(period, INTERVAL, seeds(setting)) for period in PERIODS}
    readings: dict[Key, Resolved] = {
        name: scenario(AT, INTERVAL, seeds(setting), changes) for name, changes in READINGS.items() if changes
    }
    return rows | readings


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Compare the ten throughputs with the printed ones, and their intervals."""
    points = {period: point(runs[period]) for period in PERIODS}
    readings = {name: point(runs[name]) if changes else points[AT] for name, changes in READINGS.items()}
    markov = np.array([one.predicted("markov").value for one in points.values()])
    halves = np.array([half_width(one) for one in points.values()])
    fixed_periods = readings[ALWAYS]
    rows = {
        f"period_{period}": Finding(
            one.measured,
            one.predicted("markov").value,
            f"interval of 50 runs +- {half:.3f}, printed {printed:.4f}",
        )
        for (period, one), half, printed in zip(points.items(), halves, PRINTED_HALF, strict=True)
    }
    parts = 100.0 * halves / markov
    findings = rows | {
        "mean": Finding(
            float(np.mean([one.measured.value for one in points.values()])),
            float(markov.mean()),
            f"by {len(fixed_periods.rounds)} runs a row; without the first 200 s, at periods of {AT} s, "
            f"{readings[NO_SLOW_START].predicted('markov').value:.2f} instead of "
            f"{points[AT].predicted('markov').value:.2f}",
        ),
        "range": Finding(model=float(markov.max() / markov.min())),
        **_told_apart(points),
        "intervals": Finding(
            share(list(parts < 100.0 * SMALL)),
            note=f"{parts.min():.1f} to {parts.max():.1f}% of the mean; with ON and OFF times that are always {AT} s, "
            "so that chance is in losses and packets alone, "
            f"{100 * half_width(fixed_periods) / fixed_periods.predicted('markov').value:.1f}%",
        ),
        "interval_growth": Finding(
            float(halves[-3:].sum() / halves[:3].sum()),
            note="20 periods of ON and OFF a run at 50 s, 200 at 5 s: their sums scatter",
        ),
    }
    tables = {"table": _side_by_side(points, halves)}
    return Outcome(findings, {"figure": _chart(points, halves), "readings": _readings_chart(readings)}, (), tables)


def _side_by_side(points: Mapping[int, Point], halves: np.ndarray[Any, np.dtype[np.float64]]) -> SideBySide:
    found = [one.predicted("markov") for one in points.values()]
    columns = [
        column(
            "throughput by the Markov approach [Mbit/s]",
            PRINTED,
            [one.value for one in found],
            [one.low for one in found],
            [one.high for one in found],
        ),
        column("half of the interval of 50 runs [Mbit/s]", PRINTED_HALF, halves),
        column("throughput of TCP, simulated [Mbit/s]", None, [one.measured.value for one in points.values()]),
    ]
    names = {"period [s]": [f"{period}" for period in points]}
    return SideBySide("Table 1: the Markov approach, lambda = 1/10 losses/s", names, columns)


def _told_apart(points: Mapping[int, Point]) -> dict[str, Finding]:
    """Judge whether the ten rows distinguish the models, their level left out: it depends on what is not printed."""
    found = {model: np.array([one.predicted(model).value for one in points.values()]) for model in MODELS}
    found["TCP, simulated"] = np.array([one.measured.value for one in points.values()])
    found["a constant"] = np.ones(len(PERIODS))
    off = {name: _relative_deviation(values) for name, values in found.items()}
    alike = {name: float(np.corrcoef(values, PRINTED)[0, 1]) for name, values in found.items() if np.ptp(values) > 0.0}
    return {
        "shape": Finding(
            model=alike["markov"],
            note="correlation with the printed rows: "
            + ", ".join(f"{name} {value:.2f}" for name, value in alike.items()),
        ),
        "told_apart": Finding(
            share([off["markov"] < off[name] for name in ("fixed", "a constant")]),
            note="root of the mean square deviation from the printed rows, each divided by its mean [%]: "
            + ", ".join(f"{name} {value:.1f}" for name, value in off.items())
            + f"; the printed intervals are +-{100.0 * np.mean(np.divide(PRINTED_HALF, PRINTED)):.1f}%",
        ),
    }


def _relative_deviation(values: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    printed = np.array(PRINTED)
    return float(100.0 * np.sqrt(np.mean((values / values.mean() - printed / printed.mean()) ** 2)))


def half_width(one: Point) -> float:
    """Give half the interval that 50 runs with the scatter of these would have [Mbit/s]."""
    return float(student_t(CONFIDENCE, M - 1) * one.by_run["markov"].std(ddof=1) / np.sqrt(M))


def _chart(points: Mapping[int, Point], halves: np.ndarray[Any, np.dtype[np.float64]]) -> Chart:
    x = np.array(PERIODS, dtype=float)
    printed = np.array(PRINTED)
    markov = np.array([one.predicted("markov").value for one in points.values()])
    curves = [
        measured_curve("TCP, simulated", x, [one.measured for one in points.values()], 0),
        Curve(
            "Markov, two states at 85%, interval as of 50 runs",
            x,
            markov,
            "simulation",
            3,
            markov - halves,
            markov + halves,
        ),
        Curve(MODELS["fixed"], x, np.array([one.predicted("fixed").value for one in points.values()]), "theory", 1),
        Curve("the paper's table 1 (Markov)", x, printed, "paper", 3),
        Curve("its intervals", x, printed, "band", 5, printed - PRINTED_HALF, printed + PRINTED_HALF),
    ]
    panel = Panel("mean length of ON and OFF periods [s]", "throughput [Mbit/s]", curves, from_zero=False)
    return Chart("Table 1: throughput by the Markov approach, lambda = 1/10 losses/s", [panel])


def _readings_chart(readings: Mapping[str, Point]) -> Chart:
    x = np.arange(len(readings), dtype=float)
    found = list(readings.values())
    curves = [
        measured_marks("TCP, simulated", x - 0.1, [one.measured.value for one in found], 0),
        *(
            measured_marks(text, x + 0.1 * number, [one.predicted(model).value for one in found], number + 1)
            for number, (model, text) in enumerate(MODELS.items())
        ),
        Curve("the paper's ten rows", np.array([-0.5, len(found) - 0.5]), np.zeros(2), "band", 5, *_printed_range()),
    ]
    panel = Panel("", "throughput [Mbit/s]", curves, x_ticks=tuple(readings))
    title = f"What table 1 depends on: other readings of what is not printed, at periods of {AT} s"
    return Chart(title, [panel], size_inches=(13.0, 7.5))


def measured_marks(label: str, x: Any, values: list[float], colour: int) -> Curve:
    """Make marks without a line."""
    return Curve(label, np.asarray(x, dtype=float), np.array(values), "marks", colour)


def _printed_range() -> tuple[np.ndarray[Any, np.dtype[np.float64]], np.ndarray[Any, np.dtype[np.float64]]]:
    return np.full(2, min(PRINTED)), np.full(2, max(PRINTED))
