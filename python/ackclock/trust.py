"""Words on how far the numbers of a run can be trusted: its intervals and its loss cycles."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ackclock.active import is_late
from ackclock.batches import interval_warnings
from ackclock.cycles import cycle_warnings, cycles_text
from ackclock.lockout import lockout_warnings, says_lockout
from ackclock.replication import Replication
from ackclock.scenario import Resolved
from ackclock.wording import plural, seconds


def trust_warnings(
    resolved: Resolved, replications: Sequence[Replication], flows: Sequence[dict[str, Any]]
) -> Iterator[str]:
    """Say what the run is too short for, and what its exact timing alone shows.

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
        Warnings, each with the length that is needed. That an interval is missing is said only where nothing else
        explains it.
    """
    yield from _over_before_warmup(resolved, replications)
    yield from _late_starts(resolved)
    yield from lockout_warnings(resolved, replications)
    found = list(cycle_warnings(resolved, replications, flows))
    yield from found or interval_warnings(resolved, replications, flows)


def _over_before_warmup(resolved: Resolved, replications: Sequence[Replication]) -> Iterator[str]:
    """Say that all flows are transfers that ended before the measured part began."""
    warmup_s = resolved.run.warmup_s
    if warmup_s > 0.0 and all(np.all(one["flows"]["finish_s"] <= warmup_s) for one in replications):
        yield (
            f"all transfers ended before run.warmup of {seconds(warmup_s)} did: what is said of links, drops and "
            "delays is of the time after it, in which nothing was sent; shorten run.warmup"
        )


def _late_starts(resolved: Resolved) -> Iterator[str]:
    """Say that means are of some time before the last flow started; parameters as of `trust_warnings`."""
    late = [flow for flow in resolved.rows if flow.is_endless and is_late(resolved, flow.start_s)]
    if late:
        last = max(late, key=lambda flow: flow.start_s)
        begin, start = seconds(resolved.run.warmup_s), seconds(last.start_s)
        yield (
            f"{last.name} starts at {start}, and means are of the time from {begin} on: what it sends is less in them, "
            f'and so is the use of its links; run.warmup = "{start}" leaves that time out'
        )


def replication_warnings(resolved: Resolved) -> Iterator[str]:
    """Say that replications were asked for where nothing is random; parameters as of `trust_warnings`."""
    asked = resolved.run.replications
    if asked > 1 and resolved.is_deterministic:
        yield (
            f"run.replications is {asked}, and one was run: nothing in the scenario is random, so that all would be "
            "the same; start_spread of a flow draws its start"
        )


def trust_text(summary: Mapping[str, Any], confidence: float) -> str:
    """Say what was run how often, what of it is exact, and what the intervals are.

    Parameters
    ----------
    summary : mapping
        The summary of a run; one of an older version may lack what its intervals are.
    confidence : float
        The intervals' probability [1].

    Returns
    -------
    str
        A part of a sentence.
    """
    runs, level = summary["replications"], f"{100 * confidence:g}%"
    kind = summary.get("intervals", "exact" if summary["deterministic"] else "replications" if runs > 1 else "none")
    cycles = cycles_text(summary.get("loss_cycles"))
    if kind == "exact":
        return f"nothing is random: one run is exact{_timing(summary)}"
    if summary["deterministic"]:
        known = f"± are {level} intervals by batch means"
        if kind == "none":
            known = "no interval of them is known"
        elif (summary.get("loss_cycles") or {}).get("equal", False):
            known = "± bound what a part of a cycle adds"
        timing = _timing(summary)
        return f"{cycles}nothing is random: the run is exact{timing}, its long-run means are not; {known}"
    by = {"batch means": " by batch means", "replications": ""}.get(kind)
    intervals = ", no intervals" if by is None else f", ± are {level} intervals{by}"
    return f"{cycles}{plural(runs, 'replication')}, seed {summary['seed']}{intervals}"


def _timing(summary: Mapping[str, Any]) -> str:
    """Say that what is exact is not what other networks show, where exact timing locks flows out."""
    return " (so is its timing, which locks flows out: see the warning)" if says_lockout(summary) else ""
