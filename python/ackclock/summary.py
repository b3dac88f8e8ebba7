"""The summary of a run: flows and links with their quantities over replications."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from ackclock.batches import add_intervals
from ackclock.completions import completion_groups, completion_values
from ackclock.cycles import loss_cycles
from ackclock.delays import drain_s, flow_delays, link_delays
from ackclock.pings import ping_groups, ping_values
from ackclock.quantities import DROP_CAUSES, FLOW_DELAYS, LINK_DELAYS, delay_quantities
from ackclock.replication import Columns, Replication, grouped
from ackclock.scenario import Element, Resolved, ResolvedFlow
from ackclock.scenario.copies import described_name
from ackclock.scenario.resolved import ALL_FLOWS
from ackclock.stats import estimates_of_rows, fraction, ratio

Values = NDArray[np.float64]
_OF_TCP = ("cwnd_mean_packets", "cwnd_max_packets", "rtt_mean_s")
_OF_TRANSFERS = ("fct_mean_s", "fct_max_s", "fct_acked_mean_s", "slowdown_mean")


class Summary(TypedDict):
    """The summary of a run, as `--json` prints it: each flow and link with its quantities; keys carry their unit.

    `tcp` names the TCP of each [[flow]] by its preset. Throughput counts the bits of all data packets that reached the
    receiver, headers and duplicates included; goodput those of them that were handed to the application in order,
    headers included. Both are per second from warm-up to the end; those of a flow with a size are over its own life,
    from the first packet sent to the last one delivered (to the end of the run if it does not finish; of a large group
    from its first start). A loss fraction is of the packets that a flow sent, or that arrived at a link, in that time.
    `intervals` says what the intervals are: "exact", of "replications", of "batch means", or "none". `loss_cycles`
    counts those of endless flows over all replications: the fewest and the most of a flow, and whether all are of
    equal length. `completions` holds a row for each [[flow]] of transfers, `pings` one for each that pings, `sources`
    one for each that transfers in turn with silences, `classes` one for each link and class of packets, or [[flow]]
    in fair queues. A [[flow]] of more than 1000 flows is one row: sums of rates and counts, means of windows and
    round trips. A private link is one row for all its copies: sums of drops and rates, means of utilisation and
    queue, the longest queue of any. Percentiles of delays (`rtt`, one-way `delay`, `queueing`) are of packets, within
    0.8%; `drain_s` of a link is the time that its full buffer takes, the longest that a packet can wait there; None
    if its rate changes (`rate_changes`): `rate_bps` is the mean then, and the utilisation what was carried of what
    could have been.
    """

    title: str
    tcp: NotRequired[dict[str, str]]
    duration_s: float
    warmup_s: float
    replications: int
    seed: int
    deterministic: bool
    intervals: NotRequired[str]
    loss_cycles: NotRequired[dict[str, Any] | None]
    precision: dict[str, Any] | None
    flows: list[dict[str, Any]]
    links: list[dict[str, Any]]
    recoveries: list[dict[str, Any]]
    classes: NotRequired[list[dict[str, Any]]]
    completions: NotRequired[list[dict[str, Any]]]
    pings: NotRequired[list[dict[str, Any]]]
    sources: NotRequired[list[dict[str, Any]]]
    warnings: list[str]
    verdict: str
    version: str


def flow_rows(resolved: Resolved, replications: Sequence[Replication]) -> list[dict[str, Any]]:
    """Compute the quantities of each flow over the replications."""
    rows = _rows(resolved, resolved.rows, [flow_values(resolved, one) for one in replications])
    for flow, row in zip(resolved.rows, rows, strict=True):
        row.update(dict.fromkeys(_without_meaning(flow)))
        if "delays" not in replications[0]:
            row.update(dict.fromkeys(FLOW_DELAYS))
        elif row["queueing_max_s"]["n"] < row["delay_max_s"]["n"]:
            row.update(dict.fromkeys(delay_quantities("queueing")))
    return add_intervals(resolved, replications, "flow", rows)


def flow_quantity(resolved: Resolved, values: Sequence[Values], quantity: str) -> list[dict[str, Any] | None]:
    """Compute one quantity of each flow over several replications, as the rows of `flow_rows` have it.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    values : sequence of array of float
        The quantity of each of `Resolved.rows`, by replication, two at least: `flow_values` has it. (One replication
        has intervals by batch means, which `flow_rows` computes of all quantities together.)
    quantity : str
        The name of the quantity, which is not a delay.
    """
    rows = _rows(resolved, resolved.rows, [{quantity: of_one} for of_one in values])
    return [
        None if quantity in _without_meaning(flow) else row[quantity]
        for flow, row in zip(resolved.rows, rows, strict=True)
    ]


def _without_meaning(flow: ResolvedFlow) -> list[str]:
    """List the quantities that a flow does not have."""
    return [
        *(["finish_s"] if flow.size_packets is None else []),
        *([] if flow.has_transfers else _OF_TRANSFERS),
        *([*_OF_TCP, *delay_quantities("rtt")] if flow.connection is None else []),
        *([] if flow.is_endless else ["loss_cycles"]),
    ]


def _measured_s(resolved: Resolved, replication: Replication) -> float:
    """Return the length of the measured part [s] as the engine counted it, so that no link is busy longer."""
    return replication.get("measured_s", resolved.run.measured_s)


def flow_values(resolved: Resolved, replication: Replication) -> dict[str, Values]:
    """Compute the quantities of one replication, each an array over `Resolved.rows`."""
    packet_bits = np.array([flow.packet_bits for flow in resolved.rows])
    counts = np.array([flow.count for flow in resolved.rows])
    flows = grouped(replication["flows"], resolved.rows)
    table = _flow_values(flows, packet_bits, _measured_s(resolved, replication) * counts)
    for rate in ("throughput_bps", "goodput_bps"):
        table[rate] *= counts
    table["loss_cycles"] = loss_cycles(flows, counts)
    if "opened_s" in flows:
        finite = np.array([flow.size_packets is not None for flow in resolved.rows])
        for rate, values in _rates_of_life(flows, resolved).items():
            table[rate] = np.where(finite, values, table[rate])
    return table | flow_delays(resolved, replication)


def _rates_of_life(flows: Columns, resolved: Resolved) -> dict[str, Values]:
    """Compute rates over the life of flows, from the first packet sent to the last one delivered; 0 before a start."""
    life_s = np.nan_to_num(flows["closed_s"] - flows["opened_s"])
    packet_bits = np.array([flow.packet_bits for flow in resolved.rows])
    missing_bits = np.array([flow.missing_bits for flow in resolved.rows]) * flows.get("completed", 0.0)
    return {
        rate: np.nan_to_num(ratio(np.maximum(flows[packets] * packet_bits - missing_bits, 0.0), life_s))
        for rate, packets in (("throughput_bps", "received_total"), ("goodput_bps", "delivered_total"))
    }


def link_rows(resolved: Resolved, replications: Sequence[Replication]) -> list[dict[str, Any]]:
    """Compute the quantities of each link over the replications."""
    rows = _rows(resolved, resolved.elements, [_link_table(resolved, one) for one in replications])
    if "delays" not in replications[0]:
        for row in rows:
            row.update(dict.fromkeys(LINK_DELAYS))
    add_intervals(resolved, replications, "link", rows)
    return [
        {"name": row.pop("name"), **_rate(link), "drain_s": drain, **row}
        for link, drain, row in zip(resolved.elements, drain_s(resolved), rows, strict=True)
    ]


def _rate(link: Element) -> dict[str, Any]:
    """Give the rate of a row; of one that changes, the mean and that it changes."""
    varies = {} if link.rate_process is None else {"rate_changes": True}
    return {"rate_bps": link.rate_bps, **varies}


def _flow_table(resolved: Resolved, replication: Replication) -> dict[str, Values]:
    """Compute the quantities of flows, nan where a flow does not have one."""
    table = {name: np.array(values, dtype=float) for name, values in flow_values(resolved, replication).items()}
    for place, flow in enumerate(resolved.rows):
        for name in _without_meaning(flow):
            if name in table:
                table[name][place] = np.nan
    return table


def _link_table(resolved: Resolved, replication: Replication) -> dict[str, Values]:
    copies = np.array(resolved.element_copies)
    table = _link_values(replication["links"], _measured_s(resolved, replication) * copies)
    table["utilisation_fraction"] = _utilisations(resolved, replication, table["utilisation_fraction"])
    table["throughput_bps"] *= copies
    return table | link_delays(resolved, replication)


def _utilisations(resolved: Resolved, replication: Replication, busy: Values) -> Values:
    """Replace the busy time of links whose rate changes by what they carried of what they could have carried.

    A link in an outage is busy with a packet that does not move. What departs at the very beginning of the measured
    part was partly carried before: the fraction is at most 1.
    """
    links = replication["links"]
    if "offered_bits" not in links:
        return busy
    headers = np.array([rate.header_bytes if (rate := one.rate_process) else 0 for one in resolved.elements])
    carried_bits = 8.0 * (links["departed_bytes"] + headers * links["departed_packets"])
    used = ratio(carried_bits, links["offered_bits"])
    return np.where(np.isnan(links["offered_bits"]), busy, np.minimum(np.nan_to_num(used), 1.0))


_VALUES: Final[Mapping[str, Callable[[Resolved, Replication], dict[str, Values]]]] = {
    "flow": _flow_table,
    "link": _link_table,
    "completion": completion_values,
    "ping": ping_values,
}
"""The functions that compute each kind of quantities in `ackclock.quantities.QUANTITIES`."""


def replication_values(resolved: Resolved, replication: Replication) -> dict[str, dict[str, Values]]:
    """Compute the quantities of one replication.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replication : Replication
        A finished replication.

    Returns
    -------
    dict of str to dict
        By the kinds of `ackclock.quantities.QUANTITIES`: each quantity by name, an array over `row_names`.
    """
    return {kind: values(resolved, replication) for kind, values in _VALUES.items()}


def row_names(resolved: Resolved, kind: str) -> list[str]:
    """Give the names of what has quantities of a kind, "flow", "link", "completion" or "ping", in order."""
    elements = {
        "flow": resolved.rows,
        "link": resolved.elements,
        "completion": completion_groups(resolved),
        "ping": ping_groups(resolved),
    }
    return [element.name for element in elements[kind]]


def quantity_places(resolved: Resolved, element: str, name: str) -> list[int]:
    """Find the rows of a kind that have a name; that of counted flows means several.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    element : str
        A kind of `ackclock.quantities.QUANTITIES`.
    name : str
        Of a row, of counted flows or copies without their numbers, or * for all flows: for those without end, if there
        are any, as a transfer with an end says nothing of the long run.
    """
    if name == ALL_FLOWS:
        endless = [place for place, flow in enumerate(resolved.rows) if flow.size_packets is None]
        return endless or list(range(len(resolved.rows)))
    names = row_names(resolved, element)
    if element == "link":
        return [place for place, own in enumerate(names) if name in {own, described_name(own)}]
    return [place for place, own in enumerate(names) if own == name or own.startswith(f"{name}[")]


def _rows(
    resolved: Resolved, elements: Sequence[ResolvedFlow | Element], tables: Sequence[dict[str, Values]]
) -> list[dict[str, Any]]:
    rows = estimates_of_rows(tables, list(tables[0]), resolved.run.confidence, exact=resolved.is_deterministic)
    return [{"name": element.name, **row} for element, row in zip(elements, rows, strict=True)]


def _flow_values(flows: Columns, packet_bits: Values, time_s: Values) -> dict[str, Values]:
    sent = flows["sent_packets"].astype(float)
    return {
        "throughput_bps": flows["received_packets"] * packet_bits / time_s,
        "goodput_bps": (flows["delivered_packets"] - _of_warmup(flows, "delivered")) * packet_bits / time_s,
        "loss_fraction": ratio(
            flows.get("dropped_packets", np.full(len(sent), np.nan))
            + _lost(flows, len(sent))
            - _of_warmup(flows, "gone"),
            sent,
        ),
        "marked_fraction": ratio(_marked(flows, len(sent)) - _of_warmup(flows, "marked"), sent),
        "retransmitted_fraction": ratio(flows["retransmitted_packets"], sent),
        "timeouts": flows["timeouts"].astype(float),
        "fast_retransmits": flows["fast_retransmits"].astype(float),
        "spurious_timeouts": flows["spurious_timeouts"].astype(float),
        "spurious_fast_retransmits": flows["spurious_fast_retransmits"].astype(float),
        "cwnd_mean_packets": flows["cwnd_area"] / time_s,
        "cwnd_max_packets": flows["cwnd_max"].astype(float),
        "rtt_mean_s": ratio(flows["rtt_sum_s"], flows["rtt_samples"]),
        "finish_s": flows["finish_s"].astype(float),
        **_completion_values(flows, len(sent)),
    }


def _completion_values(flows: Columns, length: int) -> dict[str, Values]:
    """Compute means and the longest of completion times; older results have no such columns."""
    unknown = np.full(length, np.nan)
    completed = flows.get("completed", unknown)
    found = {
        "fct_mean_s": "completion_sum_s",
        "fct_acked_mean_s": "completion_acked_sum_s",
        "slowdown_mean": "slowdown_sum",
    }
    means = {name: ratio(flows.get(key, unknown), completed) for name, key in found.items()}
    longest = np.where(completed > 0.0, flows.get("completion_max_s", unknown), np.nan)
    return {**means, "fct_max_s": longest}


def _lost(table: Columns, length: int) -> Values:
    """Take what was lost before queues; older results have no such column."""
    return table.get("lost_packets", np.zeros(length)).astype(float)


def _marked(table: Columns, length: int) -> Values:
    """Take what queues marked; older results have no such column."""
    return table.get("marked_packets", np.zeros(length)).astype(float)


def _of_warmup(table: Columns, fate: str) -> Values:
    """Take what befell packets of the warm-up in the measured part; older results have no such column."""
    return np.asarray(table.get(f"{fate}_of_warmup_packets", 0.0), dtype=float)


def _drop_causes(links: Columns) -> dict[str, Values]:
    """Split the drops of links by their cause; older results have no such columns."""
    unknown = np.full(len(links["dropped_packets"]), np.nan)
    by_aqm, by_policer = (links.get(f"dropped_by_{cause}_packets", unknown) for cause in ("aqm", "policer"))
    causes = (links["dropped_packets"] - by_aqm - by_policer, by_aqm, by_policer)
    return {name: values.astype(float) for name, values in zip(DROP_CAUSES, causes, strict=True)}


def _link_values(links: Columns, time_s: Values) -> dict[str, Values]:
    lost = _lost(links, len(links["arrived_packets"]))
    return {
        "utilisation_fraction": fraction(links["busy_s"], time_s),
        "loss_fraction": ratio(
            links["dropped_packets"] + lost - _of_warmup(links, "dropped"), links["arrived_packets"]
        ),
        "dropped_packets": links["dropped_packets"].astype(float),
        **_drop_causes(links),
        "marked_packets": _marked(links, len(lost)),
        "lost_packets": lost,
        "throughput_bps": links["departed_bytes"] * 8.0 / time_s,
        "queue_mean_packets": links["queue_area_packet_s"] / time_s,
        "queue_max_packets": links["queue_max_packets"].astype(float),
    }
