"""Draw deterministic scenarios from a seed: rates and delays at random, the axes of TCP in turn."""

from collections.abc import Sequence

from crosscheck import build
from crosscheck.mrg32k3a import M2, Mrg32k3a
from crosscheck.subset import Scenario

DEFAULT_SEED = 2
DEFAULT_COUNT = 28

RECOVERIES = ("old-tahoe", "tahoe", "reno", "newreno")
THRESHOLDS = (3, 2, 4, 3, 5)
TICKS_S = (0.1, 0.01, 0.1, 0.5)
MOST_LINKS = 6
WARM_UP_DRAWS = 32


def draw(seed: int, count: int = DEFAULT_COUNT) -> list[Scenario]:
    """Draw resolved scenarios that ns-2 can play.

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
    return [draw_one(seed, number) for number in range(count)]


def generator(seed: int, number: int) -> Mrg32k3a:
    """Return the random numbers of the scenario of a number."""
    random = Mrg32k3a((seed * 100_003 + number) % (M2 - 1) + 1)
    for _ in range(WARM_UP_DRAWS):  # the first numbers of neighbouring seeds lie close together
        random.uniform()
    return random


def begin(seed: int, number: int, first_number: int, name: str) -> tuple[Mrg32k3a, Scenario]:
    """Begin a scenario of another drawing: a plain one of one flow, since two often meet at one instant.

    Parameters
    ----------
    seed, number : int
        Choose the scenario, in the other drawing.
    first_number : int
        Number from which on its plain scenarios are drawn, which nothing else draws.
    name : str
        Its name in the title, behind the seed.

    Returns
    -------
    Mrg32k3a
        The random numbers with which the drawing goes on.
    dict
        The scenario; its title has the traits of the plain one, for the drawing to add its own.
    """
    plain = draw_one(seed, first_number + number)
    hops = len(plain["flows"][0]["path"])
    _, _, *traits = plain["title"].replace("-two-flows", "").split("-")
    title = "-".join([f"seed{seed}", name, *traits])
    scenario = plain | {"title": title, "flows": plain["flows"][:1], "elements": plain["elements"][: 2 * hops]}
    return generator(seed, 2 * first_number + number), scenario


def draw_one(seed: int, number: int) -> Scenario:
    """Draw the scenario of a number; any number from 0 on is one."""
    random = generator(seed, number)
    hops = 1 + (number + number // 4) % MOST_LINKS
    two_flows = hops > 1 and number % 5 == 3
    links = _single_link(random) if hops == 1 else _chain(random, hops)
    if number % 4 == 2:
        links[hops - 1]["counting"] = "waiting"
    most_private_s = 0.008 if hops == 1 else random.choice((0.02, 0.18))
    flows = [draw_flow(random, number, range(hops), range(2 * hops - 1, hops - 1, -1), most_private_s)]
    if two_flows:
        entry = random.integer(1, _slowest(links[:hops]))
        links.append(
            build.link("entry", _above(random, links[:hops]), delay_s=draw_delay(random, 0.02), buffer_packets=60)
        )
        back = range(2 * hops - 1, hops + entry - 1, -1)
        flows.append(draw_flow(random, number + 1, [2 * hops, *range(entry, hops)], back, 0.12))
    title = "-".join([f"seed{seed}", f"{number:02d}", *_traits(flows, hops)])
    return build.scenario(title, links, flows, duration_s=float(random.integer(200, 260)))


def _single_link(random: Mrg32k3a) -> list[Scenario]:
    """Draw one link each way, whose buffer is larger than what the path holds."""
    rate = float(random.integer(400_000, 1_500_000))
    return [
        build.link("hop0", rate, delay_s=draw_delay(random, 0.008), buffer_packets=random.integer(40, 100)),
        build.link("hop0.reverse", float(random.integer(1_000_000, 4_000_000)), delay_s=draw_delay(random, 0.008)),
    ]


def _chain(random: Mrg32k3a, hops: int) -> list[Scenario]:
    """Draw the links of the data's path, then those of the return path, whose buffers have no limit.

    Rates are whole numbers of bit/s and delays whole numbers of nanoseconds without a common measure. The first link
    is a little faster than the slowest one: it spreads what one ACK sends, at another pace than the ACKs come.
    Otherwise each packet of a flight would reach the slowest link, once idle, exactly when the one before departs, and
    rounding alone would decide which packet finds the buffer full.
    """
    slowest = random.integer(1, hops - 1)
    rate = float(random.integer(400_000, 2_500_000))
    rates = [round(rate * random.between(1.05, 2.0)) for _ in range(hops)]
    rates[slowest] = round(rate)
    rates[0] = round(rate * random.between(1.1, 1.45))
    most_buffer = random.choice((20, 100))
    forward = [
        build.link(
            f"hop{hop}",
            float(rates[hop]),
            delay_s=draw_delay(random, 0.12 / hops),
            buffer_packets=random.integer(4, most_buffer),
        )
        for hop in range(hops)
    ]
    backward = [
        build.link(
            f"hop{hop}.reverse", float(random.integer(1_000_000, 4_000_000)), delay_s=draw_delay(random, 0.12 / hops)
        )
        for hop in range(hops)
    ]
    return forward + backward


def _slowest(links: list[Scenario]) -> int:
    return min(range(len(links)), key=lambda hop: links[hop]["rate_bps"])


def _above(random: Mrg32k3a, links: list[Scenario]) -> float:
    """Draw a rate a little above that of the slowest link."""
    return float(round(links[_slowest(links)]["rate_bps"] * random.between(1.1, 1.45)))


def draw_delay(random: Mrg32k3a, most_s: float) -> float:
    """Draw a delay from a millisecond on, in whole nanoseconds [s]."""
    return random.integer(1_000_000, max(2_000_000, round(most_s * 1e9))) / 1e9


def draw_flow(
    random: Mrg32k3a, number: int, path: Sequence[int], return_path: Sequence[int], most_private_s: float
) -> Scenario:
    """Draw a flow over the numbered links; `number` chooses its traits."""
    return build.flow(
        f"flow{path[0]}",
        path,
        return_path,
        _sender(random, number),
        packet_bytes=random.integer(400, 1500),
        forward_delay_s=draw_delay(random, most_private_s),
        return_delay_s=draw_delay(random, most_private_s),
        start_s=random.integer(0, 5_000_000_000) / 1e9 if path[0] else 0.0,
        ack_every=2 if number % 3 == 1 else 1,
        ack_delay_s=_ack_delay(random),
    )


def _ack_delay(random: Mrg32k3a) -> float:
    """Draw the delay of an ACK, longer than the pauses of a window that does not fill the path.

    A shorter one ends in the pause of each round. The packet after the pause then comes at the very instant when the
    timer ends, as the pause is the work of the same timer a round before.
    """
    return random.integer(200_000_000, 450_000_000) / 1e9


LIMITED = ("reno", "newreno")
"""Recoveries whose bursts may be limited: ns-2's others send at each duplicate ACK what the limit held back."""


