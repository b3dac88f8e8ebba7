"""The queue at each node from busy period to busy period, and its maximum [two-way, sections 3 and 4]."""

from typing import Final

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, Limits, checked, model, model_of
from ackclock.models.limits import AT_LEAST_ONE_PACKET, DELAY, PACKET_RATE, QUEUE, WINDOW
from ackclock.models.two_way.layout import Layout, layout, other, pair

PERIODS: Final = Limits(
    0.0, 1e6, low_included=True, high_included=True, reason="busy periods to go through", whole=True
)


# With unequal rates: a node's queue drains at its own rate, and ACKs return at the rate at which its segments arrive,
# the same. So (3.9) holds with the surplus of time W_i/rho_i + W_j/rho_j - D_ij - D_ji, times the node's rate.
@model(domain={"windows": AT_LEAST_ONE_PACKET}, queues=QUEUE, windows=WINDOW, delays=DELAY, rates=PACKET_RATE)
def next_queue(queues: ArrayLike, windows: ArrayLike, delays: ArrayLike, rates: ArrayLike = 1.0) -> FloatArray:
    """Compute the queue that the other's next busy period finds at each node [two-way, lemma 2, eqs. 3.9 and 3.13].

    ``Q_j' = min(W_i + W_j - (L_ij + L_ji) - Q_j, W_j)``, and not below 0.

    Parameters
    ----------
    queues : array_like
        Segments that wait or are in service at node i, at node j, as the first segment of a busy period of the other
        reaches it [pkt], from 0 to its window; on the last axis, or one for both.
    windows, delays, rates : array_like
        W [pkt], D [s] and rho [pkt/s], as for `efficiency`.

    Returns
    -------
    array of float
        [pkt], node i and node j on the last axis.

    Notes
    -----
    At a node whose window time exceeds the other's by more than the round trip (lemma 1) the recursion does not hold;
    each busy period finds ``W - rho (D_ij + D_ji)`` there, as in the proof of lemma 4. Without ACK compression
    the queue is 0.

    Examples
    --------
    Section 5.2: 13 segments are followed by 13. Figure 3.2: 3 by 1.

    >>> next_queue(13, windows=28, delays=15).tolist(), next_queue([1, 3], windows=4, delays=2).tolist()
    ([13.0, 13.0], [3.0, 1.0])
    """
    two = layout(windows, delays, rates)
    return _next(_queues(queues, two), two)


def _queues(queues: ArrayLike, two: Layout) -> FloatArray:
    (q,) = checked(queues=(queues, QUEUE))
    q = pair("queues", q)
    checked(queues=(q, QUEUE), windows=(two.windows, QUEUE))
    over = q > two.windows
    if over.any():
        given = np.broadcast_to(q, over.shape)[over].flat[0]
        raise ModelError(
            Fault("queues", "is longer than the window", f"{given:g}", "from 0 to the node's window [pkt]")
        )
    return q


def _next(q: FloatArray, two: Layout) -> FloatArray:
    alternating = np.clip(two.surplus * two.rates - q, 0.0, two.windows)
    steady = two.windows - two.round_trip * two.rates
    return np.where(_always_busy(two), steady, alternating)


def _always_busy(two: Layout) -> FloatArray:
    """Decide where the first case of the theorems holds [two-way, eq. 3.1]."""
    x = two.window_times
    return np.asarray(x > other(x) + two.round_trip)


