"""The run of configuration R-1 that figures 5.10 to 5.13 show, and its busy periods."""

from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ackclock.experiments.frame import Run, Setting, resolved, scenario_tables
from ackclock.experiments.two_way.atm import SEGMENT_S, USER_MBPS, scenario, user_mbps
from ackclock.experiments.two_way.line import PAPER, instants
from ackclock.models import two_way
from ackclock.scenario import Resolved

WINDOW: Final = 7
FAT: Final = 4 * WINDOW
LENGTH: Final = 9.0
USER: Final = USER_MBPS / 3.0
"""The share of a pair of nodes [Mbit/s of TCP segments]."""
SHARE_SEGMENT_S: Final = 3.0 * SEGMENT_S
WARMUP_S: Final = 1.0
MODEL: Final = float(two_way.aggregate([WINDOW] * 4, [WINDOW] * 4, LENGTH).efficiencies[0])
FIRST: Final = {"1L": 0, "1R": 4, "2L": 8, "2R": 12, "3L": 16, "3R": 20}
"""Number of the first of a node's four connections."""
PHASES: Final = ("8 ms", "16 ms", "24 ms")
CLUSTER: Final = 3
"""Least number of segments that make a cluster."""


def shown(setting: Setting, changes: dict[str, Any] | None = None) -> Resolved:
    """Give the run with all connections from t = 0 and its traces."""
    traces = {"trace.ip_queue": True, "trace.sequence": True}
    fields = {"run.duration": setting.pick("3 s", "20 s"), "run.warmup": f"{WARMUP_S} s"}
    return scenario("r-1", fields | traces | (changes or {}))


def one_way(setting: Setting) -> Resolved:
    """Give the run with the connections of the left nodes alone."""
    tables = scenario_tables(PAPER, "r-1")
    tables["flow"] = [flow for flow in tables["flow"] if flow["name"].endswith("L")]
    fields = {"run.duration": setting.pick("3 s", "20 s"), "run.warmup": f"{WARMUP_S} s", "trace.sequence": True}
    return resolved(tables, fields)


def staggered(setting: Setting) -> dict[str, Resolved]:
    """Give the same with the right nodes later by a phase, by that phase."""
    return {time: shown(setting, {f"flow.{node}R.start": time for node in (1, 2, 3)}) for time in PHASES}


def efficiency(run: Run, node: str) -> float:
    """Give the efficiency of a node's four connections together."""
    return user_mbps(run, *range(FIRST[node], FIRST[node] + 4)) / USER


def sends(run: Run, node: str = "1L") -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Give when a node's connections send after the warm-up, and which of the four, in order."""
    each = [instants(run, FIRST[node] + number, "sent") for number in range(4)]
    times = np.concatenate(each)
    owners = np.repeat(np.arange(4), [len(one) for one in each])
    order = np.argsort(times, kind="stable")
    order = order[times[order] >= WARMUP_S]
    return times[order], owners[order]


def clusters(times: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Find the clusters: segments that leave TCP nearer than half a segment's time, from and to which place."""
    breaks = np.flatnonzero(np.diff(times) > SHARE_SEGMENT_S / 2.0) + 1
    parts = pairwise([0, *breaks.tolist(), len(times)])
    # The first and the last may be cut.
    return [(begin, end) for begin, end in parts if end - begin >= CLUSTER][1:-1]
