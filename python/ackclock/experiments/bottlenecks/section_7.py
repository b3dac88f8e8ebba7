"""Sections 6 and 7: the window at the overflow with each policy, and where a retransmission is lost."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.bottlenecks.path import LONGEST_RECOVERY_S, MEGA, count_cycles, predicted, scenario
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models import bottlenecks
from ackclock.scenario import Resolved

Case = Literal["window", "overflow", "wide", "place", "red"]
Key = tuple[Case, str, int, int]
"""The case, the discipline, B and B'."""
POLICIES: Mapping[str, str] = {"drop-tail": "Drop Tail", "drop-from-front": "Drop from Front", "random-drop": "Random"}
ALPHA: Mapping[str, float] = {"drop-tail": 1.0, "drop-from-front": 0.0}
BUFFERS = (10, 12, 14, 16, 18, 20)
FEEDER = 15
"""B' of section 7.2."""
WIDE = ((90, 100), (120, 100), (150, 120))
"""Pairs B and B' at which slow start overflows no buffer."""
PLACES = range(10, 31, 2)
FEEDERS = (10, 15, 20, 30)
RED = {"discipline": "red", "min_threshold": "5 pkt", "max_threshold": "15 pkt", "rules": "ns2"}
"""ns-2's own thresholds, as the paper prints none; a full buffer drops the packet that arrives."""


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give both nodes each policy: with small buffers, with wide ones, and RED that drops the packet that arrives."""
    short = {"run.duration": setting.pick("450 s", "4000 s"), "trace.losses": True, "trace.cwnd": True}
    long = {"run.warmup": "200 s", "run.duration": setting.pick("1700 s", "10200 s"), "trace.losses": True}
    found: dict[Key, Resolved] = {
        ("window", policy, buffer, FEEDER): _path(policy, buffer, FEEDER, short)
        for policy in POLICIES
        for buffer in BUFFERS
    }
    for buffer in BUFFERS:
        seen = short | {"trace.sequence": True}
        found["overflow", "drop-tail", buffer, FEEDER] = _path("drop-tail", buffer, FEEDER, seen)
    for policy in POLICIES:
        for buffer, feeder in WIDE:
            found["wide", policy, buffer, feeder] = _path(policy, buffer, feeder, long)
    for buffer in PLACES:
        for feeder in FEEDERS:
            found["place", "drop-tail", buffer, feeder] = _path(
                "drop-tail", buffer, feeder, long | {"trace.drops": True}
            )
    for buffer in range(10, 21):
        found["red", "red", buffer, FEEDER] = _path("red", buffer, FEEDER, long)
    return found


def _path(policy: str, buffer: int, feeder: int, changes: Mapping[str, Any]) -> Resolved:
    nodes: dict[str, Any] = {"link.satellite.buffer": f"{buffer} pkt", "link.feeder.buffer": f"{feeder} pkt"}
    for name in ("feeder", "satellite"):
        nodes[f"link.{name}.queue"] = RED if policy == "red" else policy
    return scenario("slow-access", nodes | dict(changes))


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge the windows, the policies without an overflow, and the places of lost retransmissions."""
    found = {policy: _loss_windows(runs, policy) for policy in POLICIES}
    theory = {policy: _theory(runs, alpha) for policy, alpha in ALPHA.items()}
    tail, front, drawn = (found[policy] for policy in POLICIES)
    findings = {
        "W_B": _overflow(runs),
        "W_S": _start(runs, "drop-tail"),
        "W_S_front": _start(runs, "drop-from-front"),
        "W_D": _window_finding(tail, theory["drop-tail"]),
        "W_D_front": _window_finding(front, theory["drop-from-front"]),
        "W_D_between": Finding(
            share([bool(a <= b <= c) for a, b, c in zip(front, drawn, tail, strict=True)]),
            note=f"{_listed(drawn)} with Random Drop at B = {', '.join(map(str, BUFFERS))}, in the mean of the cycles",
        ),
        "alike": _alike(runs),
        "place": _place(runs),
        "red_loses": _red(runs),
    }
    x = np.array(BUFFERS, dtype=float)
    curves = [
        Curve(f"{title}, simulated", x, found[policy], "simulation", number)
        for number, (policy, title) in enumerate(POLICIES.items())
    ]
    curves += [Curve(f"{POLICIES[policy]}, theory", x, theory[policy], "theory", n) for n, policy in enumerate(ALPHA)]
    panel = Panel("B, the bottleneck's buffer [packets]", "W_D, window at the detection of the loss [packets]", curves)
    return Outcome(findings, {"windows": Chart("Section 7.1: the window at the loss in slow start", [panel])})


def _window_finding(found: Any, theory: Any) -> Finding:
    return Finding(
        float(np.max(np.abs(found - theory))),
        note=f"{_listed(found)} for {_listed(theory)} at B = {', '.join(map(str, BUFFERS))}",
    )


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.1f}" for value in values)


def _loss_windows(runs: Mapping[Key, Run], policy: str) -> Any:
    return np.array([_loss_window(runs["window", policy, buffer, FEEDER]) for buffer in BUFFERS])


def _loss_window(run: Run) -> float:
    """Compute the mean of cwnd where the loss of slow start is detected, that of the connection's start left out.

    A cycle's first detection is of the loss in avoidance, the next one of that in slow start.
    """
    losses, cwnd = run.trace("losses"), run.trace("cwnd")
    before = np.searchsorted(cwnd["time_s"].to_numpy(), losses["time_s"].to_numpy()[_in_slow_start(losses)]) - 1
    return float(np.mean(cwnd["cwnd"].to_numpy()[before])) if len(before) else float("nan")


