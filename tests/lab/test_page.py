"""The page in a real browser: each control, both ways of editing, comparing, sharing, downloads, slow motion."""

import csv
import io
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import ackclock
from ackclock.scenario.ready import ready_path
from benches.browser import SIZES, Lab

MOST_BYTES = 1_000_000


def test_the_page_has_path_controls_curves_verdict_and_numbers(lab: Lab) -> None:
    page = lab.page
    titles = page.locator("#charts h3").all_inner_texts()
    assert titles == ["Congestion window", "Queues", "Round trips", "Rates", "Packets by number"]
    assert page.locator("#charts canvas").count() == 5
    assert page.locator("svg.path .queue").count() == 2
    assert "is the bottleneck" in page.inner_text("#verdict")
    assert "download" in page.inner_text("#panel-numbers table")
    legend = page.inner_text("#charts .legend >> nth=0")
    assert "ssthresh" in legend
    assert "Recovery" in legend


SLIDERS: dict[str, tuple[str, Callable[[dict[str, Any]], object], object]] = {
    "link.line.rate": ("ArrowRight", lambda d: d["link"][0]["rate"], "12 Mbit/s"),
    "link.line.delay": ("ArrowLeft", lambda d: d["link"][0]["delay"], "15 ms"),
    "link.line.buffer": ("ArrowRight", lambda d: d["link"][0]["buffer"], "60 pkt"),
    "link.line.loss": ("ArrowRight", lambda d: d["link"][0]["loss"], {"model": "bernoulli", "probability": 1e-5}),
    "flow.download.count": ("ArrowRight", lambda d: d["flow"][0]["count"], 2),
    "flow.download.start": ("ArrowRight", lambda d: d["flow"][0]["start"], "100 ms"),
    "flow.download.size": ("ArrowLeft", lambda d: d["flow"][0]["size"], "100000 pkt"),
    "flow.download.rtt": ("End", lambda d: d["flow"][0]["rtt"], "10 s"),
    "run.duration": ("ArrowLeft", lambda d: d["run"]["duration"], "50 s"),
    "run.warmup": ("ArrowRight", lambda d: d["run"]["warmup"], "100 ms"),
    "run.seed": ("ArrowRight", lambda d: d["run"]["seed"], 2),
}


def test_each_slider_changes_its_field_and_runs(lab: Lab, subtests: pytest.Subtests) -> None:
    for path, (key, field, expected) in SLIDERS.items():
        with subtests.test(path):
            lab.move(path, key)
            assert field(tomllib.loads(lab.toml)) == expected


def test_sliders_of_the_reverse_direction_are_unfolded(lab: Lab) -> None:
    lab.page.click("details[data-name='line.reverse'] summary")
    lab.move("link.line.reverse.rate", "ArrowLeft")
    assert tomllib.loads(lab.toml)["link"][0]["reverse"] == {"rate": "9 Mbit/s"}
    assert lab.page.locator("details[data-name='line.reverse'][open]").count() == 1


def test_each_discipline_and_each_tcp_can_be_chosen(lab: Lab) -> None:
    for path in ("link.line.queue", "flow.download.tcp"):
        select = lab.page.locator(f'select[data-path="{path}"]')
        for name in select.locator("option").all_inner_texts():
            if name != select.input_value():
                with lab.another_run():
                    select.select_option(name)
            assert lab.page.locator("#faults li").count() == 0


def test_a_loss_that_is_moved_back_to_zero_is_taken_out_of_the_text(lab: Lab) -> None:
    before = lab.toml
    lab.move("link.line.loss")
    lab.move("link.line.loss", "ArrowLeft")
    assert tomllib.loads(lab.toml) == tomllib.loads(before)


def test_a_value_can_be_typed_and_a_wrong_one_is_marked_in_the_text(lab: Lab) -> None:
    box = lab.page.get_by_label("rate of line, as text", exact=True)
    with lab.another_run():
        box.fill("7.3 Mbit/s")
        box.press("Enter")
    assert tomllib.loads(lab.toml)["link"][0]["rate"] == "7.3 Mbit/s"
    box.fill("fast")
    box.press("Enter")
    lab.page.wait_for_selector("#faults li")
    assert "no number" in lab.page.inner_text("#faults") or "rate" in lab.page.inner_text("#faults")
    lab.tab("scenario")
    assert lab.page.inner_text(".gutter .faulty") == "5"
    assert "stale" in (lab.page.get_attribute("#charts", "class") or "")


def test_the_text_moves_the_sliders_and_the_sliders_the_text(lab: Lab) -> None:
    panel = lab.tab("scenario")
    area = panel.locator("textarea")
    with lab.another_run():
        area.fill(area.input_value().replace('rate = "10 Mbit/s"', 'rate = "5 Mbit/s"  # slow'))
    assert lab.page.get_by_label("rate of line, as text", exact=True).input_value() == "5 Mbit/s"
    lab.move("link.line.rate")
    assert 'rate = "6 Mbit/s"  # slow' in area.input_value()


