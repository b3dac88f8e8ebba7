"""Each number that a lesson states is on the page: in the verdict, in a table, or as an extreme of a curve."""

import re
from typing import Any

import pytest

from ackclock.lab.lessons_read import lesson_names
from benches.browser import Lab
from lab.test_lessons import FACTORS, read, stated

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


def decimals(number: str) -> int:
    return len(number.partition(".")[2])


def is_shown(claim: str, page: str) -> bool:
    """Return whether a number of the page is the claim's, in a unit of any prefix, to as many digits."""
    match = re.fullmatch(r"([\d.]+) ?(\S*)", claim)
    assert match is not None, claim
    units = {"": (1.0,), "%": (1.0,), "ms": (1.0, 1e-3), "s": (1.0, 1e3)}.get(match[2], (1.0, 1e3, 1e-3))
    assert match[2] in FACTORS
    for number in _NUMBER.findall(page):
        shown = number.replace(",", "")
        for unit in units:
            stated_digit, shown_digit = unit * 10.0 ** -decimals(match[1]), 10.0 ** -decimals(shown)
            is_fine = shown_digit < 1.01 * stated_digit
            if is_fine and abs(float(shown) - unit * float(match[1])) <= 0.501 * (stated_digit + shown_digit):
                return True
    return False


def check(lab: Lab, claims: list[dict[str, Any]]) -> None:
    lab.tab("numbers")
    texts = [lab.page.inner_text("#verdict"), lab.page.inner_text("#panel-numbers")]
    lab.page.wait_for_timeout(100)  # the words for the curves follow them
    curves = lab.page.locator("#charts .plot").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    page = "\n".join([*texts, *curves])
    missing = [(row, quantity, claim) for _, row, quantity, claim in stated(claims) if not is_shown(claim, page)]
    assert not missing


def test_what_a_lesson_states_is_on_the_page(lab: Lab, subtests: pytest.Subtests) -> None:
    for name in lesson_names():
        with subtests.test(name):
            steps, _, _ = read(name)
            lab.open_lesson(name)
            check(lab, steps["claim"])
            for index, step in enumerate(steps["try"]):
                lab.tab("lesson")
                with lab.another_run():
                    lab.page.click(f'[data-try="{index}"]')
                check(lab, step["claim"])
