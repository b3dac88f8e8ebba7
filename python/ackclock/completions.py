"""Completion times of transfers: of flows with a size, and of web sources."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ackclock.groups import by_table
from ackclock.histograms import percentiles, rank_of
from ackclock.pooled import Pooled, extreme_estimate, percentile_estimate, percentile_estimates, pool, values_needed
from ackclock.quantities import COMPLETION_QUANTITIES, PERCENTILES
from ackclock.replication import Columns, Replication
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.scenario.copies import described_name
from ackclock.stats import Estimate, estimates_of_rows
from ackclock.wording import percent, plural, seconds

if TYPE_CHECKING:
    import pandas as pd

COMPLETION_TIMES: Final = "completion_times"
"""Name of the frame of distributions."""
_KINDS: Final = {"fct": "delivered", "fct_acked": "acked", "slowdown": "slowdown"}
"""The engine's table of each kind of quantity."""
_CHANGED: Final = 0.02
"""Relative change of a percentile, by transfers that have not finished, from which the reader is warned."""

Values = NDArray[np.float64]


def completion_groups(resolved: Resolved) -> list[ResolvedFlow]:
    """List the [[flow]] of transfers, in order: each has a row of completion times."""
    return [flow for flow in resolved.flows if flow.has_transfers]


def completion_values(resolved: Resolved, replication: Replication) -> dict[str, Values]:
    """Compute the quantities of one replication: by name an array over `completion_groups`.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replication : Replication
        A finished replication.

    Returns
    -------
    dict of str to array
        `ackclock.quantities.COMPLETION_QUANTITIES`; nan if no transfer has finished, or if the result is of an engine
        that did not count completion times.
    """
    groups = completion_groups(resolved)
    tables = replication.get("completions")
    if tables is None:
        return {name: np.full(len(groups), np.nan) for name in COMPLETION_QUANTITIES}
    rows = [_group_values(resolved, replication, tables, number, flow) for number, flow in enumerate(groups)]
    return {name: np.array([row[name] for row in rows], dtype=float) for name in COMPLETION_QUANTITIES}


def completion_rows(resolved: Resolved, replications: Sequence[Replication]) -> list[dict[str, Any]]:
    """Compute the quantities of each [[flow]] of transfers over the replications.

    Means and counts are means over the replications, percentiles and the longest are of all transfers together.
    """
    groups = completion_groups(resolved)
    if not groups or not all("completions" in one for one in replications):
        return []
    tables = [completion_values(resolved, one) for one in replications]
    confidence, exact = resolved.run.confidence, resolved.is_deterministic
    rows = estimates_of_rows(tables, COMPLETION_QUANTITIES, confidence, exact=exact)
    return [
        {"name": flow.name, "flows": flow.count, **row, **pooled_completions(resolved, replications, tables, [number])}
        for number, (flow, row) in enumerate(zip(groups, rows, strict=True))
    ]


def pooled_completions(
    resolved: Resolved,
    replications: Sequence[Replication],
    values: Sequence[Mapping[str, Values]],
    numbers: Sequence[int],
) -> dict[str, Estimate]:
    """Compute percentiles and the longest of all transfers together, of some groups and of all replications.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replications : sequence of Replication
        Finished replications that counted completion times.
    values : sequence of mapping of str to array
        `completion_values` of each.
    numbers : sequence of int
        Indices of `completion_groups`.

    Returns
    -------
    dict of str to Estimate
        By quantity: the percentiles with their intervals, and the longest without one.
    """
    confidence, exact = resolved.run.confidence, resolved.is_deterministic
    found: dict[str, Estimate] = {}
    for kind in _KINDS:
        unit, extremes = _unit(kind), _longest_of_each(values, kind, numbers)
        pooled = _pooled(replications, kind, numbers, extremes)
        found |= percentile_estimates(pooled, kind, unit, confidence, exact=exact)
        found[f"{kind}_max{unit}"] = extreme_estimate(extremes, pooled.longest, exact=exact)
    return found


