"""Measurements by sources of transfers: rates and times by size, and how many were active for how long."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ackclock.replication import Columns, Replication, SourceTables
from ackclock.scenario import Resolved
from ackclock.stats import estimates, ratio

TRANSFERS = "transfers"
ACTIVE = "active"
SEQUENCE_DROPS = "sequence_drops"
FRAMES = (TRANSFERS, ACTIVE, SEQUENCE_DROPS)

SOURCE_QUANTITIES = (
    "transfers",
    "size_mean_packets",
    "rate_bps",
    "rate_mean_bps",
    "on_mean_s",
    "stalled_fraction",
    "active_mean",
)

Values = NDArray[np.float64]


def transfer_frames(resolved: Resolved, replications: Sequence[Replication]) -> dict[str, pd.DataFrame]:
    """Collect what the sources measured, each row of one replication and one [[flow]].

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replications : sequence of Replication
        Finished replications.

    Returns
    -------
    dict of str to DataFrame
        Nothing where no flow is a source of transfers. Else

        - "transfers", by size: ``rate_bps`` is all bits by all time (h of [engset, section 5.4.4]), ``rate_mean_bps``
          the mean of the transfers' own rates (h2), ``stalled_fraction`` the part of the time spent waiting for
          timeouts, ``sending_s`` the sum of the times from the first packet sent to the last,
          ``queue_seen_mean_packets`` what their packets found on ``arrivals`` at links that are not private, with
          ``trace.queue_distribution`` (else nan);
        - "active", by the number of active sources: the time, its part of all, and the transfers that ended then;
        - "sequence_drops", drops by the packet's number within its transfer, from 1 on; the last row that a run can
          have, 10,000, holds all beyond too.
    """
    tables = [
        (one["replication"], resolved.flows[table["entry"]], table)
        for one in replications
        for table in one.get("transfers", ())
    ]
    if not tables:
        return {}
    makers = {TRANSFERS: _size_columns, ACTIVE: _active_columns, SEQUENCE_DROPS: _drop_columns}
    names = list(dict.fromkeys(flow.name for _, flow, _ in tables))
    frames = {}
    for name, make in makers.items():
        parts = []
        for number, flow, table in tables:
            columns = make(table, flow.packet_bits)
            length = len(next(iter(columns.values())))
            flows = pd.Categorical.from_codes([names.index(flow.name)] * length, categories=pd.Index(names))
            parts.append(pd.DataFrame({"replication": np.full(length, number, np.uint32), "flow": flows, **columns}))
        frames[name] = pd.concat(parts, ignore_index=True)
    return frames


def source_rows(resolved: Resolved, replications: Sequence[Replication]) -> list[dict[str, Any]]:
    """Compute the quantities of each [[flow]] of transfers over the replications."""
    groups = zip(*(one.get("transfers", ()) for one in replications), strict=True)
    confidence, exact = resolved.run.confidence, resolved.is_deterministic
    rows = []
    for tables in groups:
        flow = resolved.flows[tables[0]["entry"]]
        values = np.array([_totals(table, flow.packet_bits) for table in tables])
        found = estimates(values, confidence, exact=exact)
        row = dict(zip(SOURCE_QUANTITIES, found, strict=True))
        rows.append({"name": flow.name, "sources": flow.count, **row})
    return rows


def _totals(table: SourceTables, packet_bits: float) -> list[float]:
    classes, states = table["classes"], table["states"]
    transfers, packets, on_s = (float(classes[key].sum()) for key in ("transfers", "packets", "on_s"))
    time_s = states["time_s"]
    return [
        transfers,
        _divide(packets, transfers),
        _divide(packets * packet_bits, on_s),
        _divide(float(classes["rate_sum_packets_per_s"].sum()) * packet_bits, transfers),
        _divide(on_s, transfers),
        _divide(float(classes["stalled_s"].sum()), on_s),
        _divide(float(np.sum(np.arange(len(time_s)) * time_s)), float(time_s.sum())),
    ]


def _size_columns(table: SourceTables, packet_bits: float) -> Columns:
    classes = table["classes"]
    transfers, on_s = classes["transfers"], classes["on_s"]
    return {
        "from_packets": classes["from_packets"],
        "to_packets": classes["to_packets"],
        "transfers": transfers,
        "share": ratio(transfers, np.full(len(transfers), transfers.sum())),
        "packets": classes["packets"],
        "size_mean_packets": ratio(classes["packets"], transfers),
        "on_s": on_s,
        "on_mean_s": ratio(on_s, transfers),
        "rate_bps": ratio(classes["packets"] * packet_bits, on_s),
        "rate_mean_bps": ratio(classes["rate_sum_packets_per_s"] * packet_bits, transfers),
        "stalled_fraction": ratio(classes["stalled_s"], on_s),
        "sent_packets": classes["sent_packets"],
        "retransmitted_packets": classes["retransmitted_packets"],
        "dropped_packets": classes["dropped_packets"],
        "loss_fraction": ratio(classes["dropped_packets"], classes["sent_packets"]),
        "timeouts": classes["timeouts"],
        "fast_retransmits": classes["fast_retransmits"],
        "recovery_retransmissions": classes["recovery_retransmissions"],
        "sending_s": classes.get("sending_s", np.full_like(classes["on_s"], np.nan)),
        "failed_recovery_retransmissions": classes.get(
            "failed_recovery_retransmissions", np.zeros_like(classes["recovery_retransmissions"])
        ),
        "arrivals": classes["arrivals"],
        "queue_seen_mean_packets": ratio(classes["queue_seen_packets"], classes["arrivals"]),
    }


def _active_columns(table: SourceTables, packet_bits: float) -> Columns:
    states = table["states"]
    time_s = states["time_s"]
    return {
        "active": np.arange(len(time_s)),
        "time_s": time_s,
        "probability": ratio(time_s, np.full(len(time_s), time_s.sum())),
        "transfers": states["transfers"],
        "packets": states["packets"],
        "on_s": states["on_s"],
        "rate_bps": ratio(states["packets"] * packet_bits, states["on_s"]),
    }


def _drop_columns(table: SourceTables, packet_bits: float) -> Columns:
    del packet_bits
    drops = table["sequence_drops"]
    return {
        "number": np.arange(1, len(drops) + 1),
        "drops": drops,
        "share": ratio(drops, np.full(len(drops), drops.sum())),
    }


def _divide(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else float("nan")
