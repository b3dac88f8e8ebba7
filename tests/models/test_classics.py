import math
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ackclock.errors import AckclockError, ModelError
from ackclock.models import classics
from ackclock.models.domain import FloatArray

LOSSES = [1e-4, 1e-3, 1e-2, 0.05, 0.1]
PFTK = [classics.pftk_sending_rate, classics.pftk_throughput, classics.pftk_approximate_rate]
Rate = Callable[..., FloatArray]

round_trips = st.floats(1e-3, 10.0)
losses = st.floats(1e-6, 0.4)
windows = st.floats(1.0, 1e5)
timeouts = st.floats(0.0, 60.0)
packets_per_ack = st.floats(1.0, 4.0)


def test_square_root_is_the_issue_s_number() -> None:
    assert f"{classics.square_root_rate(0.1, 0.01):.1f}" == "122.5"


def test_square_root_with_delayed_acks_has_the_constant_of_mathis() -> None:
    assert f"{classics.square_root_rate(1.0, 1.0, packets_per_ack=2):.2f}" == "0.87"


@pytest.mark.parametrize(
    ("b", "expected"),
    [(1, ["1209.73", "367.18", "91.50", "22.17", "10.03"]), (2, ["856.68", "260.81", "65.73", "16.48", "7.69"])],
)
def test_pftk_full_is_the_issue_s_table(b: int, expected: list[str]) -> None:
    found = classics.pftk_throughput(0.1, LOSSES, timeout=1.0, max_window=1e4, packets_per_ack=b)
    assert [f"{rate:.2f}" for rate in found] == expected


@pytest.mark.parametrize(("variation", "constant"), [(0.0, 1.5), (1.0, 2.0)])
def test_constants_of_deterministic_and_poisson_losses(variation: float, constant: float) -> None:
    assert classics.independent_loss_rate(1.0, 1.0, variation) == pytest.approx(math.sqrt(constant), rel=1e-15)
    assert classics.stationary_loss_rate(1.0, 1.0, [variation]) == pytest.approx(math.sqrt(constant), rel=1e-15)


def test_engset_s_textbook_example() -> None:
    # Iversen, Teletraffic Engineering Handbook: 4 sources, 3 servers, beta = 1/3
    found = classics.engset_congestion(4, 3, 1 / 3)
    assert found.time_congestion == pytest.approx(4 / 85, rel=1e-14)
    assert found.call_congestion == pytest.approx(1 / 64, rel=1e-14)
    assert found.traffic_congestion == pytest.approx(1 / 85, rel=1e-14)


def test_utilisation_is_the_one_printed_for_ten_thousand_flows() -> None:
    buffer = classics.many_flows_buffer(1e6, 0.1, 1e4)
    assert f"{100 * classics.many_flows_utilisation(buffer, 1e6, 0.1, 1e4):.2f}" == "98.99"


@pytest.mark.parametrize("rate", PFTK)
@pytest.mark.parametrize("p", [0.0, 1e-15])
def test_without_losses_the_window_alone_limits(rate: Rate, p: float) -> None:
    assert rate(0.1, p, timeout=1.0, max_window=20.0) == pytest.approx(200.0, rel=1e-9)


@pytest.mark.parametrize("rate", PFTK)
@pytest.mark.parametrize("b", [1.0, 2.0])
def test_pftk_is_the_square_root_where_losses_are_rare(rate: Rate, b: float) -> None:
    found = rate(0.1, 1e-10, timeout=1.0, max_window=1e9, packets_per_ack=b)
    assert found == pytest.approx(classics.square_root_rate(0.1, 1e-10, b), rel=1e-4)


@given(round_trips, losses, timeouts, windows, packets_per_ack)
def test_pftk_throughput_is_at_most_what_is_sent(rtt: float, p: float, t0: float, limit: float, b: float) -> None:
    sent = classics.pftk_sending_rate(rtt, p, t0, limit, b)
    assert 0 < classics.pftk_throughput(rtt, p, t0, limit, b) < sent * (1 + 1e-12)


@given(
    rtt=round_trips, p=losses, t0=st.floats(0.01, 60.0), limit=windows, b=packets_per_ack, factor=st.floats(1.01, 5.0)
)
def test_pftk_full_falls_with_the_timeout_and_the_round_trip(
    *, rtt: float, p: float, t0: float, limit: float, b: float, factor: float
) -> None:
    rate = classics.pftk_throughput(rtt, p, t0, limit, b)
    assert classics.pftk_throughput(rtt, p, t0 * factor, limit, b) <= rate
    assert classics.pftk_throughput(rtt * factor, p, t0, limit, b) <= rate


