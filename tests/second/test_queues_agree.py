"""ackclock.models.queues against the second implementation, over random inputs."""

import numpy as np
import pytest

from ackclock.models import queues
from second import queues_second as second

RANDOM = np.random.default_rng(8033)
N = 300
RATE = 10 ** RANDOM.uniform(2.0, 5.0, N)
RTT = 10 ** RANDOM.uniform(-2.0, -0.3, N)
ADD = 10 ** RANDOM.uniform(-0.5, 0.5, N)
BETA = RANDOM.uniform(0.4, 0.85, N)
STEEP = 10 ** RANDOM.uniform(-1.0, 0.5, N)
BUFFER = RATE * RTT * RANDOM.uniform(0.0, 2.0, N)


def fields(found: queues.Sawtooth) -> np.ndarray:
    return np.array([found.utilisation, found.mean_queue, found.period, found.loss_fraction]).T


def test_the_sawtooth_of_additive_increase() -> None:
    expected = [second.aimd_at_buffer(*row) for row in zip(BUFFER, RATE, RTT, ADD, BETA, strict=True)]
    found = queues.aimd_sawtooth(BUFFER, RATE, RTT, ADD, BETA)
    np.testing.assert_allclose(fields(found), expected, rtol=1e-3, atol=1e-9)
    full = queues.lone_flow_buffer(RATE, RTT, BETA)
    assert np.allclose(queues.aimd_sawtooth(full, RATE, RTT, ADD, BETA).utilisation, 1.0)
    assert (queues.aimd_sawtooth(0.99 * full, RATE, RTT, ADD, BETA).utilisation < 1.0 - 1e-6).all()


def test_the_sawtooth_of_cubic() -> None:
    found = queues.cubic_sawtooth(BUFFER, RATE, RTT, STEEP, BETA, fast_convergence=False)
    expected = np.array([second.cubic_at_buffer(*row) for row in zip(BUFFER, RATE, RTT, STEEP, BETA, strict=True)])
    np.testing.assert_allclose(fields(found), expected, rtol=2e-3, atol=1e-3)
    reno = queues.aimd_sawtooth(BUFFER, RATE, RTT, 3.0 * (1.0 - BETA) / (1.0 + BETA), BETA)
    assert 0.1 < (found.period == reno.period).mean() < 0.9


def test_the_sawtooth_of_cubic_with_fast_convergence() -> None:
    few = slice(0, 40)
    rows = (BUFFER[few], RATE[few], RTT[few], STEEP[few], BETA[few])
    found = fields(queues.cubic_sawtooth(*rows))
    expected = np.array([second.converging_cubic_at_buffer(*row) for row in zip(*rows, strict=True)])
    np.testing.assert_allclose(found[:, 0], expected[:, 0], atol=2e-3)
    np.testing.assert_allclose(found[:, 1], expected[:, 1], rtol=0.02, atol=0.01 * (RATE * RTT + BUFFER)[few].max())
    np.testing.assert_allclose(found[:, 2:], expected[:, 2:], rtol=0.01)


POLICED = 16
PIPE = 10 ** RANDOM.uniform(1.2, 3.0, POLICED)
TRIP = 10 ** RANDOM.uniform(-2.0, -0.7, POLICED)
BURST = PIPE * 10 ** RANDOM.uniform(-1.0, 0.7, POLICED) + 4.0


def test_a_flow_of_reno_s_kind_through_a_policer() -> None:
    kept = RANDOM.uniform(0.4, 0.7, POLICED)
    found = queues.policed_aimd(PIPE / TRIP, BURST, TRIP, 1.0, kept)
    rows = zip(PIPE / TRIP, BURST, TRIP, np.ones(POLICED), kept, strict=True)
    ends = [second.aimd_through_policer(*row) for row in rows]
    throughput, lost, peak = np.array(ends).T
    np.testing.assert_allclose(found.throughput, throughput, rtol=0.01)
    np.testing.assert_allclose(found.largest_window, peak, rtol=0.02)
    np.testing.assert_allclose(found.loss_fraction, lost, rtol=0.05, atol=1e-4)
    is_full = found.tokens > 0.999 * BURST
    assert 0.2 < is_full.mean() < 0.9
    np.testing.assert_allclose(found.throughput[~is_full], (PIPE / TRIP)[~is_full], rtol=1e-9)


def test_a_cubic_flow_through_a_policer() -> None:
    pipe, trip = 10 ** RANDOM.uniform(2.3, 4.0, 12), 10 ** RANDOM.uniform(-1.5, -0.7, 12)
    burst = pipe * 10 ** RANDOM.uniform(-1.0, 0.7, 12)
    found = queues.policed_cubic(pipe / trip, burst, trip)
    compared = 0
    for index, (rate, tokens, time) in enumerate(zip(pipe / trip, burst, trip, strict=True)):
        expected = second.cubic_through_policer(rate, tokens, time, 0.4, 0.7)
        if expected is not None:
            compared += 1
            assert found.throughput[index] == pytest.approx(expected[0], rel=0.005)
            assert found.largest_window[index] == pytest.approx(expected[2], rel=0.005)
            assert found.loss_fraction[index] == pytest.approx(expected[1], rel=0.05, abs=1e-5)
    assert compared >= 6


def test_codel_s_count_and_the_time_to_it() -> None:
    for interval in (0.1, 0.02):
        drops = second.times_of_drops(3000, interval)
        counts = np.arange(1, 3001)
        np.testing.assert_allclose(queues.codel_time_to_count(counts, interval), drops, rtol=1e-9)
        np.testing.assert_allclose(1.0 / queues.codel_drop_rate(counts[1:-1], interval), np.diff(drops)[1:], rtol=1e-9)


