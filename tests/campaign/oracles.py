"""What any run of any scenario must obey. Each oracle gives a sentence for what does not hold."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ackclock.batches import BATCHES
from ackclock.replication import Replication
from ackclock.result import Result
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.summary import replication_values

Values = NDArray[np.float64]
BUCKET = 0.008
"""Relative error of a percentile out of a histogram."""
EXACT = 1e-9
"""Relative error of a sum of times, and of a rate."""
TICK_S = 1e-12
"""One tick of the clock [s]."""


UNKNOWN = {"finish_s", "opened_s", "slowdown_sum"}
"""Columns of flows without a value: instants that never came, slowdowns over a path without a least time."""


def broken(resolved: Resolved, run: Replication) -> Iterator[str]:
    """Give what does not hold in one replication."""
    for oracle in ORACLES:
        for sentence in oracle(resolved, run):
            yield f"{oracle.__name__}: {sentence}"


def signs(resolved: Resolved, run: Replication) -> Iterator[str]:
    """Hold that no counter is negative or infinite, and none but an instant unknown."""
    for table in ("flows", "links"):
        columns: Mapping[str, Values] = run[table]
        for name, values in columns.items():
            known = values[~np.isnan(values)] if name in UNKNOWN else values
            if not np.all(np.isfinite(known) & (known >= 0.0)):
                yield f"{table}.{name} is {known}"
    for name in ("arrived", "dropped", "lost", "departed"):
        part, whole = run["links"][f"{name}_packets"], run["links"][f"{name}_total"]
        if np.any(part > whole):
            yield f"{name}: more in the measured part than in the run, {part} of {whole}"


def held(run: Replication) -> Values:
    """Compute the packets that are in each element at the end."""
    counted = run["links"]
    left = counted["arrived_total"] - counted["dropped_total"] - counted["lost_total"] - counted["departed_total"]
    return np.asarray(left, dtype=float)


def links(resolved: Resolved, run: Replication) -> Iterator[str]:
    """Hold packets: arrived = departed + dropped + lost + held, where the trace of queues counts what is held."""
    inside = held(run)
    largest = sizes(resolved)[1]
    for index, element in enumerate(resolved.elements):
        if inside[index] < 0.0:
            yield f"{element.name}: {-inside[index]} packets more left than arrived"
        capacity = element.capacity_packets(max(1.0, largest[index]))
        packets = element.buffer is not None and not hasattr(element.buffer, "bytes")
        if packets and capacity is not None and inside[index] > capacity * resolved.element_copies[index]:
            yield f"{element.name}: {inside[index]} packets inside, {capacity} fit"
        if packets and capacity is not None and run["links"]["queue_max_packets"][index] > capacity:
            yield f"{element.name}: a queue of {run['links']['queue_max_packets'][index]} packets, {capacity} fit"
    if "queue" in run["traces"]:
        queue = run["traces"]["queue"]
        last = dict(zip(queue["link"].tolist(), queue["packets"].tolist(), strict=True))
        for index, element in enumerate(resolved.elements):
            if element.kind == "link" and inside[index] != last.get(index, 0):
                yield f"{element.name}: {inside[index]} packets inside by counters, {last.get(index, 0)} by the trace"


def first_links(resolved: Resolved, run: Replication) -> Iterator[str]:
    """Hold that a link gets what its flows send, if it is first on their paths, and no more than comes from before."""
    sent, received = (_by_entry(resolved, run["flows"][f"{name}_total"]) for name in ("sent", "received"))
    for index, element in enumerate(resolved.elements):
        first = sum(sent[at] for at, flow in enumerate(resolved.flows) if flow.path[0] == index)
        answers = sum(received[at] for at, flow in enumerate(resolved.flows) if flow.return_path[:1] == (index,))
        before = {
            way[way.index(index) - 1]
            for flow in resolved.flows
            for way in (flow.path, flow.return_path)
            if index in way[1:]
        }
        most = first + answers + sum(run["links"]["departed_total"][each] for each in before)
        arrived = run["links"]["arrived_total"][index]
        if arrived > most or (not before and not answers and arrived != first):
            yield f"{element.name}: {arrived} arrived, {most} were sent to it"


def flows(resolved: Resolved, run: Replication) -> Iterator[str]:
    """Hold packets of each flow: sent = received + dropped + lost + in flight."""
    counted = run["flows"]
    inside = counted["sent_total"] - counted["received_total"] - counted["dropped_total"] - counted["lost_total"]
    for row, (name, kind) in enumerate((flow.name, flow.kind) for flow in resolved.rows):
        # What is dropped of a ping may be its echo, which was received: `pings` holds these.
        if kind != "ping" and inside[row] < 0.0:
            yield f"{name}: {-inside[row]} packets more came or were dropped than sent"
        if counted["delivered_total"][row] > counted["received_total"][row]:
            yield f"{name}: more delivered than received"
        if counted["retransmitted_packets"][row] > counted["sent_packets"][row]:
            yield f"{name}: more retransmitted than sent"


def endings(resolved: Resolved, run: Replication) -> Iterator[str]:
    """Hold that nothing is in flight where all has finished, and each transfer was delivered once."""
    counted = run["flows"]
    inside = counted["sent_total"] - counted["received_total"] - counted["dropped_total"] - counted["lost_total"]
    ends = all(flow.size_packets is not None for flow in resolved.rows)
    if ends and not counted["unfinished"].any():
        last = float(counted["finish_s"].max())
        if resolved.run.duration_s > last + 1000.0 and (inside.any() or held(run).any()):
            yield f"all finished at {last} s, and {inside} packets in flight, {held(run)} in the elements"
        for row, flow in enumerate(resolved.rows):
            if counted["delivered_total"][row] != flow.count * (flow.size_packets or 0):
                yield f"{flow.name}: {counted['delivered_total'][row]} delivered of {flow.size_packets}"


def traces(resolved: Resolved, run: Replication) -> Iterator[str]:
    """Hold that the rows of traces are as many as the counters say."""
    if "drops" in run["traces"]:
        rows = run["traces"]["drops"]
        lost, ack = rows["lost"].astype(bool), rows["ack"].astype(bool)
        for what, chosen in (("dropped", ~lost), ("lost", lost)):
            by_link = np.bincount(rows["link"][chosen].astype(int), minlength=len(resolved.elements))
            if not np.array_equal(by_link, run["links"][f"{what}_total"]):
                yield f"{what} at links by the trace {by_link}, by counters {run['links'][f'{what}_total']}"
            single = np.bincount(rows["flow"][chosen & ~ack].astype(int), minlength=len(resolved.flow_names))
            by_flow = _by_row(resolved, single)
            if not np.array_equal(by_flow, run["flows"][f"{what}_total"]):
                yield f"{what} of flows by the trace {by_flow}, by counters {run['flows'][f'{what}_total']}"
    if "sequence" in run["traces"]:
        rows = run["traces"]["sequence"]
        single = np.bincount(rows["flow"][rows["kind"] < 2].astype(int), minlength=len(resolved.flow_names))
        if not np.array_equal(_by_row(resolved, single), run["flows"]["sent_total"]):
            yield f"sent by the trace {_by_row(resolved, single)}, by counters {run['flows']['sent_total']}"


def rates(resolved: Resolved, run: Replication) -> Iterator[str]:
    """Hold that no link is faster than its rate, and no ratio leaves [0, 1].

    A packet counts when its last bit leaves, so the measured part may count one packet of each copy of a link whose
    transmission began before it.
    """
    found = replication_values(resolved, run)
    for table, name in (
        *(("flow", each) for each in ("loss_fraction", "retransmitted_fraction")),
        *(("link", each) for each in ("loss_fraction", "utilisation_fraction")),
        ("ping", "loss_fraction"),
    ):
        values = found[table][name]
        known = values[~np.isnan(values)]
        if not np.all((known >= 0.0) & (known <= 1.0)):
            yield f"{table}.{name} is {known}"
    smallest, largest = sizes(resolved)
    counted, measured_s = run["links"], resolved.run.measured_s
    for index, element in enumerate(resolved.elements):
        packets, carried = counted["departed_packets"][index], counted["departed_bytes"][index]
        if not smallest[index] * packets <= carried <= largest[index] * packets:
            yield f"{element.name}: {packets} packets of {carried} bytes, {smallest[index]} to {largest[index]} each"
        if element.kind not in ("link", "private-link") or element.rate_bps is None:
            continue
        copies = resolved.element_copies[index]
        edge = copies * largest[index]
        most = element.rate_bps / 8.0 * measured_s * copies * (1.0 + EXACT) + edge
        if carried > most:
            yield f"{element.name}: {carried} bytes, {most} at its rate and a packet at the edge"
        worked = counted["busy_s"][index] * element.rate_bps / 8.0
        if abs(worked - carried) > edge + EXACT * carried + packets * TICK_S * element.rate_bps / 8.0:
            yield f"{element.name}: {carried} bytes left in a time for {worked}"


def empty_s(resolved: Resolved, flow: ResolvedFlow, *, way_back: bool) -> float | None:
    """Compute the least delay of a path, there or there and back [s]; None over an ATM network."""
    back = flow.connection.return_delay_s if flow.connection else getattr(flow.traffic, "return_delay_s", 0.0)
    total = flow.forward_delay_s + (back if way_back else 0.0)
    ways = [(flow.path, flow.packet_bytes, False), *([(flow.return_path, flow.answer_bytes, True)] if way_back else [])]
    for way, size, ack in ways:
        for element in (resolved.elements[index] for index in way):
            if element.kind == "channel":
                return None
            total += element.least_delay_s + element.service_s(size) + element.processing_s(ack=ack)
    return total


def delays(resolved: Resolved, run: Replication) -> Iterator[str]:
    """Hold that delays are at least the empty path's, and percentiles in order."""
    found = replication_values(resolved, run)
    for row, flow in enumerate(resolved.rows):
        hops = TICK_S * (4 + len(flow.crossed))
        for kind, way_back in (("rtt", True), ("delay", False), ("queueing", False)):
            values = [found["flow"][f"{kind}_{name}_s"][row] for name in ("p50", "p95", "p99", "max")]
            least = 0.0 if kind == "queueing" else empty_s(resolved, flow, way_back=way_back)
            yield from _ordered(f"{flow.name}: {kind}", values)
            if least is not None and values[0] < least * (1.0 - BUCKET) - hops:
                yield f"{flow.name}: {kind} of {values[0]} s, the empty path takes {least} s"
        mean, least = found["flow"]["rtt_mean_s"][row], empty_s(resolved, flow, way_back=True)
        if flow.connection is not None and least is not None and mean < least * (1.0 - EXACT) - hops:
            yield f"{flow.name}: a mean round trip of {mean} s, the empty path takes {least} s"
    for row, element in enumerate(resolved.elements):
        values = [found["link"][f"queueing_{name}_s"][row] for name in ("p50", "p95", "p99", "max")]
        yield from _ordered(f"{element.name}: waits", values)


