"""ns-2's explicit congestion notification with a RED that marks, change by change."""

from collections import Counter
from typing import Any

import pytest

from ackclock.scenario import Resolved
from crosscheck import build, engine
from crosscheck.check import Mark, check
from crosscheck.compare import Change, normalise
from crosscheck.draw import DEFAULT_SEED, draw
from crosscheck.draw_ecn import DEFAULT_COUNT, draw_ecn
from crosscheck.draw_sack import draw_sack
from crosscheck.ns2_script import script
from crosscheck.subset import ExcludedError, UnsupportedError, connection, has_red
from crosscheck.subset import check as check_subset

Scenario = dict[str, Any]

MANY = [scenario for seed in (11, 12) for scenario in draw_ecn(seed, 40)]


def one_flow(recovery: str, *, ack_every: int = 1, max_probability: float = 0.1, **changes: Any) -> Scenario:
    red = build.red(2.0, 7.0, weight=0.02, mean_packet_bytes=1000, wait=False, max_probability=max_probability)
    shared = build.link("shared", 800_011.0, delay_s=0.057, buffer_packets=12)
    links = [
        build.link("access", 1_190_009.0, delay_s=0.003, buffer_packets=100),
        shared | {"counting": "waiting", "queue": red | {"aqm": red["aqm"] | {"ecn": "early"}}},
        build.link("back", 2_000_029.0, delay_s=0.061),
    ]
    sender = build.sender(recovery, ecn="classic", **changes)
    flow = build.flow("flow", [0, 1], [2], sender, packet_bytes=1000, ack_every=ack_every)
    return build.scenario("ecn", links, [flow], duration_s=20.0)


def marks(scenario: Scenario) -> int:
    (replication,) = engine._replications(scenario)
    return int(replication["flows"]["marked_total"][0])


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize("ack_every", [1, 2])
@pytest.mark.parametrize("half_window", ["whole-packets", "fractional"])
@pytest.mark.parametrize("recovery", ["old-tahoe", "tahoe", "reno", "newreno", "sack1"])
def test_every_change_is_that_of_ns2(recovery: str, half_window: str, ack_every: int) -> None:
    scenario = one_flow(recovery, half_window=half_window, ack_every=ack_every, initial_window=3.0)
    report = check(scenario)
    assert report.mark is not Mark.FAIL, report.line()
    assert report.compared > 200
    assert marks(scenario) > 5


def test_ns2_and_our_engine_can_play_all_that_is_drawn() -> None:
    for scenario in MANY:
        try:
            check_subset(scenario)
        except ExcludedError:
            continue
        Resolved.from_dict(scenario)


def test_the_first_flow_has_ecn_and_red_marks() -> None:
    connections = [[tcp for flow in scenario["flows"] if (tcp := connection(flow))] for scenario in MANY]
    assert all(first["sender"]["ecn"] == first["receiver"]["ecn"] == "classic" for first, *_ in connections)
    assert {first["sender"]["recovery"] for first, *_ in connections} == {"tahoe", "reno", "newreno", "sack1"}
    others = Counter(tcp["sender"]["ecn"] for _, *rest in connections for tcp in rest)
    assert min(others["off"], others["classic"]) >= 10
    reds = [link for scenario in MANY for link in scenario["elements"] if has_red(link)]
    assert len(reds) >= len(MANY)
    assert {link["queue"]["aqm"]["ecn"] for link in reds} == {"early"}


def test_the_same_seed_draws_the_same_under_names_of_its_own() -> None:
    assert draw_ecn(DEFAULT_SEED, 3) == draw_ecn(DEFAULT_SEED, DEFAULT_COUNT)[:3]
    drawn = [*draw(DEFAULT_SEED), *draw_sack(DEFAULT_SEED), *draw_ecn(DEFAULT_SEED)]
    assert max(Counter(scenario["title"] for scenario in drawn).values()) == 1


def test_the_script_asks_for_ecn_and_for_marks_up_to_the_largest_threshold() -> None:
    text = script(one_flow("reno"))
    assert " ecn_ 1" in text
    assert "setbit_ true mark_p_ 1.0" in text
    plain = one_flow("reno")
    plain["flows"][0]["traffic"]["connection"]["sender"]["ecn"] = "off"
    assert "ecn_" not in script(plain).partition("add_flow 0")[2]


def test_what_ns2_has_not_is_refused() -> None:
    scenario = one_flow("reno")
    scenario["elements"][1]["queue"]["aqm"]["ecn"] = "all"
    scenario["flows"][0]["traffic"]["connection"]["sender"]["ecn"] = "dctcp"
    with pytest.raises(UnsupportedError, match=r"aqm\.ecn: not in ns-2; given 'all'") as fault:
        check_subset(scenario)
    assert "sender.ecn: not in ns-2; given 'dctcp'" in str(fault.value)


def test_of_the_rows_of_an_instant_the_last_one_is_kept() -> None:
    rows = [Change(1.0, 2.0, resolution=1e-6), Change(1.0, 3.0, resolution=1e-6), Change(2.0, 4.0)]
    assert normalise(rows, 4.0, 9.0, each_instant_once=True) == rows[1:]
    assert normalise(rows, 3.0, 9.0, each_instant_once=True) == rows[2:]
    assert normalise(rows, 4.0, 9.0) == rows
