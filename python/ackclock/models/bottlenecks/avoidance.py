"""Congestion avoidance: how fast the source sends, and where its queue builds [bottlenecks, section 3]."""

import numpy as np

from ackclock.models.bottlenecks.path import path
from ackclock.models.domain import ArrayLike, FloatArray, IntArray, model, model_of
from ackclock.models.limits import AT_LEAST_ONE_PACKET, PACKET_RATE, WINDOW


@model(domain={"window": AT_LEAST_ONE_PACKET}, window=WINDOW, bottleneck_rate=PACKET_RATE)
def avoidance_rate(window: ArrayLike, bottleneck_rate: ArrayLike) -> FloatArray:
    """Compute the source's mean rate in congestion avoidance, ``R_CA = (W + 1) / W mu`` [bottlenecks, section 3].

    Parameters
    ----------
    window : array_like
        Congestion window W [pkt], > 0.
    bottleneck_rate : array_like
        Smallest available rate mu [pkt/s], > 0.

    Returns
    -------
    array of float
        R_CA [pkt/s].

    Notes
    -----
    For windows above the pipe size, ``W > mu T``. The window grows by exactly one packet a round trip, which needs the
    increase ``1/floor(W)`` for each ACK.

    Examples
    --------
    >>> float(avoidance_rate(window=250, bottleneck_rate=1000))
    1004.0
    """
    w, mu = model_of(avoidance_rate).take(window=window, bottleneck_rate=bottleneck_rate)
    return (w + 1.0) / w * mu


@model(rates=PACKET_RATE)
def avoidance_node(rates: ArrayLike) -> IntArray:
    """Find the node whose queue builds in congestion avoidance [bottlenecks, section 3].

    Of the nodes with the smallest rate it is the one closest to the source: its buffer alone determines W_max.

    Parameters
    ----------
    rates : array_like
        Available rate of each node [pkt/s], > 0, nodes on the last axis in path order.

    Returns
    -------
    array of int
        The node's index.

    Notes
    -----
    All other nodes must be faster than R_CA: see `avoidance_growth_rates` and `sharing_window`.

    Examples
    --------
    Figure 2: with equal rates the first buffer (100 packets) counts, with 1.6 and 1.5 Mbit/s the second (50).

    >>> avoidance_node([[1.5e6, 1.5e6], [1.6e6, 1.5e6]]).tolist()
    [0, 1]
    """
    return np.asarray(np.argmin(path(rates).rates, axis=-1))[()]


# The text says that the queue at mu grows at mu_1 - mu where some mu_i < R_CA, and that all waiting packets move to B
# "once R_CA is greater than all the mu_i". Read: mu_n - mu (what leaves the last such node), and smaller than all.
@model(domain={"window": AT_LEAST_ONE_PACKET}, rates=PACKET_RATE, window=WINDOW)
def avoidance_growth_rates(rates: ArrayLike, window: ArrayLike) -> FloatArray:
    """Compute how fast each node's queue grows in congestion avoidance at a given window [bottlenecks, section 3].

    Parameters
    ----------
    rates : array_like
        Available rate of each node [pkt/s], > 0, nodes on the last axis in path order.
    window : array_like
        Congestion window W [pkt], above the pipe size mu T; has no axis of nodes.

    Returns
    -------
    array of float
        Growth [pkt/s], nodes on the last axis; 0 where no queue builds. Their sum is ``R_CA - mu = mu / W``.

    Examples
    --------
    R_CA = 101 packets/s: a node of 100.4 packets/s takes part of the queue, one of 150 none.

    >>> avoidance_growth_rates([150, 100.4, 100], window=100).round(1).tolist()
    [0.0, 0.6, 0.4]
    """
    record = model_of(avoidance_growth_rates)
    (w,) = record.take(window=window)
    nodes = path(rates)
    record.take(rates=nodes.rates, window=w[..., np.newaxis])
    source = avoidance_rate(w, nodes.bottleneck_rate)[..., np.newaxis]
    return np.maximum(np.minimum(nodes.feeding, source) - nodes.rates, 0.0)


@model(rate=PACKET_RATE, bottleneck_rate=PACKET_RATE)
def sharing_window(rate: ArrayLike, bottleneck_rate: ArrayLike) -> FloatArray:
    """Compute the window up to which a node shares the queue of congestion avoidance [bottlenecks, section 3].

    Its rate is below R_CA while ``W < mu / (mu_i - mu)``; at larger windows the queue is in the bottleneck alone.

    Parameters
    ----------
    rate : array_like
        Available rate mu_i of the node [pkt/s], > 0.
    bottleneck_rate : array_like
        Smallest available rate mu [pkt/s], > 0.

    Returns
    -------
    array of float
        Window [pkt]; infinite for a node as slow as the bottleneck.

    Examples
    --------
    At 1.6 against 1.5 Mbit/s (figure 2) the node stops sharing long before the pipe of 205 packets is full.

    >>> round(float(sharing_window(1.6, 1.5)), 6)
    15.0
    """
    mu_i, mu = model_of(sharing_window).take(rate=rate, bottleneck_rate=bottleneck_rate)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(mu_i > mu, mu / np.maximum(mu_i - mu, 0.0), np.inf))[()]
