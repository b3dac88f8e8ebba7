import json
import os
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from ackclock.cli import app, main
from ackclock.scenario.presets import preset_names
from ackclock.scenario.ready import ready_names
from ackclock.scenario.resolved_buffers import PacketBuffer
from fakes import FakeJob

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent / "python")}
SCENARIO = """\
title = "GEO satellite path"

[[link]]
name = "satellite"
rate = "1.5 Mbit/s"
buffer = "18 pkt"

[[flow]]
path = ["satellite"]
rtt = "560 ms"
packet = "512 B"
start_spread = "1 s"
tcp = "reno-ns2"

[run]
duration = "100 s"
warmup = "20 s"
replications = 4
"""

Fake = type[FakeJob]
Run = Callable[..., Result]


@pytest.fixture
def run(fake_engine: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in an empty folder that holds the scenario; the engine is the fake."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("geo.toml").write_text(SCENARIO)
    return lambda *arguments: CliRunner().invoke(app, arguments, catch_exceptions=False)


def shell(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    command = [sys.executable, "-m", "ackclock", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=ENVIRONMENT, timeout=60, check=False)


def assert_refused(done: subprocess.CompletedProcess[str], *expected: str) -> None:
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    for text in expected:
        assert text in done.stderr


def files() -> set[str]:
    return {str(path) for path in Path().rglob("*") if path.is_file()}


def test_a_run_prints_tables_and_verdict_and_leaves_the_picture(run: Run) -> None:
    done = run("run", "geo.toml")
    assert done.exit_code == 0
    assert "± are 95% intervals" in " ".join(done.stdout.split())
    assert "Verdict: satellite is the bottleneck" in done.stdout
    assert done.stdout.endswith("Picture: geo.png\n")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert files() == {"geo.toml", "geo.png"}


def test_a_picture_that_is_there_already_stays_as_it_is(run: Run) -> None:
    Path("geo.png").write_bytes(b"mine")
    assert run("run", "geo.toml").stdout.endswith("Picture: geo-2.png\n")
    assert run("run", "geo.toml").stdout.endswith("Picture: geo-3.png\n")
    assert Path("geo.png").read_bytes() == b"mine"
    assert files() == {"geo.toml", "geo.png", "geo-2.png", "geo-3.png"}


@pytest.mark.golden
def test_the_printed_page(run: Run, golden: Callable[[str, str], None]) -> None:
    lines = run("run", "geo.toml").stdout.splitlines()
    golden("run.txt", "".join(f"{line.rstrip()}\n" for line in lines))


def test_out_keeps_everything_in_its_folder(run: Run) -> None:
    done = run("run", "geo.toml", "--out", "results/one", "--set", "trace.cwnd=true")
    assert done.stdout.endswith("Result: results/one\nPicture: results/one/picture.png\n")
    names = (
        ".ackclock.json",
        "result.json",
        "picture.png",
        "picture.svg",
        "traces/cwnd.parquet",
        "traces/overview.parquet",
    )
    assert files() == {"geo.toml", *(f"results/one/{name}" for name in names)}


def test_json_prints_the_summary_alone_and_leaves_no_file(run: Run) -> None:
    done = run("run", "geo.toml", "--json")
    assert json.loads(done.stdout)["flows"][0]["name"] == "flow"
    assert done.stderr == ""
    assert files() == {"geo.toml"}


def test_json_with_out_does_both(run: Run) -> None:
    done = run("run", "geo.toml", "--json", "--out", "kept")
    printed = json.loads(done.stdout)
    assert {model["model"] for model in printed.pop("theory")["inapplicable"]} >= {"window", "many-flows"}
    assert printed == json.loads(Path("kept/result.json").read_text())["summary"]
    assert Path("kept/picture.png").exists()


def test_no_picture_draws_none(run: Run) -> None:
    run("run", "geo.toml", "--no-picture")
    run("run", "geo.toml", "--no-picture", "--out", "kept")
    assert files() == {"geo.toml", "kept/.ackclock.json", "kept/result.json"}


def test_options_change_the_scenario(run: Run, fake_engine: Fake) -> None:
    options = (
        "--seed",
        "7",
        "--replications",
        "2",
        "--set",
        "link.satellite.buffer=20 pkt",
        "--set",
        'run.duration="50 s"',
    )
    assert run("run", "geo.toml", "--json", *options).exit_code == 0
    resolved = fake_engine.started[0].resolved
    assert (resolved.run.seed, resolved.run.replications, resolved.run.duration_s) == (7, 2, 50.0)
    assert resolved.elements[0].buffer == PacketBuffer(20)


@pytest.mark.parametrize(("poll", "message"), [(3, "Interrupted: 2 of 4 replications"), (1, "nothing to save")])
def test_ctrl_c_keeps_what_is_finished_and_says_so(run: Run, fake_engine: Fake, poll: int, message: str) -> None:
    fake_engine.interrupt_after = poll
    done = run("run", "geo.toml", "--threads", "1", "--out", "kept")
    assert done.exit_code == 130
    assert message in done.stderr
    assert Path("kept/result.json").exists() == (poll == 3)


def test_the_engine_s_refusal_is_a_message(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("geo.toml").write_text(SCENARIO.replace("GEO satellite path", "refused"))
    monkeypatch.setattr(sys, "argv", ["ackclock", "run", "geo.toml"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert capsys.readouterr().err == "links[0].rate_bps: must be positive; got 0\nflows[0].path: is empty\n"


@pytest.mark.parametrize("command", ["run", "check", "resolve"])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "there is no such file"),
        (b"title = ", "is not valid TOML"),
        (bytes(range(256)), "is not UTF-8"),
        (b"", "[[link]] is missing"),
        (b"[[link]]\nname = 1\n[[flow]]\nptah = []\n", 'did you mean "path"?'),
    ],
)
def test_a_bad_scenario_is_a_message(tmp_path: Path, command: str, content: bytes | None, expected: str) -> None:
    if content is not None:
        (tmp_path / "bad.toml").write_bytes(content)
    assert_refused(shell(command, "bad.toml", cwd=tmp_path), "bad.toml", expected)
    assert set(tmp_path.iterdir()) <= {tmp_path / "bad.toml"}


def test_a_folder_is_no_scenario(tmp_path: Path) -> None:
    assert_refused(shell("run", str(tmp_path)), "is a directory")


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(SCENARIO.replace("1.5 Mbit/s", "1.5").replace('"100 s"', "100"))
    done = shell("check", "bad.toml", cwd=tmp_path)
    assert_refused(done, "2 faults", 'link "satellite"', "[run], field duration")


FLOOD = """
[[link]]
name = "fat"
rate = "100 Gbit/s"
[[flow]]
path = ["fat"]
rtt = "10 ms"
tcp = "reno-ns2"
[run]
duration = "1000 s"
"""
"""A run that fails: nothing limits its window."""


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("file", "file: cannot write here; File exists"),
        ("file/below", "file/below: cannot write here; Not a directory"),
        ("/proc/nowhere", "/proc/nowhere: cannot write here; No such file or directory"),
        ("/proc", "/proc: cannot write here; No such file or directory"),
        ("kept", "kept/traces: is there, and is not a folder"),
    ],
)
def test_a_folder_that_cannot_be_written_is_known_before_the_run(tmp_path: Path, out: str, message: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/traces").write_text("")
    (tmp_path / "flood.toml").write_text(FLOOD)
    done = shell("run", "flood.toml", "--out", out, cwd=tmp_path)
    assert_refused(done)
    assert done.stderr.startswith(message)
    assert "in flight" not in done.stderr, "the run, which fails, came first"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--set", "run.duration"), "is not FIELD=VALUE"),
        (("--set", "=3"), "is not FIELD=VALUE"),
        (("--set", "run.durtion=3"), "unknown field"),
        (("--set", "link.sattelite.buffer=3"), "satellite"),
        (("--set", "run.duration=5"), 'override "run.duration"'),
        (("--set", "run.seed=1", "--set", "run.seed=2"), "run.seed is given twice: 1 and 2"),
        (("--set", "run.seed=1", "--seed", "2"), "run.seed is given twice: 2, and 1 with --set"),
        (("--replications", "0"), "replications"),
        (("--replications", "many"), "--replications"),
        (("--threads", "0"), "threads"),
    ],
)
def test_a_bad_option_is_a_message(tmp_path: Path, arguments: tuple[str, ...], expected: str) -> None:
    (tmp_path / "geo.toml").write_text(SCENARIO)
    assert_refused(shell("run", "geo.toml", *arguments, cwd=tmp_path), expected)


