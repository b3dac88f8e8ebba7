"""Journeys of packets agree with what the engine records of senders, queues and drops."""

from dataclasses import replace
from math import inf, isclose
from typing import Any

import numpy as np
import pytest

from ackclock.api import simulate
from ackclock.errors import LimitError
from ackclock.lab import motion
from ackclock.lab.lessons_read import lesson, lesson_names
from ackclock.lab.running import prepared
from ackclock.result import Result
from ackclock.scenario import Resolved
from ackclock.scenario.ready import ready_path
from ackclock.stories import departures, followed_scenario, journeys
from ackclock.stories.journeys import Journey

READY = ("geo-random-drop", "leo-handover", "mobile-delay-steps", "two-way-symmetric", "web-access-link")
END_S = 4.0473
"""At the very end of a run an ACK may arrive whose departure, at the same instant, is not captured any more."""
NANO = 2e-9
"""Captures have whole nanoseconds."""


def text_of(name: str) -> str:
    found: str = lesson(name)["scenario"] if name in lesson_names() else ready_path(name).read_text(encoding="utf-8")
    return found


def followed(name: str) -> tuple[Resolved, Result, list[Journey]]:
    resolved = followed_scenario(prepared(text_of(name)).resolved, END_S)
    result = simulate(resolved, picture=False)
    left = departures(resolved, result.captures, 0.0, END_S)
    return resolved, result, journeys(resolved, result.traces, left, 0.0)


@pytest.mark.parametrize("name", [*lesson_names(), *READY])
def test_each_ack_arrives_when_the_sender_gets_it(name: str) -> None:
    resolved, result, found = followed(name)
    rows = result.traces["sequence"]
    rows = rows[rows["kind"] == "acknowledged"]
    for number, flow in enumerate(resolved.flow_names):
        own = rows[rows["flow"] == flow]
        wanted = sorted(zip(own["time_s"], own["sequence"], strict=True))
        ended = [
            one for one in found if one.answer and one.flow == number and not one.dropped and one.ended <= END_S + NANO
        ]
        got = sorted((one.ended, one.number) for one in ended)
        # A sender records no ACK of a packet that it has not sent in this transfer; it arrives all the same.
        times = np.array([time for time, _ in got])
        for time, expected in wanted:
            near = range(np.searchsorted(times, time - NANO), np.searchsorted(times, time + NANO))
            assert any(got[index][1] == expected for index in near), (flow, time, expected)


@pytest.mark.parametrize("name", [*lesson_names(), *READY])
def test_each_drop_ends_a_journey_at_its_link(name: str) -> None:
    _, result, found = followed(name)
    drops = result.traces["drops"]
    recorded = sorted(zip(drops["time_s"], drops["link"].astype(str), drops["sequence"], drops["ack"], strict=True))
    ended = sorted((one.ended, one.dropped, one.number, one.answer) for one in found if one.dropped)
    assert [row[1:] for row in recorded] == [row[1:] for row in ended]
    assert np.allclose([row[0] for row in recorded], [row[0] for row in ended], rtol=0.0, atol=NANO)


@pytest.mark.parametrize("name", ["1-sawtooth", "5-ack-compression"])
def test_as_many_wait_in_a_queue_as_its_trace_says(name: str) -> None:
    resolved = followed_scenario(prepared(text_of(name)).resolved, END_S)
    traced = replace(resolved, trace=replace(resolved.trace, queue=True))
    result = simulate(traced, picture=False)
    found = journeys(traced, result.traces, departures(traced, result.captures, 0.0, END_S), 0.0)
    rows = result.traces["queue"]
    own = rows[rows["link"] == "line"]
    times, packets = own["time_s"].to_numpy(), own["packets"].to_numpy()
    hops = [hop for one in found for hop in one.hops if hop.element == "line" and one.dropped != "line"]
    for time in np.linspace(0.05, END_S - 0.2, 60) + 1.37e-5:
        waiting = sum(hop.arrived <= time < hop.departed for hop in hops)
        held = packets[np.searchsorted(times, time, side="right") - 1]
        assert waiting == held, time


def test_a_packet_crosses_its_links_in_order_and_waits_for_no_negative_time() -> None:
    resolved, _, found = followed("web-access-link")
    for journey in found:
        last = journey.sent
        for hop in journey.hops:
            assert hop.arrived >= last - NANO
            assert hop.departed >= hop.arrived - NANO
            service = resolved.elements_by_name[hop.element].service_s(40 if journey.answer else 1)
            assert hop.departed - hop.arrived >= service - NANO
            last = hop.departed


def answer(name: str, start: float, end: float) -> dict[str, Any]:
    return motion.motion(prepared(text_of(name)).resolved, start, end, lambda _: None)


def test_the_story_of_a_dropped_packet_has_its_drop_its_detection_and_its_repair() -> None:
    found = answer("1-sawtooth", 0.3, 1.2)
    dropped = next(one for one in found["journeys"] if one["dropped"] and not one["ack"])
    story = [words for _, words in found["stories"][f"download {dropped['number']}"]]
    assert story[0] == "sent"
    assert story[1] == "was dropped by the queue of line (50-packet buffer, drop-tail)"
    assert any(words.startswith("found lost by a fast retransmit") for words in story)
    assert "sent again" in story
    assert story.index("sent again") > 1
    assert story[-1].startswith("acknowledged")


def test_the_story_of_a_lost_retransmission_ends_with_a_timeout() -> None:
    found = answer("4-double-slow-start", 110.0, 112.0)
    lost = [one for one in found["journeys"] if one["again"] and one["dropped"]]
    assert [(one["dropped"], round(one["ended"], 2)) for one in lost] == [("feeder", 110.5)]
    story = [words for _, words in found["stories"][f"flow {lost[0]['number']}"]]
    assert sum(words.startswith("was dropped by the queue") for words in story) == 2
    assert [words.split(":")[0] for words in story if words.startswith("found lost")] == [
        "found lost by a fast retransmit",
        "found lost by a timeout",
    ]
    assert story.count("sent again") == 2
    assert story[-1].startswith("acknowledged")


def test_a_spurious_loss_is_called_so_in_the_story() -> None:
    found = answer("6-spurious-timeouts", 6.0, 7.5)
    assert any("spurious" in words for story in found["stories"].values() for _, words in story)


def test_what_is_in_flight_at_the_begin_of_a_part_is_in_it() -> None:
    part = answer("1-sawtooth", 2.0, 2.2)
    before = [one for one in part["journeys"] if one["sent"] < 2.0]
    assert before
    assert all(one["ended"] is None or one["ended"] >= 2.0 for one in part["journeys"])
    whole = answer("1-sawtooth", 1.5, 2.2)
    same = {_key(one): one for one in whole["journeys"]}
    for one in before:
        other = same[_key(one)]
        assert len(other["hops"]) == len(one["hops"])
        assert other["dropped"] == one["dropped"]
        assert isclose(other["ended"] or inf, one["ended"] or inf, abs_tol=NANO)


def _key(one: dict[str, Any]) -> tuple[str, int, bool, float]:
    return one["flow"], one["number"], one["ack"], round(one["sent"], 8)


def test_too_much_to_record_is_refused_with_the_time_that_is_not() -> None:
    with pytest.raises(LimitError, match=r"slow motion: each packet up to .* takes about .* MB"):
        answer("access-bufferbloat", 500.0, 501.0)


def test_atm_channels_are_refused() -> None:
    with pytest.raises(LimitError, match="ATM channels"):
        answer("two-way-abr", 0.0, 1.0)
