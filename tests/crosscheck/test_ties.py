import re
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import pytest

from crosscheck import build, engine, ns2, ties
from crosscheck.check import Mark, check
from crosscheck.compare import Change, Verdict
from crosscheck.draw_wide import draw_wide
from crosscheck.ns2_shake import DRIFT, GROWTH, LITTLE_GROWTH, QUIET, TIME_TOLERANCE_S, WAYS, Piece, Shake
from crosscheck.outcome import FlowCounts, Found, Outcome, compare_outcomes
from crosscheck.ties import LOOK_BACK_S, MANY_TIES, MENDING_WAYS, TURNS, Agreement, agreement

COUNTS = FlowCounts(10, 10, 12, 2, 1, 1)
TIES_S = (10.0, 30.0, 50.0)
DIFFERS = [Verdict(3, 1e-9, "differs", 10.0)]


def scenario() -> dict[str, Any]:
    """Describe one bulk flow over one link, whose buffer a window can fill."""
    links = [build.link("there", 1e6, delay_s=0.0512, buffer_packets=8), build.link("back", 1e6, delay_s=0.0512)]
    flow = build.flow("flow", [0], [1], build.sender("reno"), packet_bytes=1000)
    return build.scenario("one link", links, [flow], duration_s=60.0)


def outcome(*values: float) -> Outcome:
    changes = [Change(at, value) for at, value in zip(TIES_S, values, strict=True)]
    return Outcome([changes], [COUNTS], [0, 0])


OURS = outcome(2.0, 3.0, 4.0)


def played(monkeypatch: pytest.MonkeyPatch, play: Callable[[Shake], Outcome]) -> list[Shake]:
    """Let ns-2 say what `play` does of a shake, and keep all of them."""
    shakes: list[Shake] = []

    def run(_: dict[str, Any], *, shake: Shake, until_s: float) -> Outcome:
        assert until_s > 0.0
        shakes.append(shake)
        return play(shake)

    monkeypatch.setattr(ns2, "run", run)
    return shakes


def way_at(shake: Shake, at: float) -> int:
    return [piece.way for piece in shake.pieces if piece.from_s < at][-1]


def test_each_way_is_tried_throughout_until_one_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    shakes = played(monkeypatch, lambda shake: OURS if shake.pieces[0].way in {2, 5} else outcome(2.0, 9.0, 4.0))
    found = agreement(scenario(), OURS, DIFFERS)
    assert found == Agreement(runs=2, pieces=0, until_s=inf)
    assert found.found
    assert [shake.pieces[0].way for shake in shakes] == list(WAYS)[:2]
    assert found.line() == "run 2 of ns-2, shaken by as much as the clocks differ, agrees with ours"


def test_a_run_is_shaken_at_each_tie_until_it_falls_as_ours_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = (9, 7, 1)

    def play(shake: Shake) -> Outcome:
        ways = [way_at(shake, at) for at in TIES_S]
        return outcome(
            *(value if way == want else 9.0 for value, way, want in zip((2, 3, 4), ways, wanted, strict=True))
        )

    shakes = played(monkeypatch, play)
    found = agreement(scenario(), OURS, DIFFERS)
    assert (found.runs, found.pieces, found.until_s) == (2 * len(WAYS), 7, inf)
    assert [way_at(shakes[-1], at) for at in TIES_S] == list(wanted)
    assert [way_at(shakes[-1], at) for at in (1.0, 20.0, 40.0, 60.0)] == [QUIET] * 4
    assert found.line().endswith("one does that is shaken in other ways at 3 ties")


def test_where_ties_are_too_many_the_best_of_the_ways_is_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(shake: Shake) -> Outcome:
        return outcome(2.0 if way_at(shake, 10.0) == 2 else 9.0, 3.0, 4.0 if way_at(shake, 50.0) == 9 else 8.0)

    shakes = played(monkeypatch, play)
    assert agreement(scenario(), OURS, DIFFERS).pieces == 3
    assert [way_at(shakes[-1], at) for at in (1.0, 40.0, 50.0, 60.0)] == [2, 2, 9, 2]


def test_delays_that_grow_less_are_tried_where_no_way_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    shakes = played(monkeypatch, lambda shake: OURS if shake.growth == LITTLE_GROWTH else outcome(2.0, 9.0, 4.0))
    assert agreement(scenario(), OURS, DIFFERS) == Agreement(runs=7, pieces=0, until_s=inf)
    assert [shake.growth for shake in shakes] == [GROWTH] * 6 + [LITTLE_GROWTH]


