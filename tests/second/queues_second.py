"""Models of queues a second time: step by step in time, packet by packet, or from finite differences.

Where `ackclock.models.queues` has closed forms, here windows grow in small steps, buckets are filled and emptied, the
fluid equations are differentiated numerically, and sums are added up.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

Step = tuple[float, float]
"""A small time and the window in its middle."""


# ---- windows in small steps


def linear_growth(trip: Callable[[float], float], add: float, low: float, high: float, steps: int) -> Iterator[Step]:
    """A window that grows by `add` a round trip, which itself depends on the window."""
    width = (high - low) / steps
    for number in range(steps):
        window = low + (number + 0.5) * width
        yield width / add * trip(window), window


def cubic_growth(peak: float, beta: float, c: float, steps: int) -> Iterator[Step]:
    """RFC 9438 section 4.2, figure 1: W(t) = C (t - K)^3 + W_max, from beta W_max to W_max."""
    k = (peak * (1.0 - beta) / c) ** (1.0 / 3.0)
    for number in range(steps):
        yield k / steps, c * ((number + 0.5) / steps * k - k) ** 3 + peak


def growths(trip: Callable[[float], float], peak: float, beta: float, c: float, steps: int) -> list[list[Step]]:
    """CUBIC's two growths to one window: section 4.2, and section 4.3 with its alpha."""
    alpha = 3.0 * (1.0 - beta) / (1.0 + beta)
    return [
        list(linear_growth(trip, alpha, beta * peak, peak, steps)),
        list(cubic_growth(peak, beta, c, steps)),
    ]


def duration(cycle: list[Step]) -> float:
    return sum(time for time, _ in cycle)


def faster(cycles: list[list[Step]]) -> list[Step]:
    return min(cycles, key=duration)


# ---- a drop-tail buffer


def filled_buffer(cycle: list[Step], rate: float, rtt: float) -> tuple[float, float, float, float]:
    """Utilisation, mean queue, period and losses a packet of a cycle of a flow at a link."""
    sent = waiting = total = 0.0
    for time, window in cycle:
        queue = max(0.0, window - rate * rtt)
        sent += time * window / (rtt + queue / rate)
        waiting += time * queue
        total += time
    return sent / (rate * total), waiting / total, total, 1.0 / sent


def one_loss_at_buffer(
    buffer: float, rate: float, rtt: float, add: float, beta: float, *, steps: int = 2000
) -> tuple[float, float, float, float]:
    peak = rate * rtt + buffer
    return filled_buffer(
        list(linear_growth(lambda window: max(rtt, window / rate), add, beta * peak, peak, steps)), rate, rtt
    )


def aimd_at_buffer(
    buffer: float, rate: float, rtt: float, add: float, beta: float
) -> tuple[float, float, float, float]:
    utilisation, queue, period, loss = one_loss_at_buffer(buffer, rate, rtt, add, beta)
    # The window grows by `add` in the round trip until the flow hears of its first loss, and does not fit by as much.
    return utilisation, queue, period, loss * max(1.0, add)


def cubic_at_buffer(
    buffer: float, rate: float, rtt: float, c: float, beta: float, *, steps: int = 2000
) -> tuple[float, float, float, float]:
    peak = rate * rtt + buffer
    return filled_buffer(faster(growths(lambda window: max(rtt, window / rate), peak, beta, c, steps)), rate, rtt)


def converging_cubic_at_buffer(
    buffer: float, rate: float, rtt: float, c: float, beta: float
) -> tuple[float, float, float, float]:
    """The same flow followed from loss to loss by RFC 9438's rules, fast convergence (section 4.7) among them.

    A loss happens as the window passes the pipe and the buffer; the flow hears of it when the window, growing at the
    same pace, is a round trip further.
    """
    peak = rate * rtt + buffer
    # From any other beginning than a cycle that ends exactly where it is flat, which would go on for ever.
    window, w_max = beta * peak, 0.9 * peak
    steps: list[Step] = []
    ends: list[int] = []
    width = (peak / c) ** (1.0 / 3.0) / 4000.0
    while len(ends) < 12:
        k = ((w_max - window) / c) ** (1.0 / 3.0)
        time, grown = 0.0, window
        while grown < peak:
            steps.append((width, grown))
            time += width
            grown = c * (time - k) ** 3 + w_max
        ends.append(len(steps))
        pace = max(0.0, 3.0 * c * (time - k) ** 2) if grown > w_max else 0.0
        heard = peak + pace * peak / rate
        w_max = heard * (1.0 + beta) / 2.0 if heard < w_max else heard
        window = beta * heard
    used, queue, total, _ = filled_buffer(steps[ends[3] :], rate, rtt)
    period = total / 8.0
    reno = one_loss_at_buffer(buffer, rate, rtt, 3.0 * (1.0 - beta) / (1.0 + beta), beta)
    return reno if reno[2] < period else (used, queue, period, 1.0 / (used * rate * period))


