"""Findings of a run: facts with numbers, computed once from the summary.

The verdict words them, and advice and the theory's remarks build on them. So no two parts of one output disagree on
what a run showed.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from ackclock.active import active_time, is_late
from ackclock.fairness import Share, least_equal
from ackclock.paths import empty_round_trip_s
from ackclock.scenario import Element, Resolved, ResolvedFlow
from ackclock.scenario.copies import described_name
from ackclock.socket_buffers import buffer_limit, first_buffer_limit
from ackclock.waiting import capacity, longest_outage_s, longest_pipe, longest_wait, mean_drain_s, queued_round_trip

Row = Mapping[str, Any]

Kind = Literal[
    "nothing-delivered",
    "full-link",
    "busy-link",
    "idle-after-losses",
    "idle",
    "lost-before-queue",
    "dropped",
    "no-drop",
    "recoveries",
    "outage",
    "spurious",
    "window-limit",
    "buffer-limit",
    "long-queue",
    "oversized-buffer",
    "drain-time",
    "transfers",
    "waited-for-timer",
    "starved",
    "unequal-shares",
]

FULL = 0.98
BOTTLENECK = 0.5
UNEQUAL = 0.9
LONG_QUEUE = 2.0
"""Ratio of a round trip to the empty path's from which queues are worth a word."""
LONG_DRAIN = 0.5
"""Ratio of a full buffer's drain time to the empty path's round trip from which it is worth a word."""
ENOUGH = 0.99
"""Utilisation from which no larger buffer is of use; the target of advice too, so that the two agree."""
OVERSIZED = 2.0
"""Ratio of a buffer to the bandwidth-delay product of its longest path from which it is larger than TCP needs.

No loss-based TCP of the engine needs more than the product itself to keep a link busy, except where the product is a
few packets: see `SPARE`.
"""
SPARE = 10.0
"""Packets of buffer that are never too many: delayed ACKs and retransmissions come in bursts of a few packets."""
WINDOW_REACHED, WINDOW_FILLED = 0.99, 0.9
"""Parts of a receiver's window that limits a flow: that cwnd reaches, and that are in flight where packets are lost."""
MUCH_LONGER = 10.0
"""Ratio of the longest completion time to the median from which transfers of one size waited for something else."""
STARVED = 0.02
"""Throughput of a flow, as a fraction of an equal share of a full link, below which it is starved."""
STARVED_BY_ACKS = 0.1
"""The same of a link that ACKs fill."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A fact that a run showed.

    Parameters
    ----------
    kind : str
        What was found, by name.
    element : str
        The link or the [[flow]] that it is about; empty if it is about all.
    numbers : mapping of str to float
        What was measured of it; names end in their unit.
    """

    kind: Kind
    element: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)


def find(
    resolved: Resolved, flows: Sequence[Row], links: Sequence[Row], completions: Sequence[Row] = ()
) -> tuple[Finding, ...]:
    """Find what a run showed: causes before what follows from them.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    flows, links, completions : sequence of mapping
        The summary's rows; older results have no completion times of a [[flow]].

    Returns
    -------
    tuple of Finding
        In the order in which a verdict says them.
    """
    if not any(mean(flow, "goodput_bps") > 0.0 for flow in flows):
        return (Finding("nothing-delivered"),)
    active = active_time(resolved, [mean(flow, "finish_s") for flow in flows])
    if active.numbers:
        links = [{**link, "utilisation_fraction": {"mean": min(1.0, _use(link) / active.part)}} for link in links]
    run = _Run(resolved, flows, links, completions, active.numbers)
    rules: tuple[Callable[[_Run], Iterator[Finding]], ...] = (
        _bottlenecks,
        _losses,
        _recoveries,
        _outages,
        _spurious,
        lambda run: iter(run.host_limits),
        _queues,
        _drain_times,
        _transfers,
        _waits_for_timers,
        _starved,
        _shares,
    )
    return tuple(found for rule in rules for found in rule(run))


def mean(row: Row, key: str) -> float:
    """Take a quantity's mean, 0 if nothing was measured."""
    found = row[key]
    return 0.0 if found is None or found["mean"] is None else float(found["mean"])


