"""One line in words on what a run showed, made of its findings; and what to check before trusting its numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from ackclock.findings import Finding, Kind, find
from ackclock.groups import (
    by_table,
    copies_text,
    element_named,
    is_of_copies,
    row_name,
    together,
)
from ackclock.scenario import Element, Resolved
from ackclock.scenario.copies import described_name
from ackclock.socket_buffers import limiting_buffer
from ackclock.wording import bit_rate, megabytes, number, percent, plural, seconds

Row = Mapping[str, Any]

MANY_TIMEOUTS = 0.5
WIDE_INTERVAL = 0.05
"""Relative half width of an interval from which a run counts as too short."""
MOST_NAMED = 2
"""Number of links that a sentence names; others are counted."""


def verdict(resolved: Resolved, flows: Sequence[Row], links: Sequence[Row], completions: Sequence[Row] = ()) -> str:
    """Say where the bottleneck is, what was lost and what the losses cost.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    flows, links, completions : sequence of mapping
        The summary's rows.

    Returns
    -------
    str
        One line.
    """
    findings = find(resolved, flows, links, completions)
    if findings[0].kind == "nothing-delivered":
        return f"Nothing was delivered in the time measured: {_cause_of_nothing(links)}"
    return "; ".join(sentences(resolved, findings)) + _averaged(links)


def _cause_of_nothing(links: Sequence[Row]) -> str:
    """Name the link that lost or dropped all that came to it, else what to check."""
    for link in links:
        fraction = (link["loss_fraction"] or {}).get("mean")
        lost, dropped = (float(link[key]["mean"] or 0.0) for key in ("lost_packets", "dropped_packets"))
        if fraction is not None and fraction >= 1.0 and lost + dropped > 0.0:
            what = "lost" if dropped == 0.0 else "dropped" if lost == 0.0 else "lost or dropped"
            return f"{link['name']} {what} all {plural(lost + dropped, 'packet')} that came to it"
    return "check the flows' start, the warm-up and the buffers"


def sentences(resolved: Resolved, findings: Sequence[Finding]) -> list[str]:
    """Word findings, those of a kind together.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    findings : sequence of Finding
        As `ackclock.findings.find` gives them.
    """
    joined = together(resolved, findings)
    kinds = dict.fromkeys(one.kind for one in joined)
    return [
        text
        for kind in kinds
        if kind in _WORDED
        for text in _WORDED[kind](_Found(resolved, joined), [one for one in joined if one.kind == kind])
    ]


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
    wide_by_table = by_table(wide, row_name).values()
    return [*_few_replications(resolved, finished), *map(_too_wide, wide_by_table), *_unfinished(resolved, flows)]


def _few_replications(resolved: Resolved, finished: int) -> Iterator[str]:
    if resolved.is_deterministic:
        return
    asked = resolved.run.replications
    if finished < asked and resolved.run.precision is None:
        yield f"interrupted: {finished} of {plural(asked, 'replication')} finished"


def _relative_half_width(found: Mapping[str, Any]) -> float:
    if found["low"] is None or not found["mean"]:
        return 0.0
    return float(found["high"] - found["low"]) / 2.0 / float(found["mean"])


def _too_wide(links: Sequence[Row]) -> str:
    half = percent(max(_relative_half_width(link["utilisation_fraction"]) for link in links))
    name = links[0]["name"] if len(links) == 1 else f"{len(links)} copies of {described_name(links[0]['name'])}"
    known = f"is only known to ±{half}" if len(links) == 1 else f"is only known to ±{half} at worst"
    return f"utilisation of {name} {known}; raise run.duration or run.replications"


def _unfinished(resolved: Resolved, flows: Sequence[Row]) -> Iterator[str]:
    unfinished = [
        flow
        for flow, row in zip(resolved.rows, flows, strict=True)
        if row["finish_s"] is not None and row["finish_s"]["n"] == 0
    ]
    large = [flow for flow in unfinished if flow.count > 1]
    for name, groups in by_table(large, lambda flow: flow.name).items():
        count = sum(flow.count for flow in groups)
        yield f"not all of the {count:,} transfers of {name} finished within run.duration"
    late = [flow.name for flow in unfinished if flow.count == 1]
    if late:
        names = ", ".join(late[:3]) + (", ..." if len(late) > 3 else "")
        yield f"{plural(len(late), 'transfer')} did not finish within run.duration: {names}"


def _averaged(links: Sequence[Row]) -> str:
    count = max((link["utilisation_fraction"]["n"] for link in links), default=1)
    return f" (means of {count} runs)" if count > 1 else ""


class _Found:
    """All findings of a run, and the scenario that was run."""

    def __init__(self, resolved: Resolved, findings: Sequence[Finding]) -> None:
        self.resolved = resolved
        self.findings = findings

    def of(self, kind: Kind) -> list[Finding]:
        """Give the findings of one kind."""
        return [one for one in self.findings if one.kind == kind]


def _full(_all: _Found, links: Sequence[Finding]) -> Iterator[str]:
    if _is_single(links):
        yield f"{links[0].element} is the bottleneck and full: {_used(links[0])}"
        return
    shares = " and ".join(percent(one.numbers["utilisation_fraction"]) for one in links[:MOST_NAMED])
    yield f"{_named(links)} are bottlenecks and full: utilisation {shares}"


def _busy(_all: _Found, links: Sequence[Finding]) -> Iterator[str]:
    if _is_single(links):
        yield f"{links[0].element} is the bottleneck: {_used(links[0])}"
    else:
        yield f"{_named(links)} are bottlenecks: {_used(links[0])}"


def _idle_after_losses(_all: _Found, links: Sequence[Finding]) -> Iterator[str]:
    why = "reductions for packets that were not lost leave" if links[0].numbers["needless"] else "losses leave"
    yield f"{why} even the busiest link, {links[0].element}, idle most of the time: {_used(links[0])}"


def _idle(_all: _Found, links: Sequence[Finding]) -> Iterator[str]:
    yield f"no link is a bottleneck: the busiest, {links[0].element}, has {_used(links[0])}"


def _used(link: Finding) -> str:
    begins, ends = link.numbers.get("from_s"), "until_s" in link.numbers
    begun = "" if begins is None else f" from {seconds(begins)}{'' if ends else ' on'}"
    used = percent(link.numbers["utilisation_fraction"])
    return f"{'mean ' * is_of_copies(link)}utilisation {used}{begun}{' until the last transfer ends' * ends}"


def _is_single(links: Sequence[Finding]) -> bool:
    return len(links) == 1 and not is_of_copies(links[0])


def _named(links: Sequence[Finding]) -> str:
    names = [copies_text(one) for one in links[:MOST_NAMED]]
    more = len(links) - len(names)
    return " and ".join(names) if not more else f"{', '.join(names)} and {plural(more, 'other link')}"


def _lost(_all: _Found, links: Sequence[Finding]) -> Iterator[str]:
    lost = plural(sum(one.numbers["packets"] for one in links), "packet")
    who = copies_text(links[0]) if len(links) == 1 else plural(len(links), "link")
    yield f"{who} lost {lost} before the queue"


def _dropped(found: _Found, links: Sequence[Finding]) -> Iterator[str]:
    full = found.of("full-link")
    subjects = full if len(full) > 1 else [*full, *found.of("busy-link"), *found.of("idle-after-losses")]
    for place, link in enumerate(links[:MOST_NAMED]):
        is_subject = place == 0 and len(subjects) == 1 and link.element == subjects[0].element
        buffer = _buffer(element_named(found.resolved, link.element))
        if is_of_copies(link):
            dropping = f"the {buffer}s of {copies_text(link)}"
        else:
            dropping = f"its {buffer}" if is_subject else f"{link.element}'s {buffer}"
        yield f"{dropping} dropped {plural(link.numbers['packets'], 'packet')}"
    others = links[MOST_NAMED:]
    if others:
        drops = sum(one.numbers["packets"] for one in others)
        yield f"{plural(len(others), 'other link')} dropped {plural(drops, 'packet')}"


def _no_drop(found: _Found, _none: Sequence[Finding]) -> Iterator[str]:
    yield "no buffer dropped any" if found.of("lost-before-queue") else "no packet was dropped"


def _buffer(link: Element) -> str:
    if link.token_bucket is not None and link.token_bucket.kind == "policer":
        return f"{link.token_bucket.burst_bytes}-byte token bucket"
    kind = f"{link.queue.title} queue" if link.queue.drops_early else "buffer"
    return kind if link.buffer is None else f"{link.buffer} {kind}"


def _recoveries(all_: _Found, found: Sequence[Finding]) -> Iterator[str]:
    timeouts, fast = (found[0].numbers[key] for key in ("timeouts", "fast_retransmits"))
    connections = [flow.connection for flow in all_.resolved.flows if flow.connection is not None]
    nothing_lost = all_.of("no-drop") and not all_.of("lost-before-queue")
    spurious = sum(one.numbers["timeouts"] for one in all_.of("spurious"))
    if timeouts == 0.0:
        yield f"fast retransmit began all {plural(fast, 'recovery', 'recoveries')}, none needed a timeout"
    elif not any(tcp.sender.has_fast_retransmit for tcp in connections):
        yield f"{plural(timeouts, 'timeout')}: this TCP has no fast retransmit"
    elif all_.of("outage"):
        yield f"{plural(timeouts, 'timeout')} and {plural(fast, 'fast retransmit')}: {_outages(all_.of('outage'))}"
    elif timeouts > spurious and timeouts - spurious >= MANY_TIMEOUTS * fast and not nothing_lost:
        yield (
            f"{plural(timeouts, 'timeout')} and {plural(fast, 'fast retransmit')}: many recoveries fail "
            "(retransmissions lost too, too many losses in a window, or too few duplicate ACKs)"
        )
    else:
        yield f"{plural(timeouts, 'timeout')} and {plural(fast, 'fast retransmit')}"


def _outages(links: Sequence[Finding]) -> str:
    """Say that timers expire while the rate of links is 0."""
    length = seconds(max(one.numbers["longest_s"] for one in links))
    drawn = any(one.numbers["drawn"] for one in links)
    return f"timers expire in outages of {_named(links)}, {f'{length} on average' if drawn else f'up to {length}'}"


def _spurious(all_: _Found, found: Sequence[Finding]) -> Iterator[str]:
    spurious, total = found[0].numbers, all_.of("recoveries")[0].numbers
    kinds = (("timeouts", "timeout"), ("fast_retransmits", "fast retransmit"))
    texts = [f"{number(spurious[key])} of {plural(total[key], what)}" for key, what in kinds if spurious[key] > 0.0]
    verb = "was" if sum(spurious.values()) == 1.0 else "were"
    why = "nothing had been dropped"
    if "wait_s" in spurious:
        why += f": the timer expired while packets waited, up to {seconds(spurious['wait_s'])} at {found[0].element}"
    yield f"{' and '.join(texts)} {verb} spurious ({why})"


def _window_limit(_all: _Found, flows: Sequence[Finding]) -> Iterator[str]:
    windows = sorted({flow.numbers["window_packets"] for flow in flows})
    for window in windows[:MOST_NAMED]:
        limited = [flow for flow in flows if flow.numbers["window_packets"] == window]
        # Of a large group the largest window is known, not how many flows have reached it.
        large = [flow for flow in limited if flow.numbers["flows"] > 1]
        single = [flow for flow in limited if flow.numbers["flows"] <= 1]
        alone = single[0].element if len(single) == 1 and len(windows) > 1 else plural(len(single), "flow")
        who = [alone] if single else []
        who += [f"some of the {flow.numbers['flows']:,.0f} flows of {flow.element}" for flow in large]
        yield f"the receiver's window of {number(window)} packets limits {' and '.join(who)}"
    if len(windows) > MOST_NAMED:
        more = len(windows) - MOST_NAMED
        yield f"and {plural(more, 'other window')} {'limits' if more == 1 else 'limit'} other flows"


def _buffer_limit(_all: _Found, flows: Sequence[Finding]) -> Iterator[str]:
    for flow in flows[:MOST_NAMED]:
        which = limiting_buffer(flow.numbers)
        size, enough = (megabytes(flow.numbers[key]) for key in ("bytes", "enough_bytes"))
        held = plural(flow.numbers["packets"], "packet")
        grown = f"which stays at {size}" if "first" in flow.numbers else f"{size} at most"
        text = f"the {which} buffer of {flow.element}, {grown}, limits it to some {held} in flight"
        if flow.numbers["holes"]:
            text += " or waiting behind a lost one"
        sizes = f"{which}_buffer_max of {enough}"
        if other := flow.numbers["other_enough_bytes"]:
            sizes += f" and {'receive' if which == 'send' else 'send'}_buffer_max of {megabytes(other)}"
        gain = "would fill the path" if flow.numbers["fills"] else "would leave it to its losses"
        yield f"{text}: {sizes} {gain}" if flow.numbers["enough_bytes"] > flow.numbers["bytes"] else text


def _starved(found: _Found, flows: Sequence[Finding]) -> Iterator[str]:
    for flow in flows[:MOST_NAMED]:
        link = found.resolved.elements[int(flow.numbers["link"])].name
        rates = f"{bit_rate(flow.numbers['goodput_bps'])} of {bit_rate(flow.numbers['rate_bps'])}"
        why = ", which ACKs of the other direction fill" if flow.numbers["by_acks"] else ""
        yield f"{flow.element} gets next to nothing of {link}, {rates}{why}"
    if len(flows) > MOST_NAMED:
        more = len(flows) - MOST_NAMED
        yield f"and so {'does' if more == 1 else 'do'} {plural(more, 'other flow')}"


def _long_queue(found: _Found, flows: Sequence[Finding]) -> Iterator[str]:
    trips = flows[0].numbers
    several = sum(flow.count for flow in found.resolved.flows if flow.connection is not None) > 1
    whose = f"the round trips of {flows[0].element}" if several else "round trips"
    whole, empty = seconds(trips["round_trip_s"]), seconds(trips["empty_round_trip_s"])
    text = f"queues make {whose} {whole} on a path of {empty}"
    if "queueing_s" in trips:
        added = seconds(trips["queueing_s"])
        path = f"a path of changing delay, {empty} at least" if trips["delay_changes"] else f"a path of {empty}"
        text = f"queues make about {added} of {whose} of {whole}, on {path}"
    oversized = found.of("oversized-buffer")
    yield text if not oversized else f"{text}: {_named(oversized)} {_has(oversized)} more buffer than TCP needs"


def _has(links: Sequence[Finding]) -> str:
    return "has" if _is_single(links) else "have"


def _drain_time(_all: _Found, found: Sequence[Finding]) -> Iterator[str]:
    numbers = found[0].numbers
    held = plural(numbers["packets"], "packet") if "packets" in numbers else plural(numbers["bytes"], "byte")
    if "mean_bytes" in numbers:
        held += f", of {number(round(numbers['mean_bytes']))} bytes on average,"
    yield (
        f"a full buffer of {held} at {bit_rate(numbers['rate_bps'])} delays packets by {seconds(numbers['drain_s'])}"
    )


def _transfers(_all: _Found, found: Sequence[Finding]) -> Iterator[str]:
    numbers = found[0].numbers
    transfers, late = numbers["transfers"], numbers["late"]
    if not late:
        mean_s, longest_s = seconds(numbers["fct_mean_s"]), seconds(numbers["fct_max_s"])
        if numbers["whole_runs"] < numbers["runs"]:
            who = "the transfer" if transfers == 1 else f"all {transfers:,.0f} transfers"
            runs = f"{numbers['whole_runs']:,.0f} of {numbers['runs']:,.0f} runs"
            yield f"{who} finished in only {runs}; those that finished took {mean_s} on average"
        elif transfers == 1:
            yield f"the transfer took {mean_s}"
        else:
            yield f"all {transfers:,.0f} transfers finished, in {mean_s} on average, {longest_s} at most"
    elif numbers["largest_late_group"] == 1:
        yield f"{transfers - late:,.0f} of {plural(transfers, 'transfer')} finished"
    else:
        yield f"some of {transfers:,.0f} transfers did not finish"


def _waited(_all: _Found, found: Sequence[Finding]) -> Iterator[str]:
    for one in found[:MOST_NAMED]:
        numbers = one.numbers
        yield (
            f"half of {one.element}'s transfers took at most {seconds(numbers['fct_p50_s'])}, and the slowest "
            f"{seconds(numbers['fct_max_s'])}: after a loss they waited for a timer (a tail loss probe or a timeout)"
        )


def _shares(_all: _Found, found: Sequence[Finding]) -> Iterator[str]:
    numbers = found[0].numbers
    rates = f"{bit_rate(numbers['least_bps'])} to {bit_rate(numbers['largest_bps'])}"
    over_weights = " of shares over weights" if "largest_weight" in numbers else ""
    index = f"(Jain's index{over_weights} {numbers['index_fraction']:.2f})"
    if "shortest_round_trip_s" in numbers:
        trips = f"{seconds(numbers['shortest_round_trip_s'])} to {seconds(numbers['longest_round_trip_s'])}"
        inverse = numbers["as_inverse"]
        law = "TCP's throughput goes as 1 / RTT" if inverse else "flows with longer round trips get less"
        yield f"{law}: round trips of {trips} make shares of {rates} {index}"
    else:
        yield f"shares{' of hosts' * ('hosts' in numbers)} are unequal, {rates} {index}"


_WORDED: Final[Mapping[Kind, Callable[[_Found, Sequence[Finding]], Iterator[str]]]] = {
    "full-link": _full,
    "busy-link": _busy,
    "idle-after-losses": _idle_after_losses,
    "idle": _idle,
    "lost-before-queue": _lost,
    "dropped": _dropped,
    "no-drop": _no_drop,
    "recoveries": _recoveries,
    "spurious": _spurious,
    "window-limit": _window_limit,
    "buffer-limit": _buffer_limit,
    "long-queue": _long_queue,
    "drain-time": _drain_time,
    "transfers": _transfers,
    "waited-for-timer": _waited,
    "starved": _starved,
    "unequal-shares": _shares,
}
"""A function for each kind that is worded; a buffer that is too large is part of the sentence on the queue."""
