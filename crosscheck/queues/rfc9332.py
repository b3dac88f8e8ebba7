"""DualPI2 by the pseudocode of RFC 9332, appendix A, which plays arrivals at a coupled dual queue.

Its text was not there as this was written: the pseudocode is cited from memory, and was compared with what two public
programs cite of it. The scheduler, which the RFC leaves open, is Linux's.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from crosscheck.queues.rfc8289 import CE, NOT_ECT, Packet

NEAR = 1e-5
"""Largest distance from 1 at which a sum of probabilities may fall on either side, as captures have nanoseconds."""


class Parameters(NamedTuple):
    """The constants of `dualpi2_params_init`; times in seconds, lengths in bytes."""

    target_s: float = 0.015
    update_s: float = 0.015
    alpha: float = 0.15
    beta: float = 3.0
    k: float = 2.0
    min_th_s: float = 0.0008
    range_s: float = 0.0004
    th_len: int = 1
    classic_percent: int = 10
    largest_bytes: int = 1500


@dataclass
class Queue:
    """The L4S or the Classic queue, `lq` or `cq`, with the count of `recur`."""

    packets: deque[Packet] = field(default_factory=deque)
    count: float = 0.0
    undecided: bool = False

    def time(self, now_s: float) -> float:
        """Give the time that the first packet has waited [s]; 0 if none waits."""
        return now_s - self.packets[0].since_s if self.packets else 0.0

    def recur(self, likelihood: float) -> bool:
        """Return true with a likelihood, at even distances."""
        self.count += likelihood
        self.undecided = 0 < abs(self.count - 1) < NEAR
        if self.count > 1:
            self.count -= 1
            return True
        return False


@dataclass
class Scheduler:
    """Linux's weighted round robin of both queues (`dequeue_packet` of `sch_dualpi2.c`)."""

    classic_percent: int
    largest_bytes: int
    credit: int = 0

    def __post_init__(self) -> None:
        """Begin with the credit of an empty queue."""
        self.reset()

    def reset(self) -> None:
        """Forget what was sent: both queues are empty."""
        self.credit = self.largest_bytes * (2 * self.classic_percent - 100)

    def chooses_l4s(self, lq: Queue, cq: Queue) -> bool:
        """Return whether the next packet is one of the L4S queue."""
        return bool(lq.packets) and (not cq.packets or self.credit <= 0)

    def sent(self, packet: Packet, *, l4s: bool, others_wait: bool) -> None:
        """Take account of a packet that was sent while packets of the other queue wait."""
        if others_wait:
            self.credit += packet.size * (self.classic_percent if l4s else self.classic_percent - 100)


@dataclass
class DualPi2:
    """The coupled dual queue, with the names of the RFC; without its limit of bytes.

    Parameters
    ----------
    parameters : Parameters
        The constants.
    drop : callable
        Gets each packet that is dropped, and the instant.

    Attributes
    ----------
    decided_until_s : float
        Instant of the first decision that nanoseconds do not settle [s].
    """

    parameters: Parameters
    drop: Callable[[Packet, float], None]
    decided_until_s: float = math.inf
    lq: Queue = field(default_factory=Queue)
    cq: Queue = field(default_factory=Queue)
    p: float = 0.0
    prevq: float = 0.0
    updates: int = 0

    def __post_init__(self) -> None:
        """Make the scheduler."""
        self.scheduler = Scheduler(self.parameters.classic_percent, self.parameters.largest_bytes)

    @property
    def p_cl(self) -> float:
        """Return the coupled probability of L4S packets, at most p_Lmax, 1."""
        return min(self.parameters.k * self.p, 1.0)

    @property
    def p_c(self) -> float:
        """Return the probability of Classic packets."""
        return self.p**2

    def enqueue(self, packet: Packet) -> None:
        """Take a packet that arrives (`dualpi2_enqueue`)."""
        self._update_until(packet.since_s)
        (self.lq if packet.codepoint % 2 == 1 else self.cq).packets.append(packet)

    def dequeue(self, now_s: float) -> Packet | None:
        """Give the packet that is sent next (`dualpi2_dequeue`)."""
        self._update_until(now_s)
        while self.lq.packets or self.cq.packets:
            l4s = self.scheduler.chooses_l4s(self.lq, self.cq)
            here, other = (self.lq, self.cq) if l4s else (self.cq, self.lq)
            packet = here.packets.popleft()
            sent = self._of_l4s(packet, now_s) if l4s else self._of_classic(packet)
            if here.undecided:
                self.decided_until_s = min(self.decided_until_s, now_s)
            if sent is None:
                self.drop(packet, now_s)
                continue
            self.scheduler.sent(sent, l4s=l4s, others_wait=bool(other.packets))
            return sent
        self.scheduler.reset()
        return None

    def _of_l4s(self, packet: Packet, now_s: float) -> Packet | None:
        if self.p_cl < 1.0:
            long_enough = len(self.lq.packets) > self.parameters.th_len
            native = self._laqm(now_s - packet.since_s) if long_enough else 0.0
            return _marked(packet) if self.lq.recur(max(native, self.p_cl)) else packet
        if self.lq.recur(self.p_c):
            return None
        return _marked(packet) if self.lq.recur(self.p_cl) else packet

    def _of_classic(self, packet: Packet) -> Packet | None:
        if not self.cq.recur(self.p_c):
            return packet
        most = min(1 / self.parameters.k**2, 1.0)
        return None if packet.codepoint == NOT_ECT or self.p_c >= most else _marked(packet)

    def _laqm(self, qdelay_s: float) -> float:
        """Give the probability of the ramp."""
        min_th_s, range_s = self.parameters.min_th_s, self.parameters.range_s
        if qdelay_s >= min_th_s + range_s:
            return 1.0
        return (qdelay_s - min_th_s) / range_s if qdelay_s > min_th_s else 0.0

    def _update_until(self, now_s: float) -> None:
        """Make the updates up to an instant, before which nothing has come or gone (`dualpi2_update`)."""
        while (self.updates + 1) * self.parameters.update_s <= now_s:
            self.updates += 1
            at_s = self.updates * self.parameters.update_s
            curq = max(self.cq.time(at_s), self.lq.time(at_s))
            of_level = self.parameters.alpha * (curq - self.parameters.target_s)
            of_growth = self.parameters.beta * (curq - self.prevq)
            self.p = math.fsum((self.p, of_level, of_growth))
            self.p = min(max(self.p, 0.0), 1.0)
            self.prevq = curq


def _marked(packet: Packet) -> Packet:
    return packet._replace(codepoint=CE)