@dataclass(frozen=True)
class _Run:
    """A scenario with its summary's rows."""

    resolved: Resolved
    flows: Sequence[Row]
    links: Sequence[Row]
    completions: Sequence[Row] = ()
    active: Mapping[str, float] = field(default_factory=dict)
    """The ends of the time of which the utilisation is, where they are not those of the measured time."""

    @property
    def serving(self) -> list[tuple[Element, Row]]:
        """The elements that take time for a packet, the busiest first."""
        pairs = zip(self.resolved.elements, self.links, strict=True)
        serving = [pair for pair in pairs if pair[0].rate_bps is not None or pair[0].kind == "host"]
        return sorted(serving, key=lambda pair: _use(pair[1]), reverse=True)

    @cached_property
    def host_limits(self) -> tuple[Finding, ...]:
        """The windows and the socket buffers that limit flows."""
        return (*_window_limits(self), *_buffer_limits(self))

    @property
    def rows(self) -> list[tuple[ResolvedFlow, Row]]:
        """The flows with what was measured of them."""
        return list(zip(self.resolved.rows, self.flows, strict=True))


def _use(link: Row) -> float:
    return mean(link, "utilisation_fraction")


def _dropped(link: Row) -> bool:
    return mean(link, "dropped_packets") > 0.0


def _gone(link: Row) -> float:
    return mean(link, "dropped_packets") + mean(link, "lost_packets")


def _bottlenecks(run: _Run) -> Iterator[Finding]:
    """Find every full link, or else the busiest one and why no link is full."""
    if not run.serving:
        return
    full = [row for _, row in run.serving if _use(row) >= FULL]
    for row in full:
        yield Finding("full-link", row["name"], {"utilisation_fraction": _use(row), **run.active})
    if full:
        return
    busiest = run.serving[0][1]
    if _use(busiest) >= BOTTLENECK and not _hosts_limit_all(run):
        table = described_name(busiest["name"])
        alike = [row for _, row in run.serving if described_name(row["name"]) == table and _use(row) >= BOTTLENECK]
        yield from (
            Finding("busy-link", one["name"], {"utilisation_fraction": _use(one), **run.active}) for one in alike
        )
        return
    # Losses explain it where they slow down a flow that always has something to send, and that its host does not limit.
    limited = {one.element for one in run.host_limits}
    slowed = any(
        flow.is_endless and not flow.writes_in_bursts and flow.name not in limited and _repairs(row) > 0.0
        for flow, row in run.rows
    )
    kind: Kind = "idle-after-losses" if slowed else "idle"
    needless = not any(_gone(link) for link in run.links) and any(_needless(row) for row in run.flows)
    numbers = {"utilisation_fraction": _use(busiest), "needless": float(needless), **run.active}
    yield Finding(kind, busiest["name"], numbers)


def _losses(run: _Run) -> Iterator[Finding]:
    for link in run.links:
        if mean(link, "lost_packets") > 0.0:
            yield Finding("lost-before-queue", link["name"], {"packets": mean(link, "lost_packets")})
    dropping = [link for link in run.links if mean(link, "dropped_packets") > 0.0]
    for link in sorted(dropping, key=lambda link: mean(link, "dropped_packets"), reverse=True):
        numbers = {"packets": mean(link, "dropped_packets"), "loss_fraction": mean(link, "loss_fraction")}
        yield Finding("dropped", link["name"], numbers)
    if not dropping:
        yield Finding("no-drop")


def _repairs(flow: Row) -> float:
    """Count the times that a flow repaired losses."""
    return mean(flow, "timeouts") + mean(flow, "fast_retransmits")


def _needless(flow: Row) -> float:
    """Count the times that a flow repaired losses that were none."""
    return mean(flow, "spurious_timeouts") + mean(flow, "spurious_fast_retransmits")


def _recoveries(run: _Run) -> Iterator[Finding]:
    timeouts = sum(mean(flow, "timeouts") for flow in run.flows)
    fast = sum(mean(flow, "fast_retransmits") for flow in run.flows)
    if timeouts + fast > 0.0:
        yield Finding("recoveries", numbers={"timeouts": timeouts, "fast_retransmits": fast})


def _outages(run: _Run) -> Iterator[Finding]:
    """Find links whose rate is 0 for longer than the least timer of a flow that crosses them and had timeouts."""
    had = [flow for flow, row in run.rows if flow.connection is not None and mean(row, "timeouts") > 0.0]
    for index, element in enumerate(run.resolved.elements):
        least = min((flow.tcp.sender.rto.min_s for flow in had if index in flow.crossed), default=math.inf)
        longest = longest_outage_s(run.resolved, element) if least < math.inf else None
        if longest is not None and longest >= least:
            yield Finding("outage", element.name, {"longest_s": longest, "drawn": float(element.is_random)})


