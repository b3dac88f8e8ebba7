"""ackclock.models.variable_delay against the second implementation, over thousands of random inputs."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

from ackclock.models import variable_delay
from ackclock.models.domain import FloatArray
from ackclock.models.variable_delay import RoundTrips
from second import variable_delay_second as second

RANDOM = np.random.default_rng(5232)
N = 200
LOSS_RATE = 10 ** RANDOM.uniform(-2.0, 1.5, N)
GAMMA = RANDOM.uniform(0.0, 0.95, N)
BETA = 10 ** RANDOM.uniform(-1.0, 1.0, N)
P = 10 ** RANDOM.uniform(-5.0, 0.0, N)


class Law(NamedTuple):
    first: RoundTrips
    transform: second.Transform
    mean: float
    integrated: bool = False


def laws() -> list[Law]:
    made = []
    for _ in range(10):
        mean, shape = 10 ** RANDOM.uniform(-2.0, 1.0), RANDOM.uniform(0.5, 5.0)
        low = mean * RANDOM.uniform(0.0, 0.9)
        values, weights = RANDOM.uniform(0.01, 3.0, 5).tolist(), RANDOM.dirichlet(np.ones(5)).tolist()
        samples = RANDOM.gamma(shape, mean / shape, 50).tolist()
        made += [
            Law(RoundTrips.constant(mean), partial(second.constant_transform, mean=mean), mean),
            Law(
                RoundTrips.from_distribution(stats.expon(scale=mean)),
                partial(second.exponential_transform, mean=mean),
                mean,
                integrated=True,
            ),
            Law(
                RoundTrips.from_distribution(stats.uniform(low, 2 * (mean - low))),
                partial(second.uniform_transform, low=low, high=2 * mean - low),
                mean,
                integrated=True,
            ),
            Law(
                RoundTrips.from_distribution(stats.gamma(shape, scale=mean / shape)),
                partial(second.gamma_transform, mean=mean, shape=shape),
                mean,
                integrated=True,
            ),
            Law(
                RoundTrips.from_transform(_vectorised(values, weights), float(np.dot(values, weights))),
                partial(second.discrete_transform, values=values, probabilities=weights),
                float(np.dot(values, weights)),
            ),
            Law(
                RoundTrips.from_samples(samples),
                partial(second.sample_transform, samples=samples),
                float(np.mean(samples)),
            ),
        ]
    return made


def _vectorised(values: list[float], weights: list[float]) -> Callable[[FloatArray], FloatArray]:
    return lambda s: np.tensordot(np.exp(-np.multiply.outer(s, values)), weights, axes=1)


LAWS = laws()
FACTORS = {"per-round": second.mean_factor_once, "per-loss": second.mean_factor_each}


def agree(found: Any, expected: Any, integrated: bool = False) -> None:
    # Transforms that are integrated are good to 1e-9, and 1 - R* is 1e-4 at the rarest losses.
    np.testing.assert_allclose(found, expected, rtol=1e-5 if integrated else 1e-9, atol=0.0)


@pytest.mark.parametrize("reaction", ["per-round", "per-loss"])
@pytest.mark.parametrize("law", LAWS)
def test_independent_round_trips(law: Law, reaction: variable_delay.Reaction) -> None:
    lam, gamma, beta = LOSS_RATE.tolist(), GAMMA.tolist(), BETA.tolist()
    factors = [FACTORS[reaction](law.transform, rate, g) for rate, g in zip(lam, gamma, strict=True)]
    cases = list(zip(factors, beta, strict=True))
    given = (law.first, LOSS_RATE, GAMMA, BETA, reaction)
    np.testing.assert_allclose(variable_delay.mean_factor(law.first, LOSS_RATE, GAMMA, reaction), factors, atol=1e-9)
    agree(variable_delay.mean_window(*given), [second.window_at_end(a, b) for a, b in cases], law.integrated)
    agree(variable_delay.time_average_window(*given), [second.window_over_time(a, b) for a, b in cases], law.integrated)
    rate = variable_delay.sending_rate(*given)
    agree(rate.printed, [second.throughput(a, b, law.mean) for a, b in cases], law.integrated)
    agree(rate.sent, [second.packets_sent_rate(a, b, law.mean) for a, b in cases], law.integrated)


@pytest.mark.parametrize("law", LAWS)
def test_decreases(law: Law) -> None:
    lam, gamma, beta = LOSS_RATE.tolist(), GAMMA.tolist(), BETA.tolist()
    expected = [second.decrease_rate(law.transform, rate, law.mean) for rate in lam]
    agree(variable_delay.reduction_rate(law.first, LOSS_RATE), expected, law.integrated)
    once = [second.decrease_probability(law.transform, *case) for case in zip(lam, gamma, beta, strict=True)]
    agree(variable_delay.reduction_probability(law.first, LOSS_RATE, GAMMA, BETA), once, law.integrated)
    each = [
        rate / second.throughput(second.mean_factor_each(law.transform, rate, g), b, law.mean)
        for rate, g, b in zip(lam, gamma, beta, strict=True)
    ]
    agree(variable_delay.reduction_probability(law.first, LOSS_RATE, GAMMA, BETA, "per-loss"), each, law.integrated)


@pytest.mark.parametrize("law", LAWS)
def test_throughput_from_the_probability(law: Law) -> None:
    cases = list(zip(P.tolist(), GAMMA.tolist(), BETA.tolist(), strict=True))
    expected = [second.square_root_throughput(p, g, b, law.mean) for p, g, b in cases]
    agree(variable_delay.square_root_rate(law.mean, P, GAMMA, BETA), expected, law.integrated)
    few = slice(0, 20)
    expected = [second.implicit_throughput(law.transform, p, g, b, law.mean) for p, g, b in cases[few]]
    agree(variable_delay.per_loss_rate(law.first, P[few], GAMMA[few], BETA[few]), expected, law.integrated)


@pytest.mark.parametrize("reaction", ["per-round", "per-loss"])
@pytest.mark.parametrize("states", [1, 2, 3, 6])
def test_chains(states: int, reaction: variable_delay.Reaction) -> None:
    for _ in range(60):
        transitions = RANDOM.dirichlet(np.full(states, 0.7), states)
        transitions = (0.95 * transitions + 0.05 / states).tolist()
        inside = [(10 ** RANDOM.uniform(-2.0, 0.5, 3)).tolist() for _ in range(states)]
        rates = (10 ** RANDOM.uniform(-1.5, 1.0, states)).tolist()
        gamma, beta = RANDOM.uniform(0.0, 0.95), RANDOM.uniform(0.1, 3.0)
        chain = variable_delay.round_trip_chain(transitions, inside)
        found = variable_delay.markov_window(chain, rates, gamma, beta, reaction)

        pi = second.stationary(transitions)
        means = [sum(own) / 3 for own in inside]
        transforms = [partial(second.sample_transform, samples=own) for own in inside]
        factors = [FACTORS[reaction](law, rate, gamma) for law, rate in zip(transforms, rates, strict=True)]
        windows = second.chain_windows(transitions, pi, factors, beta)
        agree(chain.stationary, pi)
        agree(chain.means, means)
        found_factors = variable_delay.mean_factors(chain, rates, gamma, reaction)
        np.testing.assert_allclose(found_factors, factors, rtol=1e-9, atol=1e-15)
        agree(found.by_state, windows)
        agree(found.window, sum(windows))
        agree(found.time_average, second.chain_window_over_time(transitions, pi, factors, means, beta))
        agree(found.rate.printed, second.chain_throughput(windows, pi, means))
        agree(found.rate.sent, second.chain_packets_sent_rate(windows, pi, means, beta))
        if reaction == "per-round":
            no_loss = [law(rate) for law, rate in zip(transforms, rates, strict=True)]
            decreases = second.chain_decrease_rate(pi, no_loss, means)
            agree(found.reduction_rate, decreases)
            agree(found.reduction_probability, decreases / second.chain_throughput(windows, pi, means))


@pytest.mark.parametrize("states", [1, 2, 4])
@pytest.mark.parametrize("exponent", [-8, -11, -13, -15, -18, -40])
def test_chains_at_rare_losses(states: int, exponent: int) -> None:
    for _ in range(20):
        # Sixty-fourths: exact in floats, as are the tenths in fractions of these floats.
        weights = RANDOM.integers(1, 64, (states, states))
        transitions = [[Fraction(int(w), int(row.sum())) for w in row] for row in weights]
        inside = RANDOM.uniform(0.01, 3.0, (states, 3)).tolist()
        exact = [[Fraction(r) for r in own] for own in inside]
        rate, gamma = (
            Fraction(float(RANDOM.uniform(1.0, 9.0)) * 10.0**exponent),
            Fraction(float(RANDOM.uniform(0, 0.9))),
        )
        expected = second.rare_loss_window(
            transitions,
            [sum(own, Fraction(0)) / 3 for own in exact],
            [sum((r * r for r in own), Fraction(0)) / 3 for own in exact],
            rate,
            gamma,
        )
        chain = variable_delay.round_trip_chain([[float(p) for p in row] for row in transitions], inside)
        agree(variable_delay.markov_window(chain, float(rate), float(gamma)).window, expected)


def test_probabilities_of_the_factor() -> None:
    powers = np.arange(12)
    for _ in range(60):
        mean, shape = 10 ** RANDOM.uniform(-2.0, 1.0), RANDOM.uniform(0.5, 5.0)
        lam = 10 ** RANDOM.uniform(-1.0, 0.5) / mean
        samples = RANDOM.gamma(shape, mean / shape, 50).tolist()
        constant = variable_delay.factor_probability(RoundTrips.constant(mean), lam, powers)
        agree(constant, [second.poisson_count(k, lam * mean) for k in range(12)])
        measured = variable_delay.factor_probability(RoundTrips.from_samples(samples), lam, powers)
        agree(measured, [second.mixed_count(k, lam, samples) for k in range(12)])
        exponential = RoundTrips.from_distribution(stats.expon(scale=mean))
        found = variable_delay.factor_probability(exponential, lam, powers)
        np.testing.assert_allclose(found, [second.geometric_count(k, lam * mean) for k in range(12)], atol=1e-8)
        gamma = RoundTrips.from_distribution(stats.gamma(shape, scale=mean / shape))
        found = variable_delay.factor_probability(gamma, lam, powers)
        expected = [second.negative_binomial_count(k, lam * mean, shape) for k in range(12)]
        np.testing.assert_allclose(found, expected, atol=1e-8)


def test_the_explicit_window_is_that_of_the_recursion() -> None:
    for _ in range(300):
        factors = RANDOM.choice([1.0, 0.5, 0.25, RANDOM.random()], int(RANDOM.integers(1, 200))).tolist()
        beta, start = RANDOM.uniform(0.1, 3.0), 10 ** RANDOM.uniform(-1.0, 3.0)
        found = variable_delay.stationary_window(factors, beta)
        agree(found.window + found.weight * start, second.window_after(start, factors, beta))


def traces(same_ends: bool, number: int = 150) -> list[list[float]]:
    made: list[list[float]] = []
    while len(made) < number:
        long = (RANDOM.random(int(RANDOM.integers(20, 120))) < 0.15).cumsum() % 2 == 1
        trace = np.where(long, RANDOM.uniform(0.5, 1.5, long.size), RANDOM.uniform(0.05, 0.4, long.size))
        if long.any() and not long.all() and (long[0] == long[-1]) == same_ends:
            made.append(trace.tolist())
    return made


def test_fixed_and_variable_fits() -> None:
    for trace in traces(same_ends=True, number=300):
        rate, gamma, beta = 10 ** RANDOM.uniform(-2.0, 1.0), RANDOM.uniform(0.0, 0.95), RANDOM.uniform(0.1, 3.0)
        fixed = variable_delay.sending_rate(variable_delay.fit_fixed(trace), rate, gamma, beta)
        agree(fixed.printed, second.fixed_fit(trace, rate, gamma, beta))
        variable = variable_delay.sending_rate(variable_delay.fit_variable(trace), rate, gamma, beta)
        agree(variable.printed, second.variable_fit(trace, rate, gamma, beta))


def test_two_state_fits() -> None:
    for trace in traces(same_ends=True):
        rate, gamma, beta = 10 ** RANDOM.uniform(-2.0, 1.0), RANDOM.uniform(0.0, 0.95), RANDOM.uniform(0.1, 3.0)
        fitted = variable_delay.fit_two_states(trace, threshold=0.45)
        transitions, pi = second.two_state_chain(second.two_states(trace, 0.45))
        agree(fitted.chain.transitions, transitions)
        agree(fitted.chain.stationary, pi)
        found = variable_delay.markov_window(fitted.chain, rate, gamma, beta)
        agree(found.rate.printed, second.two_state_fit(trace, 0.45, rate, gamma, beta))
        fitted = variable_delay.fit_two_states(trace, threshold=0.45, contents="mean")
        found = variable_delay.markov_window(fitted.chain, rate, gamma, beta)
        agree(found.rate.printed, second.two_state_fit_constant(trace, 0.45, rate, gamma, beta))


# The paper counts the last sample in N_i although its successor is unknown, and takes pi_i = N_i / N, which then is not
# the chain's own. The first implementation lets the first sample follow the last, which makes it so; equation (5) needs
# that. Where the trace ends in the other state than it began in, one transition more is counted.
def test_two_state_fits_of_open_traces_differ_by_one_transition() -> None:
    for trace in traces(same_ends=False):
        states = second.two_states(trace, 0.45)
        transitions, pi = second.two_state_chain(states)
        last = states[-1]
        transitions[last][1 - last] += 1 / states.count(last)
        transitions[last][last] -= 1 / states.count(last)
        fitted = variable_delay.fit_two_states(trace, threshold=0.45)
        np.testing.assert_allclose(fitted.chain.transitions, transitions, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(fitted.chain.stationary, pi, rtol=1e-9)
        np.testing.assert_allclose(second.stationary(transitions), pi, rtol=1e-9)


@pytest.mark.parametrize("share", [0.85, 0.5])
def test_threshold_from_the_ordered_samples(share: float) -> None:
    for trace in traces(same_ends=True):
        fitted = variable_delay.fit_two_states(trace, quantile=share)
        threshold = second.threshold_after(trace, share)
        agree(fitted.thresholds, [threshold])
        assert fitted.states.tolist() == second.two_states(trace, threshold)
