"""Throughput of one long TCP connection: the square root, PFTK, stationary losses."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ackclock.models.classics.model import (
    LOSS,
    LOSS_OR_NONE,
    PACKETS_PER_ACK,
    ROUND_TRIP,
    TIMEOUT,
    WINDOW,
    Model,
    plain,
)
from ackclock.models.domain import FloatArray, Limits

LEAST_LOSS: Final = 1e-300
"""Stands for a loss probability of 0, so that the formulas reach their limits."""

PADHYE: Final = "Padhye, Firoiu, Towsley, Kurose: Modeling TCP Throughput, SIGCOMM 1998 and ToN 8(2), 2000"

SQUARE_ROOT: Final = Model(
    name="square_root_rate",
    source="Mathis, Semke, Mahdavi, Ott: The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, CCR 1997",
    equation="(3), C = sqrt(3 / (2 b))",
    arguments={"round_trip_time": ROUND_TRIP, "loss_probability": LOSS, "packets_per_ack": PACKETS_PER_ACK},
    domain={"loss_probability": Limits(0.0, 0.01, high_included=True, reason="timeouts are left out")},
    assumes="one loss after each 1/p packets, a constant round trip, no limit by the receiver's window",
)

_PFTK_ARGUMENTS: Final = {
    "round_trip_time": ROUND_TRIP,
    "loss_probability": LOSS_OR_NONE,
    "timeout": TIMEOUT,
    "max_window": WINDOW,
    "packets_per_ack": PACKETS_PER_ACK,
}
_PFTK_ASSUMES: Final = (
    "Reno, long transfers; the round trip does not depend on the window; once a packet is lost so is the rest of its "
    "round"
)

PFTK_SENDING: Final = Model(
    name="pftk_sending_rate",
    source=PADHYE,
    equation="the full model with W_m, (32) of ToN",
    arguments=_PFTK_ARGUMENTS,
    domain={},
    assumes=_PFTK_ASSUMES,
)

PFTK_THROUGHPUT: Final = Model(
    name="pftk_throughput",
    source=f"{PADHYE}; Cardwell, Savage, Anderson: Modeling TCP Latency, INFOCOM 2000",
    equation="the throughput T(p) of ToN; (22), (23) of INFOCOM",
    arguments=_PFTK_ARGUMENTS,
    domain={},
    assumes=_PFTK_ASSUMES,
)

PFTK_APPROXIMATE: Final = Model(
    name="pftk_approximate_rate",
    source=PADHYE,
    equation="the approximate model, (33) of ToN",
    arguments=_PFTK_ARGUMENTS,
    domain={},
    assumes=_PFTK_ASSUMES,
)


def square_root_rate(
    round_trip_time: ArrayLike, loss_probability: ArrayLike, packets_per_ack: ArrayLike = 1.0
) -> FloatArray:
    """Compute the rate of TCP in congestion avoidance by the square-root law.

    Source: Mathis, Semke, Mahdavi, Ott 1997, equation (3).

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
    rtt, p, b = SQUARE_ROOT.take(
        round_trip_time=round_trip_time, loss_probability=loss_probability, packets_per_ack=packets_per_ack
    )
    return plain(np.sqrt(3.0 / (2.0 * b * p)) / rtt)


def pftk_sending_rate(
    round_trip_time: ArrayLike,
    loss_probability: ArrayLike,
    timeout: ArrayLike,
    max_window: ArrayLike,
    packets_per_ack: ArrayLike = 1.0,
) -> FloatArray:
    """Compute the rate at which TCP Reno sends, by the full model of Padhye et al.

    Source: Padhye, Firoiu, Towsley, Kurose, the full model with W_m, (32) of the journal version.

    Parameters
    ----------
    round_trip_time : array_like
        Round-trip time [s], > 0.
    loss_probability : array_like
        Loss indications a packet sent [1], in [0, 1); 0 is the limit W_m/RTT.
    timeout : array_like
        Duration of a first timeout, T_0 [s], >= 0.
    max_window : array_like
        The receiver's window, W_m [pkt], >= 1.
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
    pftk_throughput : what of this arrives.

    Examples
    --------
    >>> print(f"{pftk_sending_rate(0.1, 0.01, timeout=1.0, max_window=1e4):.2f}")
    98.83
    """
    rtt, p, t0, limit, b = PFTK_SENDING.take(
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


def pftk_throughput(
    round_trip_time: ArrayLike,
    loss_probability: ArrayLike,
    timeout: ArrayLike,
    max_window: ArrayLike,
    packets_per_ack: ArrayLike = 1.0,
) -> FloatArray:
    """Compute the rate at which packets of TCP Reno arrive, by the full model of Padhye et al.

    Source: Padhye et al. (ToN 2000), throughput T(p), printed as (22) by Cardwell, Savage, Anderson 2000.

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
    rtt, p, t0, limit, b = PFTK_THROUGHPUT.take(
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


def pftk_approximate_rate(
    round_trip_time: ArrayLike,
    loss_probability: ArrayLike,
    timeout: ArrayLike,
    max_window: ArrayLike,
    packets_per_ack: ArrayLike = 1.0,
) -> FloatArray:
    """Compute the rate at which TCP Reno sends, by the approximate model of Padhye et al.

    Source: Padhye, Firoiu, Towsley, Kurose, the approximate model, (33) of the journal version.

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
    rtt, p, t0, limit, b = PFTK_APPROXIMATE.take(
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
    """Compute the probability that a loss in a window ends with a timeout [Cardwell et al., eq. 17]."""
    three, rest, whole = lost_within(p, 3.0), lost_within(p, window - 3), lost_within(p, window)
    return plain(np.minimum(1.0, three * (1 + (1 - p) ** 3 * rest) / whole))


def timeouts_duration(p: FloatArray, t0: FloatArray) -> FloatArray:
    """Compute the mean duration of a series of timeouts, G(p) T_0 / (1 - p) [Cardwell et al., eq. 18, 19]."""
    growth = 1 + p * (1 + p * (2 + p * (4 + p * (8 + p * (16 + p * 32)))))
    return plain(growth * t0 / (1 - p))


def lost_within(p: FloatArray, packets: ArrayLike) -> FloatArray:
    """Compute 1 - (1 - p)^packets without cancellation."""
    return plain(-np.expm1(packets * np.log1p(-p)))


def _window_and_rounds(p: FloatArray, limit: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute the mean window at a loss indication and the rounds from one to the next, with and without W_m."""
    c = (2 + b) / (3 * b)
    # E[W_u], the window where the receiver sets no limit [Cardwell et al., eq. 23]
    free = c + np.sqrt(8 * (1 - p) / (3 * b * p) + c**2)
    rounds = np.where(free < limit, b / 2 * free + 1, b / 8 * limit + (1 - p) / (p * limit) + 2)
    return plain(np.minimum(free, limit)), plain(rounds)
