"""What the engine records for one replication, and when replications differ at all."""

from collections.abc import Mapping
from typing import Any, TypedDict

from numpy.typing import NDArray

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


class Replication(TypedDict):
    """One finished replication.

    Counters of `flows` and `links` cover the time from warm-up to the end; the `*_total` ones the whole run.
    `traces` holds columns by trace name, only for the traces asked for; its `capture` holds a pcapng file by link name.
    """

    replication: int
    packets: int
    events: int
    cpu_s: float
    flows: Columns
    links: Columns
    traces: dict[str, dict[str, Any]]


def is_deterministic(resolved: ResolvedDict) -> bool:
    """Tell whether nothing is drawn at random, so that all replications are the same."""
    return not (
        any(flow["start_spread_s"] > 0.0 for flow in resolved["flows"])
        or any(_is_random(link) for link in resolved["links"])
    )


def _is_random(link: dict[str, Any]) -> bool:
    process, loss = link.get("delay_process"), link.get("loss")
    return (
        link["queue"]["discipline"] in RANDOM_DISCIPLINES
        or (process is not None and process["law"]["kind"] in RANDOM_DELAYS)
        or (loss is not None and loss["law"]["model"] in RANDOM_LOSSES)
    )


def overview_interval_s(resolved: ResolvedDict) -> float:
    """Choose the picture's time step [s]: the scenario's, else one coarser where there are many flows and links."""
    asked = resolved["trace"]["overview_interval_s"]
    if asked is not None:
        return float(asked)
    elements = len(resolved["flows"]) + len(resolved["links"])
    intervals = max(20, min(OVERVIEW_INTERVALS, OVERVIEW_CELLS // elements))
    return float(resolved["run"]["duration_s"]) / intervals
