"""Latency of a short TCP transfer: Cardwell, Savage, Anderson."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ackclock.models.classics.throughput import (
    LEAST_LOSS,
    lost_within,
    pftk_throughput,
    timeout_probability,
    timeouts_duration,
)
from ackclock.models.domain import ArrayLike, FloatArray, Limits, model, model_of, plain
from ackclock.models.limits import (
    AT_LEAST_ONE_PACKET,
    DELAY,
    PACKETS,
    PROBABILITY_BELOW_ONE,
    TIME,
    UNBOUNDED_PACKET_RATE,
    WINDOW,
)

_HANDSHAKE_LOSS: Final = Limits(0.0, 0.5, low_included=True, reason="the mean of doubling timeouts is infinite")


@dataclass(frozen=True, slots=True, eq=False)
class ShortFlowLatency:
    """The parts of a short transfer's mean latency, in the order in which they happen.

    Parameters
    ----------
    slow_start_packets : array
        Packets sent in the first slow start, E[d_ss] [pkt], (5).
    slow_start_window : array
        The window that they open, were it not for the receiver's, E[W_ss] [pkt], (11).
    slow_start : array
        Duration of the first slow start, E[T_ss] [s], (15).
    loss_probability : array
        Probability that a packet of the transfer is lost, l_ss [1], (16).
    timeout_probability : array
        Probability that a first loss ends with a timeout, Q(p, E[W_ss]) [1], (17).
    recovery : array
        Mean time spent on the first loss, E[T_loss] [s], (20).
    remaining_packets : array
        Packets left for congestion avoidance, E[d_ca] [pkt], (21).
    avoidance_rate : array
        The rate at which they are sent, R [pkt/s], (22).
    avoidance : array
        Time that they take, E[T_ca] [s], (24).
    delayed_ack : array
        Wait for the delayed ACK of a first window of one packet, E[T_delack] [s].
    """

    slow_start_packets: FloatArray
    slow_start_window: FloatArray
    slow_start: FloatArray
    loss_probability: FloatArray
    timeout_probability: FloatArray
    recovery: FloatArray
    remaining_packets: FloatArray
    avoidance_rate: FloatArray
    avoidance: FloatArray
    delayed_ack: FloatArray

    @property
    def transfer(self) -> FloatArray:
        """The data transfer's mean duration, E[T] [s], (25)."""
        return plain(self.slow_start + self.recovery + self.avoidance + self.delayed_ack)


@model(
    assumes="each timeout of a SYN or a SYN/ACK is twice the one before, without a limit",
    round_trip_time=TIME,
    loss_probability=_HANDSHAKE_LOSS,
    reverse_loss_probability=_HANDSHAKE_LOSS,
    syn_timeout=DELAY,
)
def handshake_latency(
    round_trip_time: ArrayLike,
    loss_probability: ArrayLike,
    reverse_loss_probability: ArrayLike = 0.0,
    syn_timeout: ArrayLike = 3.0,
) -> FloatArray:
    """Compute the mean time from the first SYN to the SYN/ACK [cardwell, eq. 4].

    Parameters
    ----------
    round_trip_time : array_like
        Round-trip time [s], > 0.
    loss_probability : array_like
        Probability that a SYN is lost [1], in [0, 0.5).
    reverse_loss_probability : array_like
        Probability that a SYN/ACK is lost [1], in [0, 0.5).
    syn_timeout : array_like
        Duration of a SYN's first timeout, T_s [s], >= 0.

    Returns
    -------
    array of float
        E[L_h] [s].

    Examples
    --------
    >>> print(f"{handshake_latency(0.1, [0.0, 0.1])[1]:.3f}")
    0.475
    """
    rtt, p, reverse, ts = model_of(handshake_latency).take(
        round_trip_time=round_trip_time,
        loss_probability=loss_probability,
        reverse_loss_probability=reverse_loss_probability,
        syn_timeout=syn_timeout,
    )
    # A SYN that is lost k times costs (2^k - 1) T_s.
    return plain(rtt + ts * ((1 - p) / (1 - 2 * p) + (1 - reverse) / (1 - 2 * reverse) - 2))


