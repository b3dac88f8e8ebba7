"""The downloaded pictures name all that they show, with units, within their edges."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from benches.browser import Lab

SHOWN = {
    "cwnd [packets]",
    "queue [packets]",
    "right: delay at home [ms]",
    "round trip [ms]",
    "Recovery",
    "warm-up, not measured",
    "home: drop",
    "download, pinned",
    "web",
}
"""Some of what a run with a pinned one behind it has: units, the second scale, states, warm-up, drops, curves."""
WRITTEN = """() => {
  window.written = [];
  const write = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (words, x, y) {
    if (!this.canvas.isConnected)
      written.push({ words, from: x, to: x + this.measureText(words).width, y, width: this.canvas.width });
    return write.call(this, words, x, y);
  };
}"""
BOXES = """(source) => {
  const place = document.createElement("div");
  place.innerHTML = source;
  document.body.append(place);
  const found = [...place.querySelectorAll("text")].map((one) => {
    const { x, width } = one.getBBox();
    return { words: one.textContent, from: x, to: x + width };
  });
  place.remove();
  return found;
}"""


@pytest.fixture
def pinned(lab: Lab) -> Lab:
    lab.open_lesson("2-bufferbloat")
    lab.page.click("#pin")
    with lab.another_run():
        lab.page.click('[data-try="0"]')
    return lab


def downloaded(lab: Lab, kind: str, folder: Path) -> bytes:
    lab.page.click("#downloads summary")
    with lab.page.expect_download() as download:
        lab.page.click(f'[data-download="{kind}"]')
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path.read_bytes()


def test_the_png_names_all_that_it_shows_within_its_edges(pinned: Lab, tmp_path: Path) -> None:
    pinned.page.evaluate(WRITTEN)
    assert downloaded(pinned, "png", tmp_path).startswith(b"\x89PNG")
    written: list[dict[str, Any]] = pinned.page.evaluate("written")
    assert {one["words"] for one in written} >= SHOWN
    assert all(0 <= one["from"] < one["to"] <= one["width"] for one in written)


def test_the_svg_names_all_that_it_shows_within_its_edges(pinned: Lab, tmp_path: Path) -> None:
    source = downloaded(pinned, "svg", tmp_path).decode()
    boxes: list[dict[str, Any]] = pinned.page.evaluate(BOXES, source)
    assert {one["words"] for one in boxes} >= SHOWN
    assert all(0 <= one["from"] < one["to"] <= 900 for one in boxes if one["words"])


def test_the_second_scale_of_the_svg_is_the_time_that_the_queue_takes_to_drain(lab: Lab, tmp_path: Path) -> None:
    """A packet of 1500 bytes takes 1.2 ms at 10 Mbit/s; each number is at the height of its queue."""
    root = ET.fromstring(downloaded(lab, "svg", tmp_path))
    groups = [[*group.iter("{http://www.w3.org/2000/svg}text")] for group in root]
    right, left = [], []
    for texts in groups:
        numbers = [one for one in texts if one.get("text-anchor") is None and float(one.get("x", "0")) > 850]
        if numbers:
            right = numbers
            left = [one for one in texts if one.get("text-anchor") == "end" and one.get("x") == "57"]
    at = {float(one.text or ""): float(one.get("y", "0")) for one in left}
    per_packet = (at[20.0] - at[0.0]) / 20.0
    assert len(right) >= 3
    for one in right:
        expected = at[0.0] + per_packet * float(one.text or "") / 1.2
        assert float(one.get("y", "0")) == pytest.approx(expected, abs=0.1)
