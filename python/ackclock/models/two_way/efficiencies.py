"""Efficiency of both connections, its loss against traffic one way, and its inverse [two-way, sections 2 to 5]."""

from typing import Final, NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, BoolArray, FloatArray, checked, model, model_of
from ackclock.models.limits import AT_LEAST_ONE_PACKET, DELAY, OPEN_FRACTION, PACKET_RATE, WINDOW
from ackclock.models.two_way.layout import (
    ACK_SIZE,
    PAIR_DOMAIN,
    Layout,
    ack_times,
    layout,
    other,
    pair,
    pair_quantities,
)

ASSUMES: Final = (
    "greedy connections, steady rates and delays, no losses, windows at their largest, one FIFO queue a node"
)


class Aggregate(NamedTuple):
    """The efficiencies of several connections in each direction that start together [two-way, section 5.4]."""

    efficiencies: FloatArray
    """Efficiencies of the sums, the paper's fat connections [1]; i and j on the last axis."""
    of_i: FloatArray
    """Fraction of its channel that each connection from i gets [1]."""
    of_j: FloatArray
    """Fraction of its channel that each connection from j gets [1]."""


@model(domain={"windows": AT_LEAST_ONE_PACKET}, windows=WINDOW, delays=DELAY, rates=PACKET_RATE)
def acks_compress(windows: ArrayLike, delays: ArrayLike, rates: ArrayLike = 1.0) -> BoolArray:
    """Decide whether ACKs compress: ``W_i / rho_i + W_j / rho_j > D_ij + D_ji`` [two-way, eqs. 2.1 and 4.1].

    Parameters
    ----------
    windows : array_like
        W_i and W_j [pkt], > 0, on the last axis, or one for both.
    delays : array_like
        D_ij and D_ji [s], >= 0, likewise; with rates of 1 the lengths L [pkt].
    rates : array_like, optional
        rho_i and rho_j [pkt/s], > 0, likewise.

    Returns
    -------
    array of bool
        Has no axis of connections.

    Examples
    --------
    >>> acks_compress(windows=[[28, 28], [15, 15], [1, 30]], delays=15).tolist()
    [True, False, True]
    """
    return np.asarray(layout(windows, delays, rates).surplus[..., 0] > 0.0)[()]


# ACKs that need time a_i, a_j at node i, j (beyond the paper). Let s, r be the starts of two overlapping busy periods
# of i, j. The ACK of j's first segment leaves i behind i's whole burst, and j sends it on when it has also answered
# the last segment of that burst: r' = s + W_i/rho_i + max(a_i, a_j) + D_ij; s' likewise from r. Nor can a node start
# before its own burst and the ACKs of the other's are sent: s' >= s + W_i/rho_i + W_j a_i. The largest mean of a cycle
# of these two is the interval; without ACK times lemmas 1 and 3, and all three cases of the theorems.
@model(
    domain=PAIR_DOMAIN,
    quantities=pair_quantities,
    assumes=ASSUMES,
    windows=WINDOW,
    delays=DELAY,
    rates=PACKET_RATE,
    ack_size=ACK_SIZE,
)
def busy_period_interval(
    windows: ArrayLike, delays: ArrayLike, rates: ArrayLike = 1.0, ack_size: ArrayLike = 0.0
) -> FloatArray:
    """Compute the mean time between two busy periods [two-way, lemmas 1 and 3, eqs. 3.6, 3.7 and 3.14].

    Parameters
    ----------
    windows, delays, rates, ack_size : array_like
        W [pkt], D [s], rho [pkt/s] and an ACK's size [1], as for `efficiency`.

    Returns
    -------
    array of float
        [s], i and j on the last axis; both are equal where ACKs compress, elsewhere it is the round trip.

    Notes
    -----
    Lemma 1 holds for both connections with the larger window time (equation 3.7 has the wrong window); lemma 3 has
    twice this number, as it spans two busy periods.

    Examples
    --------
    >>> busy_period_interval(windows=[[4, 4], [40, 28]], delays=2).tolist()
    [[6.0, 6.0], [40.0, 40.0]]
    """
    return np.asarray(_interval(layout(windows, delays, rates), ack_size))


