"""Journeys of packets and ACKs: when each copy was sent, waited, left each link, and where it ended.

The engine records what is sent, what leaves each link and what is dropped. A copy that arrives at a queue of one class
leaves it, or is dropped there, in the order of arrival; so the copies of one packet are told apart link by link.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final

import pandas as pd

from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.stories.captured import Departure

Key = tuple[int, int, bool]
"""A packet: its flow, its number, and whether it is an ACK."""
_SMALL: Final = 1e-9


@dataclass(slots=True)
class Hop:
    """The crossing of one direction of a link.

    Parameters
    ----------
    element : str
        The direction of the link.
    arrived, departed : float
        When the packet came to the queue, and when its last bit left [s]; infinite if it did not.
    """

    element: str
    arrived: float
    departed: float = inf


@dataclass(slots=True)
class Journey:
    """One copy of a packet, or one ACK.

    Parameters
    ----------
    flow, number : int
        The flow, and the packet's number; of an ACK the number that is expected next.
    answer, again : bool
        Whether it is an ACK or an echo, and whether it is a retransmission.
    sent : float
        When it left its host [s].
    hops : list of Hop
        The links that it came to.
    dropped : str
        The link whose queue dropped it, or that lost it; empty if none did.
    lost : bool
        Whether the link lost it before the queue.
    ended : float
        When it arrived at the other host, or was dropped [s]; infinite if that was not seen.
    """

    flow: int
    number: int
    answer: bool
    again: bool
    sent: float
    hops: list[Hop] = field(default_factory=list)
    dropped: str = ""
    lost: bool = False
    ended: float = inf


class Delays:
    """The propagation delay of each element at an instant.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    changes : DataFrame, optional
        The trace of delays that change.
    """

    def __init__(self, resolved: Resolved, changes: pd.DataFrame | None) -> None:
        self._constant = {element.name: element.delay_s for element in resolved.elements}
        self._changing: dict[str, tuple[list[float], list[float]]] = {}
        if changes is not None:
            for name, rows in changes.groupby("link", observed=True):
                self._changing[str(name)] = (rows["time_s"].tolist(), rows["delay_s"].tolist())

    def of(self, element: str, time_s: float) -> float:
        """Give the delay of an element for a packet that leaves it at an instant [s]."""
        if element not in self._changing:
            return self._constant[element]
        times, delays = self._changing[element]
        return delays[max(0, bisect_right(times, time_s) - 1)]


class _Ends:
    """Ends of the copies of each packet at each element, in order: they left it, or were dropped."""

    def __init__(self) -> None:
        self.found: dict[tuple[Key, str], list[tuple[float, str]]] = defaultdict(list)

    def add(self, key: Key, element: str, time_s: float, how: str) -> None:
        self.found[(key, element)].append((time_s, how))

    def sort(self) -> None:
        for ends in self.found.values():
            ends.sort(reverse=True)

    def next(self, key: Key, element: str, arrived: float) -> tuple[float, str] | None:
        """Take the first end that is not before the arrival; ends before it are of copies sent earlier."""
        ends = self.found.get((key, element), [])
        while ends:
            end = ends.pop()
            if end[0] >= arrived - _SMALL:
                return end
        return None


def journeys(
    resolved: Resolved, traces: Mapping[str, pd.DataFrame], left: Sequence[Departure], since: float
) -> list[Journey]:
    """Put the journeys of all packets together that were sent after an instant.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    traces : mapping of str to DataFrame
        Its traces `sequence` and `drops`, and `delay` if delays change.
    left : sequence of Departure
        What left the links, from that instant on.
    since : float
        The instant [s].
    """
    flows = [flow for flow in resolved.flows for _ in range(flow.count)]
    ends, delays = _ends(resolved, traces["drops"], left, since), Delays(resolved, traces.get("delay"))
    found = []
    for journey in _sent(resolved, traces["sequence"], since):
        _follow(journey, resolved, flows[journey.flow], ends, delays)
        found.append(journey)
    answers = list(_answers(resolved, flows, found, ends, delays))
    return [*found, *answers]


def _ends(resolved: Resolved, drops: pd.DataFrame, left: Iterable[Departure], since: float) -> _Ends:
    ends = _Ends()
    for one in left:
        ends.add((one.flow, one.number, one.answer), one.element, one.time_s, "left")
    numbers = {name: number for number, name in enumerate(resolved.flow_names)}
    rows = drops[drops["time_s"] >= since]
    columns = (rows[name].tolist() for name in ("time_s", "link", "flow", "sequence", "ack", "lost"))
    for time_s, link, flow, number, is_ack, lost in zip(*columns, strict=True):
        ends.add((numbers[str(flow)], int(number), bool(is_ack)), str(link), time_s, "lost" if lost else "dropped")
    ends.sort()
    return ends


def _sent(resolved: Resolved, sequence: pd.DataFrame, since: float) -> Iterator[Journey]:
    """Begin the journeys of data, as it was sent."""
    numbers = {name: number for number, name in enumerate(resolved.flow_names)}
    rows = sequence[(sequence["time_s"] >= since) & (sequence["kind"] != "acknowledged")]
    columns = (rows[name].tolist() for name in ("flow", "time_s", "kind", "sequence"))
    for name, time_s, kind, number in zip(*columns, strict=True):
        yield Journey(numbers[str(name)], int(number), answer=False, again=str(kind) == "retransmitted", sent=time_s)


def _follow(journey: Journey, resolved: Resolved, flow: ResolvedFlow, ends: _Ends, delays: Delays) -> None:
    """Follow a copy from link to link, to its end."""
    path = flow.return_path if journey.answer else flow.path
    key = (journey.flow, journey.number, journey.answer)
    time = journey.sent + (flow.return_delay_s if journey.answer else 0.0)
    for index in path:
        element = resolved.elements[index]
        if element.kind == "host":
            time += element.processing_s(ack=journey.answer)
            continue
        hop = Hop(element.name, time)
        journey.hops.append(hop)
        end = ends.next(key, element.name, time)
        if end is None:
            return
        if end[1] != "left":
            journey.dropped, journey.lost, journey.ended = element.name, end[1] == "lost", end[0]
            return
        hop.departed = end[0]
        time = end[0] + delays.of(element.name, end[0])
    journey.ended = time + (0.0 if journey.answer else flow.forward_delay_s)


def _answers(
    resolved: Resolved, flows: Sequence[ResolvedFlow], data: Iterable[Journey], ends: _Ends, delays: Delays
) -> Iterator[Journey]:
    """Find when each ACK and each echo was sent, and follow it."""
    arrived: dict[int, list[Journey]] = defaultdict(list)
    for journey in data:
        if journey.ended < inf and not journey.dropped:
            arrived[journey.flow].append(journey)
    for number, flow in enumerate(flows):
        if not flow.return_path:
            continue
        first = resolved.elements[flow.return_path[0]]
        departures = sorted(
            (time_s, key[1], how)
            for (key, element), times in ends.found.items()
            if key[0] == number and key[2] and element == first.name
            for time_s, how in times
        )
        triggers = _triggers(flow, sorted(arrived[number], key=lambda one: one.ended))
        for time_s, expected, how in departures:
            latest = time_s - (first.service_s(flow.answer_bytes) if how == "left" else 0.0) - flow.return_delay_s
            sent = _sent_by(triggers.get(expected, []), latest)
            journey = Journey(number, expected, answer=True, again=False, sent=sent)
            _follow(journey, resolved, flow, ends, delays)
            yield journey


def _triggers(flow: ResolvedFlow, arrivals: Sequence[Journey]) -> dict[int, list[float]]:
    """Give, for each number that an ACK can have, the instants at which data arrived that make it so [s]."""
    found: dict[int, list[float]] = defaultdict(list)
    if flow.connection is None:
        for journey in arrivals:
            found[journey.number].append(journey.ended)
        return found
    expected, beyond = (min((one.number for one in arrivals), default=0), set[int]())
    for journey in arrivals:
        beyond.add(journey.number)
        while expected in beyond:
            beyond.discard(expected)
            expected += 1
        found[expected].append(journey.ended)
    return found


def _sent_by(triggers: list[float], latest: float) -> float:
    """Give the arrival that an ACK answers: the first one that is left, and no later than its departure allows.

    An ACK that no arrival explains, such as one that a timer sent, left its host as late as its departure allows.
    """
    return triggers.pop(0) if triggers and triggers[0] <= latest + _SMALL else latest


def plain(journey: Journey, resolved: Resolved, names: Sequence[str]) -> dict[str, Any]:
    """Give a journey as plain data; an instant that was not seen is null."""
    size = {element.name: index for index, element in enumerate(resolved.elements)}
    return {
        "flow": names[journey.flow],
        "number": journey.number,
        "ack": journey.answer,
        "again": journey.again,
        "sent": journey.sent,
        "hops": [[size[hop.element], hop.arrived, _known(hop.departed)] for hop in journey.hops],
        "dropped": journey.dropped or None,
        "lost": journey.lost,
        "ended": _known(journey.ended),
    }


def _known(time_s: float) -> float | None:
    return None if time_s == inf else time_s
