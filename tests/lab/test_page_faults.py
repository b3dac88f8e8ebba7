"""Faults of what is typed: the page names them, and shows that its results are those of an older scenario."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from benches.browser import Lab, served


def typed(lab: Lab, label: str, text: str) -> str:
    """Type a text into a box, and give the faults that the page shows then."""
    box = lab.page.get_by_label(f"{label}, as text", exact=True)
    box.fill(text)
    box.press("Enter")
    lab.page.wait_for_selector("#faults li")
    lab.settle()
    return str(lab.page.inner_text("#faults"))


EMPTY = {
    "rate of line": ("field rate", 'allowed a rate from 1 bit/s to 1e13 bit/s, such as "1.5 Mbit/s", or "unlimited"'),
    "delay of line": ("field delay", "allowed 0 to 1e5 s"),
    "buffer of line": ("field buffer", 'such as "18 pkt", or "unlimited"'),
    "loss of line": ("field loss.probability", "allowed a number from 0 and at most 1"),
    "size of download": ("field size", 'such as "10 MB", or "unlimited"'),
    "number of download": ("field count", "allowed a whole number from 1"),
    "duration of run": ("field duration", 'such as "2000 s"'),
    "seed of run": ("field seed", "allowed a whole number from 0"),
}


@pytest.mark.parametrize("label", EMPTY)
def test_an_empty_box_is_a_fault_that_names_the_field_and_says_what_is_allowed(lab: Lab, label: str) -> None:
    field, allowed = EMPTY[label]
    found = typed(lab, label, "")
    assert field in found
    assert 'given ""' in found
    assert allowed in found
    assert "nothing limits the flow" not in found
    assert lab.page.locator("#faults li").count() == 1


def test_unlimited_is_a_rate_only_where_it_is_written(lab: Lab) -> None:
    assert "nothing limits the flow" in typed(lab, "rate of line", "unlimited")
    assert tomllib.loads(lab.toml)["link"][0]["rate"] == "unlimited"


def test_an_empty_least_rtt_is_that_of_the_links_as_the_box_then_says(lab: Lab) -> None:
    box = lab.page.get_by_label("least RTT of download, as text", exact=True)
    for text in ("50 ms", ""):
        with lab.another_run():
            box.fill(text)
            box.press("Enter")
    box.blur()
    assert "rtt" not in tomllib.loads(lab.toml)["flow"][0]
    assert lab.page.get_attribute('input[data-path="flow.download.rtt"]', "aria-valuetext") == "the links'"


OLD = ("#path", "#charts", "#verdict", "#panel-numbers", "#panel-models")


def old_parts(lab: Lab) -> set[str]:
    """Give the parts of the page that look old: paler than the rest, and grey."""
    script = "one => { const style = getComputedStyle(one); return [style.opacity, style.filter]; }"
    lab.page.wait_for_timeout(300)  # they pale over a moment
    looks = {part: lab.page.locator(part).evaluate(script) for part in OLD}
    return {part for part, (opacity, filtered) in looks.items() if float(opacity) < 0.6 and "grayscale" in filtered}


def test_after_a_fault_all_of_the_old_run_looks_old_and_the_next_run_looks_new(lab: Lab) -> None:
    assert old_parts(lab) == set()
    assert not lab.page.is_visible("#old")
    typed(lab, "rate of line", "fast")
    assert old_parts(lab) == set(OLD)
    assert lab.page.inner_text("#old") == "What is grey shows the last run, not the scenario as it is now."
    tops = [lab.page.locator(part).bounding_box()["y"] for part in ("#faults", "#old", "#verdict")]  # type: ignore[index]
    assert tops == sorted(tops)
    lab.move("link.line.rate")
    assert old_parts(lab) == set()
    assert not lab.page.is_visible("#old")
    assert not lab.page.is_visible("#faults")


def test_a_fault_before_the_first_run_leaves_nothing_to_look_old(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "faulty.toml"
    path.write_text('[[link]]\nname = "line"\nrate = "fast"\n', encoding="utf-8")
    with served(str(path)) as address:
        context = browser.new_context()
        page = Lab(context.new_page())
        page.page.goto(address)
        page.page.wait_for_selector("#faults li")
        assert old_parts(page) == set()
        assert not page.page.is_visible("#old")
        context.close()


def test_a_fault_stays_when_a_run_is_pinned(lab: Lab) -> None:
    found = typed(lab, "rate of line", "fast")
    lab.page.click("#pin")
    assert lab.page.inner_text("#faults") == found
    assert old_parts(lab) == set(OLD)


MANY = """
[[link]]
name = "line"
rate = "100 Mbit/s"
buffer = "100 pkt"
[[flow]]
path = ["line"]
rtt = "10 ms"
[[flow]]
name = "noise"
path = ["line"]
traffic = { kind = "poisson", rate = "5 Mbit/s" }
[run]
duration = "12 s"
replications = 30
"""


def test_curves_of_a_run_with_replications_look_new_before_its_tables_and_all_does_at_its_end(lab: Lab) -> None:
    lab.tab("scenario").locator("textarea").fill(MANY)
    # How long that lasts is the machine's matter: the page itself is asked, at each of its frames.
    stale = "[...document.querySelectorAll('.stale')].map((one) => '#' + one.id).sort().join(' ')"
    lab.page.wait_for_function(
        f"() => !document.querySelector('#progress').hidden && {stale} === '#panel-models #panel-numbers #verdict'"
    )
    lab.settle()
    assert old_parts(lab) == set()
    assert not lab.page.is_visible("#progress")
