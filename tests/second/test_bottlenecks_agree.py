"""`ackclock.models.bottlenecks` against the second implementation, written from the paper alone by someone else.

Where W_B = W_th exactly the two differ by choice (the reason stands in the models above `double_slow_start`); such a
tie, and a burst within rounding of a power of two, has no weight among random numbers.
"""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from ackclock.models import bottlenecks as model
from second import bottlenecks_second as second

CASES = 3000


@dataclass(frozen=True)
class Case:
    nodes: list[tuple[float, float]]
    mu: float
    buffer: float
    t: float
    access: float | None
    alpha: float

    @property
    def rates(self) -> list[float]:
        return [*(rate for rate, _ in self.nodes), self.mu]

    @property
    def buffers(self) -> list[float]:
        return [*(buffer for _, buffer in self.nodes), self.buffer]

    @property
    def access_rate(self) -> float:
        return math.inf if self.access is None else self.access


def cases(least_nodes: int) -> list[Case]:
    """Paths as they come: unsorted, with links that the paper leaves out, long and short pipes."""
    draw = np.random.default_rng(3620)
    found = []
    for _ in range(CASES):
        mu = 10 ** draw.uniform(0, 4)
        nodes = [
            (float(mu * draw.uniform(1.0, 2.2)), float(10 ** draw.uniform(0.3, 2.5)))
            for _ in range(draw.integers(least_nodes, 6))
        ]
        buffer = float(10 ** draw.uniform(0.3, 2.5))
        t = float(10 ** draw.uniform(0.5, 3.5) / mu)
        access = None if draw.random() < 0.4 else float(mu * draw.uniform(1.0, 2.5))
        found.append(Case(nodes, float(mu), buffer, t, access, float(draw.random())))
    return found


PATHS = cases(0)
WITH_NODES = cases(1)


def test_bursts_and_the_first_overflow() -> None:
    for case in PATHS:
        sizes = second.burst_sizes(case.nodes, case.mu, case.buffer, case.access)
        assert model.burst_sizes(case.rates, case.buffers, case.access_rate) == pytest.approx(sizes)
        found = model.slow_start_overflow(case.rates, case.buffers, case.access_rate)
        smallest = second.smallest_burst(sizes)
        assert found.burst_size == pytest.approx(smallest)
        assert found.mini_cycle == second.mini_cycle(smallest)
        assert found.window == pytest.approx(second.overflow_window(smallest))
        assert found.node == (-1 if math.isinf(smallest) else second.first_overflow(sizes) - 1)


def test_windows_and_throughput() -> None:
    doubles = 0
    for case in PATHS:
        found = model.cycle(case.rates, case.buffers, case.t, case.access_rate, case.alpha)
        s_b = second.smallest_burst(second.burst_sizes(case.nodes, case.mu, case.buffer, case.access))
        w_b, w_th = second.overflow_window(s_b), second.threshold(case.mu, case.t, case.buffer)
        assert found.maximum_window == pytest.approx(second.largest_window(case.mu, case.t, case.buffer))
        assert found.threshold == pytest.approx(w_th)
        assert bool(found.double_slow_start) == second.is_double_slow_start(w_th, w_b)
        if found.double_slow_start:
            doubles += 1
            assert found.loss_window == pytest.approx(second.detection_window(w_th, w_b, s_b, case.alpha))
        if not math.isinf(s_b):
            assert found.avoidance_window == pytest.approx(second.avoidance_start(w_th, w_b, s_b, case.alpha))
        tail = model.throughput(case.mu, case.t, case.buffer, s_b)
        assert tail.printed == pytest.approx(second.throughput(case.mu, case.t, case.buffer, w_b))
        assert tail.capped == pytest.approx(second.capped_throughput(case.mu, case.t, case.buffer, w_b))
    assert CASES / 5 < doubles < CASES * 4 / 5


@pytest.mark.parametrize("behind_access_link", [False, True])
def test_equivalent_node(behind_access_link: bool) -> None:
    slow = 0
    for case in WITH_NODES:
        access = case.access if behind_access_link else None
        found = model.equivalent_node(case.rates, case.buffers, math.inf if access is None else access)
        rate, buffer, size = second.equivalent_node(case.nodes, case.mu, access)
        assert found.rate == pytest.approx(rate)
        assert found.burst_size == pytest.approx(size)
        # No queue before the bottleneck: inf less inf in the second, no limit to B' in the first.
        assert found.buffer == (math.inf if math.isnan(buffer) else pytest.approx(buffer))
        slow += access is not None and access < 2 * case.mu
    assert (slow > CASES / 5) == behind_access_link


def test_the_equivalent_node_has_the_burst_size_of_the_nodes_it_replaces() -> None:
    for case in WITH_NODES:
        found = model.equivalent_node(case.rates, case.buffers, case.access_rate)
        # The bottleneck's own S differs where no node is slower than 2 mu, which the simplified model does not have.
        bursts = model.two_node_bursts(case.mu, found.rate, case.buffer, found.buffer, case.access_rate)
        assert bursts.intermediate == pytest.approx(found.burst_size)
        sizes = second.burst_sizes(case.nodes, case.mu, case.buffer, case.access)
        assert min(bursts.bottleneck, bursts.intermediate) == pytest.approx(second.smallest_burst(sizes))


