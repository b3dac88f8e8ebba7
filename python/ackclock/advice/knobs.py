"""Sizes that a search may change: the buffers of links, the receivers' windows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, sqrt

from ackclock.advice.records import Rule
from ackclock.findings import Finding, Row, mean
from ackclock.paths import empty_round_trip_s
from ackclock.scenario import Element, Resolved, ResolvedFlow
from ackclock.scenario.copies import described_name
from ackclock.scenario.network import REVERSE

MANY = 500
"""Number of flows from which the rule for many flows was seen to hold (Appenzeller, Keslassy, McKeown 2004)."""
AMPLE = 4.0
"""Ratio of an ample buffer to the longest path's bandwidth-delay product, unless its queue would be too long."""
LEAST_AMPLE = 64
SURELY = 1.5
"""Least ratio of an ample buffer to that product: with the product itself one flow may still leave the link idle."""
WINDOW_OF_EACH = 4
"""Packets of an ample buffer for each endless flow: a window of fewer has no three duplicate ACKs (RFC 5681, 3.2)."""
LONGEST_AMPLE_S = 0.6
"""Longest queue of an ample buffer, unless the path itself is longer: with more, first timers of a second expire.

Zaragoza 2014, section 5.4.1, has it as the upper limit of sensible buffers.
"""
BUSY = 0.5
"""Utilisation from which a link with a queue is worth a search though it drops nothing."""
LONGEST_QUEUE_S = 1.0
"""Longest queue that is tried for the sake of a loss: with a longer one TCP's first timer expires (RFC 6298)."""


@dataclass(frozen=True, slots=True)
class Knob:
    """A size that can be changed, of one link or of equal ones in step.

    Parameters
    ----------
    what : str
        "buffer" or "window".
    names : tuple of str
        The links, or the [[flow]] tables.
    fields : tuple of str
        Their fields, by dotted path.
    links : tuple of str
        The links whose utilisation shows whether the size is enough.
    present : float
        The size that the scenario has [pkt]; infinite if it is unlimited.
    start : int
        Where the search begins [pkt]: the answer of the rule that applies, or of the nearest one.
    ample : int
        A size that is surely enough [pkt].
    packet_rate : float
        Rate of the link [pkt/s].
    rules : tuple of Rule
        What closed forms say of it.
    """

    what: str
    names: tuple[str, ...]
    fields: tuple[str, ...]
    links: tuple[str, ...]
    present: float
    start: int
    ample: int
    packet_rate: float
    rules: tuple[Rule, ...] = ()

    @property
    def place(self) -> str:
        """Name for people."""
        kind = "links" if self.what == "buffer" else "flows"
        if len(self.names) == 1:
            return self.names[0]
        tables = {described_name(name) for name in self.names}
        if len(tables) == 1:
            return f"each copy of {tables.pop()}"
        return f"each of the {len(self.names)} {kind} like {self.names[0]}"

    @property
    def least(self) -> int:
        """The smallest size that is tried [pkt]: a buffer of one packet holds only the one in transmission."""
        return 2 if self.what == "buffer" else 1

    @property
    def longest(self) -> int:
        """The largest size that is tried for the sake of a loss [pkt]."""
        return max(self.ample, ceil(LONGEST_QUEUE_S * self.packet_rate))

    def changes(self, size: float) -> dict[str, str]:
        """Write a size as overrides."""
        return dict.fromkeys(self.fields, f"{int(size)} pkt" if size < inf else "unlimited")


def buffer_knobs(resolved: Resolved, links: Sequence[Row]) -> list[Knob]:
    """Find the links whose buffers matter in a run, the busiest first; equal ones together, and all copies of one.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    links : sequence of mapping
        The summary's rows.
    """
    groups: dict[object, list[tuple[Element, Row]]] = {}
    found = list(zip(resolved.elements, links, strict=True))
    that_matter = {described_name(element.name) for element, row in found if _has_buffer(element) and _matters(row)}
    for element, row in found:
        if _has_buffer(element) and described_name(element.name) in that_matter:
            equal = (
                element.kind,
                element.rate_bps,
                element.rate_process,
                element.buffer,
                element.counting,
                element.queue,
            )
            groups.setdefault(equal, []).append((element, row))
    ranked = sorted(groups.values(), key=_weight, reverse=True)
    return [_buffer_knob(resolved, [element for element, _ in group]) for group in ranked]


def static_knob(resolved: Resolved) -> Knob | None:
    """Find the buffer of the bottleneck that the flows have in common, before any run; None if no link has a rate.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    """
    rates: dict[int, float] = {}
    for flow in resolved.flows:
        for index in flow.path:
            element = resolved.elements[index]
            if element.rate_bps is not None and _has_buffer(element):
                copies = resolved.element_copies[index]
                rates[index] = element.rate_bps * copies / sum(flow.count for flow, _ in crossing(resolved, element))
    if not rates:
        return None
    return _buffer_knob(resolved, [resolved.elements[min(rates, key=lambda index: rates[index])]])


def _has_buffer(element: Element) -> bool:
    """Return whether packets wait at an element: at a link with a rate, but not at a policer."""
    is_policer = element.token_bucket is not None and element.token_bucket.kind == "policer"
    return element.kind in {"link", "private-link"} and element.rate_bps is not None and not is_policer


