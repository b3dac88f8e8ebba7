"""What the engine records for one replication, and when replications differ at all."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from ackclock.quantities import MOST_ROWS_OF_A_GROUP

Columns = dict[str, NDArray[Any]]
"""Arrays of equal length by column name."""

ResolvedDict = Mapping[str, Any]
"""A resolved scenario as plain data: SI numbers, nothing implicit."""

OVERVIEW_INTERVALS = 2000
OVERVIEW_CELLS = 2_000_000
"""Most (interval, flow or link) pairs that a picture may cost; each holds a minimum and a maximum."""
RANDOM_DISCIPLINES = frozenset({"random-drop", "red"})
RANDOM_LOSSES = frozenset({"bernoulli", "poisson", "gilbert-elliott"})
RANDOM_DELAYS = frozenset({"alternating", "handover"})


class SourceTables(TypedDict):
    """What the sources of one [[flow]] measured of their transfers: by size, by the number of active ones."""

    entry: int
    started: int
    completed: int
    classes: Columns
    states: Columns
    sequence_drops: NDArray[Any]


class Replication(TypedDict):
    """One finished replication.

    Counters of `flows` and `links` cover the time from warm-up to the end; the `*_total` ones the whole run. Those of
    `flows` have an entry for each of `row_flows`.
    `traces` holds columns by trace name, only for the traces asked for; its `capture` holds a pcapng file by link name.
    """

    replication: int
    packets: int
    events: int
    cpu_s: float
    flows: Columns
    links: Columns
    traces: dict[str, dict[str, Any]]
    transfers: NotRequired[list[SourceTables]]


def is_deterministic(resolved: ResolvedDict) -> bool:
    """Tell whether nothing is drawn at random, so that all replications are the same."""
    return not (
        any(flow["start_spread_s"] > 0.0 or _draws(flow.get("traffic")) for flow in resolved["flows"])
        or any(_is_random(link) for link in resolved["links"])
    )


def _is_random(link: dict[str, Any]) -> bool:
    process, loss = link.get("delay_process"), link.get("loss")
    return (
        link["queue"]["discipline"] in RANDOM_DISCIPLINES
        or (process is not None and process["law"]["kind"] in RANDOM_DELAYS)
        or (loss is not None and loss["law"]["model"] in RANDOM_LOSSES)
    )


def _draws(traffic: Mapping[str, Any] | None) -> bool:
    """Whether a flow's traffic is random."""
    if traffic is None:
        return False
    laws = [traffic[part] for part in ("size", "on", "off") if part in traffic]
    return "poisson" in traffic["kind"] or any(law["law"] != "fixed" for law in laws)


def flow_names(resolved: ResolvedDict) -> list[str]:
    """Name all flows, in the order of the engine's columns: those of a [[flow]] with a count by their number."""
    return [name for flow in resolved["flows"] for name in _names(flow)]


def _names(flow: Mapping[str, Any]) -> list[str]:
    name, count = str(flow["name"]), int(flow.get("count", 1))
    return [name] if count == 1 else [f"{name}[{number}]" for number in range(count)]


def single_flows(resolved: ResolvedDict) -> Iterator[dict[str, Any]]:
    """Give each flow as an entry of its own."""
    for flow in resolved["flows"]:
        for name in _names(flow):
            yield {**flow, "name": name, "count": 1}


def row_flows(resolved: ResolvedDict) -> list[dict[str, Any]]:
    """Give what the rows of a summary stand for: single flows, but a large group as one."""
    rows: list[dict[str, Any]] = []
    for flow in resolved["flows"]:
        large = flow.get("count", 1) > MOST_ROWS_OF_A_GROUP
        rows += [dict(flow)] if large else list(single_flows({"flows": [flow]}))
    return rows


def grouped(columns: Columns, rows: Sequence[Mapping[str, Any]]) -> Columns:
    """Put the flows of each of `row_flows` together: sums, the largest window and the last finish.

    The engine counts a large group as one; results stored by older ones have a column's entry for each of its flows.
    """
    counts = np.array([row.get("count", 1) for row in rows])
    if all(len(column) == len(counts) for column in columns.values()):
        return columns
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    largest = {"cwnd_max", "finish_s"}
    return {
        name: (np.maximum if name in largest else np.add).reduceat(column, first) for name, column in columns.items()
    }


def overview_interval_s(resolved: ResolvedDict) -> float:
    """Choose the picture's time step [s]: the scenario's, else one coarser where there are many flows and links."""
    asked = resolved["trace"]["overview_interval_s"]
    if asked is not None:
        return float(asked)
    elements = len(flow_names(resolved)) + len(resolved["links"])
    intervals = max(20, min(OVERVIEW_INTERVALS, OVERVIEW_CELLS // elements))
    return float(resolved["run"]["duration_s"]) / intervals
