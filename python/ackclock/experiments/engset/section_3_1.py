"""Section 3.1: the retransmission timer with constant round trips."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.path import PAPER, Values, curve
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, resolved, scenario_tables
from ackclock.scenario import Resolved

RTT_S = 20.0
"""Constant round trip [s]: the least timeout of 1 s never counts, and transmissions are nothing to it."""
SHOWN = 25
PRINTED = {1: 3.0, 10: 1.113, 20: 1.006}
"""RTO / R after a measurement, as printed."""


def scenarios(_setting: Setting) -> Mapping[str, Resolved]:
    """Give one connection that is alone, whose window grows by a packet a round: the trace has each round's timeout."""
    tables = scenario_tables(PAPER, "web")
    for link in tables["link"]:
        link.pop("private", None)
        link.pop("buffer", None)
    flow = tables["flow"][0]
    del flow["traffic"], flow["count"]
    tcp = {"preset": "newreno-engset", "max_window": "44 pkt", "initial_ssthresh": "2 pkt", "rto": {"initial": "60 s"}}
    flow |= {"rtt": f"{RTT_S:g} s", "tcp": tcp}
    tables["run"] = {"duration": f"{RTT_S * (SHOWN + 1.5):g} s"}
    tables["trace"] = {"cwnd": True}
    return {"constant": resolved(tables)}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Compare the timeout after some measurements, as the text counts them and from the second one on."""
    ratios = _ratios(runs["constant"])
    numbers = np.arange(1, SHOWN + 1)
    theory = 1.0 + 2.0 * 0.75 ** (numbers - 1.0)
    findings = {
        f"rto_{number}": Finding(float(ratios[number - 1]), float(theory[number - 1])) for number in (*PRINTED, 11, 21)
    }
    curves = [
        curve("simulated", numbers, ratios[:SHOWN], "marks", 0),
        curve("RFC 6298", numbers, theory, "theory", 1),
        curve("the paper", list(PRINTED), list(PRINTED.values()), "paper"),
    ]
    panel = Panel("measurement", "RTO / R", curves, from_zero=False)
    return Outcome(findings, {"timer": Chart("Section 3.1: the timeout with constant round trips", [panel])})


def _ratios(run: Run) -> Values:
    """Give RTO / R after each measurement: a round has one."""
    frame = run.trace("cwnd")
    rounds = np.floor(frame["time_s"].to_numpy() / (0.999 * RTT_S)).astype(int)
    last = frame.assign(round=rounds).groupby("round")["rto_s"].last()
    return np.asarray(last[last.index >= 1].to_numpy() / RTT_S, dtype=float)