@model(
    domain={"max_window": AT_LEAST_ONE_PACKET, "initial_window": AT_LEAST_ONE_PACKET},
    assumes="Reno, a constant round trip, no queue of its own; slow start ends with the first loss",
    packets=PACKETS,
    round_trip_time=TIME,
    loss_probability=PROBABILITY_BELOW_ONE,
    timeout=DELAY,
    max_window=WINDOW,
    initial_window=WINDOW,
    packets_per_ack=PACKETS,
    delayed_ack_time=DELAY,
)
def short_flow_latency(  # noqa: PLR0913  the paper's parameters
    packets: ArrayLike,
    round_trip_time: ArrayLike,
    loss_probability: ArrayLike,
    timeout: ArrayLike,
    max_window: ArrayLike,
    *,
    initial_window: ArrayLike = 1.0,
    packets_per_ack: ArrayLike = 1.0,
    delayed_ack_time: ArrayLike = 0.0,
) -> ShortFlowLatency:
    """Compute the mean latency of a short TCP transfer after its handshake, part by part [cardwell, eqs. 5 to 25].

    Parameters
    ----------
    packets : array_like
        Packets to transfer, d [pkt], >= 1.
    round_trip_time : array_like
        Round-trip time [s], > 0.
    loss_probability : array_like
        Probability that a packet is lost [1], in [0, 1).
    timeout : array_like
        Duration of a first timeout, T_0 [s], >= 0.
    max_window : array_like
        The receiver's window, W_max [pkt], > 0; at least 1 to be trusted.
    initial_window : array_like
        The first window, w_1 [pkt], > 0; at least 1 to be trusted. No more than `max_window` counts.
    packets_per_ack : array_like
        Packets that one ACK acknowledges, b [pkt], >= 1; 2 with delayed ACKs.
    delayed_ack_time : array_like
        Mean wait for a delayed ACK [s], >= 0: 0.1 s for the BSD of that time, 0.15 s for Windows.

    Returns
    -------
    ShortFlowLatency
        All parts, and their sum in `transfer`; `handshake_latency` comes before.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    Deviation: (5) as printed exceeds d where losses are rare (by one packet where there are none), so it is capped at
    d, and no negative number of packets is left for congestion avoidance.

    Examples
    --------
    Without a loss 7 packets take 3 round trips after the handshake's one: windows of 1, 2 and 4.

    >>> latency = short_flow_latency(7, round_trip_time=0.1, loss_probability=0.0, timeout=1.0, max_window=64)
    >>> print(f"{handshake_latency(0.1, 0.0):.3f} + {latency.transfer:.3f} s")
    0.100 + 0.300 s
    """
    d, rtt, p, t0, limit, w1, b, wait = model_of(short_flow_latency).take(
        packets=packets,
        round_trip_time=round_trip_time,
        loss_probability=loss_probability,
        timeout=timeout,
        max_window=max_window,
        initial_window=initial_window,
        packets_per_ack=packets_per_ack,
        delayed_ack_time=delayed_ack_time,
    )
    w1 = np.minimum(w1, limit)
    sent = _slow_start_packets(d, p)
    # (11) with the growth a round gamma = 1 + 1 / b
    opened = plain(sent / (b + 1) + w1 * b / (b + 1))
    lost, timeouts, recovery = _first_loss(d, rtt, p, t0, opened)
    rate = pftk_throughput(rtt, p, t0, limit, b)
    return ShortFlowLatency(
        slow_start_packets=sent,
        slow_start_window=opened,
        slow_start=plain(rtt * _slow_start_rounds(sent, opened, limit, w1, b)),
        loss_probability=lost,
        timeout_probability=timeouts,
        recovery=recovery,
        # equations 21, 22 and 24
        remaining_packets=plain(d - sent),
        avoidance_rate=rate,
        avoidance=plain((d - sent) / rate),
        delayed_ack=plain(wait),
    )


