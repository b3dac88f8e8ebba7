"""Section 3: the rate of congestion avoidance, R_CA, and which queues build at it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.bottlenecks.path import LONGEST_RECOVERY_S, MU, MU_MBPS, PIPE, predicted, scenario
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models import bottlenecks
from ackclock.scenario import Resolved

Case = Literal["rate", "shares", "moves", "above", "below", "first"]
Key = tuple[Case, float]
"""The case, and mu_1 / mu."""
RATES: Final[Mapping[Case, tuple[float, ...]]] = {
    "rate": (1.02, 1.1, 1.5),
    "shares": (1.001, 1.002, 1.003),
    "moves": (1.004,),
    "above": (1.001, 1.002),
    "below": (1.001, 1.002),
    "first": (1.0,),
}
BUFFERS: Final[Mapping[Case, tuple[int, int]]] = {
    "rate": (100, 100),
    "shares": (100, 100),
    "moves": (100, 120),
    "above": (100, 50),
    "below": (10, 50),
    "first": (50, 50),
}
"""B_1 and B: in the paper's figure 2 they are 100 and 50."""
NEAR: Final = 5
"""Windows left out at either end of a range [packets]: just above the pipe the queue is not yet there at each ACK."""
SHARED_WINDOWS: Final = (PIPE + NEAR, PIPE + 45.0)
"""Windows at which the growth of the queues is measured: all of them below the window up to which a node shares."""


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give rates of the first node that are larger than R_CA, between mu and R_CA, and mu."""
    long = {"run.duration": setting.pick("400 s", "2000 s"), "trace.cwnd": True, "trace.queue": True}
    return {
        (case, ratio): _path(case, ratio, long | {"trace.losses": True, "trace.sequence": case == "rate"})
        for case, ratios in RATES.items()
        for ratio in ratios
    }


def _path(case: Case, ratio: float, changes: Mapping[str, Any]) -> Resolved:
    first, last = BUFFERS[case]
    nodes = {
        "link.feeder.rate": f"{ratio * MU_MBPS:.9g} Mbit/s",
        "link.feeder.buffer": f"{first} pkt",
        "link.satellite.buffer": f"{last} pkt",
    }
    return scenario("two-nodes", nodes | dict(changes))


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge the rate, the growth of both queues, and the largest window."""
    rounds = {ratio: _rounds(runs["rate", ratio]) for ratio in RATES["rate"]}
    findings = {
        "rate": _rate(rounds),
        "growth": _growth(runs, "satellite"),
        "growth_before": _growth(runs, "feeder"),
        "moves": _moves(runs),
        "above": _beyond(runs, "above"),
        "below": _beyond(runs, "below"),
        "first": _first(runs),
    }
    return Outcome(findings, {"queues": _chart(runs, rounds)})


def _cwnd(run: Run) -> tuple[Any, Any]:
    trace = run.trace("cwnd")
    return trace["time_s"].to_numpy(dtype=float), trace["cwnd"].to_numpy(dtype=float)


def _ends(run: Run) -> Any:
    """Give the instants at which avoidance ends with a loss, the first cycle left out [s]."""
    losses = run.trace("losses")["time_s"].to_numpy(dtype=float)
    return losses[np.diff(losses, prepend=0.0) > LONGEST_RECOVERY_S][1:]


def _avoidance(run: Run) -> list[tuple[float, float]]:
    """Give the times in which cwnd grows from the pipe to the loss, whole cycles alone [s]: cut at NEAR."""
    times, cwnd = _cwnd(run)
    found = []
    for end in _ends(run):
        before = times < end
        # The last instant before the loss at which cwnd was at most the pipe.
        begin = times[before][cwnd[before] <= PIPE + NEAR][-1]
        if end - begin > LONGEST_RECOVERY_S / 2.0:
            found.append((float(begin), float(end)))
    return found


def _rounds(run: Run) -> Any:
    """Give W and the packets sent in a round less W, from one whole window to the next: two columns."""
    times, cwnd = _cwnd(run)
    rows = run.trace("sequence")
    sent = np.sort(rows["time_s"][rows["kind"] == "sent"].to_numpy(dtype=float))
    found = []
    for begin, end in _avoidance(run):
        within = (times > begin) & (times < end)
        whole = np.floor(cwnd[within])
        steps = times[within][1:][np.diff(whole) > 0.0]
        windows = whole[1:][np.diff(whole) > 0.0]
        counts = np.searchsorted(sent, steps[1:], side="left") - np.searchsorted(sent, steps[:-1], side="left")
        # What is sent in the time for W packets at mu: R_CA / mu = (W + 1) / W.
        excess = windows[:-1] * (counts / (np.diff(steps) * MU) - 1.0)
        found.append(np.column_stack([windows[:-1], excess]))
    return np.concatenate(found)


def _rate(rounds: Mapping[float, Any]) -> Finding:
    means = {ratio: float(np.mean(found[:, 1])) for ratio, found in rounds.items()}
    worst = max(means.values(), key=lambda value: abs(value - 1.0))
    text = ", ".join(f"{value:.3f} at mu_1 = {ratio:g} mu" for ratio, value in means.items())
    number = sum(len(found) for found in rounds.values())
    return Finding(worst, 1.0, f"mean of W (R_CA / mu - 1) over {number} rounds: {text}")


def _queue(run: Run, link: str) -> tuple[Any, Any]:
    trace = run.trace("queue")
    rows = trace[trace["link"].astype(str) == link]
    return rows["time_s"].to_numpy(dtype=float), rows["packets"].to_numpy(dtype=float)


