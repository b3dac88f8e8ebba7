"""The loss of the retransmission, after which there is no second slow start [bottlenecks, section 7]."""

from math import inf
from typing import Final, NamedTuple

import numpy as np

from ackclock.models.bottlenecks.path import Path, path, smallest
from ackclock.models.bottlenecks.slow_start import (
    OVERFLOW,
    RATE_RATIO,
    burst_sizes_of,
    check_between_one_and_two,
    overflow_mini_cycle,
    two_node_bursts,
)
from ackclock.models.bottlenecks.windows import DROP_FACTOR
from ackclock.models.domain import ArrayLike, BoolArray, FloatArray, IntArray, model, model_of
from ackclock.models.limits import (
    AT_LEAST_ONE_PACKET,
    BUFFER,
    FACTOR_OR_ZERO,
    PACKET_RATE,
    UNBOUNDED_PACKET_RATE,
    UNBOUNDED_WINDOW,
    WINDOW,
)

_DUPLICATE_ACKS: Final = 3


class RetransmissionLoss(NamedTuple):
    """The nodes that may lose the retransmission after a loss in slow start."""

    possible: BoolArray
    """Whether each node may lose it, on the last axis: (5) holds, and a full buffer drops the packet that arrives."""
    node: IntArray
    """Index of the node closest to the source among these, where the loss would be, or -1."""
    detection_time: FloatArray
    """Time from the start of mini-cycle n_B + 1 to the detection of the loss, D [s]; infinite without an overflow."""
    packets: FloatArray
    """Number of packets sent in that time, Q [pkt]; nan where no buffer can overflow."""
    finds_full: BoolArray
    """Whether (5) holds at each node, on the last axis: the retransmission finds a full buffer there."""


@model(
    burst_size=UNBOUNDED_WINDOW,
    bottleneck_rate=PACKET_RATE,
    duplicate_acks=FACTOR_OR_ZERO,
    drop_factor=DROP_FACTOR,
)
def loss_detection_time(
    burst_size: ArrayLike,
    bottleneck_rate: ArrayLike,
    duplicate_acks: ArrayLike = _DUPLICATE_ACKS,
    drop_factor: ArrayLike = 1.0,
) -> FloatArray:
    """Compute the time to the detection of a loss in slow start [bottlenecks, sections 7 and 7.1].

    ``D = (S_B + 3) / mu`` for drop-tail; ``((1 + alpha) S_B / 2 + 3) / mu`` for a drop factor alpha.

    Parameters
    ----------
    burst_size : array_like
        S_B [pkt], > 0, may be infinite.
    bottleneck_rate : array_like
        mu [pkt/s], > 0.
    duplicate_acks : array_like, optional
        Duplicate ACKs that show a loss [1], >= 0.
    drop_factor : array_like, optional
        alpha [1], from 0 to 1, see `avoidance_start`.

    Returns
    -------
    array of float
        D [s], from the start of mini-cycle n_B + 1.

    Examples
    --------
    >>> float(loss_detection_time(burst_size=37, bottleneck_rate=400))
    0.1
    """
    size, mu, threshold, alpha = model_of(loss_detection_time).take(
        burst_size=burst_size, bottleneck_rate=bottleneck_rate, duplicate_acks=duplicate_acks, drop_factor=drop_factor
    )
    return np.asarray((_acknowledged(size, alpha) + threshold) / mu)[()]


def _acknowledged(size: FloatArray, drop_factor: FloatArray) -> FloatArray:
    """Compute the new ACKs before the first duplicate [pkt]: S_B, or half of it [bottlenecks, section 7.2]."""
    return np.asarray(size * (1.0 + drop_factor) / 2.0)