def test_faults_of_the_text_are_marked_at_their_lines_and_lead_there(lab: Lab) -> None:
    panel = lab.tab("scenario")
    area = panel.locator("textarea")
    text = area.input_value().replace('buffer = "50 pkt"', 'bufer = "50 pkt"').replace('["line"]', '["lin"]')
    area.fill(text)
    lab.page.wait_for_selector(".gutter .faulty")
    assert lab.page.locator(".gutter .faulty").all_inner_texts() == ["7", "11"]
    assert area.get_attribute("aria-invalid") == "true"
    lab.page.locator("#faults button").first.click()
    chosen = area.evaluate("one => one.value.slice(one.selectionStart, one.selectionEnd)")
    assert chosen == 'bufer = "50 pkt"'
    with lab.another_run():
        area.fill(text.replace("bufer", "buffer").replace('["lin"]', '["line"]'))
    assert lab.page.locator(".gutter .faulty").count() == 0
    assert lab.page.locator("#faults li").count() == 0


def test_a_pinned_run_lies_behind_the_next_ones_with_the_numbers_side_by_side(lab: Lab) -> None:
    before = lab.numbers()
    lab.page.click("#pin")
    with lab.another_run():
        lab.page.locator('select[data-path="flow.download.tcp"]').select_option("linux-cubic")
    assert "download, pinned" in lab.page.inner_text("#charts .legend >> nth=0")
    table = lab.page.inner_text(".compared")
    after = lab.numbers()
    dropped = [f"{numbers['links', 'line', 'dropped_packets']:.0f}" for numbers in (before, after)]
    assert dropped == ["119", "25"]
    assert "\t".join(["line: dropped [pkt]", *dropped, "-79.0%"]) in table
    lab.page.click("#pin")
    assert lab.page.locator(".compared").count() == 0


def test_the_address_holds_the_experiment(lab: Lab, browser: Any, address: str) -> None:
    lab.move("link.line.buffer")
    lab.page.click("#pin")
    lab.move("link.line.buffer")
    lab.tab("scenario")
    lab.page.click("#share")
    lab.page.wait_for_function("() => document.getElementById('status').textContent.includes('ddress')")
    shared = lab.page.url
    assert shared.startswith(address + "#s=")
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    other = Lab(context.new_page()).open(shared)
    other.page.wait_for_selector(".compared", state="attached")
    assert other.toml == lab.toml
    assert other.page.evaluate("lab.app.pinned.toml") == lab.page.evaluate("lab.app.pinned.toml")
    assert other.page.is_visible("#panel-scenario")
    assert other.faults == []
    context.close()


def test_a_damaged_address_opens_the_first_scenario(browser: Any, address: str) -> None:
    context = browser.new_context()
    page = Lab(context.new_page()).open(address + "#s=AAAA-_garbage")
    assert "One download" in page.page.inner_text("#panel-numbers h2")
    assert page.faults == []
    context.close()


