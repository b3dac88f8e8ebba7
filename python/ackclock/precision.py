"""Run until the interval of a quantity is narrow enough: `run.precision` of a scenario."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ackclock.batches import intervals, is_exact, residuals
from ackclock.completions import pooled_completions
from ackclock.pings import pooled_pings
from ackclock.quantities import bucket_error, is_pooled
from ackclock.replication import Replication
from ackclock.scenario import Resolved
from ackclock.scenario.resolved import ALL_FLOWS, PrecisionSettings
from ackclock.stats import Estimate, estimates
from ackclock.summary import quantity_places, replication_values
from ackclock.wording import half_width, plural, seconds

_POOLED: Final = {"completion": pooled_completions, "ping": pooled_pings}


def further_replications(resolved: Resolved, replications: Sequence[Replication]) -> int:
    """Count the replications to run next.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    replications : sequence of Replication
        All that are finished so far.

    Returns
    -------
    int
        The number; 0 if no more are needed. It depends on the scenario and the replications alone, so it is the same
        for any number of threads.
    """
    wanted = resolved.run.precision
    finished = len(replications)
    if finished == 0:
        return first_replications(resolved)
    if (
        wanted is None
        or resolved.is_deterministic
        or wanted.longest_s is not None
        or finished >= wanted.most
        or is_met(resolved, replications)
    ):
        return 0
    return min(wanted.batch, wanted.most - finished)


def first_replications(resolved: Resolved) -> int:
    """Count the replications that run in any case: one where nothing is random."""
    wanted, asked = resolved.run.precision, resolved.run.replications
    if resolved.is_deterministic or (wanted is not None and wanted.longest_s is not None):
        return 1
    return asked if wanted is None else min(max(asked, wanted.batch), wanted.most)


def expected_replications(resolved: Resolved, replications: Sequence[Replication]) -> int:
    """Estimate how many replications there will be in all, as an interval narrows with the square root of their number.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    replications : sequence of Replication
        All that are finished so far.

    Returns
    -------
    int
        The number; the largest allowed one as long as the interval is not known.
    """
    wanted, finished = resolved.run.precision, len(replications)
    if wanted is None or resolved.is_deterministic or wanted.longest_s is not None:
        return first_replications(resolved)
    reached = relative_half_width(resolved, replications) if finished > 1 else None
    if reached is None:
        return wanted.most
    more = math.ceil(finished * ((reached / wanted.within) ** 2 - 1.0) / wanted.batch)
    return min(wanted.most, finished + max(0, more) * wanted.batch)


def longer(resolved: Resolved, replications: Sequence[Replication]) -> Resolved | None:
    """Give the scenario of a run twice as long, at most the longest, if the precision asks for one.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replications : sequence of Replication
        What finished of it.

    Returns
    -------
    Resolved or None
        `None` if the run was precise enough or the longest, or if only replications may be added.
    """
    run = resolved.run
    longest_s = None if run.precision is None else run.precision.longest_s
    if longest_s is None or not replications or run.duration_s >= longest_s or is_met(resolved, replications):
        return None
    return replace(resolved, run=replace(run, duration_s=min(2.0 * run.duration_s, longest_s)))


def is_met(resolved: Resolved, replications: Sequence[Replication]) -> bool:
    """Return whether the interval of the wanted quantity is narrow enough."""
    wanted = resolved.run.precision
    reached = relative_half_width(resolved, replications)
    return wanted is not None and reached is not None and reached <= wanted.within


def relative_half_width(resolved: Resolved, replications: Sequence[Replication]) -> float | None:
    """Compute half the interval of the wanted quantity over its mean [1]; of all flows, that of the least known one.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    replications : sequence of Replication
        Finished replications.

    Returns
    -------
    float or None
        `None` if no precision is wanted, or if of any mean there are too few values for an interval, or it is 0 and
        they differ.
    """
    wanted = resolved.run.precision
    if wanted is None:
        return None
    find = _within_one_run if len(replications) == 1 else _of_replications
    reached = find(resolved, replications, wanted) if replications else []
    known = [one for one in reached if one is not None]
    return max(known) if known and len(known) == len(reached) else None


def _means(resolved: Resolved, wanted: PrecisionSettings, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give what shall be known of rows: the mean over those of a name; of all flows each one its own.

    The mean over all flows of a full link is known long before the share of any of them.
    """
    chosen = rows[quantity_places(resolved, wanted.element, wanted.name)]
    return chosen if wanted.name == ALL_FLOWS else np.asarray(chosen.mean(axis=0, keepdims=True))


