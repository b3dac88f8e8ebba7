from collections import Counter
from typing import Any

from crosscheck import subset
from crosscheck.draw import DEFAULT_COUNT, DEFAULT_SEED, draw

DRAWN = draw(DEFAULT_SEED, DEFAULT_COUNT)
FLOWS = [flow for scenario in DRAWN for flow in scenario["flows"]]
CONNECTIONS = [flow["traffic"]["connection"] for flow in FLOWS]
SENDERS = [tcp["sender"] for tcp in CONNECTIONS]


def hops(scenario: dict[str, Any]) -> int:
    return len(scenario["flows"][0]["path"])


def test_there_are_enough_and_all_are_long_enough() -> None:
    assert len(DRAWN) >= 24
    assert all(scenario["run"]["duration_s"] >= 200.0 for scenario in DRAWN)


def test_the_same_seed_draws_the_same() -> None:
    assert draw(DEFAULT_SEED, DEFAULT_COUNT) == DRAWN


def test_a_scenario_does_not_depend_on_how_many_are_drawn() -> None:
    assert draw(DEFAULT_SEED, 5) == DRAWN[:5]


def test_another_seed_draws_others() -> None:
    rates = [{link["rate_bps"] for scenario in draw(seed, 8) for link in scenario["elements"]} for seed in (1, 2)]
    assert rates[0].isdisjoint(rates[1])


def test_names_are_unique() -> None:
    assert max(Counter(scenario["title"] for scenario in DRAWN).values()) == 1


def test_ns2_can_play_all() -> None:
    for seed in range(1, 6):
        for scenario in draw(seed, DEFAULT_COUNT):
            subset.check(scenario)


def test_every_axis_is_drawn() -> None:
    assert {sender["recovery"] for sender in SENDERS} == {"old-tahoe", "tahoe", "reno", "newreno"}
    assert {hops(scenario) for scenario in DRAWN} == set(range(1, 7))
    assert {sender["dupack_threshold"] for sender in SENDERS} == {None, 2, 3, 4, 5}
    assert {sender["initial_window"] for sender in SENDERS} == {1.0, 2.0, 3.0, 4.0}
    assert {sender["rto"]["granularity_s"] for sender in SENDERS} == {0.01, 0.1, 0.5}
    assert {sender["increase"] for sender in SENDERS} == {"reciprocal", "counted"}
    assert {sender["limited_transmit"] for sender in SENDERS} == {True, False}
    assert {sender["partial_ack_timer"] for sender in SENDERS if sender["recovery"] == "newreno"} == {
        "impatient",
        "slow-but-steady",
    }
    assert {tcp["receiver"]["ack_every"] for tcp in CONNECTIONS} == {1, 2}
    assert {len(scenario["flows"]) for scenario in DRAWN} == {1, 2}
    assert any(sender["max_window"] for sender in SENDERS)
    assert any(sender["initial_ssthresh"] for sender in SENDERS)
    assert {link["counting"] for scenario in DRAWN for link in scenario["elements"]} == {"with-service", "waiting"}


def test_the_first_link_is_a_little_faster_than_the_slowest() -> None:
    for scenario in DRAWN:
        rates = [scenario["elements"][hop]["rate_bps"] for hop in range(hops(scenario))]
        if len(rates) > 1:
            assert 1.09 < rates[0] / min(rates) < 1.46


def test_no_two_links_have_the_same_rate() -> None:
    for scenario in DRAWN:
        rates = [link["rate_bps"] for link in scenario["elements"]]
        assert len(set(rates)) == len(rates)
