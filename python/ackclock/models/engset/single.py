"""The queue that one connection builds by itself [engset, section 4.4]."""

from enum import Enum
from typing import NamedTuple

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import model, model_of
from ackclock.models.engset.flights import flight_sizes, transfer
from ackclock.models.engset.path import Path
from ackclock.models.limits import DELAY, FOLLOWED_PACKETS, WHOLE_WINDOW


class RoundKind(Enum):
    """The three cases of a round."""

    SLOW_START = "receiver window not reached, link not saturated"
    WINDOW_REACHED = "receiver window reached, link not saturated"
    SATURATED = "link saturated, to the end of the transfer"


class Round(NamedTuple):
    """The queue of one round; a packet in transmission counts."""

    kind: RoundKind
    """Case of the round."""
    packets: int
    """Number of packets sent in the round [pkt]."""
    increases: int
    """Number of increases of the window in the round, v [1]; in the last round, those after which a pair is sent."""
    largest_queue: int
    """Largest queue, Q_max = v + 1 [pkt]."""
    contribution: float
    """Integral of the queue over the round, tau [pkt s]."""


class SingleQueue(NamedTuple):
    """The queue of one connection that sends files of fixed size."""

    rounds: tuple[Round, ...]
    """The rounds, in order."""
    mean_queue: float
    """Mean queue over ON_0 + OFF [pkt]."""
    delay: float
    """Transmission time of the mean queue [s]."""
    last_of_slow_start: int
    """Number of the last packet that slow start sends, L_SS = 2 W_R - 2 [1]."""


# The three cases, and the odd and even ends of case 1, are one formula: of the f packets of a round v come second in
# a pair, so n = f - v instants bring packets, a service time apart, and tau = [(v + 1)(n + 1) - 1] Delta. Case 3 is
# that with f = 2 v + F - L_SS. So it holds too where the transfer ends before the window is reached (F < L_SS), for
# which the printed case 3 has no number.
def _round(kind: RoundKind, packets: int, increases: int, service_time: float) -> Round:
    v = min(increases, packets // 2)
    contribution = ((v + 1) * (packets - v + 1) - 1) * service_time
    return Round(kind, packets, v, v + 1, contribution)


@model(packets=FOLLOWED_PACKETS, window=WHOLE_WINDOW, off_time=DELAY)
def single_queue(path: Path, packets: int, window: int, off_time: float = 1.0) -> SingleQueue:
    """Compute the queue at the slowest link round by round, and its mean [engset, section 4.4].

    Parameters
    ----------
    path : Path
        The path, of single numbers; the links before its slowest one are assumed fast.
    packets : int
        Size F of the file [pkt], from 1 to a million.
    window : int
        Receiver window W_R [pkt], >= 1.
    off_time : float, optional
        Mean OFF [s], >= 0.

    Returns
    -------
    SingleQueue
        rounds, mean_queue, delay, last_of_slow_start.

    Notes
    -----
    In the round that saturates the link, the pause before the ACKs of its own first packets is left out, so tau and
    Q_max are approximate there.

    Examples
    --------
    The special setting, F = 347, OFF = 5 s: 35 + 11025 service times with W_R = 44; 21.7 and 3.3 packets.

    >>> path = Path.from_propagation(0.3, [100e6, 1.5e6, 128e3], packet_size=576)
    >>> found = single_queue(path, 347, window=44, off_time=5.0)
    >>> [round(each.contribution / 0.036) for each in found.rounds], found.rounds[-1].largest_queue
    ([3, 8, 24, 11025], 37)
    >>> round(found.mean_queue, 1), round(single_queue(path, 347, window=12, off_time=5.0).mean_queue, 1)
    (21.7, 3.3)
    """
    f, w, off = model_of(single_queue).take(packets=packets, window=window, off_time=off_time)
    limit = int(w)
    if path.slowest_service_time.ndim or path.rtt.ndim:
        raise ModelError(Fault("path", "holds several paths", "an array", "one path", "call it for each"))
    pipe, service = float(path.pipe_size), float(path.slowest_service_time)
    found: list[Round] = []
    previous = 1
    for size in flight_sizes(int(f), limit, pipe):
        current = min(2 * previous, limit)
        saturated = current > pipe
        kind = RoundKind.SLOW_START if current == 2 * previous else RoundKind.WINDOW_REACHED
        if saturated:
            found.append(_round(RoundKind.SATURATED, size, limit - previous, service))
            break
        found.append(_round(kind, size, current - previous, service))
        previous = current
    mean = sum(each.contribution for each in found) / float(transfer(path, f, w).on_time + off)
    return SingleQueue(tuple(found), mean, mean * service, 2 * limit - 2)