def test_the_drop_factor_in_the_condition_for_the_loss_of_the_retransmission() -> None:
    full = 0
    for case in PATHS:
        threshold = second.threshold(case.mu, case.t, case.buffer)
        found = model.retransmission_loss(case.rates, case.buffers, threshold, case.access_rate, case.alpha)
        expected = second.retransmission_losses(case.nodes, case.mu, case.t, case.buffer, case.access, case.alpha)
        assert found.finds_full.tolist() == expected
        assert not found.possible.any()
        assert found.node == -1
        s_b = second.smallest_burst(second.burst_sizes(case.nodes, case.mu, case.buffer, case.access))
        if not math.isinf(s_b):
            w_b = second.overflow_window(s_b)
            assert found.detection_time == pytest.approx(second.detection_delay(s_b, case.mu, case.alpha))
            packets = second.packets_before_detection(s_b, threshold, w_b, case.alpha)
            assert found.packets == pytest.approx(packets)
        full += any(expected)
    assert full > CASES / 50


def test_loss_of_the_retransmission() -> None:
    losses = 0
    for case in PATHS:
        threshold = second.threshold(case.mu, case.t, case.buffer)
        found = model.retransmission_loss(case.rates, case.buffers, threshold, case.access_rate)
        expected = second.retransmission_losses(case.nodes, case.mu, case.t, case.buffer, case.access)
        assert found.possible.tolist() == expected
        place = second.retransmission_loss_place(case.nodes, case.mu, case.t, case.buffer, case.access)
        assert found.node == (-1 if place is None else place - 1)
        s_b = second.smallest_burst(second.burst_sizes(case.nodes, case.mu, case.buffer, case.access))
        if not math.isinf(s_b):
            assert found.detection_time == pytest.approx(second.detection_delay(s_b, case.mu))
            packets = second.packets_before_detection(s_b, threshold, second.overflow_window(s_b))
            assert found.packets == pytest.approx(packets)
        losses += place is not None
    assert losses > CASES / 20


def test_beta_and_the_rate_of_avoidance() -> None:
    for case in PATHS:
        assert model.avoidance_rate(case.buffer, case.mu) == pytest.approx(second.avoidance_rate(case.mu, case.buffer))
        ratio = 1.0 + case.alpha
        lost = case.buffer / (case.mu * case.t) < model.retransmission_loss_beta(ratio)
        assert lost == second.is_retransmission_lost_approximately(case.mu, case.t, case.buffer, ratio * case.mu)


def test_smallest_buffers() -> None:
    for case in PATHS:
        limit = float(model.minimum_bottleneck_buffer(case.mu, case.t))
        assert limit == pytest.approx(second.smallest_main_buffer_limit(case.mu, case.t))
        assert math.floor(limit) + 1 == second.smallest_buffer(case.mu, case.t)
        other = float(model.minimum_intermediate_buffer(case.mu, case.t, case.buffer))
        assert other == pytest.approx(second.smallest_buffer_limit(case.mu * case.t + case.buffer))
        assert math.floor(other) + 1 == second.smallest_other_buffer(case.mu, case.t, case.buffer)
        approximate = (
            model.minimum_bottleneck_buffer_approximate(case.mu, case.t),
            model.minimum_intermediate_buffer_approximate(case.mu, case.t, case.buffer),
        )
        assert approximate == pytest.approx(second.approximate_buffers(case.mu, case.t, case.buffer))


@pytest.mark.parametrize("approximate", [False, True])
def test_range_of_intermediate_rates(approximate: bool) -> None:
    solve = model.intermediate_rates_approximate if approximate else model.intermediate_rates
    found_some = 0
    for case in WITH_NODES:
        other = case.nodes[0][1]
        low, high = (float(end) for end in solve(case.mu, case.t, case.buffer, other))
        expected = second.range_without_double_slow_start(case.mu, case.t, case.buffer, other, approximate=approximate)
        if expected is None:
            assert math.isnan(low)
            assert math.isnan(high)
        else:
            found_some += 1
            assert (low, high) == pytest.approx(expected)
    assert CASES / 10 < found_some < CASES


def test_bursts_of_the_simplified_model() -> None:
    for case in WITH_NODES:
        middle, other = (1.0 + case.alpha) * case.mu, case.nodes[0][1]
        found = model.two_node_bursts(case.mu, middle, case.buffer, other)
        expected = second.burst_of_simplified(middle, case.mu, case.buffer, other)
        assert min(found.bottleneck, found.intermediate) == pytest.approx(expected)


def test_a_tie_of_threshold_and_overflow_is_a_choice() -> None:
    # S_B = 40 gives W_B = 52, and mu T + B = 104 gives W_th = 52. The paper's cases print 5/8 here, its sections 3/4.
    assert model.throughput(84.0, 1.0, 20.0, 40.0).printed == 104 * 3 / 4
    assert second.throughput(84.0, 1.0, 20.0, 52.0) == 104 * 5 / 8
    assert not second.is_double_slow_start(52.0, 52.0)