# ---- a policer


def policed(cycle: list[Step], rate: float, burst: float, trip: float, bucket: float) -> tuple[float, float, float]:
    """What passes in a cycle, what is dropped, and the tokens at its end."""
    passed = dropped = 0.0
    for time, window in cycle:
        bucket += time * (rate - window / trip)
        lacking = max(0.0, -bucket)
        bucket = min(burst, bucket + lacking)
        passed += time * window / trip - lacking
        dropped += lacking
    return passed, dropped, bucket


def until_heard(cycle: list[Step], trip: float, rate: float, burst: float, bucket: float) -> int:
    """The number of steps until the flow hears of its first loss: a round trip after the bucket is empty."""
    since = math.inf
    now = 0.0
    for number, (time, window) in enumerate(cycle):
        bucket = min(burst, bucket + time * (rate - window / trip))
        now += time
        if bucket <= 0.0:
            since, bucket = min(since, now), 0.0
        if now >= since + trip:
            return number + 1
    message = "the cycle is too short to lose a packet"
    raise AssertionError(message)


def aimd_through_policer(
    rate: float, burst: float, trip: float, add: float, beta: float, *, cycles: int = 40
) -> tuple[float, float, float]:
    """Throughput, fraction lost and largest window, of a flow that is followed from cycle to cycle."""
    low, bucket = rate * trip, burst
    found: list[tuple[float, float, float, float]] = []
    for _ in range(cycles):
        high = low + 4.0 * rate * trip + math.sqrt(8.0 * add * burst) + 4.0 * add
        cycle = list(linear_growth(lambda _: trip, add, low, high, 10_000))
        cycle = cycle[: until_heard(cycle, trip, rate, burst, bucket)]
        passed, dropped, bucket = policed(cycle, rate, burst, trip, bucket)
        peak = cycle[-1][1]
        found.append((duration(cycle), passed, dropped, peak))
        low = beta * peak
    times, passes, drops, peaks = np.array(found[cycles // 2 :]).sum(axis=0)
    return passes / times, drops / (passes + drops), peaks / (cycles - cycles // 2)


def cubic_through_policer(
    rate: float, burst: float, trip: float, c: float, beta: float
) -> tuple[float, float, float] | None:
    """The same for a cubic growth; None where the growth of section 4.3 is the faster one.

    The largest window is the one with which the bucket is empty a round trip before the window is reached.
    """
    low, high = rate * trip, rate * trip / beta
    steps = 10_000

    def early(peak: float) -> float:
        """The time by which the bucket is empty too early, for a bucket that the cycle itself has filled."""
        cycle = list(cubic_growth(peak, beta, c, steps))
        bucket, now, empty = 0.0, 0.0, math.inf
        for time, window in cycle:
            bucket = min(burst, bucket + time * (rate - window / trip))
            now += time
            if bucket <= 0.0 and window > rate * trip:
                empty = min(empty, now)
                break
            bucket = max(0.0, bucket)
        return duration(cycle) - empty - trip

    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if early(middle) < 0.0 else (low, middle)
    both = growths(lambda _: trip, low, beta, c, steps)
    if duration(both[0]) < 1.05 * duration(both[1]):
        return None
    passed, dropped, _ = policed(both[1], rate, burst, trip, 0.0)
    return passed / duration(both[1]), dropped / (passed + dropped), low


# ---- CoDel


def times_of_drops(number: int, interval: float) -> list[float]:
    """RFC 8289 section 5: the first drop after an interval above the target, each next one interval / sqrt(count)."""
    now, found = interval, []
    for count in range(1, number + 1):
        found.append(now)
        now += interval / math.sqrt(count)
    return found


def queue_at_reaction(rate: float, rtt: float, target: float, interval: float, add: float) -> float:
    """A window that grows round by round from the target on: a round trip after an interval above it, it is cut."""
    trip = rtt + target
    now, queue, drop, step = 0.0, rate * target, math.inf, 1e-4 * trip
    while now < drop + trip:
        queue += add * step / trip
        now += step
        if drop == math.inf and now >= interval:
            drop = now
    return queue


def loss_for_window(window: float, trip: float, c: float | None, beta: float) -> float:
    """The losses a packet with which a window has a mean: a cycle of it, with a loss at its end.

    Reno without `c`; CUBIC has the loss of that growth which needs more of them.
    """
    cycles = [list(linear_growth(lambda _: trip, 1.0, 0.5, 1.0, 2000))]
    found = []
    if c is None:
        sent = sum(one for _, one in cycles[0]) / len(cycles[0])
        peak = window / sent
        found.append(1.0 / ((peak / 2.0) * window))
        return found[0]
    alpha = 3.0 * (1.0 - beta) / (1.0 + beta)
    peak = 2.0 * window / (1.0 + beta)
    found.append(1.0 / ((1.0 - beta) * peak / alpha * window))
    low, high = window, 10.0 * window
    for _ in range(80):
        peak = 0.5 * (low + high)
        mean = sum(one for _, one in cubic_growth(peak, beta, c, 400)) / 400
        low, high = (peak, high) if mean < window else (low, peak)
    k = (peak * (1.0 - beta) / c) ** (1.0 / 3.0)
    found.append(trip / (window * k))
    return max(found)


# ---- the PI loop


def windows_and_queue(
    link: tuple[float, float, float], state: np.ndarray, before: np.ndarray, p: float, kind: str
) -> np.ndarray:
    """Misra, Gong, Towsley: the fluid of windows and queue; `before` is the state a round trip ago.

    The queue is a delay [s]. Scalable flows lose half a packet for each mark.
    """
    n, c, rtt = link
    window, delay = state
    trip, trip_before = rtt + delay, rtt + before[1]
    decrease = 0.5 if kind == "pi2-scalable" else window / 2.0
    grown = 1.0 / trip - decrease * before[0] / trip_before * p
    return np.array([grown, n * window / trip / c - 1.0])


def open_loop(
    link: tuple[float, float, float], target: float, parameters: tuple[float, float, float], kind: str
) -> Callable[[np.ndarray], np.ndarray]:
    """L(j omega) from the differences of the fluid's right side, as Hollot and others take them.

    They leave out how the growth of windows depends on the delay, and take the window a round trip ago for that of now.
    """
    (n, c, rtt), (alpha, beta, update) = link, parameters
    trip = rtt + target
    window = trip * c / n
    rest = np.array([window, target])
    p = 2.0 / window if kind == "pi2-scalable" else 2.0 / window**2
    h = 1e-6

    def right(state: np.ndarray, before: np.ndarray, probability: float) -> np.ndarray:
        return windows_and_queue(link, state, before, probability, kind)

    def slope(row: int, column: int) -> float:
        ahead, behind = rest.copy(), rest.copy()
        ahead[column] *= 1.0 + h
        behind[column] *= 1.0 - h
        if row == 0:
            change = right(ahead, ahead, p) - right(behind, behind, p)
        else:
            change = right(ahead, rest, p) - right(behind, rest, p)
        return float(change[row] / (2.0 * h * rest[column]))

    by_window, queue_by_window, queue_by_queue = slope(0, 0), slope(1, 0), slope(1, 1)
    by_p = float((right(rest, rest, p * (1.0 + h)) - right(rest, rest, p * (1.0 - h)))[0] / (2.0 * h * p))
    scale = 1.0
    if kind == "pie":
        # RFC 8033 section 4.2.
        powers = [(0.1, 2), (0.01, 8), (0.001, 32), (0.0001, 128), (0.00001, 512), (0.000001, 2048)]
        scale = 1.0 / max([by for limit, by in powers if p < limit], default=1)
    if kind == "pi2":
        scale = 2.0 * math.sqrt(p)

    def loop(omega: np.ndarray) -> np.ndarray:
        s = 1j * omega
        windows = by_p / (s - by_window)
        plant = queue_by_window * windows / (s - queue_by_queue) * np.exp(-s * trip)
        # p_n = p_{n-1} + alpha (d_n - target) + beta (d_n - d_{n-1}), with z = (1 + s T / 2) / (1 - s T / 2).
        controller = (alpha / update + s * (beta + alpha / 2.0)) / s
        return np.asarray(-plant * controller * scale)

    return loop


def margins(loop: Callable[[np.ndarray], np.ndarray], trip: float) -> tuple[float, float, float]:
    """Crossover [rad/s], phase margin [degree] and gain margin [dB], read from a dense table of the loop."""
    omega = np.geomspace(1e-6 / trip, 1e3 / trip, 200_000)
    values = loop(omega)
    phase = np.unwrap(np.angle(values))
    gain = np.log(np.abs(values))
    crossover = float(np.interp(0.0, -gain, np.log(omega)))
    margin = 180.0 + float(np.degrees(np.interp(crossover, np.log(omega), phase)))
    last = int(np.flatnonzero(phase > -math.pi)[-1])
    between = (phase[last] + math.pi) / (phase[last] - phase[last + 1])
    return (
        math.exp(crossover),
        margin,
        -20.0 / math.log(10.0) * float(gain[last] + between * (gain[last + 1] - gain[last])),
    )


def disturbance_grows(link: tuple[float, float, float], target: float, parameters: tuple[float, float, float]) -> bool:
    """Whether a disturbance of the linear fluid with PI's own updates grows: the equations are stepped in time."""
    (n, c, rtt), (alpha, beta, update) = link, parameters
    trip = rtt + target
    window = trip * c / n
    step = min(trip, update) / 60.0
    delayed = round(trip / step)
    every = round(update / step)
    total = 400 * delayed
    state = np.zeros((total + 1, 2))
    probability = np.zeros(total + 1)
    state[0] = [0.0, 0.01 * target]
    old = 0.01 * target
    for now in range(total):
        if now % every == 0:
            delay = state[now, 1]
            probability[now:] += alpha * delay + beta * (delay - old)
            old = delay
        heard = probability[now - delayed] if now >= delayed else 0.0
        w, q = state[now]
        state[now + 1, 0] = w + step * (-2.0 / (window * trip) * w - window**2 / (2.0 * trip) * heard)
        state[now + 1, 1] = q + step * (n / (c * trip) * w - q / trip)
        if not np.isfinite(state[now + 1]).all() or abs(state[now + 1, 1]) > 1e6 * target:
            return True
    part = total // 4
    return bool(np.abs(state[-part:, 1]).max() > np.abs(state[part : 2 * part, 1]).max())


# ---- coupled queues


def coupled(
    flows: tuple[float, float], rate: float, trips: tuple[float, float], k: float, tooth: tuple[float, float]
) -> tuple[float, float, float]:
    """p' and both rates, where the flows fill the link: windows of a tooth with a loss, and of growth and marks."""
    (n_c, n_l), (r_c, r_l), (add, beta) = flows, trips, tooth

    def window_of_classic(p: float) -> float:
        # A tooth from beta W to W in (1 - beta) W / add round trips, with one loss in all of its packets.
        peak = math.sqrt(1.0 / p * add / ((1.0 - beta) * (1.0 + beta) / 2.0))
        return (beta * peak + peak) / 2.0

    def rates(base: float) -> tuple[float, float]:
        # RFC 9332 section 2.1: p_C = p'^2, p_CL = k p'. A scalable window: one packet a round trip, less p_CL W / 2.
        scalable = 1.0 / (k * base / 2.0)
        return window_of_classic(base * base) / r_c, scalable / r_l

    low, high = 1e-12, 1e6
    for _ in range(200):
        base = math.sqrt(low * high)
        classic, scalable = rates(base)
        low, high = (base, high) if n_c * classic + n_l * scalable > rate else (low, base)
    return (base, *rates(base))
