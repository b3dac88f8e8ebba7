"""The numbers of the text, and the condition for the loss of the retransmission."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.bottlenecks.path import (
    MU,
    MU_MBPS,
    PAPER,
    PIPE,
    ROUND_TRIP_S,
    count_cycles,
    mostly_double,
    predicted,
)
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, resolved, scenario_tables, share
from ackclock.models import bottlenecks
from ackclock.scenario import Resolved

Key = int | tuple[float, int]
"""The buffer B of a bottleneck that is fed directly; the access link's rate by mu, and B."""
SINGLE = tuple(range(44, 93, 4))
RATIOS = (1.15, 1.3, 1.45, 1.6, 1.75, 1.9)
BUFFERS = range(6, 87, 2)


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Resolve one bottleneck, fed directly (B varied around mu T / 3), and behind a slow access link."""
    changes = {"run.duration": setting.pick("500 s", "4000 s"), "trace.losses": True}
    single: dict[Key, Resolved] = {buffer: resolved(_one_node("100 Mbit/s", buffer), changes) for buffer in SINGLE}
    behind: dict[Key, Resolved] = {
        (ratio, buffer): resolved(_one_node(f"{ratio * MU_MBPS:.9g} Mbit/s", buffer), changes)
        for ratio in RATIOS
        for buffer in BUFFERS
    }
    return single | behind


def _one_node(access: str, buffer: int) -> dict[str, object]:
    tables = scenario_tables(PAPER, "two-nodes")
    first, _, satellite = tables["link"]
    tables["link"] = [{**first, "rate": access}, {**satellite, "buffer": f"{buffer} pkt"}]
    tables["flow"][0]["path"] = ["access", "satellite"]
    return tables


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge what the text says in numbers."""
    double = {b: mostly_double(runs[b]) for b in SINGLE}
    ends = max((buffer for buffer, found in double.items() if found), default=0)
    lost, possible = {}, {}
    for ratio in RATIOS:
        for buffer in BUFFERS:
            run = runs[ratio, buffer]
            count = count_cycles(run)
            lost[ratio, buffer] = count.retransmissions_lost > count.cycles / 2
            possible[ratio, buffer] = bool(predicted(run.resolved).retransmission_loss.node >= 0)
    where = [key for key, found in lost.items() if found]
    worst = float(np.max(bottlenecks.cost_of_lost_retransmission(np.linspace(0.01, 1.0, 100), 4.0)))
    findings = {
        "one_third": Finding(
            ends / PIPE,
            float(bottlenecks.minimum_bottleneck_buffer(MU, ROUND_TRIP_S)) / PIPE,
            f"largest B / (mu T) with two slow starts in most cycles, in steps of 4 packets ({ends} packets); "
            "the model's is equation (4) exactly, without the paper's 2^n_B = 2 B",
        ),
        "half_pipe": Finding(
            model=float(bottlenecks.minimum_intermediate_buffer_approximate(MU, ROUND_TRIP_S, PIPE)) / PIPE
        ),
        "full_use": Finding(model=float(bottlenecks.full_utilization_buffer(MU, ROUND_TRIP_S)) / PIPE),
        "cost": Finding(model=100.0 * worst),
        "condition_is_necessary": Finding(
            share([possible[key] for key in where]),
            note=f"lost in most cycles at {len(where)} of {len(lost)} places; (5) allows {sum(possible.values())}"
            + "".join(_missed(runs[ratio, buffer], ratio, buffer) for ratio, buffer in where),
        ),
        "beta_limit": Finding(
            share([_beta(buffer) < float(bottlenecks.retransmission_loss_beta(ratio)) for ratio, buffer in where]),
            note="of the places where it is lost, those below the printed limit",
        ),
        "not_near_twice": Finding(
            share([not lost[RATIOS[-1], buffer] for buffer in BUFFERS]),
            share([not possible[RATIOS[-1], buffer] for buffer in BUFFERS]),
            f"mu_A = {RATIOS[-1]} mu; the condition leaves room for large S there",
        ),
    }
    return Outcome(findings, {"retransmission-loss": _chart(lost)})


def _missed(run: Run, ratio: float, buffer: int) -> str:
    """Say by how much condition (5) is missed at a place where the retransmission is lost all the same."""
    found = predicted(run.resolved).retransmission_loss
    excess = float(found.detection_time * MU * ratio - found.packets)
    return "" if found.node >= 0 else f"; missed by {excess:.1f} packets at mu_A = {ratio:g} mu, B = {buffer}"


def _beta(buffer: float) -> float:
    return buffer / PIPE


def _chart(lost: Mapping[tuple[float, int], bool]) -> Chart:
    ratios = np.linspace(1.0, 2.0, 200)
    curves = [
        Curve(
            "limit as printed, 1 / (4 mu'/mu - 1)", ratios, bottlenecks.retransmission_loss_beta(ratios), "theory", 4
        ),
        Curve(
            "the same with S of equation (3)",
            ratios,
            bottlenecks.retransmission_loss_beta_with_burst(ratios),
            "theory-2",
            5,
        ),
    ]
    for label, found, colour in (("retransmission lost, simulated", True, 1), ("not lost", False, 0)):
        places = [(ratio, _beta(buffer)) for (ratio, buffer), is_lost in lost.items() if is_lost is found]
        x, y = np.array(places, dtype=float).reshape(-1, 2).T
        curves.append(Curve(label, x, y, "marks", colour))
    panel = Panel("mu' / mu, the access link's rate", "beta = B / (mu T)", curves, y_top=0.5)
    return Chart("Section 7: where the retransmission is lost behind a slow access link", [panel])
