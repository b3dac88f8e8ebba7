"""The paper's two nodes, segment by segment: an exact event simulation [two-way, section 2.1, figure 3.2].

Times are fractions, so that events that fall together do. A segment is received when its last bit is; an ACK leaves
behind everything that its node queued before. A node receives in the order in which the other one sends.
"""

from collections.abc import Iterator
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, model, model_of
from ackclock.models.limits import DELAY, INSTANT, PACKET_RATE, WHOLE_WINDOW
from ackclock.models.two_way.layout import ACK_SIZE, Layout, layout, pair

Kind: TypeAlias = Literal["segment", "ACK"]
_Signature: TypeAlias = tuple[object, ...]

SEGMENTS: Final = 1_000_000
"""Largest number of segments that a simulation may send each way."""


class Transmission(NamedTuple):
    """A transmission by a node: a segment of its own connection or an ACK of the other's."""

    kind: Kind
    """``"segment"`` or ``"ACK"``."""
    number: int
    """Number of the segment, or of the segment that is acknowledged, from 1."""
    start: float
    """Start of the transmission [s]."""
    end: float
    """End of the transmission [s]; an ACK of no size ends when it starts."""


class Node(NamedTuple):
    """The transmissions and the queue of one node."""

    sent: tuple[Transmission, ...]
    """All transmissions, in order."""
    queue_times: FloatArray
    """Instants at which the number of segments in its queue changes [s]."""
    queue: FloatArray
    """Number of segments from each instant on, the one in service included [pkt]."""


class Timeline(NamedTuple):
    """The course of both nodes up to an instant."""

    i: Node
    """The node that sends connection i's segments and connection j's ACKs."""
    j: Node
    """The node that sends connection j's segments and connection i's ACKs."""
    period: float
    """Time after which the exchange is in the same state again [s]; nan if the simulated time does not show it."""
    efficiencies: FloatArray
    """Fraction of its channel that each connection gets in a period [1]; nan where the period is."""


class _Sent(NamedTuple):
    kind: Kind
    number: int
    queued: Fraction
    start: Fraction
    end: Fraction


class _Exchange:
    """Two nodes joined by two links, simulated from event to event."""

    def __init__(self, two: Layout, starts: FloatArray, ack_size: float) -> None:
        self.windows = [int(window) for window in two.windows]
        self.delays = [Fraction(float(delay)) for delay in two.delays]
        segments = [1 / Fraction(float(rate)) for rate in two.rates]
        self.times = {"segment": segments, "ACK": [Fraction(ack_size) * time for time in segments]}
        self.now = min(Fraction(float(start)) for start in starts)
        self.free = [self.now, self.now]
        self.sent: tuple[list[_Sent], list[_Sent]] = ([], [])
        self.segments = [0, 0]
        self.order = 0
        # Instant, order, node, kind and number of each arrival; a connection's start is an arrival too.
        self.arrivals: list[tuple[Fraction, int, int, Kind | None, int]] = []
        for node, start in enumerate(starts):
            heappush(self.arrivals, (Fraction(float(start)), node - 2, node, None, 0))

    def step(self) -> None:
        """Process the next arrival: a segment is acknowledged, an ACK (or the start) releases new segments."""
        self.now, _, node, kind, number = heappop(self.arrivals)
        if kind == "segment":
            self._send(node, "ACK", number)
            return
        for _ in range(1 if kind == "ACK" else self.windows[node]):
            self.segments[node] += 1
            self._send(node, "segment", self.segments[node])

    def _send(self, node: int, kind: Kind, number: int) -> None:
        start = max(self.now, self.free[node])
        end = self.free[node] = start + self.times[kind][node]
        self.sent[node].append(_Sent(kind, number, self.now, start, end))
        self.order += 1
        heappush(self.arrivals, (end + self.delays[node], self.order, 1 - node, kind, number))

    def signature(self) -> _Signature:
        """Return the state that decides the future, in times and numbers relative to now."""
        coming = tuple(
            (time - self.now, node, kind, number - self.segments[node if kind == "ACK" else 1 - node])
            for time, _, node, kind, number in sorted(self.arrivals)
        )
        return (*(max(free - self.now, Fraction(0)) for free in self.free), *coming)