def _matters(row: Row) -> bool:
    """Return whether a link drops packets, or is busy with packets that wait."""
    waits = mean(row, "queue_mean_packets") >= 1.0
    return mean(row, "dropped_packets") > 0.0 or (mean(row, "utilisation_fraction") >= BUSY and waits)


def _weight(group: list[tuple[Element, Row]]) -> float:
    return max(mean(row, "utilisation_fraction") for _, row in group)


def _buffer_knob(resolved: Resolved, group: list[Element]) -> Knob:
    first = group[0]
    flows = crossing(resolved, first)
    packet = float(max((size for _, size in flows), default=1500))
    rate = (first.rate_bps or 0.0) / (8.0 * packet)
    pipe = rate * max((empty_round_trip_s(resolved, flow) for flow, _ in flows if flow.connection), default=0.1)
    # A private link has a copy for each flow.
    count = 1 if first.kind == "private-link" else sum(flow.count for flow, _ in flows)
    capacity = first.capacity_packets(packet)
    endless = sum(flow.count for flow, _ in flows if flow.is_endless and first.kind != "private-link")
    ample = max(LEAST_AMPLE, AMPLE * pipe if count < MANY else pipe, WINDOW_OF_EACH * endless)
    is_bulk = all(flow.is_endless for flow, _ in flows)
    start = pipe / sqrt(count) if count >= MANY and is_bulk else pipe
    return Knob(
        what="buffer",
        names=tuple(element.name for element in group),
        fields=tuple(dict.fromkeys(field_of(element.name) for element in group)),
        links=tuple(element.name for element in group),
        present=inf if capacity is None else capacity - (1.0 if first.counting == "waiting" else 0.0),
        start=max(2, ceil(round(start, 6))),
        ample=max(4, ceil(SURELY * pipe), ceil(min(ample, LONGEST_AMPLE_S * rate))),
        packet_rate=rate,
    )


def crossing(resolved: Resolved, element: Element) -> list[tuple[ResolvedFlow, int]]:
    """Give the flows that cross an element, with the bytes of what they send over it: data, ACKs, or echoes."""
    index = resolved.element_indices[element.name]
    flows = [resolved.flows[at] for at in resolved.crossing_flows[index]]
    data = [(flow, flow.packet_bytes) for flow in flows if index in flow.path]
    answers = [(flow, flow.answer_bytes) for flow in flows if index in flow.return_path]
    return data + answers


def by_direction(knob: Knob) -> list[Knob]:
    """Take equal links apart by their direction, as they carry the data of other flows."""
    parts = [[name for name in knob.names if name.endswith(REVERSE) == is_reverse] for is_reverse in (False, True)]
    return [
        replace(
            knob, names=tuple(names), links=tuple(names), fields=tuple(dict.fromkeys(field_of(name) for name in names))
        )
        for names in parts
        if names
    ]


def shortest_trip_s(resolved: Resolved, knob: Knob) -> float:
    """Compute the shortest empty round trip of the TCP flows at a link [s]; without any, that of the other flows.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    knob : Knob
        The link's buffer.
    """
    element = resolved.elements_by_name[knob.names[0]]
    flows = [flow for flow, _ in crossing(resolved, element)]
    connections = [flow for flow in flows if flow.connection]
    return min((empty_round_trip_s(resolved, flow) for flow in connections or flows), default=0.0)


def field_of(link: str, key: str = "buffer") -> str:
    """Give the dotted path of a field of a link; the reverse direction is a table of the link."""
    name = described_name(link.removesuffix(REVERSE))
    return f"link.{name}.{key}" if not link.endswith(REVERSE) else f"link.{name}.reverse.{key}"


def window_knob(resolved: Resolved, limited: Sequence[Finding]) -> Knob | None:
    """Give the receivers' windows that limit flows; None if no link of theirs has a rate.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    limited : sequence of Finding
        Its findings of kind "window-limit".
    """
    names = {described_name(one.element) for one in limited}
    flows = [flow for flow in resolved.flows if described_name(flow.name) in names]
    links = [(resolved.elements[index].rate_bps, index) for flow in flows for index in flow.path]
    rates = [(rate, index) for rate, index in links if rate is not None]
    if not rates:
        return None
    slowest = resolved.elements[min(rates)[1]]
    sharing = 1 if slowest.kind == "private-link" else sum(flow.count for flow, _ in crossing(resolved, slowest))
    packet_rate = min(rates)[0] / flows[0].packet_bits
    pipe = packet_rate * max(empty_round_trip_s(resolved, flow) for flow in flows)
    return Knob(
        what="window",
        names=tuple(flow.name for flow in flows),
        fields=tuple(dict.fromkeys(f"flow.{described_name(flow.name)}.tcp.max_window" for flow in flows)),
        links=(slowest.name,),
        present=max(flow.tcp.sender.window_packets for flow in flows),
        start=max(2, ceil(round(pipe / sharing, 6))),
        ample=max(LEAST_AMPLE, ceil(AMPLE * pipe / sharing)),
        packet_rate=packet_rate,
    )
