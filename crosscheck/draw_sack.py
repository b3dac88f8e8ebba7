"""Draw scenarios of ns-2's Sack1: those of the wider list, with selective acknowledgment in all flows or in most."""

from crosscheck import build
from crosscheck.draw import begin, draw_delay
from crosscheck.draw_wide import add_items
from crosscheck.mrg32k3a import Mrg32k3a
from crosscheck.subset import Scenario, connection, link_packet_bytes

DEFAULT_COUNT = 12

FIRST_NUMBER = 50_000
"""The plain scenarios below are those of the numbers from here on, which nothing else draws."""

OTHERS = 0.25
"""Fraction of the scenarios in which flows after the first one may keep their own recovery."""

LOSSY_ACKS = 0.4
"""Fraction of the scenarios that lose single ACKs, with the blocks in them."""

REORDERING = 0.25
"""Fraction of the scenarios in which a delay steps, so that data or ACKs overtake others."""


def draw_sack(seed: int, count: int = DEFAULT_COUNT) -> list[Scenario]:
    """Draw resolved scenarios of Sack1.

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
    random, scenario = begin(seed, number, FIRST_NUMBER, f"s{number:02d}")
    recovery = scenario["flows"][0]["traffic"]["connection"]["sender"]["recovery"]
    scenario["title"] = scenario["title"].replace(f"-{recovery}-", "-sack1-")
    _select(random, scenario["flows"][0]["traffic"]["connection"])
    add_items(random, scenario, number)
    keeps_others = random.uniform() < OTHERS
    for tcp in filter(None, map(connection, scenario["flows"][1:])):
        if not (keeps_others and random.uniform() < 0.5):
            _select(random, tcp)
    if random.uniform() < LOSSY_ACKS:
        _lose_acks(random, scenario)
    if random.uniform() < REORDERING:
        _reorder(random, scenario)
    _keep_to_ns2(scenario)
    return scenario


def _select(random: Mrg32k3a, tcp: Scenario) -> None:
    """Make a connection one of Sack1, with at most one, two or three blocks in an ACK."""
    sender, receiver = tcp["sender"], tcp["receiver"]
    sender["recovery"] = "sack1"
    sender["max_burst"] = None
    sender["dupack_threshold"] = sender["dupack_threshold"] or 3
    receiver["blocks"] = build.blocks("sack1", most=random.choice((3, 3, 3, 2, 1)))


def _lose_acks(random: Mrg32k3a, scenario: Scenario) -> None:
    """Lose one of some dozens of ACKs on a link of the return path, if nothing is lost there yet."""
    link = scenario["elements"][random.choice(scenario["flows"][0]["traffic"]["connection"]["return_path"])]
    if link["loss"]:
        return
    numbers, gap = [random.integer(5, 60)], random.integer(4, 60)
    for _ in range(400):
        numbers.append(numbers[-1] + random.integer(1, 2 * gap))
    link["loss"] = build.lost_packets(numbers, "acks")
    scenario["title"] += "-ack-losses"


def _reorder(random: Mrg32k3a, scenario: Scenario) -> None:
    """Put a link that takes no time behind the first flow's path or return path; its delay steps every 3 to 12 s."""
    flow = scenario["flows"][0]
    number, longest_s = len(scenario["elements"]), random.choice((0.02, 0.2))
    link = build.link("steps", 0.0) | {"rate_bps": None}
    instants = [0.0]
    while instants[-1] < scenario["run"]["duration_s"] - 12.0:
        instants.append(round(instants[-1] + random.integer(3_000_000_000, 12_000_000_000) / 1e9, 9))
    link["delay_process"] = build.delay_steps("steps", [(at, draw_delay(random, longest_s)) for at in instants])
    scenario["elements"].append(link)
    if random.uniform() < 0.5:
        flow["path"] = [*flow["path"], number]
        scenario["title"] += "-data-overtake"
    else:
        tcp = flow["traffic"]["connection"]
        tcp["return_path"] = [*tcp["return_path"], number]
        scenario["title"] += "-acks-overtake"


def _keep_to_ns2(scenario: Scenario) -> None:
    """Count buffers in bytes as ns-2 can where packets differ in size, as ACKs with blocks do."""
    for number, link in enumerate(scenario["elements"]):
        if link["buffer"] and "bytes" in link["buffer"] and len(link_packet_bytes(scenario, number)) > 1:
            link["counting"] = "waiting"
            link["queue"]["overflow"] = "arriving"