def _slope(run: Run, link: str) -> list[float]:
    """Fit a line to a queue in each cycle while the window is within the range that is shared [packets/s]."""
    times, packets = _queue(run, link)
    clock, cwnd = _cwnd(run)
    found = []
    for begin, end in _avoidance(run):
        reached = clock[(clock > begin) & (clock < end) & (cwnd >= SHARED_WINDOWS[1])]
        within = (times >= begin) & (times <= (reached[0] if len(reached) else end))
        found.append(float(np.polyfit(times[within], packets[within], 1)[0]))
    return found


def _growth(runs: Mapping[Key, Run], link: str) -> Finding:
    """Compare the growth of a queue with `avoidance_growth_rates`, relative to R_CA - mu."""
    errors, texts = [], []
    windows = np.linspace(*SHARED_WINDOWS, 41)
    for ratio in RATES["shares"]:
        rates = np.array([ratio * MU, MU])
        theory = bottlenecks.avoidance_growth_rates(rates, windows).mean(axis=0)
        found = float(np.mean(_slope(runs["shares", ratio], link)))
        expected = float(theory[("feeder", "satellite").index(link)])
        errors.append(100.0 * abs(found - expected) / float(theory.sum()))
        texts.append(f"{found:.3f} for {expected:.3f} at mu_1 = {ratio:g} mu")
    return Finding(max(errors), note=f"packets a second: {'; '.join(texts)}")


def _moves(runs: Mapping[Key, Run]) -> Finding:
    """Judge in each cycle whether the first node is empty again before the loss, though it had a queue."""
    (ratio,) = RATES["moves"]
    run = runs["moves", ratio]
    times, packets = _queue(run, "feeder")
    beyond = float(bottlenecks.sharing_window(ratio, 1.0))
    cases, texts = [], []
    for begin, end in _avoidance(run):
        largest = packets[(times >= begin) & (times <= end)].max()
        last = packets[(times >= end - 5.0) & (times <= end)].min()
        cases.append(bool(largest >= 3.0 and last <= 1.0))
        texts.append(f"{largest:.0f}, {last:.0f}")
    text = f"largest queue at mu_1 and the least in the last 5 s before the loss: {'; '.join(texts)}"
    return Finding(share(cases), note=f"{text}; R_CA falls below mu_1 at W = {beyond:.0f}")


def _largest_window(run: Run) -> float:
    times, cwnd = _cwnd(run)
    return float(np.mean(cwnd[np.searchsorted(times, _ends(run)) - 1]))


def _beyond(runs: Mapping[Key, Run], case: Case) -> Finding:
    """Judge whether the window grows beyond B + mu T, or ends below it."""
    found = {ratio: _largest_window(runs[case, ratio]) for ratio in RATES[case]}
    formula = {ratio: float(predicted(runs[case, ratio].resolved).maximum_window) for ratio in found}
    text = ", ".join(f"{found[ratio]:.0f} for {formula[ratio]:.0f} at mu_1 = {ratio:g} mu" for ratio in found)
    over = [found[ratio] > formula[ratio] + 2.0 for ratio in found]
    under = [found[ratio] < formula[ratio] - 2.0 for ratio in found]
    return Finding(share(over if case == "above" else under), note=f"largest window and B + mu T: {text}")


def _first(runs: Mapping[Key, Run]) -> Finding:
    """Measure the largest queue behind the first of two nodes of one rate, in avoidance."""
    run = runs["first", 1.0]
    times, packets = _queue(run, "satellite")
    largest = [packets[(times >= begin) & (times <= end)].max() for begin, end in _avoidance(run)]
    before, queued = _queue(run, "feeder")
    other = [queued[(before >= begin) & (before <= end)].max() for begin, end in _avoidance(run)]
    return Finding(float(max(largest)), note=f"at the first node up to {max(other):.0f}")


def _chart(runs: Mapping[Key, Run], rounds: Mapping[float, Any]) -> Chart:
    ratio = RATES["rate"][1]
    windows, excess = rounds[ratio].T
    each = np.unique(windows)
    means = np.array([excess[windows == window].mean() for window in each])
    every = slice(None, None, 8)
    curves = [
        Curve("simulated, mean of the cycles", each[every], (1.0 + means / each)[every], "marks", 0),
        Curve("(W + 1) / W", each, (each + 1.0) / each, "theory", 4),
    ]
    title = f"mu_1 = {ratio:g} mu"
    panels = [Panel("W [packets]", "R_CA / mu", curves, title)]
    shown: tuple[Key, ...] = (("shares", 1.002), ("moves", 1.004))
    panels += [Panel("time since W = mu T [s]", "queue [packets]", _queues(runs[key]), _title(key[1])) for key in shown]
    return Chart(
        "Section 3: the rate of congestion avoidance, and where its queue builds", panels, 3, size_inches=(16.0, 6.0)
    )


def _title(ratio: float) -> str:
    return f"mu_1 = {ratio:g} mu: R_CA falls below mu_1 at W = {float(bottlenecks.sharing_window(ratio, 1.0)):.0f}"


def _queues(run: Run) -> Sequence[Curve]:
    begin, end = _avoidance(run)[0]
    curves = []
    for number, (link, text) in enumerate((("feeder", "first node"), ("satellite", "bottleneck"))):
        times, packets = _queue(run, link)
        within = (times >= begin) & (times <= end)
        each = slice(None, None, 25)
        curves.append(Curve(f"{text}, simulated", times[within][each] - begin, packets[within][each], "step", number))
    return curves
