"""ackclock.models.engset against the second implementation, over thousands of random inputs."""

import math
from fractions import Fraction

import numpy as np
import pytest

from ackclock.models import engset
from second import engset_second as second

CASES = 1000
CAPACITIES = np.array([128e3, 1.5e6, 2e6, 10e6, 50e6, 100e6, 1e9])


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng([20_140_306, seed])


def path_of(generator: np.random.Generator) -> tuple[float, list[float], float, engset.Path]:
    """Draw RTT_0, the capacities of three links, P, and the path of them."""
    capacities = generator.choice(CAPACITIES, 3).tolist()
    packet = float(generator.integers(40, 9001))
    delay, ack = float(generator.uniform(0.0, 0.5)), float(generator.integers(0, 81))
    path = engset.Path.from_propagation(delay, capacities, packet, ack)
    return second.round_trip_0(delay, packet, ack, capacities), capacities, packet, path


def test_laws_of_file_sizes() -> None:
    generator = random(1)
    for _ in range(CASES):
        mean, share = float(generator.uniform(5.0, 500.0)), float(generator.uniform(0.01, 0.5))
        alpha, least = float(generator.uniform(1.1, 5.0)), float(generator.integers(1, 4))
        omega = float(generator.uniform(0.01, 0.95)) * (mean - least) / (share * mean)
        x = float(3.0 + generator.exponential(3.0 * mean))
        low = int(least) + int(generator.integers(0, 200))
        high = low + int(generator.integers(0, 200))
        e = engset.Exponential.of_mean(mean, least)
        assert e.survival(x) == pytest.approx(second.survival_e(x, mean, least))
        assert e.tail_mean == pytest.approx(second.mean_above_e(mean, least))
        below, above = (second.survival_e(end, mean, least) for end in (low - 0.5, high + 0.5))
        assert e.proportion(low, high) == pytest.approx(second.share_between(below, above), abs=1e-14)
        ee = engset.ExponentialExponential.of_mean(mean, omega, least, share)
        assert ee.survival(x) == pytest.approx(second.survival_ee(x, mean, omega, least, share))
        assert ee.scale == pytest.approx(second.body_scale_ee(mean, omega, least, share))
        assert ee.tail_mean == pytest.approx(second.mean_above_ee(mean, omega, least, share))
        assert ee.mean == pytest.approx(mean)
        below, above = (second.survival_ee(end, mean, omega, least, share) for end in (low - 0.5, high + 0.5))
        assert ee.proportion(low, high) == pytest.approx(second.share_between(below, above), abs=1e-14)
        body = second.body_scale_ep(mean, least, alpha, share)
        if body <= 0.0:
            continue
        ep = engset.ExponentialPareto.of_mean(mean, least, share, alpha)
        assert ep.scale == pytest.approx(body)
        assert ep.tail_start == pytest.approx(second.tail_start(body, least, share))
        assert ep.survival(x) == pytest.approx(second.survival_ep(x, mean, least, alpha, share))
        assert ep.tail_mean == pytest.approx(second.mean_above_ep(mean, least, alpha, share))
        assert ep.mean == pytest.approx(mean)
        below, above = (second.survival_ep(end, mean, least, alpha, share) for end in (low - 0.5, high + 0.5))
        assert ep.proportion(low, high) == pytest.approx(second.share_between(below, above), abs=1e-14)


def test_paths_and_their_saturation() -> None:
    generator = random(2)
    for _ in range(CASES):
        rtt, capacities, packet, path = path_of(generator)
        times = [second.transmission_time(packet, capacity) for capacity in capacities]
        assert path.round_trip_time == pytest.approx(rtt)
        assert path.service_times.tolist() == pytest.approx(times)
        assert path.pipe_size == pytest.approx(second.pipe(rtt, max(times)))
        window = int(generator.integers(1, 100))
        found = engset.saturation(path, window)
        assert (found.ratio, found.saturated, found.queue) == pytest.approx(
            second.saturation(window, float(path.pipe_size))
        )


def test_flights() -> None:
    generator = random(3)
    for _ in range(CASES):
        size, window = int(generator.integers(1, 700)), int(generator.integers(1, 80))
        # Whole numbers are where the link is just saturated.
        beta = float(generator.integers(1, 60) if generator.random() < 0.5 else generator.uniform(1.0, 90.0))
        assert engset.flight_sizes(size, window, beta) == second.flights(size, window, beta)
        assert tuple(map(int, engset.rounds(size, window, beta))) == second.rounds(size, window, beta)


