from collections import Counter
from itertools import pairwise
from typing import Any

from crosscheck import subset
from crosscheck.draw import DEFAULT_SEED, draw
from crosscheck.draw_elements import DEFAULT_COUNT, KINDS, draw_elements
from crosscheck.subset import connection

DRAWN = draw_elements(DEFAULT_SEED, DEFAULT_COUNT)
LINKS = [link for scenario in DRAWN for link in scenario["elements"]]
LOSSES = [link["loss"] for link in LINKS if link["loss"]]


def tcp(scenario: dict[str, Any]) -> dict[str, Any]:
    (flow,) = [flow for flow in scenario["flows"] if connection(flow)]
    return dict(flow)


def test_every_kind_is_drawn_twice() -> None:
    assert len(DRAWN) == 2 * len(KINDS)
    assert all(scenario["run"]["duration_s"] >= 200.0 for scenario in DRAWN)


def test_the_same_seed_draws_the_same_whatever_the_count() -> None:
    assert draw_elements(DEFAULT_SEED, 5) == DRAWN[:5]


def test_names_are_unique_and_other_than_those_of_the_plain_scenarios() -> None:
    names = [scenario["title"] for scenario in [*DRAWN, *draw(DEFAULT_SEED)]]
    assert max(Counter(names).values()) == 1


def test_ns2_can_play_all() -> None:
    for seed in range(1, 6):
        for scenario in draw_elements(seed, DEFAULT_COUNT):
            subset.check(scenario)


def test_every_element_is_drawn() -> None:
    assert {loss["law"]["model"] for loss in LOSSES} == {"packets", "times"}
    assert {loss["applies_to"] for loss in LOSSES} == {"all", "data", "acks"}
    assert {tcp(scenario)["priority"] for scenario in DRAWN} == {0, 1}
    assert {flow["traffic"]["kind"] for scenario in DRAWN for flow in scenario["flows"]} == {"tcp", "constant"}


def test_delays_change_on_the_way_there_and_on_the_way_back_and_packets_overtake() -> None:
    ways = set()
    for scenario in DRAWN:
        for number, link in enumerate(scenario["elements"]):
            if link["delay_process"]:
                ways.add("there" if number in tcp(scenario)["path"] else "back")
                delays = [delay for _, delay in link["delay_process"]["law"]["steps_s"]]
                assert link["delay_process"]["order"] == "overtake"
                assert any(after < before for before, after in pairwise(delays))
                assert any(after > before for before, after in pairwise(delays))
    assert ways == {"there", "back"}


def test_a_source_of_lower_priority_comes_first_as_ns2_serves_flow_0_last() -> None:
    first = [scenario["flows"][0]["traffic"]["kind"] for scenario in DRAWN if "low-cbr" in scenario["title"]]
    assert set(first) == {"constant"}


def test_what_is_lost_by_number_is_in_rising_order() -> None:
    for loss in LOSSES:
        given = loss["law"].get("numbers") or loss["law"]["times_s"]
        assert given == sorted(set(given))