@given(
    rtt=round_trips, p=st.floats(1e-6, 0.1), t0=timeouts, limit=windows, b=packets_per_ack, factor=st.floats(1.01, 5.0)
)
def test_the_approximation_falls_with_losses_and_rises_with_the_window(
    *, rtt: float, p: float, t0: float, limit: float, b: float, factor: float
) -> None:
    rate = classics.pftk_approximate_rate(rtt, p, t0, limit, b)
    assert classics.pftk_approximate_rate(rtt, p * factor, t0, limit, b) <= rate
    assert classics.pftk_approximate_rate(rtt, p, t0, limit * factor, b) >= rate


@given(st.lists(st.floats(-0.4, 0.4), max_size=8), st.floats(0.0, 0.95))
def test_correlated_losses_as_the_recursion_of_the_window_has_them(weights: list[float], nu: float) -> None:
    # Times between losses as a moving average of independent ones: their covariances are known exactly, and the
    # throughput follows from the stationary window before a loss, E[X_n S_n] by its series.
    kernel = np.array([1.0, *weights])
    c = np.correlate(kernel, kernel, mode="full")[len(kernel) - 1 :] * 0.1
    second_moments = 1 + np.concatenate([c, np.zeros(2000)])
    lags = np.arange(1, len(second_moments))
    squared = second_moments[0] / 2 + np.sum(nu**lags * second_moments[1:])
    assert classics.stationary_loss_rate(1.0, 1.0, c, decrease=nu) ** 2 == pytest.approx(squared, rel=1e-9, abs=1e-12)


def test_stationary_losses_give_what_the_window_s_recursion_gives() -> None:
    times = np.repeat(np.random.default_rng(5).exponential(1.0, 40_000), 3)
    window, area = 0.0, 0.0
    for time in times:
        start = window / 2
        window = start + time
        area += (start + window) / 2 * time
    rate = area / np.sum(times)
    p = len(times) / area
    covariances = classics.normalised_covariances(times, lags=40)
    assert classics.stationary_loss_rate(1.0, p, covariances) == pytest.approx(rate, rel=1e-3)


def test_covariances_of_equal_intervals_are_zero() -> None:
    assert np.all(classics.normalised_covariances([2.0] * 5, lags=4) == 0.0)


def test_a_transfer_without_loss_takes_its_slow_start() -> None:
    found = classics.short_flow_latency(7, 0.1, 0.0, 1.0, 64)
    assert [float(part) for part in (found.recovery, found.avoidance, found.remaining_packets)] == [0.0, 0.0, 0.0]
    assert found.transfer == pytest.approx(0.3)
    assert classics.handshake_latency(0.1, 0.0) == 0.1
    assert found.slow_start_window == pytest.approx(4.0)


def test_the_receiver_s_window_prolongs_slow_start_by_whole_rounds() -> None:
    # windows of 1, 2, 4, 4, 4
    assert classics.short_flow_latency(15, 0.1, 0.0, 1.0, 4).slow_start == pytest.approx(0.5)
    # A first window as large as the receiver's does not grow.
    assert classics.short_flow_latency(40, 0.1, 0.0, 1.0, 10, initial_window=10).slow_start == pytest.approx(0.4)
    assert classics.short_flow_latency(40, 0.1, 0.0, 1.0, 10, initial_window=99).slow_start == pytest.approx(0.4)


def test_the_parts_of_a_short_transfer_add_up() -> None:
    found = classics.short_flow_latency(100, 0.1, 0.05, 1.0, 64, packets_per_ack=2, delayed_ack_time=0.1)
    parts = found.slow_start + found.recovery + found.avoidance + found.delayed_ack
    assert found.transfer == pytest.approx(parts, rel=1e-15)


def test_a_handshake_waits_for_the_lost_syns_of_both_directions() -> None:
    # (4), by the sum over the SYN's and the SYN/ACK's losses
    costs = [sum((1 - p) * p**k * (2**k - 1) * 3.0 for k in range(500)) for p in (0.05, 0.02)]
    assert classics.handshake_latency(0.1, 0.05, 0.02) == pytest.approx(0.1 + sum(costs), rel=1e-12)


