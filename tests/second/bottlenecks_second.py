"""Barakat, Altman: Analysis of TCP with Several Bottleneck Nodes (INRIA RR-3620), written from the paper alone.

Slow and obvious on purpose: plain numbers, one formula after the other, searches instead of solved equations. The
author has not read ackclock.models.bottlenecks. Rates in packets a second, times in seconds, buffers in packets.

A path is given by the list of its nodes before the main bottleneck, from the source on, each ``(mu_i, B_i)``, and by
the main bottleneck's ``mu`` and ``B``. ``access`` is the rate of the source's own link, mu_A; None if it is fast.

Readings where the text leaves a choice:

- A node that is no slower than what feeds it never queues (section 2.2): its S_i is infinite.
- Where several S_i are equal, the node nearest to the source overflows first.
- The printed conditions meet at W_B = W_th: section 4 has the double slow start for W_th > W_B, section 6 counts
  W_B = W_th to the throughput with it. Each function below follows its own section.
- mu_A = 2 mu is a fast access link (2 mu is the rate at which the source sends anyhow).
"""

import math
from collections.abc import Callable

Nodes = list[tuple[float, float]]


def feeding_rates(nodes: Nodes, mu: float, access: float | None) -> list[float]:
    """mu_0, mu_1, ..., mu_n: what feeds node 1, 2, ..., n and the main bottleneck. Sections 2.2, 4, 7."""
    rate = 2 * mu
    if access is not None and access < 2 * mu:
        rate = access
    rates = [rate]
    for mu_i, _ in nodes:
        rate = min(rate, mu_i)
        rates.append(rate)
    return rates


def burst_sizes(nodes: Nodes, mu: float, buffer: float, access: float | None = None) -> list[float]:
    """S_1, ..., S_n, S: equation (1)."""
    rates = feeding_rates(nodes, mu, access)
    stations = [*nodes, (mu, buffer)]
    sizes = []
    for place in range(len(stations)):
        mu_before = rates[place]
        mu_here, b_here = stations[place]
        if mu_here >= mu_before:
            sizes.append(math.inf)
        else:
            sizes.append(mu_before / (mu_before - mu_here) * b_here)
    return sizes


def smallest_burst(sizes: list[float]) -> float:
    """S_B: section 4."""
    return min(sizes)


def first_overflow(sizes: list[float]) -> int:
    """Number of the node that overflows first: 1 is the nearest to the source, n + 1 the main bottleneck."""
    for place, size in enumerate(sizes):
        if size == min(sizes):
            return place + 1
    raise AssertionError


def mini_cycle(s_b: float) -> float:
    """n_B: 2^(n_B - 1) < S_B <= 2^n_B. Section 4."""
    if math.isinf(s_b):
        return math.inf
    n = 0
    while 2.0**n < s_b:
        n = n + 1
    while 2.0 ** (n - 1) >= s_b:
        n = n - 1
    return n


def overflow_window(s_b: float) -> float:
    """W_B = 2^(n_B - 1) + S_B / 2. Section 4."""
    if math.isinf(s_b):
        return math.inf
    return float(2.0 ** (mini_cycle(s_b) - 1)) + s_b / 2


def largest_window(mu: float, t: float, buffer: float) -> float:
    """W_max = B + mu T. Section 3."""
    return buffer + mu * t


def threshold(mu: float, t: float, buffer: float) -> float:
    """W_th = W_max / 2. Section 4."""
    return largest_window(mu, t, buffer) / 2


def is_double_slow_start(w_th: float, w_b: float) -> bool:
    """W_th > W_B. Section 4."""
    return w_th > w_b


def detection_window(w_th: float, w_b: float, s_b: float, alpha: float = 1.0) -> float:
    """W_D of a loss in slow start: sections 6, 7.1, with the half that 7.1 lost (notes of the project)."""
    return min(w_th, 2 * w_b + (alpha - 1) * s_b / 2)


def avoidance_start(w_th: float, w_b: float, s_b: float, alpha: float = 1.0) -> float:
    """W_S: half of W_D if slow start overflows a buffer, else W_th. Sections 6, 7.1."""
    if is_double_slow_start(w_th, w_b):
        return detection_window(w_th, w_b, s_b, alpha) / 2
    return w_th


