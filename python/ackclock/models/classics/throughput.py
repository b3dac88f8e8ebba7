"""Throughput of one long TCP connection: the square root, PFTK, stationary losses."""

from typing import Final

import numpy as np

from ackclock.models.domain import ArrayLike, FloatArray, Limits, model, model_of, plain
from ackclock.models.limits import (
    AT_LEAST_ONE_PACKET,
    DELAY,
    PACKETS,
    POSITIVE_PROBABILITY,
    PROBABILITY_BELOW_ONE,
    TIME,
    WINDOW,
)

LEAST_LOSS: Final = 1e-300
"""The loss probability that replaces 0, so that the formulas reach their limits."""

NO_TIMEOUTS: Final = Limits(0.0, 0.01, high_included=True, reason="timeouts are left out")
"""The domain of the loss probability in the square-root law."""

_PFTK_ASSUMES: Final = (
    "Reno, long transfers; the round trip does not depend on the window; once a packet is lost so is the rest of its "
    "round"
)


@model(
    domain={"loss_probability": NO_TIMEOUTS},
    assumes="one loss after each 1/p packets, a constant round trip, no limit by the receiver's window",
    round_trip_time=TIME,
    loss_probability=POSITIVE_PROBABILITY,
    packets_per_ack=PACKETS,
)
def square_root_rate(
    round_trip_time: ArrayLike, loss_probability: ArrayLike, packets_per_ack: ArrayLike = 1.0
) -> FloatArray:
    """Compute the rate of TCP in congestion avoidance by the square-root law [mathis, eq. 3].

    Parameters
    ----------
    round_trip_time : array_like
        Round-trip time [s], > 0.
    loss_probability : array_like
        Losses a packet [1], in (0, 1].
    packets_per_ack : array_like
        Packets that one ACK acknowledges, b [pkt], >= 1; 2 with delayed ACKs.

    Returns
    -------
    array
        Rate [pkt/s].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    One loss after each 1/p packets, halving each time; no timeouts and no window limit, so good below p of about 1%.

    Examples
    --------
    >>> print(f"{square_root_rate(0.1, 0.01):.1f}, {square_root_rate(0.1, 0.01, packets_per_ack=2):.1f}")
    122.5, 86.6
    """
    rtt, p, b = model_of(square_root_rate).take(
        round_trip_time=round_trip_time, loss_probability=loss_probability, packets_per_ack=packets_per_ack
    )
    return plain(np.sqrt(3.0 / (2.0 * b * p)) / rtt)


@model(
    domain={"max_window": AT_LEAST_ONE_PACKET},
    assumes=_PFTK_ASSUMES,
    round_trip_time=TIME,
    loss_probability=PROBABILITY_BELOW_ONE,
    timeout=DELAY,
    max_window=WINDOW,
    packets_per_ack=PACKETS,
)
def pftk_sending_rate(
    round_trip_time: ArrayLike,
    loss_probability: ArrayLike,
    timeout: ArrayLike,
    max_window: ArrayLike,
    packets_per_ack: ArrayLike = 1.0,
) -> FloatArray:
    """Compute the rate at which TCP Reno sends, by the full model with W_m [padhye, eq. 32].

    Parameters
    ----------
    round_trip_time : array_like
        Round-trip time [s], > 0.
    loss_probability : array_like
        Loss indications a packet sent [1], in [0, 1); 0 is the limit W_m/RTT.
    timeout : array_like
        Duration of a first timeout, T_0 [s], >= 0.
    max_window : array_like
        The receiver's window, W_m [pkt], > 0; at least 1 to be trusted.
    packets_per_ack : array_like
        Packets that one ACK acknowledges, b [pkt], >= 1; 2 with delayed ACKs.

    Returns
    -------
    array
        Packets sent a second, the lost ones included [pkt/s].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    See Also
    --------
    pftk_throughput : the rate at which packets arrive.

    Examples
    --------
    >>> print(f"{pftk_sending_rate(0.1, 0.01, timeout=1.0, max_window=1e4):.2f}")
    98.83
    """
    rtt, p, t0, limit, b = model_of(pftk_sending_rate).take(
        round_trip_time=round_trip_time,
        loss_probability=loss_probability,
        timeout=timeout,
        max_window=max_window,
        packets_per_ack=packets_per_ack,
    )
    p = np.maximum(p, LEAST_LOSS)
    window, rounds = _window_and_rounds(p, limit, b)
    q = timeout_probability(p, window)
    return plain(((1 - p) / p + window + q / (1 - p)) / (rtt * rounds + q * timeouts_duration(p, t0)))


