"""Completion times of transfers: of flows with a size, and of web sources."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ackclock.groups import by_table
from ackclock.histograms import merged, percentiles, rank_of
from ackclock.quantities import COMPLETION_QUANTITIES
from ackclock.replication import Columns, Replication
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.scenario.copies import described_name
from ackclock.stats import estimates_of_rows
from ackclock.wording import number as number_text
from ackclock.wording import percent, plural, seconds

if TYPE_CHECKING:
    import pandas as pd

COMPLETION_TIMES: Final = "completion_times"
"""Name of the frame of distributions."""
_FRACTIONS: Final = (0.5, 0.95, 0.99)
_KINDS: Final = {"fct": "delivered", "fct_acked": "acked", "slowdown": "slowdown"}
"""The engine's table of each kind of quantity."""
_FEWEST: Final = 20
"""Transfers of a run from which its 95th percentile is below its longest."""
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
    """Compute the quantities of each [[flow]] of transfers over the replications."""
    groups = completion_groups(resolved)
    if not groups or not all("completions" in one for one in replications):
        return []
    tables = [completion_values(resolved, one) for one in replications]
    confidence, exact = resolved.run.confidence, resolved.is_deterministic
    rows = estimates_of_rows(tables, COMPLETION_QUANTITIES, confidence, exact=exact)
    return [{"name": flow.name, "flows": flow.count, **row} for flow, row in zip(groups, rows, strict=True)]


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
        A warning for each [[flow]] of which runs have less than 20 transfers each, if its 95th percentile is another
        one over the transfers of all runs together; and for each whose 95th percentile of completion times, the mean
        over replications as in the table, would grow by 2% or more, were those that did not finish the longest of all.
    """
    measured = [one for one in replications if "completions" in one]
    values = [completion_values(resolved, one) for one in measured]
    yield from _few_in_a_run(resolved, measured, values)
    late = []
    for number, flow in enumerate(completion_groups(resolved)):
        finished = sum(float(value["transfers"][number]) for value in values)
        unfinished = sum(float(value["unfinished"][number]) for value in values)
        if finished == 0.0 or unfinished == 0.0:
            continue
        pairs = [
            _with_unfinished(one["completions"], value, number) for one, value in zip(measured, values, strict=True)
        ]
        known, least = (float(np.nanmean([pair[place] for pair in pairs])) for place in (0, 1))
        if least > (1.0 + _CHANGED) * known:
            late.append(_Late(flow.name, unfinished, unfinished / (finished + unfinished), known, least))
    yield from map(_late_text, by_table(late, lambda one: one.name).values())


def _few_in_a_run(
    resolved: Resolved, measured: Sequence[Replication], values: Sequence[dict[str, Values]]
) -> Iterator[str]:
    """Say where percentiles over the few transfers of each run are not those over the transfers of all together."""
    totals = np.sum([value["transfers"] for value in values], axis=0)
    some = (totals >= 2.0) & (totals < _FEWEST * len(values))
    if resolved.is_deterministic or not np.any(some):
        return
    few, together = [], merged([one["completions"]["delivered"] for one in measured])
    for number, flow in enumerate(completion_groups(resolved)):
        if not some[number]:
            continue
        total = float(totals[number])
        longest_s = float(np.nanmax([value["fct_max_s"][number] for value in values]))
        p95_s = percentiles(together, number, longest_s, [0.95])[0]
        shown_s = float(np.nanmean([value["fct_p95_s"][number] for value in values]))
        if abs(p95_s - shown_s) > _CHANGED * p95_s:
            few.append((flow.name, total, p95_s, longest_s))
    for copies in by_table(few, lambda one: one[0]).values():
        name, total, p95_s, longest_s = max(copies, key=lambda one: one[-1])
        yield (
            f"a run has only {number_text(total / len(values))} of {name}'s transfers: percentiles and the longest in "
            f"the table are means over {len(values)} runs of each run's own; of all {plural(total, 'transfer')} "
            f"together 95% took at most {seconds(p95_s)}, the longest {seconds(longest_s)} (frame {COMPLETION_TIMES})"
        )


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


def _with_unfinished(tables: dict[str, Columns], values: dict[str, Values], number: int) -> tuple[float, float]:
    """Compute the 95th percentile of those that finished, and of all if the others take the longest."""
    finished, unfinished = int(values["transfers"][number]), int(values["unfinished"][number])
    known = float(values["fct_p95_s"][number])
    if finished == 0:
        return known, np.inf if unfinished else np.nan
    rank = rank_of(0.95, finished + unfinished)
    if rank > finished:
        return known, np.inf
    return known, percentiles(tables["delivered"], number, float(values["fct_max_s"][number]), [rank / finished])[0]


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
        unit = "" if kind == "slowdown" else "_s"
        longest = float(tables["groups"][f"{table}_max{unit}"][number])
        found[f"{kind}_max{unit}"] = longest if len(tables[table]["row"]) and completed > 0.0 else float("nan")
        ranks = percentiles(tables[table], number, longest, _FRACTIONS)
        found |= {f"{kind}_p{100 * share:g}{unit}": value for share, value in zip(_FRACTIONS, ranks, strict=True)}
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
