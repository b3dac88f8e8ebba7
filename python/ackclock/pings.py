"""Round trips and losses of pings, as `ping` prints them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ackclock.histograms import percentiles
from ackclock.pooled import extreme_estimate, percentile_estimates, pool
from ackclock.quantities import PERCENTILES, PING_QUANTITIES
from ackclock.replication import Replication
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.stats import Estimate, estimates_of_rows, ratio

Values = NDArray[np.float64]


def ping_groups(resolved: Resolved) -> list[ResolvedFlow]:
    """List the [[flow]] that ping, in order: each has a row."""
    return [flow for flow in resolved.flows if flow.kind == "ping"]


def ping_values(resolved: Resolved, replication: Replication) -> dict[str, Values]:
    """Compute the quantities of one replication: by name an array over `ping_groups`.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replication : Replication
        A finished replication.

    Returns
    -------
    dict of str to array
        `ackclock.quantities.PING_QUANTITIES`, of the pings that were sent from warm-up to the end; nan if nothing was
        measured.
    """
    if not ping_groups(resolved):
        return {name: np.array([]) for name in PING_QUANTITIES}
    tables = replication["pings"]
    pings, histograms = tables["groups"], tables["round_trips"]
    sent, answered, lost = (pings[name].astype(float) for name in ("sent", "answered", "lost"))
    mean = ratio(pings["rtt_sum_s"], answered)
    longest = np.where(answered > 0.0, pings["rtt_max_s"], np.nan)
    ranks = [percentiles(histograms, row, float(longest[row]), list(PERCENTILES.values())) for row in range(len(sent))]
    # The ends are exact, and percentiles are of buckets.
    between = np.clip(np.array(ranks).T, pings["rtt_min_s"].astype(float), longest)
    middle = dict(zip(("rtt_p50_s", "rtt_p95_s", "rtt_p99_s"), between, strict=True))
    found = {
        "sent": sent,
        "answered": answered,
        "lost": lost,
        "loss_fraction": ratio(lost, answered + lost),
        "rtt_min_s": pings["rtt_min_s"].astype(float),
        "rtt_mean_s": mean,
        **middle,
        "rtt_max_s": longest,
        # As ping: the square root of the mean of the squares less the square of the mean.
        "rtt_mdev_s": np.sqrt(np.maximum(ratio(pings["rtt_square_sum_s2"], answered) - mean**2, 0.0)),
    }
    return {name: found[name] for name in PING_QUANTITIES}


def ping_rows(resolved: Resolved, replications: Sequence[Replication]) -> list[dict[str, Any]]:
    """Compute the quantities of each [[flow]] that pings over the replications.

    Counts, the mean and `mdev` are means over the replications; percentiles, the shortest and the longest round trip
    are of all pings together.
    """
    groups = ping_groups(resolved)
    if not groups:
        return []
    tables = [ping_values(resolved, one) for one in replications]
    confidence, exact = resolved.run.confidence, resolved.is_deterministic
    rows = estimates_of_rows(tables, PING_QUANTITIES, confidence, exact=exact)
    return [
        {"name": flow.name, "flows": flow.count, **row, **pooled_pings(resolved, replications, tables, [number])}
        for number, (flow, row) in enumerate(zip(groups, rows, strict=True))
    ]


def pooled_pings(
    resolved: Resolved,
    replications: Sequence[Replication],
    values: Sequence[Mapping[str, Values]],
    numbers: Sequence[int],
) -> dict[str, Estimate]:
    """Compute percentiles, the shortest and the longest of all round trips together, of some groups.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replications : sequence of Replication
        Finished replications.
    values : sequence of mapping of str to array
        `ping_values` of each.
    numbers : sequence of int
        Indices of `ping_groups`.

    Returns
    -------
    dict of str to Estimate
        By quantity: the percentiles with their intervals, the shortest and the longest without one.
    """
    confidence, exact = resolved.run.confidence, resolved.is_deterministic
    least = np.array([np.fmin.reduce(value["rtt_min_s"][list(numbers)]) for value in values])
    longest = np.array([np.fmax.reduce(value["rtt_max_s"][list(numbers)]) for value in values])
    ends = float(np.fmin.reduce(least)), float(np.fmax.reduce(longest))
    pooled = pool([one["pings"]["round_trips"] for one in replications], numbers, *ends)
    return {
        "rtt_min_s": extreme_estimate(least, ends[0], exact=exact),
        **percentile_estimates(pooled, "rtt", "_s", confidence, exact=exact),
        "rtt_max_s": extreme_estimate(longest, ends[1], exact=exact),
    }
