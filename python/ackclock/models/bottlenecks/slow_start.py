"""Slow start: which buffer overflows first, and at which window [bottlenecks, sections 4 and 5]."""

from math import inf
from typing import Final, NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.bottlenecks.path import Path, path, smallest
from ackclock.models.domain import ArrayLike, FloatArray, IntArray, Limits, model, model_of
from ackclock.models.limits import (
    BUFFER,
    PACKET_RATE,
    UNBOUNDED_PACKET_RATE,
    UNBOUNDED_WINDOW,
)

RATE_RATIO: Final = Limits(1.0, 2.0, low_included=True, high_included=True, reason="mu'/mu of a node that matters")
OVERFLOW: Final = Limits(
    2.0,
    inf,
    low_included=True,
    high_included=True,
    unit="pkt",
    reason="a burst of slow start comes in pairs: a buffer of one packet drops the second at once",
)
"""The domain of a buffer that slow start overflows."""

_NODES: Final = Limits(0.0, 1e6, low_included=True, high_included=True, whole=True)
_ROUNDING: Final = 1e-12
"""Relative error of a computed burst size: one this near above a power of two counts as that power of two."""


class SlowStartOverflow(NamedTuple):
    """The first overflow of slow start; infinite sizes and node -1 where no queue can build."""

    burst_size: FloatArray
    """Burst that overflows the first buffer, S_B [pkt]."""
    node: IntArray
    """Index of that buffer's node, the closest to the source where several overflow together."""
    mini_cycle: FloatArray
    """Mini-cycle of the overflow, n_B; a whole number, or infinite."""
    window: FloatArray
    """Window at the overflow, W_B [pkt]."""


class EquivalentNode(NamedTuple):
    """The one node, fed as the first node was, that replaces all nodes before the bottleneck."""

    rate: FloatArray
    """Rate, mu' [pkt/s]."""
    buffer: FloatArray
    """Buffer, B' [pkt]; infinite where no queue can build before the bottleneck."""
    burst_size: FloatArray
    """Burst that overflows it, S' [pkt]."""


class TwoNodeBursts(NamedTuple):
    """Burst sizes that fill the two buffers of the simplified model."""

    bottleneck: FloatArray
    """S [pkt], of buffer B."""
    intermediate: FloatArray
    """S' [pkt], of buffer B'."""


@model(rates=PACKET_RATE, access_rate=UNBOUNDED_PACKET_RATE)
def queue_building_rates(rates: ArrayLike, access_rate: ArrayLike = inf) -> FloatArray:
    """Compute how fast each queue grows under a slow-start burst, ``mu_(i-1) - mu_i`` [bottlenecks, section 4].

    Parameters
    ----------
    rates : array_like
        Available rate of each node [pkt/s], > 0, nodes on the last axis in path order.
    access_rate : array_like, optional
        Rate mu_A of the source's own link [pkt/s], at least mu; has no axis of nodes. From 2 mu on it plays no role.

    Returns
    -------
    array of float
        Growth [pkt/s], nodes on the last axis; 0 where no queue builds.

    Examples
    --------
    >>> queue_building_rates([180, 130, 100]).tolist()
    [20.0, 50.0, 30.0]
    >>> queue_building_rates([180, 130, 100], access_rate=150).tolist()
    [0.0, 20.0, 30.0]
    """
    nodes = path(rates, access_rate=access_rate)
    return np.maximum(nodes.burst_rates - nodes.rates, 0.0)


@model(domain={"buffers": OVERFLOW}, rates=PACKET_RATE, buffers=BUFFER, access_rate=UNBOUNDED_PACKET_RATE)
def burst_sizes(rates: ArrayLike, buffers: ArrayLike, access_rate: ArrayLike = inf) -> FloatArray:
    """Compute the burst that overflows each buffer, ``S_i = mu_(i-1) / (mu_(i-1) - mu_i) B_i`` [bottlenecks, eq. 1].

    Parameters
    ----------
    rates : array_like
        Available rate of each node [pkt/s], > 0, nodes on the last axis in path order.
    buffers : array_like
        Buffer of each node [pkt], > 0, may be infinite; with rates' axis of nodes.
    access_rate : array_like, optional
        Rate mu_A of the source's own link [pkt/s], at least mu; has no axis of nodes. ``mu_0 = min(mu_A, 2 mu)``.

    Returns
    -------
    array of float
        S_1, ..., S_n, S [pkt], nodes on the last axis; infinite where no queue builds.

    Examples
    --------
    Section 5: rates spread over [mu, 2 mu], B_i = 17, B = 20; with n = 4, S_n = 17 (n + 3) and S = 20 (n + 2).

    >>> burst_sizes(uniformly_spread_rates(1.0, 4), [17, 17, 17, 17, 20]).round(9).tolist()
    [170.0, 153.0, 136.0, 119.0, 120.0]
    """
    return burst_sizes_of(path(rates, buffers, access_rate))


