"""Draw scenarios of what else ns-2 and our engine both know: each item of a list in turn, others at random."""

import math
from collections.abc import Callable

from crosscheck import build
from crosscheck.draw import begin, draw_delay, draw_flow
from crosscheck.draw_red import give_red
from crosscheck.draw_ties import tie_prone
from crosscheck.mrg32k3a import Mrg32k3a
from crosscheck.subset import Scenario, connection, link_packet_bytes

DEFAULT_COUNT = 24

FIRST_NUMBER = 5000
"""The plain scenarios below are those of the numbers from here on, which nothing else draws."""

ALSO = 0.2
"""Probability with which each other item is in a scenario too."""


def draw_wide(seed: int, count: int = DEFAULT_COUNT) -> list[Scenario]:
    """Draw resolved scenarios of the wider list.

    Parameters
    ----------
    seed : int
        Chooses the scenarios; scenario i is the same whatever `count` is.
    count : int
        How many.

    Returns
    -------
    list of dict
        Resolved scenarios; the title of each says what is in it.
    """
    return [_scenario(seed, number) for number in range(count)]


def _scenario(seed: int, number: int) -> Scenario:
    random, scenario = begin(seed, number, FIRST_NUMBER, f"w{number:02d}")
    add_items(random, scenario, number)
    return scenario


