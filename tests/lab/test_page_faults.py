"""What the page says and shows when something that was typed is wrong."""

import tomllib

import pytest

from benches.browser import Lab


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