def equivalent_node(nodes: Nodes, mu: float, access: float | None = None) -> tuple[float, float, float]:
    """mu', B', S' of the one node that stands for nodes 1 to n. Section 5; section 7 has mu_0 = mu_A."""
    mu_0 = 2 * mu
    if access is not None and access < mu_0:
        mu_0 = access
    mu_prime = mu_0
    s_prime = math.inf
    mu_before = mu_0
    for mu_i, b_i in nodes:
        # How long a burst lasts until it has filled B_i, in packets that arrive: they wait at mu_before - mu_i.
        if mu_i < mu_before:
            time_to_fill = b_i / (mu_before - mu_i)
            s_prime = min(s_prime, time_to_fill * mu_before)
            mu_before = mu_i
        mu_prime = min(mu_prime, mu_i)
    # What waits in the one node after a burst of S' packets, which arrive at mu_0 and leave at mu'.
    b_prime = s_prime - s_prime / mu_0 * mu_prime
    return mu_prime, b_prime, s_prime


def throughput(mu: float, t: float, buffer: float, w_b: float) -> float:
    """The approximation of section 6 as printed, in packets a second."""
    w_th = threshold(mu, t, buffer)
    if w_b > w_th:
        return 3 * (mu * t + buffer) / (4 * t)
    return min((w_b + mu * t + buffer) / (2 * t), 5 * (mu * t + buffer) / (8 * t))


def capped_throughput(mu: float, t: float, buffer: float, w_b: float) -> float:
    """The same; no throughput exceeds mu (notes of the project)."""
    return min(mu, throughput(mu, t, buffer, w_b))


def avoidance_rate(mu: float, window: float) -> float:
    """R_CA = (W + 1) / W mu. Section 3."""
    return (window + 1) / window * mu


def acks_before_detection(s_b: float, alpha: float) -> float:
    """New ACKs of mini-cycle n_B + 1: S_B with drop-tail, S_B / 2 with drop-from-front, between them else. 7.2."""
    return s_b / 2 + alpha * (s_b - s_b / 2)


def detection_delay(s_b: float, mu: float, alpha: float = 1.0) -> float:
    """D: those new ACKs and three duplicates come at the rate mu. Section 7: D = (S_B + 3) / mu."""
    return acks_before_detection(s_b, alpha) / mu + 3 / mu


def packets_before_detection(s_b: float, w_th: float, w_b: float, alpha: float = 1.0) -> float:
    """Q by the two cases of section 7: two packets an ACK in slow start, one in congestion avoidance."""
    acks = acks_before_detection(s_b, alpha)
    window = 2 * w_b - s_b
    if w_th > window + acks:
        return 2 * acks
    return 2 * (w_th - window) + (acks - (w_th - window))


def retransmission_losses(  # noqa: PLR0917
    nodes: Nodes, mu: float, t: float, buffer: float, access: float | None = None, alpha: float = 1.0
) -> list[bool]:
    """Necessary condition (5) at nodes 1, ..., n and the bottleneck: the retransmission finds a full buffer. Section 7.

    Sections 7.1, 7.2: with drop-tail it is dropped; the other disciplines drop another packet.
    """
    sizes = burst_sizes(nodes, mu, buffer, access)
    rates = feeding_rates(nodes, mu, access)
    s_b = smallest_burst(sizes)
    if math.isinf(s_b):
        return [False for _ in sizes]
    w_b = overflow_window(s_b)
    w_th = threshold(mu, t, buffer)
    d = detection_delay(s_b, mu, alpha)
    q = packets_before_detection(s_b, w_th, w_b, alpha)
    fast_access = access is None or access >= 2 * mu
    answers = []
    for place in range(len(sizes)):
        holds = sizes[place] < d * rates[place] < q
        if place == 0 and fast_access:
            holds = False
        answers.append(holds)
    return answers


def retransmission_loss_place(
    nodes: Nodes, mu: float, t: float, buffer: float, access: float | None = None
) -> int | None:
    """The node nearest to the source that satisfies (5), from 1; None if none does. Section 7."""
    for place, holds in enumerate(retransmission_losses(nodes, mu, t, buffer, access)):
        if holds:
            return place + 1
    return None


