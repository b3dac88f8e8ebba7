"""Draws single-bottleneck scenarios from a seed."""

import math
from typing import Any

from crosscheck.linux.recorded import ACK_BYTES, BUFFER_BYTES, MOST_BUFFER_BYTES, WITHOUT_ECN, managed
from crosscheck.mrg32k3a import Mrg32k3a

MOST_PACKETS = 60_000
"""Packets of a drawn run; faster links run for a shorter time."""
LEAST_S, MOST_S = 10, 120
CONTROLS = ("cubic", "reno", "bbr")
STOCK_BUFFERS = {
    "receive_buffer": "131072 B",
    "receive_buffer_max": "6291456 B",
    "send_buffer": "16384 B",
    "send_buffer_max": "4194304 B",
}
"""Socket buffers of a host whose settings nobody changed (`tcp_rmem`, `tcp_wmem`)."""
MANAGED = ("codel", "pie", "fq-codel", "fq-pie", "red", "cake", "sfq")
"""Queues of drawn paths with an AQM or a scheduler, set up as those of the recorded runs."""
MANAGED_PACKETS = 40_000
"""Packets of a drawn run with one of these queues, or with losses or delays that change."""
OLDER_CONTROLS = ("vegas", "westwood", "htcp", "hybla", "illinois", "scalable", "highspeed")
"""Linux's other congestion controls."""
SCRIPTED = "scripted"
"""Part of the names of paths whose packets should all be the kernel's."""
MIXING = 10
"""Random numbers that `mixed` leaves out."""
MOST_LOST = 300
"""Most packets that a drawn path loses by their numbers, which the guest reads on its command line."""
LARGE_BUFFERS = {"receive_buffer": f"{BUFFER_BYTES} B", "receive_buffer_max": f"{MOST_BUFFER_BYTES} B"}


def draw(seed: int, number: int) -> dict[str, Any]:
    """Draw a scenario.

    Parameters
    ----------
    seed, number : int
        Choose the scenario; it is the same whatever else is drawn.

    Returns
    -------
    dict
        A scenario in the users' form: 1 to 100 Mbit/s, round trips of 5 to 300 ms, a buffer of 0.2 to 4 times the
        bandwidth-delay product, one to three flows of cubic, reno or bbr with handshakes, every fourth of them finite;
        one host in three has stock buffers, the others large ones.
    """
    random = Mrg32k3a(seed + 7919 * (number + 1))
    link, rate_bps, packet_bytes, trip_ms = _bottleneck(random, 0.2)
    duration_s = _duration_s(MOST_PACKETS, rate_bps, packet_bytes)
    buffers = STOCK_BUFFERS if random.integer(0, 2) == 0 else {}
    flows = [
        _flow(random, count, trip_ms, packet_bytes, duration_s) | {"tcp": {**_tcp(random), **buffers}}
        for count in range(random.integer(1, 3))
    ]
    return {"title": f"seed{seed}-{number:02d}", "link": [link], "flow": flows, "run": _run(duration_s)}