def _sender(random: Mrg32k3a, number: int) -> Scenario:
    recovery = RECOVERIES[number % len(RECOVERIES)]
    duplicates = recovery != "old-tahoe"
    tick = TICKS_S[(number + number // 4) % len(TICKS_S)]
    return build.sender(
        recovery,
        initial_window=float(random.integer(1, 4)),
        initial_ssthresh=random.integer(4, 60) if number % 3 == 2 else None,
        max_window=random.integer(12, 60) if number % 7 == 5 else None,
        increase="counted" if number % 6 == 4 else "reciprocal",
        dupack_threshold=THRESHOLDS[number // 4 % len(THRESHOLDS)] if duplicates else None,
        limited_transmit=duplicates and number % 5 in {2, 4},
        max_burst=1 + number % 4 if number % 11 == 8 and recovery in LIMITED else None,
        partial_ack_timer="slow-but-steady" if number // 4 % 2 else "impatient",
        rto=build.rto(
            granularity_s=tick,
            min_s=random.choice((0.2, 1.0)),
            clock_fraction=random.uniform(),
        ),
    )


def _traits(flows: list[Scenario], hops: int) -> list[str]:
    """Say in words what a scenario has beyond the plainest one."""
    connection = flows[0]["traffic"]["connection"]
    sender, receiver = connection["sender"], connection["receiver"]
    traits = {
        "two-flows": len(flows) > 1,
        "delayed-acks": receiver["ack_every"] > 1,
        "limited-transmit": sender["limited_transmit"],
        "max-burst": sender["max_burst"] is not None,
        "counted": sender["increase"] == "counted",
        "window": sender["max_window"] is not None,
        "threshold": sender["initial_ssthresh"] is not None,
        "slow-but-steady": sender["recovery"] == "newreno" and sender["partial_ack_timer"] == "slow-but-steady",
    }
    duplicates = sender["dupack_threshold"]
    return [
        sender["recovery"],
        f"{hops}-link" if hops == 1 else f"{hops}-links",
        *([f"D{duplicates}"] if duplicates else []),
        *(name for name, present in traits.items() if present),
    ]