def test_a_good_scenario_has_no_faults(run: Run) -> None:
    done = run("check", "geo.toml")
    assert done.exit_code == 0
    assert done.stdout.endswith("geo.toml: no faults\n")


def test_resolve_prints_what_the_engine_gets(run: Run) -> None:
    resolved = json.loads(run("resolve", "geo.toml", "--set", "run.seed=9").stdout)
    assert (resolved["format"], resolved["run"]["seed"], resolved["elements"][0]["rate_bps"]) == (3, 9, 1.5e6)


def test_schema_is_one_that_the_scenario_obeys(run: Run) -> None:
    jsonschema.validate(tomllib.loads(SCENARIO), json.loads(run("schema").stdout))


@pytest.mark.parametrize(("listing", "names"), [("presets", preset_names()), ("scenarios", ready_names())])
def test_lists_name_everything_within_80_columns(run: Run, listing: str, names: tuple[str, ...]) -> None:
    lines = run(listing).stdout.splitlines()
    listed = [line.split()[0] for line in lines if not line.startswith((" ", "Files: "))]
    assert [name for name in listed if name in names] == list(names)
    assert len(names) >= 10
    assert max(len(line) for line in lines if not line.startswith("Files: ")) <= 80


def test_a_ready_scenario_runs_by_its_name(tmp_path: Path) -> None:
    done = shell("run", "geo-two-nodes", "--set", "run.duration=20 s", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Picture: geo-two-nodes.png\n")
    assert [path.name for path in tmp_path.iterdir()] == ["geo-two-nodes.png"]


@pytest.mark.parametrize("arguments", [("resolve", "geo.toml"), ("schema",), ("presets",), ("scenarios",)])
def test_a_full_disk_behind_standard_output_is_a_message(run: Run, arguments: tuple[str, ...]) -> None:
    command = shlex.join([sys.executable, "-m", "ackclock", *arguments])
    done = subprocess.run(
        ["sh", "-c", f"{command} > /dev/full"], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "standard output: No space left on device\n"


def test_help_comes_at_once(record_property: Callable[[str, object], None]) -> None:
    """Measured for the record (the budget is 0.3 s); what is asserted is that nothing heavy is imported."""
    started = time.perf_counter()
    assert "presets" in shell("--help").stdout
    record_property("seconds", time.perf_counter() - started)
    heavy = ("numpy", "pandas", "pydantic", "matplotlib", "rich.table")
    probe = f"import sys, ackclock.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, env=ENVIRONMENT, check=True)
    assert done.stdout == "[]\n"


def test_a_command_does_not_import_dask_where_it_is_installed() -> None:
    probe = (
        "import sys\nfrom importlib.util import find_spec\n"
        "from ackclock.cli import main\nhas = find_spec('dask') is None\n"
        "sys.argv = ['ackclock', 'check', 'geo-random-drop']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    print(end.code)\n"
        "print('pint' in sys.modules, 'dask' in sys.modules, has == (find_spec('dask') is None))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, env=ENVIRONMENT, check=True)
    assert done.stdout.splitlines()[-2:] == ["0", "True False True"]
