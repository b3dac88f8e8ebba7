"""Events at a queue: packets that arrive, depart and are dropped."""

from dataclasses import dataclass, field
from typing import NamedTuple

TOLERANCE_S = 1.1e-6
"""Largest difference of the two times of an event [s]: ns-2's traces have microseconds."""


class Event(NamedTuple):
    """A packet at a queue.

    Parameters
    ----------
    time_s : float
        Instant [s].
    flow : int
        Number of its flow.
    number : int
        Number of the packet in its flow, from 0; a retransmission has that of the first copy.
    ce : bool
        Whether it is marked.
    ect : bool
        Whether its transport is ECN-capable; of arrivals alone.
    l4s : bool
        Whether it is of L4S, ECT(1) or marked (RFC 9331); of arrivals alone.
    """

    time_s: float
    flow: int
    number: int
    ce: bool = False
    ect: bool = False
    l4s: bool = False


@dataclass(frozen=True, slots=True)
class Events:
    """All that departs from a queue and all that is dropped there, each in the order of time."""

    departures: list[Event] = field(default_factory=list)
    drops: list[Event] = field(default_factory=list)

    @property
    def marks(self) -> int:
        """Return the number of packets that depart with a mark."""
        return sum(event.ce for event in self.departures)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first event in which two queues differ."""

    kind: str
    index: int
    theirs: Event | None
    ours: Event | None

    def __str__(self) -> str:
        return f"{self.kind} {self.index}: ns-2 {self.theirs}, ours {self.ours}"


def first_difference(theirs: Events, ours: Events, until_s: float) -> Difference | None:
    """Compare all events before an instant.

    Parameters
    ----------
    theirs, ours : Events
        What ns-2 and our engine did.
    until_s : float
        Instant from which on events are left out, as one side may have ended [s].

    Returns
    -------
    Difference or None
        The earliest difference; None if all packets depart and are dropped in the same order, with the same marks, at
        the same times within `TOLERANCE_S`.
    """
    found = (
        _first("departure", theirs.departures, ours.departures, until_s),
        _first("drop", theirs.drops, ours.drops, until_s),
    )
    return min((one for one in found if one), key=_instant, default=None)


def _instant(difference: Difference) -> float:
    return min(event.time_s for event in (difference.theirs, difference.ours) if event)


def _first(kind: str, theirs: list[Event], ours: list[Event], until_s: float) -> Difference | None:
    for index in range(max(len(theirs), len(ours))):
        one, other = (events[index] if index < len(events) else None for events in (theirs, ours))
        if one and other and min(one.time_s, other.time_s) >= until_s:
            return None
        if one is None or other is None:
            left = one or other
            return Difference(kind, index, one, other) if left and left.time_s < until_s else None
        same = (one.flow, one.number, one.ce) == (other.flow, other.number, other.ce)
        if not same or abs(one.time_s - other.time_s) > TOLERANCE_S:
            return Difference(kind, index, one, other)
    return None
