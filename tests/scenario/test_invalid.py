"""Each invalid scenario, named by its fault, gives exactly the messages beside it; `pytest --bless` writes them."""

from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock.scenario import ScenarioError, load

FILES = sorted((Path(__file__).parent / "invalid").glob("*.toml"))


def messages(path: Path) -> str:
    with pytest.raises(ScenarioError) as caught:
        load(path)
    assert caught.value.source == str(path)
    return "".join(f"{fault}\n" for fault in caught.value.faults)


@pytest.mark.golden
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_invalid_scenario_says_what_is_wrong(path: Path, request: pytest.FixtureRequest) -> None:
    expected = path.with_suffix(".txt")
    given = messages(path)
    if request.config.getoption("--bless"):
        expected.write_text(given, encoding="utf-8")
    assert given == expected.read_text(encoding="utf-8")


def test_there_is_an_expected_message_for_each_file_and_none_without() -> None:
    expected = {path.stem for path in (Path(__file__).parent / "invalid").glob("*.txt")}
    assert expected == {path.stem for path in FILES}
    assert len(FILES) >= 45


@pytest.mark.parametrize("path", [path for path in FILES if path.stem != "many_faults"], ids=lambda path: path.stem)
def test_every_line_that_a_message_names_exists(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").split("\n")
    with pytest.raises(ScenarioError) as caught:
        load(path)
    for fault in caught.value.faults:
        assert fault.line is None or 1 <= fault.line <= len(lines)
        assert (fault.line is None) == ("line" not in fault.place)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("loss", {"probability": 0.1}, 'write model = "bernoulli", which has probability'),
        ("loss", {"kind": "bernoulli", "probability": 0.1}, 'write model = "bernoulli" in place of kind'),
        ("loss", {"kind": "bernoulli", "probability": 0.1}, 'did you mean "model"?'),
        ("loss", {"probability": 0.1, "packets": [1]}, '"packets" | "times"'),
        ("loss", {}, 'write model = "times"'),
        ("queue", {"min_threshold": "5 pkt"}, 'write discipline = "red", which has min_threshold'),
        ("queue", {"ecn": "all"}, 'write discipline = "red", "codel", "pie", "pi" or 2 others, which have ecn'),
        ("rate_process", {"file": "a.csv", "repeat": "9 s"}, 'write kind = "trace", which has file and repeat'),
        ("delay_process", {"low": "1 ms"}, 'write kind = "handover", which has low'),
    ],
)
def test_a_missing_kind_is_proposed_by_the_fields_that_are_given(
    field: str, value: dict[str, Any], expected: str
) -> None:
    link = {"name": "wan", **({} if field == "rate_process" else {"rate": "1 Mbit/s"}), field: value}
    with pytest.raises(ackclock.ScenarioError) as caught:
        ackclock.resolve({"link": [link], "flow": [{"path": ["wan"]}], "run": {"duration": "5 s"}})
    assert any(text.endswith(expected) for text in str(caught.value).splitlines())
    assert 'field "rate" is missing' not in str(caught.value)


@pytest.mark.parametrize(
    ("traffic", "expected"),
    [
        ({"size": "9 pkt", "off": "1 s"}, 'write kind = "web", which has off and size'),
        ({"interval": "1 s"}, 'write kind = "ping", which has interval'),
        ({"kind": "web", "off": "1 s", "size": {"tail_mean": "9 pkt"}}, 'write law = "exponential-exponential"'),
    ],
)
def test_a_missing_kind_of_traffic_is_too(traffic: dict[str, Any], expected: str) -> None:
    flow = {"path": ["wan"], "traffic": traffic}
    link = {"name": "wan", "rate": "1 Mbit/s"}
    with pytest.raises(ackclock.ScenarioError) as caught:
        ackclock.resolve({"link": [link], "flow": [flow], "run": {"duration": "5 s"}})
    assert expected in str(caught.value)


def test_a_table_that_an_override_makes_is_at_the_override() -> None:
    with pytest.raises(ackclock.ScenarioError) as caught:
        ackclock.resolve("satellite-download", overrides={"link.satellite.queue.ecn": "all"})
    assert 'override "link.satellite.queue.ecn": field "discipline" is missing' in str(caught.value)
