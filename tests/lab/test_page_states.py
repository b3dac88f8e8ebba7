"""The page as scenarios, lessons and advice take turns: nothing of one stays beside another, and no text is lost."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from ackclock.pictures.parts import MOST_LINES
from benches.browser import Lab, served


def fill(lab: Lab, label: str, text: str, key: str = "Enter") -> None:
    """Type a text into the box of a field."""
    box = lab.page.get_by_label(f"{label}, as text", exact=True)
    box.fill(text)
    box.press(key)


def choose(lab: Lab, select: str, name: str) -> None:
    """Choose a ready scenario or a lesson, and wait for its run."""
    with lab.another_run():
        lab.page.select_option(select, name)


def chosen(lab: Lab) -> tuple[str, str]:
    """Give the scenario and the lesson that the page says it shows."""
    return lab.page.input_value("#scenarios"), lab.page.input_value("#lessons")


@pytest.mark.parametrize("back", ["written", "Escape"])
def test_a_value_that_was_wrong_can_be_set_back_to_the_one_before(lab: Lab, back: str) -> None:
    before = tomllib.loads(lab.toml)["link"][0]["rate"]
    label = "rate of line"
    shown = lab.page.get_by_label(f"{label}, as text", exact=True).input_value()
    fill(lab, label, "20")
    lab.page.wait_for_selector("#faults li")
    lab.settle()
    with lab.another_run():
        if back == "written":
            fill(lab, label, shown)
        else:
            fill(lab, label, "30", key="Escape")
    assert not lab.page.is_visible("#faults")
    assert tomllib.loads(lab.toml)["link"][0]["rate"] == before


def test_slow_motion_that_is_closed_while_it_records_stays_closed(lab: Lab) -> None:
    lab.page.locator("#motion").dblclick()
    lab.page.wait_for_timeout(1500)
    assert not lab.page.is_visible("#player")
    assert lab.page.locator(".packet").count() == 0
    choose(lab, "#lessons", "7-cubic-bbr")
    assert "bbr" in str(lab.page.locator("#path svg").get_attribute("aria-label"))


def test_what_was_written_comes_back_after_another_scenario_and_after_loading_anew(lab: Lab) -> None:
    area = lab.tab("scenario").locator("textarea")
    mine = lab.toml.replace("[run]", "# mine\n[run]")
    with lab.another_run():
        area.fill(mine)
    choose(lab, "#scenarios", "geo-two-nodes")
    assert "# mine" not in lab.toml
    with lab.another_run():
        lab.page.go_back()
    assert lab.toml == mine
    area.fill(mine.replace("[run]", "[rum]"))
    lab.page.wait_for_selector("#faults li")
    lab.page.wait_for_timeout(600)
    lab.page.reload()
    lab.page.wait_for_selector("#faults li")
    assert "[rum]" in lab.toml


def test_a_slider_that_moves_right_after_a_key_keeps_what_was_written(lab: Lab) -> None:
    area = lab.tab("scenario").locator("textarea")
    area.fill(lab.toml.replace("[run]", "# mine\n[run]"))
    lab.move("link.line.delay")
    assert "# mine" in lab.toml


def test_advice_looks_old_after_a_change_and_goes_with_its_scenario(lab: Lab) -> None:
    choose(lab, "#lessons", "1-sawtooth")
    lab.page.click("#advise")
    lab.page.wait_for_selector("#panel-advice h3", timeout=90_000)
    panel = lab.page.locator("#panel-advice")
    assert "stale" not in str(panel.get_attribute("class"))
    path = str(lab.page.locator('input[type="range"][data-path$=".rate"]').first.get_attribute("data-path"))
    lab.move(path)
    assert "stale" in str(panel.get_attribute("class"))
    assert "for the scenario before its last change" in panel.inner_text()
    choose(lab, "#scenarios", "geo-two-nodes")
    assert panel.locator("button").count() == 0
    assert "stale" not in str(panel.get_attribute("class"))


def test_advice_on_a_faulty_scenario_does_not_go_on_asking(lab: Lab) -> None:
    fill(lab, "rate of line", "fast")
    lab.page.wait_for_selector("#faults li")
    lab.page.click("#advise")
    lab.page.wait_for_selector("#panel-advice .warning")
    assert "Asking" not in lab.page.locator("#panel-advice").inner_text()


def test_a_scenario_and_a_lesson_take_each_other_s_place_with_the_whole_time_axis(lab: Lab) -> None:
    choose(lab, "#scenarios", "geo-two-nodes")
    assert chosen(lab) == ("geo-two-nodes", "")
    lab.page.evaluate("lab.charts.zoom(60, 62)")
    lab.page.wait_for_function("() => lab.charts.part !== null")
    choose(lab, "#lessons", "4-double-slow-start")
    assert chosen(lab) == ("", "4-double-slow-start")
    assert lab.page.evaluate("lab.charts.range") is None
    choose(lab, "#scenarios", "geo-two-nodes")
    assert chosen(lab) == ("geo-two-nodes", "")
    assert "Choose a lesson" in str(lab.page.text_content("#panel-lesson"))


def test_back_in_the_history_a_lesson_comes_with_its_own_text_and_a_zoomed_run_with_its_part(lab: Lab) -> None:
    choose(lab, "#lessons", "2-bufferbloat")
    choose(lab, "#lessons", "3-fairness")
    with lab.another_run():
        lab.page.go_back()
    lab.page.wait_for_function("() => document.querySelector('#lessons').value === '2-bufferbloat'")
    assert "Bufferbloat" in lab.page.inner_text("#panel-lesson")
    lab.page.evaluate("lab.charts.zoom(20, 25)")
    choose(lab, "#scenarios", "access-unequal-rtts")
    with lab.another_run():
        lab.page.go_back()
    lab.page.wait_for_function("() => lab.charts.range?.[0] === 20")
    assert chosen(lab) == ("", "2-bufferbloat")


LONG = """
[[link]]
name = "line"
rate = "1 Gbit/s"
delay = "10 ms"
buffer = "1000 pkt"
[[flow]]
path = ["line"]
count = 20
[run]
duration = "60 s"
"""


def test_a_look_at_the_curves_does_not_end_a_run(lab: Lab) -> None:
    area = lab.tab("scenario").locator("textarea")
    with lab.another_run():
        area.fill(LONG)
        lab.page.wait_for_selector("#progress:not([hidden])")
        lab.page.evaluate("void lab.charts.zoom(1, 2)")
    lab.page.wait_for_function("() => document.querySelector('#progress').hidden && lab.runner.current === null")
    assert tomllib.loads(lab.page.evaluate("lab.app.result.toml"))["link"][0]["rate"] == "1 Gbit/s"


COPIES = """
[[link]]
name = "core"
rate = "10 Mbit/s"
buffer = "50 pkt"
[[link]]
name = "branch"
rate = "1 Mbit/s"
delay = "10 ms"
buffer = "20 pkt"
copies = 3
[[flow]]
name = "down"
path = ["core", "branch"]
count = 2
[run]
duration = "3 s"
"""


def queue_curves(lab: Lab) -> Any:
    """Give the curves of queues that the page has."""
    return lab.page.evaluate("lab.charts.chart.panels.find((one) => one.title === 'Queues').curves")


def filled(lab: Lab, time_s: float) -> dict[str, Any]:
    """Give what the queues of the path say that they hold at a time: packets, or a question mark."""
    labels = "([name, one]) => [name, Number(one.label.textContent || 0) || one.label.textContent]"
    return dict(lab.page.evaluate(f"(lab.path.fillAt(lab.charts.chart, {time_s}), [...lab.path.queues].map({labels}))"))


def test_queues_that_the_curves_leave_out_are_not_shown_empty(lab: Lab) -> None:
    links = "".join(
        f'[[link]]\nname = "l{index}"\nrate = "10 Mbit/s"\ndelay = "{9 - index} ms"\nbuffer = "{40 - 4 * index} pkt"\n'
        f'[[flow]]\nname = "f{index}"\npath = ["l{index}"]\n'
        for index in range(8)
    )
    area = lab.tab("scenario").locator("textarea")
    with lab.another_run():
        area.fill(links + '[run]\nduration = "5 s"\n')
    drawn = {curve["label"] for curve in queue_curves(lab) if curve["kind"] == "step"}
    assert len(drawn) == MOST_LINES
    shown = filled(lab, 3.0)
    assert {name for name, packets in shown.items() if packets == "?"} == set(shown) - drawn


def test_slow_motion_shows_members_of_flows_over_copies_of_a_link_where_they_wait(lab: Lab) -> None:
    area = lab.tab("scenario").locator("textarea")
    with lab.another_run():
        area.fill(COPIES)
    lab.page.locator("#motion").click()
    lab.page.wait_for_selector("html[data-motion]")
    most: dict[str, int] = {}
    for _ in range(40):
        lab.page.get_by_label("Step to the next event").click()
        shown = lab.page.evaluate("[...lab.path.queues].map(([name, one]) => [name, Number(one.label.textContent)])")
        most = {name: max(count, most.get(name, 0)) for name, count in shown}
    assert 5 < most["branch"] <= 20
    flow = lab.page.locator("#player select[aria-label='Flow of the packet']").input_value()
    lab.page.get_by_role("button", name="Tell").click()
    assert f"of {flow}" in lab.page.inner_text("#player")
    assert "not in flight" not in lab.page.inner_text("#player")
    lab.page.evaluate("lab.motion.close()")
    trace = [curve for curve in queue_curves(lab) if curve["label"].startswith("branch")]
    time_s = next(x for x, y in zip(trace[0]["x"], trace[0]["y"], strict=True) if y > 5)
    longest = max(max(y for x, y in zip(one["x"], one["y"], strict=True) if x <= time_s) for one in trace)
    assert 5 < filled(lab, time_s)["branch"] <= longest


def test_retransmissions_are_points_that_a_line_does_not_join(lab: Lab) -> None:
    choose(lab, "#scenarios", "geo-retransmission-loss")
    series = lab.page.evaluate(
        "lab.charts.panels.get('Packets by number').series.map(({label, look}) => [label, look])"
    )
    assert dict(series)["sent again"] == "points"


def test_an_address_without_a_pin_unpins(lab: Lab) -> None:
    lab.page.wait_for_timeout(600)
    address = lab.page.url
    lab.page.click("#pin")
    lab.move("link.line.rate")
    lab.page.wait_for_timeout(600)
    assert lab.page.locator(".mark.dotted").count() > 0
    with lab.another_run():
        lab.page.goto(address)
    assert lab.page.inner_text("#pin") == "Pin to compare"
    assert lab.page.locator(".mark.dotted").count() == 0


SAME_NAME = """
[[link]]
name = "a"
rate = "10 Mbit/s"
buffer = "100 pkt"
[[flow]]
name = "a"
path = ["a"]
size = "1 MB"
rtt = "50 ms"
[[flow]]
name = "b"
path = ["a"]
rtt = "50 ms"
start = "5 s"
[run]
duration = "20 s"
"""


def test_a_flow_with_a_link_s_name_leads_to_its_own_controls_and_has_no_value_after_its_end(lab: Lab) -> None:
    with lab.another_run():
        lab.tab("scenario").locator("textarea").fill(SAME_NAME)
    lab.page.locator('#path [data-flow="a"][tabindex]').press("Enter")
    assert lab.page.evaluate("document.activeElement.dataset.path").startswith("flow.a.")
    lab.page.locator('#path [data-link="a"]').press("Enter")
    assert lab.page.evaluate("document.activeElement.dataset.path").startswith("link.a.")
    script = "(time) => { const panel = [...lab.charts.panels.values()][0]; panel.showLegend(time);"
    script += " return Object.fromEntries([...panel.legend.querySelectorAll('span')].map((one) =>"
    script += " [one.firstChild?.nextSibling?.textContent, one.querySelector('b')?.textContent ?? null])); }"
    during, after = (lab.page.evaluate(script, time) for time in (0.5, 15.0))
    assert during["a"] is not None
    assert after["a"] is None
    assert after["b"] is not None


def test_a_rate_that_changes_has_no_slider_that_could_only_be_refused(lab: Lab) -> None:
    choose(lab, "#scenarios", "lte-fading")
    assert lab.page.locator('input[data-path$=".rate"][data-path^="link.lte"]:not([data-path*="reverse"])').count() == 0
    assert "changes: see Scenario" in lab.page.inner_text("#controls")


def test_without_a_run_nothing_is_downloaded_pinned_or_slowed_down(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "faulty.toml"
    path.write_text('[[link]]\nname = "line"\nrate = "fast"\n', encoding="utf-8")
    with served(str(path)) as address:
        context = browser.new_context()
        lab = Lab(context.new_page())
        lab.page.goto(address)
        lab.page.wait_for_selector("#faults li")
        for button in ("#pin", "#motion"):
            lab.page.evaluate("document.querySelector('#status').textContent = ''")
            lab.page.click(button)
            assert lab.page.inner_text("#status") == "There is no run yet."
        lab.page.click("#downloads summary")
        lab.page.click('[data-download="png"]')
        assert lab.page.inner_text("#status") == "There is no run yet."
        assert lab.faults == []
        context.close()
