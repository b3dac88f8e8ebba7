"""One line in words on what a run showed, by rules over its summary."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ackclock.paths import empty_round_trip_s
from ackclock.scenario import Element, Resolved
from ackclock.stats import jain_index
from ackclock.wording import bit_rate, number, percent, plural, seconds

Row = Mapping[str, Any]

FULL = 0.98
BOTTLENECK = 0.5
UNEQUAL = 0.9
STANDING_QUEUE = 2.0
"""Ratio of a round trip to the empty path's from which the buffer is larger than TCP needs."""
MANY_TIMEOUTS = 0.5
WINDOW_REACHED = 0.99
WIDE_INTERVAL = 0.05
"""Relative half width of an interval from which a run counts as too short."""


def verdict(resolved: Resolved, flows: Sequence[Row], links: Sequence[Row]) -> str:
    """Say where the bottleneck is, what was lost and what the losses cost.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    flows, links : sequence of mapping
        The summary's rows.

    Returns
    -------
    str
        One line.
    """
    if not any(mean(flow, "goodput_bps") > 0.0 for flow in flows):
        return "Nothing was delivered in the time measured: check the flows' start, the warm-up and the buffers"
    serving = (
        row
        for link, row in zip(resolved.elements, links, strict=True)
        if link.rate_bps is not None or link.kind == "host"
    )
    busiest = max(serving, key=_use, default=None)
    sentences = [
        *_bottleneck(busiest, links),
        *_losses(resolved, links, busiest),
        *_recovery(resolved, flows),
        *_spurious_retransmissions(flows),
        *_window_limit(resolved, flows, links),
        *_standing_queue(resolved, flows, busiest),
        *_transfers(resolved, flows),
        *_fairness(resolved, flows),
    ]
    return "; ".join(sentences) + _averaged(links)


def run_warnings(resolved: Resolved, flows: Sequence[Row], links: Sequence[Row], finished: int) -> list[str]:
    """Say what to check before trusting the numbers.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    flows, links : sequence of mapping
        The summary's rows.
    finished : int
        How many replications the rows stand for.
    """
    wide = [link for link in links if _relative_half_width(link["utilisation_fraction"]) > WIDE_INTERVAL]
    return [*_few_replications(resolved, finished), *map(_too_wide, wide), *_unfinished(resolved, flows)]


def mean(row: Row, key: str) -> float:
    """Take a quantity's mean, 0 where nothing was measured."""
    found = row[key]
    return 0.0 if found is None or found["mean"] is None else float(found["mean"])


def _few_replications(resolved: Resolved, finished: int) -> Iterator[str]:
    if resolved.is_deterministic:
        return
    asked = resolved.run.replications
    if finished < asked and resolved.run.precision is None:
        yield f"interrupted: {finished} of {plural(asked, 'replication')} finished"
    if finished == 1:
        yield "one replication gives no confidence interval; raise run.replications"


def _relative_half_width(found: Mapping[str, Any]) -> float:
    if found["low"] is None or not found["mean"]:
        return 0.0
    return float(found["high"] - found["low"]) / 2.0 / float(found["mean"])


def _too_wide(link: Row) -> str:
    half = 100 * _relative_half_width(link["utilisation_fraction"])
    return f"utilisation of {link['name']} is only known to ±{half:.2g}%; raise run.duration or run.replications"


def _unfinished(resolved: Resolved, flows: Sequence[Row]) -> Iterator[str]:
    unfinished = [
        flow
        for flow, row in zip(resolved.rows, flows, strict=True)
        if row["finish_s"] is not None and row["finish_s"]["n"] == 0
    ]
    for flow in unfinished:
        if flow.count > 1:
            yield f"not all of the {flow.count:,} transfers of {flow.name} finished within run.duration"
    late = [flow.name for flow in unfinished if flow.count == 1]
    if late:
        names = ", ".join(late[:3]) + (", ..." if len(late) > 3 else "")
        yield f"{plural(len(late), 'transfer')} did not finish within run.duration: {names}"


def _use(link: Row) -> float:
    return mean(link, "utilisation_fraction")


def _averaged(links: Sequence[Row]) -> str:
    count = max((link["utilisation_fraction"]["n"] for link in links), default=1)
    return f" (means of {count} runs)" if count > 1 else ""


def _bottleneck(busiest: Row | None, links: Sequence[Row]) -> Iterator[str]:
    if busiest is None:
        return
    use = f"utilisation {percent(_use(busiest))}"
    if _use(busiest) >= FULL:
        yield f"{busiest['name']} is the bottleneck and full: {use}"
    elif _use(busiest) >= BOTTLENECK:
        yield f"{busiest['name']} is the bottleneck: {use}"
    elif any(_gone(link) > 0.0 for link in links):
        yield f"losses leave even the busiest link, {busiest['name']}, idle most of the time: {use}"
    else:
        yield f"no link is a bottleneck: the busiest, {busiest['name']}, has {use}"


def _losses(resolved: Resolved, links: Sequence[Row], busiest: Row | None) -> Iterator[str]:
    dropping = sorted((link for link in links if mean(link, "dropped_packets") > 0.0), key=_drops, reverse=True)
    losing = [link for link in links if mean(link, "lost_packets") > 0.0]
    if losing:
        lost = plural(sum(mean(link, "lost_packets") for link in losing), "packet")
        yield f"{losing[0]['name'] if len(losing) == 1 else plural(len(losing), 'link')} lost {lost} before the queue"
    if not dropping:
        yield "no buffer dropped any" if losing else "no packet was dropped"
        return
    for place, link in enumerate(dropping[:2]):
        whose = "its" if place == 0 and link is busiest else f"{link['name']}'s"
        yield f"{whose} {_buffer(resolved.elements_by_name[link['name']])} dropped {plural(_drops(link), 'packet')}"
    if len(dropping) > 2:
        yield f"{plural(len(dropping) - 2, 'other link')} dropped {plural(sum(map(_drops, dropping[2:])), 'packet')}"


