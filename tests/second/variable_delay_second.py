"""AIMD over paths with variable delay a second time, from Altman, Barakat, Ramos (INRIA RR-5232): plain, slow, obvious.

Written without a look at `ackclock.models.variable_delay`. A law of the round trip is its Laplace-Stieltjes transform,
a function of one number, with its mean beside it. Times are seconds, windows packets, lambda loss events a second, beta
the growth of the window in a round, gamma the factor of the decrease.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

Transform = Callable[[float], float]


# Round trips: R*(s) = E[exp(-s R)]


def constant_transform(s: float, mean: float) -> float:
    return math.exp(-s * mean)


def exponential_transform(s: float, mean: float) -> float:
    return 1.0 / (1.0 + s * mean)


def uniform_transform(s: float, low: float, high: float) -> float:
    width = s * (high - low)
    if width == 0.0:
        return math.exp(-s * low)
    return math.exp(-s * low) * -math.expm1(-width) / width


def gamma_transform(s: float, mean: float, shape: float) -> float:
    return math.pow(1.0 + s * mean / shape, -shape)


def discrete_transform(s: float, values: Sequence[float], probabilities: Sequence[float]) -> float:
    return math.fsum(p * math.exp(-s * r) for r, p in zip(values, probabilities, strict=True))


def sample_transform(s: float, samples: Sequence[float]) -> float:
    return math.fsum(math.exp(-s * r) for r in samples) / len(samples)


# Independent round trips (sections 3.1.1, 3.2.1, 4)


def mean_factor_once(transform: Transform, loss_rate: float, gamma: float) -> float:
    """E[A] where a round with losses costs one decrease (A1.i)."""
    no_loss = transform(loss_rate)
    return no_loss * 1.0 + (1.0 - no_loss) * gamma


def mean_factor_each(transform: Transform, loss_rate: float, gamma: float) -> float:
    """E[A] where each loss costs a decrease (A1.ii): E[gamma^N], N Poisson given R."""
    return transform(loss_rate * (1.0 - gamma))


def window_at_end(mean_factor: float, beta: float) -> float:
    """E[W] just before a round ends (eq. 3)."""
    return beta / (1.0 - mean_factor)


def window_over_time(mean_factor: float, beta: float) -> float:
    """E[W(t)] (section 3.2.1): starts each round at A W and grows by beta."""
    start = mean_factor * window_at_end(mean_factor, beta)
    return (start + (start + beta)) / 2.0


def throughput(mean_factor: float, beta: float, mean_round_trip: float) -> float:
    """X (eq. 8): the window at the end of the round counts for the round."""
    return window_at_end(mean_factor, beta) / mean_round_trip


def packets_sent_rate(mean_factor: float, beta: float, mean_round_trip: float) -> float:
    """What is sent a second if the window is sent once a round while it grows: X less beta / (2 E[R])."""
    return window_over_time(mean_factor, beta) / mean_round_trip


def decrease_rate(transform: Transform, loss_rate: float, mean_round_trip: float) -> float:
    """lambda', decreases a second, A1.i."""
    return (1.0 - transform(loss_rate)) / mean_round_trip


def decrease_probability(transform: Transform, loss_rate: float, gamma: float, beta: float) -> float:
    """p, A1.i: decreases a packet."""
    lossy = 1.0 - transform(loss_rate)
    return (1.0 - gamma) / beta * lossy * lossy


def square_root_throughput(p: float, gamma: float, beta: float, mean_round_trip: float) -> float:
    """X of p, A1.i."""
    return math.sqrt(beta / ((1.0 - gamma) * p)) / mean_round_trip


def implicit_throughput(transform: Transform, p: float, gamma: float, beta: float, mean_round_trip: float) -> float:
    """X of p, A1.ii: the root of X E[R] (1 - R*(p X (1 - gamma))) = beta, by bisection."""

    def excess(x: float) -> float:
        return x * mean_round_trip * (1.0 - transform(p * x * (1.0 - gamma))) - beta

    low, high = 0.0, 1.0
    while excess(high) < 0.0:
        low, high = high, 2.0 * high
    for _ in range(200):
        middle = (low + high) / 2.0
        if excess(middle) < 0.0:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


# The factor of a round (section 3.1.1, A1.ii): P(N = k) losses in it, by the law of R


