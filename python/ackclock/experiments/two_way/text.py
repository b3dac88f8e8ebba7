"""The numbers in the text: theorems, lemmas and whole windows over a grid, priority of ACKs, the conclusion's 20%."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.two_way import atm
from ackclock.experiments.two_way.figure_4_1 import DELAY_MS, MBPS_OF_A_SEGMENT, WINDOW
from ackclock.experiments.two_way.line import (
    PER_SECOND,
    Pair,
    end_of,
    measured,
    most_data,
    one_way,
    runs_of_data,
    scenario,
    visits,
)
from ackclock.scenario import Resolved

LENGTHS = ((1.0, 1.0), (3.0, 7.0), (8.0, 8.0), (21.0, 9.0))
RATES = ((1.0, 1.0), (0.6, 1.0), (1.0, 1.0 / 3.0))
LEAST_SURPLUS = 2.0
"""Least excess of the windows over the pipe, in segments of the slower channel: the transmission of a segment is not in
the theorems [`ackclock.models.two_way.MODELS["efficiency"].domain["overlap"]`]."""
BOTH_IDLE = 2
"""The theorems' case in which neither connection fills its channel."""
PRIORITY_LENGTH = 8.4
"""A length that is not whole: with whole ones an ACK never meets a segment in transmission, and priority is free."""
PRIORITY = {
    "link.line.queue": "priority",
    "link.line.reverse.queue": "priority",
    **{f"flow.{name}.{field}": level for name in "ij" for field, level in (("priority", 1), ("ack_priority", 0))},
}
WINDOWS_OF_PRIORITY = (4, 8, 12, 16, 20, 24, 32, 40, 48)
PHASES_MS = (0.0, 2.3, 2.5, 2.8)
FAST, SLOW = 155.0, 30.0
Key = (
    Pair
    | tuple[Literal["priority"], int, float]
    | tuple[Literal["shared", "alone"], int]
    | Literal["switches", "conclusion"]
)
"""A pair; ACKs before data, with a window and a phase [ms]; a window in one queue, or of one connection; the others."""


def _grid(setting: Setting) -> list[Pair]:
    windows = setting.pick((4, 9, 16, 28, 44), (4, 6, 9, 12, 16, 22, 28, 36, 44))
    pairs = (
        Pair(both, lengths, rates) for both in product(windows, windows) for lengths, rates in product(LENGTHS, RATES)
    )
    known = [pair for pair in pairs if pair.surplus * min(pair.rates) >= LEAST_SURPLUS]
    return known[:: setting.pick(2, 1)]


def _below() -> list[Pair]:
    """Give windows that do not fill the pipe together."""
    return [Pair((w, w), (x, x)) for w, x in ((4, 6.0), (8, 10.0), (12, 15.0))]


def _conclusion() -> Pair:
    stretch = FAST / MBPS_OF_A_SEGMENT
    length = DELAY_MS * 1e-3 * PER_SECOND * stretch
    return Pair((WINDOW, WINDOW), (length, length), (1.0, SLOW / FAST))


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give the grid, each pair at a phase of its own; ACKs first; the conclusion's rates."""
    rounds = setting.pick(24, 60)
    found: dict[Key, Resolved] = {}
    for number, pair in enumerate([*_grid(setting), *_below()]):
        phase = (number * 0.381966) % 1.0 * pair.round_s * 500.0
        found[pair] = scenario(pair, {"flow.j.start": f"{phase:.4g} ms"}, rounds)
    for window in WINDOWS_OF_PRIORITY:
        pair = _priority(window)
        for phase in PHASES_MS:
            found["priority", window, phase] = scenario(pair, {"flow.j.start": f"{phase} ms", **PRIORITY}, 40)
        found["shared", window] = scenario(pair, {"flow.j.start": "2.3 ms"}, 40)
        found["alone", window] = one_way(pair)
    changes = {"run.duration": setting.pick("0.4 s", "2 s"), "run.warmup": "0.2 s", "trace.cell_queue": True}
    found["switches"] = atm.scenario("r-1", changes)
    found["conclusion"] = scenario(_conclusion(), {"flow.j.start": "2.3 ms"}, 40)
    return found


