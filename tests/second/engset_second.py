"""[engset] a second time, from the paper and the notes on its misprints alone: plain, slow, no dependency on ackclock.

Bytes, bit/s and seconds throughout. Sizes of files are in packets.
"""

import math
from fractions import Fraction


# --- Section 3.2: laws of file sizes, with A the smallest, B the body's scale, k where the tail begins, H its share ---
def body_scale_e(mean: float, smallest: float = 3.0) -> float:
    """B of the exponential law."""
    return mean - smallest


def body_scale_ep(mean: float, smallest: float = 3.0, alpha: float = 1.5, tail_share: float = 0.1) -> float:
    """B of the law with a Pareto tail."""
    numerator = mean - smallest * (1 + tail_share / (alpha - 1))
    return numerator / (1 - tail_share - tail_share * math.log(tail_share) / (alpha - 1))


def body_scale_ee(mean: float, omega: float, smallest: float = 3.0, tail_share: float = 0.1) -> float:
    """B of the law with an exponential tail of scale C = omega * mean."""
    return (mean - smallest - omega * mean * tail_share) / (1 - tail_share)


def tail_start(body: float, smallest: float = 3.0, tail_share: float = 0.1) -> float:
    """k, and also the size above which the share H of all files lies."""
    return smallest - body * math.log(tail_share)


def survival_e(x: float, mean: float, smallest: float = 3.0) -> float:
    return 1.0 if x < smallest else math.exp(-(x - smallest) / body_scale_e(mean, smallest))


def survival_ep(x: float, mean: float, smallest: float = 3.0, alpha: float = 1.5, tail_share: float = 0.1) -> float:
    body = body_scale_ep(mean, smallest, alpha, tail_share)
    k = tail_start(body, smallest, tail_share)
    if x < smallest:
        return 1.0
    return math.exp(-(x - smallest) / body) if x < k else tail_share * (k / x) ** alpha


def survival_ee(x: float, mean: float, omega: float, smallest: float = 3.0, tail_share: float = 0.1) -> float:
    body = body_scale_ee(mean, omega, smallest, tail_share)
    k = tail_start(body, smallest, tail_share)
    if x < smallest:
        return 1.0
    return math.exp(-(x - smallest) / body) if x < k else tail_share * math.exp(-(x - k) / (omega * mean))


def share_between(survival_below_low: float, survival_above_high: float) -> float:
    """Table 1: the survival at low - 1/2 less that at high + 1/2, as sizes are rounded to the nearest."""
    return survival_below_low - survival_above_high


# The text prints k + integral of G from k on: that is 24.6 for E with F = 12. The average above k is k + that integral
# by H: 32.7, 51.6 and 88.5 for the three laws with F = 12, and the text says 33, 52 and 89.
def mean_above_e(mean: float, smallest: float = 3.0, tail_share: float = 0.1) -> float:
    body = body_scale_e(mean, smallest)
    return tail_start(body, smallest, tail_share) + body


def mean_above_ep(mean: float, smallest: float = 3.0, alpha: float = 1.5, tail_share: float = 0.1) -> float:
    return tail_start(body_scale_ep(mean, smallest, alpha, tail_share), smallest, tail_share) * alpha / (alpha - 1)


def mean_above_ee(mean: float, omega: float, smallest: float = 3.0, tail_share: float = 0.1) -> float:
    return tail_start(body_scale_ee(mean, omega, smallest, tail_share), smallest, tail_share) + omega * mean


# --- Section 3.3: the path ---
def transmission_time(packet: float, capacity: float) -> float:
    """Delta [s]."""
    return 8 * packet / capacity


def round_trip_0(delay: float, packet: float, ack: float, capacities: list[float]) -> float:
    """RTT_0 [s]."""
    return delay + sum(8 * (packet + ack) / capacity for capacity in capacities)


def pipe(round_trip: float, transmission: float) -> float:
    """beta [packets]."""
    return round_trip / transmission


def saturation(window: int, beta: float) -> tuple[float, bool, int]:
    """r, whether the link is saturated, and then the long-term queue (else 0)."""
    r = math.floor(beta) / window
    return r, r < 1, window - math.floor(beta) + 1 if r < 1 else 0


# --- Section 4.2: flights, ON_0 and h_0 ---
def flights(file_size: int, window: int, least_beta: float) -> list[int]:
    """The sizes of the groups; from the first window above floor(beta*) on, the flight lasts until the end."""
    sizes = []
    left, flight = file_size, min(2, window)
    while left > 0:
        size = left if flight > math.floor(least_beta) else min(flight, left)
        sizes.append(size)
        left -= size
        flight = min(2 * flight, window)
    return sizes