@model(
    domain={"max_window": AT_LEAST_ONE_PACKET, "initial_window": AT_LEAST_ONE_PACKET},
    assumes="slow start to the end of the transfer or until the link is busy; no loss, no queue of others",
    packets=PACKETS,
    round_trip_time=TIME,
    bottleneck_rate=UNBOUNDED_PACKET_RATE,
    max_window=WINDOW,
    initial_window=WINDOW,
    packets_per_ack=PACKETS,
)
def lossless_transfer_time(  # noqa: PLR0913  the paper's parameters, and the link's rate
    packets: ArrayLike,
    round_trip_time: ArrayLike,
    bottleneck_rate: ArrayLike,
    max_window: ArrayLike,
    *,
    initial_window: ArrayLike = 1.0,
    packets_per_ack: ArrayLike = 1.0,
) -> FloatArray:
    """Compute the time to the last ACK of a transfer without loss, in whole round trips [cardwell, eqs. 11 to 15].

    Parameters
    ----------
    packets : array_like
        Packets to transfer, d [pkt], >= 1.
    round_trip_time : array_like
        Round-trip time with the service of one packet [s], > 0.
    bottleneck_rate : array_like
        Rate of the slowest link [pkt/s], > 0; infinite where none limits.
    max_window : array_like
        The receiver's window, W_max [pkt], > 0; at least 1 to be trusted.
    initial_window : array_like
        The first window, w_1 [pkt], > 0; 10 by RFC 6928. No more than `max_window` counts.
    packets_per_ack : array_like
        Packets that one ACK acknowledges, b [pkt], >= 1; 1 for senders that count packets.

    Returns
    -------
    array
        Duration after the handshake [s].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    The paper counts rounds as a real number. Here they are whole, the last one has the service of its packets, and a
    window of the bandwidth-delay product keeps the link busy from then on, so that the rest leaves at its rate.

    Examples
    --------
    20 kB, 200 kB and 2 MB at 20 Mbit/s and 40 ms, with the first window of today's hosts.

    >>> times = lossless_transfer_time([14, 137, 1370], 0.0406, 1666.7, 1e9, initial_window=10)
    >>> print(times.round(3))
    [0.083 0.202 0.942]
    """
    d, rtt, rate, limit, w1, b = model_of(lossless_transfer_time).take(
        packets=packets,
        round_trip_time=round_trip_time,
        bottleneck_rate=bottleneck_rate,
        max_window=max_window,
        initial_window=initial_window,
        packets_per_ack=packets_per_ack,
    )
    w1, growth = np.minimum(w1, limit), 1 + 1 / b
    top = np.minimum(limit, rate * rtt)
    # The rounds that grow: those before the window reaches the pipe or the limit.
    growing = np.maximum(0.0, _rounds_up(np.log(np.maximum(top, w1) / w1) / np.log(growth)))
    needed = _rounds_up(np.log1p(d / (b * w1)) / np.log(growth))
    before = np.minimum(growing, needed - 1)
    rest = d - b * w1 * (growth**before - 1)
    full = np.maximum(1.0, np.where(limit < rate * rtt, _rounds_up(rest / limit), 1.0))
    rounds = np.where(needed > growing, full, 1.0)
    last = rest - (rounds - 1) * limit
    return plain((before + rounds) * rtt + np.maximum(0.0, last - 1) / rate)


def _rounds_up(rounds: FloatArray) -> FloatArray:
    """Round up, except what the arithmetic adds to a whole number."""
    return plain(np.ceil(rounds * (1 - 1e-12)))


def _slow_start_packets(d: FloatArray, p: FloatArray) -> FloatArray:
    """Compute E[d_ss] [cardwell, eq. 5]."""
    p = np.maximum(p, LEAST_LOSS)
    # Deviation: capped at d, see the notes of short_flow_latency.
    return plain(np.minimum(lost_within(p, d) * (1 - p) / p + 1, d))


def _slow_start_rounds(
    sent: FloatArray, opened: FloatArray, limit: FloatArray, w1: FloatArray, b: FloatArray
) -> FloatArray:
    """Compute E[T_ss] / RTT: exponential growth, then rounds of the receiver's window [cardwell, eq. 15]."""
    log_growth = np.log1p(1 / b)
    free = np.log1p(sent / (b * w1)) / log_growth
    held = np.log(limit / w1) / log_growth + 1 + (sent - (limit * (b + 1) - w1 * b)) / limit
    return plain(np.where(opened > limit, held, free))


def _first_loss(
    d: FloatArray, rtt: FloatArray, p: FloatArray, t0: FloatArray, window: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute l_ss, Q(p, E[W_ss]) and E[T_loss] [cardwell, eqs. 16, 17 and 20]."""
    lost = lost_within(p, d)
    timeouts = timeout_probability(np.maximum(p, LEAST_LOSS), window)
    return lost, timeouts, plain(lost * (timeouts * timeouts_duration(p, t0) + (1 - timeouts) * rtt))
