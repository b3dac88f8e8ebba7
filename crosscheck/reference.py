"""Compare with measured rows of ns-2: figure 2 of the paper `bottlenecks`, and its cuts of the window."""

import csv
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from crosscheck import build
from crosscheck.compare import Change
from crosscheck.mrg32k3a import boot_fraction
from crosscheck.outcome import Outcome
from crosscheck.subset import Scenario

RECOVERIES = {"Tahoe": "tahoe", "Reno": "reno", "Newreno": "newreno"}

TITLE_FIELDS = (
    "scenario", "case", "tcp", "T_mode", "where", "tcpTick", "windowOption", "opts", "access_bps", "t0_s", "t1_s"
)  # fmt: skip

Row = dict[str, str]


def rows(folder: Path) -> Iterator[Row]:
    """Read the rows of fig2.csv whose settings our scenarios can say."""
    with (folder / "fig2.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["tcp"] in RECOVERIES and row["compat1999"] == "1" and row["queue"] == "DropTail":
                yield row


def title(row: Row) -> str:
    """Name a row by the fields that distinguish it from the others."""
    return " ".join(row[name] for name in TITLE_FIELDS if row[name])


def scenario(row: Row) -> Scenario:
    """Resolve a row: the access link and the bottlenecks, with the same rates and delays on the return path."""
    rates = [float(row["access_bps"]), *map(float, row["rates_bps"].split("/"))]
    buffers = [None, *map(int, row["buffers_pkts"].split("/"))]
    hops = len(rates)
    one_way = float(row["prop_oneway_s"])
    delays = [one_way / hops] * hops if row["where"] == "even" else [0.0] * (hops - 1) + [one_way]
    links = [
        build.link(f"node{hop}", rates[hop], delay_s=delays[hop], buffer_packets=buffers[hop]) for hop in range(hops)
    ]
    links += [build.link(f"node{hop}.reverse", rates[hop], delay_s=delays[hop]) for hop in range(hops)]
    back = range(2 * hops - 1, hops - 1, -1)
    flow = build.flow("flow", range(hops), back, _sender(row), packet_bytes=int(row["packet_bytes"]))
    return build.scenario(title(row), links, [flow], duration_s=float(row["t1_s"]), warmup_s=float(row["t0_s"]))


def _sender(row: Row) -> Scenario:
    return build.sender(
        RECOVERIES[row["tcp"]],
        initial_window=float(row["windowInit"]),
        max_window=int(row["window"]),
        increase="counted" if row["windowOption"] == "0" else "reciprocal",
        limited_transmit=row["opts"] == "singledup_:1",
        rto=build.rto(
            granularity_s=float(row["tcpTick"]),
            min_s=float(row["minrto"]),
            clock_fraction=boot_fraction(seed=int(row["seed"])),
        ),
    )


def figures(resolved: Scenario, outcome: Outcome) -> Row:
    """Say of a run what a row of fig2.csv says, to the same digits."""
    counts, run = outcome.flows[0], resolved["run"]
    throughput = counts.acked_packets * resolved["flows"][0]["packet_bytes"] * 8 / (run["duration_s"] - run["warmup_s"])
    nodes = len(resolved["flows"][0]["path"])
    return {
        "throughput_bps": f"{throughput:.1f}",
        "wmax": f"{_largest(outcome.changes[0], run['warmup_s']):.3f}",
        "delivered_pkts": str(counts.acked_packets),
        "timeouts": str(counts.timeouts),
        "fast_retransmits": str(counts.fast_retransmits),
        "retransmitted_pkts": str(counts.retransmitted_packets),
        "drops_per_node": "/".join(map(str, outcome.drops[1:nodes])),
    }


def _largest(changes: list[Change], start_s: float) -> float:
    """Largest cwnd from a time on, the value at that time included."""
    before = [change.cwnd for change in changes if change.time_s <= start_s]
    return max([*before[-1:], *(change.cwnd for change in changes if change.time_s > start_s)])


def differences(row: Row, said: Row) -> list[str]:
    """List the figures that differ from the row's, in words."""
    return [f"{name}: {said[name]}, reference {row[name]}" for name in said if said[name] != row[name]]


def cuts_file(folder: Path, row: Row) -> Path | None:
    """Find the file of all cuts of the window that goes with a row; it covers 0 to 600 s."""
    if (row["scenario"], row["t0_s"], row["t1_s"]) != ("fig2", "0", "600"):
        return None
    path = folder / f"cuts_fig2_{row['case'].replace('=', '_')}_{row['T_mode']}.csv"
    return path if path.exists() else None


def cut_differences(path: Path, outcome: Outcome) -> list[str]:
    """Compare the decreases of cwnd with a file of them, to its digits, and report the first difference."""
    with path.open(newline="") as file:
        expected = [tuple(row.values()) for row in csv.DictReader(file)]
    said = [
        (f"{after.time_s:.5f}", f"{before.cwnd:.3f}", f"{after.cwnd:.3f}")
        for before, after in pairwise(outcome.changes[0])
        if after.cwnd < before.cwnd
    ]
    for number, (ours, theirs) in enumerate(zip(said, expected, strict=False), start=1):
        if ours != theirs:
            return [f"cut {number}: {' '.join(ours)}, reference {' '.join(theirs)}"]
    return [] if len(said) == len(expected) else [f"cuts: {len(said)}, reference {len(expected)}"]
