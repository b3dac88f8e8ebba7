"""Draws single flows through a queue that decides without chance, whose packets should all be the kernel's."""

from typing import Any

from crosscheck.linux.draw import LARGE_BUFFERS, log_between, mixed, steady_control, tcp_options
from crosscheck.linux.recorded import ACK_BYTES, WITHOUT_ECN, managed

QUEUED = "queued"
"""Part of the names of these paths."""
QUEUES = ("codel", "fq-codel", "cake", "sfq")
"""Queues that draw no random numbers, as long as CAKE does not overflow."""
PACKET_BYTES = 1500
MOST_PACKETS = 3000
"""Packets of a drawn run."""
LEAST_S, MOST_S = 3, 20


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
    unit_bps = 8 * PACKET_BYTES
    rate_bps = unit_bps * (2 * round(log_between(random, 1e6, 8e6) / unit_bps / 2) + 1)
    trip_ms, ecn = round(log_between(random, 8, 200), 3), queue not in WITHOUT_ECN and random.integer(0, 1) == 1
    tcp = tcp_options(random)
    # Without SACK one ACK may let a hundred lost packets out, as in `draw_scripted`.
    tcp.pop("sack", None)
    own = {"congestion_control": steady_control(random), "ecn": "classic" if ecn else "off"}
    link = {"name": "bottleneck", "rate": f"{rate_bps} bit/s", "reverse": {"rate": "unlimited"}}
    flow = {
        "name": "flow1",
        "path": ["bottleneck"],
        "two_way_propagation": f"{trip_ms} ms",
        "packet": f"{PACKET_BYTES} B",
        "ack": f"{ACK_BYTES if tcp.get('timestamps', True) else ACK_BYTES - 12} B",
        "start": "0.1 s",
        "tcp": {"preset": "linux-cubic", "handshake": "tcp"} | tcp | LARGE_BUFFERS | own,
        **({"host": "client"} if queue == "cake" else {}),
    }
    duration_s = min(MOST_S, max(LEAST_S, round(MOST_PACKETS * unit_bps / rate_bps)))
    return {
        "title": f"seed{seed}-{QUEUED}-{queue}-{number:02d}",
        "link": [link | managed(queue, ecn=ecn)],
        "flow": [flow],
        "run": {"duration": f"{duration_s} s", "warmup": f"{duration_s / 4} s"},
    }