def _ordered(what: str, values: list[float]) -> Iterator[str]:
    if not any(np.isnan(values)) and not (values[0] >= 0.0 and all(np.diff(values) >= 0.0)):
        yield f"{what} out of order: {values}"


def pings(resolved: Resolved, run: Replication) -> Iterator[str]:
    """Hold that each ping is answered, lost or in flight, after the empty path's round trip at least."""
    found = replication_values(resolved, run)["ping"]
    for row, flow in enumerate(flow for flow in resolved.flows if flow.kind == "ping"):
        one = {name: values[row] for name, values in found.items()}
        if one["answered"] + one["lost"] > one["sent"]:
            yield f"{flow.name}: {one['answered']} answered and {one['lost']} lost of {one['sent']}"
        counted = run["pings"]["groups"]
        if counted["answered_total"][row] + counted["lost_total"][row] > counted["sent_total"][row]:
            yield f"{flow.name}: more answered and lost than sent in the whole run"
        least = empty_s(resolved, flow, way_back=True)
        if one["answered"] > 0.0:
            if not one["rtt_min_s"] * (1.0 - EXACT) <= one["rtt_mean_s"] <= one["rtt_max_s"] * (1.0 + EXACT):
                yield f"{flow.name}: a mean of {one['rtt_mean_s']} of {one['rtt_min_s']} to {one['rtt_max_s']}"
            if least is not None and one["rtt_min_s"] < least * (1.0 - EXACT) - TICK_S * (4 + len(flow.crossed)):
                yield f"{flow.name}: a round trip of {one['rtt_min_s']} s, the empty path takes {least} s"
            yield from _ordered(flow.name, [one[f"rtt_{name}_s"] for name in ("p50", "p95", "p99", "max")])


