"""The story of a packet: sent, queued, dropped, found lost by which rule, sent again, delivered, acknowledged."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import Any, Final

import pandas as pd

from ackclock.scenario import Element, Resolved, ResolvedFlow
from ackclock.scenario.resolved_tcp import SelectiveSettings
from ackclock.stories.journeys import Journey
from ackclock.units import show

Key = tuple[int, int]
"""A packet: its flow and its number."""
_WAITED_S: Final = 1e-7
_FOUND: Final = "found lost"


@dataclass
class Story:
    """Events of one packet, in order.

    Parameters
    ----------
    lines : list of (float, str)
        Instant [s] and what happened then.
    """

    lines: list[tuple[float, str]] = field(default_factory=list)

    def add(self, time_s: float, text: str) -> None:
        """Add a line."""
        self.lines.append((time_s, text))

    def plain(self) -> list[list[Any]]:
        """Give the lines as plain data, in order of time."""
        ordered = sorted(self.lines, key=lambda line: (line[0], not line[1].startswith(_FOUND)))
        return [[time_s, text] for time_s, text in ordered]


def stories(resolved: Resolved, traces: Mapping[str, pd.DataFrame], journeys: Iterable[Journey]) -> dict[Key, Story]:
    """Put the stories of data packets together.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    traces : mapping of str to DataFrame
        Its traces `losses` and `sequence`, and `state` if it was recorded.
    journeys : iterable of Journey
        All copies of the packets, and the echoes of those that are pings.
    """
    found: dict[Key, Story] = defaultdict(Story)
    probes = probe_times(resolved, traces.get("state"))
    copies: dict[Key, list[Journey]] = defaultdict(list)
    for journey in sorted(journeys, key=lambda one: one.sent):
        key = (journey.flow, journey.number)
        if journey.answer:
            if _flow(resolved, journey.flow).connection is None:
                for time_s, text in _lines(resolved, journey, "the echo "):
                    found[key].add(time_s, text)
            continue
        copies[key].append(journey)
        for time_s, text in _lines(resolved, journey, probe=journey.sent in probes[journey.flow]):
            found[key].add(time_s, text)
    detections = _detections(resolved, traces["losses"])
    for key, own in copies.items():
        repairs = [one for one in own if one.sent not in probes[key[0]]]
        for time_s, text in _found_lost(resolved, key, repairs, detections.get(key[0], [])):
            found[key].add(time_s, text)
    _add_acknowledgments(resolved, traces["sequence"], found)
    return found


def probe_times(resolved: Resolved, states: pd.DataFrame | None) -> Mapping[int, set[float]]:
    """Collect the instants at which each flow sent a tail loss probe [s], by its number; none without a trace."""
    found: dict[int, set[float]] = defaultdict(set)
    if states is not None:
        numbers = {name: number for number, name in enumerate(resolved.flow_names)}
        rows = states[states["event"] == "probe"]
        for flow, time_s in zip(rows["flow"].tolist(), rows["time_s"].tolist(), strict=True):
            found[numbers[str(flow)]].add(time_s)
    return found


def _lines(resolved: Resolved, journey: Journey, what: str = "", *, probe: bool = False) -> Iterator[tuple[float, str]]:
    """Say where a copy was; `what` is its name at the beginning of each line, of a ping's echo."""
    sent = "sent again" if journey.again else "was sent" if what else "sent"
    yield journey.sent, f"{what}{sent} as a tail loss probe (RFC 8985, section 7.3)" if probe else f"{what}{sent}"
    flow = _flow(resolved, journey.flow)
    for hop in journey.hops:
        element = resolved.elements_by_name[hop.element]
        if hop.departed == inf:
            continue
        service = element.service_s(flow.answer_bytes if journey.answer else flow.packet_bytes)
        waited = hop.departed - hop.arrived - service
        if waited > _WAITED_S:
            yield hop.arrived, f"{what}came to the queue of {hop.element}, waited {_ms(waited)}"
        yield hop.departed, f"{what}left {hop.element}"
    if journey.dropped:
        came = max(journey.ended, journey.hops[-1].arrived)  # captures have whole nanoseconds
        yield came, f"{what}{_end(resolved.elements_by_name[journey.dropped], lost=journey.lost)}"
    elif journey.ended < inf:
        yield journey.ended, f"{what}arrived at the {'sender' if journey.answer else 'receiver'}"


