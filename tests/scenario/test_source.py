"""Where a scenario comes from, and on which lines its fields stand."""

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.scenario import ScenarioError, load
from ackclock.scenario.ready import FOLDER
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
    hint = "`ackclock scenarios` lists the ready ones"
    assert faults_of(path) == f"{path}: there is no such file; {hint}"
    of_text = "; a string is taken as TOML text only if it has a line break"
    assert faults_of(str(path)) == f"{path}: there is no such file; {hint}{of_text}"


def test_a_ready_scenario_is_known_by_its_name_in_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    by_name, by_path = load("geo-two-nodes"), load(Path("geo-two-nodes"))
    assert by_name == by_path == load(FOLDER / "geo-two-nodes.toml")
    assert by_name.source.name == str(FOLDER / "geo-two-nodes.toml")


def test_a_file_goes_before_the_ready_scenario_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("geo-two-nodes").write_text("title = 1\n")
    assert "field title" in faults_of("geo-two-nodes")


def test_a_misspelt_ready_scenario_is_asked_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for wrong in ("geo-two-node", "scenarios/geo-two-nodes.toml"):
        assert 'did you mean "geo-two-nodes"?' in faults_of(wrong)


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


LONG = {
    "a key": ".".join("a" * 50_000) + " = 1\n",
    "a header": "[" + ".".join("a" * 50_000) + "]\nx = 1\n",
    "a quoted key": ".".join(['"a b"'] * 40) + " = 1\n",
    "a key in a table": "x = { y = 1, " + " . ".join("a" * 40) + " = 1 }\n",
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_key_of_very_many_parts_is_refused_before_it_takes_memory(text: str) -> None:
    with pytest.raises(ScenarioError, match="line 2: has a key of more than 32 parts"):
        load(f"# a comment\n{text}")


def test_dots_in_texts_and_numbers_are_no_parts_of_keys() -> None:
    text = f'title = "{"a." * 90}"\n# {"b." * 50}\nx = [{"1.5, " * 50}]\n'
    assert line_index(text).keys() == {("title",), ("x",)}
    with pytest.raises(ScenarioError, match="unknown table or field"):
        load(text)


def test_the_message_of_an_error_lists_fifty_faults_and_counts_the_rest() -> None:
    text = "".join(f"k{number} = 1\n" for number in range(20_000))
    with pytest.raises(ScenarioError) as caught:
        load(text)
    lines = str(caught.value).splitlines()
    assert len(caught.value.faults) > 20_000
    assert len(lines) == 52
    assert lines[-1] == f"  and {len(caught.value.faults) - 50:,} more"


def test_a_scenario_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "large.toml").open("wb") as file:
        file.truncate(1 << 40)
    assert faults_of(tmp_path / "large.toml") == f"{tmp_path / 'large.toml'}: the file is larger than 10 MB"


def test_a_pipe_or_a_device_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    for path in (tmp_path / "pipe.toml", Path("/dev/zero")):
        expected = f"{path}: is not a regular file; give the path of a .toml file, or /dev/stdin"
        assert faults_of(path) == expected


def test_what_a_shell_gives_in_a_file_s_place_is_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"title = 1\n")
    os.close(writing)
    try:
        assert "field title" in faults_of(Path(f"/dev/fd/{reading}"))
    finally:
        os.close(reading)