def rounds(file_size: int, window: int, least_beta: float) -> tuple[int, int]:
    """(m, n)."""
    sizes = flights(file_size, window, least_beta)
    return len(sizes), sizes[-1] - 1


def mean_rounds(mean: float, window: int, least_beta: float) -> tuple[float, float]:
    """(m, n) for a mean size: the mean over as many files of the whole size below and above as have that mean."""
    below = math.floor(mean)
    if below == mean:
        return rounds(below, window, least_beta)
    smaller, larger = rounds(below, window, least_beta), rounds(below + 1, window, least_beta)
    share_of_smaller = below + 1 - mean
    share_of_larger = mean - below
    return (
        share_of_smaller * smaller[0] + share_of_larger * larger[0],
        share_of_smaller * smaller[1] + share_of_larger * larger[1],
    )


def renormalised(m: float, n: float, round_trip: float, longest: float) -> tuple[float, float]:
    """(m, n) with n no more than floor(beta*)."""
    if n * longest < round_trip:
        return m, n
    # Exactly: n Delta* / Delta* must not become less than n.
    rtt, delta = Fraction(round_trip), Fraction(longest)
    more = math.floor(n * delta / rtt)
    return m + more, math.floor((n * delta - more * rtt) / delta)


def on_0(m: float, n: float, round_trip: float, longest: float) -> float:
    return m * round_trip + n * longest


def peak_rate(file_size: float, packet: float, on: float) -> float:
    """h_0 [bit/s]."""
    return 8 * file_size * packet / on


def free_sources(capacity: float, peak: float) -> int:
    """s."""
    return math.floor(capacity / peak)


def open_loop_load(sources: int, on: float, off: float, peak: float, capacity: float) -> float:
    """rho_0."""
    return on / (on + off) * sources * peak / capacity


# --- Section 3.1: several drops in a window ---
def timeout_follows(window: int, drops: int, distance: int) -> bool:
    """Reno, as printed: delta < W - S - d. Put S + d + delta packets into the window: does it have room for more?"""
    room = list(range(window))
    threshold = max(len(room[::2]) if window % 2 == 0 else len(room[1::2]), 2)
    del room[:threshold]
    del room[:drops]
    return drops > 1 and len(room) > distance


