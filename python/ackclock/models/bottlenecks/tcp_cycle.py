"""A path's whole TCP cycle in one call."""

from math import inf
from typing import Any, Final, NamedTuple

from ackclock.models.bottlenecks.avoidance import avoidance_node
from ackclock.models.bottlenecks.path import node_value, path
from ackclock.models.bottlenecks.retransmission import RetransmissionLoss, retransmission_loss_of
from ackclock.models.bottlenecks.slow_start import OVERFLOW, SlowStartOverflow, burst_sizes_of, first_overflow
from ackclock.models.bottlenecks.windows import (
    DROP_FACTOR,
    LOSS_SHOWS,
    SMALL_BUFFER,
    Throughput,
    average_throughput,
    avoidance_start,
    maximum_window,
    throughput_with_lost_retransmission,
)
from ackclock.models.domain import ArrayLike, BoolArray, FloatArray, IntArray, Limits, checked, model, model_of
from ackclock.models.limits import BUFFER, PACKET_RATE, TIME, UNBOUNDED_PACKET_RATE

_FULL: Final = Limits(0.0, unit="pkt", reason="congestion avoidance ends when the bottleneck's buffer is full")


class Cycle(NamedTuple):
    """The steady TCP cycle of one connection on a path."""

    avoidance_node: IntArray
    """Index of the node whose queue builds in congestion avoidance."""
    maximum_window: FloatArray
    """Window at which congestion avoidance ends, W_max [pkt]."""
    threshold: FloatArray
    """Threshold of slow start, W_th [pkt]."""
    overflow: SlowStartOverflow
    """First overflow of slow start: S_B, its node, n_B, W_B."""
    double_slow_start: BoolArray
    """Whether slow start overflows a buffer."""
    loss_window: FloatArray
    """Window at the detection of that loss, W_D [pkt]; nan without that overflow."""
    avoidance_window: FloatArray
    """Window at which congestion avoidance starts, W_S [pkt]."""
    throughput: Throughput
    """Throughput where the retransmission is not lost [pkt/s]."""
    retransmission_loss: RetransmissionLoss
    """Nodes at which the retransmission may be lost."""
    throughput_with_lost_retransmission: Throughput
    """Throughput where the retransmission is lost in each cycle [pkt/s]: of a cycle that may lose it."""


def _quantities(rates: ArrayLike, buffers: ArrayLike, round_trip_time: ArrayLike, **_: ArrayLike) -> dict[str, Any]:
    nodes = path(rates, buffers)
    buffer = node_value(nodes.buffers, avoidance_node(rates))
    largest = maximum_window(nodes.bottleneck_rate, round_trip_time, buffer)
    return {"beta = B / (mu T)": buffer / (largest - buffer), "buffers": nodes.buffers, "W_max": largest}


@model(
    domain={"beta = B / (mu T)": SMALL_BUFFER, "buffers": OVERFLOW, "W_max": LOSS_SHOWS},
    quantities=_quantities,
    assumes="Tahoe with fast retransmit, an ACK for each packet, a return path without congestion, a window that the "
    "receiver does not limit; the second and later cycles",
    rates=PACKET_RATE,
    buffers=BUFFER,
    round_trip_time=TIME,
    access_rate=UNBOUNDED_PACKET_RATE,
    drop_factor=DROP_FACTOR,
)
def cycle(
    rates: ArrayLike,
    buffers: ArrayLike,
    round_trip_time: ArrayLike,
    access_rate: ArrayLike = inf,
    drop_factor: ArrayLike = 1.0,
) -> Cycle:
    """Compute the steady TCP cycle of one connection on a path [bottlenecks, sections 3, 4, 5, 6 and 7].

    Parameters
    ----------
    rates : array_like
        Available rate of each node [pkt/s], > 0, nodes on the last axis in path order.
    buffers : array_like
        Buffer of each node [pkt], > 0, infinite at most where it is not the bottleneck; with rates' axis of nodes.
    round_trip_time : array_like
        Minimum round trip T [s], > 0, service times included; has no axis of nodes.
    access_rate : array_like, optional
        Rate mu_A of the source's own link [pkt/s], at least mu; has no axis of nodes.
    drop_factor : array_like, optional
        alpha [1], from 0 to 1, see `avoidance_start`; has no axis of nodes. Below 1 no retransmission is lost.

    Returns
    -------
    Cycle
        All windows, the throughput, and where packets may be lost.

    Notes
    -----
    Tahoe with fast retransmit, an ACK for each packet, a return path without congestion, a window that the receiver
    does not limit; from the second cycle on.

    Examples
    --------
    Figure 4, the double slow start disappears at n = 4 (the propagation delays add up to 560 ms):

    >>> from ackclock.models.bottlenecks import minimum_round_trip_time, uniformly_spread_rates
    >>> for n in (3, 4):
    ...     rates = uniformly_spread_rates(1.5e6 / 4096, n)
    ...     found = cycle(rates, n * [17] + [20], minimum_round_trip_time(0.56, rates))
    ...     print(n, bool(found.double_slow_start), round(4096 * float(found.throughput.printed) / 1e3))
    3 True 1028
    4 False 1233
    """
    nodes = path(rates, buffers, access_rate)
    sizes = burst_sizes_of(nodes)
    shared = avoidance_node(rates)
    (buffer,) = checked(buffers=(node_value(nodes.buffers, shared), _FULL))
    largest = maximum_window(nodes.bottleneck_rate, round_trip_time, buffer)
    overflow = first_overflow(sizes)
    (alpha,) = model_of(cycle).take(drop_factor=drop_factor)
    start = avoidance_start(largest / 2.0, overflow.burst_size, alpha)
    return Cycle(
        avoidance_node=shared,
        maximum_window=largest,
        threshold=largest / 2.0,
        overflow=overflow,
        double_slow_start=start.double_slow_start,
        loss_window=start.loss_window,
        avoidance_window=start.window,
        throughput=average_throughput(start.window, largest, round_trip_time, nodes.bottleneck_rate),
        retransmission_loss=retransmission_loss_of(nodes, sizes, largest / 2.0, alpha),
        throughput_with_lost_retransmission=throughput_with_lost_retransmission(
            nodes.bottleneck_rate, round_trip_time, buffer
        ),
    )
