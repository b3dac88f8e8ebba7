"""Section 2.1: with losses that are not severe, ACK compression goes on as without."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, resolved, scenario_tables
from ackclock.experiments.two_way.line import PAPER, PER_SECOND
from ackclock.scenario import Resolved

WINDOW, LENGTH = 28, 15.0
"""The windows and lengths of section 5.2."""
PROBABILITIES = (0.0, 1e-4, 1e-3)
WARMUP_S = 5.0
REPLICATIONS = 4
"""Number of runs with losses of their own: chance decides which segments are lost."""
Way = Literal["both", "alone"]
Key = tuple[Way, float]
"""One or both connections, and the probability that a segment is lost."""


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give two Reno connections, and one alone, with each probability of loss."""
    ways: tuple[Way, ...] = ("both", "alone")
    return {(way, loss): _path(way, loss, setting.pick(100, 1000)) for way in ways for loss in PROBABILITIES}


def _path(way: Way, probability: float, duration_s: float) -> Resolved:
    tables = scenario_tables(PAPER, "line")
    if way == "alone":
        tables["flow"] = tables["flow"][:1]
    loss = {"model": "bernoulli", "probability": probability, "applies_to": "data"}
    delay = f"{LENGTH * 1e3 / PER_SECOND:g} ms"
    changes: dict[str, Any] = {"run.duration": f"{duration_s} s", "run.warmup": f"{WARMUP_S} s"}
    changes["run.replications"] = REPLICATIONS if probability else 1
    for link in ("line", "line.reverse"):
        changes[f"link.{link}.delay"] = delay
        if probability:
            changes[f"link.{link}.loss"] = loss
    for flow in tables["flow"]:
        changes[f"flow.{flow['name']}.tcp"] = {"preset": "reno-ns2", "max_window": f"{WINDOW} pkt"}
    return resolved(tables, changes)


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Compare the bunches and what they cost with and without losses."""
    bunched = [_bunched(runs["both", loss]) for loss in PROBABILITIES]
    rates = {key: run.flow("goodput_bps").value for key, run in runs.items()}
    parts = [100.0 * rates["both", loss] / rates["alone", loss] for loss in PROBABILITIES]
    listed = ", ".join(f"{loss:.2%}: {one:.2f}" for loss, one in zip(PROBABILITIES, bunched, strict=True))
    findings = {
        "compressed": Finding(min(bunched[1:]), note=f"segments in the wake of another, by loss {listed}"),
        "cost": Finding(
            max(abs(one - parts[0]) for one in parts[1:]),
            note=f"throughput over that of one connection alone: {', '.join(f'{one:.1f}%' for one in parts)}",
        ),
    }
    x = 100.0 * np.array(PROBABILITIES)
    curves = [
        Curve("segments in the wake of another", x, 100.0 * np.array(bunched), "simulation", 0),
        Curve("throughput against one way", x, np.array(parts), "simulation", 1),
    ]
    panel = Panel("segments lost [%]", "part [%]", curves)
    return Outcome(findings, {"losses": Chart("Section 2.1: ACK compression with losses, W = 28, L = 15", [panel])})


def _bunched(run: Run) -> float:
    """Compute the fraction of segments that leave TCP nearer to the one before than half a segment's time."""
    rows = run.trace("sequence")
    sent = rows[(rows["flow"].cat.codes == 0) & (rows["kind"] == "sent") & (rows["time_s"] > WARMUP_S)]
    gaps = sent.groupby("replication")["time_s"].diff().dropna()
    return float(np.mean(gaps < 0.5 / PER_SECOND))