def test_a_long_transfer_runs_at_the_throughput_of_pftk() -> None:
    time = classics.short_flow_latency(1e8, 0.1, 0.01, 1.0, 1e4).transfer
    assert 1e8 / time == pytest.approx(classics.pftk_throughput(0.1, 0.01, 1.0, 1e4), rel=1e-3)


@given(
    d=st.floats(1.0, 1e5),
    rtt=round_trips,
    p=st.floats(0.0, 0.3),
    t0=timeouts,
    limit=windows,
    b=packets_per_ack,
    w1=st.floats(1.0, 10.0),
)
def test_every_part_of_a_short_transfer_is_at_least_zero(
    *, d: float, rtt: float, p: float, t0: float, limit: float, b: float, w1: float
) -> None:
    found = classics.short_flow_latency(d, rtt, p, t0, limit, packets_per_ack=b, initial_window=w1)
    parts = [found.slow_start, found.recovery, found.remaining_packets, found.avoidance, found.delayed_ack]
    assert all(part >= 0 for part in parts)
    assert 1 - 1e-12 <= found.slow_start_packets <= d
    assert 0 <= found.loss_probability <= 1
    assert 0 < found.timeout_probability <= 1


def test_one_flow_needs_the_bandwidth_delay_product() -> None:
    assert classics.many_flows_buffer(1000.0, 0.1, 1) == pytest.approx(100.0, rel=1e-15)


@given(st.floats(0.0, 1e4), st.floats(1.0, 1e6), st.floats(1.01, 3.0))
def test_utilisation_rises_with_the_buffer_and_the_flows(buffer: float, n: float, factor: float) -> None:
    found = classics.many_flows_utilisation(buffer, 1e5, 0.1, n)
    assert 0 <= found <= 1
    assert classics.many_flows_utilisation(buffer * factor, 1e5, 0.1, n) >= found
    assert classics.many_flows_utilisation(buffer, 1e5, 0.1, n * factor) >= found


def test_a_job_alone_takes_its_own_time() -> None:
    found = classics.processor_sharing(20.0, 100.0, 0.0, 10.0)
    assert [float(part) for part in (found.response_time, found.slowdown, found.jobs)] == [0.2, 1.0, 0.0]


@given(st.floats(0.01, 0.99), st.floats(0.1, 100.0), st.floats(1.0, 1e6))
def test_jobs_that_share_obey_little_s_law(load: float, mean: float, capacity: float) -> None:
    found = classics.processor_sharing(mean, capacity, load * capacity / mean, mean)
    assert found.jobs == pytest.approx(load * capacity / mean * found.response_time, rel=1e-12)


def erlang_b(offered: float, servers: int) -> float:
    inverse = 1.0
    for k in range(1, servers + 1):
        inverse = 1.0 + k / offered * inverse
    return 1.0 / inverse


@pytest.mark.parametrize(("offered", "servers"), [(2.0, 5), (100.0, 100), (50.0, 80)])
def test_engset_becomes_erlang_with_many_sources(offered: float, servers: int) -> None:
    found = classics.engset_congestion(10**12, servers, offered / 1e12)
    assert found.time_congestion == pytest.approx(erlang_b(offered, servers), rel=1e-6)
    assert found.call_congestion == pytest.approx(erlang_b(offered, servers), rel=1e-6)
    assert found.busy_servers == pytest.approx(offered * (1 - erlang_b(offered, servers)), rel=1e-6)


@given(st.integers(1, 60), st.integers(1, 60), st.floats(1e-3, 50.0))
def test_engset_s_states_are_the_truncated_binomial(n: int, s: int, beta: float) -> None:
    weights = [math.comb(n, j) * beta**j for j in range(s + 1)]
    states = classics.engset_states(n, s, beta)
    assert states == pytest.approx([weight / math.fsum(weights) for weight in weights], rel=1e-11)


