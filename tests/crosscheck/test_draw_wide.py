from collections import Counter
from typing import Any

import pytest

from ackclock import resolve
from crosscheck import subset
from crosscheck.draw import DEFAULT_SEED, RECOVERIES, draw
from crosscheck.draw_elements import draw_elements
from crosscheck.draw_wide import DEFAULT_COUNT, ITEMS, buffer_bytes, draw_wide
from crosscheck.subset import connection, has_red

DRAWN = draw_wide(DEFAULT_SEED, DEFAULT_COUNT)
MANY = [scenario for seed in range(11, 16) for scenario in draw_wide(seed, 30)]


def with_item(item: str) -> list[dict[str, Any]]:
    found = [scenario for scenario in MANY if f"-{item}" in scenario["title"]]
    assert found
    return found


def links(scenarios: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [link for scenario in scenarios for link in scenario["elements"]]


def connections(scenario: dict[str, Any]) -> list[dict[str, Any]]:
    return [tcp for tcp in map(connection, scenario["flows"]) if tcp]


def test_each_item_is_drawn_twice_or_more() -> None:
    assert 2 * len(ITEMS) <= DEFAULT_COUNT
    for item in ITEMS:
        assert sum(f"-{item}" in scenario["title"] for scenario in DRAWN) >= 2


def test_a_scenario_is_the_same_whatever_the_count() -> None:
    assert draw_wide(DEFAULT_SEED, 5) == DRAWN[:5]


def test_names_are_unique_among_all_drawings() -> None:
    drawn = [*draw(DEFAULT_SEED), *draw_elements(DEFAULT_SEED), *DRAWN]
    assert max(Counter(scenario["title"] for scenario in drawn).values()) == 1
    for scenario in MANY:
        assert max(Counter(flow["name"] for flow in scenario["flows"]).values()) == 1


def test_ns2_can_play_all() -> None:
    for scenario in [*DRAWN, *MANY]:
        subset.check(scenario)


def test_two_way_data_and_acks_share_links_with_limited_buffers() -> None:
    for scenario in with_item("two-way"):
        there = {number for flow in scenario["flows"] for number in flow["path"]}
        back = {number for tcp in connections(scenario) for number in tcp["return_path"]}
        assert any(scenario["elements"][number]["buffer"] for number in there & back)


def test_there_are_more_than_two_flows() -> None:
    assert min(len(scenario["flows"]) for scenario in with_item("flows")) >= 3
    assert max(len(scenario["flows"]) for scenario in MANY) >= 6


def test_sizes_are_finite_from_one_packet_to_thousands() -> None:
    flows = [flow for scenario in with_item("sizes") for flow in scenario["flows"] if connection(flow)]
    sizes = [flow["traffic"]["size_packets"] for flow in flows]
    finite = [size for size in sizes if size is not None]
    assert min(finite) == 1
    assert max(finite) > 1000
    assert len(finite) < len(sizes)


def test_reverse_buffers_hold_a_few_acks_of_a_slow_link() -> None:
    for scenario in with_item("reverse-buffers"):
        back = scenario["flows"][0]["traffic"]["connection"]["return_path"]
        assert any(scenario["elements"][number]["buffer"] for number in back)


def test_buffers_are_in_packets_and_in_bytes_counted_either_way_and_drop_either_end() -> None:
    kinds = {
        (next(iter(link["buffer"])), link["counting"], link["queue"]["overflow"])
        for link in links(MANY)
        if link["buffer"] and not has_red(link)
    }
    assert kinds == {
        (unit, counting, overflow)
        for unit in ("packets", "bytes")
        for counting in ("with-service", "waiting")
        for overflow in ("arriving", "front")
    }


@pytest.mark.parametrize(("rate", "milliseconds"), [("1234567 bit/s", 57), ("2 Mbit/s", 40), ("811057 bit/s", 333)])
def test_a_buffer_in_time_holds_what_a_users_scenario_says(rate: str, milliseconds: int) -> None:
    said = resolve(
        f"""
        [[link]]
        name = "line"
        rate = "{rate}"
        buffer = "{milliseconds} ms"
        [[flow]]
        path = ["line"]
        [run]
        duration = "1 s"
        """
    )
    (link, _) = said.to_dict()["elements"]
    assert link["buffer"] == {"bytes": buffer_bytes(link["rate_bps"], milliseconds / 1e3)}


def test_samples_are_per_ack_and_the_timer_has_other_limits() -> None:
    timers = [tcp["sender"]["rto"] for scenario in MANY for tcp in connections(scenario)]
    assert {timer["sample"] for timer in timers} == {"per-round", "per-ack"}
    assert {timer["initial_s"] for timer in timers} == {1.0, 1.5, 3.0, 6.0}
    assert {timer["max_s"] for timer in timers} == {1.3, 2.0, 4.5, 60.0, 64.0}
    assert all(timer["max_s"] >= timer["min_s"] for timer in timers)


def test_red_drops_early_by_all_of_its_rules_and_shares_its_link_with_all_else() -> None:
    red = [link for link in links(with_item("red")) if has_red(link)]
    assert len(red) == len(with_item("red"))
    rules = {(aqm["wait"], aqm["gentle"]) for aqm in (link["queue"]["aqm"] for link in red)}
    assert len(rules) == 4
    assert {link["buffer"]["packets"] <= 12 for link in red} == {True, False}
    both = [item for item in ITEMS if any(f"-{item}" in scenario["title"] for scenario in with_item("red"))]
    assert both == list(ITEMS)


def test_of_each_tcp_half_windows_are_fractional_or_whole() -> None:
    senders = [tcp["sender"] for scenario in MANY for tcp in connections(scenario)]
    kinds = {(sender["recovery"], sender["half_window"]) for sender in senders}
    assert kinds == {(recovery, half) for recovery in RECOVERIES for half in ("fractional", "whole-packets")}


def test_each_item_has_its_turn_with_each_tcp() -> None:
    turns = {draw_wide(3, number + 1)[number]["title"] for number in (0, 23, 34, 45)}
    assert all(title.endswith("ties") or "-ties-" in title for title in turns)
    assert len({next(name for name in RECOVERIES if f"-{name}-" in title) for title in turns}) == 4


def test_paths_prone_to_ties_have_simple_ratios_and_delays_in_service_times() -> None:
    for scenario in with_item("ties"):
        hops = len(scenario["flows"][0]["path"])
        path = [scenario["elements"][number] for number in range(hops)]
        size = scenario["flows"][0]["packet_bytes"]
        base = min(link["rate_bps"] for link in path)
        assert all(60 * link["rate_bps"] / base == pytest.approx(round(60 * link["rate_bps"] / base)) for link in path)
        finest = size * 8 / (60 * base)
        assert all(
            link["delay_s"] / finest == pytest.approx(round(link["delay_s"] / finest), abs=1e-6) for link in path
        )
