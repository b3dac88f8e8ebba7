"""Window and throughput for independent, identically distributed round trips [variable-delay, sections 3 and 4]."""

from typing import Final, NamedTuple

import numpy as np

from ackclock.models.domain import ArrayLike, FloatArray, model, model_of
from ackclock.models.limits import EVENT_RATE, POSITIVE_PROBABILITY, PROBABILITY_BELOW_ONE, SIZE, TIME
from ackclock.models.variable_delay.arguments import ASSUMES, WINDOW_DOMAIN, Reaction, window_quantities
from ackclock.models.variable_delay.round_trips import RoundTrips

_ITERATIONS: Final = 60
_ACCURACY: Final = 1e-14


class SendingRate(NamedTuple):
    """The sending rate of an AIMD connection, as the paper counts and as packets are sent."""

    printed: FloatArray
    """Rate ``X = E[W] / E[R]`` of (8) and (9) [pkt/s]: a round counts the window at its end."""
    sent: FloatArray
    """Rate ``X - beta / (2 E[R])`` [pkt/s]: a round counts the mean of the windows at its start and at its end."""


@model(loss_rate=EVENT_RATE, decrease=PROBABILITY_BELOW_ONE)
def mean_factor(
    round_trips: RoundTrips, loss_rate: ArrayLike, decrease: ArrayLike = 0.5, reaction: Reaction = "per-round"
) -> FloatArray:
    """Compute E[A], the mean factor of the window from one round to the next [variable-delay, section 3.1.1].

    Parameters
    ----------
    round_trips : RoundTrips
        The distribution of R.
    loss_rate : array_like
        Losses a second, lambda [1/s], > 0.
    decrease : array_like, optional
        gamma [1], from 0 to less than 1.
    reaction : {"per-round", "per-loss"}
        Whether a round with losses shrinks the window once (A1.i) or for each of them (A1.ii).

    Returns
    -------
    array of float
        ``gamma + (1 - gamma) R*(lambda)``, or ``R*(lambda (1 - gamma))``.

    Examples
    --------
    >>> rounds = RoundTrips.constant(0.1)
    >>> [round(float(mean_factor(rounds, 0.1, reaction=reaction)), 6) for reaction in ("per-round", "per-loss")]
    [0.995025, 0.995012]
    """
    return np.asarray(1.0 - _mean_loss(round_trips, loss_rate, decrease, reaction))[()]


@model(
    domain=WINDOW_DOMAIN,
    quantities=window_quantities,
    assumes=ASSUMES,
    loss_rate=EVENT_RATE,
    decrease=PROBABILITY_BELOW_ONE,
    increase=SIZE,
)
def mean_window(
    round_trips: RoundTrips,
    loss_rate: ArrayLike,
    decrease: ArrayLike = 0.5,
    increase: ArrayLike = 1.0,
    reaction: Reaction = "per-round",
) -> FloatArray:
    """Compute the mean window at the end of a round, ``E[W] = beta / (1 - E[A])`` [variable-delay, eqs. 3 and 4].

    Parameters
    ----------
    round_trips : RoundTrips
        The distribution of R.
    loss_rate : array_like
        lambda [1/s], > 0.
    decrease : array_like, optional
        gamma [1], from 0 to less than 1.
    increase : array_like, optional
        beta, a round [pkt], > 0: 1, or 0.5 with delayed ACKs.
    reaction : {"per-round", "per-loss"}
        A1.i or A1.ii.

    Returns
    -------
    array of float
        E[W] [pkt].

    Notes
    -----
    The next round starts with ``A W``, not with W. Timeouts and the receiver's window are left out:
    ``MODELS["mean_window"].warnings(window=..., receiver_window=...)`` says where they matter.

    Examples
    --------
    A constant round trip of 1/lambda: ``1 / (0.5 (1 - 1/e)) = 3.164``; an exponential one of that mean: 4.

    >>> print(f"{mean_window(RoundTrips.constant(2.0), 0.5):.3f}")
    3.164
    >>> print(mean_window(RoundTrips.from_transform(lambda s: 1 / (1 + 2 * s), mean=2.0), 0.5))
    4.0
    """
    (beta,) = model_of(mean_window).take(increase=increase)
    return np.asarray(beta / _mean_loss(round_trips, loss_rate, decrease, reaction))[()]


@model(
    domain=WINDOW_DOMAIN,
    quantities=window_quantities,
    assumes=ASSUMES,
    loss_rate=EVENT_RATE,
    decrease=PROBABILITY_BELOW_ONE,
    increase=SIZE,
)
def time_average_window(
    round_trips: RoundTrips,
    loss_rate: ArrayLike,
    decrease: ArrayLike = 0.5,
    increase: ArrayLike = 1.0,
    reaction: Reaction = "per-round",
) -> FloatArray:
    """Compute the time average of the window, ``E[W(t)] = beta / 2 + E[A] E[W]`` [variable-delay, section 3.2.1].

    Parameters
    ----------
    round_trips, loss_rate, decrease, increase, reaction
        As for `mean_window`.

    Returns
    -------
    array of float
        E[W(t)] [pkt], under A2: the window grows linearly within a round.

    Notes
    -----
    As ``E[A] E[W] = E[W] - beta``, it is ``E[W] - beta / 2``: long rounds start as wide as short ones.

    Examples
    --------
    >>> print(time_average_window(RoundTrips.from_transform(lambda s: 1 / (1 + 2 * s), mean=2.0), 0.5))
    3.5
    """
    (beta,) = model_of(time_average_window).take(increase=increase)
    lost = _mean_loss(round_trips, loss_rate, decrease, reaction)
    return np.asarray(beta / 2.0 + (1.0 - lost) * beta / lost)[()]


