"""The cost of the same scenario in ns-2."""

import tempfile
from dataclasses import replace
from pathlib import Path

from ackclock.scenario import Resolved
from benches.cost import children_cpu_s
from crosscheck import ns2, ns2_script

TRACE = "    $tcp($flow) trace cwnd_ $tracer\n"


def missing() -> str | None:
    """Return the reason why ns-2 cannot be measured here, or `None` if it can."""
    return None if ns2.find_ns() else ns2.INSTALL_HINT


def ns_per_packet(resolved: Resolved) -> float:
    """Measure ns-2's CPU time per delivered data packet [ns], its cwnd trace off.

    Parameters
    ----------
    resolved : Resolved
        The resolved scenario; flows that start at random start evenly spread instead.
    """
    text = ns2_script.script(_evenly_started(resolved).to_dict())
    if TRACE not in text:
        message = "crosscheck.ns2_script traces cwnd by another line than benches.ns2_cost takes out"
        raise AssertionError(message)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        before = children_cpu_s()
        ns2.run_script(text.replace(TRACE, ""), Path(folder))
        cpu_s = children_cpu_s() - before
        packets = _delivered(Path(folder) / ns2_script.COUNTS_FILE)
    return 1e9 * cpu_s / packets


def _evenly_started(resolved: Resolved) -> Resolved:
    singles = [single for flow in resolved.flows for single in flow.singles()]
    flows = (
        replace(flow, start_s=flow.start_s + flow.start_spread_s * number / len(singles), start_spread_s=0.0)
        for number, flow in enumerate(singles)
    )
    return replace(resolved, flows=tuple(flows))


def _delivered(counts: Path) -> int:
    """Count the packets acknowledged at the end: the first number of a flow's last row is ns-2's ack_, from 0."""
    acked: dict[str, int] = {}
    for line in counts.read_text(encoding="utf-8").splitlines():
        kind, name, *values = line.split()
        if kind == "flow":
            acked[name] = int(values[0]) + 1
    return sum(acked.values())
