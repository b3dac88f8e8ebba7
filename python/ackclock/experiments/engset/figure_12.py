"""Figure 12: the queue at 100% load, B = 200."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.engset.figure_11 import CASES
from ackclock.experiments.engset.path import (
    KILO,
    Values,
    Web,
    curve,
    exceedance,
    loss_percent,
    packets,
    rate_kbps,
    utilisation,
)
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models import engset
from ackclock.replication import ResolvedDict

QUICK = 500e3
BUFFER = 200
SETTINGS = {
    "(10M, 2M, R50), N = 82": Web(82, buffer=BUFFER),
    "(10M, 1G, R50), N = 80": Web(80, buffer=BUFFER, egress=1000.0),
}
LEAST = 0.1
BOUNDED = ("E, W_R = 44", "EE, W_R = 12", "EP, W_R = 12")
FITTING = ("E, W_R = 44", "EP, W_R = 12")


def _web(setting: str, case: str) -> Web:
    law, window = CASES[case]
    base = SETTINGS[setting]
    return Web(base.sources, 12, law, window, BUFFER, egress=base.egress)


def scenarios(setting: Setting) -> Mapping[str, ResolvedDict]:
    """Give all laws and windows in both settings."""
    webs = [_web(name, case) for name in SETTINGS for case in CASES]
    return {web.label: web.scenario(packets(setting, QUICK), queue_distribution=True) for web in webs}


def model_exceedance(web: Web, x: Values) -> Values:
    """Compute the model's P(Q > x)."""
    found = web.prediction
    return np.asarray(engset.exceedance(x, float(found.utilisation_2), float(found.mean_queue)), dtype=float)


def near_model(run: Run, web: Web, least: float) -> list[bool]:
    """Tell for each x whether the simulation is within a factor of two of the model, where that gives at least `least`."""
    x, found = exceedance(run)
    model = model_exceedance(web, x)
    counted = model >= least
    return [0.5 <= one <= 2.0 for one in (found[counted] / model[counted]).tolist()]


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge the model's queue, loss and rate."""
    webs = {(name, case): _web(name, case) for name in SETTINGS for case in CASES}
    lost = {key: loss_percent(runs[web.label]) for key, web in webs.items()}
    long = {key: _above(runs[web.label], 100.0) for key, web in webs.items()}
    fit = [
        one
        for name in SETTINGS
        for case in FITTING
        for one in near_model(runs[webs[name, case].label], webs[name, case], LEAST)
    ]
    tails = [
        _above(runs[webs[name, "E, W_R = 44"].label], 150.0)
        < 0.5 * float(model_exceedance(webs[name, "E, W_R = 44"], np.array([150.0]))[0])
        for name in SETTINGS
    ]
    errors = {
        (name, case): float(webs[name, case].prediction.rate) / KILO / rate_kbps(runs[webs[name, case].label]).value
        - 1.0
        for name in SETTINGS
        for case in FITTING
    }
    findings = {
        "depends": Finding(share([long[name, "EE, W_R = 44"] > 2.0 * long[name, "E, W_R = 44"] for name in SETTINGS])),
        "window": Finding(
            share(
                [
                    long[name, f"{law}, W_R = 12"] < long[name, f"{law}, W_R = 44"]
                    for name in SETTINGS
                    for law in ("EE", "EP")
                ]
            )
        ),
        "fits": Finding(100.0 * share(fit), note="of all x with a theoretical probability of at least 0.1"),
        "tail": Finding(share(tails), note="at x = 150: less than half of the theory"),
        "bound": Finding(
            share(
                [
                    lost[name, case].value <= 100.0 * float(webs[name, case].prediction.loss)
                    for name in SETTINGS
                    for case in BOUNDED
                ]
            ),
            note="; ".join(
                f"{name}, {case}: {lost[name, case].value:.3f}% against {100.0 * float(webs[name, case].prediction.loss):.3f}%"
                for name in SETTINGS
                for case in BOUNDED
            ),
        ),
        "rate": Finding(
            100.0 * max(map(abs, errors.values())), note="E with W_R = 44, EP with W_R = 12, both settings"
        ),
    }
    panels = []
    for name in SETTINGS:
        own = {case: runs[webs[name, case].label] for case in CASES}
        found = SETTINGS[name].prediction
        model = f"theory: h = {float(found.rate) / KILO:.1f} kbit/s, L = {100.0 * float(found.loss):.2f}%"
        panels.append(queue_panel(own, SETTINGS[name], f"{name}\n{model}"))
    return Outcome(
        findings,
        {"figure": Chart("Figure 12: the queue at 100% load, F = 12, B = 200", panels, 2, size_inches=(14.0, 7.5))},
    )


def _above(run: Run, x: float) -> float:
    places, found = exceedance(run)
    return float(found[places == x].sum())


def queue_panel(runs: Mapping[str, Run], web: Web, title: str) -> Panel:
    """Draw P(Q > x) of several runs beside the model."""
    curves: list[Curve] = []
    for number, (case, run) in enumerate(runs.items()):
        x, found = exceedance(run)
        shown = found > 0.0
        rate, lost = rate_kbps(run).value, loss_percent(run).value
        every = slice(None, None, max(1, len(x) // 40))
        curves.append(curve(case, x[shown][every], found[shown][every], "simulation", number))
        title += f"\n{case}: h = {rate:.1f} kbit/s, L = {lost:.3f}%, r = {utilisation(run):.3f}"
    x = np.arange(0.0, BUFFER + 1.0)
    curves.append(curve("theory", x, model_exceedance(web, x), "theory", 6))
    return Panel("x [packets]", "P(Q > x)", curves, title, log_y=True, y_bottom=1e-4)
