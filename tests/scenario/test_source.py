"""Where a scenario comes from, and on which lines its fields stand."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.scenario import ScenarioError, load
from ackclock.scenario.source import line_index

ODD = '''\
# [not.a.table] = "
title = """three
[lines]
x = 1""" # tail ]
"quo.ted = [" . 'x' = [ # [
  "a", # ]
  {b = "]"},
]

[run]
 duration = "1 s"\t
[[link]]
name = "a"
reverse.rate = 3
[link.queue]
weight = 1
[[ link ]]
reverse = {rate = 1}
[link."x y".z]
q = \'\'\'
[]\'\'\'\'
[[flow]]
'''


def test_lines_are_found_around_strings_brackets_and_comments() -> None:
    assert line_index(ODD) == {
        ("title",): 2,
        ("quo.ted = [",): 5,
        ("quo.ted = [", "x"): 5,
        ("run",): 10,
        ("run", "duration"): 11,
        ("link", 0): 12,
        ("link", 0, "name"): 13,
        ("link", 0, "reverse"): 14,
        ("link", 0, "reverse", "rate"): 14,
        ("link", 0, "queue"): 15,
        ("link", 0, "queue", "weight"): 16,
        ("link", 1): 17,
        ("link", 1, "reverse"): 18,
        ("link", 1, "x y", "z"): 19,
        ("link", 1, "x y", "z", "q"): 20,
        ("flow", 0): 22,
    }


def test_lines_are_found_with_windows_line_ends() -> None:
    assert line_index(ODD.replace("\n", "\r\n")) == line_index(ODD)


@given(st.text(alphabet="ab.=[]{}\"'#\\\n 1,", max_size=60))
def test_each_line_of_a_valid_text_is_that_of_its_key(text: str) -> None:
    try:
        document = tomllib.loads(text)
    except ValueError:
        return
    index = line_index(text)
    assert {location[0] for location in index} == set(document)
    lines = text.split("\n")
    for location, line in index.items():
        last = next(key for key in reversed(location) if isinstance(key, str))
        assert last in lines[line - 1]


def faults_of(origin: str | Path) -> str:
    with pytest.raises(ScenarioError) as caught:
        load(origin)
    return "\n".join(str(fault) for fault in caught.value.faults)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "nothing.toml"
    hint = "the ready ones are in scenarios/; a string is taken as TOML text only if it has a line break"
    assert faults_of(path) == faults_of(str(path)) == f"{path}: there is no such file; {hint}"


def test_a_directory_is_reported(tmp_path: Path) -> None:
    assert faults_of(tmp_path) == f"{tmp_path}: is a directory; give the path of a .toml file"


def test_a_file_that_is_no_text_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "picture.toml"
    path.write_bytes(b"title = '\xff'\n")
    assert faults_of(path) == f"{path}: is not UTF-8 text (byte 9); TOML files are UTF-8"


def test_an_impossible_path_is_reported() -> None:
    assert faults_of("a\0b.toml").startswith("a\0b.toml: cannot be read: ")


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "marked.toml"
    path.write_bytes(b"\xef\xbb\xbftitle = 'x'\n")
    assert "[[link]] is missing" in faults_of(path)


def test_deep_nesting_is_reported() -> None:
    assert faults_of(f"a = {'[' * 5000}\n") == "scenario: is nested too deeply to be read"


def test_the_error_says_where_and_how_many() -> None:
    with pytest.raises(ScenarioError) as caught:
        load("title = 3\n[run]\n")
    head, *lines = str(caught.value).split("\n")
    assert head == "scenario: 4 faults"
    assert lines == [f"  {fault}" for fault in caught.value.faults]
    assert [fault.line for fault in caught.value.faults] == [1, 2, None, None]


def test_integers_beyond_all_print_are_reported() -> None:
    text = f'[[link]]\nname="a"\nrate="1 Mbit/s"\n[[flow]]\npath=["a"]\n[run]\nduration="9 s"\nseed=0x{"f" * 5000}\n'
    assert "is too large; given an integer of 20000 bits;" in faults_of(text)