def _spurious(run: _Run) -> Iterator[Finding]:
    """Find timeouts and fast retransmits without a loss; where only queues make ACKs late, name the longest wait."""
    keys = ("timeouts", "fast_retransmits")
    numbers = {key: sum(mean(flow, f"spurious_{key}") for flow in run.flows) for key in keys}
    if sum(numbers.values()) == 0.0:
        return
    late = [flow for flow, row in run.rows if flow.connection and mean(row, "spurious_timeouts") > 0.0]
    waits = [mean(link, "queueing_max_s") for link in run.links]
    where = None if any(_outages(run)) else longest_wait(run.resolved, late, waits)
    element = "" if where is None else run.resolved.elements[where].name
    yield Finding("spurious", element, numbers if where is None else {**numbers, "wait_s": waits[where]})


def _window_limits(run: _Run) -> Iterator[Finding]:
    if any(_use(link) >= FULL for link in run.links):
        return
    loses = any(_gone(link) > 0.0 for link in run.links)
    for flow, row in run.rows:
        window = math.inf if flow.connection is None else flow.connection.sender.window_packets
        in_flight = mean(row, "goodput_bps") / flow.count * mean(row, "rtt_mean_s") / flow.packet_bits
        reached = WINDOW_REACHED * window < math.inf and mean(row, "cwnd_max_packets") >= WINDOW_REACHED * window
        if reached and (in_flight >= WINDOW_FILLED * window or not loses):
            yield Finding("window-limit", flow.name, {"window_packets": window, "flows": float(flow.count)})


def _buffer_limits(run: _Run) -> Iterator[Finding]:
    """Find flows whose packets in flight are as many as a socket buffer holds, at its largest size or at its first.

    No link that their data cross is full or drops packets; one may be full of their ACKs.
    """
    for flow, row in run.rows:
        data = [run.links[index] for index in flow.path]
        if flow.kind != "tcp" or flow.count > 1 or any(_use(link) >= FULL or _dropped(link) for link in data):
            continue
        in_flight = mean(row, "goodput_bps") * mean(row, "rtt_mean_s") / flow.packet_bits
        found = buffer_limit(run.resolved, flow, in_flight, mean(row, "loss_fraction"))
        found = found or first_buffer_limit(flow, in_flight, mean(row, "cwnd_mean_packets"))
        if found is not None:
            yield Finding("buffer-limit", flow.name, found)


def _hosts_limit_all(run: _Run) -> bool:
    """Return whether hosts limit each flow that always has something to send."""
    lasting = [flow.name for flow, _ in run.rows if flow.size_packets is None and flow.connection is not None]
    return bool(run.host_limits) and {one.element for one in run.host_limits}.issuperset(lasting)


def _queues(run: _Run) -> Iterator[Finding]:
    """Find the flow whose round trips queues make longest, and the buffers that are larger than TCP needs."""
    if not run.serving or _use(run.serving[0][1]) < BOTTLENECK:
        return
    trips = [_round_trip(run, flow, row) for flow, row in run.rows if flow.connection is not None]
    measured, empty, numbers, name = max(
        trips, key=lambda one: one[0] / one[1] if one[1] > 0.0 else 0.0, default=(0.0, 0.0, {}, "")
    )
    if not (empty > 0.0 and measured >= LONG_QUEUE * empty):
        return
    yield Finding("long-queue", name, numbers)
    for element, row in run.serving:
        pipe = longest_pipe(run.resolved, element)
        if _use(row) >= ENOUGH and pipe is not None and capacity(element, pipe[1]) > OVERSIZED * pipe[0] + SPARE:
            yield Finding("oversized-buffer", element.name, {"pipe_packets": pipe[0]})


def _round_trip(run: _Run, flow: ResolvedFlow, row: Row) -> tuple[float, float, dict[str, float], str]:
    """Give a round trip with queues and without, the numbers that say so, and the flow's name."""
    crossed = [run.links[index] for index in flow.crossed]
    waits = [(mean(link, "queueing_mean_s"), mean(link, "queueing_max_s")) for link in crossed]
    known = any((link["queueing_max_s"] or {}).get("mean") is not None for link in crossed)
    trip = queued_round_trip(run.resolved, flow, mean(row, "rtt_mean_s"), waits if known else None)
    return *trip, flow.name