def draw_managed(seed: int, number: int) -> dict[str, Any]:
    """Draw a scenario whose bottleneck has an AQM or a scheduler.

    Parameters
    ----------
    seed, number : int
        Choose the scenario; it is the same whatever else is drawn.

    Returns
    -------
    dict
        A scenario in the users' form: 2 to 60 Mbit/s, round trips of 10 to 150 ms, 1 to 16 flows of one or two of
        cubic, reno and bbr with handshakes, half of them with ECN where the queue marks.
    """
    random, queue = Mrg32k3a(seed + 104_729 * (number + 1)), MANAGED[(seed + number) % len(MANAGED)]
    controls = [random.choice(CONTROLS), random.choice(CONTROLS)]
    rate_bps = 8000 * round(log_between(random, 2e6, 60e6) / 8000)
    trip_ms = round(log_between(random, 10, 150), 3)
    duration_s = min(60, max(LEAST_S, round(MANAGED_PACKETS * 12_000 / rate_bps)))
    ecn = queue not in WITHOUT_ECN and random.integer(0, 1) == 1
    link = {"name": "bottleneck", "rate": f"{rate_bps} bit/s", "reverse": {"rate": "unlimited"}}
    flows = [
        {
            "name": f"flow{count + 1}",
            "path": ["bottleneck"],
            "two_way_propagation": f"{trip_ms} ms",
            "packet": "1500 B",
            "ack": f"{ACK_BYTES} B",
            "start": f"{random.between(0.0, 1.0):.6f} s",
            "tcp": {
                "preset": f"linux-{controls[count % 2]}",
                "handshake": "tcp",
                "ecn": "classic" if ecn else "off",
            },
            **({"host": "client"} if queue == "cake" else {}),
        }
        for count in range(random.choice((1, 2, 4, 8, 16)))
    ]
    return {
        "title": f"seed{seed}-{queue}-{number:02d}",
        "link": [link | managed(queue, ecn=ecn)],
        "flow": flows,
        "run": _run(duration_s),
    }


def draw_asymmetric(seed: int, number: int) -> dict[str, Any]:
    """Draw a scenario with drop-tail whose ACKs have a narrow link, and wait or are dropped there.

    Parameters
    ----------
    seed, number : int
        Choose the scenario; it is the same whatever else is drawn.

    Returns
    -------
    dict
        A scenario of `draw`, with a return path whose ACKs, one for two packets of data at the full rate, would load it
        0.4 to 3 times, and which holds 10 to 300 of them.
    """
    scenario, random = draw(seed + 1_299_709, number), Mrg32k3a(seed + 15_485_863 * (number + 1))
    (link,), packet_bytes = scenario["link"], int(scenario["flow"][0]["packet"].split()[0])
    of_data = ACK_BYTES / (2 * packet_bytes)
    rate_bps = 80 * round(float(link["rate"].split()[0]) * of_data / log_between(random, 0.4, 3.0) / 80)
    link["reverse"] = {"rate": f"{rate_bps} bit/s", "buffer": f"{round(log_between(random, 10, 300))} pkt"}
    return scenario | {"title": f"seed{seed}-asymmetric-{number:02d}"}


def draw_impaired(seed: int, number: int) -> dict[str, Any]:
    """Draw a scenario that loses packets by their numbers, or whose delay steps up, behind the bottleneck.

    Parameters
    ----------
    seed, number : int
        Choose the scenario; it is the same whatever else is drawn.

    Returns
    -------
    dict
        A scenario in the users' form: 1 to 100 Mbit/s, round trips of 5 to 300 ms, a buffer of 0.3 to 4 times the
        bandwidth-delay product with drop-tail, one or two flows of any of Linux's congestion controls with handshakes,
        some of them without RACK, tail loss probes, F-RTO or timestamps, or with another initial window. Packets are
        lost one by one or in bursts, or the delay steps up by 10 to 600 ms, in half of these for a while; then some are
        without SACK too. (Without it one ACK may let a hundred lost packets out, of which the kernel sends some later:
        its host's queue is small.)
    """
    random = Mrg32k3a(seed + 611_953 * (number + 1))
    link, rate_bps, packet_bytes, trip_ms = _bottleneck(random, 0.3)
    duration_s = _duration_s(MANAGED_PACKETS, rate_bps, packet_bytes)
    tcp, forward_ms = tcp_options(random), round(trip_ms / 2, 3)
    trips_ms = [trip_ms, *([round(trip_ms * random.between(0.6, 2.0), 3)] if random.integer(0, 3) == 0 else [])]
    wire = {"name": "wire", "rate": "unlimited", "delay": f"{forward_ms} ms"}
    back = [
        {"name": f"back{count}", "rate": "unlimited", "delay": f"{trip - forward_ms:.3f} ms"}
        for count, trip in enumerate(trips_ms, 1)
    ]
    counts = range(1, len(trips_ms) + 1)
    flows = [_drawn_impaired_flow(random, count, tcp, packet_bytes, duration_s / 8) for count in counts]
    impairment = _impairment(random, int(rate_bps * duration_s / 8 / packet_bytes), duration_s)
    if "loss" in impairment:
        for flow in flows:
            flow["tcp"].pop("sack", None)
    return {
        "title": f"seed{seed}-impaired-{number:02d}",
        "link": [link, wire | impairment, *back],
        "flow": flows,
        "run": _run(duration_s),
    }


