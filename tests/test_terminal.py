"""The command line on odd terminals, with odd texts: a message and an exit status, never a traceback."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ackclock.cli import main

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent / "python")}
SCENARIO = """\
title = "Über µ"
[[link]]
name = "satellite"
rate = "1.5 Mbit/s"
buffer = "18 pkt"
[[flow]]
path = ["satellite"]
rtt = "100 ms"
[run]
duration = "2 s"
"""
DIGITS = "9" * 5000


def shell(line: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of the shell, in which `ackclock` is the command."""
    (cwd / "short.toml").write_text(SCENARIO, encoding="utf-8")
    line = line.replace("ackclock", shlex.join([sys.executable, "-m", "ackclock"]))
    return subprocess.run(
        ["sh", "-c", line], cwd=cwd, env=ENVIRONMENT | environment, capture_output=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("ackclock run short.toml --out kept 2>&-", 0),
        ("ackclock run short.toml --out kept >&-", 0),
        ("ackclock run short.toml --out kept >&- 2>&- <&-", 0),
        ("ackclock run short.toml --no-picture >/dev/full", 1),
        ("ackclock run missing.toml 2>&-", 2),
        ("ackclock run missing.toml 2>/dev/full", 2),
        ("ackclock sweep short.toml --vary run.seed=1,2 --out kept 2>&-", 0),
        ("ackclock advise short.toml --no-simulate 2>&-", 0),
    ],
)
def test_a_closed_or_full_stream_is_no_traceback(line: str, status: int, tmp_path: Path) -> None:
    done = shell(line, tmp_path)
    assert (done.returncode, b"Traceback" in done.stderr) == (status, False), done.stderr


def test_no_file_of_a_result_gets_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    script = "import os; from ackclock import terminal; terminal.prepare_streams(); print(os.open('/dev/null', 0))"
    shell_line = f"{shlex.quote(sys.executable)} -c {shlex.quote(script)} <&- 2>&-"
    done = subprocess.run(["sh", "-c", shell_line], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert int(done.stdout) > 2


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
    ids=["encoding", "locale"],
)
def test_a_terminal_without_letters_beyond_ascii_gets_their_escapes(
    environment: dict[str, str], tmp_path: Path
) -> None:
    done = shell("ackclock run short.toml --no-picture", tmp_path, **environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
    assert done.stdout.startswith(rb"\xdcber \xb5")
    printed = shell("ackclock run short.toml --json", tmp_path, **environment)
    assert json.loads(printed.stdout)["title"] == "Über µ"


ODD_TEXTS: dict[str, tuple[list[str], str]] = {
    "digits": (["check", "short.toml", "--set", f"run.seed={DIGITS}"], "--set run.seed: holds a number of too many"),
    "digits-in-a-list": (["check", "short.toml", "--set", f"link.satellite.buffer=[{DIGITS}]"], "of too many digits"),
    "digits-as-a-field": (["check", "short.toml", "--set", f"{DIGITS}={DIGITS}"], "of too many digits"),
    "digits-as-a-seed": (["run", "short.toml", "--seed", DIGITS], "--seed"),
    "digits-in-an-axis": (
        ["sweep", "short.toml", "--out", "kept", "--vary", f"run.seed={DIGITS},1"],
        'axis "run.seed"',
    ),
    "digits-in-a-file": (["check", "digits.toml"], "holds a number of too many digits"),
    "long-key": (["check", "short.toml", "--set", f"title={{{'a.' * 5000}a=1}}"], "a key of more than 32 parts"),
    "two-lines": (["check", "short.toml", "--set", "run.seed=1\nx=2"], "must be a whole number, not a string"),
    "title-not-unicode": (["check", "short.toml", "--set", "title=\udcff"], "letters that UTF-8 cannot encode"),
    "title-of-control": (["check", "short.toml", "--set", "title=\033[2J"], "has the control character"),
    "axis-not-unicode": (["sweep", "short.toml", "--out", "kept", "--vary", "title=\udcff,b"], "UTF-8 cannot encode"),
    "path-not-unicode": (["check", "\udcff.toml"], "there is no such file"),
    "field-not-unicode": (["check", "short.toml", "--set", "link.\udcff.rate=3"], "not a text of Unicode"),
    "file-not-unicode": (["check", "odd.toml"], "is not UTF-8 text (byte 9)"),
}


@pytest.mark.parametrize(("arguments", "expected"), ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_odd_text_is_a_fault(
    arguments: list[str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short.toml").write_text(SCENARIO, encoding="utf-8")
    Path("odd.toml").write_bytes(b'title = "\xff"')
    Path("digits.toml").write_text(f"run.seed = {DIGITS}")
    monkeypatch.setattr(sys, "argv", ["ackclock", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out) == (2, "")
    assert expected in shown.err
    assert len(shown.err) < 10_000


@pytest.mark.parametrize("duration", ["1 ps", "1 ns", "1 us", "5 ms"])
def test_a_short_run_has_its_picture(duration: str, tmp_path: Path) -> None:
    done = shell(f"ackclock run short.toml --set run.duration='{duration}' --out kept", tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "kept" / "picture.png").stat().st_size > 10_000


def test_a_short_run_of_two_way_traffic_has_its_picture(tmp_path: Path) -> None:
    for name in ("two-way-symmetric", "two-way-abr"):
        line = f"ackclock run {name} --set run.duration='10 ps' --set run.warmup='0 s' --out {name}"
        done = shell(line, tmp_path)
        assert (done.returncode, done.stderr) == (0, b"")
        assert (tmp_path / name / "picture.png").stat().st_size > 10_000