def completions(resolved: Resolved, run: Replication) -> Iterator[str]:
    """Hold that no transfer is faster than the empty path allows, and none acknowledged before it is delivered."""
    found = replication_values(resolved, run)["completion"]
    for row, flow in enumerate(flow for flow in resolved.flows if flow.has_transfers):
        one = {name: values[row] for name, values in found.items()}
        if not one["transfers"] > 0.0:
            continue
        for kind in ("fct", "fct_acked", "slowdown"):
            unit = "" if kind == "slowdown" else "_s"
            yield from _ordered(
                f"{flow.name}: {kind}", [one[f"{kind}_{name}{unit}"] for name in ("p50", "p95", "p99", "max")]
            )
            if one[f"{kind}_mean{unit}"] > one[f"{kind}_max{unit}"] * (1.0 + EXACT):
                yield f"{flow.name}: a mean {kind} of {one[f'{kind}_mean{unit}']} above the largest"
        if one["slowdown_mean"] < 1.0 - EXACT or one["slowdown_p50"] < 1.0 - BUCKET:
            yield f"{flow.name}: a slowdown of {one['slowdown_mean']}, of the median {one['slowdown_p50']}"
        if one["fct_acked_mean_s"] < one["fct_mean_s"] * (1.0 - EXACT):
            yield f"{flow.name}: acknowledged after {one['fct_acked_mean_s']} s, delivered after {one['fct_mean_s']} s"