def _longest_of_each(values: Sequence[Mapping[str, Values]], kind: str, numbers: Sequence[int]) -> Values:
    """Collect the longest of some groups in each replication, nan of those without any."""
    return np.array([np.fmax.reduce(value[f"{kind}_max{_unit(kind)}"][list(numbers)]) for value in values])


def _pooled(replications: Sequence[Replication], kind: str, numbers: Sequence[int], longest: Values) -> Pooled:
    return pool(
        [one["completions"][_KINDS[kind]] for one in replications], numbers, 0.0, float(np.fmax.reduce(longest))
    )


def _unit(kind: str) -> str:
    return "" if kind == "slowdown" else "_s"


def completion_frame(resolved: Resolved, replications: Sequence[Replication]) -> "dict[str, pd.DataFrame]":
    """Collect the distributions of completion times.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replications : sequence of Replication
        Finished replications.

    Returns
    -------
    dict of str to DataFrame
        Nothing where no transfer has finished. Else "completion_times": `replication`, `flow` (the [[flow]]),
        `quantity` ("fct", "fct_acked" or "slowdown"), `low` and `high` (the ends of a bucket [s], of slowdowns [1]),
        `count` (the transfers in it).
    """
    import pandas as pd  # noqa: PLC0415  half a second that a look at a scenario does not need

    groups = completion_groups(resolved)
    names, kinds = pd.Index([flow.name for flow in groups]), pd.Index(list(_KINDS))
    parts = []
    for one in replications:
        for code, table in enumerate(one.get("completions", {}).get(kind, {}) for kind in _KINDS.values()):
            if table and len(table["row"]):
                length = len(table["row"])
                frame = {
                    "replication": np.full(length, one["replication"], np.uint32),
                    "flow": pd.Categorical.from_codes(table["row"].astype(np.int64), categories=names),
                    "quantity": pd.Categorical.from_codes([code] * length, categories=kinds),
                    "low": table["low_s"],
                    "high": table["high_s"],
                    "count": table["count"],
                }
                parts.append(pd.DataFrame(frame))
    return {COMPLETION_TIMES: pd.concat(parts, ignore_index=True)} if parts else {}


def completion_warnings(resolved: Resolved, replications: Sequence[Replication]) -> Iterator[str]:
    """Say where transfers that did not finish would change the percentiles.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replications : sequence of Replication
        Finished replications.

    Yields
    ------
    str
        A warning for each [[flow]] whose 95th percentile of completion times has no interval though several runs
        differ; and for each whose 95th percentile would grow by 2% or more, were those that did not finish the longest
        of all.
    """
    measured = [one for one in replications if "completions" in one]
    if not measured:
        return
    values = [completion_values(resolved, one) for one in measured]
    confidence, exact = resolved.run.confidence, resolved.is_deterministic
    unknown, late = [], []
    for number, flow in enumerate(completion_groups(resolved)):
        unfinished = sum(float(value["unfinished"][number]) for value in values)
        pooled = _pooled(measured, "fct", [number], _longest_of_each(values, "fct", [number]))
        if not pooled.total:
            continue
        p95 = percentile_estimate(pooled, 0.95, confidence, exact=exact)
        known_s, least_s = float(p95["mean"] or 0.0), _with_unfinished_s(pooled, int(unfinished))
        differ = pooled.longest > (1.0 + _CHANGED) * pooled.of_rank(1)
        if p95["low"] is None and p95["n"] > 1 and differ:
            unknown.append((flow.name, pooled.total))
        if least_s > (1.0 + _CHANGED) * known_s:
            share = unfinished / (pooled.total + unfinished)
            late.append(_Late(flow.name, unfinished, share, known_s, least_s))
    for copies in by_table(unknown, lambda one: one[0]).values():
        yield _open_text(copies, values_needed(0.95, confidence))
    yield from map(_late_text, by_table(late, lambda one: one.name).values())