def test_downloads_are_the_scenario_the_curves_and_the_pictures(lab: Lab, tmp_path: Path) -> None:
    found = {}
    for kind in ("toml", "csv", "png", "svg"):
        lab.page.click("#downloads summary")
        with lab.page.expect_download() as download:
            lab.page.click(f'[data-download="{kind}"]')
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        found[kind] = path.read_bytes()
        assert path.name == f"one-download-over-a-line-of-10-mbit-s.{kind}"
    assert found["toml"].decode() == lab.toml
    rows = list(csv.DictReader(io.StringIO(found["csv"].decode())))
    assert {row["panel"] for row in rows} >= {"Congestion window", "Queues", "Round trips"}
    assert max(float(row["y"]) for row in rows if row["panel"] == "Queues" and row["kind"] == "step") == 50.0
    assert found["png"].startswith(b"\x89PNG")
    drawn = ET.fromstring(found["svg"])
    words = {text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Congestion window", "Queues", "download"} <= words


def test_a_part_of_the_run_is_shown_by_dragging_over_a_curve_and_all_of_it_by_a_double_click(lab: Lab) -> None:
    over = lab.page.locator("#charts .u-over").first
    box = over.bounding_box()
    assert box is not None
    y = box["y"] + 40
    lab.page.mouse.move(box["x"] + box["width"] / 3, y)
    lab.page.mouse.down()
    lab.page.mouse.move(box["x"] + box["width"] / 2, y, steps=5)
    lab.page.mouse.up()
    lab.page.wait_for_function("() => lab.charts.part !== null")
    low, high = lab.page.evaluate("lab.charts.range")
    assert (low, high) == (pytest.approx(20.0, abs=0.3), pytest.approx(30.0, abs=0.3))
    lab.page.wait_for_function(
        "(low) => [...lab.charts.panels.values()].every((one) => Math.abs(one.plot.scales.x.min - low) < 1e-6)", arg=low
    )
    over.dblclick()
    lab.page.wait_for_function("() => lab.charts.part === null")
    assert lab.page.evaluate("lab.charts.panels.values().next().value.plot.scales.x.max") == 60


def test_the_part_that_is_shown_stays_when_a_slider_is_moved(lab: Lab) -> None:
    lab.page.evaluate("lab.charts.zoom(10, 20)")
    lab.page.wait_for_function("() => lab.charts.part !== null")
    lab.move("link.line.buffer")
    assert lab.page.evaluate("lab.charts.range") == [10, 20]
    assert lab.page.evaluate("lab.charts.panels.values().next().value.plot.scales.x.max") == 20
    lab.move("run.duration", "Home")
    assert lab.page.evaluate("lab.charts.range") is None


def test_the_cursor_is_shared_and_fills_the_queues_of_the_path(lab: Lab) -> None:
    box = lab.page.locator("#charts .u-over").first.bounding_box()
    assert box is not None
    lab.page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 30)
    lab.page.wait_for_function("() => document.querySelector('.queue .count').textContent !== ''")
    lefts = lab.page.evaluate("[...lab.charts.panels.values()].map((one) => one.plot.cursor.left)")
    assert max(lefts) - min(lefts) <= 1
    time = float(lab.page.inner_text("#charts .legend .time >> nth=0").split()[0])
    assert time == pytest.approx(36.0, abs=0.3)


def test_curves_are_moved_through_by_keys(lab: Lab) -> None:
    lab.page.focus("#charts")
    lab.page.keyboard.press("ArrowRight")
    first = lab.page.evaluate("lab.charts.time")
    lab.page.keyboard.press("Shift+ArrowRight")
    assert lab.page.evaluate("lab.charts.time") > first
    lab.page.keyboard.press("+")
    lab.page.wait_for_function("() => lab.charts.part !== null")
    low, high = lab.page.evaluate("lab.charts.range")
    assert high - low == pytest.approx(30.0)
    lab.page.keyboard.press("0")
    lab.page.wait_for_function("() => lab.charts.part === null")


def test_the_models_are_one_click_away(lab: Lab) -> None:
    lab.page.click("#models")
    assert "W_max" in lab.page.inner_text("#panel-models")
    assert "do not apply" in lab.page.inner_text("#panel-models")


def test_advice_is_one_click_away_and_can_be_applied(lab: Lab) -> None:
    with lab.another_run():
        lab.page.select_option("#scenarios", "geo-retransmission-loss")
    lab.page.click("#advise")
    lab.page.wait_for_selector("#panel-advice table")
    with lab.another_run():
        lab.page.click("#panel-advice button:has-text('Apply')")
    found = tomllib.loads(lab.toml)["link"]
    assert [link.get("buffer") for link in found] == [None, "25 pkt", "42 pkt"]


def test_a_ready_scenario_is_opened_as_it_is(lab: Lab) -> None:
    with lab.another_run():
        lab.page.select_option("#scenarios", "two-way-abr")
    assert lab.toml == ready_path("two-way-abr").read_text(encoding="utf-8")
    assert lab.page.locator("svg.path .link").count() == 1


def test_slow_motion_moves_packets_drops_them_and_tells_their_stories(lab: Lab) -> None:
    page = lab.page
    page.click("#motion")
    page.wait_for_selector("html[data-motion]")
    assert "packets and" in page.inner_text("#player .note")
    before = page.evaluate("lab.motion.time")
    page.get_by_label("Step to the next event").click()
    assert page.evaluate("lab.motion.time") > before
    page.click("#player >> text=Next drop")
    assert page.locator(".packet.dropped").count() >= 1
    assert "was dropped by the queue of line" in page.inner_text(".story")
    assert "found lost by" in page.inner_text(".story")
    waiting = page.evaluate("lab.motion.positions.queued.get(0)")
    assert waiting == 50
    packet = page.locator(".packet.data:not(.dropped)").first
    packet.dispatch_event("click")
    assert page.inner_text(".story h3").startswith("Packet")
    page.get_by_label("Play").click()
    page.wait_for_function(f"() => lab.motion.time > {page.evaluate('lab.motion.time')}")
    page.get_by_label("Pause").click()
    at = page.evaluate("lab.motion.time")
    page.wait_for_timeout(150)
    assert page.evaluate("lab.motion.time") == at
    page.click("#motion")
    assert not page.is_visible("#player")


