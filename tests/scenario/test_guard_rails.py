"""Sizes that no machine holds are refused before anything is built."""

from pathlib import Path
from typing import Any

import pytest

from ackclock.scenario import ScenarioError, load, resolve


def messages(links: int, **flow: Any) -> list[str]:
    document = {
        "link": [{"name": f"hop{number}", "rate": "1 Gbit/s", "buffer": "9 pkt"} for number in range(links)],
        "flow": [{"path": ["hop0"], **flow}],
        "run": {"duration": "1 s"},
    }
    try:
        load(document)
    except ScenarioError as caught:
        return [str(fault) for fault in caught.faults]
    return []


@pytest.mark.parametrize(("links", "faults"), [(50_000, []), (50_001, ["50001"])])
def test_links(links: int, faults: list[str]) -> None:
    expected = [f"scenario: has too many links; given {given} [[link]]; allowed 50000 at most" for given in faults]
    assert messages(links) == expected


def test_flows_times_links() -> None:
    path = [f"hop{number}" for number in range(60)]
    assert messages(60, path=path, count=800_000) == []
    given = "120000000 links on the paths of all flows"
    assert messages(60, path=path, count=1_000_000) == [
        f"scenario: is too large; given {given}; allowed 100000000 at most"
    ]


LINK = {"name": "a", "rate": "1 Mbit/s", "delay": "10 ms", "buffer": "9 pkt"}


def refusals(document: dict[str, Any]) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        load({"link": [LINK], "flow": [{"path": ["a"]}], "run": {"duration": "1 s"}, **document})
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("kind", "most", "words"),
    [
        ("flow", 50_000, "flows"),
        ("host", 50_000, "hosts"),
        ("atm_link", 1000, "ATM links"),
        ("channel", 1000, "channels"),
        ("cross_traffic", 1000, "sources of cross-traffic"),
    ],
)
def test_tables(kind: str, most: int, words: str) -> None:
    problem = f"scenario: has too many {words}; given {most + 1} [[{kind}]]; allowed {most} at most"
    assert refusals({kind: [{}] * (most + 1)}) == [problem]


def test_a_path_has_no_more_links_than_there_may_be() -> None:
    (fault,) = refusals({"flow": [{"path": ["a"] * 100_001}]})
    assert "has 100001 entries, more than 100000" in fault


def test_captured_links() -> None:
    (fault,) = refusals({"trace": {"capture": [f"hop{number}" for number in range(101)]}})
    assert "has 101 entries, more than 100" in fault


@pytest.mark.parametrize("character", ["\n", "\x07", "\x1b", "\x7f", "\u0085", "\u2028"])
def test_a_title_has_no_control_characters(character: str) -> None:
    (fault,) = refusals({"title": f"GEO{character}path"})
    assert f"field title: has the control character U+{ord(character):04X}" in fault


def test_a_title_has_any_other_character() -> None:
    document = {"link": [LINK], "flow": [{"path": ["a"]}], "run": {"duration": "1 s"}}
    title = "Zürich, 10\u00a0Mbit/s \U0001f6f0 «ε»"
    assert load({**document, "title": title}).title == title
    assert "at most 200 characters" in refusals({"title": "x" * 201})[0]


def test_of_very_many_unknown_names_the_first_are_compared_with_what_there_is() -> None:
    flows = [{"name": f"flow{number}", "path": ["b"]} for number in range(200)]
    faults = refusals({"link": [{**LINK, "name": "B"}], "flow": flows})
    assert len(faults) == 200
    assert [("did you mean" in fault) for fault in faults] == [True] * 50 + [False] * 150


def test_files_that_are_large_together(tmp_path: Path) -> None:
    (tmp_path / "sizes.txt").write_text("7\n", encoding="utf-8")
    with (tmp_path / "sizes.txt").open("ab") as file:
        file.truncate(50_000_000)
    traffic = {"kind": "web", "size": {"law": "empirical", "file": "sizes.txt"}, "off": "1 s"}
    text = "\n".join(
        [
            '[[link]]\nname = "a"\nrate = "1 Mbit/s"\n[run]\nduration = "1 s"',
            *(f'[[flow]]\nname = "{name}"\npath = ["a"]\ntraffic = {toml(traffic)}' for name in ("x", "y", "z")),
        ]
    )
    (tmp_path / "scenario.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path / "scenario.toml")
    problem = "scenario: names files that are too large together; given 150 MB; allowed 140 MB at most"
    assert [str(fault) for fault in caught.value.faults] == [problem]


def toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {toml(entry)}' for key, entry in value.items())} }}"
    return f'"{value}"'


def test_lists_that_are_long_together() -> None:
    loss = {"model": "packets", "packets": list(range(1, 700_001))}
    links = [{**LINK, "name": name, "loss": loss} for name in ("a", "b", "c")]
    scenario = load({"link": links, "flow": [{"path": ["a"]}], "run": {"duration": "1 s"}})
    with pytest.raises(ScenarioError) as caught:
        resolve(scenario)
    given = "2,100,000 steps, transitions, packets and instants in the lists of all links"
    assert [str(fault) for fault in caught.value.faults] == [
        f"scenario: is too large; given {given}; allowed 2,000,000 at most"
    ]