def test_the_single_connection() -> None:
    generator = random(4)
    for _ in range(CASES):
        rtt, capacities, packet, path = path_of(generator)
        size, window = int(generator.integers(3, 700)), int(generator.integers(1, 80))
        longest = max(second.transmission_time(packet, capacity) for capacity in capacities)
        m, n = second.rounds(size, window, float(path.pipe_size))
        on = second.on_0(m, n, rtt, longest)
        found = engset.transfer(path, size, window)
        assert found.on_time == pytest.approx(on)
        assert found.peak_rate == pytest.approx(second.peak_rate(size, packet, on))
        again = engset.renormalised(engset.rounds(size, window, path.pipe_size), path)
        assert tuple(map(int, again)) == second.renormalised(m, n, rtt, longest)


def test_state_probabilities_are_exact() -> None:
    generator = random(5)
    for _ in range(60):
        sources, off = int(generator.integers(1, 40)), Fraction(int(generator.integers(1, 100)), 20)
        on, ratio = Fraction(int(generator.integers(1, 100)), 50), Fraction(int(generator.integers(1, 400)), 17)
        # F P / C = ON_0 h_0 / C
        exact = second.states_exact(sources, math.floor(ratio), on, off, on / ratio)
        found = engset.state_probabilities(sources, float(on), float(off), float(ratio))
        assert found.tolist() == pytest.approx([float(p) for p in exact], rel=1e-12)


def test_state_probabilities_of_many_sources() -> None:
    generator = random(6)
    for _ in range(150):
        sources, off = int(generator.integers(40, 800)), float(generator.uniform(0.2, 20.0))
        on, ratio = float(generator.uniform(0.02, 5.0)), float(generator.uniform(0.3, 600.0))
        expected = second.states(sources, math.floor(ratio), on, off, on / ratio)
        found = engset.state_probabilities(sources, on, off, ratio)
        assert found == pytest.approx(np.array(expected), rel=1e-9, abs=1e-290)


def test_all_numbers_of_the_model() -> None:
    generator = random(7)
    compared = 0
    for _ in range(1000):
        rtt, capacities, packet, path = path_of(generator)
        size, window = int(generator.integers(3, 700)), int(generator.integers(2, 80))
        sources, off = int(generator.integers(1, 150)), float(generator.uniform(0.2, 10.0))
        buffer = float(generator.uniform(0.0, 500.0))
        found = engset.predict(path, size, sources, off_time=off, window=window, buffer=buffer)
        expected = second.whole_model(size, sources, off, window, packet, rtt, capacities)
        assert found.offered_load == pytest.approx(expected["rho0"])
        assert found.threshold == expected["s"]
        assert found.lone_on_time == pytest.approx(expected["on0"])
        if "queue" not in expected:
            assert not found.shared
            continue
        compared += 1
        names = {
            "active": found.active, "h1": found.rate_1, "h2": found.rate_2, "h": found.rate, "on": found.on_time,
            "rho1": found.utilisation_1, "rho2": found.utilisation_2, "rho": found.utilisation,
        }  # fmt: skip
        for name, value in names.items():
            assert value == pytest.approx(expected[name], rel=1e-9), name
        # ON less n Delta* less m RTT_0: what is left over may be small against either.
        queue, slack = expected["queue"], 1e-9 * expected["on"] * capacities[1] / packet
        assert found.mean_queue == pytest.approx(max(queue, 0.0), rel=1e-9, abs=slack)
        if queue > 1.0:
            assert found.loss == pytest.approx(second.loss_ratio(buffer, expected["rho2"], queue), rel=1e-6, abs=1e-300)
    assert compared > 300


def test_mean_sizes_that_are_not_whole() -> None:
    generator = random(10)
    shared = 0
    for _ in range(500):
        rtt, capacities, packet, path = path_of(generator)
        size, window = float(generator.uniform(3.0, 300.0)), int(generator.integers(2, 80))
        sources, off = int(generator.integers(1, 150)), float(generator.uniform(0.2, 10.0))
        m, n = second.mean_rounds(size, window, float(path.pipe_size))
        found = engset.transfer(path, size, window)
        assert tuple(found.rounds) == pytest.approx((m, n), abs=1e-9)
        assert found.on_time == pytest.approx(second.on_0(m, n, rtt, float(path.slowest_service_time)))
        whole = engset.predict(path, size, sources, off_time=off, window=window)
        expected = second.whole_model(size, sources, off, window, packet, rtt, capacities)
        assert whole.offered_load == pytest.approx(expected["rho0"])
        assert whole.threshold == expected["s"]
        if "queue" in expected:
            shared += 1
            assert whole.rate == pytest.approx(expected["h"], rel=1e-9)
            slack = 1e-9 * expected["on"] * capacities[1] / packet
            assert whole.mean_queue == pytest.approx(max(expected["queue"], 0.0), rel=1e-9, abs=slack)
    assert shared > 150