def test_a_change_ends_slow_motion(lab: Lab) -> None:
    lab.page.click("#motion")
    lab.page.wait_for_selector("html[data-motion]")
    lab.move("link.line.rate")
    assert not lab.page.is_visible("#player")
    assert lab.page.locator(".packet").count() == 0


SLOW = """
[[link]]
name = "line"
rate = "1 Gbit/s"
buffer = "1000 pkt"
[[flow]]
path = ["line"]
rtt = "10 ms"
tcp = { preset = "reno-ns2", max_window = "900 pkt" }
[run]
duration = "150 s"
"""


def test_a_long_run_shows_progress_greys_the_old_curve_and_is_ended_by_the_next_change(lab: Lab) -> None:
    page = lab.page
    old = page.evaluate("lab.app.result.verdict")
    lab.tab("scenario").locator("textarea").fill(SLOW)
    page.wait_for_selector("#progress:not([hidden])")
    assert "stale" in (page.get_attribute("#charts", "class") or "")
    assert page.inner_text("#status").endswith("%")
    assert page.evaluate("lab.app.result.verdict") == old
    with lab.another_run():
        page.locator("#panel-scenario textarea").fill(SLOW.replace("150 s", "0.5 s"))
    assert "stale" not in (page.get_attribute("#charts", "class") or "")
    assert not page.is_visible("#progress")
    assert page.evaluate("lab.app.curves.chart.panels[0].x_range[1]") == 0.5


def test_a_costly_scenario_is_refused_with_what_it_would_take(lab: Lab) -> None:
    lab.tab("scenario").locator("textarea").fill(SLOW.replace("150 s", "1e6 s"))
    lab.page.wait_for_selector("#faults li")
    assert "is less than the run is expected to take" in lab.page.inner_text("#faults")


def test_all_can_be_reached_by_the_tab_key_and_has_a_name(lab: Lab) -> None:
    page = lab.page
    names = []
    for _ in range(60):
        page.keyboard.press("Tab")
        names.append(
            page.evaluate(
                "(() => { const one = document.activeElement; return [one.id, one.dataset.path ?? '', "
                "one.getAttribute('aria-label') || one.innerText || one.labels?.[0]?.innerText || '']; })()"
            )
        )
    assert all(name for _, _, name in names if name is not None)
    reached = {identity for identity, _, _ in names}
    assert {"skip", "scenarios", "lessons", "pin", "motion", "advise", "share", "charts", "tab-numbers"} <= reached
    paths = [path for _, path, _ in names if path]
    assert paths.index("link.line.rate") < paths.index("flow.download.tcp") < paths.index("run.duration")


def test_controls_have_names_and_values_for_screen_readers(lab: Lab) -> None:
    slider = lab.slider("link.line.rate")
    assert slider.get_attribute("aria-label") == "rate of line"
    assert slider.get_attribute("aria-valuetext") == "10 Mbit/s"
    assert lab.page.get_attribute("#verdict", "aria-live") == "polite"
    described = lab.page.get_attribute("#charts .plot >> nth=1", "aria-label")
    assert described is not None
    assert described.startswith("Queues, queue [packets]: line from 0 to 50")
    assert "Links: line, 10 Mbit/s, 18 ms, 50 pkt" in (lab.page.get_attribute("svg.path", "aria-label") or "")


def test_tabs_are_moved_between_by_arrow_keys(lab: Lab) -> None:
    lab.page.focus("#tab-numbers")
    lab.page.keyboard.press("ArrowRight")
    assert lab.page.is_visible("#panel-scenario")
    assert lab.page.get_attribute("#tab-scenario", "aria-selected") == "true"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_nothing_is_wider_than_the_window(browser: Any, address: str, size: str, scheme: str) -> None:
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = Lab(context.new_page()).open(address)
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    dark = page.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (sum(int(part) for part in dark[4:-1].split(",")) < 200) == (scheme == "dark")
    assert page.faults == []
    context.close()


def test_the_page_is_smaller_than_a_megabyte_and_comes_from_this_machine_alone(browser: Any, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    asked, sizes = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("response", lambda response: sizes.append(len(response.body())) if "/api/" not in response.url else None)
    Lab(page).open(address)
    assert all(url.startswith((address, "blob:", "data:")) for url in asked)
    assert sum(sizes) < MOST_BYTES
    context.close()


def test_the_numbers_on_the_page_are_those_of_ackclock_run(lab: Lab) -> None:
    summary = ackclock.run(lab.toml).summary
    found = lab.numbers()
    assert found["flows", "download", "goodput_bps"] == summary["flows"][0]["goodput_bps"]["mean"]
    assert lab.page.inner_text("#verdict").lower() == f"{summary['verdict']}.".lower()
