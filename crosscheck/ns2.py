"""Run a resolved scenario in ns-2 and read back every change of the congestion window."""

import math
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from crosscheck.compare import Change
from crosscheck.ns2_script import CHANGES_FILE, COUNTS_FILE, script
from crosscheck.ns2_shake import Shake
from crosscheck.outcome import FlowCounts, Found, Outcome
from crosscheck.subset import Scenario

INSTALL_HINT = "ns-2 is not installed (Debian: apt-get install ns2)"


class Ns2Error(RuntimeError):
    """ns-2 did not run to the end of the scenario."""


def find_ns() -> str | None:
    """Return the path of the program ``ns``, or `None` if ns-2 is not installed."""
    return shutil.which("ns")


def run(
    scenario: Scenario,
    *,
    shake: Shake | None = None,
    replication: int = 0,
    until_s: float = math.inf,
    timeout_s: float = 600.0,
) -> Outcome:
    """Play a resolved scenario in ns-2.

    Parameters
    ----------
    scenario : dict
        Resolved scenario, within what `crosscheck.subset` allows.
    shake : Shake, optional
        Tiny changes of delays, rates and starts; see `crosscheck.ns2_script.script`.
    replication : int
        Chooses the random numbers of random elements, from 0.
    until_s : float
        Instant at which the run ends, if the scenario does not end before [s].
    timeout_s : float
        Wall-clock limit [s].

    Returns
    -------
    Outcome
        Every change of cwnd, and the counters.

    Raises
    ------
    Ns2Error
        Where ns-2 is missing, fails or takes too long.
    """
    text = script(scenario, shake, replication, until_s)
    with tempfile.TemporaryDirectory(prefix="crosscheck-") as name:
        folder = Path(name)
        run_script(text, folder, timeout_s)
        changes = read_changes((folder / CHANGES_FILE).read_text(), len(scenario["flows"]))
        counts = (folder / COUNTS_FILE).read_text()
    flows, drops = _read_counts(counts, scenario)
    return Outcome(changes, flows, drops, read_finishes(counts), read_queues(counts))


def run_script(text: str, folder: Path, timeout_s: float = 600.0) -> str:
    """Run a Tcl script by ns-2 in a folder and give back what it printed."""
    program = find_ns()
    if program is None:
        raise Ns2Error(INSTALL_HINT)
    (folder / "scenario.tcl").write_text(text)
    try:
        done = subprocess.run(  # noqa: S603 - the script is ours
            [program, "scenario.tcl"], cwd=folder, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise Ns2Error(f"ns-2 took more than {timeout_s} s") from late
    if done.returncode != 0 or done.stderr:
        raise Ns2Error(f"ns-2 ended with status {done.returncode}: {(done.stderr or done.stdout)[:2000]}")
    return done.stdout


def read_changes(text: str, flows: int) -> list[list[Change]]:
    """Read changes.txt: flow, time, cwnd to six digits, awnd in full, ssthresh; each flow's changes in order."""
    rows: list[list[Sequence[str]]] = [[] for _ in range(flows)]
    for line in text.splitlines():
        flow, *row = line.split()
        rows[int(flow)].append(row)
    return [list(_changes(of_flow)) for of_flow in rows]


def _changes(rows: list[Sequence[str]]) -> Iterable[Change]:
    """Put the full value of cwnd in the place of the printed one where a later row has it.

    ns-2 prints cwnd to six digits. With windowThresh_ 1 the variable awnd_ holds cwnd as it was before the ACK that
    opens the window, to full precision: the row of an increase has the full value of the row before.
    """
    followers: list[Sequence[str] | None] = [*rows, None][1:]
    for (time, printed, _, ssthresh), follower in zip(rows, followers, strict=True):
        cwnd = float(printed)
        full = None if follower is None or float(follower[1]) <= cwnd else float(follower[2])
        if full is not None and f"{full:g}" == printed:
            yield Change(float(time), full, float(ssthresh))
        else:
            yield Change(float(time), cwnd, float(ssthresh), _half_digit(cwnd))


def _half_digit(value: float) -> float:
    """Half a unit of the sixth significant digit."""
    return 0.5 * 10.0 ** (math.floor(math.log10(value)) - 5) if value > 0.0 else 0.0


def read_finishes(text: str) -> dict[int, float]:
    """Read from counts.txt when the transfers were over [s], by the numbers of their flows."""
    rows = (line.split() for line in text.splitlines() if line.startswith("finish "))
    return {int(flow): float(at) for _, flow, at in rows}


def read_queues(text: str) -> dict[int, list[Found]]:
    """Read from counts.txt the queues that the packets found which a RED took, by the numbers of the links."""
    queues: dict[int, list[Found]] = {}
    for line in text.splitlines():
        if line.startswith("queue "):
            _, link, time_s, packets = line.split()
            queues.setdefault(int(link), []).append(Found(float(time_s), int(packets)))
    return queues


def _read_counts(text: str, scenario: Scenario) -> tuple[list[FlowCounts], list[int]]:
    """Read counts.txt: a row for each flow and link, at the end of the warm-up and at the end of the run."""
    rows: dict[tuple[str, str], list[list[int]]] = {}
    for line in text.splitlines():
        kind, name, *values = line.split()
        if kind in {"finish", "queue"}:
            continue
        rows.setdefault((kind, name), []).append([int(value) for value in values])
    flows = []
    for number, flow in enumerate(scenario["flows"]):
        start, end = rows["flow", str(number)]
        flows.append(_flow_counts(start, end, flow["packet_bytes"]))
    ends = (rows["link", str(number)] for number in range(len(scenario["elements"])))
    return flows, [end[0] - start[0] for start, end in ends]


def _flow_counts(start: list[int], end: list[int], packet_bytes: int) -> FlowCounts:
    acked, sent, retransmitted, timeouts, cuts, received = (b - a for a, b in zip(start, end, strict=True))
    return FlowCounts(
        acked_packets=acked,
        delivered_packets=received // packet_bytes,
        sent_packets=sent,
        retransmitted_packets=retransmitted,
        timeouts=timeouts,
        fast_retransmits=cuts - timeouts,
    )
