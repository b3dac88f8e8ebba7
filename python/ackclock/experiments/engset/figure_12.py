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
from ackclock.scenario import Resolved

QUICK = 400e3
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


def scenarios(setting: Setting) -> Mapping[Web, Resolved]:
    """Give all laws and windows in both settings."""
    webs = [_web(name, case) for name in SETTINGS for case in CASES]
    return {web: web.scenario(packets(setting, QUICK), queue_distribution=True) for web in webs}


def model_exceedance(web: Web, x: Values) -> Values:
    """Compute the model's P(Q > x)."""
    found = web.prediction
    return np.asarray(engset.exceedance(x, float(found.utilisation_2), float(found.mean_queue)), dtype=float)


def near_model(run: Run, web: Web, least: float) -> list[bool]:
    """Return for each x where the model gives at least `least` whether the simulation is within a factor of two."""
    x, found = exceedance(run)
    model = model_exceedance(web, x)
    counted = model >= least
    return [0.5 <= one <= 2.0 for one in (found[counted] / model[counted]).tolist()]


def outcome(_setting: Setting, runs: Mapping[Web, Run]) -> Outcome:
    """Judge the model's queue, loss and rate."""
    found = {(name, case): runs[_web(name, case)] for name in SETTINGS for case in CASES}
    panels, notes = [], []
    for name, web in SETTINGS.items():
        own = {case: found[name, case] for case in CASES}
        model = web.prediction
        panels.append(queue_panel(own, web, name))
        theory = f"h = {float(model.rate) / KILO:.1f} kbit/s, L = {100.0 * float(model.loss):.3f}%"
        pair = f"rho = {float(model.utilisation_2):.3f}, eta = {float(model.decay):.1f} packets"
        notes.append(f"{name}. Theory: {theory}, {pair}. Simulated: {averages(own)}.")
    title = "Figure 12: the queue at 100% load, F = 12, B = 200"
    chart = Chart(title, panels, 2, share_y=True, size_inches=(14.0, 7.0))
    return Outcome(_queues(found) | _losses(found), {"figure": chart}, notes)


def _queues(found: Mapping[tuple[str, str], Run]) -> dict[str, Finding]:
    """Judge P(Q > x)."""
    long = {key: above(run, 100.0) for key, run in found.items()}
    law, tails = "E, W_R = 44", {}
    for name in SETTINGS:
        theory = float(model_exceedance(_web(name, law), np.array([150.0]))[0])
        tails[name] = above(found[name, law], 150.0) < 0.5 * theory
    longer = [long[name, "EE, W_R = 44"] > 2.0 * long[name, law] for name in SETTINGS]
    pairs = [
        (long[name, f"{tail}, W_R = 12"], long[name, f"{tail}, W_R = 44"]) for name in SETTINGS for tail in ("EE", "EP")
    ]
    fit = [
        one for name in SETTINGS for case in FITTING for one in near_model(found[name, case], _web(name, case), LEAST)
    ]
    return {
        "depends": Finding(share(longer)),
        "window": Finding(share([small < large for small, large in pairs])),
        "fits": Finding(100.0 * share(fit), note="of all x with a theoretical probability of at least 0.1"),
        "tail": Finding(share(list(tails.values())), note="at x = 150: less than half of the theory"),
    }


def _losses(found: Mapping[tuple[str, str], Run]) -> dict[str, Finding]:
    """Judge the loss and the rate."""
    lost, errors, busy = {}, [], []
    for name in SETTINGS:
        for case in CASES:
            model = _web(name, case).prediction
            lost[name, case] = (loss_percent(found[name, case]).value, 100.0 * float(model.loss))
            if case in FITTING:
                busy.append(abs(float(model.utilisation) / utilisation(found[name, case]) - 1.0))
                errors.append(abs(float(model.rate) / KILO / rate_kbps(found[name, case]).value - 1.0))
    bounded = {key: pair for key, pair in lost.items() if key[1] in BOUNDED}
    text = (f"{name}, {case}: {one:.3f}% against {theory:.3f}%" for (name, case), (one, theory) in bounded.items())
    return {
        "bound": Finding(share([one <= theory for one, theory in bounded.values()]), note="; ".join(text)),
        "rate": Finding(100.0 * max(errors), note="E with W_R = 44, EP with W_R = 12, both settings"),
        "utilisation": Finding(100.0 * max(busy), note="the same"),
    }


def averages(runs: Mapping[str, Run]) -> str:
    """Say h, L and the utilisation r of some runs."""
    text = (
        f"{case}: h = {rate_kbps(run).value:.1f} kbit/s, L = {loss_percent(run).value:.3f}%, r = {utilisation(run):.3f}"
        for case, run in runs.items()
    )
    return "; ".join(text)


def above(run: Run, x: float) -> float:
    """Give P(Q > x)."""
    places, found = exceedance(run)
    return float(found[places == x].sum())


def queue_panel(runs: Mapping[str, Run], web: Web, title: str) -> Panel:
    """Draw P(Q > x) of several runs and of the model."""
    curves: list[Curve] = []
    for number, (case, run) in enumerate(runs.items()):
        x, found = exceedance(run)
        shown = found > 0.0
        every = slice(None, None, max(1, len(x) // 40))
        curves.append(curve(case, x[shown][every], found[shown][every], "simulation", number))
    x = np.arange(0.0, BUFFER + 1.0)
    curves.append(curve("theory", x, model_exceedance(web, x), "theory", 5))
    return Panel("x [packets]", "P(Q > x)", curves, title, log_y=True, y_bottom=1e-4)