def batches(resolved: Resolved, run: Replication) -> Iterator[str]:
    """Hold that the batches of the measured part add up to it."""
    for name, table in (("flow_batches", run["flows"]), ("link_batches", run["links"])):
        columns: Mapping[str, Any] = run.get(name, {})  # type: ignore[assignment]
        for column, values in columns.items():
            parts = np.asarray(values).reshape(-1, BATCHES)
            gone = column == "gone_packets"
            whole = table["dropped_packets"] + table["lost_packets"] if gone else table[column]
            known = np.isfinite(parts[:, 0])
            if not np.allclose(parts.sum(axis=1)[known], whole[known], rtol=1e-9, atol=1e-6):
                yield f"{name}.{column}: {parts.sum(axis=1)[known]}, the whole is {whole[known]}"


ORACLES = (signs, links, first_links, flows, endings, traces, rates, delays, pings, completions, batches)
"""All of them, for one replication each."""


def differences(one: Replication, other: Replication) -> Iterator[str]:
    """Give the columns in which two runs of the same scenario differ by a bit."""
    for table in ("flows", "links"):
        for name, values in one[table].items():
            if values.tobytes() != other[table][name].tobytes():
                yield f"{table}.{name}: {values} and {other[table][name]}"
    if one["events"] != other["events"]:
        yield f"events: {one['events']} and {other['events']}"


def results(resolved: Resolved, runs: list[Replication], *, picture: bool) -> Iterator[str]:
    """Hold that a result can be made of what was measured: its summary in JSON, its verdict, its picture."""
    result = Result.from_replications(resolved, runs, version="campaign")
    try:
        json.dumps(result.summary, allow_nan=False)
    except ValueError as error:
        yield f"the summary is not JSON: {error}"
    if not result.summary["verdict"]:
        yield "no verdict"
    if picture:
        from matplotlib import pyplot as plt  # noqa: PLC0415  a second that a worker without pictures need not pay

        plt.close(result.plot())


def sizes(resolved: Resolved) -> tuple[list[int], list[int]]:
    """Find the smallest and the largest packet that crosses each element [B]; 0 where none does."""
    crossing: list[list[int]] = [[] for _ in resolved.elements]
    for flow in resolved.flows:
        for way, size in ((flow.path, flow.packet_bytes), (flow.return_path, flow.answer_bytes)):
            for index in way:
                crossing[index].append(size)
    return [min(each, default=0) for each in crossing], [max(each, default=0) for each in crossing]


def _by_row(resolved: Resolved, values: NDArray[Any]) -> Values:
    """Add up single flows by `Resolved.rows`."""
    firsts = np.concatenate([[0], np.cumsum([row.count for row in resolved.rows])[:-1]])
    return np.asarray(np.add.reduceat(values, firsts.astype(int)), dtype=float)


def _by_entry(resolved: Resolved, values: Values) -> Values:
    """Add up the rows of each entry of flows."""
    rows = [1 if flow.is_large_group else flow.count for flow in resolved.flows]
    return np.asarray(np.add.reduceat(values, np.concatenate([[0], np.cumsum(rows)[:-1]]).astype(int)), dtype=float)
