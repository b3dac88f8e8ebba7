"""Sizes that no machine holds are refused before anything is built."""

from typing import Any

import pytest

from ackclock.scenario import ScenarioError, load


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