def _priority(window: int) -> Pair:
    return Pair((window, window), (PRIORITY_LENGTH, PRIORITY_LENGTH))


def outcome(setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge theorems, lemmas, whole windows, the cure and the conclusion's number."""
    grid = _grid(setting)
    below = [most_data(visits(runs[pair])[0], end_of(runs[pair]) / 2.0) for pair in _below()]
    first, alone, shared = _efficiencies(runs)
    findings = {
        **_theorems(grid, runs),
        **_lemmas(grid, runs),
        **_windows(grid, runs),
        "below": Finding(float(max(below)), note="most data packets at once where the windows do not fill the pipe"),
        "priority": Finding(
            100.0 * float(np.max(alone - first)),
            note=f"largest difference to one way in points, {len(PHASES_MS)} phases; "
            f"in one queue {100 * float(np.max(alone - shared)):.1f}",
        ),
        "switches": Finding(
            _most_cells(runs["switches"]) / atm.CELLS, note="in R-1, where three channels share a trunk"
        ),
        **_concluded(measured(runs["conclusion"], 0)),
    }
    charts = {"grid": _grid_chart(grid, runs), "priority": _priority_chart(first, alone, shared)}
    return Outcome(findings, charts)


def _theorems(grid: Sequence[Pair], runs: Mapping[Key, Run]) -> dict[str, Finding]:
    errors = {pair: _error(runs[pair], pair) for pair in grid}
    same = [error for pair, error in errors.items() if pair.rates == (1.0, 1.0)]
    other = [error for pair, error in errors.items() if pair.rates != (1.0, 1.0)]
    cases = {case: sum(pair.case == case for pair in grid) for case in (1, 2, 3)}
    note = f"{len(grid)} pairs: {cases[1]} in the first case, {cases[2]} in the second, {cases[3]} in the third"
    return {
        "theorem_1": Finding(100.0 * max(same), note=f"largest of {len(same)} pairs; {note}"),
        "theorem_2": Finding(100.0 * max(other), note=f"largest of {len(other)} pairs; {note}"),
    }


def _windows(grid: Sequence[Pair], runs: Mapping[Key, Run]) -> dict[str, Finding]:
    """Judge what unequal and larger windows do where rates are equal."""
    same = [pair for pair in grid if pair.rates == (1.0, 1.0)]
    found = {pair: tuple(measured(runs[pair], flow) for flow in range(2)) for pair in same}
    near = [pair for pair in same if pair.lengths == min(LENGTHS) and pair.windows[0] != pair.windows[1]]
    unfair = [(found[pair][0] > found[pair][1]) == (pair.windows[0] > pair.windows[1]) for pair in near]
    ratios = [max(found[pair]) / min(found[pair]) for pair in near]
    second = [pair for pair in same if pair.case == BOTH_IDLE]
    steps = [
        (one, two)
        for one, two in product(second, second)
        if one.lengths == two.lengths and one.windows[1] == two.windows[1] and one.windows[0] < two.windows[0]
    ]
    cost = [found[two][0] > found[one][0] and found[two][1] < found[one][1] for one, two in steps]
    larger = [
        (one, two)
        for one, two in product(second, second)
        if one.lengths == two.lengths
        and all(a < b for a, b in zip(one.windows, two.windows, strict=True))
        and one.windows[0] * two.windows[1] == one.windows[1] * two.windows[0]
    ]
    both = [all(b > a for a, b in zip(found[one], found[two], strict=True)) for one, two in larger]
    return {
        "unfair": Finding(
            share(unfair), note=f"{len(near)} pairs; throughputs 1 to {min(ratios):.2f} up to {max(ratios):.2f}"
        ),
        "at_the_cost": Finding(share(cost), note=f"{len(steps)} pairs of runs that differ in W_i alone, second case"),
        "larger_windows": Finding(share(both), note=f"{len(larger)} pairs of runs with windows in one proportion"),
    }


def _lemmas(grid: Sequence[Pair], runs: Mapping[Key, Run]) -> dict[str, Finding]:
    queues, whole = [], []
    for pair in grid:
        stays = visits(runs[pair])
        late, end = end_of(runs[pair]) / 2.0, end_of(runs[pair]) - pair.round_s
        for node in (0, 1):
            # In the first case up to one segment more is seen.
            queues.append(most_data(stays[node], late) <= pair.most_queued[node] + 1.0)
            whole += [length % pair.windows[node] == 0 for length in runs_of_data(stays[node], late, end)]
    return {
        "lemmas": Finding(share(queues), note=f"{len(queues)} queues, the segment in service included"),
        "whole_windows": Finding(share(whole), note=f"{len(whole)} runs of segments"),
    }


def _efficiencies(runs: Mapping[Key, Run]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Give the efficiency at each window: ACKs first at the worst phase, one direction alone, and both in one queue."""
    first = [
        min(measured(runs["priority", window, phase], flow) for phase in PHASES_MS for flow in (0, 1))
        for window in WINDOWS_OF_PRIORITY
    ]
    alone = [measured(runs["alone", window]) for window in WINDOWS_OF_PRIORITY]
    shared = [measured(runs["shared", window]) for window in WINDOWS_OF_PRIORITY]
    return np.array(first), np.array(alone), np.array(shared)


def _concluded(fast: float) -> dict[str, Finding]:
    """Compare the efficiency of the fast connection with the conclusion's."""
    pair = _conclusion()
    efficiency, lone = pair.efficiency[0], pair.one_way[0]
    return {
        "conclusion": Finding(100.0 * fast, 100.0 * efficiency, "part of its 155 Mbit/s"),
        "conclusion_one_way": Finding(
            100.0 * fast / lone,
            100.0 * efficiency / lone,
            f"one way the window of 128 KB allows {100 * lone:.0f}% only",
        ),
    }


def _most_cells(run: Run) -> float:
    """Give the most cells in a port once cell rates are steady."""
    rows = run.trace("cell_queue")
    return float(rows["cells"][rows["time_s"] > end_of(run) / 2.0].max())


def _error(run: Run, pair: Pair) -> float:
    return max(abs(measured(run, flow) - pair.efficiency[flow]) for flow in (0, 1))


def _grid_chart(grid: Sequence[Pair], runs: Mapping[Key, Run]) -> Chart:
    curves = [Curve("equal", np.array([0.0, 1.0]), np.array([0.0, 1.0]), "guide")]
    for case, name in ((1, "first case: never idle"), (2, "second case"), (3, "third case: W_i / W_j")):
        chosen = [pair for pair in grid if pair.case == case]
        exact = np.array([pair.efficiency[0] for pair in chosen])
        found = np.array([measured(runs[pair]) for pair in chosen])
        curves.append(Curve(name, exact, found, "marks", case - 1))
    panel = Panel("efficiency of connection i by theorems 1 and 2", "simulated", curves, y_top=1.05)
    return Chart("Theorems 1 and 2 over a grid of windows, delays and rates", [panel], size_inches=(10.0, 8.5))


def _priority_chart(first: NDArray[np.float64], alone: NDArray[np.float64], shared: NDArray[np.float64]) -> Chart:
    windows = np.array(WINDOWS_OF_PRIORITY, dtype=float)
    curves = [
        Curve("one direction alone", windows, alone, "thick", 1),
        Curve("both, ACKs first, at the worst phase", windows, first, "simulation", 2),
        Curve("both, in one queue", windows, shared, "simulation", 0),
    ]
    panel = Panel("window W [segments]", "efficiency, simulated", curves, y_top=1.05)
    return Chart("Section 6: ACKs before data undo the loss (L = 8.4 segments)", [panel])
