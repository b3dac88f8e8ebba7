"""Figure 4: throughput with n nodes before the bottleneck, with the equivalent node, with the bottleneck alone."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.bottlenecks.path import (
    MU,
    MU_MBPS,
    PACKETS_PER_MEGABIT,
    PAPER,
    READINGS,
    Reading,
    Time,
    formula_finding,
    mbps,
    predicted,
    read_as,
    simulated,
    throughputs,
)
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, resolved, scenario_tables, share
from ackclock.models import bottlenecks
from ackclock.scenario import Resolved

NODES = range(1, 11)
BUFFER, OTHER_BUFFER = 20, 17
Model = Literal["all", "equivalent", "single"]
MODELS: Mapping[Model, str] = {
    "all": "all n nodes",
    "equivalent": "the equivalent node",
    "single": "the bottleneck alone",
}
STEADY: tuple[Model, ...] = ("all", "single")
"""The models that are simulated in steady state too."""
Key = tuple[Reading, Model, int, Time]
"""The reading of T, the model, n, and the time."""
NOTE = (
    "The retransmission after the overflow may be lost or not by a packet more or less in a buffer; so the simulated "
    "curves are jagged before the jump. B' is rounded to whole packets."
)
JUMP = 1.08
"""A rise that is larger than the other changes from n to n + 1: theory has 1.20 where the double slow start ends."""


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give the three models for n = 1 to 10, as in the paper from t = 0 and in steady state, in both readings of T."""
    steady = {"run.warmup": "200 s", "run.duration": setting.pick("1400 s", "20200 s")}
    tables = {(reading, model, n): read_as(_tables(_nodes(model, n)), reading) for reading, model, n in _cases()}
    shown: dict[Key, Resolved] = {(*case, "shown"): resolved(found) for case, found in tables.items()}
    long: dict[Key, Resolved] = {
        (reading, model, n, "steady"): resolved(found, steady)
        for (reading, model, n), found in tables.items()
        if reading == "two_way_propagation" and model in STEADY
    }
    return shown | long


def _cases() -> Iterator[tuple[Reading, Model, int]]:
    return itertools.product(READINGS, MODELS, NODES)


def _nodes(model: str, n: int) -> list[tuple[float, int]]:
    """Give rates [Mbit/s] and buffers [pkt] of the nodes before the bottleneck."""
    rates = bottlenecks.uniformly_spread_rates(MU_MBPS, n)[:-1]
    if model == "all":
        return [(float(rate), OTHER_BUFFER) for rate in rates]
    if model == "single":
        return []
    found = bottlenecks.equivalent_node([*(rates * PACKETS_PER_MEGABIT), MU], [*[OTHER_BUFFER] * n, BUFFER])
    return [(float(mbps(found.rate)), round(float(found.buffer)))]


def _tables(nodes: Sequence[tuple[float, int]]) -> dict[str, Any]:
    tables = scenario_tables(PAPER, "two-nodes")
    access, _, satellite = tables["link"]
    between = [
        {"name": f"node{number}", "rate": f"{rate:.9g} Mbit/s", "buffer": f"{buffer} pkt"}
        for number, (rate, buffer) in enumerate(nodes, 1)
    ]
    tables["link"] = [access, *between, {**satellite, "buffer": f"{BUFFER} pkt"}]
    tables["flow"][0]["path"] = [link["name"] for link in tables["link"]]
    return tables


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge where the throughput jumps, and how near the models are to one another."""
    whole, equivalent, single = (_rates(runs, "two_way_propagation", model) for model in MODELS)
    steady, single_steady = (_rates(runs, "two_way_propagation", model, "steady") for model in STEADY)
    gap = 100.0 * np.abs(equivalent / whole - 1.0)
    cycles = [predicted(runs["two_way_propagation", "all", n, "shown"].resolved) for n in NODES]
    moved = [n for n, found in zip(NODES, cycles, strict=True) if found.overflow.node < n]
    findings = {
        "jump": _jump_finding(runs, whole, equivalent),
        "close": Finding(
            share(list(gap <= 5.0)),
            note=f"largest difference {gap.max():.0f}% at n = {NODES[gap.argmax()]}, mean {gap.mean():.0f}%",
        ),
        "single_is_poorer": Finding(share(list(single < whole))),
        "single_is_poorer_steady": Finding(share(list(single_steady < steady))),
        "single_burst": Finding(model=float(bottlenecks.burst_sizes([MU], [BUFFER])[0])),
        "overflow_moves": Finding(model=float(min(moved, default=nan)), note="S_n = 17 (n + 3) < S = 20 (n + 2)"),
        "no_double": Finding(
            share(list(whole[4:] > JUMP * whole[0])),
            share([not found.double_slow_start for found in cycles[4:]]),
            "the model: W_B above W_th",
        ),
        "formula": formula_finding(
            np.concatenate([_theory(runs, "two_way_propagation", model) for model in STEADY]),
            np.concatenate([steady, single_steady]),
            [f"n = {n}, {MODELS[model]}" for model in STEADY for n in NODES],
        ),
    }
    return Outcome(findings, {"figure": _chart(runs)}, (NOTE,))


def _jump_finding(runs: Mapping[Key, Run], whole: NDArray[np.float64], equivalent: NDArray[np.float64]) -> Finding:
    theory = _jump(_theory(runs, "two_way_propagation"))
    simulated_rtt, theory_rtt = _jump(_rates(runs, "rtt", "all")), _jump(_theory(runs, "rtt"))
    return Finding(
        float(_jump(whole)),
        float(theory),
        f"with the service times in T: simulation {simulated_rtt}, theory {theory_rtt}; with the equivalent node "
        f"{_jump(equivalent)}; in steady state {_jump(_rates(runs, 'two_way_propagation', 'all', 'steady'))}",
    )


def _rates(runs: Mapping[Key, Run], reading: Reading, model: Model, time: Time = "shown") -> NDArray[np.float64]:
    return np.asarray(throughputs(runs, _keys(reading, model, time))[0])


def _keys(reading: Reading, model: Model, time: Time = "shown") -> Sequence[Key]:
    return [(reading, model, n, time) for n in NODES]


def _theory(runs: Mapping[Key, Run], reading: Reading, model: Model = "all") -> NDArray[np.float64]:
    found = [predicted(runs[reading, model, n, "shown"].resolved).throughput.capped for n in NODES]
    return np.asarray(mbps(np.array(found, dtype=float)))


def _jump(rates: NDArray[np.float64]) -> int:
    """Find the n from which on the throughput is in the upper half of its range; 0 where it never stays there."""
    low = np.flatnonzero(rates <= (rates.min() + rates.max()) / 2.0)
    return NODES[low[-1] + 1] if low[-1] + 1 < len(NODES) else 0


def _chart(runs: Mapping[Key, Run]) -> Chart:
    panels = []
    for reading, title in READINGS.items():
        curves = [
            simulated(f"{text}, simulated", NODES, runs, _keys(reading, model), colour)
            for colour, (model, text) in enumerate(MODELS.items())
        ]
        x = np.array(NODES, dtype=float)
        curves += [
            Curve(f"{MODELS[model]}, theory", x, _theory(runs, reading, model), "theory", colour)
            for model, colour in zip(STEADY, (0, 2), strict=True)
        ]
        panels.append(Panel("number of nodes n before the bottleneck", "throughput [Mbit/s]", curves, title))
    return Chart(
        "Figure 4: three models of a path with n nodes before the bottleneck (0 to 500 s)", panels, 2, share_y=True
    )