def draw_marked(seed: int, number: int) -> dict[str, Any]:
    """Draw a scenario of DCTCP whose bottleneck marks, and which loses packets by their numbers behind it.

    Parameters
    ----------
    seed, number : int
        Choose the scenario; it is the same whatever else is drawn.

    Returns
    -------
    dict
        A scenario in the users' form: 10 to 200 Mbit/s, round trips of 0.5 to 20 ms, marks from a queueing delay of 0.2
        to 5 ms on (CoDel's `ce_threshold`), one to four flows of dctcp with handshakes.
    """
    random = Mrg32k3a(seed + 32_452_843 * (number + 1))
    rate_bps, packet_bytes = 8000 * round(log_between(random, 10e6, 200e6) / 8000), 1500
    delay_ms = round(log_between(random, 0.25, 10), 3)
    duration_s = min(30, max(4, round(MANAGED_PACKETS * packet_bytes * 8 / rate_bps)))
    packets = rate_bps * duration_s // 8 // packet_bytes
    rate = min(log_between(random, 1e-4, 3e-3), 0.8 * MOST_LOST / packets)
    lost = [packet for packet in range(200, packets) if random.uniform() < rate][:MOST_LOST] or [1000]
    link = {"name": "bottleneck", "rate": f"{rate_bps} bit/s", "reverse": {"rate": "unlimited"}}
    threshold = {"ce_threshold": f"{round(log_between(random, 0.2, 5), 3)} ms"}
    queue = managed("codel", ecn=True)
    wire = {"name": "wire", "rate": "unlimited", "delay": f"{delay_ms} ms"}
    flows = [
        {
            "name": f"flow{count + 1}",
            "path": ["bottleneck", "wire"],
            "return_path": ["bottleneck.reverse", "back"],
            "packet": f"{packet_bytes} B",
            "ack": f"{ACK_BYTES} B",
            "start": f"{random.between(0.0, 0.3):.6f} s",
            "tcp": {"preset": "linux-dctcp", "handshake": "tcp"},
        }
        for count in range(random.choice((1, 1, 2, 4)))
    ]
    return {
        "title": f"seed{seed}-marked-{number:02d}",
        "link": [
            link | queue | {"queue": queue["queue"] | threshold},
            wire | {"loss": {"model": "packets", "packets": lost, "applies_to": "data"}},
            {"name": "back", "rate": "unlimited", "delay": f"{delay_ms} ms"},
        ],
        "flow": flows,
        "run": _run(duration_s),
    }


