from collections import Counter

import pytest

from ackclock.scenario import Resolved
from crosscheck.draw import DEFAULT_SEED, draw
from crosscheck.draw_sack import DEFAULT_COUNT, draw_sack
from crosscheck.draw_wide import draw_wide
from crosscheck.ns2_script import script
from crosscheck.subset import ExcludedError, Scenario, UnsupportedError, ack_lengths, check, connection

DRAWN = draw_sack(DEFAULT_SEED, DEFAULT_COUNT)
MANY = [scenario for seed in (11, 12, 13) for scenario in draw_sack(seed, 40)]


def first(scenario: Scenario) -> Scenario:
    found: Scenario = scenario["flows"][0]["traffic"]["connection"]
    return found


def test_ns2_and_our_engine_can_play_all() -> None:
    for scenario in MANY:
        try:
            check(scenario)
        except ExcludedError:
            continue
        Resolved.from_dict(scenario)


def test_the_first_flow_selects_and_most_others_do() -> None:
    assert all(first(scenario)["sender"]["recovery"] == "sack1" for scenario in MANY)
    others = [tcp for scenario in MANY for flow in scenario["flows"][1:] if (tcp := connection(flow))]
    assert Counter(bool(tcp["receiver"]["blocks"]) for tcp in others)[False] >= 3
    assert all((tcp["receiver"]["blocks"] is None) == (tcp["sender"]["recovery"] != "sack1") for tcp in others)


def test_blocks_losses_of_acks_and_overtaking_are_drawn() -> None:
    assert {first(scenario)["receiver"]["blocks"]["most"] for scenario in MANY} == {1, 2, 3}
    titles = "\n".join(scenario["title"] for scenario in MANY)
    assert all(trait in titles for trait in ("-ack-losses", "-data-overtake", "-acks-overtake", "-two-way", "-red"))


def test_the_same_seed_draws_the_same_whatever_the_count() -> None:
    assert draw_sack(DEFAULT_SEED, 5) == DRAWN[:5]


def test_names_are_unique_among_all_drawings() -> None:
    titles = [scenario["title"] for scenario in [*draw(DEFAULT_SEED), *draw_wide(DEFAULT_SEED), *DRAWN]]
    assert max(Counter(titles).values()) == 1


def test_an_ack_is_longer_by_its_blocks() -> None:
    tcp = {"ack_bytes": 40, "receiver": {"blocks": {"most": 2, "bytes": 8}}}
    assert ack_lengths(tcp) == {40, 48, 56}
    assert ack_lengths({"ack_bytes": 40, "receiver": {"blocks": None}}) == {40}


def test_ns2_has_a_sink_of_its_own_for_blocks() -> None:
    scenario = DRAWN[0]
    first(scenario)["receiver"] |= {"ack_every": 2, "blocks": {"most": 2, "bytes": 8}}
    text = script(scenario)
    assert "add_flow 0 Agent/TCP/Sack1 Agent/TCPSink/Sack1/DelAck" in text
    assert "maxSackBlocks_ 2" in text


@pytest.mark.parametrize("blocks", [None, {"most": 4, "bytes": 8}, {"most": 3, "bytes": 0}])
def test_blocks_that_ns2_has_not_are_refused(blocks: dict[str, int] | None) -> None:
    scenario = draw_sack(DEFAULT_SEED, 1)[0]
    first(scenario)["receiver"]["blocks"] = blocks
    with pytest.raises(UnsupportedError, match=r"receiver\.blocks"):
        check(scenario)