@model(
    domain={"windows": AT_LEAST_ONE_PACKET},
    queues=QUEUE,
    windows=WINDOW,
    delays=DELAY,
    rates=PACKET_RATE,
    periods=PERIODS,
)
def queue_iteration(
    queues: ArrayLike, windows: ArrayLike, delays: ArrayLike, rates: ArrayLike = 1.0, *, periods: int
) -> FloatArray:
    """Iterate the queues from busy period to busy period [two-way, lemma 2].

    Parameters
    ----------
    queues : array_like
        First queues at node i and node j [pkt], as for `next_queue`.
    windows, delays, rates : array_like
        W [pkt], D [s] and rho [pkt/s], as for `efficiency`.
    periods : int
        Number of busy periods, whole, from 0 to a million.

    Returns
    -------
    array of float
        [pkt], busy periods on the first axis, the given one first; nodes on the last.

    Examples
    --------
    From the second on the queue has a period of two busy periods. Configuration R-1 (28 segments, L about 9) swings up
    to 23, as it would from 15:

    >>> queue_iteration([15, 2], windows=28, delays=9, periods=4).T.tolist()
    [[15.0, 23.0, 15.0, 23.0, 15.0], [2.0, 28.0, 10.0, 28.0, 10.0]]
    """
    model_of(queue_iteration).take(periods=periods)
    two = layout(windows, delays, rates)
    q = _queues(queues, two)
    shape = np.broadcast_shapes(q.shape, two.window_times.shape, two.round_trip.shape)
    rows = [np.broadcast_to(q, shape)]
    for _ in range(int(periods)):
        rows.append(_next(rows[-1], two))
    return np.stack(rows)


@model(domain={"windows": AT_LEAST_ONE_PACKET}, queues=QUEUE, windows=WINDOW, delays=DELAY, rates=PACKET_RATE)
def busy_period_spacing(queues: ArrayLike, windows: ArrayLike, delays: ArrayLike, rates: ArrayLike = 1.0) -> FloatArray:
    """Compute the time from one busy period to the next, given the queue that it found [two-way, lemma 3, eq. 3.17].

    ``max(W_i / rho_i, Q_j / rho_j + D_ij + D_ji)``: the end of the own burst (case 1 of the proof) or the first ACK
    (case 2, 3.17), whichever is later.

    Parameters
    ----------
    queues : array_like
        Queues found at node i (by a busy period of j) and at node j (by one of i) [pkt], as for `next_queue`.
    windows, delays, rates : array_like
        W [pkt], D [s] and rho [pkt/s], as for `efficiency`.

    Returns
    -------
    array of float
        [s], connection i and j on the last axis.

    Notes
    -----
    In steady state two successive ones add up to ``W_i / rho_i + W_j / rho_j + D_ij + D_ji`` (lemma 3) or, with the
    windows of lemma 1, to twice the larger window time.

    Examples
    --------
    Figure 3.2: connection j's busy periods start at 4, 9, 16, 21.

    >>> busy_period_spacing([[1, 1], [3, 3]], windows=4, delays=2)[:, 1].tolist()
    [5.0, 7.0]
    """
    two = layout(windows, delays, rates)
    q = _queues(queues, two)
    return np.asarray(np.maximum(two.window_times, other(q / two.rates) + two.round_trip))


# Case 2 as printed lacks the min(., W) that lemma 2 has.
@model(domain={"windows": AT_LEAST_ONE_PACKET}, windows=WINDOW, delays=DELAY, rates=PACKET_RATE)
def maximum_queue(windows: ArrayLike, delays: ArrayLike, rates: ArrayLike = 1.0) -> FloatArray:
    """Compute the bound of the queue at each node [two-way, lemmas 4 and 5, eqs. 3.22 and 4.3].

    ``W_i - (L_ij + L_ji)``, ``min(W_i + W_j - (L_ij + L_ji), W_i)`` or ``W_i``, in the theorems' three cases.

    Parameters
    ----------
    windows, delays, rates : array_like
        W [pkt], D [s] and rho [pkt/s], as for `efficiency`.

    Returns
    -------
    array of float
        [pkt], the segment in service included; node i and node j on the last axis. 0 where ACKs do not compress.

    Notes
    -----
    In the first case up to one segment more is seen. In the second it depends on the phase how much of the bound is
    reached: the queues found in turn add up to ``W_i + W_j - (L_ij + L_ji)``.

    Examples
    --------
    Section 5.2: two times 13 segments.

    >>> maximum_queue(windows=[[28, 28], [60, 28]], delays=15).tolist()
    [[26.0, 26.0], [30.0, 28.0]]
    """
    two = layout(windows, delays, rates)
    return np.asarray(_next(np.zeros(2), two))
