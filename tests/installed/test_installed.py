"""The package as a wheel installs it, without sources, cargo or a compiler: `make wheel` runs these tests."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ackclock
from ackclock.scenario.ready import FOLDER, ready_names

PACKAGE = Path(ackclock.__file__).parent
SOURCES = Path(__file__).parents[2] / "python" / "ackclock"
INSTALLED = PACKAGE.is_relative_to(sys.prefix)
PNG = b"\x89PNG\r\n"
QUICK = {"run.warmup": "0 s", "run.duration": "12 s", "run.replications": 1}

pytestmark = pytest.mark.skipif(not INSTALLED, reason="ackclock runs from its sources here; make wheel installs it")


def command(*arguments: str, cwd: Path) -> str:
    script = Path(sys.prefix) / "bin" / "ackclock"
    done = subprocess.run([script, *arguments], capture_output=True, text=True, cwd=cwd, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.mark.parametrize("tool", ["cargo", "rustc", "maturin", "cc", "gcc", "clang"])
def test_nothing_that_builds_is_at_hand(tool: str) -> None:
    assert shutil.which(tool) is None


def test_the_wheel_holds_every_file_of_the_package() -> None:
    kept = {path.relative_to(SOURCES) for path in SOURCES.rglob("*") if path.is_file()}
    kept = {path for path in kept if "__pycache__" not in path.parts and path.suffix != ".so"}
    assert len(kept) > 250
    assert {path for path in kept if not (PACKAGE / path).is_file()} == set()
    texts = [path for path in kept if path.suffix in {".toml", ".csv", ".json"}]
    assert [path for path in texts if (PACKAGE / path).read_bytes() != (SOURCES / path).read_bytes()] == []


def test_the_lab_says_what_installs_the_packages_that_it_needs(tmp_path: Path) -> None:
    script = Path(sys.prefix) / "bin" / "ackclock"
    done = subprocess.run([script, "lab", "--no-browser"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert 'pip install "ackclock[lab]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_the_ready_scenarios_are_listed_where_they_are(tmp_path: Path) -> None:
    assert FOLDER == PACKAGE / "scenarios"
    listed = command("scenarios", cwd=tmp_path)
    assert listed.endswith(f"Files: {FOLDER}\n")
    assert {line.split()[0] for line in listed.splitlines()} >= set(ready_names())


@pytest.mark.parametrize("name", ready_names())
def test_each_ready_scenario_runs_by_its_name_and_is_drawn(name: str, tmp_path: Path) -> None:
    result = ackclock.run(name, overrides=QUICK)
    assert result.summary["verdict"]
    result.save_picture(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_the_command_runs_a_ready_scenario_and_draws_it(tmp_path: Path) -> None:
    changes = [part for field, value in QUICK.items() for part in ("--set", f"{field}={value}")]
    assert "Verdict: " in command("run", "access-bufferbloat", *changes, cwd=tmp_path)
    assert (tmp_path / "access-bufferbloat.png").read_bytes().startswith(PNG)


def test_python_runs_predicts_sweeps_and_draws(tmp_path: Path) -> None:
    result = ackclock.run("geo-retransmission-loss", overrides=QUICK)
    assert result.flows.throughput_bps.iloc[0] > 0.0
    result.save_picture(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)
    assert [model.model for model in ackclock.predict("geo-retransmission-loss").applicable] == ["bottlenecks"]
    data = ackclock.sweep(
        "geo-two-nodes", {"link.satellite.buffer": "10:30:10"}, overrides=QUICK, out=tmp_path / "sweep"
    )
    assert dict(data.sizes)["link.satellite.buffer"] == 3
    assert (tmp_path / "sweep" / "sweep.nc").exists()


def test_the_other_commands_work(tmp_path: Path) -> None:
    assert json.loads(command("resolve", "leo-handover", cwd=tmp_path))["format"] == 3
    assert "no faults" in command("check", "web-access-link", cwd=tmp_path)
    assert "Which " in command("advise", "geo-two-nodes", "--no-simulate", cwd=tmp_path)
    assert "bottlenecks" in command("reproduce", "--list", cwd=tmp_path)
    assert command("--version", cwd=tmp_path) == f"ackclock {ackclock.__version__}\n"
