"""Each number that a lesson states is one of a run, to the last digit that is written."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ackclock
from ackclock.errors import ScenarioError
from ackclock.lab.editing import edited
from ackclock.lab.lessons_read import FOLDER, as_html, lesson, lesson_names

FACTORS = {"": 1.0, "%": 100.0, "ms": 1e3, "s": 1.0, "Mbit/s": 1e-6, "kbit/s": 1e-3}


def read(name: str) -> tuple[dict[str, Any], str, str]:
    folder = FOLDER / name
    texts = ((folder / file).read_text(encoding="utf-8") for file in ("lesson.toml", "scenario.toml", "text.md"))
    steps, scenario, text = texts
    return tomllib.loads(steps), scenario, text


def stated(claims: list[dict[str, str]]) -> Iterator[tuple[str, str, str, str]]:
    for claim in claims:
        yield from ((claim["of"], claim["name"], key, text) for key, text in claim.items() if key not in {"of", "name"})


def words(value: float, text: str) -> str:
    """Write a value as a text does: in its unit, with as many digits."""
    match = re.fullmatch(r"([\d.]+) ?(\S*)", text)
    assert match is not None, text
    return f"{value * FACTORS[match[2]]:.{len(match[1].partition('.')[2])}f}{text[len(match[1]) :]}"


def test_there_are_the_seven_lessons() -> None:
    assert [name.partition("-")[0] for name in lesson_names()] == list("1234567")


@pytest.mark.parametrize("name", lesson_names())
def test_what_a_lesson_states_is_what_a_run_gives(name: str) -> None:
    steps, scenario, text = read(name)
    parts = [(text, {}, steps["claim"]), *((one["text"], one["set"], one["claim"]) for one in steps["try"])]
    parts += [(one["answer"], one["set"], one["claim"]) for one in steps["question"] if "claim" in one]
    for prose, changes, claims in parts:
        summary = ackclock.run(edited(scenario, changes), picture=False).summary
        for of, row, quantity, claim in stated(claims):
            found = next(one for one in summary[of] if one["name"] == row)[quantity]["mean"]  # type: ignore[literal-required]
            assert words(found, claim) == claim, (prose[:40], of, row, quantity)
            number = re.escape(claim.partition(" ")[0])
            assert re.search(rf"(?<![\d.]){number}(?!\.?\d)", prose), f"{claim} is not in the text"


def answer(name: str, index: int) -> tuple[str, dict[str, Any], str]:
    """Return an answer, the fields that it changes, and the lesson's scenario."""
    steps, scenario, _ = read(name)
    one = steps["question"][index]
    return one["answer"], one["set"], scenario


def test_codel_changes_no_number_of_the_flows_as_each_queue_is_empty_within_its_interval() -> None:
    text, changes, scenario = answer("5-ack-compression", 2)
    before = ackclock.run(scenario, picture=False)
    after = ackclock.run(edited(scenario, changes), overrides={"trace.queue": True}, picture=False)
    assert after.summary["flows"] == before.summary["flows"]
    queues = after.traces["queue"]
    longest = 0.0
    for name in ("line", "line.reverse"):
        own = queues[(queues["link"] == name) & (queues["time_s"] >= 5.0)]
        empty = own[own["packets"] == 0]["time_s"].to_numpy()
        assert own["time_s"].max() - empty[-1] < 0.1
        longest = max(longest, float(np.diff(empty).max()))
    assert f"within {longest * 1e3:.0f} ms" in " ".join(text.split())


@pytest.mark.parametrize(("window", "duplicates"), [(13, 0), (38, 12)])
def test_packets_overtake_on_the_way_back_to_a_shorter_path_unless_the_sender_is_silent(
    window: int, duplicates: int
) -> None:
    text, changes, scenario = answer("6-spurious-timeouts", 2)
    more = {"flow.transfer.tcp.max_window": f"{window} pkt", "trace.sequence": True}
    result = ackclock.run(edited(scenario, changes), overrides=more, picture=False)
    rows = result.traces["sequence"]
    numbers = rows[rows["kind"] == "acknowledged"]["sequence"].to_numpy()
    again = np.flatnonzero(np.diff(numbers) == 0)
    assert len(again) == duplicates
    assert (np.diff(again) > 1).all()  # no two in a row
    assert result.summary["flows"][0]["fast_retransmits"]["mean"] == 0
    assert not duplicates or f"{window} packets" in text
    assert not duplicates or f"{duplicates} ACKs" in text


def test_bbr_probes_each_eight_of_the_shortest_round_trips() -> None:
    _, scenario, text = read("7-cubic-bbr")
    states = ackclock.run(scenario, overrides={"trace.state": True}, picture=False).traces["state"]
    own = states[states["flow"] == "bbr"]
    probes = own[(own["event"] == "phase") & (own["phase"] == "probe-bw-up")]["time_s"].to_numpy()
    interval = float(np.median(np.diff(probes)))
    assert f"each {interval:.2f} s" in text
    assert 8 * 0.040 <= interval < 0.5 * 8 * float(own["srtt_s"].mean())


@pytest.mark.parametrize("name", lesson_names())
def test_a_lesson_has_steps_to_try_and_questions_with_answers(name: str) -> None:
    found = lesson(name)
    assert len(found["try"]) >= 3
    assert len(found["questions"]) >= 3
    assert all(one["question"] and one["answer"] for one in found["questions"])
    assert found["title"]


def test_a_lesson_that_does_not_exist_is_a_fault() -> None:
    with pytest.raises(ScenarioError, match="no such lesson"):
        lesson("../../api")


def test_html_in_a_text_is_shown_as_text() -> None:
    assert "<script" not in as_html("<script>alert(1)</script> [x](javascript:alert(1))")
    assert "javascript:" not in re.sub(r"\[x\]\(javascript[^)]*\)", "", as_html("[x](javascript:alert(1))"))
