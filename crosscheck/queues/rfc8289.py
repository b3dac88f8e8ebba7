"""CoDel by the pseudocode of RFC 8289 and flow queues by the words of RFC 8290, which play arrivals at a queue.

Written from the RFCs alone, without a look at the engine: a packet that has arrived departs, or is dropped, where their
text says so.
"""

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from crosscheck.queues.events import Event, Events

NEVER = math.inf
NOT_ECT, ECT1, ECT0, CE = range(4)
"""ECN codepoints (RFC 3168, section 5)."""


class Parameters(NamedTuple):
    """TARGET and INTERVAL [s], and the length of the largest packet [B] (RFC 8289, section 5.2)."""

    target_s: float
    interval_s: float
    largest_bytes: int


class Packet(NamedTuple):
    """A packet that waits, with its length [B], the instant of its arrival [s] and its ECN codepoint (RFC 3168)."""

    flow: int
    number: int
    size: int
    since_s: float
    codepoint: int = 0


class Discipline(Protocol):
    """A queue, as a link uses it."""

    def enqueue(self, packet: Packet) -> None:
        """Take a packet that arrives."""
        ...

    def dequeue(self, now_s: float) -> Packet | None:
        """Give the packet that is sent next; None if none is left."""
        ...


@dataclass
class Codel:
    """A queue with CoDel: `codel_queue_t` of RFC 8289, sections 5.3 to 5.6, with the names that it has there.

    Parameters
    ----------
    parameters : Parameters
        The constants.
    drop : callable
        Gets each packet that is dropped, and the instant.
    """

    parameters: Parameters
    drop: Callable[[Packet, float], None]
    packets: deque[Packet] = field(default_factory=deque)
    bytes: int = 0
    first_above_time: float = 0.0
    drop_next: float = 0.0
    count: int = 0
    lastcount: int = 0
    dropping: bool = False

    def enqueue(self, packet: Packet) -> None:
        """Take a packet that arrives."""
        self.packets.append(packet)
        self.bytes += packet.size

    def dequeue(self, now_s: float) -> Packet | None:
        """Give the packet that is sent next."""
        packet, ok_to_drop = self._dodequeue(now_s)
        if self.dropping:
            if not ok_to_drop:
                self.dropping = False
            while now_s >= self.drop_next and self.dropping:
                self._drop(packet, now_s)
                self.count += 1
                packet, ok_to_drop = self._dodequeue(now_s)
                if ok_to_drop:
                    self.drop_next = self._control_law(self.drop_next)
                else:
                    self.dropping = False
        elif ok_to_drop:
            self._drop(packet, now_s)
            packet, _ = self._dodequeue(now_s)
            self.dropping = True
            delta = self.count - self.lastcount
            recently = now_s - self.drop_next < 16 * self.parameters.interval_s
            self.count = delta if delta > 1 and recently else 1
            self.drop_next = self._control_law(now_s)
            self.lastcount = self.count
        return packet

    def _dodequeue(self, now_s: float) -> tuple[Packet | None, bool]:
        if not self.packets:
            self.first_above_time = 0.0
            return None, False
        packet = self.packets.popleft()
        self.bytes -= packet.size
        if now_s - packet.since_s < self.parameters.target_s or self.bytes <= self.parameters.largest_bytes:
            self.first_above_time = 0.0
            return packet, False
        if self.first_above_time == 0.0:
            self.first_above_time = now_s + self.parameters.interval_s
            return packet, False
        return packet, now_s >= self.first_above_time

    def _control_law(self, since_s: float) -> float:
        return since_s + self.parameters.interval_s / math.sqrt(self.count)

    def _drop(self, packet: Packet | None, now_s: float) -> None:
        if packet is None:
            raise AssertionError("a packet that may be dropped was there")
        self.drop(packet, now_s)


@dataclass
class _FlowQueue:
    codel: Codel
    credits: int = 0
    active: bool = False


@dataclass
class FlowQueues:
    """Flow queues with CoDel, one for each flow: RFC 8290, sections 4.1 and 4.2, without its limit of packets.

    Parameters
    ----------
    parameters : Parameters
        The constants of CoDel.
    quantum : int
        Bytes that a queue may send in a turn.
    drop : callable
        Gets each packet that is dropped, and the instant.
    """

    parameters: Parameters
    quantum: int
    drop: Callable[[Packet, float], None]
    queues: dict[int, _FlowQueue] = field(default_factory=dict)
    new: deque[_FlowQueue] = field(default_factory=deque)
    old: deque[_FlowQueue] = field(default_factory=deque)

    def enqueue(self, packet: Packet) -> None:
        """Take a packet that arrives, and add its queue to the new ones if it is on neither list."""
        queue = self.queues.setdefault(packet.flow, _FlowQueue(Codel(self.parameters, self.drop)))
        queue.codel.enqueue(packet)
        if not queue.active:
            queue.active, queue.credits = True, self.quantum
            self.new.append(queue)

    def dequeue(self, now_s: float) -> Packet | None:
        """Give the packet that is sent next: from the new queues first."""
        while self.new or self.old:
            queues = self.new or self.old
            queue = queues[0]
            if queue.credits <= 0:
                queue.credits += self.quantum
                self.old.append(queues.popleft())
                continue
            packet = queue.codel.dequeue(now_s)
            if packet is not None:
                queue.credits -= packet.size
                return packet
            queues.popleft()
            if queues is self.new:
                self.old.append(queue)
            else:
                queue.active = False
        return None


def serve(
    build: Callable[[Callable[[Packet, float], None]], Discipline],
    arrivals: Iterable[Event],
    sizes: tuple[int, ...],
    rate_bps: float,
) -> Events:
    """Send what arrives at a queue over a link.

    Parameters
    ----------
    build : callable
        Makes the queue, with the function that gets its drops.
    arrivals : iterable of Event
        The packets, in the order of their arrival.
    sizes : tuple of int
        The length of each flow's packets [B].
    rate_bps : float
        The rate of the link [bit/s].

    Returns
    -------
    Events
        The instants at which transmissions end, with the marks, and the drops.
    """
    found = Events()
    queue = build(lambda packet, now_s: found.drops.append(Event(now_s, packet.flow, packet.number)))
    free_s = NEVER  # the end of the transmission that goes on; `NEVER`: none does

    def send(now_s: float) -> float:
        packet = queue.dequeue(now_s)
        if packet is None:
            return NEVER
        end_s = now_s + 8 * packet.size / rate_bps
        found.departures.append(Event(end_s, packet.flow, packet.number, ce=packet.codepoint == CE))
        return end_s

    for arrival in arrivals:
        while free_s <= arrival.time_s:
            free_s = send(free_s)
        size, codepoint = sizes[arrival.flow], _codepoint(arrival)
        queue.enqueue(Packet(arrival.flow, arrival.number, size, arrival.time_s, codepoint))
        if free_s == NEVER:
            free_s = send(arrival.time_s)
    while free_s < NEVER:
        free_s = send(free_s)
    return found


def _codepoint(arrival: Event) -> int:
    if arrival.ce:
        return CE
    return (ECT1 if arrival.l4s else ECT0) if arrival.ect else NOT_ECT
