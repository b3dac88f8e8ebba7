"""The two connections as arrays, i and j on the last axis, and the domain of the efficiencies."""

from collections.abc import Mapping
from math import inf
from typing import Any, Final, NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, Limits, checked
from ackclock.models.limits import AT_LEAST_ONE_PACKET, DELAY, PACKET_RATE, WINDOW

ACK_SIZE: Final = Limits(0.0, 1.0, low_included=True, high_included=True, reason="a fraction of a segment")

PAIR_DOMAIN: Final[Mapping[str, Limits]] = {
    "windows": AT_LEAST_ONE_PACKET,
    "ack_time": Limits(
        0.0,
        0.05,
        low_included=True,
        high_included=True,
        reason="ACKs are taken to need no time: against a segment's of the other direction theirs must be small",
    ),
    "overlap": Limits(
        1.0,
        inf,
        low_included=True,
        high_included=True,
        unit="pkt",
        reason="in a store-and-forward network the round trip of a single segment, D_ij + D_ji and its transmission, "
        "limits both connections where the windows exceed the pipe by less than two segments",
    ),
}
"""The domain of the efficiencies. `ack_time` is an ACK's transmission time in the other's segments; `overlap` is half
the time by which the windows' transmission exceeds the round trip, in segments of the slower channel."""


class Layout(NamedTuple):
    """Checked arguments, each with i and j on its last axis."""

    windows: FloatArray
    """Windows, W [pkt]."""
    rates: FloatArray
    """Rates, rho [pkt/s]."""
    delays: FloatArray
    """Delays, D [s]."""

    @property
    def window_times(self) -> FloatArray:
        """The transmission time of each window, W / rho [s]."""
        return np.asarray(self.windows / self.rates)

    @property
    def round_trip(self) -> FloatArray:
        """The round trip, D_ij + D_ji [s], with a last axis of length 1."""
        return np.asarray(self.delays.sum(axis=-1, keepdims=True))

    @property
    def surplus(self) -> FloatArray:
        """The time by which sending both windows exceeds the round trip [s], with a last axis of length 1."""
        return np.asarray(self.window_times.sum(axis=-1, keepdims=True) - self.round_trip)


def layout(windows: ArrayLike, delays: ArrayLike, rates: ArrayLike) -> Layout:
    """Check the arguments that describe two connections, and return them with a last axis of two."""
    W, D, rho = checked(windows=(windows, WINDOW), delays=(delays, DELAY), rates=(rates, PACKET_RATE))  # noqa: N806
    return Layout(windows=pair("windows", W), rates=pair("rates", rho), delays=pair("delays", D))


def pair(name: str, values: FloatArray) -> FloatArray:
    """Broadcast an argument to a last axis of two connections; one number is for both."""
    if values.ndim == 0 or values.shape[-1] == 1:
        return np.broadcast_to(values, (*values.shape[:-1], 2))
    if values.shape[-1] == 2:
        return values
    allowed = "connections i and j on the last axis, or one number for both"
    raise ModelError(Fault(name, "is not for two connections", f"shape {values.shape}", allowed))


def other(values: FloatArray) -> FloatArray:
    """Exchange i and j."""
    return values[..., ::-1]


def ack_times(ack_size: ArrayLike, rates: FloatArray) -> FloatArray:
    """Compute the time that an ACK needs at each node [s]; none may need more than a segment that it could answer."""
    (size,) = checked(ack_size=(ack_size, ACK_SIZE))
    size = size[..., np.newaxis]
    checked(ack_size=(size, ACK_SIZE), rates=(rates, PACKET_RATE))
    times = np.asarray(size / rates)
    slow = (times * other(rates)).max(initial=0.0)
    if slow > 1.0:
        allowed = "ack_size at most the smaller rate over the larger"
        problem = "makes an ACK slower than the segments that it answers"
        raise ModelError(Fault("ack_size", problem, f"{slow:g} segments", allowed))
    return times


def pair_quantities(
    windows: ArrayLike, delays: ArrayLike, rates: ArrayLike = 1.0, ack_size: ArrayLike = 0.0
) -> dict[str, Any]:
    """Compute the quantities of `PAIR_DOMAIN` from the arguments of a model; the overlap where ACKs compress."""
    two = layout(windows, delays, rates)
    (size,) = checked(ack_size=(ack_size, ACK_SIZE))
    overlap = two.surplus / 2.0 * two.rates.min(axis=-1, keepdims=True)
    return {
        "ack_time": size[..., np.newaxis] * other(two.rates) / two.rates,
        "overlap": overlap[overlap > 0.0],
    }