def poisson_count(k: int, mean: float) -> float:
    """R constant."""
    probability = math.exp(-mean)
    for n in range(1, k + 1):
        probability *= mean / n
    return probability


def geometric_count(k: int, mean: float) -> float:
    """R exponential: an exponential race of the next loss with the end of the round."""
    loss_first = mean / (1.0 + mean)
    return (1.0 - loss_first) * loss_first**k


def negative_binomial_count(k: int, mean: float, shape: float) -> float:
    """R gamma."""
    loss_first = mean / (shape + mean)
    probability = math.pow(1.0 - loss_first, shape)
    for n in range(1, k + 1):
        probability *= (shape + n - 1) / n * loss_first
    return probability


def mixed_count(k: int, loss_rate: float, samples: Sequence[float]) -> float:
    """R one of some values, each as likely."""
    return math.fsum(poisson_count(k, loss_rate * r) for r in samples) / len(samples)


# Theorem 1: the recursion (1) itself, from any start


def window_after(start: float, factors: Sequence[float], beta: float) -> float:
    window = start
    for factor in factors:
        window = factor * window + beta
    return window


# Round trips that a Markov chain modulates (sections 3.1.2, 3.2.2)


def solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Gaussian elimination with row exchange."""
    size = len(right)
    rows = [[*map(float, row), float(value)] for row, value in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(column + 1, size):
            factor = rows[row][column] / rows[column][column]
            for k in range(column, size + 1):
                rows[row][k] -= factor * rows[column][k]
    result = [0.0] * size
    for row in reversed(range(size)):
        known = sum(rows[row][k] * result[k] for k in range(row + 1, size))
        result[row] = (rows[row][size] - known) / rows[row][row]
    return result


def stationary(transitions: Sequence[Sequence[float]]) -> list[float]:
    """Solve pi = pi P with sum 1: the last balance equation gives way to the sum."""
    size = len(transitions)
    matrix = [[transitions[i][j] - (1.0 if i == j else 0.0) for i in range(size)] for j in range(size)]
    matrix[-1] = [1.0] * size
    return solve(matrix, [0.0] * (size - 1) + [1.0])


def chain_windows(
    transitions: Sequence[Sequence[float]], pi: Sequence[float], factors: Sequence[float], beta: float
) -> list[float]:
    """w_j = E[W; state j], from w_j = sum_i a_i w_i P_ij + pi_j beta.

    The matrix is I less the transpose of (a_i P_ij); equation (5) prints it without the transpose, which contradicts
    the derivation above it.
    """
    size = len(pi)
    matrix = [[(1.0 if i == j else 0.0) - factors[i] * transitions[i][j] for i in range(size)] for j in range(size)]
    return solve(matrix, [beta * share for share in pi])


def rare_loss_window(
    transitions: Sequence[Sequence[Fraction]],
    means: Sequence[Fraction],
    squares: Sequence[Fraction],
    loss_rate: Fraction,
    gamma: Fraction,
) -> float:
    """E[W] for beta = 1 under A1.i in fractions, where 1 - R* is s E[R] - s^2 E[R^2] / 2 to all digits."""
    size = len(means)
    factors = [
        1 - (1 - gamma) * (loss_rate * mean - loss_rate**2 * square / 2)
        for mean, square in zip(means, squares, strict=True)
    ]
    balance = [[transitions[i][j] - (1 if i == j else 0) for i in range(size)] for j in range(size)]
    balance[-1] = [Fraction(1)] * size
    pi = exactly(balance, [Fraction(0)] * (size - 1) + [Fraction(1)])
    matrix = [[(1 if i == j else 0) - factors[i] * transitions[i][j] for i in range(size)] for j in range(size)]
    return float(sum(exactly(matrix, pi)))


def exactly(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """Gauss and Jordan, in fractions."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = next(row for row in range(column, size) if rows[row][column] != 0)
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(size):
            if row != column:
                factor = rows[row][column] / rows[column][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def chain_throughput(windows: Sequence[float], pi: Sequence[float], means: Sequence[float]) -> float:
    return sum(windows) / sum(share * mean for share, mean in zip(pi, means, strict=True))


def chain_window_over_time(
    transitions: Sequence[Sequence[float]],
    pi: Sequence[float],
    factors: Sequence[float],
    means: Sequence[float],
    beta: float,
) -> float:
    """E[W(t)]: beta / 2 + E[R_1 A_0 W_0] / E[R]."""
    windows = chain_windows(transitions, pi, factors, beta)
    size = len(pi)
    integral = 0.0
    for i in range(size):
        for j in range(size):
            integral += windows[i] * factors[i] * transitions[i][j] * means[j]
    return beta / 2.0 + integral / sum(pi[j] * means[j] for j in range(size))


def chain_packets_sent_rate(
    windows: Sequence[float], pi: Sequence[float], means: Sequence[float], beta: float
) -> float:
    """What is sent a second: beta / 2 a round less than the window at its end."""
    return (sum(windows) - beta / 2.0) / sum(share * mean for share, mean in zip(pi, means, strict=True))


def chain_decrease_rate(pi: Sequence[float], no_loss: Sequence[float], means: Sequence[float]) -> float:
    """Decreases a second under A1.i."""
    lossy = sum(share * (1.0 - empty) for share, empty in zip(pi, no_loss, strict=True))
    return lossy / sum(share * mean for share, mean in zip(pi, means, strict=True))


# Fits to a trace (section 6.2); decrease A1.i


def fixed_fit(samples: Sequence[float], loss_rate: float, gamma: float, beta: float) -> float:
    """X with the mean round trip alone."""
    mean = math.fsum(samples) / len(samples)
    return beta / (1.0 - gamma) / (mean * -math.expm1(-loss_rate * mean))


def variable_fit(samples: Sequence[float], loss_rate: float, gamma: float, beta: float) -> float:
    """X with the distribution of the samples, taken as independent."""
    mean = math.fsum(samples) / len(samples)
    lossy = math.fsum(-math.expm1(-loss_rate * r) for r in samples) / len(samples)
    return beta / (1.0 - gamma) / (mean * lossy)


def two_states(samples: Sequence[float], threshold: float) -> list[int]:
    """1 (ON) from the threshold on, 0 (OFF) below it."""
    return [1 if r >= threshold else 0 for r in samples]


def threshold_after(samples: Sequence[float], share: float) -> float:
    """The smallest round trip of the ON state, which is what is above the first 85% of the ordered samples."""
    return sorted(samples)[int(share * len(samples) + 1e-9)]


def two_state_chain(states: Sequence[int]) -> tuple[list[list[float]], list[float]]:
    """P by p_ij = N_ij / N_i, and pi by N_i / N, as section 6.2 counts them (the last sample has no successor)."""
    counts = [states.count(0), states.count(1)]
    off_to_on = sum(1 for now, then in pairwise(states) if (now, then) == (0, 1))
    on_to_off = sum(1 for now, then in pairwise(states) if (now, then) == (1, 0))
    leave_off, leave_on = off_to_on / counts[0], on_to_off / counts[1]
    transitions = [[1.0 - leave_off, leave_off], [leave_on, 1.0 - leave_on]]
    return transitions, [count / len(states) for count in counts]


def two_state_fit(samples: Sequence[float], threshold: float, loss_rate: float, gamma: float, beta: float) -> float:
    """X of the two-state chain; within a state the round trip has the distribution of the state's samples."""
    states = two_states(samples, threshold)
    transitions, pi = two_state_chain(states)
    factors = []
    for state in (0, 1):
        own = [r for r, its in zip(samples, states, strict=True) if its == state]
        no_loss = sample_transform(loss_rate, own)
        factors.append(gamma + (1.0 - gamma) * no_loss)
    windows = chain_windows(transitions, pi, factors, beta)
    return sum(windows) / (math.fsum(samples) / len(samples))


def two_state_fit_constant(
    samples: Sequence[float], threshold: float, loss_rate: float, gamma: float, beta: float
) -> float:
    """X of the two-state chain; within a state the round trip is the mean of the state's samples."""
    states = two_states(samples, threshold)
    transitions, pi = two_state_chain(states)
    factors = []
    for state in (0, 1):
        own = [r for r, its in zip(samples, states, strict=True) if its == state]
        factors.append(gamma + (1.0 - gamma) * math.exp(-loss_rate * math.fsum(own) / len(own)))
    return sum(chain_windows(transitions, pi, factors, beta)) / (math.fsum(samples) / len(samples))
