"""A sweep that is killed at any moment goes on where it was, and ends with the same files."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from fakes import file_contents

ROOT = Path(__file__).parent.parent.parent
KILLS = 10
POINTS = 24
COMMAND = [
    *(sys.executable, "-m", "ackclock", "sweep", str(ROOT / "scenarios/geo-random-drop.toml")),
    *("--vary", "link.satellite.buffer=10:17:1", "--vary", "link.feeder.buffer=10,15,20"),
    *("--set", "run.duration=400 s", "--replications", "3", "--jobs", "2", "--out"),
]


def start(folder: Path) -> "subprocess.Popen[bytes]":
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    return subprocess.Popen([*COMMAND, str(folder)], env=environment, stdout=subprocess.DEVNULL)


def kept(folder: Path) -> int:
    return sum(path.is_file() for path in folder.glob("points/??/*"))


def kill_once(folder: Path, chance: random.Random) -> bool:
    """Kill a sweep some points and some milliseconds on; tell whether it was still running."""
    process = start(folder)
    target = kept(folder) + chance.randint(0, 3)
    while process.poll() is None and kept(folder) < target:
        time.sleep(0.002)
    time.sleep(chance.uniform(0.0, 0.05))
    running = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return running


def test_ten_kills_leave_the_files_of_a_run_that_was_left_alone(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert start(whole).wait() == 0
    chance = random.Random(5)
    hits = sum(kill_once(killed, chance) for _ in range(KILLS))
    before = kept(killed)
    assert hits >= 5
    assert before > 0
    assert start(killed).wait() == 0
    assert kept(killed) == POINTS
    assert file_contents(killed) == file_contents(whole)
