"""Loss cycles: how often a flow went through what its long-run mean averages over."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ackclock.groups import by_table
from ackclock.replication import Columns, Replication, grouped
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.socket_buffers import first_buffer_limit, is_filled, overflows
from ackclock.wording import plural, seconds

FEWEST_CYCLES = 10
"""Loss cycles from which on a mean over them means something."""
FEWEST_TRANSFERS = 100
"""Transfers likewise: their sizes vary more than loss cycles do, by their mean or more."""
EQUAL_CYCLES = 1e-3
"""Relative difference between the shortest and the longest loss cycle up to which a run counts as periodic."""
_WINDOW_REACHED = 0.99

Values = NDArray[np.float64]


def recoveries_begun(flows: Columns) -> Values:
    """Count the recoveries that began: fast retransmits, and timeouts neither repeated nor in a recovery."""
    if "recoveries_begun" in flows:
        return np.asarray(flows["recoveries_begun"], dtype=float)
    within = flows["timeouts_repeated"] + flows["timeouts_in_recovery"]
    return np.asarray(flows["fast_retransmits"] + flows["timeouts"] - within, dtype=float)


def loss_cycles(flows: Columns, counts: NDArray[np.int64]) -> Values:
    """Count the complete loss cycles of each row, of a large group per flow.

    Parameters
    ----------
    flows : mapping of str to array
        The engine's counters, grouped as `Resolved.rows`.
    counts : array of int
        The number of flows of each row.

    Returns
    -------
    array of float
        From the beginning of a recovery to the beginning of the next one is one cycle.
    """
    return np.maximum(recoveries_begun(flows) / counts - 1.0, 0.0)


def are_equal(resolved: Resolved, replications: Sequence[Replication]) -> bool:
    """Return whether all loss cycles of each flow have the same length, in a run without random numbers."""
    if not resolved.is_deterministic or len(replications) != 1 or "shortest_cycle_s" not in replications[0]["flows"]:
        return False
    flows = replications[0]["flows"]
    endless = np.array([flow.is_endless and flow.count == 1 for flow in resolved.rows])
    begun = recoveries_begun(flows)
    if not endless.all() or not (begun >= 3).all():
        return False
    shortest, longest = flows["shortest_cycle_s"], flows["longest_cycle_s"]
    return bool(np.all(longest - shortest <= EQUAL_CYCLES * longest))


def cycles_summary(resolved: Resolved, replications: Sequence[Replication]) -> dict[str, Any] | None:
    """Count the loss cycles in the measured part, over all replications.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replications : sequence of Replication
        Finished replications, at least one.

    Returns
    -------
    dict or None
        "fewest" and "most", the flows' complete cycles; "flow", which has the fewest; "equal", whether all cycles have
        the same length. `None` if no flow is an endless one of TCP.
    """
    endless = [position for position, flow in enumerate(resolved.rows) if flow.is_endless]
    if not endless:
        return None
    totals = _total_cycles(resolved, replications)[endless]
    return {
        "fewest": float(totals.min()),
        "most": float(totals.max()),
        "flow": resolved.rows[endless[int(totals.argmin())]].name,
        "equal": are_equal(resolved, replications),
    }


def _total_cycles(resolved: Resolved, replications: Sequence[Replication]) -> Values:
    counts = np.array([flow.count for flow in resolved.rows])
    tables = [loss_cycles(grouped(one["flows"], resolved.rows), counts) for one in replications]
    return np.asarray(np.sum(tables, axis=0))


def cycle_warnings(
    resolved: Resolved, replications: Sequence[Replication], flows: Sequence[dict[str, Any]]
) -> Iterator[str]:
    """Say where the measured part holds too little of what it averages over, and how long it must be.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replications : sequence of Replication
        Finished replications, at least one.
    flows : sequence of dict
        The summary's rows.

    Yields
    ------
    str
        One warning for all endless flows that deliver something in fewer than ten loss cycles, one for those that lost
        nothing, and one for each source of fewer than a hundred transfers, the copies of one together.
    """
    totals = _total_cycles(resolved, replications)
    tables = [recoveries_begun(grouped(one["flows"], resolved.rows)) for one in replications]
    begun = np.sum(tables, axis=0)
    few, growing = [], []
    for position, (flow, row) in enumerate(zip(resolved.rows, flows, strict=True)):
        delivers = bool((row["goodput_bps"] or {}).get("mean"))
        if not flow.is_endless or not delivers or totals[position] >= FEWEST_CYCLES:
            continue
        if begun[position] > 0.0:
            few.append((float(totals[position]), float(begun[position]) / flow.count, flow))
        elif _grows(resolved, flow, row):
            growing.append(flow)
    yield from _few(resolved, few, len(replications))
    yield from _growing(resolved, growing)
    yield from _few_transfers(resolved, replications)


def _few(resolved: Resolved, few: list[tuple[float, float, ResolvedFlow]], finished: int) -> Iterator[str]:
    if not few:
        return
    cycles, begun, flow = min(few, key=lambda one: one[1])
    needed = _needed(resolved, (FEWEST_CYCLES + finished) / begun)
    others = f" ({plural(len(few), 'flow')} fewer than {FEWEST_CYCLES})" if len(few) > 1 else ""
    runs = " of all replications" if finished > 1 else ""
    yield (
        f"the measured part{runs} holds {plural(int(cycles), 'complete loss cycle')} of {flow.name}{others}: long-run "
        f"means can be far from these; {FEWEST_CYCLES} need run.duration of about {needed}"
    )


def _growing(resolved: Resolved, growing: list[ResolvedFlow]) -> Iterator[str]:
    if not growing:
        return
    who, their = (
        (growing[0].name, "its window") if len(growing) == 1 else (plural(len(growing), "flow"), "their windows")
    )
    yield (
        f"{who} detected no loss in the measured part and {their} still grew: the cycle of losses has not begun, and "
        f"long-run means can be far from these; raise run.duration to {_needed(resolved, FEWEST_CYCLES)} or more"
    )


def _grows(resolved: Resolved, flow: ResolvedFlow, row: dict[str, Any]) -> bool:
    """Return whether a flow without a loss has a window that grows until one, which can happen on its path."""
    tcp = flow.connection
    largest, mean = row["cwnd_max_packets"], row["cwnd_mean_packets"]
    if tcp is None or not tcp.sender.grows_until_loss or largest is None or mean is None or not mean["mean"]:
        return False
    if (row["marked_fraction"] or {}).get("mean"):
        # Marks came in place of losses.
        return False
    limit = tcp.sender.max_window
    if limit is not None and largest["mean"] >= _WINDOW_REACHED * limit:
        return False
    rate, trip = ((row[key] or {}).get("mean") or 0.0 for key in ("goodput_bps", "rtt_mean_s"))
    in_flight = rate * trip / flow.packet_bits
    if first_buffer_limit(flow, in_flight, mean["mean"]) is not None or is_filled(flow, in_flight, 0.0):
        return False
    path = [(index, resolved.elements[index]) for index in flow.crossed]
    can_lose = any(link.loss is not None or link.queue.drops_early or overflows(resolved, at) for at, link in path)
    return can_lose and largest["mean"] > mean["mean"] * (1.0 + 1e-9)


def _few_transfers(resolved: Resolved, replications: Sequence[Replication]) -> Iterator[str]:
    groups = zip(*(one.get("transfers", ()) for one in replications), strict=True)
    found = [
        (resolved.flows[tables[0]["entry"]].name, sum(int(table["classes"]["transfers"].sum()) for table in tables))
        for tables in groups
    ]
    few = by_table([one for one in found if one[1] < FEWEST_TRANSFERS], lambda one: one[0])
    for name, copies in few.items():
        counts = [transfers for _, transfers in copies]
        fewest, most = min(counts), max(counts)
        number = plural(most, "transfer") if fewest == most else f"{fewest} to {plural(most, 'transfer')}"
        whose = copies[0][0] if len(copies) == 1 else f"each of {len(copies)} copies of {name}"
        needed = _needed(resolved, FEWEST_TRANSFERS / max(fewest, 1))
        yield (
            f"{number} of {whose} ended in the measured part: their means are of few; {FEWEST_TRANSFERS} need "
            f"run.duration of about {needed}"
        )


def _needed(resolved: Resolved, factor: float) -> str:
    """Return the duration, in words, of a measured part that is longer by a factor."""
    run = resolved.run
    exact = run.warmup_s + factor * run.measured_s
    digits = 10.0 ** (np.floor(np.log10(exact)) - 1.0)
    return seconds(float(np.ceil(exact / digits) * digits))


def cycles_text(found: dict[str, Any] | None) -> str:
    """Write the number of loss cycles for the line under the title; empty if no flow has any."""
    if found is None or found["most"] == 0.0:
        return ""
    fewest, most = int(found["fewest"]), int(found["most"])
    equal = " of equal length" if found["equal"] else ""
    if fewest == most:
        return f"{plural(most, 'loss cycle')}{equal}; "
    return f"{fewest} to {plural(most, 'loss cycle')} a flow{equal}; "
