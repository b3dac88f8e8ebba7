"""Abouzeid and Roy's abrupt delay variations a second time, from the paper alone: plain numbers, slow and obvious.

Written without a look at `ackclock.models.abrupt_delay`. Rates are packets/s, times seconds, windows packets. The link
serves one packet at a time in 1/mu; a packet keeps the delay that held when it was sent.
"""

import heapq
import math
from dataclasses import dataclass
from fractions import Fraction

# Section II and IV: V_i = T_i + X_i, X_i exponential with the rate lambda_i


def total_round_trip(delay: float, mu: float) -> float:
    """T = tau + 1/mu."""
    return delay + 1.0 / mu


def stay_mean(t: float, rate: float) -> float:
    """E[V]."""
    return t + 1.0 / rate


def stay_variance(rate: float) -> float:
    """Var[V]: the constant adds nothing."""
    return (1.0 / rate) ** 2


def stay_cdf(x: float, t: float, rate: float) -> float:
    """P(V <= x)."""
    return 0.0 if x < t else 1.0 - math.exp(-rate * (x - t))


def stationary(matrix: list[list[float]]) -> list[float]:
    """Stationary distribution of an irreducible chain: Gauss on pi (P - 1) = 0, sum 1, in exact fractions."""
    n = len(matrix)
    rows = [[Fraction(matrix[i][j]) - (i == j) for i in range(n)] + [Fraction(0)] for j in range(n)]
    rows[-1] = [Fraction(1)] * (n + 1)
    for column in range(n):
        pivot = next(row for row in range(column, n) if rows[row][column] != 0)
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(n):
            if row != column:
                factor = rows[row][column] / rows[column][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    return [float(rows[i][n] / rows[i][i]) for i in range(n)]


def proportions(stays: list[float], matrix: list[list[float]] | None = None) -> list[float]:
    """Part of the time spent in each state; without a matrix the states come in turn."""
    visits = [1.0] * len(stays) if matrix is None else stationary(matrix)
    times = [visit * stay for visit, stay in zip(visits, stays, strict=True)]
    return [time / sum(times) for time in times]


def ideal_goodput(
    round_trips: list[float], stays: list[float], window: float, matrix: list[list[float]] | None = None
) -> float:
    """R_I (eq. 2), for any number of states."""
    parts = proportions(stays, matrix)
    return sum(part * window / t for part, t in zip(parts, round_trips, strict=True))


def ideal_goodput_with_equal_factors(t1: float, t2: float, window: float) -> float:
    """R_I (eq. 3): E[V_i] = (1 + h) T_i for both, whatever h."""
    return 2.0 * window / (t1 + t2)


# Section II and IV.D: the RTO, with Jacobson's gains 1/8 and 1/4


def smoothed(samples: list[float]) -> float:
    """SRTT as the weighted mean that the recursion amounts to: 7/8 to a power for each later sample."""
    weights = [(7 / 8) ** (len(samples) - 1)] + [(7 / 8) ** (len(samples) - 1 - n) / 8 for n in range(1, len(samples))]
    return math.fsum(weight * sample for weight, sample in zip(weights, samples, strict=True))


def varied(samples: list[float]) -> float:
    """SVAR likewise: each deviation from the SRTT of the samples before it, half the first sample to begin with."""
    deviations = [samples[0] / 2] + [abs(samples[n] - smoothed(samples[:n])) for n in range(1, len(samples))]
    weights = [(3 / 4) ** (len(samples) - 1)] + [(3 / 4) ** (len(samples) - 1 - n) / 4 for n in range(1, len(samples))]
    return math.fsum(weight * deviation for weight, deviation in zip(weights, deviations, strict=True))


def rto_minimum(granularity: float, recommended: bool) -> float:
    """RTO_min: 2G in section II; Allman and Paxson recommend max(1 s, 2G)."""
    ticks = granularity + granularity
    return 1.0 if recommended and ticks < 1.0 else ticks


def rto(samples: list[float], k: float, granularity: float, recommended: bool) -> float:
    """RTO (eq. 1), and no less than RTO_min."""
    return max(smoothed(samples) + k * varied(samples), rto_minimum(granularity, recommended))


# One connection with a fixed window, packet by packet; times are fractions, so that equal instants are equal

NEVER = Fraction(10**9)


@dataclass
class Observed:
    """What the sender would take for a loss, had it reacted; it does not react, and goes on.

    Instants count from when the first packet leaves of the round in which the delay changes.
    """

    timeout: Fraction | None = None
    """When the timer first runs out."""
    duplicates: Fraction | None = None
    """When D duplicate ACKs in a row have come."""
    most_duplicates: int = 0
    """The most in a row."""
    silence: Fraction = Fraction(0)
    """The longest time from an ACK of new data to the next."""
    before_step: int = 0
    """Packets of that round with the old delay."""


class Connection:
    """A sender whose window is fixed, a first-in first-out link, a receiver with cumulative ACKs."""

    def __init__(self, mu: Fraction, delays: tuple[Fraction, Fraction], step: Fraction, delay_from: str) -> None:
        self.service, self.delays, self.step, self.delay_from = 1 / mu, delays, step, delay_from
        self.link_free = Fraction(0)
        self.sent_at: list[Fraction] = []
        self.old_delay: list[bool] = []
        self.flying: list[tuple[Fraction, int]] = []
        self.received: set[int] = set()
        self.expected = 0

    def send(self, now: Fraction) -> None:
        leaves = max(now, self.link_free)
        self.link_free = leaves + self.service
        old = (now if self.delay_from == "sending" else leaves) < self.step
        heapq.heappush(self.flying, (self.link_free + self.delays[0 if old else 1], len(self.sent_at)))
        self.old_delay.append(old)
        self.sent_at.append(now)

    def next_ack(self) -> tuple[Fraction, int]:
        """Take the next packet to the receiver; its ACK is at the sender at once. Return when, and how much is new."""
        now, packet = heapq.heappop(self.flying)
        self.received.add(packet)
        before = self.expected
        while self.expected in self.received:
            self.received.remove(self.expected)
            self.expected += 1
        return now, self.expected - before


@dataclass
class Step:
    """A round trip T that changes from t1 to t2, `offset` after the first packet of a round leaves."""

    window: int
    mu: float
    t1: float
    t2: float
    offset: float
    delay_from: str = "leaving"
    """What counts: when a packet's service begins, or ("sending") when it is handed to the link."""


def watch(step: Step, rto: float = 1e9, threshold: float = 3, timer: str = "restarted", rounds: int = 3) -> Observed:
    """Watch a connection through a step.

    timer "restarted": one timer, restarted at each ACK of new data (RFC 6298 5.3); "per packet": one for each packet,
    from when it was sent. rto is constant. An ACK that comes as the timer runs out is in time.
    """
    window, mu, t1, t2 = step.window, Fraction(step.mu), Fraction(step.t1), Fraction(step.t2)
    # The burst at time 0 makes the first round; the second begins when the link is free and the first ACK is there.
    start = max(t1, window / mu)
    link = Connection(mu, (t1 - 1 / mu, t2 - 1 / mu), start + Fraction(step.offset), step.delay_from)
    for _ in range(window):
        link.send(Fraction(0))
    restart, in_a_row, found = t1, 0, Observed()
    end = start + Fraction(step.offset) + rounds * (max(t1, t2) + window / mu)
    while link.flying[0][0] <= end:
        now, new = link.next_ack()
        if new == 0:
            in_a_row += 1
            found.most_duplicates = max(found.most_duplicates, in_a_row)
            if in_a_row == threshold and found.duplicates is None:
                found.duplicates = now - start
            continue
        acknowledged = range(link.expected - new, link.expected)
        # Those of the first burst waited for one another as no later ones do: none of their own timers counts.
        sent = [link.sent_at[packet] for packet in acknowledged if packet >= window]
        since = restart if timer == "restarted" else min(sent, default=NEVER)
        if found.timeout is None and now - since > rto:
            found.timeout = since + Fraction(rto) - start
        found.silence = max(found.silence, now - restart)
        restart, in_a_row = now, 0
        for _ in range(new):
            link.send(now)
    found.before_step = sum(link.old_delay[window : 2 * window])
    return found
