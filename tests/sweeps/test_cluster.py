"""Sweeps on a cluster: the same bits, also where a worker dies."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock.errors import SweepError
from ackclock.sweeps import point

ROOT = Path(__file__).parent.parent.parent
SCENARIO = ROOT / "scenarios" / "geo-random-drop.toml"
VARY = {"link.satellite.buffer": "10:20:1"}

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.xdist_group("cluster"),  # one cluster for both tests, not one in each worker
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**settings) as found:
        yield found


def test_a_cluster_gives_the_same_bits(cluster: Any) -> None:
    there = ackclock.sweep(SCENARIO, VARY, cluster=cluster.scheduler_address)
    here = ackclock.sweep(SCENARIO, VARY)
    assert there.identical(here)


def test_the_command_line_finds_the_cluster_though_other_commands_do_without_dask(cluster: Any, tmp_path: Path) -> None:
    vary = ["--vary", "link.satellite.buffer=10,12 pkt", "--set", "run.duration=50 s"]
    command = [sys.executable, "-m", "ackclock", "sweep", str(SCENARIO), *vary, "--cluster", cluster.scheduler_address]
    done = subprocess.run([*command, "--out", str(tmp_path / "there")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "12 pkt" in done.stdout


def test_a_worker_that_dies_costs_its_running_points_only(cluster: Any, tmp_path: Path) -> None:
    finished = threading.Event()
    killed: list[int] = []

    def kill_one(_fraction: float, points: int) -> None:
        if points == 3 and not killed:
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)
        if points == 11:
            finished.set()

    long: dict[str, Any] = {"duration": "1000 s", "replications": 3}
    address = cluster.scheduler_address
    there = ackclock.sweep(SCENARIO, VARY, out=tmp_path, cluster=address, on_progress=kill_one, **long)
    assert killed
    assert finished.is_set()
    assert there.identical(ackclock.sweep(SCENARIO, VARY, **long))


def test_without_dask_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SweepError, match=r"ackclock\[cluster\]"):
        ackclock.sweep(SCENARIO, VARY, cluster="tcp://127.0.0.1:1")


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("ackclock.sweeps.cluster.CONNECT_S", 0.5)
    with pytest.raises(SweepError, match=r"tcp://127\.0\.0\.1:1"):
        ackclock.sweep(SCENARIO, VARY, cluster="tcp://127.0.0.1:1")


def test_another_version_on_a_worker_is_refused() -> None:
    with pytest.raises(SweepError, match="another version"):
        point.simulate_point("key", "{}", "0.0.0-other")


def test_tls_without_certificates_is_refused_at_once() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(SweepError, match="needs certificates for TLS"):
        ackclock.sweep(SCENARIO, VARY, cluster="tls://127.0.0.1:1")
