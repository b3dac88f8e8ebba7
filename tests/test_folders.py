"""Files that are written all together or not at all, and never over those of others."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ackclock import folders
from ackclock.errors import ResultError
from ackclock.folders import MADE, write_file, write_files

Writers = dict[str, folders.Writer]


def writers(text: str, *names: str) -> Writers:
    return {name: lambda path: path.write_text(text) for name in names}


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def failing_at(count: int, function: Callable[..., Any], number: int = errno.EIO) -> Callable[..., Any]:
    """Make what fails at one call of a function of `os` and works at the others."""
    calls = iter(range(10_000))

    def call(*arguments: Any) -> Any:
        if next(calls) == count:
            raise OSError(number, os.strerror(number))
        return function(*arguments)

    return call


def refusal(action: Callable[[], object]) -> str:
    """Give the message of what an action raises, an empty text if it does not."""
    try:
        action()
    except ResultError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("function", ["replace", "rename"])
@pytest.mark.parametrize("count", range(6))
def test_a_replacement_that_fails_leaves_what_was_there(
    function: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, writers("old", "traces/a", "traces/gone", "b", "head"), "run")
    before = files(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(os, function, failing_at(count, getattr(os, function)))
        message = refusal(lambda: write_files(tmp_path, writers("new", "traces/a", "traces/more", "b", "head"), "run"))
    if message:
        assert message.partition(":")[0].endswith(("/a", "/more", "/b", "/head", "/gone", MADE))
        assert files(tmp_path) == before
    assert message or count >= 4
    write_files(tmp_path, writers("newer", "traces/a", "traces/more", "b", "head"), "run")
    assert set(files(tmp_path)) == {MADE, "traces/a", "traces/more", "b", "head"}


def test_a_replacement_that_cannot_be_undone_says_where_the_earlier_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, writers("old", "a", "head"), "run")

    def full(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patched:
        move, moves = os.rename, iter(range(2))
        patched.setattr(os, "rename", lambda *names: full() if next(moves, None) is None else move(*names))
        patched.setattr(os, "replace", failing_at(1, os.replace))
        with pytest.raises(ResultError, match=r"cannot be put back.*they are in") as caught:
            write_files(tmp_path, writers("new", "a", "head"), "run")
    kept = Path(str(caught.value).rpartition("they are in ")[2])
    assert files(kept) == {"a": "old", "head": "old"}
    assert not (tmp_path / "head").exists()


def test_the_head_is_there_only_if_all_others_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, writers("old", "a", "b", "head"), "run")
    seen = []

    def watched(move: Callable[..., Any]) -> Callable[..., Any]:
        def call(*names: Any) -> None:
            move(*names)
            whole = {name: (tmp_path / name).read_text() for name in "ab" if (tmp_path / name).exists()}
            seen.append(((tmp_path / "head").exists(), whole))

        return call

    for function in ("rename", "replace"):
        monkeypatch.setattr(os, function, watched(getattr(os, function)))
    write_files(tmp_path, writers("new", "a", "b", "head"), "run")
    assert len(seen) >= 8
    assert all(whole in ({"a": "old", "b": "old"}, {"a": "new", "b": "new"}) for head, whole in seen if head)


@pytest.mark.parametrize("name", ["a", "traces/a", "head"])
def test_a_file_of_another_is_not_touched(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    with pytest.raises(ResultError, match=r"is not a file that ackclock made.*choose another folder"):
        write_files(tmp_path, writers("new", "a", "traces/a", "head"), "run")
    with pytest.raises(ResultError, match=name):
        folders.prepare_folder(tmp_path, [name])
    assert files(tmp_path) == {name: "mine"}


def test_a_file_that_was_changed_since_is_not_touched(tmp_path: Path) -> None:
    write_files(tmp_path, writers("old", "a", "stale", "head"), "run")
    (tmp_path / "stale").write_text("mine")
    write_files(tmp_path, writers("new", "a", "head"), "run")
    assert (tmp_path / "stale").read_text() == "mine"
    (tmp_path / "a").write_text("mine")
    with pytest.raises(ResultError, match="nobody changed"):
        write_files(tmp_path, writers("newer", "a", "head"), "run")
    assert ((tmp_path / "a").read_text(), (tmp_path / "head").read_text()) == ("mine", "new")


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "a").write_text("mine")
    out = tmp_path / "out"
    write_files(out, writers("old", "head"), "run")
    (out / "traces").symlink_to(tmp_path / "away")
    with pytest.raises(ResultError, match="traces/a"):
        write_files(out, writers("new", "traces/a", "head"), "run")
    with pytest.raises(ResultError, match="traces"):
        write_files(out, writers("new", "traces/b", "head"), "run")
    assert files(tmp_path / "away") == {"a": "mine"}


def test_a_list_from_a_stranger_removes_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("old")
    out = tmp_path / "out"
    write_files(out, writers("old", "a", "head"), "run")
    listed = json.loads((out / MADE).read_text())
    listed["files"] |= {"../mine": listed["files"]["a"], str(tmp_path / "mine"): listed["files"]["a"]}
    (out / MADE).write_text(json.dumps(listed))
    write_files(out, writers("new", "a", "head"), "run")
    assert (tmp_path / "mine").read_text() == "old"


DAMAGED = ["", "[]", "{", '{"files": 1}', '{"files": {"a": 1}}', '{"files": {"a": []}}', "[" * 10**5]


@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_list_lists_nothing(text: str, tmp_path: Path) -> None:
    write_files(tmp_path, writers("old", "a", "head"), "run")
    (tmp_path / MADE).write_text(text)
    with pytest.raises(ResultError, match="is not a file that ackclock made"):
        write_files(tmp_path, writers("new", "a", "head"), "run")


def test_makers_share_a_folder(tmp_path: Path) -> None:
    write_files(tmp_path, writers("run", "picture", "trace", "head"), "run")
    write_files(tmp_path, writers("sweep", "picture", "table"), "sweep")
    assert files(tmp_path).keys() == {MADE, "picture", "trace", "head", "table"}
    write_files(tmp_path, writers("run", "head"), "run")
    assert files(tmp_path).keys() == {MADE, "picture", "head", "table"}
    assert (tmp_path / "picture").read_text() == "sweep"


def test_a_full_disk_names_the_file(tmp_path: Path) -> None:
    def full(path: Path) -> None:
        path.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(ResultError, match=rf"^{tmp_path}/out/b: cannot be written; No space left on device"):
        write_files(tmp_path / "out", {**writers("a", "a"), "b": full}, "run")
    assert files(tmp_path) == {}
    with pytest.raises(ResultError, match=rf"^{tmp_path}/x\.png: cannot be written; No space left"):
        write_file(tmp_path / "x.png", full)
    assert files(tmp_path) == {}


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    script = (
        "import os; from pathlib import Path; from ackclock.folders import write_files\n"
        "write_files(Path('.'), {'a': lambda path: os._exit(9)}, 'run')"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent / "python")}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=False)
    assert len(list(tmp_path.iterdir())) == 1
    write_files(tmp_path, writers("new", "a"), "run")
    assert {path.name for path in tmp_path.iterdir()} == {"a", MADE}


def test_a_pipe_in_the_place_of_the_list_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / MADE)
    assert folders.made_in(tmp_path).files == {}


@pytest.mark.parametrize("path", ["", ".", "/"])
def test_a_path_without_a_name_is_refused_before_anything_is_drawn(path: str) -> None:
    with pytest.raises(ResultError, match="is not the name of a file"):
        write_file(Path(path), lambda _: pytest.fail("was drawn"))
