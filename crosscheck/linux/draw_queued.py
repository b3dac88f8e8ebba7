"""Draws single flows through a queue that decides without chance, whose packets should be the kernel's."""

from typing import Any

from crosscheck.linux.draw import LARGE_BUFFERS, log_between, mixed, steady_control, tcp_options
from crosscheck.linux.recorded import ACK_BYTES, WITHOUT_ECN, managed
from crosscheck.mrg32k3a import Mrg32k3a

QUEUED = "queued"
"""Part of the names of these paths."""
QUEUES = ("codel", "fq-codel", "cake", "sfq")
"""Queues that draw no random numbers, as long as CAKE does not overflow."""
DROP_TAIL = "drop-tail"
LEAST_BUFFER = 8
PACKET_BYTES = 1500
UNIT_BPS = 8 * PACKET_BYTES
MOST_PACKETS = 3000
"""Packets of a drawn run."""
LEAST_S, MOST_S = 3, 20
PACED = "paced"
"""Part of the names of the paths with BBR."""
LONGEST_PACED_S = 9
"""Longest run of BBR's [s]: it draws a phase again after 10 s, when it has measured the round trip."""


def draw_queued(seed: int, number: int) -> dict[str, Any]:
    """Draw a scenario of one flow whose bottleneck has an AQM or a scheduler.

    Parameters
    ----------
    seed, number : int
        Choose the scenario; it is the same whatever else is drawn.

    Returns
    -------
    dict
        A scenario in the users' form: 1 to 8 Mbit/s, round trips of 8 to 200 ms, one flow of any control that draws no
        random numbers, with options that a host may have, half of the time with ECN where the queue marks. The packets
        of CoDel's interval of 100 ms are an odd number of tenths, so that its end and a departure do not meet.
    """
    random, queue = mixed(seed + 5_915_587 * (number + 1)), QUEUES[(seed + number) % len(QUEUES)]
    drawn = _one_flow(random, queue, MOST_S)
    drawn["flow"][0]["tcp"]["congestion_control"] = steady_control(random)
    return drawn | {"title": f"seed{seed}-{QUEUED}-{queue}-{number:02d}"}


def draw_paced(seed: int, number: int) -> dict[str, Any]:
    """Draw a scenario of one flow of BBR through drop-tail, an AQM or a scheduler.

    Parameters
    ----------
    seed, number : int
        Choose the scenario; it is the same whatever else is drawn.

    Returns
    -------
    dict
        A scenario as `draw_queued` draws it, but with BBR. Drop-tail has room for 8 packets at least, and for 0.3 to 3
        bandwidth-delay products.
    """
    random, number_of_queue = mixed(seed + 7_368_787 * (number + 1)), (seed + number) % (len(QUEUES) + 1)
    queue = (DROP_TAIL, *QUEUES)[number_of_queue]
    drawn = _one_flow(random, queue, LONGEST_PACED_S)
    drawn["flow"][0]["tcp"]["congestion_control"] = "bbr"
    return drawn | {"title": f"seed{seed}-{PACED}-{queue}-{number:02d}"}


def _one_flow(random: Mrg32k3a, queue: str, most_s: int) -> dict[str, Any]:
    """Draw link and flow without its control, for some 3,000 packets but no longer than a time [s]."""
    rate_bps = UNIT_BPS * (2 * round(log_between(random, 1e6, 8e6) / UNIT_BPS / 2) + 1)
    trip_ms = round(log_between(random, 8, 200), 3)
    ecn = queue not in {*WITHOUT_ECN, DROP_TAIL} and random.integer(0, 1) == 1
    tcp = tcp_options(random)
    # Without SACK one ACK may let a hundred lost packets out, as in `draw_scripted`.
    tcp.pop("sack", None)
    link = {"name": "bottleneck", "rate": f"{rate_bps} bit/s", "reverse": {"rate": "unlimited"}}
    if queue == DROP_TAIL:
        product = rate_bps * trip_ms / 1e3 / UNIT_BPS
        link["buffer"] = f"{max(LEAST_BUFFER, round(product * log_between(random, 0.3, 3)))} pkt"
    flow = {
        "name": "flow1",
        "path": ["bottleneck"],
        "two_way_propagation": f"{trip_ms} ms",
        "packet": f"{PACKET_BYTES} B",
        "ack": f"{ACK_BYTES if tcp.get('timestamps', True) else ACK_BYTES - 12} B",
        "start": "0.1 s",
        "tcp": {"preset": "linux-cubic", "handshake": "tcp"}
        | tcp
        | LARGE_BUFFERS
        | {"ecn": "classic" if ecn else "off"},
        **({"host": "client"} if queue == "cake" else {}),
    }
    duration_s = min(most_s, max(LEAST_S, round(MOST_PACKETS * UNIT_BPS / rate_bps)))
    return {
        "link": [link if queue == DROP_TAIL else link | managed(queue, ecn=ecn)],
        "flow": [flow],
        "run": {"duration": f"{duration_s} s", "warmup": f"{duration_s / 4} s"},
    }
