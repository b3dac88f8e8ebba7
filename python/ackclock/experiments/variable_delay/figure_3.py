"""Figure 3: TCP's throughput against the mean ON and OFF time, and the models fed with the run's rounds."""

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.variable_delay.path import (
    INTERVALS,
    MODELS,
    PERIODS,
    PERIODS_QUICK,
    PERIODS_STEADY,
    STATES,
    STEADY,
    Point,
    measured_curve,
    point,
    scenario,
    seeds,
)
from ackclock.scenario import Resolved

SHOWN = INTERVALS[1:]
"""Mean times between losses of the figure, 1/lambda [s]; table 1 has the third."""
MARKOV_FROM = 20
Points = Mapping[tuple[int, int], Point]
Key = tuple[int, int, Literal["shown", "steady"]]
"""The two times 1/lambda and the period [s]; from t = 0, or without the first 200 s."""
NOTE = (
    "The window has no limit and nothing is lost for some ten seconds, so the first slow start fills the bottleneck's "
    "queue with thousands of packets; rounds of up to a minute follow. They are few of the samples, and much of the "
    "difference between the three models. The lower chart is the same without the first 200 s."
)


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Resolve the runs from t = 0 as in the paper, and without the first 200 s."""
    runs = seeds(setting)
    shown: dict[Key, Resolved] = {
        (interval, period, "shown"): scenario(period, interval, runs)
        for interval in SHOWN
        for period in setting.pick(PERIODS_QUICK, PERIODS)
    }
    steady: dict[Key, Resolved] = {
        (interval, period, "steady"): scenario(period, interval, runs, STEADY)
        for interval in SHOWN
        for period in setting.pick(PERIODS_STEADY, PERIODS)
    }
    return shown | steady


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge which of the models is nearest, and whether they order as the paper says."""
    points, steady = (
        {(interval, period): point(run) for (interval, period, time), run in runs.items() if time == wanted}
        for wanted in ("shown", "steady")
    )
    findings = {
        "variability_helps": Finding(
            model=share([all(_exceeds(one, model) for model in ("variable", "markov")) for one in points.values()])
        ),
        "fixed_is_low": _claim(points, lambda one: one.predicted("fixed").value < one.measured.value),
        "nearer": _claim(points, _both_nearer),
        "markov_nearest": _claim(_periods(points, above=True), _markov_nearest),
        "not_below": _claim(_periods(points, above=False), lambda one: not _markov_nearest(one)),
        "more_states": _claim(points, lambda one: one.error("states") < one.error("markov")),
        "fixed_is_low_steady": _claim(steady, lambda one: one.predicted("fixed").value < one.measured.value),
        "nearer_steady": _claim(steady, _both_nearer),
        "markov_nearest_steady": _claim(_periods(steady, above=True), _markov_nearest),
    }
    charts = {
        "figure": _chart("Figure 3: TCP below a busy priority class, 0 to 2000 s", points),
        "steady": _chart("Figure 3 without the first 200 s", steady),
    }
    return Outcome(findings, charts, (NOTE, _errors("0 to 2000 s", points), _errors("without 200 s", steady)))


def _periods(points: Points, *, above: bool) -> Points:
    return {place: one for place, one in points.items() if (place[1] >= MARKOV_FROM) == above}


def _claim(points: Points, holds: Callable[[Point], bool]) -> Finding:
    """Judge a claim at each point, and say where it does not hold."""
    found = {place: holds(one) for place, one in points.items()}
    but = [f"1/{interval} at {period} s" for (interval, period), held in found.items() if not held]
    return Finding(share(list(found.values())), note=f"not at {', '.join(but)}" if but else "")


def _exceeds(one: Point, model: str) -> bool:
    return one.predicted(model).value > one.predicted("fixed").value


def _both_nearer(one: Point) -> bool:
    return max(one.error("variable"), one.error("markov")) < one.error("fixed")


def _markov_nearest(one: Point) -> bool:
    return one.error("markov") < min(one.error("fixed"), one.error("variable"))


def _errors(title: str, points: Points) -> str:
    """Say how far the models are from the measurement, in the mean over the points."""
    means = {
        model: 100.0 * np.mean([one.predicted(model).value / one.measured.value - 1.0 for one in points.values()])
        for model in MODELS
    }
    return f"Mean difference from the measured throughput, {title}: " + ", ".join(
        f"{text.split(':')[0]}{f' ({STATES} states)' if model == 'states' else ''} {means[model]:+.1f}%"
        for model, text in MODELS.items()
    )


def _chart(title: str, points: Points) -> Chart:
    panels = []
    for interval in SHOWN:
        periods = [period for other, period in points if other == interval]
        here = [points[interval, period] for period in periods]
        x = np.array(periods, dtype=float)
        curves = [measured_curve("TCP, simulated", x, [one.measured for one in here], 0)]
        for number, (model, text) in enumerate(MODELS.items(), 1):
            values = np.array([one.predicted(model).value for one in here])
            curves.append(Curve(text, x, values, "theory" if number % 2 else "theory-2", number))
        axis = "mean length of ON and OFF periods [s]"
        panels.append(Panel(axis, "throughput [Mbit/s]", curves, f"lambda = 1/{interval} losses/s", from_zero=False))
    return Chart(title, panels, 2, share_y=True)
