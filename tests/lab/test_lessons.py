"""Each number that a lesson states is one of a run, to the last digit that is written."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

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
    for prose, changes, claims in parts:
        summary = ackclock.run(edited(scenario, changes), picture=False).summary
        for of, row, quantity, claim in stated(claims):
            found = next(one for one in summary[of] if one["name"] == row)[quantity]["mean"]  # type: ignore[literal-required]
            assert words(found, claim) == claim, (prose[:40], of, row, quantity)
            number = re.escape(claim.partition(" ")[0])
            assert re.search(rf"(?<![\d.]){number}(?!\.?\d)", prose), f"{claim} is not in the text"


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