def _end(element: Element, *, lost: bool) -> str:
    """Say what dropped a packet at an element."""
    if lost:
        return f"was lost on {element.name}, before its queue"
    bucket = element.token_bucket
    if bucket is not None and bucket.kind == "policer":
        return f"was dropped by the policer {element.name}: its bucket of {show(bucket.burst_bytes, 'B')} lacked tokens"
    return f"was dropped by the queue of {element.name} ({_discipline(element)})"


def _flow(resolved: Resolved, number: int) -> ResolvedFlow:
    """Give the flow of a number, or the group that it is of."""
    first_of_next = 0
    for flow in resolved.flows:
        first_of_next += flow.count
        if number < first_of_next:
            return flow
    raise IndexError(number)


def _discipline(element: Element) -> str:
    aqm = element.queue.aqm
    buffer = "no limit" if element.buffer is None else f"{element.buffer} buffer"
    return f"{buffer}, drop-tail" if aqm.kind == "none" else f"{aqm.title}, {buffer}"


@dataclass(frozen=True, slots=True)
class _Detection:
    """A loss that a sender detected, as the engine records it: of the first packet that is not acknowledged."""

    time_s: float
    number: int
    cause: str
    spurious: bool


def _detections(resolved: Resolved, losses: pd.DataFrame) -> dict[int, list[_Detection]]:
    """Collect the detections of each flow, in order of time."""
    numbers = {name: number for number, name in enumerate(resolved.flow_names)}
    found: dict[int, list[_Detection]] = defaultdict(list)
    columns = (losses[name].tolist() for name in ("time_s", "flow", "sequence", "cause", "spurious"))
    for time_s, flow, number, cause, spurious in zip(*columns, strict=True):
        found[numbers[str(flow)]].append(_Detection(time_s, int(number), str(cause), bool(spurious)))
    return found


def _found_lost(
    resolved: Resolved, key: Key, copies: list[Journey], detections: list[_Detection]
) -> Iterator[tuple[float, str]]:
    """Say by which rule each copy of a packet was found lost: a detection of its own, or of a packet before it.

    `copies` are those without tail loss probes.
    """
    flow, number = key
    if not copies:
        return
    own = [one for one in detections if one.number == number and one.time_s >= copies[0].sent]
    for one in own:
        text = f"{_FOUND} by {_rule(resolved, flow, one.cause)}"
        latest = [copy for copy in copies if copy.sent < one.time_s][-1:]
        if latest and latest[0].again and not latest[0].dropped and not one.spurious:
            begun = "the timeout" if one.cause == "timeout" else "a fast retransmit"
            text = f"began another recovery by {begun}, though its repair was in flight"
        yield one.time_s, f"{text}; it had not been dropped: spurious" if one.spurious else text
    for before, again in pairwise(copies):
        if any(before.sent <= one.time_s <= again.sent for one in own):
            continue
        others = [one for one in detections if one.time_s <= again.sent]
        if others:
            first = others[-1]
            begun = "the timeout" if first.cause == "timeout" else "the fast retransmit"
            yield (
                again.sent,
                f"{_FOUND} in the recovery that {begun} of packet {first.number} began at {first.time_s:.4f} s",
            )


def _rule(resolved: Resolved, flow: int, cause: str) -> str:
    """Name the rule by which a sender detects a loss."""
    if cause == "timeout":
        return "a timeout: the retransmission timer expired (RFC 6298)"
    sender = _flow(resolved, flow).tcp.sender
    if isinstance(sender, SelectiveSettings) and sender.loss_detection == "rack":
        return "a fast retransmit: a packet sent later had arrived, and the reordering window was over (RACK, RFC 8985)"
    if isinstance(sender, SelectiveSettings):
        return "a fast retransmit: enough later packets had arrived (RFC 6675)"
    return "a fast retransmit: duplicate ACKs (RFC 5681, section 3.2)"


def _add_acknowledgments(resolved: Resolved, sequence: pd.DataFrame, found: Mapping[Key, Story]) -> None:
    """Add the first ACK that covers each packet, and the loss recovery in which others were sent again."""
    rows = sequence[sequence["kind"] == "acknowledged"]
    names = resolved.flow_names
    flows = {str(name): own for name, own in rows.groupby("flow", observed=True)}
    covered = {name: (own["sequence"].cummax().tolist(), own["time_s"].tolist()) for name, own in flows.items()}
    for (flow, number), story in found.items():
        expected, times = covered.get(names[flow], ([], []))
        index = bisect_left(expected, number + 1)
        if index < len(expected) and times[index] >= story.lines[0][0]:
            story.add(times[index], f"acknowledged: the ACK expects packet {expected[index]}")


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms"