@model(
    domain={"max_window": AT_LEAST_ONE_PACKET},
    assumes=_PFTK_ASSUMES,
    round_trip_time=TIME,
    loss_probability=PROBABILITY_BELOW_ONE,
    timeout=DELAY,
    max_window=WINDOW,
    packets_per_ack=PACKETS,
)
def pftk_throughput(
    round_trip_time: ArrayLike,
    loss_probability: ArrayLike,
    timeout: ArrayLike,
    max_window: ArrayLike,
    packets_per_ack: ArrayLike = 1.0,
) -> FloatArray:
    """Compute the rate at which packets of TCP Reno arrive, by the full model with W_m [padhye], [cardwell, eq. 22].

    Parameters
    ----------
    round_trip_time, loss_probability, timeout, max_window, packets_per_ack : array_like
        As for `pftk_sending_rate`.

    Returns
    -------
    array
        Packets received a second [pkt/s].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    Of the last window before a loss indication half is lost on average; of a series of timeouts one packet arrives.
    The well-known numbers of "PFTK full" in the example are this T(p); the sending rate of 1998 is 98.83 where p = 1%.

    Examples
    --------
    >>> print(pftk_throughput(0.1, [1e-4, 1e-3, 1e-2, 0.05, 0.1], timeout=1.0, max_window=1e4).round(2))
    [1209.73  367.18   91.5    22.17   10.03]
    """
    rtt, p, t0, limit, b = model_of(pftk_throughput).take(
        round_trip_time=round_trip_time,
        loss_probability=loss_probability,
        timeout=timeout,
        max_window=max_window,
        packets_per_ack=packets_per_ack,
    )
    p = np.maximum(p, LEAST_LOSS)
    window, rounds = _window_and_rounds(p, limit, b)
    q = timeout_probability(p, window)
    return plain(((1 - p) / p + window / 2 + q) / (rtt * rounds + q * timeouts_duration(p, t0)))


@model(
    domain={"max_window": AT_LEAST_ONE_PACKET},
    assumes=(
        "Reno with selective acknowledgment, long transfers; packets are lost independently; the round trip does not "
        "depend on the window; lost retransmissions are found without a timeout"
    ),
    round_trip_time=TIME,
    loss_probability=PROBABILITY_BELOW_ONE,
    timeout=DELAY,
    max_window=WINDOW,
    packets_per_ack=PACKETS,
)
def pftk_sack_throughput(
    round_trip_time: ArrayLike,
    loss_probability: ArrayLike,
    timeout: ArrayLike,
    max_window: ArrayLike,
    packets_per_ack: ArrayLike = 1.0,
) -> FloatArray:
    """Compute the rate at which packets of Reno with SACK arrive, by the steps of PFTK [padhye], [sikdar].

    Parameters
    ----------
    round_trip_time, timeout, max_window, packets_per_ack : array_like
        As for `pftk_sending_rate`.
    loss_probability : array_like
        Probability that a packet is lost [1], in [0, 1); 0 is the limit W_m/RTT.

    Returns
    -------
    array
        Packets received a second [pkt/s].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    Two steps of [padhye] are others. A loss indication ends with a timeout where more than half of the packets of its
    round are lost, as [sikdar] finds for SACK (only the abstract of that paper was read; the formula is not theirs),
    instead of where fewer than three duplicate ACKs arrive. And the other packets of that round are lost independently
    too, instead of all after the first one.

    Examples
    --------
    >>> print(pftk_sack_throughput(0.1, [1e-4, 1e-3, 1e-2, 0.05, 0.1], timeout=1.0, max_window=1e4).round(2))
    [1222.32  385.02  120.45   52.56   35.7 ]
    """
    rtt, p, t0, limit, b = model_of(pftk_sack_throughput).take(
        round_trip_time=round_trip_time,
        loss_probability=loss_probability,
        timeout=timeout,
        max_window=max_window,
        packets_per_ack=packets_per_ack,
    )
    p = np.maximum(p, LEAST_LOSS)
    window, rounds = _window_and_rounds(p, limit, b)
    q = _most_lost(p, window)
    return plain(((1 - p) / p + (1 - p) * window + q) / (rtt * rounds + q * timeouts_duration(p, t0)))


