"""Figure 2: the window against time for mu_1 = 1.5 and 1.6 Mbit/s."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.bottlenecks.path import (
    MEGA,
    READINGS,
    TIMES,
    Reading,
    Time,
    mbps,
    predicted,
    scenario,
    windows,
)
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.scenario import Resolved

Key = tuple[Reading, str, Time]
"""The reading of T, mu_1 [Mbit/s], and the time."""
RATES = ("1.5", "1.6")


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Resolve both rates from t = 0, as in the paper, and in steady state, in both readings of T."""
    found: dict[Key, Resolved] = {}
    for reading in READINGS:
        for rate in RATES:
            changes = {"link.feeder.rate": f"{rate} Mbit/s"}
            found[reading, rate, "shown"] = scenario(
                "two-nodes", changes | {"trace.overview_interval": "0.5 s"}, reading
            )
            steady = {"run.warmup": "200 s", "run.duration": setting.pick("2200 s", "20200 s")}
            found[reading, rate, "steady"] = scenario("two-nodes", changes | steady, reading)
    return found


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge throughput and largest window of both rates."""
    findings = {}
    for rate in RATES:
        run, steady = runs["two_way_propagation", rate, "shown"], runs["two_way_propagation", rate, "steady"]
        model = predicted(run.resolved)
        sent = {name: one.flow("throughput_bps", MEGA).value for name, one in (("shown", run), ("steady", steady))}
        other = runs["rtt", rate, "shown"].flow("goodput_bps", MEGA).value
        # The run is exact: what the paper prints is the average of these 500 s, not a long-run mean.
        findings[f"throughput_{rate}"] = Finding(
            run.flow("goodput_bps", MEGA).value,
            float(mbps(model.throughput.capped)),
            f"delivered in order, 0 to 500 s; with duplicates {sent['shown']:.4f}, and {sent['steady']:.4f} in steady "
            f"state; delivered with the service times in T {other:.4f}",
        )
        findings[f"window_{rate}"] = Finding(
            steady.flow("cwnd_max_packets"),
            float(model.maximum_window),
            "with 560 ms of propagation T is 565.7 ms; ns-2's windows peak at the next whole packet",
        )
        findings[f"window_rtt_{rate}"] = Finding(
            runs["rtt", rate, "steady"].flow("cwnd_max_packets"),
            float(predicted(runs["rtt", rate, "shown"].resolved).maximum_window),
        )
    findings["falls"] = Finding(share([_falls(runs, reading, time) for reading in READINGS for time in TIMES]))
    return Outcome(findings, {"figure": _chart(runs)})


def _falls(runs: Mapping[Key, Run], reading: Reading, time: Time) -> bool:
    slow, fast = (runs[reading, rate, time] for rate in RATES)
    quantities = ("throughput_bps", "cwnd_mean_packets")
    return all(fast.flow(quantity).value < slow.flow(quantity).value for quantity in quantities)


def _chart(runs: Mapping[Key, Run]) -> Chart:
    panels = []
    for number, rate in enumerate(RATES):
        run = runs["two_way_propagation", rate, "shown"]
        largest = float(predicted(run.resolved).maximum_window)
        curves = [
            windows(run, "cwnd, simulated", number),
            Curve("W_max, theory", np.array([0.0, 500.0]), np.array([largest, largest]), "theory", 4),
        ]
        value = run.flow("goodput_bps", MEGA).value
        paper = {"1.5": 1.371, "1.6": 1.247}[rate]
        title = f"mu_1 = {rate} Mbit/s: {value:.3f} Mbit/s (the paper: {paper} Mbit/s)"
        panels.append(Panel("time [s]", "cwnd [packets]", curves, title, y_top=500.0))
    return Chart("Figure 2: the window as the first node gets a little faster", panels, 1, size_inches=(12.0, 8.5))