def _in_slow_start(losses: Any) -> Any:
    """Give the numbers of the detections of a loss in slow start, that of the connection's start left out."""
    gaps = np.diff(losses["time_s"].to_numpy(), prepend=0.0)
    fast = (losses["cause"] == "fast-retransmit").to_numpy()
    chosen = np.zeros(len(gaps), dtype=bool)
    chosen[1:] = (gaps[:-1] > LONGEST_RECOVERY_S) & (gaps[1:] <= LONGEST_RECOVERY_S) & fast[1:]
    return np.flatnonzero(chosen)


def _overflow(runs: Mapping[Key, Run]) -> Finding:
    """Compare cwnd where the packet was sent that slow start's overflow drops, the mean of the cycles."""
    found, theory = [], []
    for buffer in BUFFERS:
        run = runs["overflow", "drop-tail", buffer, FEEDER]
        losses, cwnd, rows = (run.trace(name) for name in ("losses", "cwnd", "sequence"))
        sent = rows[rows["kind"].astype(str).isin(["sent", "retransmitted"])]
        windows = []
        for number in _in_slow_start(losses):
            lost = losses.iloc[number]
            times = sent["time_s"][(sent["sequence"] == lost["sequence"]) & (sent["time_s"] < lost["time_s"])]
            place = np.searchsorted(cwnd["time_s"].to_numpy(), float(times.max()), side="right") - 1
            windows.append(float(cwnd["cwnd"].iloc[place]))
        found.append(float(np.mean(windows)) if windows else float("nan"))
        theory.append(float(predicted(_path("drop-tail", buffer, FEEDER, {})).overflow.window))
    return _window_finding(np.array(found), np.array(theory))


def _start(runs: Mapping[Key, Run], policy: str) -> Finding:
    """Compare cwnd where the slow start after the loss ends, at each B at which the retransmission is not lost."""
    found, theory, names = [], [], []
    for buffer in BUFFERS:
        run = runs["window", policy, buffer, FEEDER]
        losses, cwnd = run.trace("losses"), run.trace("cwnd")
        clock, window = cwnd["time_s"].to_numpy(), cwnd["cwnd"].to_numpy()
        times = losses["time_s"].to_numpy()
        windows = []
        for number in _in_slow_start(losses):
            if number + 1 < len(times) and times[number + 1] - times[number] > LONGEST_RECOVERY_S:
                after = (clock > times[number]) & (clock < times[number + 1])
                ended = after & (window >= cwnd["ssthresh"].to_numpy())
                windows.append(float(window[ended][0]))
        if windows:
            path = runs["window", "drop-tail", buffer, FEEDER].resolved
            cycle = predicted(path)
            start = bottlenecks.avoidance_start(cycle.threshold, cycle.overflow.burst_size, ALPHA[policy])
            names.append(f"{buffer}")
            found.append(float(np.mean(windows)))
            theory.append(float(start.window))
    worst = np.max(np.abs(np.array(found) - np.array(theory)), initial=0.0) if found else float("nan")
    return Finding(float(worst), note=f"{_listed(found)} for {_listed(theory)} at B = {', '.join(names) or 'none'}")


def _theory(runs: Mapping[Key, Run], alpha: float) -> Any:
    cycles = [predicted(runs["window", "drop-tail", buffer, FEEDER].resolved) for buffer in BUFFERS]
    return np.array(
        [
            float(bottlenecks.avoidance_start(one.threshold, one.overflow.burst_size, alpha).loss_window)
            for one in cycles
        ]
    )


def _alike(runs: Mapping[Key, Run]) -> Finding:
    rates = {
        pair: [runs["wide", policy, *pair].flow("throughput_bps", MEGA).value for policy in POLICIES] for pair in WIDE
    }
    apart = [100.0 * (max(values) / min(values) - 1.0) for values in rates.values()]
    text = "; ".join(
        f"B = {buffer}, B' = {feeder}: {', '.join(f'{value:.3f}' for value in values)}"
        for (buffer, feeder), values in rates.items()
    )
    return Finding(max(apart), note=f"Mbit/s with Drop Tail, Drop from Front, Random Drop: {text}")


def _place(runs: Mapping[Key, Run]) -> Finding:
    """Compare the node of most lost retransmissions with the first that meets (5), where most cycles lose one."""
    cases, texts = [], []
    for buffer in PLACES:
        for feeder in FEEDERS:
            run = runs["place", "drop-tail", buffer, feeder]
            count = count_cycles(run)
            if count.retransmissions_lost <= count.cycles / 2:
                continue
            node = int(predicted(run.resolved).retransmission_loss.node)
            name = ("none", "feeder", "satellite")[node + 1]
            found = _lost_at(run)
            cases.append(found == name)
            if found != name:
                texts.append(f"B = {buffer}, B' = {feeder}: {found}, by (5) {name}")
    return Finding(share(cases), note=f"{len(cases)} places; otherwise at {'; '.join(texts) or 'none'}")


def _lost_at(run: Run) -> str:
    drops = run.trace("drops")
    # After a timeout slow start retransmits all that was dropped; the first is what the timeout waited for.
    losses = run.trace("losses")
    lost = set(losses["sequence"][(losses["cause"] == "timeout") & losses["retransmission"]])
    links = drops["link"][drops["retransmission"] & drops["sequence"].isin(lost)].astype(str)
    return str(links.value_counts().idxmax()) if len(links) else "none"


def _red(runs: Mapping[Key, Run]) -> Finding:
    lost = []
    for (case, _, buffer, _), run in runs.items():
        count = count_cycles(run) if case == "red" else None
        if count is not None:
            lost.append((buffer, count.retransmissions_lost > count.cycles / 2))
    found = ", ".join(str(buffer) for buffer, each in lost if each) or "none"
    return Finding(share([each for _, each in lost]), note=f"lost in most cycles at B = {found}")