def test_the_rate_of_a_source_by_state() -> None:
    generator = random(11)
    for _ in range(CASES):
        peak, capacity = 10 ** generator.uniform(4.0, 8.0), 10 ** generator.uniform(4.0, 9.0)
        bits, active = float(generator.uniform(1e3, 1e7)), int(generator.integers(1, 400))
        expected = second.source_rate(active, peak, capacity, bits)
        assert engset.rate_in_state(active, peak, capacity) == pytest.approx(expected)


def losses_of_windows() -> list[tuple[int, list[int]]]:
    """Windows of up to 24 packets: the first lost, the second anywhere, more right behind it or at the end."""
    found = []
    for window in range(4, 25):
        for drops in range(2, min(window, 8)):
            for distance in range(1, window - drops + 2):
                rest = list(range(distance + 2, window + 1))
                more = drops - 2
                found += [(window, [1, 1 + distance, *some]) for some in (rest[:more], rest[len(rest) - more :])]
    return found


def test_reno_s_rule_as_printed() -> None:
    for window, lost in losses_of_windows():
        drops, distance = len(lost), lost[1] - lost[0]
        found = engset.reno_recovery(window, drops, distance)
        assert bool(found.timeout) == second.timeout_follows(window, drops, distance)
        assert not engset.reno_recovery(window, 1, distance).timeout


def test_reno_s_rule_is_not_what_the_rules_of_the_sender_give() -> None:
    # As printed the distance decides. Packet by packet the new packets do, unless the end of the recovery sends more.
    told, refuted = 0, 0
    for window, lost in losses_of_windows():
        drops, distance = len(lost), lost[1] - lost[0]
        again = second.second_retransmit_packet_by_packet(window, lost)
        found = engset.reno_recovery(window, drops, distance)
        if window - drops >= 3 and distance < window - drops:
            assert again == (found.new_packets >= 3)
        told += bool(found.timeout)
        refuted += bool(found.timeout) and again
    assert (told, refuted) == (620, 572)


def test_drops_that_the_patient_version_recovers() -> None:
    generator = random(12)
    for _ in range(CASES):
        timeout, round_trip = (Fraction(int(ms), 1000) for ms in generator.integers(1, 3000, 2))
        if round_trip * 10_000 > timeout:
            expected = second.patient_drops(timeout, round_trip)
            assert engset.patient_recovery_drops(float(timeout), float(round_trip)) == expected


def test_queues_and_buffers() -> None:
    generator = random(8)
    for _ in range(CASES):
        load, queue = float(generator.uniform(0.02, 1.0)), float(generator.uniform(0.1, 500.0))
        x, loss = float(generator.uniform(0.0, 600.0)), float(generator.uniform(1e-6, 0.02))
        exceeds = second.queue_exceeds(x, load, second.decay(queue, load))
        assert engset.exceedance(x, load, queue) == pytest.approx(exceeds)
        assert engset.buffer_for_loss(loss, load, queue) == pytest.approx(second.buffer_rule(load, queue, loss))


def test_the_queue_of_one_connection_packet_by_packet() -> None:
    """Exact while the link is not saturated; the paper approximates the queue from then on."""
    generator = random(9)
    unsaturated = 0
    for _ in range(400):
        size, window = int(generator.integers(1, 200)), int(generator.integers(2, 70))
        beta, off = Fraction(int(generator.integers(20, 2000)), 20), Fraction(int(generator.integers(0, 200)), 10)
        exact = second.single_connection(size, window, beta, Fraction(1))
        # One link of a packet a second.
        path = engset.Path(float(beta), [8000.0], 1000.0, multiplexing=0)
        assert engset.transfer(path, size, window).on_time == pytest.approx(float(exact["on"]))
        assert engset.course(path, size, window).acknowledged[-1] == pytest.approx(float(exact["on"]))
        found = engset.single_queue(path, size, window, float(off))
        if max(second.flights(size, window, float(beta))) <= math.floor(beta):
            unsaturated += 1
            assert sum(each.contribution for each in found.rounds) == pytest.approx(float(exact["area"]))
            expected = float(second.mean_contents(size, window, beta, Fraction(1), off))
            assert found.mean_queue == pytest.approx(expected)
    assert unsaturated > 100


def test_the_tables() -> None:
    """Tables 6 and 10 to the last printed digit."""
    for sources, rate, loss in ((82, 547.8, 0.03), (98, 344.6, 4.91), (115, 219.5, 22.0), (134, 154.9, 38.3)):
        found = second.whole_model(12, sources, 1.0, 44, 1500.0, 0.05, [100e6, 10e6, 2e6])
        assert found["h"] / 1e3 == pytest.approx(rate, abs=0.05)
        digits = 0.05 if sources > 98 else 0.005
        assert 100 * second.loss_ratio(200, found["rho2"], found["queue"]) == pytest.approx(loss, abs=digits)