@model(windows=WHOLE_WINDOW, delays=DELAY, rates=PACKET_RATE, until=INSTANT, starts=INSTANT, ack_size=ACK_SIZE)
def timeline(  # noqa: PLR0913  windows, links, phase and end
    windows: ArrayLike,
    delays: ArrayLike,
    rates: ArrayLike = 1.0,
    *,
    until: float,
    starts: ArrayLike = 0.0,
    ack_size: float = 0.0,
) -> Timeline:
    """Simulate two connections segment by segment [two-way, figure 3.2].

    Each connection sends its whole window at its start, then a segment for each ACK.

    Parameters
    ----------
    windows : array_like
        W_i and W_j [pkt], whole, >= 1, or one for both.
    delays : array_like
        D_ij and D_ji [s], >= 0, or one for both, without the transmission of a segment.
    rates : array_like, optional
        rho_i and rho_j [pkt/s], > 0, or one for both.
    until : float
        End of the simulation [s]: every transmission that starts before it; a million segments each way at most.
    starts : array_like, optional
        Start of each connection [s]: the phase.
    ack_size : float, optional
        Transmission time of an ACK as a fraction of a segment's on the same channel [1], from 0 to 1.

    Returns
    -------
    Timeline
        i, j, period, efficiencies.

    Notes
    -----
    At one instant a node ends a transmission before it processes arrivals, and processes them in the order in which
    they were sent. The period is recognised once a state recurs at the start of a window of connection i: that takes
    a first transient and one whole period.

    Examples
    --------
    Figure 3.2, from t = 0 to 12: node j sends segments in 8 of 12 slots, in the others at most ACKs.

    >>> found = timeline(windows=4, delays=2, starts=[-2, -3], until=12)
    >>> [int(sent.start) for sent in found.j.sent if sent.kind == "segment" and sent.start >= 0]
    [0, 4, 5, 6, 7, 9, 10, 11]
    >>> [(sent.number, sent.start) for sent in found.j.sent if sent.kind == "ACK" and 4 < sent.start < 12]
    [(5, 8.0), (6, 8.0), (7, 8.0), (8, 9.0)]
    """
    two, begin, end = _arguments(windows, delays, rates, starts, until)
    (size,) = model_of(timeline).take(ack_size=ack_size)
    exchange = _Exchange(two, begin, float(size))
    period, counts = _run(exchange, end)
    efficiencies = [
        float(count * time / period) if period else np.nan
        for count, time in zip(counts, exchange.times["segment"], strict=True)
    ]
    try:
        nodes = [_node(sent, end) for sent in exchange.sent]
    except OverflowError:
        allowed = "instants of at most 1.8e308 s"
        raise ModelError(Fault("delays, rates", "take too long", "more than 1.8e308 s", allowed)) from None
    return Timeline(nodes[0], nodes[1], float(period) if period else np.nan, np.array(efficiencies))


def _arguments(
    windows: ArrayLike, delays: ArrayLike, rates: ArrayLike, starts: ArrayLike, until: float
) -> tuple[Layout, FloatArray, Fraction]:
    two = layout(windows, delays, rates)
    record = model_of(timeline)
    begin, end = record.take(starts=starts, until=until)
    begin = pair("starts", begin)
    for name, values in (("windows", two.windows), ("delays", two.delays), ("rates", two.rates), ("starts", begin)):
        if values.ndim != 1:
            raise ModelError(
                Fault(name, "is for more than one simulation", f"shape {values.shape}", "one number or two")
            )
    record.take(windows=two.windows)
    longest = float(((end - begin) * two.rates).max()) + two.windows.max()
    if longest > SEGMENTS:
        raise ModelError(
            Fault("until", "is too long to simulate", f"{longest:g} segments", f"at most {SEGMENTS} [pkt]")
        )
    return two, begin, Fraction(float(end))


def _run(exchange: _Exchange, end: Fraction) -> tuple[Fraction | None, list[int]]:
    """Simulate to the end; return the period and the segments that each connection sends in it."""
    seen: dict[_Signature, tuple[Fraction, list[int]]] = {}
    period, counts = None, [0, 0]
    while exchange.arrivals[0][0] < end:
        before = exchange.segments[0]
        exchange.step()
        starts_window = before < exchange.segments[0] and before % exchange.windows[0] == 0
        if period is None and starts_window:
            state = exchange.signature()
            if state in seen:
                then, sent = seen[state]
                period = exchange.now - then
                counts = [now - old for now, old in zip(exchange.segments, sent, strict=True)]
            seen[state] = exchange.now, list(exchange.segments)
    return period, counts


def _node(sent: list[_Sent], end: Fraction) -> Node:
    shown = [one for one in sent if one.start < end]
    times, counts = zip(*_queue(sent, end), strict=True) if sent else ((), ())
    return Node(
        sent=tuple(Transmission(one.kind, one.number, float(one.start), float(one.end)) for one in shown),
        queue_times=np.array([float(time) for time in times]),
        queue=np.array(counts, dtype=np.float64),
    )


def _queue(sent: list[_Sent], end: Fraction) -> Iterator[tuple[Fraction, int]]:
    """Count the segments in the queue after all that happens at each instant."""
    segments = [one for one in sent if one.kind == "segment"]
    changes = sorted([(one.queued, 1) for one in segments] + [(one.end, -1) for one in segments])
    count = 0
    for (time, change), (following, _) in pairwise([*changes, (end + 1, 0)]):
        count += change
        if time < following and time < end:
            yield time, count
