"""The Linux kernel in virtual time: built once from Debian's source package, started for each run."""

import csv
import hashlib
import math
import os
import platform
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crosscheck.linux.experiment import Experiment
from crosscheck.linux.figures import Figures
from crosscheck.linux.packets import Sent, read_sent

KIT = Path(__file__).with_name("kit")
CACHE = Path(__file__).parents[2] / "target" / "linux"
SOURCE = Path("/usr/src/linux-source-6.1.tar.xz")
PROGRAMS = {
    "gcc": "gcc",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "xz": "xz-utils",
    "ip": "iproute2",
    "tc": "iproute2",
}
"""Programs that building and running need, with Debian's packages that hold them."""
LONGEST_WALL_S = 600
TIME_DIGIT_S = 0.001
"""Last digit of the times of samples [s]."""
MOST_COMMAND_LINE = 4096
"""Size of the kernel's command line [B]."""

Columns = dict[str, NDArray[np.float64]]


class KernelError(Exception):
    """The kernel cannot be built, or a run of it failed."""


@dataclass(frozen=True, slots=True)
class Played:
    """A run of the kernel.

    Parameters
    ----------
    figures : Figures
        What is compared.
    windows : dict of str to array
        Every 10 ms the state of each flow: columns "t" [s], "flow", "cwnd" [packets] and others of TCP_INFO.
    queue : dict of str to array
        Every 10 ms the bottleneck: columns "t" [s], "queue_pkts", "drops_cum", "marks_cum".
    finishes_s : dict of int to float
        Instant of the last ACK of each flow that finished, by its number [s].
    sent : dict
        Data packets of each flow as they arrive at the bottleneck, if they are asked for
        (`crosscheck.linux.packets.Sent`).
    """

    figures: Figures
    windows: Columns
    queue: Columns
    finishes_s: dict[int, float]
    sent: Sent = field(default_factory=dict)


def missing() -> str | None:
    """Say what the kernel needs and is not here; None if all is.

    A kernel in the cache needs neither the source nor what compiles it.
    """
    if platform.machine() != "x86_64":
        return f"User Mode Linux needs x86_64; this is {platform.machine()}"
    run_only = _kernel_file().exists()
    lacking = [
        name for name in PROGRAMS if shutil.which(name) is None and (not run_only or name in ("ip", "tc", "gcc"))
    ]
    packages = sorted({PROGRAMS[name] for name in lacking})
    if not run_only and not SOURCE.exists():
        packages.append("linux-source-6.1")
        lacking.append(str(SOURCE))
    return f"{', '.join(lacking)} not found; Debian 12: apt-get install {' '.join(packages)}" if lacking else None


def is_built() -> bool:
    """Return whether the kernel is in the cache."""
    return _kernel_file().exists()


def build() -> None:
    """Build the kernel and the guest program into the cache, unless they are there.

    Raises
    ------
    KernelError
        If a compiler fails; the message ends with what it said.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    if not is_built():
        jobs = dict(os.environ, J=str(os.cpu_count() or 1))
        _call([str(KIT / "build.sh"), str(SOURCE), str(_kernel_file())], env=jobs)
    if not _lab_file().exists():
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            built = Path(folder) / "lab"
            _call(["gcc", "-O2", "-Wall", "-static", "-o", str(built), str(KIT / "lab.c")])
            built.replace(_lab_file())


def _kernel_file() -> Path:
    return CACHE / f"kernel-{_digest('build.sh', 'kernel.config')}"


def _lab_file() -> Path:
    return CACHE / f"lab-{_digest('lab.c')}"


def _digest(*names: str) -> str:
    """Name what was built from the kit's files, so that others are built again."""
    return hashlib.sha256(b"".join((KIT / name).read_bytes() for name in names)).hexdigest()[:12]


