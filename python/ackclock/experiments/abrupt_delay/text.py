"""The numbers and claims of the text: the process of the round trips, the RTO, RTO_min."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.abrupt_delay.path import (
    RATE,
    ROUND_TRIPS_S,
    alternating,
    goodput,
    simulated,
    step,
)
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models import abrupt_delay
from ackclock.scenario import Resolved

Key = (
    tuple[Literal["full link"]]
    | tuple[Literal["stays"], float]
    | tuple[Literal["rto"], int, int]
    | tuple[Literal["least"], int]
)
"""The full link; the stays at h; RTO with a weight and a window; the least timeout [ms]."""
FACTORS = (0.1, 1.0, 10.0)
WEIGHTS = (2, 4)
RTO_WINDOWS = (13, 26)
GRANULARITY_S = 1e-5
LEAST_TIMEOUTS_MS = (10, 20, 50, 100, 200, 500, 1000)
SHORT_ROUND_TRIP_S = 0.005


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give a full link, long stays, RTT samples, and a short path with many timeouts."""
    stays: dict[str, Any] = {"run.duration": setting.pick("4000 s", "40000 s"), "trace.delay": True}
    stays |= {"run.replications": 1, "run.warmup": "0 s"}
    rtt = {"trace.rtt": True}
    short: dict[str, Any] = {
        "link.path.rate": "10 Mbit/s",
        "link.path.loss": {"model": "bernoulli", "probability": 0.05, "applies_to": "data"},
        **{f"trace.{name}": False for name in ("cwnd", "sequence", "delay", "losses")},
        "run.duration": setting.pick("60 s", "600 s"),
        "run.replications": setting.pick(6, 20),
    }
    return {
        ("full link",): step(0.2, 0.2, 26, {"run.warmup": "2 s"}),
        **{("stays", factor): alternating(factor, stays) for factor in FACTORS},
        **{
            ("rto", weight, window): step(0.2, 0.3, window, rtt | {"flow.flow.tcp.rto.k": weight})
            for weight in WEIGHTS
            for window in RTO_WINDOWS
        },
        **{
            ("least", milliseconds): step(
                SHORT_ROUND_TRIP_S,
                SHORT_ROUND_TRIP_S,
                20,
                short | {"flow.flow.tcp.rto.min": f"{milliseconds} ms"},
            )
            for milliseconds in LEAST_TIMEOUTS_MS
        },
    }


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge what the text says in numbers."""
    stays = {factor: _stays(runs["stays", factor]) for factor in FACTORS}
    least = [bool(np.all(own >= total_s - 1e-9)) for both in stays.values() for own, total_s in _states(both)]
    shares = {factor: float(first.sum() / (first.sum() + second.sum())) for factor, (first, second) in stays.items()}
    errors = {
        (weight, window): runs["rto", weight, window].once(_rto_error, weight)
        for weight in WEIGHTS
        for window in RTO_WINDOWS
    }
    small, large = (goodput(runs["least", milliseconds]) for milliseconds in (10, 1000))
    process = abrupt_delay.round_trip_process_of_factor(ROUND_TRIPS_S, 1.0)
    findings = {
        "packet_rate": Finding(goodput(runs[("full link",)]).value, RATE),
        "least_stay": Finding(share(least), note=f"{sum(len(own) for both in stays.values() for own in both)} stays"),
        "mean_stay_1": Finding(float(stays[1.0][0].mean()), float(process.mean_holding_times[0])),
        "mean_stay_2": Finding(float(stays[1.0][1].mean()), float(process.mean_holding_times[1])),
        "proportion": Finding(
            max(abs(found - 0.25) for found in shares.values()),
            note=", ".join(f"h = {factor:g}: {found:.3f}" for factor, found in shares.items()),
        ),
        "rto": Finding(
            100.0 * max(errors.values()),
            note="up to the first timeout: "
            + ", ".join(f"k = {k}, w_m = {w}: {100.0 * error:.2f}%" for (k, w), error in errors.items()),
        ),
        "rto_min": Finding(
            100.0 * large.value / small.value,
            note=f"{large.value:.0f} packets/s with RTO_min = 1 s, {small.value:.0f} with 10 ms",
        ),
    }
    return Outcome(findings, {"least-timeout": _chart(runs)})


def _stays(run: Run) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give how long each whole stay in the first and in the second state lasted [s]."""
    trace = run.trace("delay")
    trace = trace[trace["link"] == "path"]
    lengths, delays = np.diff(trace["time_s"].to_numpy()), trace["delay_s"].to_numpy()[:-1]
    first = delays < float(np.mean(ROUND_TRIPS_S))
    return lengths[first], lengths[~first]


def _states(both: tuple[NDArray[np.float64], NDArray[np.float64]]) -> list[tuple[NDArray[np.float64], float]]:
    return list(zip(both, ROUND_TRIPS_S, strict=True))


def _rto_error(run: Run, weight: int) -> float:
    """Compare the simulated RTO with equation 1 at each sample up to the first timeout; give the largest difference."""
    samples, cwnd, losses = (run.trace(name) for name in ("rtt", "cwnd", "losses"))
    end = float(losses["time_s"].min()) if len(losses) else np.inf
    samples = samples[samples["time_s"] < end]
    after = cwnd.drop_duplicates("time_s", keep="last").set_index("time_s")["rto_s"]
    estimate, worst = None, 0.0
    for time, sample in zip(samples["time_s"], samples["rtt_s"], strict=True):
        estimate = abrupt_delay.rto_after([sample], weight, GRANULARITY_S, estimate)
        if time in after.index:
            worst = max(worst, abs(float(estimate.rto) / float(after[time]) - 1.0))
    return worst


def _chart(runs: Mapping[Key, Run]) -> Chart:
    x = np.array(LEAST_TIMEOUTS_MS, dtype=float)
    keys: list[Key] = [("least", milliseconds) for milliseconds in LEAST_TIMEOUTS_MS]
    curves: list[Curve] = [simulated("Reno, simulated", x, runs, keys, 0)]
    panel = Panel(
        "RTO_min [ms]", "goodput [packets/s]", curves, "T = 5 ms, 10 Mbit/s, losses of 5%, w_m = 20", log_x=True
    )
    return Chart("Section IV.D: what a large least timeout costs on a short path", [panel])
