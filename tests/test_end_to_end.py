"""The real engine under the whole of the package."""

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock import api

ROOT = Path(__file__).parent.parent
SHARED = """\
title = "Three flows over a drop-tail link"
[[link]]
name = "shared"
rate = "2 Mbit/s"
buffer = "25 pkt"
[[flow]]
count = 3
path = ["shared"]
rtt = "100 ms"
packet = "1000 B"
start_spread = "1 s"
tcp = "reno-ns2"
[run]
duration = "60 s"
warmup = "10 s"
replications = 5
[trace]
losses = true
"""


def summary(text: str = SHARED, **options: Any) -> Any:
    return ackclock.run(text, **options).summary


def test_the_stored_scenario_gives_the_same_summary_bit_for_bit(tmp_path: Path) -> None:
    ackclock.run(SHARED).save(tmp_path)
    stored = ackclock.Result.load(tmp_path)
    again = ackclock.resolve(ackclock.scenario.Resolved.from_dict(stored.resolved.to_dict()))
    assert again == stored.resolved
    assert json.dumps(api.simulate(again).summary) == json.dumps(stored.summary)


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("picture", [True, False])
def test_threads_and_probes_change_nothing(threads: int, picture: bool) -> None:
    assert summary(threads=threads, picture=picture) == summary(threads=1, picture=False)


def test_the_seed_changes_a_random_scenario_and_no_other() -> None:
    assert summary(seed=2)["flows"] != summary(seed=3)["flows"]
    exact = SHARED.replace('start_spread = "1 s"\n', "")
    assert summary(exact, seed=2)["flows"] == summary(exact, seed=3)["flows"]


def test_shares_of_a_full_link_add_up_to_its_rate() -> None:
    result = ackclock.run(SHARED)
    carried = result.links["throughput_bps"]["shared"]
    assert carried == pytest.approx(result.links["utilisation_fraction"]["shared"] * 2e6, rel=1e-3)
    assert result.flows["throughput_bps"].sum() == pytest.approx(carried, rel=2e-3)


def test_what_flows_lose_their_link_dropped() -> None:
    result = ackclock.run(SHARED)
    lost = (result.flows["loss_fraction"] * result.flows["throughput_bps"]).sum()
    dropped = result.links["loss_fraction"]["shared"] * result.flows["throughput_bps"].sum()
    assert lost == pytest.approx(dropped, rel=0.02)


def test_loss_detections_are_traced_as_often_as_counted() -> None:
    result = ackclock.run(SHARED, warmup="0 s")
    causes = result.traces["losses"]["cause"].value_counts()
    assert causes["timeout"] == pytest.approx(5 * result.flows["timeouts"].sum())
    assert causes["fast-retransmit"] == pytest.approx(5 * result.flows["fast_retransmits"].sum())


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "ackclock", *arguments]


def test_the_ready_scenario_of_make_run_leaves_its_picture(tmp_path: Path) -> None:
    ready = str(ROOT / "scenarios" / "geo-retransmission-loss.toml")
    done = subprocess.run(command("run", ready, "--out", str(tmp_path)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def read_until(terminal: int, pattern: bytes) -> bytes:
    """Read what a terminal shows until a pattern appears."""
    shown = b""
    deadline = time.monotonic() + 120.0
    while not re.search(pattern, shown):
        assert time.monotonic() < deadline, shown
        if select.select([terminal], [], [], 1.0)[0]:
            shown += os.read(terminal, 65536)
    return shown


def test_ctrl_c_of_a_user_keeps_finished_replications(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(SHARED.replace('"60 s"', '"1000 s"').replace("= 5", "= 1000000"))
    ours, theirs = pty.openpty()  # a terminal has a bar, which says how many have finished
    process = subprocess.Popen(
        command("run", "long.toml", "--out", "kept"), cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    read_until(ours, rb"[1-9][0-9]* finished")
    os.kill(process.pid, signal.SIGINT)
    stderr = read_until(ours, rb"replications had finished")
    stdout, _ = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 130, stderr
    kept = ackclock.Result.load(tmp_path / "kept")
    assert kept.interrupted
    assert 0 < kept.summary["replications"] < 1_000_000
    assert "Warning: interrupted" in stdout


def test_a_reader_that_leaves_early_sees_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "shared.toml").write_text(SHARED)
    line = f"{shlex.join(command('run', 'shared.toml', '--no-picture'))} | head -n 1"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "Three flows over a drop-tail link\n"
    assert done.stderr == ""