def _open_text(copies: Sequence[tuple[str, int]], needed: int) -> str:
    """Say that a percentile has no interval, of the copy with the fewest transfers."""
    name, total = min(copies, key=lambda one: one[1])
    of = name if len(copies) == 1 else f"{len(copies)} copies of {described_name(name)}, such as {name},"
    why = "the runs differ too much; raise run.replications"
    if total < needed:
        why = f"{plural(total, 'transfer')} in all runs are too few, {needed} are the least"
    return f"the 95th percentile of the completion times of {of} has no interval, it may be above the longest: {why}"


@dataclass(frozen=True)
class _Late:
    """The transfers of a [[flow]] that did not finish, and the 95th percentile without and with them [s]."""

    name: str
    unfinished: float
    share: float
    known_s: float
    least_s: float


def _late_text(copies: Sequence[_Late]) -> str:
    worst = max(copies, key=lambda one: one.least_s / one.known_s)
    limit = "more than all that finished" if np.isinf(worst.least_s) else f"{seconds(worst.least_s)} or more"
    transfers = plural(sum(one.unfinished for one in copies), "transfer")
    if len(copies) == 1:
        return (
            f"{transfers} of {worst.name} ({percent(worst.share)}) did not finish: with them the 95th percentile of "
            f"completion times is {limit}, not {seconds(worst.known_s)}"
        )
    return (
        f"{transfers} of {len(copies)} copies of {described_name(worst.name)} did not finish: with them the 95th "
        f"percentile of completion times is larger, most in {worst.name}: {limit}, not {seconds(worst.known_s)}"
    )


def _with_unfinished_s(pooled: Pooled, unfinished: int) -> float:
    """Compute the 95th percentile of all transfers if those that did not finish take the longest [s]."""
    rank = rank_of(0.95, pooled.total + unfinished)
    return pooled.of_rank(rank) if rank <= pooled.total else np.inf


def _group_values(
    resolved: Resolved, replication: Replication, tables: dict[str, Columns], number: int, flow: ResolvedFlow
) -> dict[str, float]:
    flows, own = replication["flows"], _rows_of(resolved, flow)
    completed = float(flows["completed"][own].sum())
    sums = {
        "fct_mean_s": "completion_sum_s",
        "fct_acked_mean_s": "completion_acked_sum_s",
        "slowdown_mean": "slowdown_sum",
    }
    means = {
        name: float(flows[key][own].sum()) / completed if completed > 0.0 else float("nan")
        for name, key in sums.items()
    }
    found = {"transfers": completed, "unfinished": _unfinished(replication, flow, resolved, own), **means}
    for kind, table in _KINDS.items():
        unit = _unit(kind)
        longest = float(tables["groups"][f"{table}_max{unit}"][number])
        found[f"{kind}_max{unit}"] = longest if len(tables[table]["row"]) and completed > 0.0 else float("nan")
        ranks = percentiles(tables[table], number, longest, list(PERCENTILES.values()))
        found |= {f"{kind}_{name}{unit}": value for name, value in zip(PERCENTILES, ranks, strict=True)}
    return found


def _unfinished(replication: Replication, flow: ResolvedFlow, resolved: Resolved, own: list[int]) -> float:
    if flow.kind == "web":
        entry = resolved.flows.index(flow)
        source = next(table for table in replication.get("transfers", ()) if table["entry"] == entry)
        return float(source["started"] - source["completed"])
    return float(replication["flows"]["unfinished"][own].sum())


def _rows_of(resolved: Resolved, flow: ResolvedFlow) -> list[int]:
    """Give the rows of the flows' table that a [[flow]] has."""
    names = {flow.name} if flow.is_large_group else set(flow.names)
    return [place for place, row in enumerate(resolved.rows) if row.name in names]