def _drain_times(run: _Run) -> Iterator[Finding]:
    """Find the longest wait that the busiest link's buffer can cause, where it is worth a word.

    An AQM that drops early keeps the queue from it, and where packets do not leave in order it is nobody's wait.
    """
    if not run.serving or _use(run.serving[0][1]) < BOTTLENECK:
        return
    element, row = run.serving[0]
    index = run.resolved.element_indices[element.name]
    crossing = (run.resolved.flows[at] for at in run.resolved.crossing_flows[index])
    ways = [flow for flow in crossing if index in flow.path and flow.connection is not None]
    fills = element.queue.is_fifo and not element.queue.drops_early
    if row["drain_s"] is None or not ways or not fills:
        return
    throughputs = [mean(flow, "throughput_bps") for flow in run.flows]
    longest, numbers = mean_drain_s(run.resolved, element, row["drain_s"], throughputs)
    if longest >= LONG_DRAIN * min(empty_round_trip_s(run.resolved, flow) for flow in ways):
        yield Finding("drain-time", element.name, {"drain_s": longest, "rate_bps": row["rate_bps"], **numbers})


def _transfers(run: _Run) -> Iterator[Finding]:
    finite = [(row, flow.count) for flow, row in run.rows if row["finish_s"] is not None]
    if not finite:
        return
    late = [count for row, count in finite if row["finish_s"]["mean"] is None]
    transfers = sum(count for _, count in finite)
    largest = float(max(late, default=0))
    numbers = {"transfers": float(transfers), "late": float(len(late)), "largest_late_group": largest}
    if not late:
        numbers["fct_mean_s"] = sum(mean(row, "fct_mean_s") * count for row, count in finite) / transfers
        # The longest of all runs: a flow's own row has the mean of the longest of each, and is not always the slowest.
        rows = [row for row in run.completions if mean(row, "fct_max_s") > 0.0] or [row for row, _ in finite]
        numbers["fct_max_s"] = max(mean(row, "fct_max_s") for row in rows)
        runs = max(row["throughput_bps"]["n"] for row, _ in finite)
        numbers |= {"runs": float(runs), "whole_runs": float(min(row["finish_s"]["n"] for row, _ in finite))}
    yield Finding("transfers", numbers=numbers)


def _waits_for_timers(run: _Run) -> Iterator[Finding]:
    """Find transfers of one size of which some took far longer, by at least the time of a timer, after losses."""
    if not any(_gone(link) > 0.0 for link in run.links):
        return
    sized = {flow.name: flow for flow in run.resolved.flows if flow.size_packets is not None}
    for row in run.completions:
        flow, usual, longest = sized.get(row["name"]), mean(row, "fct_p50_s"), mean(row, "fct_max_s")
        if flow is not None and usual > 0.0 and longest >= MUCH_LONGER * usual:
            timer = flow.tcp.sender.rto.min_s
            if longest - usual >= timer > 0.0:
                yield Finding("waited-for-timer", flow.name, {"fct_p50_s": usual, "fct_max_s": longest})


def _starved(run: _Run) -> Iterator[Finding]:
    """Find endless flows that get next to nothing of a full link, and say whether ACKs fill it."""
    for flow, row in run.rows:
        if not flow.is_endless or flow.count > 1 or flow.start_s + flow.start_spread_s > run.resolved.run.warmup_s:
            continue
        for index in flow.path:
            rate = run.resolved.elements[index].rate_bps or 0.0
            sending = [(own, mean(other, "throughput_bps")) for own, other in run.rows if index in own.path]
            fills = sum(sent for _, sent in sending) < BOTTLENECK * rate
            least = (STARVED_BY_ACKS if fills else STARVED) * rate / sum(own.count for own, _ in sending)
            goodput = mean(row, "goodput_bps")
            if _use(run.links[index]) >= FULL and goodput < least:
                numbers = {"goodput_bps": goodput, "rate_bps": rate, "by_acks": float(fills), "link": float(index)}
                yield Finding("starved", flow.name, numbers)
                break


def _shares(run: _Run) -> Iterator[Finding]:
    """Compare flows that always have something to send, do not start late, and whose data meet."""
    shares = [
        Share(flow, mean(row, "goodput_bps") / flow.count, mean(row, "rtt_mean_s"))
        for flow, row in run.rows
        if flow.is_endless and not is_late(run.resolved, flow.start_s)
    ]
    numbers = least_equal(run.resolved, shares, {one.element for one in run.host_limits})
    if numbers and numbers["index_fraction"] < UNEQUAL:
        yield Finding("unequal-shares", numbers=numbers)
