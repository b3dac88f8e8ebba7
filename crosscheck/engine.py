"""Run a resolved scenario in our engine and read back every change of the congestion window."""

import importlib
import math
from dataclasses import fields
from typing import Any

from crosscheck.compare import Change
from crosscheck.outcome import FlowCounts, Found, Outcome
from crosscheck.subset import Scenario, has_red


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
    reds = [number for number, link in enumerate(scenario["elements"]) if has_red(link)]
    trace = scenario["trace"] | {"queue": bool(reds)}
    replication = _replications(scenario | {"trace": trace})[0]
    flows = len(scenario["flows"])
    return Outcome(
        changes=read_changes(replication["traces"]["cwnd"], flows),
        flows=[_counts(replication["flows"], flow) for flow in range(flows)],
        drops=[int(dropped) for dropped in replication["links"]["dropped_packets"]],
        finishes_s={flow: float(at) for flow, at in enumerate(replication["flows"]["finish_s"]) if math.isfinite(at)},
        queues={link: read_found(replication["traces"]["queue"], link) for link in reds},
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


def read_found(trace: dict[str, Any], link: int) -> list[Found]:
    """Read from the engine's trace of queues, columns by name, what the packets found that a link took."""
    columns = (trace[name].tolist() for name in ("link", "time_s", "packets"))
    changes = [(time_s, held) for number, time_s, held in zip(*columns, strict=True) if number == link]
    before = [0, *(held for _, held in changes)]
    return [Found(time_s, max(0, held - 2)) for was, (time_s, held) in zip(before, changes, strict=False) if held > was]


def _counts(columns: dict[str, Any], flow: int) -> FlowCounts:
    return FlowCounts(**{field.name: int(columns[field.name][flow]) for field in fields(FlowCounts)})
