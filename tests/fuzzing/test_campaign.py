"""The fuzzer of the Python side: a few cases of each target are well, and each kind of fault is noticed."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ackclock.errors import ResultError
from fuzz.campaign import limits
from fuzz.campaign.__main__ import COUNTS, Report, campaign
from fuzz.campaign.calls import Argument
from fuzz.campaign.limits import judged
from fuzz.campaign.targets import TARGETS

ALL = TARGETS | {"argument": Argument}
ROOT = Path(__file__).parents[2]


class NoWatch(limits.Watch):
    """A watch without an audit hook, which would stay for the life of this process."""

    def __init__(self) -> None:
        self.written: list[str] = []


def test_each_target_has_a_number_of_cases() -> None:
    assert set(ALL) == set(COUNTS)


@pytest.mark.parametrize("name", ALL)
def test_a_few_cases_of_each_target_are_well(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLCONFIGDIR", "set so that it is restored")
    target = ALL[name](tmp_path)
    for number in range(12):
        assert judged(partial(target, Random(f"test {name} {number}")), NoWatch())[1] == ""


def failing(error: BaseException) -> Callable[[], None]:
    def case() -> None:
        raise error

    return case


@pytest.mark.parametrize(
    ("case", "ended", "wrong"),
    [
        (lambda: None, "well", ""),
        (failing(ResultError("a short message")), "ResultError", ""),
        (failing(ResultError("x" * 100_000)), "ResultError", "a message of 100000 characters"),
        (failing(KeyError("name")), "KeyError", "KeyError: 'name'"),
        (failing(RecursionError("too deep")), "RecursionError", "too deep"),
        (failing(KeyboardInterrupt()), "KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_the_end_of_a_case_is_judged(case: Callable[[], None], ended: str, wrong: str) -> None:
    found = judged(case, NoWatch())
    assert found[0] == ended
    assert wrong in found[1]
    assert bool(wrong) == bool(found[1])


def test_a_slow_case_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_SECONDS", 0.0)
    assert "of processor time" in judged(lambda: sum(range(100_000)), NoWatch())[1]


WRITES = """
import os, sys
from pathlib import Path
from fuzz.campaign.limits import MOST_BYTES, Watch, judged, limit_memory
inside, outside = Path(sys.argv[1]), Path(sys.argv[2])
watch = Watch(inside)
limit_memory()
for case in (
    lambda: (inside / "a").write_text("x"), lambda: (inside / "a").read_text(), lambda: Path(__file__).exists(),
    lambda: (outside / "a").write_text("x"), lambda: (outside / "b").mkdir(),
    lambda: os.rename(inside / "a", outside / "c"), lambda: (outside / "c").unlink(), lambda: bytearray(2 * MOST_BYTES),
):
    print(judged(case, watch)[1].strip().splitlines()[-1:])
"""


def test_files_elsewhere_and_too_much_memory_are_wrong(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (tmp_path / "writes.py").write_text(WRITES)
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'python'}"}
    command = [sys.executable, str(tmp_path / "writes.py"), str(inside), str(outside)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    well, found = done.stdout.splitlines()[:3], done.stdout.splitlines()[3:]
    assert well == ["[]"] * 3
    assert [f"{outside}/{name}" in line for name, line in zip("abcc", found, strict=False)] == [True] * 4
    assert found[4] == "['MemoryError']"


def test_a_campaign_counts_its_cases() -> None:
    report = campaign("point", "1", range(6), 2)
    assert report.ended.total() == 6
    assert report.finds == []


def test_a_case_that_ends_its_process_is_found_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "import os, sys\nfirst, last, step = map(int, sys.argv[3:6])\n"
        "for case in range(first, last, step):\n"
        "    print('{\"case\": %d}' % case, flush=True)\n"
        "    case == 2 and os.abort()\n"
        '    print(\'{"case": %d, "ended": "well", "wrong": ""}\' % case, flush=True)\n'
    )
    started = subprocess.Popen

    def popen(command: list[str], **options: Any) -> "subprocess.Popen[bytes]":
        return started([command[0], "-c", script, *command[3:]], **options)

    monkeypatch.setattr(subprocess, "Popen", popen)
    report: Report = campaign("any", "1", range(7), 2)
    assert report.ended == {"well": 6, "killed": 1}
    (find,) = report.finds
    assert find[0] == 2
    assert "ended its process (-6)" in find[1]
