"""One run of the campaign: a scenario from its number, run three times, held against the oracles."""

import resource
import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from ackclock.engine import run_resolved
from ackclock.scenario import Resolved
from ackclock.scenario.resolved import TraceSettings
from campaign.legal import legal
from campaign.oracles import broken, differences, results

LONGEST_S = 300.0
"""Time after which a run counts as hung [s]."""
NOTHING = TraceSettings(
    **dict.fromkeys(
        ("cwnd", "rtt", "sequence", "queue", "queue_distribution", "drops", "losses", "delay", "recovery", "rounds"),
        False,
    ),
    overview_interval_s=None,
    overview_detail_s=None,
    capture=None,
)
"""Nothing is recorded."""
PICTURES = 16
"""One scenario in so many is drawn too."""


@dataclass(frozen=True)
class Report:
    """What came of one number."""

    number: int
    title: str
    faults: tuple[str, ...]
    packets: int
    seconds: float
    peak_bytes: int
    """Largest resident set of the process during the run [B]."""


def examine(number: int) -> Report:
    """Run the scenario of a number, and hold all that it measured against the oracles."""
    _forget_peak()
    started, title, packets, faults = time.monotonic(), "?", 0, []
    try:
        with _limited(LONGEST_S):
            resolved = legal(number)
            title = resolved.title
            for packets, sentences in _runs(resolved, picture=number % PICTURES == 0):  # noqa: B007  the last one
                faults += sentences
    except Exception:  # noqa: BLE001  any is a fault of the number
        faults.append(traceback.format_exc(limit=-3))
    seconds = time.monotonic() - started
    return Report(number, title, tuple(faults), packets, seconds, _peak_bytes())


def _runs(resolved: Resolved, *, picture: bool) -> Iterator[tuple[int, list[str]]]:
    """Run a scenario with two threads and with one, and unwatched; give the packets and the faults of each."""
    runs = run_resolved(resolved, threads=2, overview=True).replications
    packets = sum(run["packets"] for run in runs)
    yield packets, [sentence for run in runs for sentence in broken(resolved, run)]
    again = run_resolved(resolved, threads=1, overview=True).replications
    pairs = zip(runs, again, strict=True)
    yield packets, [f"threads: {each}" for one, other in pairs for each in differences(one, other)]
    blind = replace(resolved, trace=NOTHING)
    pairs = zip(runs, run_resolved(blind, threads=1).replications, strict=True)
    yield packets, [f"observers: {each}" for one, other in pairs for each in differences(one, other)]
    yield packets, list(results(resolved, runs, picture=picture))


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"took longer than {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _forget_peak() -> None:
    """Let the largest resident set begin again, where the system has that (Linux)."""
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5", encoding="ascii")


def _peak_bytes() -> int:
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fields = dict(line.split(":", 1) for line in status.read_text(encoding="ascii").splitlines())
    return 1024 * int(fields["VmHWM"].split()[0])