def _drops(link: Row) -> float:
    return mean(link, "dropped_packets")


def _gone(link: Row) -> float:
    return _drops(link) + mean(link, "lost_packets")


def _buffer(link: Element) -> str:
    kind = f"{link.queue.aqm.kind.upper()} queue" if link.queue.drops_early else "buffer"
    return kind if link.buffer is None else f"{link.buffer} {kind}"


def _recovery(resolved: Resolved, flows: Sequence[Row]) -> Iterator[str]:
    timeouts = sum(mean(flow, "timeouts") for flow in flows)
    fast = sum(mean(flow, "fast_retransmits") for flow in flows)
    if timeouts + fast == 0.0:
        return
    if timeouts == 0.0:
        yield f"fast retransmit began all {plural(fast, 'recovery', 'recoveries')}, none needed a timeout"
    elif not any(
        tcp is not None and tcp.sender.has_fast_retransmit for tcp in (flow.connection for flow in resolved.flows)
    ):
        yield f"{plural(timeouts, 'timeout')}: this TCP has no fast retransmit"
    elif timeouts >= MANY_TIMEOUTS * fast:
        yield (
            f"{plural(timeouts, 'timeout')} and {plural(fast, 'fast retransmit')}: many recoveries fail "
            "(retransmissions lost too, too many losses in a window, or too few duplicate ACKs)"
        )
    else:
        yield f"{plural(timeouts, 'timeout')} and {plural(fast, 'fast retransmit')}"


def _spurious_retransmissions(flows: Sequence[Row]) -> Iterator[str]:
    found, total = [], 0.0
    for kind, what in (("timeouts", "timeout"), ("fast_retransmits", "fast retransmit")):
        spurious, all_of = (sum(mean(flow, key) for flow in flows) for key in (f"spurious_{kind}", kind))
        if spurious > 0.0:
            found.append(f"{number(spurious)} of {plural(all_of, what)}")
            total += spurious
    if found:
        verb = "was" if total == 1.0 else "were"
        yield f"{' and '.join(found)} {verb} spurious (nothing had been dropped)"


def _window_limit(resolved: Resolved, flows: Sequence[Row], links: Sequence[Row]) -> Iterator[str]:
    if any(_gone(link) > 0.0 or _use(link) >= FULL for link in links):
        return
    limited = [
        (flow, window)
        for flow, row in zip(resolved.rows, flows, strict=True)
        if (tcp := flow.connection) is not None
        and (window := tcp.sender.max_window) is not None
        and mean(row, "cwnd_max_packets") >= WINDOW_REACHED * window
    ]
    if limited:
        # Of a large group the largest window is known, not how many flows have reached it.
        large = [flow for flow, _ in limited if flow.count > 1]
        single = len(limited) - len(large)
        who = [plural(single, "flow")] if single else []
        who += [f"some of the {flow.count:,} flows of {flow.name}" for flow in large]
        window = max(window for _, window in limited)
        yield f"the receiver's window of {number(window)} packets limits {' and '.join(who)}"


def _standing_queue(resolved: Resolved, flows: Sequence[Row], busiest: Row | None) -> Iterator[str]:
    if busiest is None or _use(busiest) < BOTTLENECK:
        return
    rows = [
        (mean(row, "rtt_mean_s"), empty_round_trip_s(resolved, flow))
        for flow, row in zip(resolved.rows, flows, strict=True)
        if flow.connection is not None
    ]
    measured, empty = max(rows, key=lambda pair: pair[0] / pair[1] if pair[1] > 0.0 else 0.0, default=(0.0, 0.0))
    if empty > 0.0 and measured >= STANDING_QUEUE * empty:
        yield f"queues make round trips {seconds(measured)} on a path of {seconds(empty)}: more buffer than TCP needs"


def _transfers(resolved: Resolved, flows: Sequence[Row]) -> Iterator[str]:
    finite = [
        (row["finish_s"]["mean"], flow.count)
        for flow, row in zip(resolved.rows, flows, strict=True)
        if row["finish_s"] is not None
    ]
    if not finite:
        return
    transfers = sum(count for _, count in finite)
    late = [count for finish, count in finite if finish is None]
    if not late:
        which = "the transfer" if transfers == 1 else f"all {transfers:,} transfers"
        last = max(finish for finish, _ in finite)
        yield f"{which} finished, {'' if transfers == 1 else 'the last '}at {seconds(last)}"
    elif max(late) == 1:
        yield f"{transfers - len(late):,} of {plural(transfers, 'transfer')} finished"
    else:
        yield f"some of {transfers:,} transfers did not finish"


def _fairness(resolved: Resolved, flows: Sequence[Row]) -> Iterator[str]:
    """Compare flows that always have something to send; those of a large group count as if they had equal shares."""
    shares: list[float] = []
    for flow, row in zip(resolved.rows, flows, strict=True):
        if flow.is_endless:
            shares += [mean(row, "goodput_bps") / flow.count] * flow.count
    if len(shares) > 1 and jain_index(shares) < UNEQUAL:
        yield (
            f"shares are unequal, {bit_rate(min(shares))} to {bit_rate(max(shares))} "
            f"(Jain's index {jain_index(shares):.2f})"
        )