def _of_replications(
    resolved: Resolved, replications: Sequence[Replication], wanted: PrecisionSettings
) -> list[float | None]:
    """Compute half the interval of each quantity over all replications, over it [1]."""
    if is_pooled(wanted.element, wanted.quantity):
        places = quantity_places(resolved, wanted.element, wanted.name)
        values = [replication_values(resolved, one)[wanted.element] for one in replications]
        return [_relative(_POOLED[wanted.element](resolved, replications, values, places)[wanted.quantity])]
    tables = [replication_values(resolved, one)[wanted.element][wanted.quantity] for one in replications]
    means = np.stack([_means(resolved, wanted, table) for table in tables])
    found = estimates(
        means, resolved.run.confidence, exact=resolved.is_deterministic, error=bucket_error(wanted.quantity)
    )
    return [_relative(one) for one in found]


def _relative(found: Estimate) -> float | None:
    if found["mean"] is None or found["low"] is None or found["high"] is None:
        return None
    return (found["high"] - found["low"]) / 2.0 / abs(found["mean"]) if found["mean"] else None


def _within_one_run(
    resolved: Resolved, replications: Sequence[Replication], wanted: PrecisionSettings
) -> list[float | None]:
    """Compute half the interval of each mean by batch means, over it [1]."""
    if is_exact(resolved):
        return [0.0]
    run = replications[0]
    values = replication_values(resolved, run)[wanted.element][wanted.quantity]
    deviations = residuals(run, wanted.element, wanted.quantity, values)
    if deviations is None:
        return [None]
    means = _means(resolved, wanted, values)
    halves, counts = intervals(resolved, run, _means(resolved, wanted, deviations), means)
    return [
        half / abs(mean) if count and mean else None
        for half, count, mean in zip(halves.tolist(), counts.tolist(), means.tolist(), strict=True)
    ]


def precision_summary(resolved: Resolved, replications: Sequence[Replication]) -> dict[str, Any] | None:
    """Return which precision was wanted and which was reached; `None` if none was wanted."""
    wanted = resolved.run.precision
    if wanted is None:
        return None
    return {
        "quantity": f"{wanted.element}.{wanted.name}.{wanted.quantity}",
        "within": wanted.within,
        "reached": relative_half_width(resolved, replications),
        "most": wanted.most,
        "longest_s": wanted.longest_s,
    }


def is_short(found: Mapping[str, Any]) -> bool:
    """Return whether the precision reached, by `precision_summary`, is worse than the one that was wanted."""
    return found["reached"] is None or found["reached"] > found["within"]


def precision_warnings(found: Mapping[str, Any] | None, finished: int) -> Iterator[str]:
    """Say where the wanted precision was not reached."""
    if found is not None and is_short(found):
        known = "is not known" if found["reached"] is None else f"is known to {half_width(found['reached'], 1.0)} only"
        after, hint = f"after {plural(finished, 'replication')}", ""
        if found.get("longest_s") is not None:
            after = f"after the longest run, {seconds(found['longest_s'])}"
            hint = "; raise run.precision.longest"
        elif finished >= found["most"]:
            hint = "; raise run.precision.most or run.duration"
        yield f"{found['quantity']} {known} {after}, {half_width(found['within'], 1.0)} was wanted{hint}"
