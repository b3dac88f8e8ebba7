"""Draw scenarios of ns-2's explicit congestion notification: those of the wider list, with a RED that marks packets."""

from crosscheck import build
from crosscheck.draw import LIMITED, RECOVERIES, begin
from crosscheck.draw_red import give_red
from crosscheck.draw_wide import add_items
from crosscheck.mrg32k3a import Mrg32k3a
from crosscheck.subset import Scenario, connection, has_red, link_packet_bytes

DEFAULT_COUNT = 12

FIRST_NUMBER = 90_000
"""The plain scenarios below are those of the numbers from here on, which nothing else draws."""

WITHOUT = 0.25
"""Probability with which a flow after the first one has no ECN, so that RED drops its packets."""


def draw_ecn(seed: int, count: int = DEFAULT_COUNT) -> list[Scenario]:
    """Draw resolved scenarios of ECN.

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
    random, scenario = begin(seed, number, FIRST_NUMBER, f"m{number:02d}")
    tcp = scenario["flows"][0]["traffic"]["connection"]
    recovery = (*RECOVERIES[1:], "sack1")[number % 4]
    scenario["title"] = scenario["title"].replace(f"-{tcp['sender']['recovery']}-", f"-{recovery}-ecn-")
    tcp["sender"]["recovery"] = recovery
    tcp["sender"]["max_burst"] = tcp["sender"]["max_burst"] if recovery in LIMITED else None
    tcp["sender"]["dupack_threshold"] = tcp["sender"]["dupack_threshold"] or 3
    tcp["receiver"]["blocks"] = build.blocks(recovery)
    add_items(random, scenario, number)
    if not any(map(has_red, scenario["elements"])):
        give_red(random, scenario)
    _mark(random, scenario)
    for index, link in enumerate(scenario["elements"]):
        if link["buffer"] and "bytes" in link["buffer"] and len(link_packet_bytes(scenario, index)) > 1:
            link["counting"] = "waiting"
            link["queue"]["overflow"] = "arriving"
    return scenario


def _mark(random: Mrg32k3a, scenario: Scenario) -> None:
    """Let RED mark packets, and give the first flow ECN, and most of the others."""
    for link in filter(has_red, scenario["elements"]):
        link["queue"]["aqm"]["ecn"] = "early"
    for number, tcp in enumerate(filter(None, map(connection, scenario["flows"]))):
        if number == 0 or random.uniform() >= WITHOUT:
            tcp["sender"]["ecn"] = tcp["receiver"]["ecn"] = "classic"