# With a = (1 + alpha) S_B / 2 new ACKs, each brings two packets up to the threshold and one beyond it:
# Q = 2 a + min(0, W_th - 2^n_B - a). With a = S_B, and 2^n_B + S_B = 2 W_B, it is the printed Q.
@model(threshold=UNBOUNDED_WINDOW, burst_size=UNBOUNDED_WINDOW, drop_factor=DROP_FACTOR)
def packets_before_detection(threshold: ArrayLike, burst_size: ArrayLike, drop_factor: ArrayLike = 1.0) -> FloatArray:
    """Compute the packets sent before the loss shows [bottlenecks, sections 7 and 7.1].

    ``Q = 2 S_B + min(0, W_th - 2 W_B)`` for drop-tail; ``(1 + alpha) S_B + min(0, W_th - W_D)`` for a drop factor
    alpha, with the W_D of `avoidance_start` before its minimum, ``2 W_B + (alpha - 1) S_B / 2``.

    Parameters
    ----------
    threshold : array_like
        Slow-start threshold W_th [pkt], > 0, may be infinite.
    burst_size : array_like
        S_B [pkt], > 0, may be infinite; gives W_B.
    drop_factor : array_like, optional
        alpha [1], from 0 to 1, see `avoidance_start`.

    Returns
    -------
    array of float
        Q [pkt]; nan for an infinite S_B.

    Notes
    -----
    Means something where slow start overflows, ``W_th > W_B``.

    Examples
    --------
    S_B = 40, W_B = 52: beyond W_th = 104 the source stays in slow start up to the detection.

    >>> packets_before_detection([90, 104, 120], burst_size=40).tolist()
    [66.0, 80.0, 80.0]
    """
    w_th, size, alpha = model_of(packets_before_detection).take(
        threshold=threshold, burst_size=burst_size, drop_factor=drop_factor
    )
    known = np.isfinite(size)
    acknowledged = _acknowledged(np.where(known, size, np.nan), alpha)
    detected = np.exp2(np.where(known, overflow_mini_cycle(size), np.nan)) + acknowledged
    return np.asarray(2.0 * acknowledged + np.minimum(0.0, w_th - detected))[()]


@model(
    domain={"buffers": OVERFLOW},
    rates=PACKET_RATE,
    buffers=BUFFER,
    access_rate=UNBOUNDED_PACKET_RATE,
    threshold=UNBOUNDED_WINDOW,
    drop_factor=DROP_FACTOR,
)
def retransmission_loss(
    rates: ArrayLike,
    buffers: ArrayLike,
    threshold: ArrayLike,
    access_rate: ArrayLike = inf,
    drop_factor: ArrayLike = 1.0,
) -> RetransmissionLoss:
    """Check the necessary condition for the loss of the retransmission at each node [bottlenecks, eq. 5].

    ``S_i < D mu_(i-1) < Q``; it never holds at a node that the source feeds directly at 2 mu or more. Where it holds,
    the buffer is full: drop-tail drops the retransmission, others another packet [bottlenecks, sections 7.1 and 7.2].

    Parameters
    ----------
    rates : array_like
        Available rate of each node [pkt/s], > 0, nodes on the last axis in path order.
    buffers : array_like
        Buffer of each node [pkt], > 0, may be infinite; with rates' axis of nodes.
    threshold : array_like
        Slow-start threshold W_th [pkt], > 0, may be infinite; has no axis of nodes.
    access_rate : array_like, optional
        Rate mu_A of the source's own link [pkt/s], at least mu; has no axis of nodes. Below 2 mu the loss is possible
        at the first node too.
    drop_factor : array_like, optional
        alpha [1], from 0 to 1, see `avoidance_start`; has no axis of nodes. Below 1 the loss is possible at no node.

    Returns
    -------
    RetransmissionLoss
        possible, node, detection_time, packets, finds_full.

    Notes
    -----
    For Tahoe and three duplicate ACKs. Necessary only: whether the loss happens depends on the phase, a
    packet more or less in a buffer. Without an overflow (W_th <= W_B) the condition never holds.

    Examples
    --------
    Figure 9: packets of 512 B, 2.2 and 1.5 Mbit/s, an access link of 2.7 Mbit/s, B' = 15, B = 18. The bottleneck may
    lose the retransmission.

    >>> scale = 1e6 / 4096
    >>> found = retransmission_loss([2.2 * scale, 1.5 * scale], [15, 18], threshold=111.5, access_rate=2.7 * scale)
    >>> found.possible.tolist(), int(found.node)
    ([False, True], 1)
    """
    nodes = path(rates, buffers, access_rate)
    record = model_of(retransmission_loss)
    w_th, alpha = record.take(threshold=threshold, drop_factor=drop_factor)
    record.take(rates=nodes.rates, threshold=w_th[..., np.newaxis], drop_factor=alpha[..., np.newaxis])
    return retransmission_loss_of(nodes, burst_sizes_of(nodes), w_th, alpha)


