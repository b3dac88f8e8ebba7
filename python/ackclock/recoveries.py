"""Recoveries of flows from losses: the counts of [engset, section 5.4.3], tables 7 and 8, for any flow."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ackclock.replication import Columns, Replication, grouped
from ackclock.scenario import Resolved
from ackclock.stats import estimates

COUNTS = (
    "sent_packets",
    "dropped_packets",
    "timeouts",
    "timeouts_at_beginning",
    "timeouts_at_end",
    "timeouts_repeated",
    "timeouts_in_recovery",
    "timeouts_other",
    "timeouts_in_slow_start",
    "spurious_timeouts",
    "stalled_s",
    "fast_retransmits",
    "spurious_fast_retransmits",
    "recoveries",
    "recovery_retransmissions",
    "recovery_sent",
    "recovery_sent_on_end",
    "recovery_s",
    "failed_recovery_retransmissions",
    "failed_recovery_sent",
    "failed_recovery_s",
)
"""Counters of the engine for each flow from warm-up to the end."""
RECOVERY_QUANTITIES = (*COUNTS, "stalled_mean_s", "recovery_mean_s", "recovery_rate_bps")
ALL_FLOWS = "all flows"
"""Name of the row of sums; no flow can have it."""

Values = NDArray[np.float64]


def recovery_rows(resolved: Resolved, replications: Sequence[Replication]) -> list[dict[str, Any]]:
    """Compute how each flow that detected a loss recovered, and all flows together.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replications : sequence of Replication
        Finished replications, at least one.

    Returns
    -------
    list of dict
        Name and quantities, one a flow (a large group is one), then the sum. Empty if no loss was detected.
    """
    rows = resolved.rows
    counted = [grouped(_counts(one["flows"]), rows) for one in replications]
    losses = sum(table["timeouts"] + table["fast_retransmits"] for table in counted)
    flows = np.flatnonzero(np.asarray(losses) > 0)
    if len(flows) == 0:
        return []
    bits = np.array([rows[flow].packet_bits for flow in flows.tolist()])
    tables = [_values({key: table[key][flows].astype(float) for key in COUNTS}, bits) for table in counted]
    confidence, exact = resolved.run.confidence, resolved.is_deterministic
    columns = [estimates(np.stack([table[key] for table in tables]), confidence, exact=exact) for key in tables[0]]
    names = [*(rows[flow].name for flow in flows.tolist()), ALL_FLOWS]
    return [
        {"name": name, **dict(zip(tables[0], row, strict=True))}
        for name, row in zip(names, zip(*columns, strict=True), strict=True)
    ]


def _counts(flows: Columns) -> Columns:
    """Take the counters of all flows; older results lack those of recoveries that failed."""
    none = np.zeros_like(flows["recoveries"])
    return {key: flows.get(key, none) if key.startswith("failed") else flows[key] for key in COUNTS}


def _values(counts: Columns, bits: Values) -> dict[str, Values]:
    """Add the row of sums, and the means."""
    table = {key: np.append(values, values.sum()) for key, values in counts.items()}
    sent_bits = np.append(counts["recovery_sent"] * bits, np.sum(counts["recovery_sent"] * bits))
    return {
        **table,
        "stalled_mean_s": _mean(table["stalled_s"], table["timeouts"]),
        "recovery_mean_s": _mean(table["recovery_s"], table["recoveries"]),
        "recovery_rate_bps": _mean(sent_bits, table["recovery_s"]),
    }


def _mean(total: Values, count: Values) -> Values:
    means = np.full(len(total), np.nan)
    np.divide(total, count, out=means, where=count > 0.0)
    return means