def _call(command: list[str], env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        message = f"{Path(command[0]).name}: exit status {done.returncode}: {(done.stdout + done.stderr)[-2000:]}"
        raise KernelError(message)
    return done.stdout


def play(experiment: Experiment, *, packets: bool = False) -> Played:
    """Play an experiment in the kernel.

    Parameters
    ----------
    experiment : Experiment
        The path, the flows and the settings.
    packets : bool
        Whether to read the packets that are sent.

    Returns
    -------
    Played
        What happened, times as the scenario counts them.

    Raises
    ------
    KernelError
        If the kernel does not end its run.
    """
    build()
    with tempfile.TemporaryDirectory(prefix="ackclock-linux-") as name:
        folder = Path(name)
        shutil.copy(KIT / "guest.sh", folder)
        shutil.copy(_lab_file(), folder / "lab")
        _boot(experiment, folder)
        played = _read(experiment, folder)
        if not packets:
            return played
        sent = read_sent(folder / "o.cap", len(experiment.flows), experiment.payload_bytes, experiment.offset_s)
        return replace(played, sent=sent)


def _boot(experiment: Experiment, folder: Path) -> None:
    settings = {"dir": str(folder), "out": str(folder / "o"), **experiment.arguments()}
    guest = [f"L_{name}={value}" for name, value in settings.items()]
    kernel = (
        "mem=384M root=root rootfstype=hostfs rootflags=/ rw quiet time-travel=inf-cpu time-travel-start=1000000000"
    )
    words = [*kernel.split(), f"init={folder}/guest.sh", *guest, "con=null", "con0=null,fd:1"]
    if len(" ".join(words).encode()) >= MOST_COMMAND_LINE:
        message = f"{experiment.name}: its flows do not fit the kernel's command line of {MOST_COMMAND_LINE} B"
        raise KernelError(message)
    with (folder / "console").open("w") as console:
        command = ["nice", "timeout", "-k", "5", str(LONGEST_WALL_S), str(_kernel_file()), *words]
        env = dict(os.environ, HOME=str(folder))
        subprocess.run(  # noqa: S603
            command, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT, env=env, check=False
        )
    if not (folder / "o.nstat.csv").exists():
        said = [
            (folder / name).read_text(errors="replace")[-1500:]
            for name in ("console", "o.log")
            if (folder / name).exists()
        ]
        message = f"{experiment.name}: the kernel gave no result: {' '.join(said)}"
        raise KernelError(message)


def _read(experiment: Experiment, folder: Path) -> Played:
    span = {"warm": experiment.warmup_s, "secs": experiment.duration_s}
    # Behind an AQM packets leave as their service begins; netem lets them go as it ends.
    serves = int("aqm" not in experiment.options)
    words = [f"{key}={value}" for key, value in {"rate": experiment.rate_bps, "svc": serves, **span}.items()]
    analysed = _call([str(folder / "lab"), "analyse", str(folder / "o"), *words])
    log = (folder / "o.log").read_text()
    failed = re.search(r"^event t=\S+ rc=[^0].*$", log, re.MULTILINE)
    if failed is not None:
        message = f"{experiment.name}: a change of the path failed in the guest: {failed[0]}"
        raise KernelError(message)
    windows, queue = (_columns(folder / f"o.{name}.csv") for name in ("info", "queue"))
    figures = read_figures(experiment, windows, analysed, _counters(folder / "o.nstat.csv"), log)
    for columns in (windows, queue):
        columns["t"] -= experiment.offset_s
    return Played(figures, windows, known_queue(experiment, queue), read_finishes(experiment, log))


def known_queue(experiment: Experiment, queue: Columns) -> Columns:
    """Cut the end off the queue, whose last packets have not left when the capture ends: they are not counted."""
    longest_s = experiment.buffer_packets * experiment.packet_bytes * 8.0 / experiment.rate_bps
    known = queue["t"] <= experiment.duration_s - experiment.offset_s - longest_s
    return {name: values[known] for name, values in queue.items()}


def read_figures(
    experiment: Experiment, windows: Columns, analysed: str, counters: dict[str, int], log: str
) -> Figures:
    """Read the figures out of what a run leaves.

    Parameters
    ----------
    experiment : Experiment
        What was played.
    windows : dict of str to array
        The samples of TCP_INFO.
    analysed : str
        What the analysis of the capture says, as words `key=value`.
    counters : dict of str to int
        The sender's counters, by the kernel's name.
    log : str
        The guest's log, which ends with the bottleneck's counters.
    """
    measured = dict(word.split("=") for word in analysed.split())
    dropped = re.search(r"\(dropped (\d+),", log)
    if dropped is None:
        message = f"{experiment.name}: the guest's log has no counters of the bottleneck: {log[-500:]}"
        raise KernelError(message)
    after = windows["t"] >= experiment.warmup_s
    # The kernel counts each SYN that its timer sends again in both (`tcp_retransmit_timer`, `__tcp_retransmit_skb`).
    syns = counters.get("TcpExtTCPSynRetrans", 0)
    return Figures(
        goodput_mbps=tuple(_goodput_mbps(experiment, windows, flow) for flow in range(len(experiment.flows))),
        queue_ms=float(measured["q_mean_ms"]),
        # Of drop-tail the mean alone is judged.
        queue_p95_ms=float(measured["q_p95_ms"]) if "aqm" in experiment.options else math.nan,
        # Of handshakes some packets have no data, and the queue may drop them too.
        drops=int(dropped[1]) - int(measured["bare_drops"]),
        recoveries=counters.get("TcpExtTCPSackRecovery", 0) + counters.get("TcpExtTCPRenoRecovery", 0),
        retransmissions=counters.get("TcpRetransSegs", 0) - syns,
        timeouts=counters.get("TcpExtTCPTimeouts", 0) - syns,
        marks=int(measured.get("marks", 0)),
        cwnd_mean=float(windows["cwnd"][after].mean()) if after.any() else 0.0,
        cwnd_max=float(windows["cwnd"][after].max()) if after.any() else 0.0,
    )


def read_finishes(experiment: Experiment, log: str) -> dict[int, float]:
    """Read the instants of the last ACKs out of the guest's log, as the scenario counts time."""
    found = {int(flow): float(at) for flow, at in re.findall(r"^finish flow=(\d+) t=(\S+)$", log, re.MULTILINE)}
    return {flow: at - experiment.offset_s for flow, at in found.items() if at >= 0.0}


def _goodput_mbps(experiment: Experiment, windows: Columns, flow: int) -> float:
    own = windows["flow"] == flow
    times, acked = windows["t"][own], windows["bytes_acked"][own]
    if not times.size:
        return 0.0
    before = acked[times <= experiment.warmup_s + TIME_DIGIT_S / 2]
    measured = acked[-1] - (before[-1] if before.size else 0.0)
    return float(measured * 8.0 / (experiment.duration_s - experiment.warmup_s) / 1e6)


def _columns(path: Path) -> Columns:
    with path.open(encoding="utf-8") as file:
        names = file.readline().strip().split(",")
        values = np.loadtxt(file, delimiter=",", ndmin=2)
    if not values.size:
        return {name: np.zeros(0) for name in names}
    return dict(zip(names, values.T.copy(), strict=True))


def _counters(path: Path) -> dict[str, int]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["counter"]: int(row["value"]) for row in csv.DictReader(file) if row["ns"] == "A"}