def retransmission_loss_of(
    nodes: Path, sizes: FloatArray, w_th: FloatArray, drop_factor: FloatArray
) -> RetransmissionLoss:
    """Check the condition for the loss of the retransmission at each node of a path [bottlenecks, eq. 5]."""
    size = smallest(sizes)
    time = np.asarray(loss_detection_time(size, nodes.bottleneck_rate, drop_factor=drop_factor))
    packets = packets_before_detection(w_th, size, drop_factor)
    fed = time[..., np.newaxis] * nodes.burst_rates
    # A node that is fed directly, at 2 mu, needs no exception: Q <= (1 + alpha) S_B there, and D 2 mu is 6 more.
    full = (sizes < fed) & (fed < np.asarray(packets)[..., np.newaxis])
    possible = full & (drop_factor == 1.0)[..., np.newaxis]
    node = np.asarray(np.where(possible.any(axis=-1), possible.argmax(axis=-1), -1))[()]
    return RetransmissionLoss(possible, node, time[()], packets, full)


@model(
    domain={"buffer": OVERFLOW, "intermediate_buffer": OVERFLOW},
    bottleneck_rate=PACKET_RATE,
    intermediate_rate=PACKET_RATE,
    buffer=BUFFER,
    intermediate_buffer=BUFFER,
    threshold=UNBOUNDED_WINDOW,
)
def retransmission_loss_two_nodes(
    bottleneck_rate: ArrayLike,
    intermediate_rate: ArrayLike,
    buffer: ArrayLike,
    intermediate_buffer: ArrayLike,
    threshold: ArrayLike,
) -> BoolArray:
    """Check the condition for the loss of the retransmission with two nodes [bottlenecks, section 7, eq. 5].

    In the simplified model the loss is possible at the bottleneck alone: ``S < D mu' < 2 S_B + min(0, W_th - 2 W_B)``

    Parameters
    ----------
    bottleneck_rate : array_like
        mu [pkt/s], > 0.
    intermediate_rate : array_like
        mu' [pkt/s], from mu to 2 mu.
    buffer, intermediate_buffer : array_like
        B and B' [pkt], > 0, may be infinite.
    threshold : array_like
        Slow-start threshold W_th [pkt], > 0, may be infinite.

    Returns
    -------
    array of bool

    Notes
    -----
    For drop-tail, and a source whose own link is faster than 2 mu.

    Examples
    --------
    >>> retransmission_loss_two_nodes(366, [550, 720], buffer=18, intermediate_buffer=40, threshold=111.5).tolist()
    [True, False]
    """
    size, size_before = two_node_bursts(bottleneck_rate, intermediate_rate, buffer, intermediate_buffer)
    record = model_of(retransmission_loss_two_nodes)
    mu, middle = record.take(bottleneck_rate=bottleneck_rate, intermediate_rate=intermediate_rate)
    smallest = np.minimum(size, size_before)
    fed = loss_detection_time(smallest, mu) * middle
    return np.asarray((size < fed) & (fed < packets_before_detection(threshold, smallest)))[()]


@model(
    domain={"buffer": OVERFLOW},
    bottleneck_rate=PACKET_RATE,
    access_rate=PACKET_RATE,
    buffer=BUFFER,
    threshold=UNBOUNDED_WINDOW,
)
def retransmission_loss_behind_access_link(
    bottleneck_rate: ArrayLike, access_rate: ArrayLike, buffer: ArrayLike, threshold: ArrayLike
) -> BoolArray:
    """Check the condition for the loss of the retransmission behind a slow access link [bottlenecks, section 7, eq. 5].

    ``(S + 3) mu'/mu < 2 S + min(0, W_th - 2 W_B)`` with ``S = mu'/(mu' - mu) B``, mu' the access link's rate.

    Parameters
    ----------
    bottleneck_rate : array_like
        mu [pkt/s], > 0.
    access_rate : array_like
        mu' [pkt/s], from mu to 2 mu.
    buffer : array_like
        B [pkt], > 0.
    threshold : array_like
        Slow-start threshold W_th [pkt], > 0, may be infinite.

    Returns
    -------
    array of bool

    Notes
    -----
    For drop-tail. The condition never holds near mu' = 2 mu: the left side then exceeds 2 S. At 2 mu itself the access
    link is not slow, and the result is `False`.

    Examples
    --------
    >>> retransmission_loss_behind_access_link(100, [130, 150, 195], buffer=20, threshold=150).tolist()
    [False, True, False]
    """
    record = model_of(retransmission_loss_behind_access_link)
    mu, access = record.take(bottleneck_rate=bottleneck_rate, access_rate=access_rate)
    check_between_one_and_two("access_rate", access, mu)
    size = two_node_bursts(mu, access, buffer, inf).bottleneck
    left = loss_detection_time(size, mu) * access
    return np.asarray(left < packets_before_detection(threshold, size))[()]


