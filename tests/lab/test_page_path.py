"""The drawing of the path leads to the controls by keys as by clicks."""

import pytest

from benches.browser import Lab


def focused(lab: Lab) -> dict[str, str]:
    script = (
        "(() => { const one = document.activeElement; return { name: one.getAttribute('aria-label') ?? '', "
        "role: one.getAttribute('role') ?? '', path: one.dataset.path ?? '', link: one.dataset.link ?? '', "
        "flow: one.dataset.flow ?? '' }; })()"
    )
    found: dict[str, str] = lab.page.evaluate(script)
    return found


def stops_of_the_path(lab: Lab) -> list[dict[str, str]]:
    """Press the Tab key from the last control to the curves; give what has the focus between."""
    lab.page.get_by_label("seed of run, as text", exact=True).focus()
    found: list[dict[str, str]] = []
    for _ in range(20):
        lab.page.keyboard.press("Tab")
        if lab.page.evaluate("document.activeElement.id") == "charts":
            return found
        found.append(focused(lab))
    raise AssertionError(found)


def test_each_link_and_each_flow_of_the_path_is_a_stop_of_the_tab_key_with_a_name(lab: Lab) -> None:
    with lab.another_run():
        lab.page.select_option("#scenarios", "geo-retransmission-loss")
    found = stops_of_the_path(lab)
    assert [one["link"] or one["flow"] for one in found] == ["access", "feeder", "satellite", "flow"]
    assert {one["role"] for one in found} == {"button"}
    assert found[1]["name"].startswith("Link feeder, 2.2 Mbit/s")
    assert found[1]["name"].endswith(": go to its controls")
    assert found[3]["name"] == "Flow flow: go to its controls"


@pytest.mark.parametrize("key", ["Enter", " "])
@pytest.mark.parametrize(("part", "path"), [("link", "link.satellite.rate"), ("flow", "flow.flow.tcp")])
def test_a_key_on_a_part_of_the_path_leads_to_its_controls_as_a_click_does(
    lab: Lab, part: str, path: str, key: str
) -> None:
    with lab.another_run():
        lab.page.select_option("#scenarios", "geo-retransmission-loss")
    selector = '[data-link="satellite"]' if part == "link" else '[data-flow="flow"][tabindex]'
    lab.page.focus(selector)
    lab.page.keyboard.press(key)
    assert focused(lab)["path"] == path
    lab.page.focus("#pin")
    lab.page.locator(selector).locator("rect, circle").first.click()
    assert focused(lab)["path"] == path


@pytest.mark.parametrize(("discipline", "words"), [("fq-codel", " · fq-codel"), ("drop-tail", "")])
def test_the_path_names_each_discipline_but_the_simplest(lab: Lab, discipline: str, words: str) -> None:
    with lab.another_run():
        lab.page.evaluate(f"lab.runner.change({{ 'link.line.queue': '{discipline}', 'link.line.rate': '5 Mbit/s' }})")
    assert lab.page.text_content("#path .link .fact") == f"5 Mbit/s · 18 ms · 50 pkt{words}"


def test_the_focus_on_the_path_is_seen_and_stays_when_the_path_is_drawn_again(lab: Lab) -> None:
    stroke = "getComputedStyle(document.querySelector('.link .box')).strokeWidth"
    before = lab.page.evaluate(stroke)
    stops_of_the_path(lab)
    lab.page.keyboard.press("Shift+Tab")
    lab.page.keyboard.press("Shift+Tab")
    assert focused(lab)["link"] == "line"
    assert lab.page.evaluate(stroke) > before
    assert lab.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    with lab.another_run():
        lab.page.evaluate("lab.runner.change({ 'link.line.rate': '5 Mbit/s' })")
    assert focused(lab)["name"] == "Link line, 5 Mbit/s · 18 ms · 50 pkt: go to its controls"
