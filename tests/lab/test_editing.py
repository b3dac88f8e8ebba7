"""Fields of a scenario's text are changed in place; what cannot be is written again, with the same values."""

import tomllib

import pytest

from ackclock.errors import ScenarioError
from ackclock.lab.editing import edited, source_of
from ackclock.scenario.ready import ready_names, ready_path

TEXT = """# a path
title = "T"

[[link]]
name = "line"            # the bottleneck
rate = "10 Mbit/s"       # a slow one
buffer = "50 pkt"
reverse = { rate = "1 Mbit/s" }

[[flow]]
path = ["line"]
tcp = "linux-reno"

[flow.traffic]           # a table of its own
kind = "web"
size = "12 pkt"
off = "1 s"

[run]
duration = "10 s"
"""


def test_a_changed_field_leaves_comments_and_all_other_lines_alone() -> None:
    found = edited(TEXT, {"link.line.rate": "20 Mbit/s"})
    changed = [(a, b) for a, b in zip(TEXT.splitlines(), found.splitlines(), strict=True) if a != b]
    assert changed == [('rate = "10 Mbit/s"       # a slow one', 'rate = "20 Mbit/s"       # a slow one')]


def test_a_field_that_the_text_lacks_is_added_to_its_table() -> None:
    found = tomllib.loads(edited(TEXT, {"link.line.delay": "5 ms", "run.seed": 3}))
    assert found["link"][0]["delay"] == "5 ms"
    assert found["run"] == {"duration": "10 s", "seed": 3}


def test_a_field_within_an_inline_table_is_changed_there() -> None:
    assert 'reverse = { rate = "2 Mbit/s" }' in edited(TEXT, {"link.line.reverse.rate": "2 Mbit/s"})


def test_a_field_within_a_table_of_its_own_leaves_its_comment() -> None:
    found = edited(TEXT, {"flow.flow.traffic.off": "2 s"})
    assert "[flow.traffic]           # a table of its own" in found
    assert tomllib.loads(found)["flow"][0]["traffic"]["off"] == "2 s"


def test_a_word_that_stands_for_a_table_becomes_that_table() -> None:
    found = tomllib.loads(edited(TEXT, {"flow.flow.tcp.max_window": "20 pkt"}))
    assert found["flow"][0]["tcp"] == {"preset": "linux-reno", "max_window": "20 pkt"}


def test_none_takes_a_field_away_and_is_content_if_there_is_none() -> None:
    found = tomllib.loads(edited(TEXT, {"link.line.buffer": None, "link.line.loss": None, "flow.flow.tcp.rto": None}))
    assert "buffer" not in found["link"][0]
    assert "loss" not in found["link"][0]
    assert found["flow"][0]["tcp"] == "linux-reno"


def test_a_table_as_a_value_is_written_on_one_line() -> None:
    found = edited(TEXT, {"link.line.loss": {"model": "bernoulli", "probability": 0.01}})
    assert 'loss = {model = "bernoulli", probability = 0.01}' in found


def test_a_path_that_leads_nowhere_is_a_fault() -> None:
    with pytest.raises(ScenarioError, match='no link named "lin"'):
        edited(TEXT, {"link.lin.rate": "1 Mbit/s"})


def test_text_that_is_not_toml_is_a_fault_with_its_line() -> None:
    with pytest.raises(ScenarioError) as caught:
        edited('title = "a"\nrate = 1.5 Mbit', {"run.seed": 1})
    assert caught.value.faults[0].line == 2


def test_a_single_line_is_toml_and_never_the_name_of_a_file(tmp_path: object) -> None:
    with pytest.raises(ScenarioError, match="not valid TOML"):
        source_of("/etc/passwd")
    with pytest.raises(ScenarioError, match="not valid TOML"):
        source_of("geo-two-nodes")


@pytest.mark.parametrize("name", ready_names())
def test_each_ready_scenario_is_changed_as_an_override_changes_it(name: str) -> None:
    text = ready_path(name).read_text(encoding="utf-8")
    found = edited(text, {"run.duration": "3 s", "run.seed": 9})
    expected = tomllib.loads(text)
    expected["run"] |= {"duration": "3 s", "seed": 9}
    assert tomllib.loads(found) == expected
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert [line for line in found.splitlines() if line.startswith("#")] == comments