# (8) and (9) take W_n packets for round n, but W_n is the window at its end. A round from A W to A W + beta sends the
# mean of both, beta/2 less.
@model(
    domain=WINDOW_DOMAIN,
    quantities=window_quantities,
    assumes=ASSUMES,
    loss_rate=EVENT_RATE,
    decrease=PROBABILITY_BELOW_ONE,
    increase=SIZE,
)
def sending_rate(
    round_trips: RoundTrips,
    loss_rate: ArrayLike,
    decrease: ArrayLike = 0.5,
    increase: ArrayLike = 1.0,
    reaction: Reaction = "per-round",
) -> SendingRate:
    """Compute the throughput ``X = E[W] / E[R]``, a sending rate [variable-delay, eqs. 8 and 9].

    Parameters
    ----------
    round_trips, loss_rate, decrease, increase, reaction
        As for `mean_window`.

    Returns
    -------
    SendingRate
        printed, sent [pkt/s].

    Notes
    -----
    With `RoundTrips.constant` of the mean this is the paper's "Fixed", with `RoundTrips.from_samples` its "Variable".
    Table 1 (2.35 to 2.65 Mbit/s at lambda = 1/10) depends on rates and delays of the topology that the paper does not
    print.

    Examples
    --------
    The 2.5 Mbit/s of table 1 (lambda = 1/10, beta = 0.5, 1000-byte packets) take a constant round trip of 0.18 s.

    >>> found = sending_rate(RoundTrips.constant(0.1798), 0.1, increase=0.5)
    >>> print(f"{8000 * found.printed / 1e6:.2f} or {8000 * found.sent / 1e6:.2f} Mbit/s")
    2.50 or 2.49 Mbit/s
    """
    window = mean_window(round_trips, loss_rate, decrease, increase, reaction)
    excess = np.asarray(increase, dtype=np.float64) / 2.0
    return SendingRate(np.asarray(window / round_trips.mean)[()], np.asarray((window - excess) / round_trips.mean)[()])


@model(mean_round_trip=TIME, loss_rate=EVENT_RATE, decrease=PROBABILITY_BELOW_ONE, increase=SIZE)
def rare_loss_rate(
    mean_round_trip: ArrayLike, loss_rate: ArrayLike, decrease: ArrayLike = 0.5, increase: ArrayLike = 1.0
) -> FloatArray:
    """Compute the throughput's limit where rounds have few losses [variable-delay, section 5].

    Parameters
    ----------
    mean_round_trip : array_like
        E[R] [s], > 0.
    loss_rate, decrease, increase
        As for `mean_window`.

    Returns
    -------
    array of float
        ``beta / ((1 - gamma) lambda E[R]^2)`` [pkt/s]: the mean alone counts, for A1.i and A1.ii alike.

    Examples
    --------
    >>> print(rare_loss_rate(0.5, 0.5))
    16.0
    """
    r, lam, gamma, beta = model_of(rare_loss_rate).take(
        mean_round_trip=mean_round_trip, loss_rate=loss_rate, decrease=decrease, increase=increase
    )
    return np.asarray(beta / ((1.0 - gamma) * lam * r**2))[()]


@model(loss_rate=EVENT_RATE)
def reduction_rate(round_trips: RoundTrips, loss_rate: ArrayLike) -> FloatArray:
    """Compute how often A1.i shrinks the window, ``lambda' = (1 - R*(lambda)) / E[R]`` [variable-delay, section 4].

    Parameters
    ----------
    round_trips : RoundTrips
        The distribution of R.
    loss_rate : array_like
        lambda [1/s], > 0.

    Returns
    -------
    array of float
        lambda' [1/s], at most lambda. Under A1.ii every loss shrinks it: lambda itself.

    Examples
    --------
    >>> print(reduction_rate(RoundTrips.from_transform(lambda s: 1 / (1 + 2 * s), mean=2.0), 0.5))
    0.25
    """
    (lam,) = model_of(reduction_rate).take(loss_rate=loss_rate)
    return np.asarray(round_trips.complement(lam) / round_trips.mean)[()]


