"""Plays of a scenario in our engine, and the figures that are compared with the kernel's."""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from crosscheck.linux.figures import Figures
from crosscheck.linux.packets import Sent
from crosscheck.linux.path import payload_bytes

TRACED = {"cwnd": True, "queue": True}
SENT = (0, 1)
"""Codes of first transmissions and retransmissions in the trace of sequences."""


def play(scenario: dict[str, Any], bottleneck: int = 0) -> Figures:
    """Play a resolved scenario in our engine.

    Parameters
    ----------
    scenario : dict
        Resolved scenario whose flows have TCP.
    bottleneck : int
        Index of the element whose queue is compared.

    Returns
    -------
    Figures
        Rates, windows and the queue after the warm-up, counts of the whole run.
    """
    run = scenario["run"]
    after = _replication({**scenario, "run": {**run, "delays": True}})
    whole = _replication({**scenario, "run": {**run, "warmup_s": 0.0, "delays": False}})
    measured_s = run["duration_s"] - run["warmup_s"]
    flows, totals = after["flows"], whole["flows"]
    payloads = [payload_bytes(flow) for flow in scenario["flows"] for _ in range(flow["count"])]
    return Figures(
        goodput_mbps=tuple(flows["acked_packets"] * payloads * 8.0 / measured_s / 1e6),
        queue_ms=_mean_wait_ms(after, bottleneck),
        queue_p95_ms=_p95_wait_ms(after, bottleneck),
        drops=int(totals["dropped_packets"].sum()),
        recoveries=int(totals["fast_retransmits"].sum()),
        retransmissions=int(totals["retransmitted_packets"].sum()),
        timeouts=int(totals["timeouts"].sum()),
        marks=int(whole["links"]["marked_packets"][bottleneck]),
        cwnd_mean=float(flows["cwnd_area"].mean() / measured_s),
        cwnd_max=float(flows["cwnd_max"].max()),
    )


def finishes_s(scenario: dict[str, Any]) -> dict[int, float]:
    """Play a resolved scenario and give the instants of the last ACKs of flows that finish, by their number [s]."""
    finishes = _replication(scenario)["flows"]["finish_s"]
    return {flow: float(at) for flow, at in enumerate(finishes) if np.isfinite(at)}


def traces(scenario: dict[str, Any]) -> dict[str, Any]:
    """Play a resolved scenario and give its traces of windows and queues, columns by name."""
    traced = _replication({**scenario, "trace": {**scenario["trace"], **TRACED}})
    return {name: traced["traces"][name] for name in TRACED}


def sent(scenario: dict[str, Any], before_s: Sequence[float]) -> Sent:
    """Play a resolved scenario and give all packets sent, by the instants at which they reach the bottleneck.

    Parameters
    ----------
    scenario : dict
        Resolved scenario whose flows have TCP.
    before_s : sequence of float
        Time from the sender to the bottleneck of each flow [s].

    Returns
    -------
    dict
        The packets of each flow.
    """
    traced = _replication({**scenario, "trace": {**scenario["trace"], "sequence": True}})
    table = traced["traces"]["sequence"]
    found = {}
    for flow, earlier_s in enumerate(before_s):
        own = (table["flow"] == flow) & np.isin(table["kind"], SENT)
        if own.any():
            found[flow] = (table["time_s"][own] + earlier_s, table["sequence"][own].astype(np.int64))
    return found


def dropped_packets(scenario: dict[str, Any]) -> list[int]:
    """Play a resolved scenario and give the numbers, from 0, of the packets that queues drop, in the order of drops."""
    traced = _replication({**scenario, "trace": {**scenario["trace"], "drops": True}})
    return [int(number) for number in traced["traces"]["drops"]["sequence"]]


def _replication(scenario: dict[str, Any]) -> Any:
    """Run a scenario; the package is imported here, when it is needed."""
    resolved = importlib.import_module("ackclock.scenario").Resolved.from_dict(scenario)
    return importlib.import_module("ackclock.engine").run_resolved(resolved, threads=1)[0]


def _mean_wait_ms(replication: Any, link: int) -> float:
    waits_ms, counts = _waits(replication, link)
    return float(np.average(waits_ms, weights=counts)) if len(counts) else float("nan")


def _p95_wait_ms(replication: Any, link: int) -> float:
    waits_ms, counts = _waits(replication, link)
    if not len(counts):
        return float("nan")
    order = np.argsort(waits_ms)
    below = np.cumsum(counts[order])
    return float(waits_ms[order][np.searchsorted(below, 0.95 * below[-1])])


def _waits(replication: Any, link: int) -> tuple[Any, Any]:
    """Give the waits of a link's histogram, whose buckets are within 0.8% [ms], and how many packets had each."""
    histograms = importlib.import_module("ackclock.histograms")
    table = replication["delays"]["wait"]
    own = table["row"] == link
    return histograms.middles_s(table)[own] * 1e3, table["count"][own]
