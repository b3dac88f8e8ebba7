"""The path of a connection: service times, pipe sizes, saturation [engset, section 3.3]."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError, shown
from ackclock.models.domain import ArrayLike, BoolArray, FloatArray, Limits, checked, model, model_of
from ackclock.models.limits import BIT_RATE, DELAY, NUMBER, PACKET_BYTES, TIME, WHOLE_WINDOW
from ackclock.models.signatures import guarded

ACK_BYTES: Final = Limits(0.0, low_included=True, unit="B")

_ROUNDING: Final = 1e-12
"""Relative error of a quotient: one this near below a whole number counts as that number."""


def floor(values: FloatArray) -> FloatArray:
    """Round down quotients that carry rounding errors.

    Examples
    --------
    >>> int(0.3 / 0.1), int(floor(0.3 / 0.1))
    (2, 3)
    """
    return np.asarray(np.floor(values * (1.0 + _ROUNDING)))[()]


@model(round_trip_time=TIME, capacities=BIT_RATE, packet_size=PACKET_BYTES)
@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """A path without other traffic [engset, section 3.3].

    Parameters
    ----------
    round_trip_time : array_like
        RTT_0 [s], > 0: from sending one packet to its ACK, transmissions included (the paper's R50 is 50 ms in all).
    capacities : array_like
        C_i [bit/s], > 0, links on the last axis in path order.
    packet_size : array_like, optional
        P [B], > 0; the headers are not counted apart.
    multiplexing : int, optional
        Index of the link that the connections share.

    Notes
    -----
    `round_trip_time` and `packet_size` have no axis of links.

    Examples
    --------
    The setting (100M, 10M, 2M, R50).

    >>> path = Path(0.05, [100e6, 10e6, 2e6])
    >>> path.service_times.tolist(), round(float(path.pipe_size), 1)
    ([0.00012, 0.0012, 0.006], 8.3)
    """

    round_trip_time: ArrayLike
    capacities: ArrayLike
    packet_size: ArrayLike = 1500.0
    multiplexing: int = 1

    def __post_init__(self) -> None:
        record = model_of(Path)
        rtt, size = record.take(round_trip_time=self.round_trip_time, packet_size=self.packet_size)
        rates = np.atleast_1d(record.take(capacities=self.capacities)[0])
        record.take(round_trip_time=rtt[..., np.newaxis], packet_size=size[..., np.newaxis], capacities=rates)
        for name, value in (("round_trip_time", rtt), ("packet_size", size), ("capacities", rates)):
            object.__setattr__(self, name, value)
        links = rates.shape[-1]
        if not links:
            raise ModelError(Fault("capacities", "has no links", f"shape {rates.shape}", "the links on the last axis"))
        if not isinstance(self.multiplexing, int | np.integer):
            raise ModelError(
                Fault("multiplexing", "is not a whole number", shown(self.multiplexing), f"0 to {links - 1}")
            )
        if not -links <= self.multiplexing < links:
            raise ModelError(Fault("multiplexing", "names no link", str(self.multiplexing), f"0 to {links - 1}"))
        spare = rtt - self.service_times.sum(axis=-1)
        if (spare < -_ROUNDING * rtt).any():
            given = f"{np.broadcast_to(rtt, spare.shape)[spare < 0].flat[0]:g} s"
            raise ModelError(
                Fault("round_trip_time", "is less than the transmissions take", given, "at least their sum")
            )

    @classmethod
    @guarded
    def from_propagation(
        cls,
        propagation: ArrayLike,
        capacities: ArrayLike,
        packet_size: ArrayLike = 1500.0,
        ack_size: ArrayLike = 40.0,
        multiplexing: int = 1,
    ) -> "Path":
        """Build a path from its delay, ``RTT_0 = D + (P + a) sum 1/C_i`` [engset, section 3.3].

        Parameters
        ----------
        propagation : array_like
            D [s], >= 0, of the round trip.
        capacities : array_like
            C_i [bit/s], > 0, links on the last axis in path order; ACKs return over links of the same capacities.
        packet_size : array_like, optional
            P [B], > 0.
        ack_size : array_like, optional
            a [B], >= 0.
        multiplexing : int, optional
            Index of the link that the connections share.

        Returns
        -------
        Path
            With the RTT_0 computed.

        Examples
        --------
        The special setting (100M, 1.5M, 128k, D300, P576).

        >>> path = Path.from_propagation(0.3, [100e6, 1.5e6, 128e3], packet_size=576)
        >>> round(1e3 * float(path.round_trip_time), 2), path.pipe_sizes.round(1).tolist()
        (341.83, [7418.3, 111.3, 9.5])
        """
        delay, size, ack = checked(
            propagation=(propagation, DELAY), packet_size=(packet_size, PACKET_BYTES), ack_size=(ack_size, ACK_BYTES)
        )
        rates = np.atleast_1d(checked(capacities=(capacities, BIT_RATE))[0])
        per_bit = checked(propagation=(delay, DELAY), capacities=((1.0 / rates).sum(axis=-1), NUMBER))[1]
        round_trip = delay + 8.0 * (size + ack) * per_bit
        return cls(round_trip, rates, size, multiplexing)

    @property
    def rtt(self) -> FloatArray:
        """The round trip of the empty path, RTT_0 [s]."""
        return np.asarray(self.round_trip_time, dtype=np.float64)[()]

    @property
    def packet_bits(self) -> FloatArray:
        """The size of a packet, 8 P [bit]."""
        return np.asarray(8.0 * np.asarray(self.packet_size, dtype=np.float64))[()]

    @property
    def service_times(self) -> FloatArray:
        """The service times, Delta_i = P / C_i [s], links on the last axis."""
        return np.asarray(self.packet_bits)[..., np.newaxis] / np.asarray(self.capacities, dtype=np.float64)

    @property
    def slowest_service_time(self) -> FloatArray:
        """The largest service time, Delta* [s]."""
        return np.asarray(self.service_times.max(axis=-1))[()]

    @property
    def service_time(self) -> FloatArray:
        """The service time of the multiplexing link, Delta [s]."""
        return np.asarray(self.service_times[..., self.multiplexing])[()]

    @property
    def capacity(self) -> FloatArray:
        """The capacity of the multiplexing link, C [bit/s]."""
        return np.asarray(np.asarray(self.capacities)[..., self.multiplexing])[()]

    @property
    def pipe_sizes(self) -> FloatArray:
        """The pipe sizes, beta_i = RTT_0 / Delta_i [pkt], links on the last axis."""
        return np.asarray(self.rtt)[..., np.newaxis] / self.service_times

    @property
    def pipe_size(self) -> FloatArray:
        """The smallest pipe size, beta* [pkt]."""
        return np.asarray(self.rtt / self.slowest_service_time)[()]


class Saturation(NamedTuple):
    """The slowest link of a path under a long transfer."""

    pipe_size: FloatArray
    """Pipe size of the slowest link, beta* [pkt]."""
    ratio: FloatArray
    """Pipe size by the window, r = floor(beta*) / W_R [1]."""
    saturated: BoolArray
    """Whether the link is saturated, r < 1."""
    queue: FloatArray
    """Queue of a long transfer, the packet in transmission included, Q [pkt]; 0 where the link is not saturated."""
    round_trip_time: FloatArray
    """Round trip of a long transfer, RTT_0 + Q Delta* [s]."""


@model(window=WHOLE_WINDOW)
def saturation(path: Path, window: ArrayLike) -> Saturation:
    """Decide whether a window saturates the slowest link [engset, section 3.3, table 2].

    Where ``floor(beta*) < W_R``, a queue of ``Q = W_R - floor(beta*) + 1`` remains.

    Parameters
    ----------
    path : Path
        The path.
    window : array_like
        Receiver window W_R [pkt], whole, >= 1.

    Returns
    -------
    Saturation
        pipe_size, ratio, saturated, queue, round_trip_time.

    Notes
    -----
    RTT_0 contains the packet's own transmission and Q the packet that is being transmitted, so the round trip of a
    saturated link, ``W_R Delta*`` exactly, is overestimated by one to two Delta*. The last column but one of table 2,
    headed W_R / beta, is W_R / floor(beta) = 1 / r.

    Examples
    --------
    2 Mbit/s, R50 (table 2).

    >>> found = saturation(Path(0.05, 2e6, multiplexing=0), [8, 12, 20, 44])
    >>> found.ratio.round(2).tolist(), found.queue.tolist()
    ([1.0, 0.67, 0.4, 0.18], [0.0, 5.0, 13.0, 37.0])
    """
    (w,) = model_of(saturation).take(window=window)
    pipe = path.pipe_size
    ratio = floor(pipe) / w
    queue = np.where(ratio < 1.0, w - floor(pipe) + 1.0, 0.0)
    rtt = path.rtt + queue * path.slowest_service_time
    return Saturation(
        np.broadcast_to(pipe, queue.shape)[()], ratio[()], np.asarray(ratio < 1.0)[()], queue[()], np.asarray(rtt)[()]
    )
