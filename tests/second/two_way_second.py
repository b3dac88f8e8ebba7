"""Kalampoukas, Varma, Ramakrishnan: Two-Way TCP Traffic over Rate Controlled Channels, written from the paper alone.

Slow and obvious on purpose. The author has not read ackclock.models.two_way. Windows in segments, rates in segments a
second, delays in seconds, L = rho D in segments. "i" is the connection asked about, "j" the opposite one.

Misprints corrected: (3.7) has W_i/rho, as lemma 1 says; case 2 of lemmas 4 and 5 has the min(., W) of lemma 2; the
estimate of section 5.3 and the aggregate of section 5.4 are theorem 2 and theorem 1 for the connection in question.
"""

import heapq
from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction

# --- section 3: both links have the same rate ---


def acks_are_compressed(w_i: float, w_j: float, l_ij: float, l_ji: float) -> bool:
    """Condition (2.1)."""
    return w_i + w_j > l_ij + l_ji


def case(w_i: float, w_j: float, l_ij: float, l_ji: float) -> int:
    """1, 2 or 3: the line of (3.21) that holds."""
    if w_i > w_j + (l_ij + l_ji):
        return 1
    if w_j - (l_ij + l_ji) <= w_i <= w_j + (l_ij + l_ji):
        return 2
    return 3


def efficiency(w_i: float, w_j: float, l_ij: float, l_ji: float) -> float:
    """F_i: theorem 1, (3.21)."""
    which = case(w_i, w_j, l_ij, l_ji)
    if which == 1:
        return 1.0
    if which == 2:
        return 2 * w_i / (w_i + w_j + l_ij + l_ji)
    return w_i / w_j


def spacing_of_busy_periods(w_i: float, w_j: float, rho: float) -> float:
    """Lemma 1, cases 1 and 3: tau_(k+1) - tau_k of either connection, the larger window's transmission."""
    return max(w_i, w_j) / rho


def spacing_of_two_busy_periods(w_i: float, w_j: float, d_ij: float, d_ji: float, rho: float) -> float:
    """Lemma 3, case 2: tau_(k+2) - tau_k, (3.14)."""
    return (w_i + w_j) / rho + d_ij + d_ji


def next_queue(q_j: float, w_i: float, w_j: float, l_ij: float, l_ji: float) -> float:
    """Lemma 2, (3.9): what the next busy period of i finds in node j, after one that found q_j there."""
    return min(w_i + w_j - (l_ij + l_ji) - q_j, w_j)


def largest_queue(w_i: float, w_j: float, l_ij: float, l_ji: float) -> float:
    """Lemma 4, (3.22), for node i."""
    which = case(w_i, w_j, l_ij, l_ji)
    if which == 1:
        return w_i - (l_ij + l_ji)
    if which == 2:
        return min(w_i + w_j - (l_ij + l_ji), w_i)
    return w_i


def equal_efficiency(w: float, length: float) -> float:
    """F = W / (W + L): end of section 3, equal windows and delays."""
    return w / (w + length)


def one_way_efficiency(w: float, length: float) -> float:
    """min(W / 2L, 1): end of section 3."""
    return 1.0 if w >= 2 * length else w / (2 * length)


# --- section 4: rates differ ---


def asymmetric_compressed(w_i: float, w_j: float, rho_i: float, rho_j: float, d: float) -> bool:
    """Condition (4.1), d = D_ij + D_ji."""
    return w_i / rho_i + w_j / rho_j > d


def asymmetric_efficiency(w_i: float, w_j: float, rho_i: float, rho_j: float, d: float) -> float:
    """F_i: theorem 2, (4.2): theorem 1 with the transmission times in place of the windows."""
    t_i = w_i / rho_i
    t_j = w_j / rho_j
    if t_i > t_j + d:
        return 1.0
    if t_i >= t_j - d:
        return 2 * t_i / (t_i + t_j + d)
    return t_i / t_j


def asymmetric_largest_queue(w_i: float, w_j: float, rho_i: float, rho_j: float, d: float) -> float:
    """Lemma 5, (4.3), for node i."""
    t_i = w_i / rho_i
    t_j = w_j / rho_j
    if t_i > t_j + d:
        return w_i - d * rho_i
    if t_i >= t_j - d:
        return min((t_i + t_j - d) * rho_i, w_i)
    return w_i


# --- section 5.4: connections that open together ---


def aggregate_efficiency(windows_i: list[float], windows_j: list[float], l_ij: float, l_ji: float) -> float:
    """The fat connection: theorem 1 for the sums of the windows."""
    return efficiency(sum(windows_i), sum(windows_j), l_ij, l_ji)


def shares(windows: list[float]) -> list[float]:
    """What part of the fat connection's efficiency each connection has."""
    return [window / sum(windows) for window in windows]


# --- two nodes, segment by segment ---


@dataclass
class Node:
    """One end: a first-in first-out queue of segments (1/rate each) and ACKs (no time) and a link of a fixed delay.

    With `whole` the other end has a segment when its last bit is there, else when its first bit is (the paper's tau).
    """

    window: int
    rate: Fraction
    delay: Fraction
    start: Fraction
    whole: bool
    free: Fraction = Fraction(0)
    begun: list[Fraction] = field(default_factory=list)
    waiting: deque[Fraction] = field(default_factory=deque)
    queues: list[tuple[Fraction, int]] = field(default_factory=list)

    def send_segment(self, now: Fraction) -> Fraction:
        """Queue a segment; return when it is there."""
        begin = max(now, self.free)
        self.free = begin + 1 / self.rate
        self.begun.append(begin)
        while self.waiting and self.waiting[0] <= now:
            self.waiting.popleft()
        self.waiting.append(self.free)
        self.queues.append((now, len(self.waiting)))
        return (self.free if self.whole else begin) + self.delay

    def send_ack(self, now: Fraction) -> Fraction:
        """Queue an ACK; return when it is there."""
        self.free = max(now, self.free)
        return self.free + self.delay

    def efficiency(self, rounds: int) -> Fraction:
        """Over the last `rounds` windows: whole periods, if the count is even and the behaviour is the paper's."""
        segments = rounds * self.window
        return segments / (self.rate * (self.begun[-1] - self.begun[-1 - segments]))

    def largest(self, since: Fraction) -> int:
        """The most segments queued from an instant on, the one in transmission among them."""
        return max(queue for time, queue in self.queues if time >= since)


def simulate(nodes: tuple[Node, Node], until: Fraction) -> None:
    """Run both connections; each opens with its whole window at once, at its node's start."""
    coming: list[tuple[Fraction, int, int, str]] = []
    count = 0

    def put(time: Fraction, place: int, what: str) -> None:
        nonlocal count
        heapq.heappush(coming, (time, count, place, what))
        count += 1

    for place, node in enumerate(nodes):
        put(node.start, place, "open")
    while coming[0][0] <= until:
        now, _, place, what = heapq.heappop(coming)
        if what == "segment":
            put(nodes[place].send_ack(now), 1 - place, "ack")
        else:
            for _ in range(nodes[place].window if what == "open" else 1):
                put(nodes[place].send_segment(now), 1 - place, "segment")
