"""One finished replication, as the engine records it."""

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from ackclock.scenario import ResolvedFlow

Columns = dict[str, NDArray[Any]]
"""Arrays of equal length by column name."""


class SourceTables(TypedDict):
    """Measurements of transfers by the sources of one [[flow]]: by size, by the number of active ones."""

    entry: int
    started: int
    completed: int
    classes: Columns
    states: Columns
    sequence_drops: NDArray[Any]


class DelayTables(TypedDict):
    """Delays of one replication, in the measured part.

    `round_trip` (of the ACKs of new data), `excess` (of the data packets that arrived: one-way delay beyond the empty
    path's) and `wait` (at the elements, from arrival until transmission) are histograms: columns `row`, the index of
    the flow's row or of the element, `bucket`, its ends `low_s` and `high_s`, and `count`, in the order of rows and
    buckets. `flows` and `links` hold
    the longest of each, exactly; of a flow also `least_s`, the one-way delay of the empty path, and whether the
    excess is waiting alone (`excess_is_waiting`).
    """

    flows: Columns
    links: Columns
    round_trip: Columns
    excess: Columns
    wait: Columns


class Replication(TypedDict):
    """One finished replication.

    Counters of `flows` and `links` cover the time from warm-up to the end; the `*_total` ones the whole run. Those of
    `flows` have an entry for each of `Resolved.rows`.
    `measured_s` is that time as the engine counted it: in ticks, `ticks_per_second` of them, of which constant times
    are whole numbers.
    `delays` is missing where `run.delays` was off, and in older results. `completions` and `pings` hold tables: of
    their [[flow]], and of the buckets of each histogram. `classes` has such tables of the classes of packets at links,
    where one has several and delays are measured: `rows` (`element`, `number` of the class, counters) and `wait`.
    `flow_batches` and `link_batches` hold, for each row in turn, an entry for each batch of that time; replication 0
    has them, unless there are very many rows.
    `traces` holds columns by trace name, only for the traces asked for; its `capture` holds a pcapng file by link name.
    """

    replication: int
    packets: int
    ticks_per_second: NotRequired[int]
    measured_s: NotRequired[float]
    events: int
    cpu_s: float
    flows: Columns
    links: Columns
    traces: dict[str, dict[str, Any]]
    flow_batches: NotRequired[Columns]
    link_batches: NotRequired[Columns]
    transfers: NotRequired[list[SourceTables]]
    delays: NotRequired[DelayTables]
    classes: NotRequired[dict[str, Columns]]
    completions: NotRequired[dict[str, Columns]]
    pings: NotRequired[dict[str, Columns]]


def grouped(columns: Columns, rows: Sequence[ResolvedFlow]) -> Columns:
    """Put the flows of each of `Resolved.rows` together: sums, the largest window, the last finish.

    The engine counts a large group as one; results stored by older ones have a column's entry for each of its flows.
    """
    counts = np.array([row.count for row in rows])
    if all(len(column) == len(counts) for column in columns.values()):
        return columns
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    largest = {"cwnd_max", "finish_s"}
    return {
        name: (np.maximum if name in largest else np.add).reduceat(column, first) for name, column in columns.items()
    }
