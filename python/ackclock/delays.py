"""Delays of packets: percentiles of round trips, one-way delays and queueing delays, from the engine's histograms.

A value of a histogram is the middle of a bucket, within 0.8% of what was measured; the largest one is exact. A round
trip is not below that of the empty path. The one-way delay is the empty path's, which is exact, and what a packet
needed beyond that, from a histogram.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ackclock.histograms import merged, middles_s, percentiles_of_rows
from ackclock.paths import changing_rates, empty_round_trip_s
from ackclock.quantities import BUCKET_ERROR, FLOW_DELAYS, LINK_DELAYS, PERCENTILES
from ackclock.replication import Columns, Replication
from ackclock.scenario import Element, Resolved
from ackclock.scenario.resolved_buffers import ByteBuffer

if TYPE_CHECKING:
    import pandas as pd

Values = NDArray[np.float64]
DISTRIBUTION: Final = "delay_distribution"
"""Name of the table of all delays by flow and link."""
HISTOGRAMS: Final[tuple[Literal["round_trip", "excess", "wait"], ...]] = ("round_trip", "excess", "wait")


def flow_delays(resolved: Resolved, replication: Replication) -> dict[str, Values]:
    """Compute the delays of a replication's flows.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replication : Replication
        A finished replication.

    Returns
    -------
    dict of str to array of float
        By quantity a value for each of `Resolved.rows` [s]; nan where no packet was measured, where delays were not
        measured at all, and for queueing on a path whose delay changes by itself.
    """
    rows, tables = len(resolved.rows), replication.get("delays")
    if tables is None:
        return {name: np.full(rows, np.nan) for name in FLOW_DELAYS}
    flows = tables["flows"]
    queueing = _percentiles(tables["excess"], flows["excess_max_s"])
    constant = flows["excess_is_waiting"].astype(bool)
    round_trips = _percentiles(tables["round_trip"], flows["round_trip_max_s"])
    return {
        **_named("rtt", _not_below(resolved, round_trips)),
        **_named("delay", {name: flows["least_s"] + values for name, values in queueing.items()}),
        **_named("queueing", {name: np.where(constant, values, np.nan) for name, values in queueing.items()}),
    }


def link_delays(resolved: Resolved, replication: Replication) -> dict[str, Values]:
    """Compute the waits at a replication's links, from a packet's arrival until its transmission begins.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replication : Replication
        A finished replication.

    Returns
    -------
    dict of str to array of float
        By quantity a value for each element [s]; nan as in `flow_delays`.
    """
    links, tables = len(resolved.elements), replication.get("delays")
    if tables is None:
        return {name: np.full(links, np.nan) for name in LINK_DELAYS}
    return delays_of("queueing", tables["wait"], tables["links"]["wait_max_s"])


def delays_of(kind: str, table: Columns, longest: Values) -> dict[str, Values]:
    """Compute mean, percentiles and maximum of each histogram of a table.

    Parameters
    ----------
    kind : str
        First part of the quantities' names.
    table : dict of str to array
        The engine's table of buckets.
    longest : array of float
        The longest duration of each histogram [s].

    Returns
    -------
    dict of str to array of float
        By quantity a value for each histogram [s]; nan of one that is empty.
    """
    return {
        # A mean of buckets, which is known to 0.4%, may lie above the longest, which is exact.
        f"{kind}_mean_s": np.minimum(_means(table, len(longest)), longest),
        **_named(kind, _percentiles(table, longest)),
    }


def drain_s(resolved: Resolved) -> list[float | None]:
    """Compute the time in which each element transmits a full buffer, the longest that a packet can wait there.

    Parameters
    ----------
    resolved : Resolved
        The scenario.

    Returns
    -------
    list of float or None
        A time for each element [s], by the largest packet that crosses it, ACKs with all their SACK blocks and hellos
        of TLS, where the buffer counts packets; None without a limit or a rate, and where the rate changes.
    """
    largest, least = [0] * len(resolved.elements), [inf] * len(resolved.elements)
    for flow in resolved.flows:
        for element in flow.path:
            largest[element] = max(largest[element], flow.packet_bytes)
            least[element] = min(least[element], flow.packet_bytes)
        for element in flow.return_path:
            one_length = resolved.elements[element].kind == "private-link"
            plain = max(flow.answer_bytes, flow.handshake_answer_bytes)
            largest[element] = max(largest[element], plain if one_length else flow.longest_answer_bytes)
            least[element] = min(least[element], flow.answer_bytes)
    found = zip(resolved.elements, largest, least, strict=True)
    return [_drain_s(element, int(longest), int(min(shortest, longest))) for element, longest, shortest in found]


def _drain_s(element: Element, largest_bytes: int, least_bytes: int) -> float | None:
    if element.kind not in ("link", "private-link") or element.buffer is None or element.rate_bps is None:
        return None
    if element.rate_process is not None:
        return None
    held = element.buffer.capacity_bytes(largest_bytes)
    if isinstance(element.buffer, ByteBuffer) and element.counting == "waiting":
        # The smallest packet takes the last bytes, and the largest one is in transmission, which does not count.
        held += largest_bytes - least_bytes
    return held * 8.0 / element.rate_bps


def delay_frame(resolved: Resolved, replications: Sequence[Replication]) -> "pd.DataFrame | None":
    """Collect the distributions of delays over all replications.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replications : sequence of Replication
        Finished replications.

    Returns
    -------
    DataFrame or None
        ``kind`` ("rtt", one-way "delay" and its part "queueing" of a flow, "wait" at a link), ``name``, ``delay_s``
        within 0.8% and the number of ``packets``, in order of the delay; None if delays were not measured.
    """
    import pandas as pd  # noqa: PLC0415  half a second that a look at a scenario does not need

    tables = [one["delays"] for one in replications if "delays" in one]
    if not tables:
        return None
    flows, links = [row.name for row in resolved.rows], [element.name for element in resolved.elements]
    least = tables[0]["flows"]["least_s"]
    waits_alone = tables[0]["flows"]["excess_is_waiting"].astype(bool)
    round_trips, excess, waits = (merged([table[kind] for table in tables]) for kind in HISTOGRAMS)
    alone = {name: values[waits_alone[excess["row"]]] for name, values in excess.items()}
    parts: list[tuple[str, list[str], Columns, float | Values]] = [
        ("rtt", flows, round_trips, 0.0),
        ("delay", flows, excess, least[excess["row"]]),
        ("queueing", flows, alone, 0.0),
        ("wait", links, waits, 0.0),
    ]
    kinds = np.repeat(np.arange(len(parts)), [len(table["row"]) for _, _, table, _ in parts])
    rows = np.concatenate([table["row"] + len(flows) * (names is links) for _, names, table, _ in parts])
    return pd.DataFrame(
        {
            "kind": _sorted_categories(kinds, [kind for kind, _, _, _ in parts]),
            "name": _sorted_categories(rows, [*flows, *links]),
            "delay_s": np.concatenate([shift + middles_s(table) for _, _, table, shift in parts]),
            "packets": np.concatenate([table["count"] for _, _, table, _ in parts]),
        }
    )


def _sorted_categories(codes: NDArray[Any], names: Sequence[str]) -> "pd.Categorical":
    """Make a column of names whose categories are those that it has, sorted."""
    import pandas as pd  # noqa: PLC0415  as above

    present = np.unique(codes)
    found = sorted({names[code] for code in present})
    numbers = {name: number for number, name in enumerate(found)}
    number_of = np.zeros(len(names), dtype=np.int64)
    number_of[present] = [numbers[names[code]] for code in present]
    return pd.Categorical.from_codes(number_of[codes.astype(np.int64)], categories=pd.Index(found, dtype="str"))


def _not_below(resolved: Resolved, values: Mapping[str, Values]) -> dict[str, Values]:
    """Raise percentiles that are below the empty path's round trip by no more than a bucket is wide.

    No whole packet was faster. The longest is exact, and shorter where short packets alone were measured.
    """
    steady = [not changing_rates(resolved, row) for row in resolved.rows]
    least = np.array([empty_round_trip_s(resolved, row) for row in resolved.rows])
    least = np.fmin(least, values["max"])
    return {
        name: np.where(steady & (found < least) & (found > (1.0 - BUCKET_ERROR) * least), least, found)
        for name, found in values.items()
    }


def _named(kind: str, values: Mapping[str, Values]) -> dict[str, Values]:
    return {f"{kind}_{name}_s": array for name, array in values.items()}


def _percentiles(table: Columns, longest: Values) -> dict[str, Values]:
    found = percentiles_of_rows(table, longest, list(PERCENTILES.values()))
    known = np.isin(np.arange(len(longest)), table["row"])
    return {**dict(zip(PERCENTILES, found, strict=True)), "max": np.where(known, longest, np.nan)}


def _means(table: Columns, rows: int) -> Values:
    counts = np.bincount(table["row"], weights=table["count"], minlength=rows)
    sums = np.bincount(table["row"], weights=table["count"] * middles_s(table), minlength=rows)
    return np.asarray(np.divide(sums, counts, out=np.full(rows, np.nan), where=counts > 0))