def draw_scripted(seed: int, number: int) -> dict[str, Any]:
    """Draw a scenario of one flow whose packets should be the kernel's, each of them.

    Parameters
    ----------
    seed, number : int
        Choose the scenario; it is the same whatever else is drawn.

    Returns
    -------
    dict
        A scenario in the users' form: 30 to 1500 packets of 1500 bytes at 1 to 8 Mbit/s, round trips of 4 to 250 ms and
        a buffer that is never full. Packets are lost by their numbers, singly or in bursts, or the delay goes up and
        down. The flow has any control that draws no random numbers, with options that a host may have; without SACK
        only where the delay changes, as in `draw_impaired`. Faster links would show in which slack a timer of the
        kernel's for held ACKs expires.
    """
    random = mixed(seed + 4_256_233 * (number + 1))
    rate_bps = 8000 * round(log_between(random, 1e6, 8e6) / 8000)
    trip_ms, size = round(log_between(random, 4, 250), 3), round(log_between(random, 30, 1500))
    tcp, kind = tcp_options(random), random.choice(("losses", "bursts", "steps"))
    if kind == "steps":
        impairment = _changes(random, size * 12_000 / rate_bps + trip_ms / 100)
    else:
        lost = _single(random, size + size // 3, 0.15) if kind == "losses" else _bursts(random, size + 10)
        impairment = _lost(lost)
        tcp.pop("sack", None)
    forward_ms = round(trip_ms / 2, 3)
    links = [
        {"name": "bottleneck", "rate": f"{rate_bps} bit/s", "buffer": "20000 pkt", "reverse": {"rate": "unlimited"}},
        {"name": "wire", "rate": "unlimited", "delay": f"{forward_ms} ms"} | impairment,
        {"name": "back1", "rate": "unlimited", "delay": f"{trip_ms - forward_ms:.3f} ms"},
    ]
    control = steady_control(random)
    flow = _impaired_flow(1, tcp | {"congestion_control": control}, 1500, 0.1) | {"size": f"{size} pkt"}
    run = {"duration": "30 s", "warmup": "0.1 s"}
    return {"title": f"seed{seed}-{SCRIPTED}-{number:02d}", "link": links, "flow": [flow], "run": run}


def _bottleneck(random: Mrg32k3a, least_product: float) -> tuple[dict[str, Any], int, int, float]:
    """Draw a link with drop-tail, whose rate [bit/s] is given too; and the bytes of a packet and a round trip [ms]."""
    rate_bps = 8000 * round(log_between(random, 1e6, 100e6) / 8000)
    packet_bytes = random.choice((1500, 1500, 576))
    trip_ms = round(log_between(random, 5, 300), 3)
    product = rate_bps * trip_ms / 1e3 / 8 / packet_bytes
    buffer = f"{max(8, round(product * log_between(random, least_product, 4.0)))} pkt"
    link = {"name": "bottleneck", "rate": f"{rate_bps} bit/s", "buffer": buffer, "reverse": {"rate": "unlimited"}}
    return link, rate_bps, packet_bytes, trip_ms


def _duration_s(packets: int, rate_bps: int, packet_bytes: int) -> int:
    return min(MOST_S, max(LEAST_S, round(packets * packet_bytes * 8 / rate_bps)))


def _run(duration_s: int) -> dict[str, Any]:
    return {"duration": f"{duration_s} s", "warmup": f"{duration_s / 4} s"}


def _drawn_impaired_flow(
    random: Mrg32k3a, number: int, tcp: dict[str, Any], packet_bytes: int, latest_s: float
) -> dict[str, Any]:
    start_s = random.between(0.0, latest_s)
    control = random.choice((*CONTROLS, *CONTROLS, *OLDER_CONTROLS))
    return _impaired_flow(number, {"congestion_control": control} | tcp, packet_bytes, start_s)


def _impaired_flow(number: int, tcp: dict[str, Any], packet_bytes: int, start_s: float) -> dict[str, Any]:
    ack_bytes = ACK_BYTES if tcp.get("timestamps", True) else ACK_BYTES - 12
    return {
        "name": f"flow{number}",
        "path": ["bottleneck", "wire"],
        "return_path": ["bottleneck.reverse", f"back{number}"],
        "packet": f"{packet_bytes} B",
        "ack": f"{ack_bytes} B",
        "start": f"{start_s:.6f} s",
        "tcp": {"preset": "linux-cubic", "handshake": "tcp"} | tcp | LARGE_BUFFERS,
    }


def mixed(seed: int) -> Mrg32k3a:
    """Give the random numbers of a seed without the first ones, which are close where seeds are."""
    random = Mrg32k3a(seed)
    for _ in range(MIXING):
        random.uniform()
    return random


def steady_control(random: Mrg32k3a) -> str:
    """Draw a congestion control that draws no random numbers itself."""
    return str(random.choice(("cubic", "reno", "cubic", "reno", *OLDER_CONTROLS)))


def tcp_options(random: Mrg32k3a) -> dict[str, Any]:
    """Draw what is not as Linux has it by default."""
    drawn: dict[str, Any] = random.choice(({"sack": False}, {"loss_detection": "dupack"}, {}, {}, {}))
    for option in ("tail_loss_probe", "frto", "timestamps"):
        if random.integer(0, 4) == 0:
            drawn = drawn | {option: False}
    if random.integer(0, 3) == 0:
        drawn = drawn | {"initial_window": f"{random.choice((2, 4, 16, 32))} pkt"}
    return drawn


def _impairment(random: Mrg32k3a, packets: int, duration_s: int) -> dict[str, Any]:
    """Draw the losses of a link that some number of packets cross, or its delay over time."""
    kind = random.choice(("losses", "bursts", "steps"))
    if kind == "steps":
        extra_ms, at_s = round(log_between(random, 10, 600), 1), round(random.between(0.2, 0.6) * duration_s, 2)
        back_s = round(at_s + random.between(0.5, 0.3 * duration_s), 2)
        last = [[f"{back_s} s", "0 s"]] if random.integer(0, 1) else []
        steps = [["0 s", "0 s"], [f"{at_s} s", f"{extra_ms} ms"], *last]
        return {"delay_process": {"kind": "steps", "steps": steps}}
    return _lost(_single(random, packets, 3e-2) if kind == "losses" else _bursts(random, packets))


def _single(random: Mrg32k3a, packets: int, most: float) -> set[int]:
    """Draw packets that are lost with one probability each, at most `most`."""
    rate = min(log_between(random, 1e-4 if most < 0.1 else 2e-3, most), 0.8 * MOST_LOST / packets)
    return {packet for packet in range(1, packets) if random.uniform() < rate}


def _bursts(random: Mrg32k3a, packets: int) -> set[int]:
    """Draw packets that are lost in bursts."""
    lost = set()
    for _ in range(random.integer(1, 6)):
        first, rate = random.integer(1, packets), random.between(0.2, 1.0)
        lost |= {first + later for later in range(random.integer(1, 50)) if random.uniform() < rate}
    return lost


def _lost(packets: set[int]) -> dict[str, Any]:
    return {"loss": {"model": "packets", "packets": sorted(packets)[:MOST_LOST] or [1], "applies_to": "data"}}


def _changes(random: Mrg32k3a, duration_s: float) -> dict[str, Any]:
    """Draw one to three instants at which the delay becomes another one, or the first one again."""
    steps, at_s = [["0 s", "0 s"]], 0.0
    for _ in range(random.integer(1, 3)):
        at_s = round(at_s + 0.01 + random.between(0.05, 0.5) * duration_s, 3)
        extra_ms = round(log_between(random, 5, 500), 1) if random.integer(0, 2) else 0.0
        if extra_ms or steps[-1][1] != "0 s":
            steps.append([f"{at_s} s", f"{extra_ms} ms" if extra_ms else "0 s"])
    if len(steps) == 1:
        steps.append([f"{at_s} s", "20 ms"])
    return {"delay_process": {"kind": "steps", "steps": steps}}


def _flow(random: Mrg32k3a, number: int, trip_ms: float, packet_bytes: int, duration_s: int) -> dict[str, Any]:
    trip = trip_ms if number == 0 else round(trip_ms * random.between(0.5, 2.0), 3)
    flow = {
        "name": f"flow{number + 1}",
        "path": ["bottleneck"],
        "two_way_propagation": f"{trip} ms",
        "packet": f"{packet_bytes} B",
        "ack": "52 B",
        "start": f"{random.between(0.0, duration_s / 8):.6f} s",
    }
    if number and random.integer(0, 3) == 0:
        flow["size"] = f"{random.integer(100, 5000)} pkt"
    return flow


def _tcp(random: Mrg32k3a) -> dict[str, Any]:
    return {"preset": f"linux-{random.choice(CONTROLS)}", "handshake": "tcp"}


def log_between(random: Mrg32k3a, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform between those of two others."""
    return float(math.exp(random.between(math.log(low), math.log(high))))