def is_retransmission_lost_approximately(mu: float, t: float, buffer: float, access: float) -> bool:
    """beta < 1 / (4 mu' / mu - 1) for one bottleneck behind a slow access link mu'. End of section 7."""
    beta = buffer / (mu * t)
    return beta < 1 / (4 * access / mu - 1)


def smallest_buffer(mu: float, t: float) -> int:
    """Smallest whole B that satisfies the first line of (4)."""
    buffer = 1
    while not mu * t + buffer < 2.0 ** mini_cycle(2.0 * buffer) + 2 * buffer:
        buffer = buffer + 1
    return buffer


def smallest_other_buffer(mu: float, t: float, buffer: float) -> int:
    """Smallest whole B' that satisfies the second line of (4) for a given B."""
    b_prime = 1
    while not mu * t + buffer < 2.0 ** mini_cycle(2.0 * b_prime) + 2 * b_prime:
        b_prime = b_prime + 1
    return b_prime


def smallest_buffer_limit(wanted: float) -> float:
    """Largest x for which ``wanted < 2^n + 2 x`` fails, 2^(n-1) < 2 x <= 2^n: what a fractional buffer must exceed.

    For B' ``wanted`` is mu T + B. For B, where B stands on both sides, see `smallest_main_buffer_limit`.
    """
    low, high = 0.0, max(wanted, 1.0)
    for _ in range(200):
        middle = (low + high) / 2
        if middle > 0 and wanted < 2.0 ** mini_cycle(2 * middle) + 2 * middle:
            high = middle
        else:
            low = middle
    return high


def smallest_main_buffer_limit(mu: float, t: float) -> float:
    """What a fractional B must exceed by the first line of (4)."""
    low, high = 0.0, max(mu * t, 1.0)
    for _ in range(200):
        middle = (low + high) / 2
        if middle > 0 and mu * t + middle < 2.0 ** mini_cycle(2 * middle) + 2 * middle:
            high = middle
        else:
            low = middle
    return high


def approximate_buffers(mu: float, t: float, buffer: float) -> tuple[float, float]:
    """What B and B' must exceed by the approximation under (4): mu T / 3 and (mu T + B) / 4."""
    return mu * t / 3, (mu * t + buffer) / 4


def burst_of_simplified(mu_prime: float, mu: float, buffer: float, b_prime: float) -> float:
    """S_B = min(S, S') by (2) and (3)."""
    s = math.inf if mu_prime <= mu else mu_prime / (mu_prime - mu) * buffer
    s_prime = math.inf if mu_prime >= 2 * mu else 2 * mu / (2 * mu - mu_prime) * b_prime
    return min(s, s_prime)


def range_without_double_slow_start(
    mu: float, t: float, buffer: float, b_prime: float, *, approximate: bool = False
) -> tuple[float, float] | None:
    """Smallest and largest mu' in [mu, 2 mu] with W_th <= W_B; None if there is none. Section 6.

    ``approximate`` takes W_B = S_B, as the paper does there. S falls with mu' and S' rises, so S_B rises to the point
    where they meet and falls after it: the wanted values form one interval around it, and its ends are bisected.
    """
    w_th = threshold(mu, t, buffer)

    def is_good(mu_prime: float) -> bool:
        s_b = burst_of_simplified(mu_prime, mu, buffer, b_prime)
        return not is_double_slow_start(w_th, s_b if approximate else overflow_window(s_b))

    low, high = mu, 2 * mu
    for _ in range(200):
        middle = (low + high) / 2
        s_prime_alone = 2 * mu * b_prime * (middle - mu)
        s_alone = middle * buffer * (2 * mu - middle)
        if s_prime_alone < s_alone:
            low = middle
        else:
            high = middle
    best = (low + high) / 2
    if not is_good(best):
        return None
    return _last_good(is_good, best, mu), _last_good(is_good, best, 2 * mu)


def _last_good(is_good: Callable[[float], bool], inside: float, outside: float) -> float:
    if is_good(outside):
        return outside
    for _ in range(200):
        middle = (inside + outside) / 2
        if is_good(middle):
            inside = middle
        else:
            outside = middle
    return inside