def add_items(random: Mrg32k3a, scenario: Scenario, number: int) -> None:
    """Give a scenario of one flow the item of its number's turn, and others at random; its title and its time too."""
    names = list(ITEMS)
    in_turn = names[(number + number // len(names)) % len(names)]  # with another TCP each time
    wanted = {in_turn, *(name for name in names if random.uniform() < ALSO)}
    items = [name for name in names if name in wanted]
    scenario["title"] = "-".join([scenario["title"], *items])
    scenario["run"]["duration_s"] = float(random.integer(40, 100))
    for item in items:
        ITEMS[item](random, scenario, number)


def _hops(scenario: Scenario) -> int:
    return len(scenario["flows"][0]["path"])


def _slowest(scenario: Scenario) -> float:
    """Rate of the slowest link of the first flow's path [bit/s]."""
    return min(float(scenario["elements"][link]["rate_bps"]) for link in scenario["flows"][0]["path"])


def _limited(scenario: Scenario) -> list[int]:
    """Numbers of the links with a limited buffer."""
    return [number for number, link in enumerate(scenario["elements"]) if link["buffer"]]


def _senders(scenario: Scenario) -> list[Scenario]:
    return [tcp["sender"] for tcp in filter(None, map(connection, scenario["flows"]))]


def _add_two_way(random: Mrg32k3a, scenario: Scenario, number: int) -> None:
    """Send data the other way over the same links too, whose buffers are limited there: data and ACKs share queues."""
    path = scenario["flows"][0]["path"]
    back = scenario["flows"][0]["traffic"]["connection"]["return_path"]
    rate = _slowest(scenario) * random.between(0.6, 1.6)
    for link in back:
        scenario["elements"][link].update(
            rate_bps=float(round(rate * random.between(1.0, 1.8))), buffer={"packets": random.integer(6, 40)}
        )
    flow = draw_flow(random, number + 1, back, path, 0.02)
    scenario["flows"].append(flow | {"name": "back", "start_s": random.integer(0, 5_000_000_000) / 1e9})


def _add_flows(random: Mrg32k3a, scenario: Scenario, number: int) -> None:
    """Add two to four flows, each with a link of its own at the beginning, over a part of the path."""
    hops = _hops(scenario)
    for index in range(random.integer(2, 4)):
        entry = random.integer(0, hops - 1)
        leave = random.integer(entry, hops - 1)
        own = len(scenario["elements"])
        rate = float(round(_slowest(scenario) * random.between(1.1, 3.0)))
        scenario["elements"].append(
            build.link(f"entry{index}", rate, delay_s=draw_delay(random, 0.02), buffer_packets=random.integer(10, 60))
        )
        path = [own, *range(entry, leave + 1)]
        back = range(2 * hops - 1 - (hops - 1 - leave), hops + entry - 1, -1)
        flow = draw_flow(random, number + 1 + index, path, back, 0.12)
        scenario["flows"].append(flow | {"name": f"entered{index}"})


def _add_sizes(random: Mrg32k3a, scenario: Scenario, number: int) -> None:
    """Give some of the flows an amount to send, and add short transfers that begin later over the same path."""
    for flow in scenario["flows"]:
        if random.uniform() < 0.5:
            flow["traffic"]["size_packets"] = random.integer(200, 5000)
    first = scenario["flows"][0]
    back = first["traffic"]["connection"]["return_path"]
    for index in range(random.integer(2, 5)):
        flow = draw_flow(random, number + 1 + index, first["path"], back, 0.02)
        flow["traffic"]["size_packets"] = random.choice((1, 2, 3, random.integer(4, 30), random.integer(30, 400)))
        start_s = random.integer(0, round(0.7e9 * scenario["run"]["duration_s"])) / 1e9
        scenario["flows"].append(flow | {"name": f"short{index}", "start_s": start_s})


def _add_reverse_buffers(random: Mrg32k3a, scenario: Scenario, _: int) -> None:
    """Make a link of the return path slow, with a short buffer that drops ACKs; nothing where data share it."""
    first = scenario["flows"][0]
    tcp = first["traffic"]["connection"]
    number = random.choice(tcp["return_path"])
    link = scenario["elements"][number]
    if link["buffer"] is None:
        acks_bps = _slowest(scenario) * tcp["ack_bytes"] / first["packet_bytes"] / tcp["receiver"]["ack_every"]
        link.update(
            rate_bps=float(round(acks_bps * random.between(0.5, 1.3))), buffer={"packets": random.integer(3, 12)}
        )


def _add_drop_from_front(random: Mrg32k3a, scenario: Scenario, _: int) -> None:
    """Drop the packet that has waited longest at full buffers: at all, or at some."""
    least = random.choice((0.0, 0.5))
    for number in _limited(scenario):
        if random.uniform() >= least:
            scenario["elements"][number]["queue"]["overflow"] = "front"


def _limit_bytes(scenario: Scenario, wanted: Callable[[float, int, int], int]) -> None:
    """Count buffers in bytes, as many as `wanted` says of rate, packets and size of the largest packet."""
    for number in _limited(scenario):
        link, sizes = scenario["elements"][number], link_packet_bytes(scenario, number)
        if "packets" not in link["buffer"] or not sizes:
            continue
        if len(sizes) > 1 and link["queue"]["overflow"] == "front":
            continue
        if len(sizes) > 1:
            link["counting"] = "waiting"
        limit = wanted(link["rate_bps"], link["buffer"]["packets"], max(sizes))
        link["buffer"] = {"bytes": max(limit, 2 * max(sizes))}


def _add_byte_buffers(random: Mrg32k3a, scenario: Scenario, _: int) -> None:
    _limit_bytes(scenario, lambda _, packets, size: packets * size + random.integer(0, size - 1))


def _add_time_buffers(random: Mrg32k3a, scenario: Scenario, _: int) -> None:
    """Limit buffers to what the link transmits in a whole number of milliseconds, in whole bytes."""

    def drained(rate_bps: float, packets: int, size: int) -> int:
        milliseconds = math.ceil(packets * size * 8e3 / rate_bps) + random.integer(0, 5)
        return buffer_bytes(rate_bps, milliseconds / 1e3)

    _limit_bytes(scenario, drained)


def buffer_bytes(rate_bps: float, buffer_s: float) -> int:
    """Return the whole bytes of a buffer that is given as a time at the link's rate."""
    return math.floor(rate_bps * buffer_s / 8 + 1e-6)


def _add_per_ack(_: Mrg32k3a, scenario: Scenario, __: int) -> None:
    """Measure round trips by time stamps, for each ACK."""
    for sender in _senders(scenario):
        sender["rto"]["sample"] = "per-ack"


def _add_timer(random: Mrg32k3a, scenario: Scenario, _: int) -> None:
    """Draw the initial and the maximum timeout, and lose packets in runs, so that the timer backs off to it."""
    for sender in _senders(scenario):
        sender["rto"] |= {"initial_s": random.choice((1.0, 1.5, 6.0)), "max_s": random.choice((1.3, 2.0, 4.5, 64.0))}
    link = scenario["elements"][random.choice(scenario["flows"][0]["path"])]
    numbers = [random.integer(1, 40)]
    for _run in range(6):
        first = numbers[-1] + random.integer(100, 900)
        numbers += range(first, first + random.integer(4, 40))
    link["loss"] = build.lost_packets(numbers, random.choice(("all", "data")))


def _give_red(random: Mrg32k3a, scenario: Scenario, _: int) -> None:
    give_red(random, scenario)


def _halve_exactly(_: Mrg32k3a, scenario: Scenario, __: int) -> None:
    """Let a loss leave the exact half of the window."""
    for sender in _senders(scenario):
        sender["half_window"] = "fractional"


def _make_tie_prone(random: Mrg32k3a, scenario: Scenario, _: int) -> None:
    tie_prone(random, scenario)


ITEMS: dict[str, Callable[[Mrg32k3a, Scenario, int], None]] = {
    "ties": _make_tie_prone,
    "two-way": _add_two_way,
    "flows": _add_flows,
    "sizes": _add_sizes,
    "reverse-buffers": _add_reverse_buffers,
    "drop-from-front": _add_drop_from_front,
    "byte-buffers": _add_byte_buffers,
    "time-buffers": _add_time_buffers,
    "red": _give_red,
    "per-ack": _add_per_ack,
    "half-window": _halve_exactly,
    "timer": _add_timer,
}
"""The items in the order in which a scenario takes them: paths, flows, links, senders."""