@model(loss_rate=EVENT_RATE, decrease=PROBABILITY_BELOW_ONE, increase=SIZE)
def reduction_probability(
    round_trips: RoundTrips,
    loss_rate: ArrayLike,
    decrease: ArrayLike = 0.5,
    increase: ArrayLike = 1.0,
    reaction: Reaction = "per-round",
) -> FloatArray:
    """Compute p, the reductions of the window for each packet sent [variable-delay, section 4].

    Parameters
    ----------
    round_trips, loss_rate, decrease, increase, reaction
        As for `mean_window`.

    Returns
    -------
    array of float
        ``(1 - gamma) (1 - R*(lambda))^2 / beta`` under A1.i, ``lambda / X`` under A1.ii, for the printed X. No
        probability where it exceeds 1: more losses than packets.

    Examples
    --------
    >>> print(reduction_probability(RoundTrips.from_transform(lambda s: 1 / (1 + 2 * s), mean=2.0), 0.5))
    0.125
    """
    X = sending_rate(round_trips, loss_rate, decrease, increase, reaction).printed  # noqa: N806
    per_round = reaction == "per-round"
    reductions = reduction_rate(round_trips, loss_rate) if per_round else np.asarray(loss_rate, dtype=np.float64)
    return np.asarray(reductions / X)[()]


@model(mean_round_trip=TIME, reduction_probability=POSITIVE_PROBABILITY, decrease=PROBABILITY_BELOW_ONE, increase=SIZE)
def square_root_rate(
    mean_round_trip: ArrayLike,
    reduction_probability: ArrayLike,
    decrease: ArrayLike = 0.5,
    increase: ArrayLike = 1.0,
) -> FloatArray:
    """Compute the throughput of A1.i from p, ``X = sqrt(beta / ((1 - gamma) p)) / E[R]`` [variable-delay, section 4].

    Parameters
    ----------
    mean_round_trip : array_like
        E[R] [s], > 0.
    reduction_probability : array_like
        p, reductions for each packet sent [1], in (0, 1]: not the losses, which may be several a reduction.
    decrease, increase
        As for `mean_window`.

    Returns
    -------
    array of float
        X [pkt/s], the printed count (`SendingRate`). The round trips' distribution is in p alone.

    Examples
    --------
    >>> print(square_root_rate(2.0, 0.125))
    2.0
    """
    r, p, gamma, beta = model_of(square_root_rate).take(
        mean_round_trip=mean_round_trip,
        reduction_probability=reduction_probability,
        decrease=decrease,
        increase=increase,
    )
    return np.asarray(np.sqrt(beta / ((1.0 - gamma) * p)) / r)[()]


@model(loss_probability=POSITIVE_PROBABILITY, decrease=PROBABILITY_BELOW_ONE, increase=SIZE)
def per_loss_rate(
    round_trips: RoundTrips,
    loss_probability: ArrayLike,
    decrease: ArrayLike = 0.5,
    increase: ArrayLike = 1.0,
) -> FloatArray:
    """Compute the throughput of A1.ii from p [variable-delay, section 4].

    It is the X that solves ``X E[R] (1 - R*(p X (1 - gamma))) = beta``.

    Parameters
    ----------
    round_trips : RoundTrips
        The distribution of R.
    loss_probability : array_like
        p, losses for each packet sent [1], in (0, 1].
    decrease, increase
        As for `mean_window`.

    Returns
    -------
    array of float
        X [pkt/s], the printed count (`SendingRate`); at least `square_root_rate` of the same p.

    Notes
    -----
    The left side grows with X, its logarithm by 1 to 2 times the logarithm of X. So there is one solution, and a secant
    whose slope is held within 1 and 2 stays between the last value and it.

    Examples
    --------
    >>> rounds = RoundTrips.from_transform(lambda s: 1 / (1 + 2 * s), mean=2.0)
    >>> X = per_loss_rate(rounds, 0.125)
    >>> print(f"{X:.4f}, lambda = p X gives {sending_rate(rounds, 0.125 * X, reaction='per-loss').printed:.4f}")
    2.2656, lambda = p X gives 2.2656
    """
    p, gamma, beta = model_of(per_loss_rate).take(
        loss_probability=loss_probability, decrease=decrease, increase=increase
    )
    share = p * (1.0 - gamma)

    def excess(log_rate: FloatArray) -> FloatArray:
        rate = np.exp(log_rate)
        return np.asarray(np.log(rate * round_trips.mean * round_trips.complement(share * rate) / beta))

    # 1 - exp(-x) <= x: the square root is a lower bound.
    last = np.asarray(np.log(np.sqrt(beta / share) / round_trips.mean))
    last_excess = excess(last)
    current = last - last_excess / 1.5
    for _ in range(_ITERATIONS):
        step = current - last
        found = excess(current)
        flat = np.abs(step) < _ACCURACY
        slope = np.clip((found - last_excess) / np.where(flat, 1.0, step), 1.0, 2.0)
        last, last_excess = current, found
        current = current - np.where(flat, 0.0, found / slope)
        if np.all(np.abs(current - last) < _ACCURACY):
            break
    return np.asarray(np.exp(current))[()]


def _mean_loss(round_trips: RoundTrips, loss_rate: ArrayLike, decrease: ArrayLike, reaction: Reaction) -> FloatArray:
    """Compute 1 - E[A]."""
    lam, gamma = model_of(mean_factor).take(loss_rate=loss_rate, decrease=decrease)
    if reaction == "per-round":
        return np.asarray((1.0 - gamma) * round_trips.complement(lam))
    return round_trips.complement(lam * (1.0 - gamma))
