"""The path as arrays, nodes on the last axis."""

from functools import reduce
from math import inf
from typing import NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, checked
from ackclock.models.limits import BUFFER, PACKET_RATE, UNBOUNDED_PACKET_RATE


class Path(NamedTuple):
    """Rates and buffers of the nodes in path order, and the rate that feeds each, not bounded by the source.

    The source sends its bursts at 2 mu at most: node i is fed at ``min(feeding, 2 mu)``.
    """

    rates: FloatArray
    buffers: FloatArray
    feeding: FloatArray
    bottleneck_rate: FloatArray

    @property
    def burst_rates(self) -> FloatArray:
        """The rate at which a slow-start burst arrives at each node [pkt/s]: the paper's mu_(i-1)."""
        return np.minimum(self.feeding, 2.0 * self.bottleneck_rate[..., np.newaxis])


def path(rates: ArrayLike, buffers: ArrayLike = 1.0, access_rate: ArrayLike = inf) -> Path:
    """Check the arguments that describe a path, and return them as arrays."""
    (access,) = checked(access_rate=(access_rate, UNBOUNDED_PACKET_RATE))
    # The access link has no axis of nodes: give it one of length 1.
    node_rates, node_buffers, access = checked(
        rates=(rates, PACKET_RATE),
        buffers=(buffers, BUFFER),
        access_rate=(access[..., np.newaxis], UNBOUNDED_PACKET_RATE),
    )
    if node_rates.ndim == 0 or node_rates.shape[-1] == 0:
        raise ModelError(Fault("rates", "has no nodes", f"shape {node_rates.shape}", "the nodes on the last axis"))
    if node_buffers.ndim and node_buffers.shape[-1] not in {1, node_rates.shape[-1]}:
        given = f"{node_buffers.shape[-1]} buffers for {node_rates.shape[-1]} rates"
        raise ModelError(Fault("buffers", "has another number of nodes than rates", given, "one each, or one for all"))
    node_buffers = np.broadcast_to(node_buffers, (*node_buffers.shape[:-1], node_rates.shape[-1]))
    bottleneck_rate = smallest(node_rates)
    if (access < bottleneck_rate[..., np.newaxis]).any():
        allowed = f"at least the smallest of rates ({bottleneck_rate.min():g} pkt/s)"
        hint = "a slower link is the bottleneck itself: make it the first node"
        raise ModelError(Fault("access_rate", "is slower than the bottleneck", f"{access.min():g}", allowed, hint))
    return Path(node_rates, node_buffers, _feeding(node_rates, access), bottleneck_rate)


def smallest(values: FloatArray) -> FloatArray:
    """Compute the smallest value of each path's nodes; numpy's own is slow where nodes are few and paths are many."""
    return reduce(np.minimum, (values[..., node] for node in range(values.shape[-1])))


def node_value(values: FloatArray, node: ArrayLike) -> FloatArray:
    """Pick each path's value at its node."""
    index = np.asarray(node)[..., np.newaxis]
    paths = np.broadcast_shapes(index.shape[:-1], values.shape[:-1])
    picked = np.broadcast_to(values, (*paths, values.shape[-1])), np.broadcast_to(index, (*paths, 1))
    return np.take_along_axis(*picked, axis=-1)[..., 0]


def _feeding(rates: FloatArray, access: FloatArray) -> FloatArray:
    feeding = np.empty((*np.broadcast_shapes(rates.shape[:-1], access.shape[:-1]), rates.shape[-1]))
    feeding[..., 0] = access[..., 0]
    for node in range(1, rates.shape[-1]):
        np.minimum(feeding[..., node - 1], rates[..., node - 1], out=feeding[..., node])
    return feeding