def test_with_red_the_first_packet_that_finds_another_queue_is_the_tie(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the average keep a tie for 40 s: no shaking of the last seconds before the windows differ mends that."""
    link = build.link("red", 1e6, buffer_packets=40) | {"counting": "waiting", "queue": build.red(3.0, 9.0)}
    red = scenario()
    red["elements"][0] = link
    ours = replace(OURS, queues={0: [Found(1.0, 1), Found(9.0, 2), Found(50.0, 3)]})

    def play(shake: Shake) -> Outcome:
        if way_at(shake, 9.0) == 12:
            return ours
        return replace(outcome(2.0, 3.0, 9.0), queues={0: [Found(1.0, 1), Found(9.0, 1), Found(50.0, 9)]})

    shakes = played(monkeypatch, play)
    found = agreement(red, ours, DIFFERS)
    assert (found.pieces, found.until_s) == (3, inf)
    assert shakes[-1].pieces == (Piece(1), Piece(12, 8.7), Piece(1, 9.0))
    blind = played(monkeypatch, lambda shake: replace(play(shake), queues={}))
    assert not agreement(red, replace(ours, queues={}), DIFFERS).found
    assert len(blind) > len(shakes)


@pytest.mark.usefixtures("needs_ns2")
def test_packets_that_do_not_tie_stay_in_order_where_delays_grow_less() -> None:
    """Let two packets come 106 ns apart after 77 s, when `GROWTH` has added up to 504 ns."""
    tied = draw_wide(51_426_449, 518)[517]
    ours = engine.run(tied)
    first_s = {
        growth: min(
            verdict.differs_s
            for verdict in compare_outcomes(
                tied, ns2.run(tied, shake=Shake((Piece(1),), growth=growth)), ours, TIME_TOLERANCE_S
            )
        )
        for growth in (GROWTH, LITTLE_GROWTH)
    }
    assert first_s == {GROWTH: pytest.approx(77.057, abs=1e-3), LITTLE_GROWTH: inf}


@pytest.mark.usefixtures("needs_ns2")
def test_a_run_that_is_not_shaken_is_ns2s_own_until_it_is() -> None:
    plain = scenario()
    plain["elements"][0]["rate_bps"] = 1_000_003.0
    plain["elements"].append(build.link("access", 1_310_011.0, delay_s=0.003, buffer_packets=60))
    plain["flows"][0]["path"] = [2, 0]
    theirs = ns2.run(plain)
    quiet = ns2.run(plain, shake=Shake((Piece(QUIET),)))
    assert all(verdict.passed for verdict in compare_outcomes(plain, theirs, quiet, 1e-9))
    shaken = ns2.run(plain, shake=Shake((Piece(QUIET), Piece(1, 20.0), Piece(QUIET, 30.0))))
    apart = [their.time_s - our.time_s for their, our in zip(theirs.changes[0], shaken.changes[0], strict=True)]
    times_s = [change.time_s for change in theirs.changes[0]]
    assert max(abs(one) for one, at in zip(apart, times_s, strict=True) if at < 20.0) < 1e-12
    assert max(abs(one) for one, at in zip(apart, times_s, strict=True) if at > 30.0) > 1e-11


@pytest.mark.usefixtures("needs_ns2")
def test_data_of_one_flow_and_the_ack_of_another_that_tie_may_come_in_either_order() -> None:
    """Let a packet and an ACK come to a link within 0.4 ps of each other after 19.7 s."""
    tied = draw_wide(20_261_123, 257)[256]
    tied["run"]["duration_s"] = 22.0
    report = check(tied)
    assert report.mark is Mark.TIE
    assert report.detail.endswith("none agrees with ours; one does that is shaken in other ways at 3 ties")


def test_where_ties_never_end_the_scenario_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a change of each second tie, and each shaking mend one."""
    wanted = [Change(float(second), 1.0) for second in range(1000)]
    ours, long = replace(OURS, changes=[wanted]), scenario()
    long["run"]["duration_s"] = 2000.0

    def play(shake: Shake) -> Outcome:
        differs = len(shake.pieces)
        return replace(ours, changes=[[*wanted[:differs], *(one._replace(cwnd=9.0) for one in wanted[differs:])]])

    monkeypatch.setattr(ties, "MOST_RUNS", 3 * MANY_TIES)
    played(monkeypatch, play)
    found = agreement(long, ours, DIFFERS)
    assert (found.found, found.undecided) == (False, True)
    assert found.pieces > 2 * MANY_TIES
    assert re.search(r"is shaken in other ways at \d+ ties does until \d+\.\d+ s, where the search ends$", found.line())
    monkeypatch.setattr(ties, "MOST_RUNS", MANY_TIES)
    assert not agreement(long, ours, DIFFERS).undecided


def test_where_no_way_gets_beyond_a_difference_none_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    shakes = played(monkeypatch, lambda _: outcome(2.0, 9.0, 4.0))
    found = agreement(scenario(), OURS, DIFFERS)
    assert not found.found
    assert not found.undecided
    assert found.until_s == 30.0
    assert len(shakes) == 2 * len(WAYS) + 2 * len(TURNS) * (1 + len(LOOK_BACK_S) * len(MENDING_WAYS))
    assert found.line().endswith("none agrees with ours; the best one does until 30.000000000 s")


@pytest.mark.parametrize(("worst_s", "drift"), [(1e-12, DRIFT), (4e-8, 4e-9)])
def test_the_rates_change_by_as_much_as_the_clocks_went_apart(
    monkeypatch: pytest.MonkeyPatch, worst_s: float, drift: float
) -> None:
    shakes = played(monkeypatch, lambda _: OURS)
    agreement(scenario(), OURS, [Verdict(3, worst_s, "differs", 10.0), Verdict(9, 0.5, None)])
    assert {shake.drift for shake in shakes} == {drift}


@pytest.mark.usefixtures("needs_ns2")
def test_growing_delays_put_the_departure_first_as_our_rule_does_and_shrinking_ones_the_arrival() -> None:
    """Compare one link that a window fills from idle, so that each packet arrives as the one before departs."""
    tied = scenario()
    ours = engine.run(tied)
    same = {
        way: all(
            verdict.passed
            for verdict in compare_outcomes(tied, ns2.run(tied, shake=Shake((Piece(way),))), ours, TIME_TOLERANCE_S)
        )
        for way in WAYS[:4]
    }
    assert same == {1: True, 2: False, 3: True, 4: True}
    assert check(tied).mark in {Mark.PASS, Mark.TIE}
