"""ackclock.models.classics against the second implementation, over thousands of random inputs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ackclock.models import classics
from ackclock.models.domain import FloatArray
from second import classics_second as second

RANDOM = np.random.default_rng(20_000)
N = 4000
RTT = RANDOM.uniform(1e-3, 2.0, N)
P = 10 ** RANDOM.uniform(-4.0, np.log10(0.45), N)
REVERSE = RANDOM.uniform(0.0, 0.45, N)
T0 = RANDOM.uniform(0.0, 10.0, N)
W_MAX = 10 ** RANDOM.uniform(0.0, 5.0, N)
B = RANDOM.uniform(1.0, 4.0, N)
W_FIRST = 1.0 + RANDOM.uniform(0.0, 1.0, N) * np.minimum(W_MAX - 1.0, 10.0)
PACKETS = 10 ** RANDOM.uniform(0.0, 5.0, N)
WAIT = RANDOM.uniform(0.0, 0.2, N)
VARIATION = RANDOM.uniform(0.0, 20.0, N)
DECREASE = RANDOM.uniform(0.0, 0.95, N)
LOAD = RANDOM.uniform(0.01, 0.99, N)


def each(function: Callable[..., float], *arguments: FloatArray) -> list[float]:
    return [function(*numbers) for numbers in zip(*(column.tolist() for column in arguments), strict=True)]


def agree(found: Any, expected: list[float]) -> None:
    # The second form subtracts powers from 1: at p = 1e-4 four digits go.
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)


def test_square_root() -> None:
    agree(classics.square_root_rate(RTT, P, B), each(second.mathis, RTT, P, B))


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (classics.pftk_sending_rate, second.pftk_send_rate),
        (classics.pftk_throughput, second.pftk_throughput),
        (classics.pftk_approximate_rate, second.pftk_approximate),
    ],
)
def test_pftk(first: Callable[..., FloatArray], other: Callable[..., float]) -> None:
    agree(first(RTT, P, T0, W_MAX, B), each(other, RTT, P, T0, W_MAX, B))


@pytest.mark.parametrize("whole", [2, 8, 40, 400])
def test_pftk_with_sack(whole: int) -> None:
    # Windows that the receiver limits: the second form is a sum, for even ones alone.
    kept = np.array(each(second.pftk_window, P, np.ones(N))) > whole
    found = classics.pftk_sack_throughput(RTT[kept], P[kept], T0[kept], float(whole))
    agree(found, [second.pftk_with_sack(*row, whole) for row in zip(RTT[kept], P[kept], T0[kept], strict=True)])


def test_transfers_without_loss() -> None:
    packets, rate = np.round(PACKETS), 10 ** RANDOM.uniform(1.0, 6.0, N)
    for limit in (W_MAX, np.full(N, 1e9)):
        found = classics.lossless_transfer_time(packets, RTT, rate, limit, initial_window=W_FIRST, packets_per_ack=B)
        agree(found, each(second.lossless_transfer, packets, RTT, rate, W_FIRST, limit, B))


@pytest.mark.parametrize("p", [P, np.zeros(N)])
def test_short_transfers(p: FloatArray) -> None:
    found = classics.short_flow_latency(
        PACKETS,
        RTT,
        p,
        T0,
        W_MAX,
        initial_window=W_FIRST,
        packets_per_ack=B,
        delayed_ack_time=WAIT,
    )
    handshake = classics.handshake_latency(RTT, p, REVERSE, T0)
    agree(handshake, each(second.cardwell_handshake, RTT, p, REVERSE, T0))
    agree(found.slow_start_packets, each(second.cardwell_slow_start_packets, PACKETS, p))
    agree(found.transfer, each(second.cardwell_latency, PACKETS, RTT, p, T0, W_MAX, B, W_FIRST, WAIT))


def test_independent_losses() -> None:
    expected = each(second.independent_losses, RTT, P, VARIATION, B, DECREASE)
    agree(classics.independent_loss_rate(RTT, P, VARIATION, B, DECREASE), expected)
    agree(classics.stationary_loss_rate(RTT, P, VARIATION[:, np.newaxis], B, DECREASE), expected)


def test_buffer_for_many_flows() -> None:
    agree(classics.many_flows_buffer(W_MAX, RTT, PACKETS), each(second.appenzeller_buffer, W_MAX, RTT, PACKETS))


def test_processor_sharing() -> None:
    found = classics.processor_sharing(PACKETS, W_MAX, LOAD * W_MAX / 10.0, 10.0)
    agree(found.response_time, each(second.sharing_sojourn, PACKETS, W_MAX, LOAD))
    agree(found.jobs, each(second.sharing_mean_number, LOAD))


def test_engset() -> None:
    # Exact fractions are slow: fewer and smaller systems.
    sources, servers = RANDOM.integers(1, 40, 1000), RANDOM.integers(1, 40, 1000)
    beta = 10 ** RANDOM.uniform(-3.0, 2.0, 1000)
    found = classics.engset_congestion(sources, servers, beta)
    for row, (n, s, load) in enumerate(zip(sources.tolist(), servers.tolist(), beta.tolist(), strict=True)):
        agree(classics.engset_states(n, s, load)[: n + 1], second.engset_probabilities(n, s, load))
        agree(found.time_congestion[row], [second.engset_time_congestion(n, s, load)])
        agree(found.call_congestion[row], [second.engset_call_congestion(n, s, load)])
