"""Figure 5.2: the allowed cell rate of the left-to-right connection."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way.atm import LINE_MBPS, acr_reaches, rows, scenario, stepped
from ackclock.experiments.two_way.symmetric import shown
from ackclock.scenario import Resolved

HANDSHAKE_MS = 16.3
"""Duration of a handshake [ms]: a round trip of two cells at the initial rate."""
READINGS = {
    "3.5": {"channel.vc.abr.icr": "3.5 Mbit/s"},
    "two packets": {f"flow.{name}.tcp.initial_window": "2 pkt" for name in ("left", "right")},
    "by CCR": {"atm_link.line.allocation": "by-ccr"},
    "handshake": {f"flow.{name}.start": f"{HANDSHAKE_MS} ms" for name in ("left", "right")},
}
PAUSE_S = 0.005
"""Least time without an increase that is a pause [s]: backward RM cells of a steady flow come far more often."""


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the run of the section, and the ramp in other readings."""
    ramp = {"run.duration": setting.pick("0.4 s", "1 s"), "trace.acr": True, "run.warmup": "0 s"}
    return {"shown": shown(setting)} | {name: scenario("abr", ramp | changes) for name, changes in READINGS.items()}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge when the rate is steady, from where it starts and how it grows."""
    run = runs["shown"]
    times, values = rows(run, "acr", "vc")
    reached = acr_reaches(run, "vc", LINE_MBPS)
    others = "; ".join(f"{name}: {1e3 * acr_reaches(runs[name], 'vc', LINE_MBPS):.0f} ms" for name in READINGS)
    ramp = times[times <= reached]
    pauses = int(np.sum(np.diff(ramp) > PAUSE_S))
    findings = {
        "reached": Finding(
            1e3 * reached,
            note=f"in other readings (ICR 3.5 Mbit/s, initial window of two packets, other allocation): {others}",
        ),
        "reached_handshake": Finding(
            1e3 * acr_reaches(runs["handshake"], "vc", LINE_MBPS),
            note="both connections begin a round trip later, as with a handshake, which our TCP leaves out",
        ),
        "initial": Finding(
            float(values[0]) / 1e6, LINE_MBPS / 50.0, "the paper's own ICR = PCR/50 is 3.1; 3.5 would be PCR/44"
        ),
        "steps": Finding(float(pauses), note=f"pauses of more than {1e3 * PAUSE_S:g} ms in {len(ramp) - 1} increases"),
        "steady": Finding(share(list(np.abs(values[times >= reached] / (1e6 * LINE_MBPS) - 1.0) < 1e-3))),
    }
    curves = [
        stepped(run, "acr", "vc", "allowed cell rate, simulated", 0, until=0.2),
        Curve("the paper: steady after about 110 ms", np.array([0.11]), np.array([LINE_MBPS]), "paper"),
    ]
    panel = Panel("time [s]", "allowed cell rate [Mbit/s]", curves, y_top=175.0)
    return Outcome(findings, {"figure": Chart("Figure 5.2: the allowed cell rate of connection 1L", [panel])})
