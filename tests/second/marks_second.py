"""Windows under marks a second time: flows that send packet by packet, and whose marks come one by one."""

import math
import random


def scalable(p: float, packets: int, *, drawn: bool) -> float:
    """Mean window times p of a flow that reduces by p W / 2 at a mark, if a round trip has passed since it last did.

    A fifth of the packets is left out; a window nears its mean within some 5 / p^2 of them.
    """
    noise = random.Random(17)
    window, now, reduced, to_mark = 2.6 / p, 0.0, -1.0, 1.0 / p
    area = began = 0.0
    for number in range(packets):
        if number == packets // 5:
            area, began = 0.0, now
        area, now = area + 1.0, now + 1.0 / window
        to_mark -= 1.0
        if to_mark > 0.0:
            window += 1.0 / window
            continue
        to_mark += -math.log(1.0 - noise.random()) / p if drawn else 1.0 / p
        if now - reduced >= 1.0:
            window, reduced = window * (1.0 - p / 2.0), now
    # A window of packets leaves in a round trip, so packets in a time are the mean window.
    return p * area / (now - began)


def classic(p: float, add: float, beta: float, packets: int) -> float:
    """Mean window times the root of p of a flow that leaves beta of its window at each drop, drawn packet by packet."""
    noise = random.Random(18)
    window, now = 1.0 / math.sqrt(p), 0.0
    for _ in range(packets):
        now += 1.0 / window
        window = beta * window if noise.random() < p else window + add / window
    return math.sqrt(p) * packets / now
