"""ackclock.models.abrupt_delay against the second implementation, over thousands of random inputs."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import ArrayLike

from ackclock.models import abrupt_delay
from ackclock.models.domain import FloatArray
from second import abrupt_delay_second as second

RANDOM = np.random.default_rng(21_000)
N = 2000
STEPS = 1200
# Powers of two and their multiples: the sums of both sides are exact, and many events fall together.
WINDOW = RANDOM.integers(1, 25, STEPS)
MU = 2.0 ** RANDOM.integers(0, 4, STEPS)
T1 = RANDOM.integers(4, 120, STEPS) / 4 / MU
# Half of the steps go up or down by anything, the others down.
T2 = np.where(
    RANDOM.random(STEPS) < 0.5, RANDOM.integers(4, 160, STEPS), 4 + np.floor(RANDOM.random(STEPS) * (4 * MU * T1 - 4))
)
T2 = T2 / 4 / MU
# Half of the steps anywhere in the round, the others in its busy period.
X = RANDOM.random(STEPS) * np.where(RANDOM.random(STEPS) < 0.5, T1, np.minimum(T1, WINDOW / MU))
X = np.floor(X * MU * 4) / 4 / MU
SILENCE = np.maximum(T1 - (WINDOW - 1) / MU, 1 / MU)
RTO = SILENCE + RANDOM.integers(0, 40, STEPS) / 4 / MU
D = RANDOM.choice([1, 2, 2, 3, 3, 3, 4, 6, 9, math.inf], STEPS)
CASES = [
    second.Step(int(w), mu, t1, t2, x)
    for w, mu, t1, t2, x in zip(WINDOW, MU.tolist(), T1.tolist(), T2.tolist(), X.tolist(), strict=True)
]


def close(found: ArrayLike, expected: float | list[float]) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-11)


def chain(states: int) -> FloatArray:
    # Every state may follow every other: irreducible.
    weights = RANDOM.uniform(0.01, 1.0, (states, states))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def test_two_states_in_turn() -> None:
    t, x, w = RANDOM.uniform(0.01, 2.0, (N, 2)), RANDOM.uniform(0.01, 9.0, (N, 2)), RANDOM.uniform(1.0, 99.0, N)
    found = abrupt_delay.round_trip_process(t, x)
    goodput = abrupt_delay.ideal_goodput(w, t, found.mean_holding_times).printed
    for row, ((t1, t2), (x1, x2)) in enumerate(zip(t.tolist(), x.tolist(), strict=True)):
        stays = [second.stay_mean(t1, 1 / x1), second.stay_mean(t2, 1 / x2)]
        close(found.mean_holding_times[row], stays)
        close(found.holding_time_deviations[row] ** 2, [second.stay_variance(1 / x1), second.stay_variance(1 / x2)])
        close(found.proportions[row], second.proportions(stays))
        close(found.transition_rate[row], 2 / sum(stays))
        close(goodput[row], second.ideal_goodput([t1, t2], stays, w[row]))


def test_equal_holding_time_factors() -> None:
    t, h, w = RANDOM.uniform(0.01, 2.0, (N, 2)), RANDOM.uniform(0.01, 99.0, N), RANDOM.uniform(1.0, 99.0, N)
    found = abrupt_delay.ideal_goodput_of_factor(w, t, h).printed
    parts = abrupt_delay.round_trip_process_of_factor(t, h).proportions
    for row, (t1, t2) in enumerate(t.tolist()):
        close(found[row], second.ideal_goodput_with_equal_factors(t1, t2, w[row]))
        close(parts[row], second.proportions([(1 + h[row]) * t1, (1 + h[row]) * t2]))


@pytest.mark.parametrize("states", [2, 3, 5])
def test_several_states(states: int) -> None:
    for _ in range(60):
        t, x, matrix = RANDOM.uniform(0.01, 2.0, states), RANDOM.uniform(0.01, 9.0, states), chain(states)
        found = abrupt_delay.round_trip_process(t, x, matrix)
        stays = [second.stay_mean(*pair) for pair in zip(t.tolist(), (1 / x).tolist(), strict=True)]
        # Elimination in floats there, in fractions here.
        parts = second.proportions(stays, matrix.tolist())
        np.testing.assert_allclose(found.proportions, parts, rtol=1e-9)
        goodput = abrupt_delay.ideal_goodput(12, t, found.mean_holding_times, transitions=matrix).printed
        np.testing.assert_allclose(goodput, second.ideal_goodput(t.tolist(), stays, 12, matrix.tolist()), rtol=1e-9)


@pytest.mark.parametrize("recommended", [False, True])
def test_timeouts_and_their_minimum(recommended: bool) -> None:
    at_minimum = 0
    for _ in range(400):
        samples = RANDOM.uniform(0.01, 10 ** RANDOM.uniform(-1.5, 1.0), int(RANDOM.integers(1, 40))).tolist()
        k, tick = float(RANDOM.choice([2, 4])), float(RANDOM.uniform(0.0, 1.0))
        found = abrupt_delay.rto_after(samples, k, tick, minimum_timeout=1.0 if recommended else 0.0)
        expected = second.rto(samples, k, tick, recommended)
        close(found.smoothed_round_trip, second.smoothed(samples))
        close(found.rto, expected)
        at_minimum += expected == 1.0
    assert (at_minimum > 40) == recommended


def wrong_cases(found: list[object], expected: list[object]) -> str:
    wrong = [n for n in range(STEPS) if found[n] != expected[n]]
    shown = "\n".join(f"{CASES[n]} rto={RTO[n]} D={D[n]}: {found[n]} not {expected[n]}" for n in wrong[:8])
    return shown and f"{len(wrong)} of {STEPS}:\n{shown}"


def or_nan(instant: Fraction | None) -> str:
    return "never" if instant is None else f"{float(instant):.9g}"


def test_packets_before_the_step() -> None:
    found = abrupt_delay.step_in_round(WINDOW, MU, T1, X).packets_before.tolist()
    seen = [second.watch(case, rounds=0).before_step for case in CASES]
    assert not wrong_cases(found, list(map(float, seen)))


def test_spurious_timeouts() -> None:
    step = abrupt_delay.step_in_round(WINDOW, MU, T1, X)
    found = abrupt_delay.spurious_timeout(step, T2, RTO)
    seen = [second.watch(case, rto=rto) for case, rto in zip(CASES, RTO.tolist(), strict=True)]
    assert 100 < sum(one.timeout is not None for one in seen) < STEPS - 100
    assert not wrong_cases(found.happens.tolist(), [one.timeout is not None for one in seen])
    instants = [f"{at:.9g}" if happens else "never" for at, happens in zip(found.instant, found.happens, strict=True)]
    assert not wrong_cases(list(instants), [or_nan(one.timeout) for one in seen])
    # A window without a second ACK shows no silence in the steady round.
    silences = [max(float(one.silence), steady) for one, steady in zip(seen, SILENCE.tolist(), strict=True)]
    assert not wrong_cases(found.silence.tolist(), list(silences))


def test_spurious_fast_retransmits() -> None:
    step = abrupt_delay.step_in_round(WINDOW, MU, T1, X)
    found = abrupt_delay.spurious_fast_retransmit(step, T2, D)
    seen = [second.watch(case, threshold=d) for case, d in zip(CASES, D.tolist(), strict=True)]
    assert 100 < sum(one.duplicates is not None for one in seen) < STEPS - 100
    assert not wrong_cases(found.duplicates.tolist(), [one.most_duplicates for one in seen])
    assert not wrong_cases(found.happens.tolist(), [one.duplicates is not None for one in seen])
    instants = [f"{at:.9g}" if happens else "never" for at, happens in zip(found.instant, found.happens, strict=True)]
    assert not wrong_cases(list(instants), [or_nan(one.duplicates) for one in seen])


def test_a_timer_for_each_packet_needs_the_whole_step() -> None:
    # The paper's T2 > T1 + Y1 is sufficient for the timer that each ACK restarts; one for each packet, never restarted,
    # is kinder to nobody: it runs out wherever T2 > RTO and the window fits the pipe.
    for case, rto in zip(CASES[:400], RTO.tolist(), strict=False):
        if case.window <= case.mu * case.t1 and case.t1 <= rto and case.t2 > case.t1:
            assert (second.watch(case, rto=rto, timer="per packet").timeout is not None) == (case.t2 > rto)


def test_the_round_trips_at_which_decisions_change() -> None:
    step = abrupt_delay.step_in_round(WINDOW, MU, T1, X)
    timeouts = abrupt_delay.timeout_round_trip_time(step, RTO).tolist()
    retransmits = abrupt_delay.fast_retransmit_round_trip_time(step, D).tolist()
    # The instants are whole quarters of a service: an eighth more or less passes none but the one looked for.
    for n in range(80):
        case, rto, d, late, early = CASES[n], float(RTO[n]), float(D[n]), timeouts[n], retransmits[n]
        eighth = 1 / case.mu / 8
        at, above = (second.watch(replace(case, t2=t2), rto=rto).timeout for t2 in (late, late + eighth))
        assert at is None
        assert above is not None
        if math.isnan(early):
            tried = [(4 + quarters) / 4 / case.mu for quarters in range(0, int(4 * case.mu * case.t1), 7)]
            assert all(second.watch(replace(case, t2=t2), threshold=d).duplicates is None for t2 in tried)
        else:
            at, below = (second.watch(replace(case, t2=t2), threshold=d).duplicates for t2 in (early, early - eighth))
            assert at is None
            assert below is not None
