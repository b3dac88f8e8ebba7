"""Timeouts without a loss: one connection, packet by packet [engset, section 4.2]."""

from typing import Final, NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, BoolArray, FloatArray, IntArray, model, model_of
from ackclock.models.engset.path import Path
from ackclock.models.limits import DELAY, FOLLOWED_PACKETS, WHOLE_WINDOW

_INITIAL_TIMEOUT: Final = 1.0
"""Timeout before the first sample, RFC 6298 section 2.1 [s]."""
_TIE: Final = 1e-9
"""Time below which two instants are equal [s]; an ACK is then processed before the timer."""


class Course(NamedTuple):
    """The packets of a transfer without loss, in order; packet '1' of the paper has index 0."""

    sent: FloatArray
    """Instant at which each packet is sent [s]."""
    acknowledged: FloatArray
    """Instant at which its ACK arrives [s]."""
    waiting: FloatArray
    """Time that it waits at each link, its transmissions excluded [s]; links on the last axis."""
    timed: IntArray
    """Numbers of the packets whose round trip is measured, from 1."""
    timeout: FloatArray
    """RTO when the packet is sent [s]."""


class SpuriousTimeouts(NamedTuple):
    """The first timeout of each transfer; axis: file sizes."""

    occurs: BoolArray
    """Whether a timeout occurs."""
    packet: IntArray
    """The packet for which it occurs, from 1; 0 without a timeout."""
    time: FloatArray
    """Time from the first packet to the timeout [s]; infinite without one."""


class _Timer:
    """The timer of RFC 6298 section 2, with an exact clock (G = 0)."""

    def __init__(self, minimum: float) -> None:
        self.minimum, self.srtt, self.rttvar = minimum, 0.0, 0.0
        self.timeout = _INITIAL_TIMEOUT

    def measure(self, sample: float) -> None:
        if self.srtt == 0.0:
            # RFC 6298 section 2.2
            self.srtt, self.rttvar = sample, sample / 2.0
        else:
            # RFC 6298 section 2.3
            self.rttvar += (abs(self.srtt - sample) - self.rttvar) / 4.0
            self.srtt += (sample - self.srtt) / 8.0
        # RFC 6298 section 2.4
        self.timeout = max(self.minimum, self.srtt + 4.0 * self.rttvar)


class _Transmissions:
    """Packets on the links of an empty path, first come first served."""

    def __init__(self, path: Path) -> None:
        self.services = [float(service) for service in path.service_times]
        self.free = [0.0] * len(self.services)
        self.rest = float(path.rtt) - sum(self.services)

    def send(self, instant: float) -> tuple[float, list[float]]:
        """Carry a packet to the receiver and its ACK back: when it arrives, and the waits."""
        waits = []
        for link, service in enumerate(self.services):
            start = max(instant, self.free[link])
            waits.append(start - instant)
            instant = self.free[link] = start + service
        return instant + self.rest, waits


@model(packets=FOLLOWED_PACKETS, window=WHOLE_WINDOW, minimum_timeout=DELAY)
def course(path: Path, packets: int, window: int, minimum_timeout: float = 1.0) -> Course:
    """Follow one connection that is alone on the path, packet by packet [engset, sections 3.1 and 4.2].

    Parameters
    ----------
    path : Path
        The path, of single numbers.
    packets : int
        Size F of the file [pkt], from 1 to a million.
    window : int
        Receiver window W_R [pkt], >= 1.
    minimum_timeout : float, optional
        Of the RTO [s], >= 0.

    Returns
    -------
    Course
        sent, acknowledged, waiting, timed, timeout.

    Notes
    -----
    Slow start from 2 packets, an ACK a packet; the first packet that is sent while no round trip is measured is timed.
    No timer ends the course: see `spurious_timeouts`. Where delay passes makes no difference, nor do ACKs queue.

    Examples
    --------
    Special setting: the timed packets, and ON_0 of `transfer` to the rounding.

    >>> path = Path.from_propagation(0.3, [100e6, 1.5e6, 128e3], packet_size=576)
    >>> found = course(path, 200, window=44)
    >>> found.timed.tolist()
    [1, 3, 7, 15, 31, 63, 107, 151, 195]
    """
    f, limit, minimum = model_of(course).take(packets=packets, window=window, minimum_timeout=minimum_timeout)
    if path.service_times.ndim > 1 or path.rtt.ndim:
        raise ModelError(Fault("path", "holds several paths", "an array", "one path", "call it for each"))
    return _follow(_Transmissions(path), _Timer(float(minimum)), int(f), int(limit))


