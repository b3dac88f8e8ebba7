"""Run until the interval of a quantity is narrow enough: `run.precision` of a scenario."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ackclock.replication import Replication, ResolvedDict, is_deterministic
from ackclock.stats import estimate
from ackclock.summary import quantity_values
from ackclock.wording import plural


def further_replications(resolved: ResolvedDict, replications: Sequence[Replication]) -> int:
    """Count the replications to run next.

    Parameters
    ----------
    resolved : mapping
        The scenario.
    replications : sequence of Replication
        All that are finished so far.

    Returns
    -------
    int
        0 where no more are due. It depends on nothing but the scenario and the replications, so it is the same for any
        number of threads.
    """
    wanted = resolved["run"].get("precision")
    finished = len(replications)
    if finished == 0:
        return first_replications(resolved)
    if wanted is None or is_deterministic(resolved) or finished >= wanted["most"] or is_met(resolved, replications):
        return 0
    return int(min(wanted["batch"], wanted["most"] - finished))


def first_replications(resolved: ResolvedDict) -> int:
    """Count the replications that run in any case: one where nothing is random."""
    if is_deterministic(resolved):
        return 1
    run = resolved["run"]
    wanted = run.get("precision")
    return int(
        run["replications"] if wanted is None else min(max(run["replications"], wanted["batch"]), wanted["most"])
    )


def most_replications(resolved: ResolvedDict) -> int:
    """Count the replications that may run at most."""
    wanted = resolved["run"].get("precision")
    return first_replications(resolved) if wanted is None or is_deterministic(resolved) else int(wanted["most"])


def is_met(resolved: ResolvedDict, replications: Sequence[Replication]) -> bool:
    """Whether the interval of the wanted quantity is narrow enough."""
    reached = relative_half_width(resolved, replications)
    return reached is not None and reached <= resolved["run"]["precision"]["within"]


def relative_half_width(resolved: ResolvedDict, replications: Sequence[Replication]) -> float | None:
    """Compute half the interval of the wanted quantity over its mean [1].

    Parameters
    ----------
    resolved : mapping
        The scenario; it has a `run.precision`.
    replications : sequence of Replication
        Finished replications.

    Returns
    -------
    float or None
        None where there are too few values for an interval, or their mean is 0 and they differ.
    """
    wanted = resolved["run"]["precision"]
    values = [
        float(np.mean(quantity_values(resolved, one, wanted["element"], wanted["name"], wanted["quantity"])))
        for one in replications
    ]
    found = estimate(values, float(resolved["run"]["confidence"]), exact=is_deterministic(resolved))
    if found["mean"] is None or found["low"] is None or found["high"] is None:
        return None
    half = (found["high"] - found["low"]) / 2.0
    if half == 0.0:
        return 0.0
    return half / abs(found["mean"]) if found["mean"] else None


def precision_summary(resolved: ResolvedDict, replications: Sequence[Replication]) -> dict[str, Any] | None:
    """Say which precision was wanted and which was reached; None where none was wanted."""
    wanted = resolved["run"].get("precision")
    if wanted is None:
        return None
    return {
        "quantity": f"{wanted['element']}.{wanted['name']}.{wanted['quantity']}",
        "within": wanted["within"],
        "reached": relative_half_width(resolved, replications),
        "most": wanted["most"],
    }


def is_short(found: Mapping[str, Any]) -> bool:
    """Whether what `precision_summary` says falls short of what was wanted."""
    return found["reached"] is None or found["reached"] > found["within"]


def precision_warnings(found: Mapping[str, Any] | None, finished: int) -> Iterator[str]:
    """Say where the wanted precision was not reached."""
    if found is not None and is_short(found):
        known = "is not known" if found["reached"] is None else f"is known to ±{_percent(found['reached'])} only"
        after = f"after {plural(finished, 'replication')}"
        hint = "; raise run.precision.most or run.duration" if finished >= found["most"] else ""
        yield f"{found['quantity']} {known} {after}, ±{_percent(found['within'])} was wanted{hint}"


def _percent(share: float) -> str:
    return f"{100 * share:.2g}%" if math.isfinite(share) else "?"
