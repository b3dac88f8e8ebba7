"""ackclock.models.controls against the second implementation, over thousands of random inputs."""

import numpy as np

from ackclock.models import controls
from second import controls_second as second

RANDOM = np.random.default_rng(9438)
N = 2000
RTT = 10 ** RANDOM.uniform(-3.0, 0.3, N)
P = 10 ** RANDOM.uniform(-8.0, -0.5, N)
C = 10 ** RANDOM.uniform(-1.5, 1.0, N)
BETA = RANDOM.uniform(0.1, 0.95, N)
FLOWS = 10 ** RANDOM.uniform(0.0, 2.0, N)
RATE = 10 ** RANDOM.uniform(2.0, 6.0, N)
MARKS_FROM = RANDOM.uniform(1.0, 200.0, N)
BUFFERS = 10 ** RANDOM.uniform(-0.5, 2.0, N)


def test_cubic() -> None:
    expected = [second.cubic_mean_window(*row) for row in zip(RTT, P, C, BETA, strict=True)]
    window = controls.cubic_window(RTT, P, C, BETA)
    np.testing.assert_allclose(window, expected, rtol=1e-9)
    np.testing.assert_allclose(controls.cubic_rate(RTT, P, C, BETA) * RTT, expected, rtol=1e-9)
    reno = np.sqrt(1.5 / P)
    assert (window == reno).any()
    assert (window > reno).any()


def test_cubic_with_a_largest_window() -> None:
    some = slice(0, 40)
    free = controls.cubic_window(RTT, P, C, BETA)
    most = free * 10 ** np.random.default_rng(7323).uniform(-1.5, 0.5, N)
    window = controls.cubic_window(RTT, P, C, BETA, most)
    rows = zip(RTT[some], P[some], C[some], BETA[some], most[some], strict=True)
    expected = [second.cubic_window_with_most(*row) for row in rows]
    np.testing.assert_allclose(window[some], expected, rtol=1e-3)
    assert (window <= most).all()
    assert (window[most > 4.0 * free / (3.0 + BETA) * 1.5] == free[most > 4.0 * free / (3.0 + BETA) * 1.5]).all()
    assert 0.2 < (window < 0.999 * free).mean() < 0.9


def test_dctcp() -> None:
    # A window of a packet and more: below it the fraction of marks would be above 1.
    flows = np.minimum(FLOWS, RATE * RTT + MARKS_FROM)
    found = controls.dctcp_queue(flows, RATE, RTT, MARKS_FROM)
    expected = [second.dctcp_sawtooth(*row) for row in zip(flows, RATE, RTT, MARKS_FROM, strict=True)]
    alpha, least, most = np.array(expected).T
    np.testing.assert_allclose(found.marked_fraction, alpha, rtol=1e-6)
    np.testing.assert_allclose(found.largest, most, rtol=1e-9, atol=1e-6)
    scale = flows * (found.window + 1.0)
    np.testing.assert_allclose(found.smallest / scale, least / scale, atol=1e-8)
    np.testing.assert_allclose(found.amplitude, found.largest - found.smallest, rtol=1e-6)
    # A round trip for each packet that a window grows; its wait is that of the mean queue.
    waits = np.maximum(0.0, (found.largest + found.smallest) / 2.0) / RATE
    np.testing.assert_allclose(found.period, found.amplitude / flows * (RTT + waits), rtol=1e-6)


def test_the_least_threshold_of_dctcp_is_where_the_worst_number_of_flows_leaves_no_queue() -> None:
    rate, rtt = 1e6, 1e-3
    flows = np.linspace(1.0, 500.0, 100_000)

    def least_queue(threshold: float) -> float:
        # The paper's approximation, alpha = sqrt(2 / W*).
        return float((threshold + flows - 0.5 * np.sqrt(2.0 * flows * (rate * rtt + threshold))).min())

    threshold = float(controls.dctcp_least_threshold(rate, rtt))
    assert abs(least_queue(threshold)) < 1e-6 * threshold
    assert least_queue(0.99 * threshold) < 0.0 < least_queue(1.01 * threshold)
    # With the root of the equation for alpha the worst queue is some packets shorter: the link idles a little.
    assert -0.3 * threshold < controls.dctcp_queue(flows, rate, rtt, threshold).smallest.min() < -0.2 * threshold


def test_bbr() -> None:
    flows, buffers = np.minimum(FLOWS, 20.0), BUFFERS * RATE * RTT
    expected = [second.bbr_fraction(*row) for row in zip(flows, RATE, RTT, buffers, strict=True)]
    np.testing.assert_allclose(controls.bbr_share(flows, RATE, RTT, buffers), expected, rtol=1e-6, atol=1e-9)
    first = [second.bbr_fraction(*row, pipe_first=True) for row in zip(flows, RATE, RTT, buffers, strict=True)]
    other = controls.bbr_share_beside_full_pipe(flows, RATE, RTT, buffers)
    np.testing.assert_allclose(other, first, rtol=1e-6, atol=1e-9)


def test_the_rfc_s_tables_of_cubic() -> None:
    """Tables 1 and 2 of RFC 9438 for C = 0.4, at 100 and 10 ms; its Reno has 1.2 / sqrt(p), 2% less than ours."""
    losses = 10.0 ** -np.arange(2, 9)
    slow, fast = [12, 38, 187, 1054, 5926, 33325, 187400], [12, 38, 120, 379, 1200, 5926, 33325]
    for rtt, expected in ((0.1, slow), (0.01, fast)):
        np.testing.assert_allclose(controls.cubic_window(rtt, losses), expected, rtol=0.025)