# The printed step from W_th > S mu'/mu to beta < 1/(4 mu'/mu - 1) puts S = 2 B, the value of (3) at mu' = 2 mu, which
# section 6 takes "for most of the cases". With (3) itself it is `retransmission_loss_beta_with_burst`.
@model(rate_ratio=RATE_RATIO)
def retransmission_loss_beta(rate_ratio: ArrayLike) -> FloatArray:
    """Compute the beta below which the retransmission may be lost behind a slow access link [bottlenecks, section 7].

    ``1 / (4 mu'/mu - 1)``

    Parameters
    ----------
    rate_ratio : array_like
        mu'/mu [1], from 1 to 2.

    Returns
    -------
    array of float
        The limit of ``beta = B / (mu T)`` [1].

    Notes
    -----
    Takes S = 2 B and W_B = S, and leaves out the 3 packets of the detection; so not near ``mu' = 2 mu``.

    Examples
    --------
    >>> retransmission_loss_beta([1.0, 1.5]).round(4).tolist()
    [0.3333, 0.2]
    """
    (ratio,) = model_of(retransmission_loss_beta).take(rate_ratio=rate_ratio)
    return 1.0 / (4.0 * ratio - 1.0)


@model(rate_ratio=RATE_RATIO)
def retransmission_loss_beta_with_burst(rate_ratio: ArrayLike) -> FloatArray:
    """Compute the limit of `retransmission_loss_beta` with the burst size of (3) [bottlenecks, section 7].

    ``(r - 1) / (2 r^2 - r + 1)`` where r = mu'/mu, from ``W_th > S mu'/mu`` with ``S = r / (r - 1) B`` instead of 2 B.

    Parameters
    ----------
    rate_ratio : array_like
        mu'/mu [1], from 1 to 2.

    Returns
    -------
    array of float
        The limit of ``beta = B / (mu T)`` [1]; it meets `retransmission_loss_beta` at r = 2, and is 0 at r = 1.

    Examples
    --------
    >>> retransmission_loss_beta_with_burst([1.0, 1.5]).tolist()
    [0.0, 0.125]
    """
    (r,) = model_of(retransmission_loss_beta_with_burst).take(rate_ratio=rate_ratio)
    return (r - 1.0) / (2.0 * r**2 - r + 1.0)


@model(
    domain={"start_window": AT_LEAST_ONE_PACKET, "end_window": AT_LEAST_ONE_PACKET},
    start_window=WINDOW,
    end_window=WINDOW,
)
def cost_of_lost_retransmission(start_window: ArrayLike, end_window: ArrayLike) -> FloatArray:
    """Compute the fraction of the throughput that a lost retransmission costs [bottlenecks, section 7].

    ``1 - W_max / (W'_th + W_max)``

    Parameters
    ----------
    start_window : array_like
        W'_th [pkt], > 0: where congestion avoidance would start.
    end_window : array_like
        W_max [pkt], > 0.

    Returns
    -------
    array of float
        The fraction lost [1].

    Examples
    --------
    At most 20%, where W'_th = W_max / 4:

    >>> round(float(cost_of_lost_retransmission(1, 4)), 12)
    0.2
    """
    start, end = model_of(cost_of_lost_retransmission).take(start_window=start_window, end_window=end_window)
    return 1.0 - end / (start + end)
