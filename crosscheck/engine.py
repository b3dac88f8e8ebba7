"""Run a resolved scenario in our engine and read back every change of the congestion window."""

import importlib
import math
from dataclasses import fields
from typing import Any

from crosscheck.compare import Change
from crosscheck.outcome import FlowCounts, Outcome
from crosscheck.subset import Scenario


def run(scenario: Scenario) -> Outcome:
    """Play a resolved scenario in our engine.

    Parameters
    ----------
    scenario : dict
        Resolved scenario that traces cwnd.

    Returns
    -------
    Outcome
        Every change of cwnd, and the counters.
    """
    replication = _replications(scenario)[0]
    flows = len(scenario["flows"])
    return Outcome(
        changes=read_changes(replication["traces"]["cwnd"], flows),
        flows=[_counts(replication["flows"], flow) for flow in range(flows)],
        drops=[int(dropped) for dropped in replication["links"]["dropped_packets"]],
        finishes_s={flow: float(at) for flow, at in enumerate(replication["flows"]["finish_s"]) if math.isfinite(at)},
    )


def run_counts(scenario: Scenario) -> list[list[FlowCounts]]:
    """Play all replications of a resolved scenario and give the counters of the flows of each."""
    flows = range(len(scenario["flows"]))
    return [[_counts(replication["flows"], flow) for flow in flows] for replication in _replications(scenario)]


def _replications(scenario: Scenario) -> list[dict[str, Any]]:
    """Run a scenario; the package is imported here, when it is needed."""
    resolved = importlib.import_module("ackclock.scenario").Resolved.from_dict(scenario)
    return list(importlib.import_module("ackclock.engine").run_resolved(resolved))


def read_changes(trace: dict[str, Any], flows: int) -> list[list[Change]]:
    """Split the engine's trace of cwnd, columns by name, into one list of rows a flow."""
    rows: list[list[Change]] = [[] for _ in range(flows)]
    columns = (trace[name].tolist() for name in ("flow", "time_s", "cwnd", "ssthresh"))
    for flow, time_s, cwnd, ssthresh in zip(*columns, strict=True):
        rows[flow].append(Change(time_s, cwnd, ssthresh))
    return rows


def _counts(columns: dict[str, Any], flow: int) -> FlowCounts:
    return FlowCounts(**{field.name: int(columns[field.name][flow]) for field in fields(FlowCounts)})
