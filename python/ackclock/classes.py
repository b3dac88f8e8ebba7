"""Classes of packets at links: waits, drops and marks of each class of a queue, or of each [[flow]] in fair queues."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ackclock.delays import delays_of
from ackclock.quantities import CLASS_QUANTITIES
from ackclock.replication import Columns, Replication
from ackclock.scenario import Resolved
from ackclock.stats import estimates_of_rows, ratio

Values = NDArray[np.float64]
OTHERS: Final = 2**32 - 1
"""The engine's number of the row of all [[flow]] that have none of their own."""
OTHERS_NAME: Final = "(others)"
_OF_DUAL_QUEUE: Final = ("L4S", "classic")


def class_rows(resolved: Resolved, replications: Sequence[Replication]) -> list[dict[str, Any]]:
    """Compute the quantities of each class of packets over the replications.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replications : sequence of Replication
        Finished replications.

    Returns
    -------
    list of dict
        A row for each link and class of which packets arrived: `link`, `name` (of the class) and
        `ackclock.quantities.CLASS_QUANTITIES`; empty where no queue has classes and where delays were not measured.
    """
    tables = [one["classes"] for one in replications if "classes" in one]
    if not tables:
        return []
    values = [_values(resolved, one) for one in replications]
    confidence, exact = resolved.run.confidence, resolved.is_deterministic
    rows = estimates_of_rows(values, CLASS_QUANTITIES, confidence, exact=exact)
    seen = np.any([_seen(table["rows"]) for table in tables], axis=0)
    named = zip(_names(resolved, tables[0]["rows"]), rows, seen, strict=True)
    return [{"link": link, "name": name, **row} for (link, name), row, known in named if known]


def class_values(resolved: Resolved, replication: Replication) -> tuple[list[str], dict[str, Values]]:
    """Compute the quantities of each class of packets in a replication.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replication : Replication
        A finished replication.

    Returns
    -------
    tuple of list and dict
        The classes of which packets arrived or were sent, as `class_name` has them, and the quantities over them.
    """
    if "classes" not in replication:
        return [], {}
    rows = replication["classes"]["rows"]
    seen = _seen(rows)
    names = [class_name(*pair) for pair, known in zip(_names(resolved, rows), seen, strict=True) if known]
    return names, {name: column[seen] for name, column in _values(resolved, replication).items()}


def _seen(rows: Columns) -> Values:
    """Find the classes that have packets that arrived or were sent in the measured part."""
    return np.asarray((rows["arrived_packets"] > 0) | (rows["sent_packets"] > 0))


def class_name(link: str, name: str) -> str:
    """Name a class of packets together with its link.

    Examples
    --------
    >>> class_name("home", "L4S")
    'home: L4S'
    """
    return f"{link}: {name}"


def _values(resolved: Resolved, replication: Replication) -> dict[str, Values]:
    tables = replication["classes"]
    rows, waits = tables["rows"], tables["wait"]
    measured_s = replication.get("measured_s", resolved.run.measured_s)
    arrived = rows["arrived_packets"]
    return {
        "throughput_bps": rows["sent_bytes"] * 8.0 / measured_s,
        **{
            # Of the packets that arrived in the measured part.
            f"{name}_fraction": ratio(rows[f"{fate}_packets"] - rows.get(f"{fate}_of_warmup_packets", 0.0), arrived)
            for name, fate in (("loss", "dropped"), ("marked", "marked"))
        },
        "dropped_packets": rows["dropped_packets"].astype(float),
        "marked_packets": rows["marked_packets"].astype(float),
        **delays_of("queueing", waits, rows["wait_max_s"]),
    }


def _names(resolved: Resolved, rows: Columns) -> list[tuple[str, str]]:
    """Name the link and the class of each of the engine's rows."""
    pairs = zip(rows["element"].tolist(), rows["number"].tolist(), strict=True)
    return [(resolved.elements[element].name, _name(resolved, element, number)) for element, number in pairs]


def _name(resolved: Resolved, element: int, number: int) -> str:
    kind = resolved.elements[element].queue.scheduler.kind
    if kind == "priority":
        return f"level {number}"
    if kind == "dual":
        return _OF_DUAL_QUEUE[number]
    return OTHERS_NAME if number == OTHERS else resolved.flows[number].name
