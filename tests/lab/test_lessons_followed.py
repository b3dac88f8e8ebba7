"""Each lesson followed as a student does: its numbers are read off the page."""

from typing import Any

import pytest

from ackclock.lab.lessons_read import lesson, lesson_names
from benches.browser import Lab
from lab.test_lessons import read, stated, words


def check(lab: Lab, claims: list[dict[str, Any]]) -> None:
    numbers = lab.numbers()
    for of, row, quantity, claim in stated(claims):
        assert words(numbers[of, row, quantity], claim) == claim, (row, quantity)


def follow(lab: Lab, name: str) -> None:
    steps, scenario, _ = read(name)
    lab.open_lesson(name)
    assert lab.toml == scenario
    check(lab, steps["claim"])
    for index, step in enumerate(steps["try"]):
        with lab.another_run():
            lab.page.click(f'[data-try="{index}"]')
        check(lab, step["claim"])
    questions = lab.page.locator("#panel-lesson details.question")
    assert questions.count() == len(steps["question"])
    for number in range(questions.count()):
        one = questions.nth(number)
        assert not one.locator(".prose").is_visible()
        one.locator("summary").click()
        assert one.locator(".prose").is_visible()


def test_a_lesson_is_followed_from_its_first_run_to_its_last_answer(lab: Lab, subtests: pytest.Subtests) -> None:
    for name in lesson_names():
        with subtests.test(name):
            follow(lab, name)


def test_each_button_of_a_lesson_has_the_name_and_the_description_of_its_step(
    lab: Lab, subtests: pytest.Subtests
) -> None:
    for name in lesson_names():
        with subtests.test(name):
            lab.open_lesson(name)
            check_buttons(lab, name)


def check_buttons(lab: Lab, name: str) -> None:
    names = lab.page.locator("[data-try]").evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))")
    assert len(set(names)) == len(lesson(name)["try"])
    assert all(one.startswith(f"Try it: step {number}, ") for number, one in enumerate(names, 1))
    described = lab.page.locator("[data-try]").evaluate_all(
        "all => all.map((one) => document.getElementById(one.getAttribute('aria-describedby')).innerText)"
    )
    assert all(name.partition(", ")[2] in text for name, text in zip(names, described, strict=True))
    assert lab.page.get_by_role("button", name=names[-1], exact=True).count() == 1
