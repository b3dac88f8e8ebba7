"""Figure 5.16: throughput of the connection from node 1L to the server, averaged from t = 0."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting
from ackclock.experiments.two_way import client_server as setup
from ackclock.experiments.two_way.atm import average_from_zero, user_mbps
from ackclock.experiments.two_way.line import end_of
from ackclock.models import two_way
from ackclock.scenario import Resolved


def scenarios(setting: Setting) -> Mapping[float, Resolved]:
    """Give the run of the section, and runs with other delays."""
    others = {delay: setup.with_delay(setting, delay) for delay in setup.DELAYS_MS}
    return {setup.SHOWN_MS: setup.shown(setting)} | others


def outcome(_setting: Setting, runs: Mapping[float, Run]) -> Outcome:
    """Judge the efficiency, and the formula at the delays that were tried."""
    run = runs[setup.SHOWN_MS]
    share_of = {
        delay: float(np.mean([user_mbps(one, flow) for flow in (*setup.FROM_CLIENT, *setup.TO_CLIENT)]) / setup.USER)
        for delay, one in runs.items()
    }
    model = {delay: _model(delay) for delay in runs}
    errors = [share_of[delay] - model[delay] for delay in runs]
    table = ", ".join(f"{1.0 + delay:g} ms: {100 * share:.1f}%" for delay, share in share_of.items())
    findings = {
        "efficiency": Finding(
            100.0 * share_of[setup.SHOWN_MS],
            100.0 * model[setup.SHOWN_MS],
            f"the delays are not printed, and these were chosen to fit; by one-way delay: {table}",
        ),
        "formula": Finding(100.0 * max(abs(error) for error in errors), note="largest error in points, four delays"),
    }
    times = np.linspace(0.02, end_of(run), 300)
    optimum = model[setup.SHOWN_MS] * setup.USER
    curves = [
        Curve("1L to the server, averaged from t = 0", times, average_from_zero(run, 0, times), "simulation", 0),
        Curve("W / (W + L) of 43.6 Mbit/s", times[[0, -1]], np.full(2, optimum), "theory", 1),
        Curve("the paper: about 70%", times[-1:], np.array([0.7 * setup.USER]), "paper"),
    ]
    panel = Panel("time [s]", "throughput of TCP segments [Mbit/s]", curves, y_top=setup.USER)
    return Outcome(findings, {"figure": Chart("Figure 5.16: throughput from node 1L to the server", [panel])})


def _model(delay_ms: float) -> float:
    length = (1.0 + delay_ms) * 1e-3 / setup.SHARE_SEGMENT_S
    return float(two_way.equal_window_efficiency(setup.WINDOW, length))
