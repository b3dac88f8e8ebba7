"""Tables are whole, or say that they are not; what they leave out can be downloaded."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ackclock.lab.lessons_read import lesson_names
from benches.browser import Lab
from lab.test_lessons import read

SCROLLBAR = 15
"""Pixels that a scroll bar takes on some desktops; there is none in this browser."""


@pytest.mark.parametrize(("width", "names"), [(1280, lesson_names()), (1500, ["2-bufferbloat"])])
def test_no_table_of_a_lesson_is_cut(
    browser: Any, address: str, width: int, names: Sequence[str], subtests: pytest.Subtests
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900})
    lab = Lab(context.new_page()).open(address)
    lab.page.evaluate(f"document.getElementById('results').style.paddingRight = '{12 + SCROLLBAR}px'")
    for name in names:
        with subtests.test(name):
            lab.open_lesson(name)
            for step in range(-1, len(read(name)[0]["try"])):
                if step >= 0:
                    lab.tab("lesson")
                    with lab.another_run():
                        lab.page.click(f'[data-try="{step}"]')
                lab.tab("numbers")
                widths = lab.page.locator("#panel-numbers .scroll").evaluate_all(
                    "all => all.map((one) => one.scrollWidth - one.clientWidth)"
                )
                assert widths
                assert max(widths) <= 0
                assert lab.page.locator("#panel-numbers .wider:visible").count() == 0
    context.close()


def test_a_table_that_is_wider_than_its_place_says_so_and_is_scrolled_by_keys(browser: Any, address: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    lab = Lab(context.new_page()).open(address)
    first = lab.page.locator("#panel-numbers .scroll").first
    assert first.evaluate("one => one.scrollWidth > one.clientWidth")
    assert lab.page.locator("#panel-numbers .wider").first.inner_text() == "wider than its place: scroll it sideways →"
    first.focus()
    lab.page.keyboard.press("ArrowRight")
    lab.page.wait_for_function("() => document.querySelector('#panel-numbers .scroll').scrollLeft > 0")
    context.close()


def test_the_rows_that_tables_leave_out_can_be_downloaded(lab: Lab, tmp_path: Path) -> None:
    page = lab.page
    assert "left out; Download, Numbers (CSV), has all." in page.inner_text("#panel-numbers")
    page.click("#downloads summary")
    with page.expect_download() as download:
        page.get_by_role("button", name="Numbers (CSV)").click()
    assert download.value.suggested_filename == "one-download-over-a-line-of-10-mbit-s-numbers.csv"
    path = tmp_path / "numbers.csv"
    download.value.save_as(path)
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    assert {row["name"] for row in rows if row["of"] == "links"} == {"line", "line.reverse"}
    dropped = [row["mean"] for row in rows if (row["name"], row["quantity"]) == ("line", "dropped_packets")]
    assert dropped == ["119"]