@given(st.integers(1, 60), st.integers(1, 60), st.floats(1e-3, 50.0))
def test_engset_s_congestion_follows_from_the_states(n: int, s: int, beta: float) -> None:
    states = classics.engset_states(n, s, beta)
    found = classics.engset_congestion(n, s, beta)
    calls = np.maximum(n - np.arange(s + 1), 0) * states
    busy = np.sum(states * np.arange(s + 1))
    assert found.time_congestion == pytest.approx(states[-1], rel=1e-11)
    assert found.call_congestion == pytest.approx(calls[-1] / np.sum(calls), rel=1e-11)
    assert found.busy_servers == pytest.approx(busy, rel=1e-11)
    assert found.traffic_congestion == pytest.approx(1 - busy * (1 + beta) / (n * beta), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("beta", [1e-4, 0.3, 1.0, 30.0])
def test_a_hundred_thousand_sources_neither_overflow_nor_lose_digits(beta: float) -> None:
    n = 100_000
    states = classics.engset_states(n, n, beta)
    numbers = np.arange(n + 1)
    busy = n * beta / (1 + beta)
    assert np.sum(states) == pytest.approx(1.0, rel=1e-12)
    assert np.sum(states * numbers) == pytest.approx(busy, rel=1e-9)
    assert np.sum(states * (numbers - busy) ** 2) == pytest.approx(busy / (1 + beta), rel=1e-8)


def test_congestion_of_a_hundred_thousand_sources_agrees_with_the_states() -> None:
    states = classics.engset_states(100_000, 24_000, 1 / 3)
    found = classics.engset_congestion(100_000, 24_000, 1 / 3)
    assert found.time_congestion == pytest.approx(states[-1], rel=1e-9)


def test_a_server_for_each_source_blocks_nobody() -> None:
    found = classics.engset_congestion([5, 5], [5, 10**9], 2.0)
    assert list(found.call_congestion) == [0.0, 0.0]
    assert found.time_congestion == pytest.approx([(2 / 3) ** 5, 0.0])


@given(st.integers(1, 200), st.integers(1, 50), st.floats(1e-3, 10.0))
def test_more_servers_block_less_and_calls_see_less_than_time(n: int, s: int, beta: float) -> None:
    found = classics.engset_congestion(n, [s, s + 1], beta)
    assert found.time_congestion[1] <= found.time_congestion[0]
    assert np.all(found.call_congestion <= found.time_congestion)


GRID = np.array([[0.1], [0.2], [0.4]])
LINE = np.array([1.0, 2.0, 3.0, 4.0])
BROADCASTS: list[Callable[..., Any]] = [
    classics.square_root_rate,
    lambda rtt, b: classics.pftk_sending_rate(rtt, 0.01, 1.0, 50.0, b),
    lambda rtt, b: classics.pftk_throughput(rtt, 0.01, 1.0, 50.0, b),
    lambda rtt, b: classics.pftk_approximate_rate(rtt, 0.01, 1.0, 50.0, b),
    lambda rtt, b: classics.independent_loss_rate(rtt, 0.01, b),
    lambda rtt, b: classics.stationary_loss_rate(rtt, 0.01, [1.0, 0.5], b),
    lambda rtt, b: classics.handshake_latency(rtt, b / 10.0),
    lambda rtt, b: classics.short_flow_latency(b * 10, rtt, 0.01, 1.0, 50.0).transfer,
    lambda rtt, b: classics.many_flows_buffer(b, rtt, 100.0),
    lambda rtt, b: classics.many_flows_utilisation(10.0, b, rtt, 100.0),
    lambda rtt, b: classics.processor_sharing(b, 100.0, rtt, 10.0).response_time,
    lambda rtt, b: classics.engset_congestion(10, b, rtt).call_congestion,
]


@pytest.mark.parametrize("model", BROADCASTS[1:])
def test_arguments_broadcast(model: Callable[..., Any]) -> None:
    table = model(GRID, LINE)
    assert table.shape == (3, 4)
    for row, column in np.ndindex(3, 4):
        one = model(float(GRID[row, 0]), float(LINE[column]))
        assert np.ndim(one) == 0
        assert one == pytest.approx(table[row, column], rel=1e-13)


def test_each_row_of_covariances_is_a_process_of_its_own() -> None:
    found = classics.stationary_loss_rate(0.1, [0.01, 0.02], [[1.0, 0.0], [1.0, 0.5]])
    each = [classics.stationary_loss_rate(0.1, 0.01, [1.0]), classics.stationary_loss_rate(0.1, 0.02, [1.0, 0.5])]
    assert found == pytest.approx(each)


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: classics.square_root_rate(-0.1, 0.01), ("round_trip_time", "-0.1", "> 0", "[s]")),
        (lambda: classics.square_root_rate(0.1, [0.01, 0.0]), ("loss_probability", "given 0", "> 0 and <= 1")),
        (lambda: classics.square_root_rate(0.1, math.nan), ("loss_probability", "nan", "> 0 and <= 1")),
        (lambda: classics.square_root_rate(0.1, 0.01, 0.5), ("packets_per_ack", "0.5", ">= 1")),
        (lambda: classics.pftk_throughput(0.1, 1.0, 1.0, 10.0), ("loss_probability", "given 1", "< 1")),
        (lambda: classics.pftk_sending_rate(0.1, 0.1, -1.0, 10.0), ("timeout", "-1", ">= 0")),
        (lambda: classics.pftk_approximate_rate(0.1, 0.1, 1.0, math.inf), ("max_window", "inf", "finite")),
        (lambda: classics.pftk_throughput(0.1, "much", 1.0, 10.0), ("loss_probability", "'much'", "not a number")),
        (lambda: classics.square_root_rate([0.1, 0.2], [0.1] * 3), ("round_trip_time", "(2,), (3,)", "broadcast")),
        (lambda: classics.short_flow_latency(0.0, 0.1, 0.0, 1.0, 10), ("packets", "given 0", ">= 1")),
        (lambda: classics.short_flow_latency(9, 0.1, 1.0, 1.0, 10), ("loss_probability", "given 1", "< 1")),
        (lambda: classics.handshake_latency(0.1, 0.5), ("loss_probability", "0.5", "< 0.5")),
        (lambda: classics.independent_loss_rate(0.1, 0.1, -1.0), ("squared_variation", "-1", ">= 0")),
        (lambda: classics.independent_loss_rate(0.1, 0.1, 1.0, decrease=1.0), ("decrease", "given 1", "< 1")),
        (lambda: classics.stationary_loss_rate(0.1, 0.1, [1.0, 2.0]), ("covariances", "[1. 2.]", "variance")),
        (lambda: classics.stationary_loss_rate(0.1, 0.1, []), ("covariances", "[]", "variance")),
        (lambda: classics.normalised_covariances([1.0], 1), ("lags", "given 1", "less than the number of intervals")),
        (lambda: classics.normalised_covariances([], 0), ("lags", "(0,)", "less than the number of intervals")),
        (lambda: classics.many_flows_buffer(1e3, 0.1, 0), ("flows", "given 0", ">= 1")),
        (lambda: classics.many_flows_utilisation(-1.0, 1e3, 0.1, 9), ("buffer", "-1", ">= 0")),
        (lambda: classics.processor_sharing(1.0, 10.0, 1.0, 10.0), ("arrival_rate", "of 1", "a load < 1")),
        (lambda: classics.engset_congestion(0, 1, 1.0), ("sources", "given 0", ">= 1")),
        (lambda: classics.engset_congestion(4, 2.5, 1.0), ("servers", "2.5", "whole")),
        (lambda: classics.engset_states(4, 2, -1.0), ("idle_source_load", "-1", ">= 0")),
        (lambda: classics.engset_states([4, 5], 2, 1.0), ("sources", "[4, 5]", "a number")),  # type: ignore[arg-type]
    ],
)
def test_errors_name_the_argument_the_value_and_what_is_allowed(
    call: Callable[[], Any], parts: tuple[str, ...]
) -> None:
    with pytest.raises(ModelError) as caught:
        call()
    assert isinstance(caught.value, AckclockError)
    for part in parts:
        assert part in str(caught.value)


