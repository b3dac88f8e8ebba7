"""The classic TCP and queueing models a second time, from the literature alone: plain numbers, slow and obvious.

Written without a look at `ackclock.models.classics`. Rates are packets/s, times seconds, p the probability that a
packet is lost (or the rate of loss events per packet), b the packets that one ACK acknowledges.
"""

import math
from fractions import Fraction


def mathis(round_trip_time: float, p: float, b: float = 1.0) -> float:
    """Mathis, Semke, Mahdavi, Ott (1997): the periodic sawtooth between W/2 and W."""
    # A period has W/2 increments of b round trips each at the mean window 3 W/4: 3 b W^2/8 = 1/p packets.
    peak = math.sqrt(8.0 / (3.0 * b * p))
    period = b * peak / 2.0 * round_trip_time
    return (1.0 / p) / period


# Padhye, Firoiu, Towsley, Kurose, "Modeling TCP Throughput" (SIGCOMM 1998)


def pftk_window(p: float, b: float) -> float:
    """Expected window at the end of a triple-duplicate period, E[W_u] (eq. 13)."""
    c = (2.0 + b) / (3.0 * b)
    return c + math.sqrt(8.0 * (1.0 - p) / (3.0 * b * p) + c * c)


def pftk_timeout_probability(p: float, w: float) -> float:
    """Probability that a loss indication at window w is a timeout, Q-hat(w) (eq. 24)."""
    if w <= 3.0:
        return 1.0
    q = 1.0 - p
    value = (1.0 - q**3) * (1.0 + q**3 * (1.0 - math.pow(q, w - 3.0))) / (1.0 - math.pow(q, w))
    return min(1.0, value)


def pftk_backoff(p: float) -> float:
    """Expected length of a sequence of timeouts in T0, times 1 - p: f(p) (eq. 29)."""
    return 1.0 + p + 2.0 * p**2 + 4.0 * p**3 + 8.0 * p**4 + 16.0 * p**5 + 32.0 * p**6


def pftk_send_rate(round_trip_time: float, p: float, t0: float, w_max: float, b: float = 1.0) -> float:
    """Send rate by the full model, B(p) (eq. 32)."""
    w = pftk_window(p, b)
    if w < w_max:
        q = pftk_timeout_probability(p, w)
        packets = (1.0 - p) / p + w + q / (1.0 - p)
        time = round_trip_time * (b / 2.0 * w + 1.0) + q * t0 * pftk_backoff(p) / (1.0 - p)
    else:
        q = pftk_timeout_probability(p, w_max)
        packets = (1.0 - p) / p + w_max + q / (1.0 - p)
        time = round_trip_time * (b / 8.0 * w_max + (1.0 - p) / (p * w_max) + 2.0)
        time += q * t0 * pftk_backoff(p) / (1.0 - p)
    return packets / time


def pftk_approximate(round_trip_time: float, p: float, t0: float, w_max: float, b: float = 1.0) -> float:
    """Send rate by the approximate model (eq. 33)."""
    time = round_trip_time * math.sqrt(2.0 * b * p / 3.0)
    time += t0 * min(1.0, 3.0 * math.sqrt(3.0 * b * p / 8.0)) * p * (1.0 + 32.0 * p**2)
    return min(w_max / round_trip_time, 1.0 / time)


def pftk_throughput(round_trip_time: float, p: float, t0: float, w_max: float, b: float) -> float:
    """Rate at which packets reach the receiver, T(p) (IEEE/ACM ToN 2000; Cardwell's eq. 23).

    The golden values of the issue's "PFTK full" are these, not the send rate: 91.50 where B(p) is 98.83.
    """
    w = pftk_window(p, b)
    if w < w_max:
        q = pftk_timeout_probability(p, w)
        packets = (1.0 - p) / p + w / 2.0 + q
        time = round_trip_time * (b / 2.0 * w + 1.0) + q * pftk_backoff(p) * t0 / (1.0 - p)
    else:
        q = pftk_timeout_probability(p, w_max)
        packets = (1.0 - p) / p + w_max / 2.0 + q
        time = round_trip_time * (b / 8.0 * w_max + (1.0 - p) / (p * w_max) + 2.0)
        time += q * pftk_backoff(p) * t0 / (1.0 - p)
    return packets / time