def _interval(two: Layout, ack_size: ArrayLike) -> FloatArray:
    a, x, D = ack_times(ack_size, two.rates), two.window_times, two.round_trip  # noqa: N806
    by_work = (x + other(two.windows) * a).max(axis=-1, keepdims=True)
    by_waiting = (x.sum(axis=-1, keepdims=True) + D) / 2.0 + a.max(axis=-1, keepdims=True)
    return np.where(two.surplus > 0.0, np.maximum(by_work, by_waiting), D + other(a))


@model(
    domain=PAIR_DOMAIN,
    quantities=pair_quantities,
    assumes=ASSUMES,
    windows=WINDOW,
    delays=DELAY,
    rates=PACKET_RATE,
    ack_size=ACK_SIZE,
)
def efficiency(windows: ArrayLike, delays: ArrayLike, rates: ArrayLike = 1.0, ack_size: ArrayLike = 0.0) -> FloatArray:
    """Compute the efficiency of both connections [two-way, theorems 1 and 2, eqs. 3.21 and 4.2].

    ``F_i = x / max(x, y, (x + y + D) / 2)`` with ``x = W_i / rho_i``, ``y = W_j / rho_j``, ``D = D_ij + D_ji``. The
    largest term is that of the theorems' case that holds: x under (3.1), y where (3.1) holds for the other connection
    (then F is as in 3.2), their mean with D under (3.8) [two-way, eqs. 3.1, 3.2 and 3.8]. Where ACKs do not compress,
    ``x / D``.

    Parameters
    ----------
    windows : array_like
        W_i and W_j [pkt], > 0, on the last axis, or one for both.
    delays : array_like
        D_ij and D_ji [s], >= 0, likewise; with rates of 1 the lengths L [pkt].
    rates : array_like, optional
        rho_i and rho_j [pkt/s], > 0, likewise: the rates at which the channels carry TCP segments.
    ack_size : array_like, optional
        Transmission time of an ACK as a fraction of a segment's on the same channel [1], from 0, the paper's, to the
        smaller rate over the larger; has no axis of connections.

    Returns
    -------
    array of float
        [1], i and j on the last axis.

    Notes
    -----
    Does not depend on the phase of the two. Exact for whole windows in a store-and-forward network (D without the
    transmission of a segment), for all ACK sizes, wherever the overlap is within its domain.

    Examples
    --------
    Section 5.2, and section 5.3, which says 56% of connection j and about 80% of i:

    >>> efficiency(windows=28, delays=15).round(3).tolist()
    [0.651, 0.651]
    >>> efficiency(windows=[14, 28], delays=15 / 155, rates=[51.6, 155]).round(2).tolist()
    [0.84, 0.56]

    The conclusion's 20% (128 KB, 5 ms, 155 and 30 Mbit/s; segments of 1 KB):

    >>> efficiency(windows=128, delays=0.005, rates=[30e6 / 8192, 155e6 / 8192]).round(3).tolist()
    [1.0, 0.194]
    """
    two = layout(windows, delays, rates)
    return np.asarray(two.window_times / _interval(two, ack_size))


