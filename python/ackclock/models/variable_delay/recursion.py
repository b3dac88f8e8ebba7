"""The recursion of the window itself, simulated round by round [variable-delay, section 2.1]."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from typing_extensions import TypeAliasType

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, IntArray, Limits, model, model_of
from ackclock.models.limits import (
    EVENT_RATE_OR_ZERO,
    LISTED_COUNT,
    PROBABILITY_BELOW_ONE,
    SIZE,
    TIME,
)
from ackclock.models.variable_delay.arguments import Reaction, measured
from ackclock.models.variable_delay.independent import SendingRate
from ackclock.models.variable_delay.markov import RoundTripChain
from ackclock.models.variable_delay.round_trips import Draw, RoundTrips

_BLOCK: Final = 2**18
_ROUNDS: Final = Limits(1.0, 1e8, low_included=True, high_included=True, whole=True)
_WARM_UP: Final = Limits(0.0, 1e8, low_included=True, high_included=True, whole=True)

RoundTripSource = TypeAliasType("RoundTripSource", RoundTrips | RoundTripChain | ArrayLike)
"""Independent round trips, a Markov chain of them, or a measured sequence."""


class SimulatedWindow(NamedTuple):
    """Averages of a simulated recursion, one value for each replication."""

    window: FloatArray
    """Mean window at the end of a round [pkt]."""
    time_average: FloatArray
    """Time average of the window [pkt]."""
    rate: SendingRate
    """Sending rate: windows at the end of the rounds (printed), and packets sent [pkt/s]."""
    reduction_rate: FloatArray
    """Rate of rounds with losses (A1.i) or of losses (A1.ii) [1/s]."""
    reduction_probability: FloatArray
    """Reductions for each packet sent, by the printed rate [1]."""


@model(
    round_trips=TIME,
    loss_rate=EVENT_RATE_OR_ZERO,
    decrease=PROBABILITY_BELOW_ONE,
    increase=SIZE,
    rounds=_ROUNDS,
    replications=LISTED_COUNT,
    warm_up=_WARM_UP,
)
def simulate_window(  # noqa: PLR0913  the parameters of the recursion
    round_trips: RoundTripSource,
    loss_rate: ArrayLike,
    decrease: float = 0.5,
    increase: float = 1.0,
    reaction: Reaction = "per-round",
    *,
    rounds: int,
    replications: int,
    generator: np.random.Generator,
    warm_up: int = 1000,
) -> SimulatedWindow:
    """Simulate ``W_{n+1} = A_n W_n + beta`` with Poisson losses [variable-delay, eqs. 1 and 2].

    Parameters
    ----------
    round_trips : RoundTrips, RoundTripChain or array_like
        Independent round trips, a Markov chain of them, or a sequence [s], > 0, that is gone through in a circle, each
        replication from a place of its own: its correlation counts, at any lag.
    loss_rate : array_like
        lambda [1/s], >= 0, somewhere > 0: a single number, or by state of the chain, or by sample of the sequence.
    decrease, increase : float, optional
        gamma [1] and beta [pkt].
    reaction : {"per-round", "per-loss"}
        A1.i or A1.ii.
    rounds, replications : int
        Rounds that count, of each replication, from 1 to 1e8; replications, from 1 to a million.
    generator : numpy.random.Generator
        The source of all chance: the same seed, the same numbers.
    warm_up : int, optional
        Rounds before, >= 0. The start is forgotten at the rate 1 - E[A] a round.

    Returns
    -------
    SimulatedWindow
        window, time_average, rate, reduction_rate, reduction_probability, by replication.

    Examples
    --------
    >>> found = simulate_window(
    ...     RoundTrips.constant(2.0), 0.5, rounds=2000, replications=100, generator=np.random.default_rng(1), warm_up=50
    ... )
    >>> print(f"{found.window.mean():.2f}")                          # 3.164 by (4)
    3.16
    """
    record = model_of(simulate_window)
    gamma, beta = (float(value) for value in record.take(decrease=decrease, increase=increase))
    rounds, replications, warm_up = (
        int(count) for count in record.take(rounds=rounds, replications=replications, warm_up=warm_up)
    )
    per_round = reaction == "per-round"
    # Sums over the rounds that count, by replication: of W, of R, of the area under W(t), of the reductions.
    sums = np.zeros((4, replications))
    window = np.full(replications, beta)
    rounds_left = warm_up
    for times, rates in _rounds(round_trips, loss_rate, replications, generator, warm_up, rounds):
        losses = _poisson(generator, rates * times)
        reductions = np.minimum(losses, 1) if per_round else losses
        factors = gamma**reductions
        windows = np.empty_like(times)
        for n, factor in enumerate(factors):
            windows[n] = window
            window = factor * window + beta
        if rounds_left:
            rounds_left -= len(times)
            continue
        # A2: the window grows from W_n - beta to W_n within round n.
        area = times * (windows - beta / 2.0)
        sums += [windows.sum(axis=0), times.sum(axis=0), area.sum(axis=0), reductions.sum(axis=0)]
    return _averages(sums, rounds, beta)


def _poisson(generator: np.random.Generator, mean: FloatArray) -> IntArray:
    try:
        return np.asarray(generator.poisson(mean))
    except ValueError:
        given = f"{mean.max():g} losses a round"
        raise ModelError(Fault("loss_rate, round_trips", "have too many losses", given, "at most 9e18")) from None


def _averages(sums: FloatArray, rounds: int, beta: float) -> SimulatedWindow:
    windows, time, area, reductions = sums
    rate = SendingRate(windows / time, (windows - rounds * beta / 2.0) / time)
    return SimulatedWindow(windows / rounds, area / time, rate, reductions / time, reductions / windows)


def _rounds(  # noqa: PLR0913, PLR0917
    source: RoundTripSource,
    loss_rate: ArrayLike,
    replications: int,
    generator: np.random.Generator,
    warm_up: int,
    rounds: int,
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield blocks of (R, lambda), rounds on the first axis and replications on the second; the warm-up first."""
    longest = max(_BLOCK // replications, 1)
    lengths = [min(longest, total - first) for total in (warm_up, rounds) for first in range(0, total, longest)]
    match source:
        case RoundTrips():
            lam = _loss_rates(loss_rate, None)
            draw = _drawer(source)
            for length in lengths:
                yield draw(generator, (length, replications)), np.full((length, replications), lam)
        case RoundTripChain():
            yield from _chain_rounds(
                source, _loss_rates(loss_rate, len(source.round_trips)), generator, lengths, replications
            )
        case _:
            times = measured("round_trips", source)
            lam = np.broadcast_to(_loss_rates(loss_rate, times.size), times.shape)
            place = generator.integers(times.size, size=replications)
            for length in lengths:
                index = (place + np.arange(length)[:, None]) % times.size
                place = (place + length) % times.size
                yield times[index], lam[index]


def _chain_rounds(
    chain: RoundTripChain, lam: FloatArray, generator: np.random.Generator, lengths: list[int], replications: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    number = len(chain.round_trips)
    lam = np.broadcast_to(lam, (number,))
    cumulative = np.cumsum(chain.transitions, axis=1)[:, :-1]
    state: IntArray = generator.choice(number, size=replications, p=chain.stationary)
    draws = [_drawer(trips) for trips in chain.round_trips]
    for length in lengths:
        states = np.empty((length, replications), dtype=np.int64)
        for n, chance in enumerate(generator.random((length, replications))):
            states[n] = state
            state = np.sum(chance[:, None] >= cumulative[state], axis=1)
        times = np.empty(states.shape)
        for index, draw in enumerate(draws):
            here = states == index
            times[here] = draw(generator, (int(here.sum()),))
        yield times, lam[states]


def _drawer(trips: RoundTrips) -> Draw:
    if trips.draw is None:
        hint = "RoundTrips.from_samples or from_distribution can be drawn from"
        raise ModelError(Fault("round_trips", "cannot be drawn", "a transform alone", None, hint))
    return trips.draw


def _loss_rates(loss_rate: ArrayLike, size: int | None) -> FloatArray:
    """Check the loss rates: a single number, or `size` of them on one axis."""
    (lam,) = model_of(simulate_window).take(loss_rate=loss_rate)
    if lam.ndim and (size is None or lam.shape not in ((1,), (size,))):
        allowed = "a single number" + ("" if size is None else f", or {size}, one a state or sample")
        raise ModelError(Fault("loss_rate", "has the wrong shape", f"{lam.shape}", allowed))
    if not np.any(lam > 0.0):
        raise ModelError(Fault("loss_rate", "is 0 everywhere", "0", "> 0 somewhere [1/s]"))
    return lam
