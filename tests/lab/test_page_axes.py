"""The time axes of the panels say their unit, and the names of straight lines lie beside the curves."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from ackclock.lab.lessons_read import lesson_names
from benches.browser import Lab

LISTEN = """
globalThis.written = [];
const fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (words, ...place) {
  globalThis.written.push([this.canvas, String(words)]);
  return fillText.call(this, words, ...place);
};
"""
"""A script that keeps what is written on canvases."""
WRITTEN = "all => all.map(one => globalThis.written.filter(([canvas]) => canvas === one).map(([, words]) => words))"


@pytest.fixture
def listening(browser: Any, address: str) -> Iterator[Lab]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    context.add_init_script(LISTEN)
    page = Lab(context.new_page()).open(address)
    yield page
    context.close()
    assert page.faults == []


def written(lab: Lab) -> list[list[str]]:
    """Give what is written on each panel now."""
    lab.page.evaluate("globalThis.written = []; lab.charts.remake()")
    lab.page.wait_for_timeout(100)
    return [list(words) for words in lab.page.locator("#charts canvas").evaluate_all(WRITTEN)]


def test_each_panel_says_that_its_axis_is_time_and_in_which_unit(listening: Lab, subtests: pytest.Subtests) -> None:
    for name in lesson_names():
        with subtests.test(name):
            listening.open_lesson(name)
            panels = written(listening)
            assert len(panels) >= 3
            assert all("time [s]" in words for words in panels)
            described = listening.page.get_attribute("#charts .plot >> nth=0", "aria-label")
            assert described is not None
            assert "; time from 0 s to " in described


def test_a_short_time_is_in_milliseconds_on_the_axis_at_the_cursor_and_in_the_svg(
    listening: Lab, tmp_path: Path
) -> None:
    page = listening.page
    page.evaluate("lab.charts.zoom(0.4, 0.8)")
    page.wait_for_function("() => lab.charts.part !== null")
    for words in written(listening):
        assert "time [ms]" in words
        assert {"500", "600", "700"} <= set(words)
        assert "0.5" not in words
    page.focus("#charts")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#charts .legend .time >> nth=0").endswith(" ms")
    page.click("#downloads summary")
    with page.expect_download() as download:
        page.click('[data-download="svg"]')
    path = tmp_path / "picture.svg"
    download.value.save_as(path)
    words = [text.text or "" for text in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")]
    assert words.count("time [ms]") == page.locator("#charts canvas").count()
    assert "600" in words


def names_of_lines(lab: Lab) -> list[dict[str, Any]]:
    """Give the names of lines in all panels, with how many columns of two pixels they hide of the curves."""
    script = (
        "[...lab.charts.panels.values()].flatMap((panel) => panel.names.map(({ label, hides }) => ({ label, hides })))"
    )
    found: list[dict[str, Any]] = lab.page.evaluate(script)
    return found


def test_names_of_lines_lie_beside_the_curves(lab: Lab) -> None:
    names = {one["label"]: one["hides"] for one in names_of_lines(lab)}
    assert set(names) == {
        *("largest window (W_max) = 81.03", "after a loss (W_max / 2) = 40.51", "buffer"),
        *("empty path 37.23 ms", "slowest link 10 Mbit/s"),
    }
    assert names.pop("buffer") <= 12  # the teeth leave no more room
    assert max(names.values()) <= 2


def test_names_of_lines_do_not_lie_on_one_another(lab: Lab, subtests: pytest.Subtests) -> None:
    for name in lesson_names():
        with subtests.test(name):
            lab.open_lesson(name)
            script = "[...lab.charts.panels.values()].map((panel) => panel.names.map((one) => one.room))"
            for panel in lab.page.evaluate(script):
                for one, other in combinations(panel, 2):
                    apart = one["right"] <= other["left"] or other["right"] <= one["left"]
                    assert apart or one["bottom"] <= other["top"] or other["bottom"] <= one["top"]