@model(
    domain=PAIR_DOMAIN,
    quantities=pair_quantities,
    assumes=ASSUMES,
    windows=WINDOW,
    delays=DELAY,
    rates=PACKET_RATE,
    ack_size=ACK_SIZE,
)
def throughput(windows: ArrayLike, delays: ArrayLike, rates: ArrayLike = 1.0, ack_size: ArrayLike = 0.0) -> FloatArray:
    """Compute the throughput of both connections, ``F rho`` [two-way, theorems 1 and 2].

    Parameters
    ----------
    windows, delays, rates, ack_size : array_like
        W [pkt], D [s], rho [pkt/s] and an ACK's size [1], as for `efficiency`.

    Returns
    -------
    array of float
        [pkt/s], i and j on the last axis.

    Examples
    --------
    Section 5.3: connection j reaches 73.5 of 131 Mbit/s.

    >>> rates = np.array([51.6 / 155 * 131e6, 131e6]) / (9180 * 8)
    >>> found = throughput(windows=[14, 28], delays=15 / rates[1], rates=rates)
    >>> round(float(found[1]) * 9180 * 8 / 1e6, 1)
    73.3
    """
    two = layout(windows, delays, rates)
    return np.asarray(two.windows / _interval(two, ack_size))


@model(domain={"windows": AT_LEAST_ONE_PACKET}, windows=WINDOW, delays=DELAY, rates=PACKET_RATE)
def one_way_efficiency(windows: ArrayLike, delays: ArrayLike, rates: ArrayLike = 1.0) -> FloatArray:
    """Compute the efficiency of each connection alone, ``min(W / (L_ij + L_ji), 1)`` [two-way, section 3].

    Parameters
    ----------
    windows, delays, rates : array_like
        W [pkt], D [s] and rho [pkt/s], as for `efficiency`.

    Returns
    -------
    array of float
        [1], i and j on the last axis.

    Examples
    --------
    >>> one_way_efficiency(windows=[12, 28], delays=8).tolist()
    [0.75, 1.0]
    """
    two = layout(windows, delays, rates)
    x = two.window_times
    return np.asarray(x / np.maximum(x, two.round_trip))


@model(domain=PAIR_DOMAIN, quantities=pair_quantities, assumes=ASSUMES, windows=WINDOW, delays=DELAY, rates=PACKET_RATE)
def efficiency_lost(windows: ArrayLike, delays: ArrayLike, rates: ArrayLike = 1.0) -> FloatArray:
    """Compute the efficiency that traffic in the other direction costs [two-way, section 3].

    `one_way_efficiency` less `efficiency`.

    Parameters
    ----------
    windows, delays, rates : array_like
        W [pkt], D [s] and rho [pkt/s], as for `efficiency`.

    Returns
    -------
    array of float
        [1], i and j on the last axis.

    Examples
    --------
    With windows of the round-trip pipe, a third:

    >>> efficiency_lost(windows=16, delays=8).round(4).tolist()
    [0.3333, 0.3333]
    """
    return one_way_efficiency(windows, delays, rates) - efficiency(windows, delays, rates)


@model(domain={"window": AT_LEAST_ONE_PACKET}, window=WINDOW, length=DELAY)
def equal_window_efficiency(window: ArrayLike, length: ArrayLike) -> FloatArray:
    """Compute the efficiency with equal windows, rates and delays, ``W / (W + L)`` [two-way, section 3].

    Parameters
    ----------
    window : array_like
        W [pkt], > 0.
    length : array_like
        L of the link one way [pkt], >= 0.

    Returns
    -------
    array of float
        [1]; ``W / (2 L)`` up to W = L, where ACKs do not compress.

    Examples
    --------
    Figure 3.3 (L = 8): 50% at W = L, 66.67% at W = 2 L.

    >>> equal_window_efficiency([4, 8, 16], 8).round(4).tolist()
    [0.25, 0.5, 0.6667]
    """
    W, L = model_of(equal_window_efficiency).take(window=window, length=length)  # noqa: N806
    return np.asarray(W / np.maximum(W + L, 2.0 * L))[()]