@model(
    domain={"max_window": AT_LEAST_ONE_PACKET},
    assumes=_PFTK_ASSUMES,
    round_trip_time=TIME,
    loss_probability=PROBABILITY_BELOW_ONE,
    timeout=DELAY,
    max_window=WINDOW,
    packets_per_ack=PACKETS,
)
def pftk_approximate_rate(
    round_trip_time: ArrayLike,
    loss_probability: ArrayLike,
    timeout: ArrayLike,
    max_window: ArrayLike,
    packets_per_ack: ArrayLike = 1.0,
) -> FloatArray:
    """Compute the rate at which TCP Reno sends, by the approximate model [padhye, eq. 33].

    Parameters
    ----------
    round_trip_time, loss_probability, timeout, max_window, packets_per_ack : array_like
        As for `pftk_sending_rate`.

    Returns
    -------
    array
        Packets sent a second [pkt/s].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Examples
    --------
    >>> print(f"{pftk_approximate_rate(0.1, 0.01, timeout=1.0, max_window=1e4):.2f}")
    99.92
    """
    rtt, p, t0, limit, b = model_of(pftk_approximate_rate).take(
        round_trip_time=round_trip_time,
        loss_probability=loss_probability,
        timeout=timeout,
        max_window=max_window,
        packets_per_ack=packets_per_ack,
    )
    p = np.maximum(p, LEAST_LOSS)
    between = rtt * np.sqrt(2 * b * p / 3) + t0 * np.minimum(1.0, 3 * np.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2)
    return plain(np.minimum(limit / rtt, 1.0 / between))


def timeout_probability(p: FloatArray, window: FloatArray) -> FloatArray:
    """Compute the probability that a loss in a window ends with a timeout [cardwell, eq. 17]."""
    three, rest, whole = lost_within(p, 3.0), lost_within(p, window - 3), lost_within(p, window)
    return plain(np.minimum(1.0, three * (1 + (1 - p) ** 3 * rest) / whole))


def _most_lost(p: FloatArray, window: FloatArray) -> FloatArray:
    """Compute the probability that of the packets of a round more than half are lost, where one is.

    The tail of the binomial law is an incomplete beta function, which takes windows that are not whole.
    """
    from scipy.special import betainc  # noqa: PLC0415  a third of a second that others need not pay

    return plain(np.minimum(1.0, betainc(window / 2 + 1, window / 2, p) / lost_within(p, window)))


def timeouts_duration(p: FloatArray, t0: FloatArray) -> FloatArray:
    """Compute the mean duration of a series of timeouts, G(p) T_0 / (1 - p) [cardwell, eqs. 18 and 19]."""
    growth = 1 + p * (1 + p * (2 + p * (4 + p * (8 + p * (16 + p * 32)))))
    return plain(growth * t0 / (1 - p))


def lost_within(p: FloatArray, packets: ArrayLike) -> FloatArray:
    """Compute 1 - (1 - p)^packets without cancellation."""
    return plain(-np.expm1(packets * np.log1p(-p)))


def _window_and_rounds(p: FloatArray, limit: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute the mean window at a loss indication and the rounds from one to the next, with and without W_m."""
    c = (2 + b) / (3 * b)
    # E[W_u], the window where the receiver sets no limit [cardwell, eq. 23]
    free = c + np.sqrt(8 * (1 - p) / (3 * b * p) + c**2)
    rounds = np.where(free < limit, b / 2 * free + 1, b / 8 * limit + (1 - p) / (p * limit) + 2)
    return plain(np.minimum(free, limit)), plain(rounds)