def second_retransmit_packet_by_packet(window: int, lost: list[int]) -> bool:
    """Whether Reno, by the rules of section 3.1, sends a second fast retransmit after drops in a window.

    Packets 1 to W are in flight, the receiver has what is before; `lost` begins with 1. No more are lost.
    """
    flying = [packet for packet in range(1, window + 1) if packet not in lost]
    received: set[int] = set()
    una, following, duplicates, cwnd, threshold = 1, window + 1, 0, float(window), 0
    recovering, retransmits = False, 0
    while flying:
        received.add(flying.pop(0))
        wanted = una
        while wanted in received:
            wanted += 1
        if wanted > una:
            una, duplicates = wanted, 0
            # Fast recovery ends at the first ACK of new data: cwnd = S, and this ACK adds one (W_CA = S + 1).
            cwnd = threshold + 1 if recovering else cwnd + 1 / cwnd
            recovering = False
        elif recovering:
            cwnd += 1
        else:
            duplicates += 1
            if duplicates == 3:
                retransmits += 1
                if retransmits == 2:
                    return True
                threshold = max((following - una) // 2, 2)
                cwnd, recovering = threshold + 3, True
                flying.append(una)
                continue
        while following - una < int(cwnd):
            flying.append(following)
            following += 1
    return False


def patient_drops(timeout: Fraction, round_trip: Fraction) -> int:
    """A round trip a drop, for as long as the timer of the first retransmission has not expired."""
    drops, now = 0, round_trip
    while now <= timeout:
        drops, now = drops + 1, now + round_trip
    return drops


# --- Section 4.3: the states ---
def source_rate(j: int, peak: float, capacity: float, bits: float) -> float:
    """h_j, by the ON time of a file in state j: ON_0 up to s sources, ON_j = j F P / C beyond."""
    on_time = bits / peak if j <= math.floor(capacity / peak) else j * bits / capacity
    return bits / on_time


def states_exact(sources: int, s: int, on: Fraction, off: Fraction, service: Fraction) -> list[Fraction]:
    """P_j, with `service` the time F P / C of a file alone at the link's capacity."""
    weights = [Fraction(1)]
    for j in range(1, sources + 1):
        birth = (sources - (j - 1)) / off
        death = j / on if j <= s else 1 / service
        weights.append(weights[-1] * birth / death)
    total = sum(weights)
    return [weight / total for weight in weights]


def states(sources: int, s: int, on: float, off: float, service: float) -> list[float]:
    """P_j by sums of logarithms."""
    logs = [0.0]
    for j in range(1, sources + 1):
        birth = (sources - (j - 1)) / off
        death = j / on if j <= s else 1 / service
        logs.append(logs[-1] + math.log(birth) - math.log(death))
    top = max(logs)
    weights = [math.exp(log - top) for log in logs]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


# --- Section 4.1: rate, ON time, load, queue ---
def rates(  # noqa: PLR0917
    probabilities: list[float], s: int, peak: float, capacity: float, bits: float, off: float
) -> dict[str, float]:
    """Equations 6 to 10; `bits` are those of a file. Only for more sources than s."""
    sources = len(probabilities) - 1
    p_ol = math.fsum(probabilities[s + 1 :])
    n_ul = math.fsum(k * probabilities[k] for k in range(1, s + 1))
    n_ol = math.fsum(k * probabilities[k] for k in range(s + 1, sources + 1))
    throughput = peak * n_ul + capacity * p_ol
    h1 = throughput / (n_ul + n_ol)
    h2 = capacity / (n_ol / p_ol)
    on2 = bits / h2
    rho1 = throughput / capacity
    rho2 = on2 / (on2 + off) * sources * h2 / capacity
    h = (h1 + h2) / 2
    return {
        "active": n_ul + n_ol, "h1": h1, "h2": h2, "h": h, "on": bits / h,
        "rho1": rho1, "rho2": rho2, "rho": (rho1 + rho2) / 2,
    }  # fmt: skip


def mean_queue(  # noqa: PLR0917
    on: float, m: float, n: float, round_trip: float, longest: float, transmission: float
) -> float:
    """Q, (11)."""
    return ((on - n * longest) / m - round_trip) / transmission


def decay(queue: float, load: float) -> float:
    """Eta, (12)."""
    return queue / load


def queue_exceeds(x: float, load: float, eta: float) -> float:
    return load * math.exp(-x / eta)


# The notes: tables 6 and 10 come out with rho_2, in the load and in eta, and Q of the averaged ON.
def loss_ratio(buffer: float, rho2: float, queue: float) -> float:
    return rho2 * math.exp(-buffer * rho2 / queue)


def buffer_rule(load: float, queue: float, loss: float = 0.01) -> float:
    """B, (13)."""
    return decay(queue, load) * math.log(load / loss)


def whole_model(  # noqa: PLR0917
    file_size: float, sources: int, off: float, window: int, packet: float, round_trip: float, capacities: list[float]
) -> dict[str, float]:
    """Every step, for links (C1, C, C3)."""
    longest = max(transmission_time(packet, capacity) for capacity in capacities)
    transmission = transmission_time(packet, capacities[1])
    m, n = mean_rounds(file_size, window, pipe(round_trip, longest))
    on0 = on_0(m, n, round_trip, longest)
    h0 = peak_rate(file_size, packet, on0)
    s = free_sources(capacities[1], h0)
    bits = 8 * file_size * packet
    found = {"m": m, "n": n, "on0": on0, "h0": h0, "s": s}
    found["rho0"] = open_loop_load(sources, on0, off, h0, capacities[1])
    if sources <= s:
        return found
    found |= rates(states(sources, s, on0, off, bits / capacities[1]), s, h0, capacities[1], bits, off)
    m, n = renormalised(m, n, round_trip, longest)
    found["queue"] = mean_queue(found["on"], m, n, round_trip, longest, transmission)
    return found


# --- Section 4.4: one connection and its queue, packet by packet ---
def single_connection(file_size: int, window: int, round_trip: Fraction, transmission: Fraction) -> dict[str, Fraction]:
    """Slow start over one link that takes `transmission` a packet, fed at once; every packet is acknowledged."""
    acks: list[Fraction] = []
    departure, area, sent = Fraction(0), Fraction(0), 0
    allowed, arrival, answered = min(2, window), Fraction(0), 0
    while True:
        while sent < file_size and sent - answered < allowed:
            departure = max(arrival, departure) + transmission
            # Waiting and transmission of this packet: the sum is the time integral of the queue's contents.
            area += departure - arrival
            acks.append(departure + round_trip - transmission)
            sent += 1
        if answered == file_size:
            return {"on": arrival, "area": area}
        arrival = acks[answered]
        answered += 1
        allowed = min(allowed + 1, window)


def mean_contents(file_size: int, window: int, round_trip: Fraction, transmission: Fraction, off: Fraction) -> Fraction:
    """Q-bar."""
    found = single_connection(file_size, window, round_trip, transmission)
    return found["area"] / (found["on"] + off)