def burst_sizes_of(nodes: Path) -> FloatArray:
    """Compute the burst that overflows each buffer of a path [bottlenecks, eq. 1]."""
    return _burst_size(nodes.burst_rates, nodes.rates, nodes.buffers)


def _burst_size(arriving: FloatArray, leaving: FloatArray, buffers: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return arriving / np.maximum(arriving - leaving, 0.0) * buffers


@model(domain={"buffers": OVERFLOW}, rates=PACKET_RATE, buffers=BUFFER, access_rate=UNBOUNDED_PACKET_RATE)
def slow_start_overflow(rates: ArrayLike, buffers: ArrayLike, access_rate: ArrayLike = inf) -> SlowStartOverflow:
    """Find the first overflow of slow start: S_B, its node, n_B and W_B [bottlenecks, section 4].

    It happens if the slow-start threshold lies above W_B: see `double_slow_start`.

    Parameters
    ----------
    rates : array_like
        Available rate of each node [pkt/s], > 0, nodes on the last axis in path order.
    buffers : array_like
        Buffer of each node [pkt], > 0, may be infinite; with rates' axis of nodes.
    access_rate : array_like, optional
        Rate mu_A of the source's own link [pkt/s], at least mu; has no axis of nodes.

    Returns
    -------
    SlowStartOverflow
        burst_size, node, mini_cycle, window.

    Examples
    --------
    Section 5: the overflow moves from the bottleneck to node n for n >= 4.

    >>> for n in (3, 4):
    ...     found = slow_start_overflow(uniformly_spread_rates(1.0, n), n * [17] + [20])
    ...     print(found.node, found.burst_size.round(6), found.mini_cycle, found.window.round(6))
    3 100.0 7.0 114.0
    3 119.0 7.0 123.5
    """
    return first_overflow(burst_sizes(rates, buffers, access_rate))


def first_overflow(sizes: FloatArray) -> SlowStartOverflow:
    """Find the first overflow from the burst sizes of all nodes."""
    size = smallest(sizes)
    node = np.asarray(np.where(np.isfinite(size), sizes.argmin(axis=-1), -1))[()]
    return SlowStartOverflow(size, node, overflow_mini_cycle(size), overflow_window(size))


@model(burst_size=UNBOUNDED_WINDOW)
def overflow_mini_cycle(burst_size: ArrayLike) -> FloatArray:
    """Compute the mini-cycle n_B of the overflow, ``2^(n_B - 1) < S_B <= 2^n_B`` [bottlenecks, section 4].

    Parameters
    ----------
    burst_size : array_like
        S_B [pkt], > 0, may be infinite.

    Returns
    -------
    array of float
        n_B [1], a whole number, or infinite.

    Examples
    --------
    >>> overflow_mini_cycle([40, 64, 65]).tolist()
    [6.0, 6.0, 7.0]
    """
    (size,) = model_of(overflow_mini_cycle).take(burst_size=burst_size)
    mantissa, exponent = np.frexp(size)  # size = mantissa 2^exponent, 1/2 <= mantissa < 1
    whole = exponent - (mantissa <= 0.5 * (1.0 + _ROUNDING))
    return np.asarray(np.where(np.isfinite(size), whole, np.inf))[()]


@model(burst_size=UNBOUNDED_WINDOW)
def overflow_window(burst_size: ArrayLike) -> FloatArray:
    """Compute the window at the overflow, ``W_B = 2^(n_B - 1) + S_B / 2`` [bottlenecks, section 4].

    Parameters
    ----------
    burst_size : array_like
        S_B [pkt], > 0, may be infinite.

    Returns
    -------
    array of float
        W_B [pkt].

    Notes
    -----
    W_B jumps by half where S_B passes a power of two: the model is coarse there.

    Examples
    --------
    >>> overflow_window([40, 64, 65]).tolist()
    [52.0, 64.0, 96.5]
    """
    (size,) = model_of(overflow_window).take(burst_size=burst_size)
    return np.asarray(np.exp2(overflow_mini_cycle(size) - 1.0) + size / 2.0)[()]


@model(domain={"buffers": OVERFLOW}, buffers=BUFFER)
def overflow_window_approximate(buffers: ArrayLike) -> FloatArray:
    """Approximate the window at the overflow by twice the smallest buffer of the path [bottlenecks, section 6].

    Parameters
    ----------
    buffers : array_like
        Buffer of each node with a rate below 2 mu [pkt], > 0, nodes on the last axis.

    Returns
    -------
    array of float
        W_B [pkt].

    Notes
    -----
    For small buffers, and intermediate rates neither near mu nor near 2 mu; takes ``2^n_B = S_B``.

    Examples
    --------
    >>> float(overflow_window_approximate([17, 20]))
    34.0
    """
    (sizes,) = model_of(overflow_window_approximate).take(buffers=buffers)
    sizes = np.atleast_1d(sizes)
    if not sizes.shape[-1]:
        raise ModelError(Fault("buffers", "has no nodes", f"shape {sizes.shape}", "the nodes on the last axis"))
    return np.asarray(2.0 * np.min(sizes, axis=-1))[()]


# Behind a slow access link section 7 takes mu_0 = mu_A: it feeds node 1, and so the equivalent node in its place. B'
# follows from the same S' with mu_0 instead of 2 mu in (2).
@model(domain={"buffers": OVERFLOW}, rates=PACKET_RATE, buffers=BUFFER, access_rate=UNBOUNDED_PACKET_RATE)
def equivalent_node(rates: ArrayLike, buffers: ArrayLike, access_rate: ArrayLike = inf) -> EquivalentNode:
    """Reduce the nodes before the bottleneck to an equivalent one: mu', B', S' [bottlenecks, sections 5 and 7, eq. 2].

    ``S' = mu_0 / (mu_0 - mu') B' = min(S_i)`` with ``mu_0 = 2 mu``, or mu_A behind a slower access link.

    Parameters
    ----------
    rates : array_like
        Available rate of each node [pkt/s], > 0, nodes on the last axis in path order, the bottleneck last.
    buffers : array_like
        Buffer of each node [pkt], > 0, may be infinite; with rates' axis of nodes.
    access_rate : array_like, optional
        Rate mu_A of the source's own link [pkt/s], at least mu; has no axis of nodes. From 2 mu on it plays no role.

    Returns
    -------
    EquivalentNode
        rate, buffer, burst_size.

    Notes
    -----
    The equivalent node has the same access link before it: `two_node_bursts` takes it too.

    Examples
    --------
    Section 5: B' = 8.5 n (n + 3) / (n + 1), here with n = 4.

    >>> found = equivalent_node(uniformly_spread_rates(1.0, 4), [17, 17, 17, 17, 20])
    >>> round(float(found.rate), 6), round(float(found.buffer), 6), round(float(found.burst_size), 6)
    (1.2, 47.6, 119.0)
    """
    nodes = path(rates, buffers, access_rate)
    if nodes.rates.shape[-1] < 2:
        raise ModelError(Fault("rates", "has no node before the bottleneck", "1 node", "2 nodes or more"))
    if (nodes.rates[..., -1] > nodes.bottleneck_rate).any():
        allowed, hint = "the smallest rate last", "leave out the nodes after the bottleneck"
        raise ModelError(Fault("rates", "does not end with the bottleneck", str(nodes.rates[..., -1]), allowed, hint))
    feeding, rate = nodes.burst_rates[..., 0], nodes.burst_rates[..., -1]
    size = smallest(burst_sizes_of(nodes)[..., :-1])
    share = (feeding - rate) / feeding
    buffer = np.where(share > 0.0, size, np.inf) * np.where(share > 0.0, share, 1.0)
    return EquivalentNode(rate, np.asarray(buffer)[()], size)


@model(
    domain={"buffer": OVERFLOW, "intermediate_buffer": OVERFLOW},
    bottleneck_rate=PACKET_RATE,
    intermediate_rate=PACKET_RATE,
    buffer=BUFFER,
    intermediate_buffer=BUFFER,
    access_rate=UNBOUNDED_PACKET_RATE,
)
def two_node_bursts(
    bottleneck_rate: ArrayLike,
    intermediate_rate: ArrayLike,
    buffer: ArrayLike,
    intermediate_buffer: ArrayLike,
    access_rate: ArrayLike = inf,
) -> TwoNodeBursts:
    """Compute S and S' of the simplified model, as in figures 5 and 8 [bottlenecks, section 7, eqs. 2 and 3].

    Parameters
    ----------
    bottleneck_rate : array_like
        mu [pkt/s], > 0.
    intermediate_rate : array_like
        mu' [pkt/s], from mu to 2 mu.
    buffer, intermediate_buffer : array_like
        B and B' [pkt], > 0, may be infinite.
    access_rate : array_like, optional
        Rate mu_A of the source's own link [pkt/s], at least mu'. From 2 mu on it plays no role.

    Returns
    -------
    TwoNodeBursts
        S (at least 2 B, infinite at mu' = mu) and S' (at least 2 B', infinite at mu' = 2 mu and at mu' = mu_A) [pkt].

    Examples
    --------
    The smallest S is 2 B, at mu' = 2 mu; the smallest S' is 2 B', at mu' = mu.

    >>> found = two_node_bursts(1.0, [1.0, 1.5, 2.0], buffer=20, intermediate_buffer=17)
    >>> found.bottleneck.tolist(), found.intermediate.tolist()
    ([inf, 60.0, 40.0], [34.0, 68.0, inf])
    """
    mu, middle, b, b_middle, access = model_of(two_node_bursts).take(
        bottleneck_rate=bottleneck_rate,
        intermediate_rate=intermediate_rate,
        buffer=buffer,
        intermediate_buffer=intermediate_buffer,
        access_rate=access_rate,
    )
    check_between_one_and_two("intermediate_rate", middle, mu)
    if (slower := access < middle).any():
        given, hint = f"{np.broadcast_to(access, slower.shape)[slower].flat[0]:g}", "a slower link is itself the node"
        raise ModelError(
            Fault("access_rate", "is slower than the node", given, "at least intermediate_rate [pkt/s]", hint)
        )
    feeding = np.minimum(access, 2.0 * mu)
    return TwoNodeBursts(bottleneck=_burst_size(middle, mu, b), intermediate=_burst_size(feeding, middle, b_middle))


def check_between_one_and_two(name: str, rate: FloatArray, bottleneck_rate: FloatArray) -> None:
    """Refuse a mu' outside [mu, 2 mu]."""
    ratios = np.asarray(rate / bottleneck_rate)
    if not RATE_RATIO.contain(ratios).all():
        given = ratios[~RATE_RATIO.contain(ratios)].flat[0]
        allowed = "from bottleneck_rate to twice bottleneck_rate"
        hint = "a faster node absorbs nothing, a slower one is the bottleneck"
        raise ModelError(Fault(name, "is out of range", f"{given:g} times bottleneck_rate", allowed, hint))


@model(bottleneck_rate=PACKET_RATE, nodes=_NODES)
def uniformly_spread_rates(bottleneck_rate: float, nodes: int) -> FloatArray:
    """Spread the rates of n nodes uniformly over [mu, 2 mu], ``mu_i = 2 mu - i / (n + 1) mu`` [bottlenecks, section 5].

    Parameters
    ----------
    bottleneck_rate : float
        mu [pkt/s], > 0.
    nodes : int
        Number n of nodes before the bottleneck, from 0 to a million.

    Returns
    -------
    array of float
        mu_1, ..., mu_n, mu [pkt/s].

    Examples
    --------
    >>> uniformly_spread_rates(1.5e6, 2).tolist()
    [2500000.0, 2000000.0, 1500000.0]
    """
    mu, n = model_of(uniformly_spread_rates).take(bottleneck_rate=bottleneck_rate, nodes=nodes)
    return 2.0 * mu - np.arange(1, int(n) + 2) / (n + 1.0) * mu
