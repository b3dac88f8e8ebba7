"""Run until the interval of a quantity is narrow enough: `run.precision` of a scenario."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ackclock.batches import intervals, is_exact, residuals
from ackclock.replication import Replication
from ackclock.scenario import Resolved
from ackclock.scenario.resolved import PrecisionSettings
from ackclock.stats import estimate
from ackclock.summary import quantity_places, quantity_values, replication_values
from ackclock.wording import half_width, plural, seconds


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
    """Compute half the interval of the wanted quantity over its mean [1].

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    replications : sequence of Replication
        Finished replications.

    Returns
    -------
    float or None
        `None` if no precision is wanted, if there are too few values for an interval, or if their mean is 0 and they
        differ.
    """
    wanted = resolved.run.precision
    if wanted is None:
        return None
    if len(replications) == 1:
        return _within_one_run(resolved, replications[0], wanted)
    values = [
        float(np.mean(quantity_values(resolved, one, wanted.element, wanted.name, wanted.quantity)))
        for one in replications
    ]
    found = estimate(values, resolved.run.confidence, exact=resolved.is_deterministic)
    if found["mean"] is None or found["low"] is None or found["high"] is None:
        return None
    half = (found["high"] - found["low"]) / 2.0
    if half == 0.0:
        return 0.0
    return half / abs(found["mean"]) if found["mean"] else None


def _within_one_run(resolved: Resolved, run: Replication, wanted: PrecisionSettings) -> float | None:
    """Compute half the interval by batch means of the mean over what is wanted, over that mean [1]."""
    if is_exact(resolved):
        return 0.0
    chosen = quantity_places(resolved, wanted.element, wanted.name)
    values = replication_values(resolved, run)[wanted.element][wanted.quantity]
    deviations = residuals(run, wanted.element, wanted.quantity, values)
    if deviations is None:
        return None
    mean = values[chosen].mean(keepdims=True)
    halves, counts = intervals(resolved, run, deviations[chosen].mean(axis=0, keepdims=True), mean)
    return float(halves[0] / abs(mean[0])) if counts[0] and mean[0] else None


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