def _follow(links: _Transmissions, timer: _Timer, packets: int, window: int) -> Course:
    sent: list[float] = []
    acknowledged: list[float] = []
    waiting: list[list[float]] = []
    timeout: list[float] = []
    timed: list[int] = []
    now, measured = 0.0, -1
    for acked in range(packets):  # index of the packet whose ACK comes next; before the first none has come
        end = min(acked + min(acked + 2, window), packets)
        while len(sent) < end:
            if measured < acked:
                measured = len(sent)
                timed.append(measured + 1)
            sent.append(now)
            timeout.append(timer.timeout)
            arrival, waits = links.send(now)
            acknowledged.append(arrival)
            waiting.append(waits)
        now = acknowledged[acked]
        if acked == measured:
            timer.measure(now - sent[acked])
    return Course(*map(np.asarray, (sent, acknowledged, waiting, timed, timeout)))


# The text sets the timer "on each packet sent ... on the first of the group". Read: sending restarts it, an ACK that
# releases nothing does not. RFC 6298 (5.3) restarts it at each ACK, and a timer of each packet's own would stop every
# file of more than 53 packets at packet 54; only this reading gives packets 54 (F = 54) and 90 (F = 106).
@model(packets=FOLLOWED_PACKETS, window=WHOLE_WINDOW, minimum_timeout=DELAY)
def spurious_timeouts(path: Path, packets: ArrayLike, window: int, minimum_timeout: float = 1.0) -> SpuriousTimeouts:
    """Find the files whose transfer times out although nothing is lost [engset, section 4.2].

    Parameters
    ----------
    path : Path
        The path, of single numbers; the connection is alone on it.
    packets : array_like
        Sizes F of the files [pkt], whole, from 1 to a million.
    window : int
        Receiver window W_R [pkt], >= 1.
    minimum_timeout : float, optional
        Of the RTO [s], >= 0.

    Returns
    -------
    SpuriousTimeouts
        occurs, packet, time.

    Examples
    --------
    Special setting, W_R = 44: files of 54 to 106 packets, at packet 54 for F = 54 and 90 for F = 106.

    >>> path = Path.from_propagation(0.3, [100e6, 1.5e6, 128e3], packet_size=576)
    >>> spurious_timeouts(path, [53, 54, 106, 107], window=44).packet.tolist()
    [0, 54, 90, 0]
    """
    files = model_of(spurious_timeouts).take(packets=packets)[0].astype(np.int64)
    found = course(path, int(files.max(initial=1)), window, minimum_timeout)
    expires = found.sent + found.timeout
    last = files - 1
    # Each sending sets the timer; the next one, or the ACK of the last packet, must come before it expires.
    late = np.flatnonzero(found.sent[1:] > expires[:-1] + _TIE)
    stopped = late[0] if late.size else np.iinfo(np.int64).max
    at_end = found.acknowledged[last] > expires[last] + _TIE
    time = np.where(last > stopped, expires[min(stopped, expires.size - 1)], np.where(at_end, expires[last], np.inf))
    packet = np.searchsorted(found.acknowledged, time + _TIE, side="right") + 1
    occurs = np.isfinite(time)
    return SpuriousTimeouts(np.asarray(occurs)[()], np.where(occurs, packet, 0)[()], time[()])
