"""Each invalid scenario, named by its fault, gives exactly the messages beside it; `pytest --bless` writes them."""

from pathlib import Path

import pytest

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
