"""Processing time at the end systems: one process a node handles segments and ACKs, each for a time (section 2.1)."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, resolved, scenario_tables, share
from ackclock.experiments.two_way.line import PAPER, PER_SECOND, Pair, end_of, measured, runs_of_data, visits
from ackclock.models import two_way
from ackclock.scenario import Resolved

WINDOW, LENGTH = 28, 15.0
SMALL = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
"""Processing times of a packet, a segment's or an ACK's, in the time of a segment on the line."""
LONG = (0.9, 1.2, 1.5, 2.0)


def scenarios(setting: Setting) -> Mapping[float, Resolved]:
    """Give the simple configuration between two hosts, for processing times up to two segments."""
    return {time: _scenario(time, setting) for time in (0.0, *SMALL, *LONG)}


def _scenario(time: float, setting: Setting) -> Resolved:
    pair = _pair(time)
    tables = scenario_tables(PAPER, "line")
    each = f"{time * 1e6 / PER_SECOND:.6g} us"
    tables["host"] = [{"name": name, "processing": each} for name in ("left", "right")]
    for flow, (sender, receiver) in zip(tables["flow"], (("left", "right"), ("right", "left")), strict=True):
        flow.update({"sender": sender, "receiver": receiver})
    rounds = setting.pick(60, 300)
    fields = {
        "run.duration": f"{0.5 + rounds * pair.round_s:.6g} s",
        "link.line.delay": f"{LENGTH * 1e3 / PER_SECOND:.9g} ms",
        "link.line.reverse.delay": f"{LENGTH * 1e3 / PER_SECOND:.9g} ms",
        **{f"flow.{name}.tcp.max_window": f"{WINDOW} pkt" for name in "ij"},
    }
    return resolved(tables, fields)


def _pair(time: float) -> Pair:
    """Count processing as delay: a segment's, and that of an ACK, for the first of a bunch follows a segment."""
    return Pair((WINDOW, WINDOW), (LENGTH + 2.0 * time, LENGTH + 2.0 * time))


def _theory(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute theorem 1, or where that is less what a process gets done: a segment and an ACK for each segment."""
    by_line = np.array([_pair(float(time)).efficiency[0] for time in times])
    return np.asarray(np.minimum(by_line, 1.0 / np.maximum(2.0 * times, 1e-9)))


def outcome(_setting: Setting, runs: Mapping[float, Run]) -> Outcome:
    """Judge efficiency and whole windows, and where the process becomes the bottleneck."""
    found = {time: [measured(runs[time], flow) for flow in (0, 1)] for time in (0.0, *SMALL, *LONG)}
    errors = {time: max(abs(one - _pair(time).efficiency[0]) for one in found[time]) for time in (0.0, *SMALL)}
    whole = []
    for time in SMALL:
        run = runs[time]
        late, end = end_of(run) / 2.0, end_of(run) - _pair(time).round_s
        for stays in visits(run):
            whole += [length % WINDOW == 0 for length in runs_of_data(stays, late, end)]
    done = [abs(one * 2.0 * time - 1.0) for time in LONG for one in found[time]]
    values = ", ".join(f"{100 * found[time][0]:.1f}% at {time:g}" for time in (0.0, 0.02, 0.1, 0.2, 0.5))
    findings = {
        "small": Finding(
            100.0 * found[0.02][0], 100.0 * float(two_way.efficiency(WINDOW, LENGTH)[0]), f"{values} segments a packet"
        ),
        "whole_windows": Finding(
            share(whole), note=f"{len(whole)} runs of segments, up to {max(SMALL):g} segments a packet"
        ),
        "delay": Finding(
            100.0 * max(errors.values()), note="largest error with 2 p in each D, up to 0.7 segments a packet"
        ),
        "process": Finding(
            100.0 * max(done), note=f"from {min(LONG):g} segments a packet on, of what a process gets done"
        ),
    }
    times = np.array(list(found))
    fine = np.linspace(0.0, max(LONG), 300)
    curves = [
        Curve(
            "theorem 1 with processing in the delay, up to what a process gets done", fine, _theory(fine), "theory", 0
        ),
        Curve("connection i, simulated", times, np.array([both[0] for both in found.values()]), "marks", 0),
        Curve("connection j, simulated", times, np.array([both[1] for both in found.values()]), "marks", 1),
    ]
    panel = Panel("processing of a packet [segments' time on the line]", "efficiency", curves, y_top=0.75)
    title = "Processing time at the end systems, W = 28 and L = 15 segments"
    return Outcome(findings, {"figure": Chart(title, [panel])})