def test_a_loss_system_is_large_in_sources_or_in_servers_alone() -> None:
    assert classics.engset_congestion(10**12, 3, 1e-12).time_congestion > 0.0
    with pytest.raises(ModelError, match=r"^sources, servers: are too many for the recursion; given 1e\+09 of both"):
        classics.engset_congestion(10**12, 10**9, 1e-12)


def test_sources_and_limits_are_data() -> None:
    for name, model in classics.MODELS.items():
        function = getattr(classics, name)
        assert set(model.arguments) == set(signature(function).parameters)
        assert set(model.domain) <= set(model.arguments)
        assert model.source
        assert model.citations
        assert model.assumes


def test_outside_its_domain_a_model_answers_with_a_warning() -> None:
    model = classics.MODELS["many_flows_buffer"]
    assert classics.many_flows_buffer(1e3, 0.1, 4) == pytest.approx(50.0)
    (warning,) = model.warnings(flows=4, capacity=1e3)
    assert warning.startswith("flows: is outside the domain; given 4; allowed >= 500")
    assert model.warnings(flows=10_000) == ()


@settings(max_examples=20)
@given(st.floats(1e-6, 1.0), round_trips, packets_per_ack)
def test_deterministic_losses_are_the_square_root(p: float, rtt: float, b: float) -> None:
    assert classics.independent_loss_rate(rtt, p, 0.0, b) == pytest.approx(
        classics.square_root_rate(rtt, p, b), rel=1e-13
    )
