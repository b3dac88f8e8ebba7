"""Run one resolved scenario, read from standard input, and print what it cost.

A process of its own for each run, so that its peak of memory is the run's: `python -m benches.one_run < resolved.json`.
"""

import json
import resource
import sys
from pathlib import Path

from ackclock.engine import run_resolved
from ackclock.scenario import Resolved


def peak_rss_bytes() -> int:
    """Give the largest resident set of this process so far [B]."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage remembers the parent's memory from before exec.
        fields = dict(line.split(":", 1) for line in status.read_text(encoding="ascii").splitlines())
        return 1024 * int(fields["VmHWM"].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Run and print."""
    resolved = Resolved.from_json(sys.stdin.read())
    (replication,) = run_resolved(resolved, threads=1)
    cost = {key: replication[key] for key in ("packets", "events", "cpu_s")}
    json.dump(cost | {"peak_rss_bytes": peak_rss_bytes()}, sys.stdout)


if __name__ == "__main__":
    main()