@model(target=OPEN_FRACTION, delays=DELAY, rates=PACKET_RATE)
def windows_for_efficiency(target: ArrayLike, delays: ArrayLike, rates: ArrayLike = 1.0) -> FloatArray:
    """Compute the smallest window, the same for both, for a wanted efficiency of both [two-way, theorems 1 and 2].

    The inverse of `efficiency`.

    Parameters
    ----------
    target : array_like
        Efficiency [1], between 0 and 1; has no axis of connections.
    delays, rates : array_like
        D [s] and rho [pkt/s], as for `efficiency`.

    Returns
    -------
    array of float
        W [pkt], rarely whole: round up; infinite where no window suffices. Has no axis of connections.

    Notes
    -----
    With equal rates ``F L / (1 - F)`` above one half. With unequal ones the faster connection never gets beyond the
    slower rate over the faster.

    Examples
    --------
    90% of the efficiency one way with W = 2 L needs a window 4.5 times as large:

    >>> windows_for_efficiency([0.5, 2 / 3, 0.9], delays=8).round(6).tolist()
    [8.0, 16.0, 72.0]
    """
    record = model_of(windows_for_efficiency)
    F, D, rho = record.take(target=target, delays=delays, rates=rates)  # noqa: N806
    D, rho, F = pair("delays", D).sum(axis=-1), pair("rates", rho), F[..., np.newaxis]  # noqa: N806
    record.take(target=F, delays=D[..., np.newaxis], rates=rho)
    fast = rho.max(axis=-1, keepdims=True)
    pipe, ratio = fast * D[..., np.newaxis], fast / rho.min(axis=-1, keepdims=True)
    # The faster connection has the smaller x: x >= F (x + y + D) / 2, x >= F D, and x >= F y = F x ratio.
    spare = 2.0 - F * (1.0 + ratio)
    needed = np.maximum(F * pipe / np.where(spare > 0.0, spare, 1.0), F * pipe)
    return np.asarray(np.where(F * ratio <= 1.0, needed, np.inf)[..., 0])[()]


# As printed F_l has two factors whose W_l cancel: the fat connection's efficiency. A connection's part of it is
# W_l / W_I.
@model(
    domain={"windows_of_i": AT_LEAST_ONE_PACKET, "windows_of_j": AT_LEAST_ONE_PACKET},
    assumes=ASSUMES,
    windows_of_i=WINDOW,
    windows_of_j=WINDOW,
    delays=DELAY,
    rates=PACKET_RATE,
)
def aggregate(windows_of_i: ArrayLike, windows_of_j: ArrayLike, delays: ArrayLike, rates: ArrayLike = 1.0) -> Aggregate:
    """Compute the efficiency of several connections each way that start together [two-way, section 5.4].

    Each direction is one fat connection whose window is the sum; its connections share by their windows.

    Parameters
    ----------
    windows_of_i, windows_of_j : array_like
        Window of each connection from i, from j [pkt], > 0, connections on the last axis.
    delays, rates : array_like
        D [s] and rho [pkt/s] of the fat connections, as for `efficiency`; rates are each channel's whole rate.

    Returns
    -------
    Aggregate
        efficiencies, of_i, of_j.

    Notes
    -----
    Holds as long as each connection starts while its direction's fat connection is in a busy period.

    Examples
    --------
    Configuration R-1: four connections of 7 segments each way, L about 9.

    >>> found = aggregate([7] * 4, [7] * 4, delays=9)
    >>> found.efficiencies.round(3).tolist(), found.of_i.round(3).tolist()
    ([0.757, 0.757], [0.189, 0.189, 0.189, 0.189])
    """
    one, two = (_several("windows_of_i", windows_of_i), _several("windows_of_j", windows_of_j))
    totals = model_of(aggregate).take(windows_of_i=one.sum(axis=-1), windows_of_j=two.sum(axis=-1))
    sums = np.stack(np.broadcast_arrays(*totals), axis=-1)
    found = efficiency(sums, delays, rates)
    return Aggregate(
        efficiencies=found,
        of_i=found[..., :1] * one / sums[..., :1],
        of_j=found[..., 1:] * two / sums[..., 1:],
    )


def _several(name: str, windows: ArrayLike) -> FloatArray:
    (values,) = checked(**{name: (windows, WINDOW)})
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ModelError(Fault(name, "has no connections", f"shape {values.shape}", "the windows on the last axis"))
    return values
