"""Intervals of the long-run means of one run, by batch means."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ackclock.cycles import are_equal
from ackclock.quantities import FLOW_DELAYS, LINK_DELAYS
from ackclock.replication import Replication
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.stats import student_t
from ackclock.wording import plural, seconds

Values = NDArray[np.float64]

BATCHES = 60
"""Batches of equal length that the engine counts in the measured part."""
COUNTS = (60, 30, 20, 15, 12, 10)
"""Numbers of batches that are tried, neighbours merged, until their means are uncorrelated."""
LONGER = 3.0
"""Least factor by which the measured part must grow if ten batches are still correlated: correlation falls about as
the length of a batch grows, and from 1 it must fall to a third."""
STEADY = 0.01
"""Relative deviation from the mean up to which ten batches show it, correlated or not."""
_CRITICAL = 1.2816
"""Quantile of the standard normal distribution that the test of correlation takes, one-sided at 10%."""

PARTS: Mapping[str, Mapping[str, tuple[str, str | None]]] = {
    "flow": {
        "throughput_bps": ("received_packets", None),
        "goodput_bps": ("delivered_packets", None),
        "loss_fraction": ("gone_packets", "sent_packets"),
        "retransmitted_fraction": ("retransmitted_packets", "sent_packets"),
        "cwnd_mean_packets": ("cwnd_area", None),
        "rtt_mean_s": ("rtt_sum_s", "rtt_samples"),
    },
    "link": {
        "utilisation_fraction": ("busy_s", None),
        "loss_fraction": ("gone_packets", "arrived_packets"),
        "throughput_bps": ("departed_bytes", None),
        "queue_mean_packets": ("queue_area_packet_s", None),
    },
}
"""Columns of a batch whose ratio is each long-run mean; without a second one it is an average over time. A
count or a largest queue is of this run alone."""


def is_exact(resolved: Resolved) -> bool:
    """Return whether one run says all: nothing is random, and every transfer has an end."""
    return resolved.is_deterministic and all(_ends(flow) for flow in resolved.rows)


def _ends(flow: ResolvedFlow) -> bool:
    return flow.kind == "tcp" and flow.size_packets is not None


def residuals(replication: Replication, element: str, quantity: str, values: Values) -> Values | None:
    """Compute how far each batch lies from the mean of the whole run.

    Parameters
    ----------
    replication : Replication
        The run.
    element : str
        "flow" or "link".
    quantity : str
        One of `ackclock.quantities`.
    values : array of float
        The quantity of each row over the whole run, in its unit.

    Returns
    -------
    array of float or None
        Rows by batches, in the unit of the quantity. `None` for a quantity without one, such as a largest queue, or if
        the engine counted no batches.

    Notes
    -----
    Of a ratio the residuals are those of the ratio estimator, linear in the deviations of both parts (Law, Kelton:
    Simulation Modeling and Analysis, section 9.5.3).
    """
    columns = replication.get("flow_batches") if element == "flow" else replication.get("link_batches")
    parts = PARTS.get(element, {}).get(quantity)
    if columns is None or parts is None:
        return None
    above = _column(columns, parts[0])
    below = np.ones_like(above) if parts[1] is None else _column(columns, parts[1])
    if quantity == "utilisation_fraction" and "offered_bits" in columns:
        # Where the rate changes, what was carried of what could have been, in place of the busy time.
        offered = _column(columns, "offered_bits")
        above = np.where(np.isnan(offered), above, _column(columns, "departed_bytes"))
        below = np.where(np.isnan(offered), below, offered)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = above / above.mean(axis=1, keepdims=True) - below / below.mean(axis=1, keepdims=True)
    none = above.sum(axis=1) == 0.0
    shares[none] = 0.0
    return np.asarray(values[:, np.newaxis] * shares)


def _column(columns: Mapping[str, Any], name: str) -> Values:
    if name == "gone_packets" and name not in columns:
        return _column(columns, "dropped_packets") + _column(columns, "lost_packets")
    return np.asarray(columns[name], dtype=float).reshape(-1, BATCHES)


def half_widths(deviations: Values, values: Values, confidence: float) -> tuple[Values, NDArray[np.int64]]:
    """Compute half the intervals of means from the deviations of their batches.

    Parameters
    ----------
    deviations : array of float
        Rows by `BATCHES` batches.
    values : array of float
        The mean of each row over the whole run.
    confidence : float
        Probability that the interval holds the long-run mean [1].

    Returns
    -------
    tuple of array of float and array of int
        Half the interval of each row, and the number of batches that it is made of. A row whose batches are still
        correlated when ten are left has nan and 0.

    Notes
    -----
    Neighbours are merged until the lag-1 correlation of the batch means, 1 - (von Neumann's ratio) / 2 as in Fishman
    (1978), Grouping observations in digital simulation, is not above what independent means show in nine of ten
    cases. The correlation that is left widens the interval as in Skart (Tafazzoli et al. 2011). Where the last ten
    are correlated, but none is farther from the mean than a hundredth of it, the farthest is taken.
    """
    rows = len(deviations)
    halves, counts = np.full(rows, np.nan), np.zeros(rows, dtype=np.int64)
    for count in COUNTS:
        means = deviations.reshape(rows, count, BATCHES // count).mean(axis=2)
        squares = ((means - means.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        steps = (np.diff(means, axis=1) ** 2).sum(axis=1)
        correlation = np.where(squares > 0.0, 1.0 - steps / (2.0 * np.where(squares > 0.0, squares, 1.0)), 0.0)
        passed = correlation <= _CRITICAL * np.sqrt((count - 2) / (count**2 - 1))
        new = passed & (counts == 0) & np.isfinite(squares)
        rest = np.maximum(correlation[new], 0.0)
        factor = student_t(confidence, count - 1) / np.sqrt(count * (count - 1))
        halves[new], counts[new] = factor * np.sqrt(squares[new] * (1.0 + rest) / (1.0 - rest)), count
    farthest = np.abs(means).max(axis=1)
    steady = (counts == 0) & (farthest <= STEADY * np.abs(values))
    halves[steady], counts[steady] = farthest[steady], count
    return halves, counts


def periodic_half_widths(deviations: Values) -> tuple[Values, NDArray[np.int64]]:
    """Bound the distance from the long-run mean of a run in which one cycle follows another of the same kind.

    Parameters
    ----------
    deviations : array of float
        Rows by `BATCHES` batches.

    Returns
    -------
    tuple of array of float and array of int
        As of `half_widths`.

    Notes
    -----
    All whole cycles have the long-run mean, so that the mean of the run differs by what a part of a cycle has too much,
    over the whole time. The range of the sums of the deviations from the beginning on is at least that.
    """
    sums = np.cumsum(deviations, axis=1)
    halves = (np.maximum(sums.max(axis=1), 0.0) - np.minimum(sums.min(axis=1), 0.0)) / BATCHES
    return halves, np.where(np.isfinite(halves), BATCHES, 0)


def add_intervals(
    resolved: Resolved, replications: Sequence[Replication], element: str, rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Replace the intervals in the rows of a summary by those of batch means, if there is one run only.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replications : sequence of Replication
        What finished.
    element : str
        "flow" or "link".
    rows : list of dict
        A row for each of `Resolved.rows`, or for each element, with quantities over the replications.

    Returns
    -------
    list of dict
        The same rows. Where throughput, or a link's utilisation, has no interval, nothing has one. Counts keep
        what they have, and so does all of transfers with an end.
    """
    if len(replications) != 1 or is_exact(resolved):
        return rows
    if element == "flow":
        steady = np.array([not _ends(flow) for flow in resolved.rows])
    else:
        steady = np.full(len(rows), not all(_ends(flow) for flow in resolved.rows))
    quantities = list(PARTS[element])
    found = [[row[quantity] for row in rows] for quantity in quantities]
    values = np.array([[_mean_of(one) for one in of_one] for of_one in found])
    deviations = [residuals(replications[0], element, *one) for one in zip(quantities, values, strict=True)]
    halves, counts = intervals(resolved, replications[0], _joined(deviations), values.ravel())
    halves, counts = halves.reshape(values.shape), counts.reshape(values.shape)
    # Throughput or utilisation comes first: a row without their interval has no other.
    counts = np.where(counts[0] > 0, counts, 0)
    for of_one, half_of_one, count_of_one in zip(found, halves, counts, strict=True):
        for one, half, count, chosen in zip(of_one, half_of_one.tolist(), count_of_one.tolist(), steady, strict=True):
            if one is not None and one["mean"] is not None and chosen:
                one["low"], one["high"] = (one["mean"] - half, one["mean"] + half) if count else (None, None)
                one["batches"] = count
    _remove_unknown_intervals(element, rows, steady)
    return rows


def _joined(deviations: Sequence[Values | None]) -> Values | None:
    """Put the rows of all quantities below one another; nan for a quantity without, `None` if none has any."""
    known = next((one for one in deviations if one is not None), None)
    if known is None:
        return None
    return np.concatenate([np.full_like(known, np.nan) if one is None else one for one in deviations])


def _mean_of(one: dict[str, Any] | None) -> float:
    return np.nan if one is None or one["mean"] is None else float(one["mean"])


def _remove_unknown_intervals(element: str, rows: list[dict[str, Any]], steady: NDArray[np.bool_]) -> None:
    """Remove the intervals of percentiles, of which no batch is counted; the longest delay is of this run alone."""
    unknown = [name for name in (FLOW_DELAYS if element == "flow" else LINK_DELAYS) if not name.endswith("_max_s")]
    for row, chosen in zip(rows, steady, strict=True):
        for one in (row[name] for name in unknown if chosen and row[name] is not None):
            one["low"] = one["high"] = None


def intervals(
    resolved: Resolved, replication: Replication, deviations: Values | None, values: Values
) -> tuple[Values, NDArray[np.int64]]:
    """Compute half the intervals of one run by the rule that applies to it.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replication : Replication
        The run.
    deviations : array of float or None
        Of the batches of each row, as `residuals` gives them.
    values : array of float
        The mean of each row over the whole run.

    Returns
    -------
    tuple of array of float and array of int
        As of `half_widths`.
    """
    if deviations is None:
        return np.full(len(values), np.nan), np.zeros(len(values), dtype=np.int64)
    if are_equal(resolved, [replication]):
        return periodic_half_widths(deviations)
    return half_widths(deviations, values, resolved.run.confidence)


def kind_of_intervals(resolved: Resolved, finished: int, flows: Sequence[Mapping[str, Any]]) -> str:
    """Say what the intervals of a summary are: "exact", "replications", "batch means", or "none"."""
    if finished > 1:
        return "replications"
    if is_exact(resolved):
        return "exact"
    return "batch means" if any(_throughput_batches(row) for row in flows) else "none"


def _throughput_batches(row: Mapping[str, Any]) -> int:
    return int(row["throughput_bps"].get("batches", 0))


def interval_warnings(
    resolved: Resolved, replications: Sequence[Replication], flows: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Say which flows' throughput has no interval, and why."""
    if len(replications) != 1 or is_exact(resolved):
        return
    rows = zip(resolved.rows, flows, strict=True)
    without = [flow.name for flow, row in rows if not _ends(flow) and not _throughput_batches(row)]
    if not without:
        return
    run, who = resolved.run, without[0] if len(without) == 1 else plural(len(without), "flow")
    if "flow_batches" not in replications[0]:
        yield f"no interval for the throughput of {who}: one run of very many flows or links has none"
        return
    yield (
        f"no interval for the throughput of {who}: the means of {COUNTS[-1]} batches of the run are still correlated; "
        f"raise run.duration to {seconds(run.warmup_s + LONGER * run.measured_s)} or more"
    )
