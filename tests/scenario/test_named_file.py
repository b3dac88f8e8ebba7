"""Files that a scenario names: which ones it may read, and how much of them."""

import os
from pathlib import Path

import pytest

from ackclock.errors import ScenarioError
from ackclock.scenario import load, resolve
from ackclock.scenario.named_file import ALLOWED_FOLDERS
from ackclock.scenario.resolved_traffic import EmpiricalSize, WebTraffic

TEXT = """
[[link]]
name = "a"
rate = "10 Mbit/s"
{link}
[[flow]]
path = ["a"]
{flow}
[run]
duration = "1 s"
"""
USES = {
    "sizes": ("", 'traffic = {{ kind = "web", off = "1 s", size = {{ law = "empirical", file = "{file}" }} }}', "3\n"),
    "delays": ('delay_process = {{ kind = "trace", file = "{file}" }}', "", "0, 0.1\n"),
}


def scenario(folder: Path, use: str, file: str) -> Path:
    link, flow, _ = USES[use]
    path = folder / "scenario.toml"
    path.write_text(TEXT.format(link=link.format(file=file), flow=flow.format(file=file)), encoding="utf-8")
    return path


@pytest.fixture(params=USES)
def use(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("file", ["../data.txt", "/etc/passwd", "sub/../../data.txt", "/dev/zero", "link.txt"])
def test_a_file_elsewhere_is_refused(tmp_path: Path, use: str, file: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "data.txt").write_text(USES[use][2], encoding="utf-8")
    (folder / "link.txt").symlink_to(tmp_path / "data.txt")
    with pytest.raises(ScenarioError, match=f"leads out of the scenario's folder.*{ALLOWED_FOLDERS}"):
        load(scenario(folder, use, file))


def test_the_user_allows_other_folders(tmp_path: Path, use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "data.txt").write_text(USES[use][2], encoding="utf-8")
    monkeypatch.setenv(ALLOWED_FOLDERS, os.pathsep.join(["/nowhere", str(tmp_path)]))
    load(scenario(folder, use, "../data.txt"))


def test_what_is_no_regular_file_is_refused(tmp_path: Path, use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for name in ("fifo", "folder"):
        with pytest.raises(ScenarioError, match="is not a regular file"):
            load(scenario(tmp_path, use, name))
    monkeypatch.setenv(ALLOWED_FOLDERS, "/dev")
    with pytest.raises(ScenarioError, match="is not a regular file"):
        load(scenario(tmp_path, use, "/dev/zero"))


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, use: str) -> None:
    with (tmp_path / "data.txt").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ScenarioError, match=r"is larger than \d+ MB"):
        load(scenario(tmp_path, use, "data.txt"))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path, use: str) -> None:
    (tmp_path / "data.txt").write_bytes(b"3\n\xff")
    with pytest.raises(ScenarioError, match=r"is not UTF-8 text \(byte 2\)"):
        load(scenario(tmp_path, use, "data.txt"))


def test_a_scenario_that_is_no_file_reads_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data.txt").write_text("3\n5 # pkt\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    text = scenario(tmp_path, "sizes", "data.txt").read_text(encoding="utf-8")
    traffic = resolve(load(text)).flows[0].traffic
    assert isinstance(traffic, WebTraffic)
    assert traffic.size == EmpiricalSize("empirical", (3, 5))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("# none\n", "holds no sizes"),
        ("3\nx\n", 'holds no size in line 2: "x"'),
        ("0\n", "line 1"),
        ("9" * 5000 + "\n", "line 1"),
        ("1.5\n", "line 1"),
    ],
)
def test_what_is_no_list_of_sizes_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "data.txt").write_text(content, encoding="utf-8")
    with pytest.raises(ScenarioError, match=problem):
        load(scenario(tmp_path, "sizes", "data.txt"))
