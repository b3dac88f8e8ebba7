"""Generalised processor sharing as a fluid, and packets in the order in which it finishes them (Parekh, Gallager 1993).

Without virtual time: queues of bytes that are all served at once, in proportion to their weights, from one arrival or
emptied packet to the next. It knows all arrivals, and its order is that of weighted fair queueing.
"""

from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush

from crosscheck.queues.events import Event
from crosscheck.queues.rfc8289 import Packet


@dataclass
class _Backlog:
    """The packets of a flow that the fluid has not finished, and what is left of the first [bit]."""

    weight: float
    packets: deque[tuple[int, float]] = field(default_factory=deque)
    left: float = 0.0


def finishes(
    arrivals: list[Event], sizes: tuple[int, ...], weights: tuple[int, ...], rate_bps: float
) -> dict[tuple[int, int], float]:
    """Compute when the fluid has served each packet.

    Parameters
    ----------
    arrivals : list of Event
        The packets, in the order of their arrival; each flow numbers its own.
    sizes, weights : tuple of int
        The length of each flow's packets [B], and its weight.
    rate_bps : float
        The rate of the link [bit/s].

    Returns
    -------
    dict
        The instants [s] by flow and number.
    """
    flows = [_Backlog(float(weight)) for weight in weights]
    found: dict[tuple[int, int], float] = {}
    now_s = 0.0
    for arrival in [*arrivals, None]:
        until_s = arrival.time_s if arrival else float("inf")
        while busy := [number for number, flow in enumerate(flows) if flow.packets]:
            share_bps = rate_bps / sum(flows[number].weight for number in busy)
            first = min(busy, key=lambda number: flows[number].left / flows[number].weight)
            needed_s = flows[first].left / flows[first].weight / share_bps
            step_s = min(needed_s, until_s - now_s)
            for number in busy:
                flows[number].left -= step_s * share_bps * flows[number].weight
            now_s += step_s
            if step_s < needed_s:
                break
            number, _ = flows[first].packets.popleft()
            found[first, number] = now_s
            flows[first].left = flows[first].packets[0][1] if flows[first].packets else 0.0
        if arrival:
            now_s, flow, bits = arrival.time_s, flows[arrival.flow], 8.0 * sizes[arrival.flow]
            flow.left = flow.left if flow.packets else bits
            flow.packets.append((arrival.number, bits))
    return found


@dataclass
class InOrder:
    """A queue that sends, of the packets that wait, the one that the fluid finishes first.

    Parameters
    ----------
    finish_s : dict
        The instants at which the fluid has served the packets, by flow and number [s].
    """

    finish_s: dict[tuple[int, int], float]
    packets: list[tuple[float, int, Packet]] = field(default_factory=list)
    """A heap of the packets that wait: their instants, and of equal ones who came first."""
    arrived: int = 0

    def enqueue(self, packet: Packet) -> None:
        """Take a packet that arrives."""
        heappush(self.packets, (self.finish_s[packet.flow, packet.number], self.arrived, packet))
        self.arrived += 1

    def dequeue(self, now_s: float) -> Packet | None:
        """Give the packet that is sent next."""
        if not self.packets or now_s < 0.0:
            return None
        return heappop(self.packets)[2]