def test_codel_s_steady_state() -> None:
    flows, goal, interval = 10 ** RANDOM.uniform(0.0, 1.5, N), 10 ** RANDOM.uniform(-3.0, -1.0, N), 0.1
    for growth in ("reno", "cubic"):
        found = queues.codel_state(flows, RATE, RTT, goal, interval, growth=growth)
        steep = 0.4 if growth == "cubic" else None
        trip = RTT + goal
        loss = np.array(
            [second.loss_for_window(w, r, steep, 0.7) for w, r in zip(RATE * trip / flows, trip, strict=True)]
        )
        np.testing.assert_allclose(found.drop_probability, loss, rtol=1e-3)
        steady = found.count >= 1.0
        assert 0.1 < steady.mean() < 0.95
        rate = queues.codel_drop_rate(found.count[steady], interval)
        np.testing.assert_allclose(rate, (loss * RATE)[steady], rtol=1e-3)
        np.testing.assert_allclose(
            found.settling_time[steady], queues.codel_time_to_count(found.count[steady], interval), rtol=1e-12
        )


def test_the_queue_at_which_codel_cuts_the_window_of_a_lone_flow() -> None:
    rows = (RATE[:30], RTT[:30], RANDOM.uniform(1e-3, 0.05, 30), RANDOM.uniform(0.01, 0.3, 30), ADD[:30])
    expected = [second.queue_at_reaction(*row) for row in zip(*rows, strict=True)]
    np.testing.assert_allclose(queues.codel_lone_buffer(*rows), expected, rtol=1e-3)


LOOPS = 40
FLOWS = 10 ** RANDOM.uniform(0.0, 1.5, LOOPS)
PI_RATE, PI_RTT = 10 ** RANDOM.uniform(3.0, 5.0, LOOPS), 10 ** RANDOM.uniform(-2.0, -0.7, LOOPS)
GOAL = 10 ** RANDOM.uniform(-2.5, -1.3, LOOPS)
ALPHA, UPDATE = 10 ** RANDOM.uniform(-2.0, 0.5, LOOPS), 10 ** RANDOM.uniform(-2.3, -1.3, LOOPS)


@pytest.mark.parametrize("controller", ["pi", "pie", "pi2", "pi2-scalable"])
def test_the_pi_loop(controller: queues.Controller) -> None:
    beta = 10.0 * ALPHA
    found = queues.pi_loop(FLOWS, PI_RATE, PI_RTT, GOAL, controller, alpha=ALPHA, beta=beta, update_interval=UPDATE)
    links, parameters = zip(FLOWS, PI_RATE, PI_RTT, strict=True), zip(ALPHA, beta, UPDATE, strict=True)
    rows = zip(links, GOAL, parameters, strict=True)
    loops = [second.open_loop(*row, controller) for row in rows]
    expected = [second.margins(loop, trip) for loop, trip in zip(loops, PI_RTT + GOAL, strict=True)]
    crossover, phase, gain = np.array(expected).T
    np.testing.assert_allclose(found.crossover, crossover, rtol=1e-4)
    # A phase that turns many times in a round trip is less exact in the table.
    np.testing.assert_allclose(found.phase_margin, phase, rtol=1e-3, atol=0.05)
    np.testing.assert_allclose(found.gain_margin, gain, atol=0.05)


def test_a_loop_is_stable_where_a_disturbance_of_the_fluid_dies_out() -> None:
    scale = np.array([0.02, 0.3, 0.7, 2.0, 10.0])
    found = queues.pi_loop(20.0, 833.0, 0.1, 0.015, "pi", alpha=0.125 * scale, beta=1.25 * scale, update_interval=0.005)
    link = (20.0, 833.0, 0.1)
    grows = [second.disturbance_grows(link, 0.015, (one, 10.0 * one, 0.005)) for one in 0.125 * scale]
    assert (~found.is_stable).tolist() == grows
    assert {*grows} == {True, False}


def test_coupled_queues() -> None:
    n_c, n_l, k = 10 ** RANDOM.uniform(0.0, 2.0, N), 10 ** RANDOM.uniform(0.0, 2.0, N), RANDOM.uniform(0.5, 4.0, N)
    other = RTT * 10 ** RANDOM.uniform(-1.0, 1.0, N)
    found = queues.coupled_rates(n_c, n_l, RATE, RTT, other, coupling=k, increase=ADD, remainder=BETA)
    flows, trips = zip(n_c, n_l, strict=True), zip(RTT, other, strict=True)
    rows = zip(flows, RATE, trips, k, zip(ADD, BETA, strict=True), strict=True)
    expected = [second.coupled(*row) for row in rows]
    base, classic, scalable = np.array(expected).T
    np.testing.assert_allclose(found.base_probability, base, rtol=1e-9)
    np.testing.assert_allclose(found.classic_rate, classic, rtol=1e-9)
    np.testing.assert_allclose(found.scalable_rate, scalable, rtol=1e-9)
    np.testing.assert_allclose(found.ratio, scalable / classic, rtol=1e-9)
    equal = queues.coupling_for_equal_rates(RTT, other, ADD, BETA)
    found = queues.coupled_rates(n_c, n_l, RATE, RTT, other, coupling=equal, increase=ADD, remainder=BETA)
    np.testing.assert_allclose(found.ratio, 1.0, rtol=1e-12)
