"""The widget: its page answers as the lab's, in a real browser too, and its runs are bounded."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import ackclock
from ackclock.errors import ArgumentError, ScenarioError
from ackclock.lab.serving import begin_with
from ackclock.notebook.bundle import MODULES, OURS, page, script
from ackclock.notebook.live import Widget

HOST = """<!doctype html><html><body><div id="cell"></div><script>
window.outbox = []; window.handlers = [];
const model = {
  send: (message) => outbox.push(message),
  on: (_, handler) => handlers.push(handler),
  off: () => {},
};
window.begin = async (text) => {
  const module = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  module.default.render({ model, el: document.getElementById("cell") });
};
window.deliver = (message) => handlers.forEach((handler) => handler(message));
</script></body></html>"""


DARK_GROUND = "rgb(20, 24, 28)"
"""The colour behind the dark page, of the lab's style sheet."""


class View:
    """What anywidget gives: messages there and back."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.handler: Callable[..., Thread | None] = lambda *_: None

    def on_msg(self, handler: Callable[..., Thread | None]) -> None:
        self.handler = handler

    def send(self, content: dict[str, Any]) -> None:
        json.dumps(content, allow_nan=False)
        self.sent.append(content)


@pytest.fixture
def view() -> View:
    return View()


@pytest.fixture
def made(view: View) -> Widget:
    return Widget(begin_with(None)[0], view)


def lines(view: View, asked: str, kind: str = "run", **content: Any) -> list[dict[str, Any]]:
    thread = view.handler(view, {"asks": asked, "kind": kind, "content": content}, [])
    assert thread is not None
    thread.join(60.0)
    return [one["line"] for one in view.sent if one.get("answers") == asked]


def test_the_page_is_whole_and_loads_nothing(made: Widget, view: View) -> None:
    view.handler(view, {"opened": True}, [])
    (sent,) = view.sent
    assert sent["page"] == page()
    assert sent["toml"] == made.toml
    assert "src=" not in page().split("<body>")[1].split("<script>")[0]
    assert not any(line.startswith(("import ", "export ")) for line in script().splitlines())
    assert all(f'modules["{name}"] = ' in script() for name in MODULES)
    assert page().count("<script>") == page().count("</script>") == 2


def test_a_change_of_a_slider_gives_the_curves_of_that_run_and_its_result(made: Widget, view: View) -> None:
    found = lines(view, "1", toml=made.toml, set={"link.line.buffer": "10 pkt", "run.duration": "5 s"})
    assert [line["kind"] for line in found if line["kind"] != "progress"][-2:] == ["curves", "result"]
    alone = ackclock.run(found[-1]["toml"], picture=False)
    assert made.result is not None
    assert made.result.summary == alone.summary
    assert 'buffer = "10 pkt"' in made.toml
    part = lines(view, "2", "window", start=1.0, end=2.0, columns=400)
    assert part[-1]["chart"]["panels"][0]["x_range"] == (1.0, 2.0)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"kind": "run", "content": {"toml": "[[", "columns": 500}}, "TOML"),
        ({"kind": "run", "content": {"toml": "x", "set": 3}}, "must be an object"),
        ({"kind": "advice", "content": {"toml": "x"}}, "asked for what there is not"),
        ({"kind": "run", "content": None}, "asked for what there is not"),
        ({"kind": "window", "content": {"start": 0, "end": 1}}, "there is no run of this page"),
    ],
)
def test_what_cannot_be_done_is_answered_in_words(
    made: Widget, view: View, asked: dict[str, Any], message: str
) -> None:
    thread = view.handler(view, {"asks": "1", **asked}, [])
    assert thread is not None
    thread.join(30.0)
    line = view.sent[-1]["line"]
    assert line["kind"] == "fault"
    assert message in " ".join(fault["text"] for fault in line["faults"])


def test_a_run_that_costs_too_much_is_refused(made: Widget, view: View) -> None:
    (line,) = lines(view, "1", toml=made.toml, set={"run.duration": "1e6 s", "link.line.rate": "10 Gbit/s"})
    assert line["kind"] == "fault"
    assert "is less than the run is expected to take" in line["faults"][0]["text"]


def test_the_next_change_ends_a_long_run(made: Widget, view: View) -> None:
    slow = {"run.duration": "2000 s", "link.line.rate": "100 Mbit/s"}
    first = view.handler(view, {"asks": "1", "kind": "run", "content": {"toml": made.toml, "set": slow}}, [])
    time.sleep(0.4)
    started = time.monotonic()
    last = lines(view, "2", toml=made.toml, set={"run.duration": "1 s"})[-1]
    assert last["kind"] == "result"
    assert first is not None
    first.join(10.0)
    assert [one["line"] for one in view.sent if one.get("answers") == "1"][-1] == {"kind": "superseded"}
    assert time.monotonic() - started < 10.0


def test_without_anywidget_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "anywidget", None)
    with pytest.raises(ScenarioError, match=r'pip install "ackclock\[notebook\]"'):
        ackclock.widget()


@pytest.mark.filterwarnings("default")
def test_anywidget_takes_the_widget() -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    made = ackclock.widget("geo-two-nodes")
    bundle = made._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "geo" in made.toml or "satellite" in made.toml


def test_in_a_browser_a_slider_redraws_the_curves(browser: Any, made: Widget, view: View, tmp_path: Any) -> None:
    host = browser.new_page(viewport={"width": 1000, "height": 1400}, color_scheme="null")
    faults: list[str] = []
    host.on("pageerror", lambda error: faults.append(str(error)))
    host.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    host.set_content(HOST)
    host.evaluate("(text) => begin(text)", (OURS / "widget.js").read_text(encoding="utf-8"))

    def until(done: Callable[[], bool]) -> None:
        """Carry messages between the page and the widget until something is so."""
        limit = time.monotonic() + 30.0
        while not done():
            assert time.monotonic() < limit, faults
            for message in host.evaluate("outbox.splice(0)"):
                thread = view.handler(view, message, [])
                if thread is not None:
                    thread.join(30.0)
            for message in [view.sent.pop(0) for _ in range(len(view.sent))]:
                host.evaluate("(message) => deliver(message)", message)
            host.wait_for_timeout(30)

    frame = host.frame_locator("iframe")
    until(lambda: frame.locator(".panel canvas").count() >= 4 and frame.locator("#verdict").inner_text() != "")
    before = frame.locator("#verdict").inner_text()
    assert frame.locator("svg.path").count() == 1
    labels = [one.get_attribute("aria-label") for one in frame.locator("#controls input[type=range]").all()]
    assert {"rate of line", "delay of line", "buffer of line", "loss of line", "number of download"} <= set(labels)
    assert frame.locator('select[aria-label="discipline of line"]').count() == 1
    assert frame.locator('select[aria-label="TCP of download"]').count() == 1
    frame.get_by_label("buffer of line", exact=True).press("Home")
    until(lambda: frame.locator("#verdict").inner_text() != before)
    assert 'buffer = "1 pkt"' in made.toml
    assert frame.get_by_label("buffer of line, as text").input_value() == "1 pkt"
    rate = frame.get_by_label("rate of line, as text")
    rate.fill("nonsense")
    rate.press("Enter")
    until(lambda: frame.locator("#faults li").count() == 1)
    assert "nonsense" in frame.locator("#faults").inner_text()
    ground = "() => getComputedStyle(document.documentElement).backgroundColor"
    page_of_frame = host.frames[-1]
    assert page_of_frame.evaluate(ground) != DARK_GROUND
    host.evaluate("() => (document.body.style.background = '#111')")  # as a notebook's dark theme does
    host.wait_for_timeout(700)
    assert page_of_frame.evaluate(ground) == DARK_GROUND
    host.screenshot(path=str(tmp_path / "widget.png"))
    host.close()
    assert faults == []


def test_a_widget_takes_text_and_paths_and_refuses_anything_else(tmp_path: Path) -> None:
    text = begin_with(None)[0] + "\n# mine\n"
    (tmp_path / "mine.toml").write_text(text)
    assert ackclock.widget(text).toml == text
    assert ackclock.widget(tmp_path / "mine.toml").toml == text
    with pytest.raises(ArgumentError, match=r'argument "scenario": .* given 3; allowed a path, or None'):
        ackclock.widget(3)  # type: ignore[arg-type]