def pftk_with_sack(round_trip_time: float, p: float, t0: float, whole: int) -> float:
    """The same at an even receiver's window, where a timeout needs more than half of a round to be lost; b = 1.

    The tail of the binomial law as the sum that it is. Packets of the last round are lost independently.
    """
    assert whole % 2 == 0
    assert whole <= pftk_window(p, 1.0)
    tail = sum(math.comb(whole, k) * p**k * (1.0 - p) ** (whole - k) for k in range(whole // 2 + 1, whole + 1))
    q = tail / (1.0 - (1.0 - p) ** whole)
    rounds = whole / 8.0 + (1.0 - p) / (p * whole) + 2.0
    packets = (1.0 - p) / p + (1.0 - p) * whole + q
    return packets / (round_trip_time * rounds + q * pftk_backoff(p) * t0 / (1.0 - p))


# Cardwell, Savage, Anderson, "Modeling TCP Latency" (INFOCOM 2000)


def lossless_transfer(  # noqa: PLR0917  as above
    packets: int, round_trip_time: float, rate: float, w_first: float, w_max: float, b: float
) -> float:
    """Round by round: a window at a time, until one keeps the link busy, and then at the link's rate."""
    time, window, left = 0.0, min(w_first, w_max), float(packets)
    while True:
        if left <= window or window >= rate * round_trip_time:
            return time + round_trip_time + max(0.0, left - 1.0) / rate
        left -= window
        time += round_trip_time
        window = min(window * (1.0 + 1.0 / b), max(w_first, min(w_max, rate * round_trip_time)), w_max)


def cardwell_handshake(round_trip_time: float, p_forward: float, p_reverse: float, syn_timeout: float = 3.0) -> float:
    """Mean time to set up a connection (eq. 4)."""
    forward = (1.0 - p_forward) / (1.0 - 2.0 * p_forward)
    reverse = (1.0 - p_reverse) / (1.0 - 2.0 * p_reverse)
    return round_trip_time + syn_timeout * (forward + reverse - 2.0)


def cardwell_slow_start_packets(d: float, p: float) -> float:
    """Mean packets sent in the initial slow start, E[d_ss] (eq. 5), the lost one included; d where none is lost."""
    # As p falls to 0 the formula tends to d + 1: no transfer has more than d.
    if p == 0.0:
        return d
    return min(d, (1.0 - math.pow(1.0 - p, d)) * (1.0 - p) / p + 1.0)


def cardwell_slow_start(
    packets: float, round_trip_time: float, w_first: float, w_max: float, b: float
) -> tuple[float, float]:
    """Window reached and time taken by slow start over so many packets (eqs. 11 to 15)."""
    gamma = 1.0 + 1.0 / b
    window = packets * (gamma - 1.0) / gamma + w_first / gamma
    if window > w_max:
        rounds = math.log(w_max / w_first) / math.log(gamma) + 1.0
        rounds += (packets - (gamma * w_max - w_first) / (gamma - 1.0)) / w_max
    else:
        rounds = math.log(packets * (gamma - 1.0) / w_first + 1.0) / math.log(gamma)
    return window, round_trip_time * rounds


def cardwell_latency(  # noqa: PLR0917
    d: float,
    round_trip_time: float,
    p: float,
    t0: float,
    w_max: float,
    b: float = 2.0,
    w_first: float = 1.0,
    delayed_ack: float = 0.0,
) -> float:
    """Mean time of a transfer of d packets after the handshake (eq. 25)."""
    slow_start_packets = cardwell_slow_start_packets(d, p)
    window, slow_start_time = cardwell_slow_start(slow_start_packets, round_trip_time, w_first, w_max, b)
    loss_time = 0.0
    avoidance_time = 0.0
    if p > 0.0:
        any_loss = 1.0 - math.pow(1.0 - p, d)
        q = pftk_timeout_probability(p, window)
        timeout = pftk_backoff(p) * t0 / (1.0 - p)
        loss_time = any_loss * (q * timeout + (1.0 - q) * round_trip_time)
        rest = d - slow_start_packets
        if rest > 0.0:
            avoidance_time = rest / pftk_throughput(round_trip_time, p, t0, w_max, b)
    return slow_start_time + loss_time + avoidance_time + delayed_ack


# Altman, Avrachenkov, Barakat, "A Stochastic Model of TCP/IP with Stationary Random Losses" (SIGCOMM 2000)


def independent_losses(
    round_trip_time: float, p: float, squared_variation: float, b: float = 1.0, decrease: float = 0.5
) -> float:
    """Throughput for independent times between losses of a given squared coefficient of variation.

    The rate grows by alpha = 1/(b RTT^2) and is multiplied by `decrease` at a loss.
    """
    # X_(n+1) = nu X_n + alpha S_n, so E[X_n] = nu alpha E[S] / (1 - nu) after a loss. The integral over an interval is
    # X_n S + alpha S^2/2, its mean over E[S] is alpha E[S] K; and a loss comes every 1/p packets, E[S] X = 1/p.
    nu = decrease
    k = nu / (1.0 - nu) + (1.0 + squared_variation) / 2.0
    alpha = 1.0 / (b * round_trip_time**2)
    return math.sqrt(alpha * k / p)


# Appenzeller, Keslassy, McKeown, "Sizing Router Buffers" (SIGCOMM 2004)


def appenzeller_buffer(rate: float, round_trip_time: float, flows: float) -> float:
    """Buffer for n long flows that are not synchronised, C RTT / sqrt(n)."""
    return rate * round_trip_time / math.sqrt(flows)


# M/G/1 processor sharing (Kleinrock 1967); insensitive to the distribution of sizes


def sharing_sojourn(size: float, capacity: float, load: float) -> float:
    """Mean time of a job of the given size."""
    return size / (capacity * (1.0 - load))


def sharing_mean_number(load: float) -> float:
    """Mean number of jobs."""
    return load / (1.0 - load)


def sharing_probability(n: int, load: float) -> float:
    """Probability of n jobs."""
    return (1.0 - load) * load**n


# Engset (1918): N sources, each idle source calls at rate lambda, a call lasts 1/mu on average, c servers, no queue


def engset_probabilities(sources: int, servers: int, load_of_idle_source: float) -> list[float]:
    """Probability of 0, 1, ..., min(c, N) busy servers; exact fractions until the end."""
    a = Fraction(load_of_idle_source)
    weights = [math.comb(sources, j) * a**j for j in range(min(servers, sources) + 1)]
    total = sum(weights)
    return [float(weight / total) for weight in weights]


def engset_time_congestion(sources: int, servers: int, load_of_idle_source: float) -> float:
    """Part of the time in which all servers are busy."""
    if servers > sources:
        return 0.0
    return engset_probabilities(sources, servers, load_of_idle_source)[servers]


def engset_call_congestion(sources: int, servers: int, load_of_idle_source: float) -> float:
    """Part of the calls that find all servers busy: the time congestion that N - 1 other sources make."""
    if servers >= sources:
        return 0.0
    return engset_probabilities(sources - 1, servers, load_of_idle_source)[servers]
