"""Figure 4: throughput with n nodes before the bottleneck, with the equivalent node, with the bottleneck alone."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.bottlenecks.path import (
    MU,
    MU_MBPS,
    PACKETS_PER_MEGABIT,
    PAPER,
    READINGS,
    mbps,
    predicted,
    read_as,
    simulated,
    throughputs,
)
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, resolved, scenario_tables, share
from ackclock.models import bottlenecks
from ackclock.replication import ResolvedDict

NODES = range(1, 11)
BUFFER, OTHER_BUFFER = 20, 17
MODELS = {"all": "all n nodes", "equivalent": "the equivalent node", "single": "the bottleneck alone"}
JUMP = 1.08
"""A rise that is none of the small changes from n to n + 1: theory has 1.20 where the double slow start ends."""


def scenarios(setting: Setting) -> Mapping[str, ResolvedDict]:
    """Give the three models for n = 1 to 10, as in the paper from t = 0 and in steady state, in both readings of T."""
    lengths = {"": {}, " steady": {"run.warmup": "200 s", "run.duration": setting.pick("2200 s", "20200 s")}}
    return {
        f"{reading} {model} {n}{end}": resolved(read_as(_tables(_nodes(model, n)), reading), changes)
        for reading in READINGS
        for model in MODELS
        for n in NODES
        for end, changes in lengths.items()
    }


def _nodes(model: str, n: int) -> list[tuple[float, int]]:
    """Rates [Mbit/s] and buffers [pkt] of the nodes before the bottleneck."""
    rates = bottlenecks.uniformly_spread_rates(MU_MBPS, n)[:-1]
    if model == "all":
        return [(float(rate), OTHER_BUFFER) for rate in rates]
    if model == "single":
        return []
    found = bottlenecks.equivalent_node([*(rates * PACKETS_PER_MEGABIT), MU], [*[OTHER_BUFFER] * n, BUFFER])
    return [(float(mbps(found.rate)), round(float(found.buffer)))]


def _tables(nodes: Sequence[tuple[float, int]]) -> dict[str, object]:
    tables = scenario_tables(PAPER, "two-nodes")
    access, _, satellite = tables["link"]
    between = [
        {"name": f"node{number}", "rate": f"{rate:.9g} Mbit/s", "buffer": f"{buffer} pkt"}
        for number, (rate, buffer) in enumerate(nodes, 1)
    ]
    tables["link"] = [access, *between, {**satellite, "buffer": f"{BUFFER} pkt"}]
    tables["flow"][0]["path"] = [link["name"] for link in tables["link"]]
    return tables


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Where the throughput jumps, and how near the models are to one another."""
    rates = {label: _rates(runs, label) for label in (f"{one} {model}" for one in READINGS for model in MODELS)}
    n = np.array(NODES)
    whole, equivalent, single = (rates[f"propagation {model}"] for model in MODELS)
    theory = _theory(runs, "propagation")
    gap = np.abs(equivalent / whole - 1.0)
    per_node = np.array(
        [[bottlenecks.overflow_window(BUFFER * (k + 2.0)), bottlenecks.overflow_window(17 * (k + 3.0))] for k in n]
    )
    moved = int(n[np.argmax(17 * (n + 3) < 20 * (n + 2))])
    findings = {
        "jump": Finding(
            float(_jump(n, whole)),
            float(_jump(n, theory)),
            f"theory has {_jump(n, theory)}; with the service times in T: simulation {_jump(n, rates['rtt all'])}, theory "
            f"{_jump(n, _theory(runs, 'rtt'))}; with the equivalent node {_jump(n, equivalent)}; in steady state "
            f"{_jump(n, _rates(runs, 'propagation all', ' steady'))}",
        ),
        "close": Finding(
            share([bool(each <= 0.05) for each in gap]),
            note=f"largest difference {100.0 * gap.max():.0f}% at n = {int(n[gap.argmax()])}; mean {100.0 * gap.mean():.0f}%",
        ),
        "single_is_poorer": Finding(share([bool(one < all_) for one, all_ in zip(single, whole, strict=True)])),
        "single_is_poorer_steady": Finding(
            share(list(_rates(runs, "propagation single", " steady") < _rates(runs, "propagation all", " steady")))
        ),
        "single_burst": Finding(model=_single_burst()),
        "overflow_moves": Finding(model=float(moved), note="S_n = 17 (n + 3) < S = 20 (n + 2)"),
        "no_double": Finding(
            share([bool(whole[k - 1] > JUMP * whole[0]) for k in range(5, 11)]),
            float(np.min(per_node[4:]) > 112.5),
            "n >= 5: throughput well above that at n = 1; W_B above W_th in the model",
        ),
    }
    return Outcome(findings, {"figure": _chart(runs)}, (NOTE,))


NOTE = (
    "The retransmission after the overflow may be lost or not by a packet more or less in a buffer; so the simulated "
    "curves are jagged before the jump. B' is rounded to whole packets."
)


def _rates(runs: Mapping[str, Run], label: str, end: str = "") -> NDArray[np.float64]:
    return np.asarray(throughputs(runs, [f"{label} {n}{end}" for n in NODES])[0])


def _theory(runs: Mapping[str, Run], reading: str, model: str = "all") -> NDArray[np.float64]:
    found = [predicted(runs[f"{reading} {model} {n}"].resolved).throughput.capped for n in NODES]
    return np.asarray(mbps(np.array(found, dtype=float)))


def _single_burst() -> float:
    return float(bottlenecks.burst_sizes([MU], [BUFFER])[0])


def _jump(n: NDArray[np.int64], rates: NDArray[np.float64]) -> int:
    """Find the n from which on the throughput is in the upper half of its range; 0 where it never stays there."""
    low = np.flatnonzero(rates <= (rates.min() + rates.max()) / 2.0)
    return int(n[low[-1] + 1]) if low[-1] + 1 < len(n) else 0


def _chart(runs: Mapping[str, Run]) -> Chart:
    panels = []
    for reading, title in READINGS.items():
        curves = [
            simulated(f"{text}, simulated", NODES, runs, [f"{reading} {model} {n}" for n in NODES], colour)
            for colour, (model, text) in enumerate(MODELS.items())
        ]
        x = np.array(NODES, dtype=float)
        curves += [
            Curve(f"{MODELS[model]}, theory", x, _theory(runs, reading, model), kind, colour)
            for model, kind, colour in (("all", "theory", 0), ("single", "theory-2", 2))
        ]
        panels.append(Panel("number of nodes n before the bottleneck", "throughput [Mbit/s]", curves, title, y_top=1.5))
    return Chart(
        "Figure 4: three models of a path with n nodes before the bottleneck (0 to 500 s)", panels, 2, share_y=True
    )
