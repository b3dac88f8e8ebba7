"""Simulations over ABR channels: rates of TCP segments, traces as curves, and how busy periods are told apart."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Curve
from ackclock.experiments.frame import Run, resolved, scenario_tables
from ackclock.experiments.two_way.line import PAPER, end_of, instants, segments_per_second
from ackclock.scenario import Resolved

SEGMENT: Final = 9180
CELLS: Final = 193
"""Number of cells of a segment with its headers and the AAL5 trailer."""
LINE_MBPS: Final = 155.52
USER_SHARE: Final = SEGMENT / (53 * CELLS) * 30 / 32
"""Fraction of a cell rate that TCP segments get: without headers, and without two RM cells in 32."""
USER_MBPS: Final = LINE_MBPS * USER_SHARE
SEGMENT_S: Final = SEGMENT * 8 / (USER_MBPS * 1e6)
LENGTH: Final = 15.0
"""Length of one way in segments, as the paper counts: 14 of propagation, one for being cut into cells."""
MEGABYTE: Final = SEGMENT / 1e6
LEAST_PEAK: Final = 3
"""Least number of segments in a queue that make a peak: with ACKs that come one by one it has one or two."""


def scenario(name: str, changes: Mapping[str, Any] | None = None) -> Resolved:
    """Resolve a scenario of this paper, with changes by dotted path."""
    return resolved(scenario_tables(PAPER, name), changes)


def user_mbps(run: Run, *flows: int) -> float:
    """Give the throughput of some flows in TCP segments over the last third of a run [Mbit/s]."""
    return sum(segments_per_second(run, flow) for flow in flows) * SEGMENT * 8 / 1e6


def sent(  # noqa: PLR0913  one curve
    run: Run, flow: int, label: str, colour: int, *, since: float = 0.0, until: float = np.inf
) -> Curve:
    """Make the curve of the sequence numbers as they leave TCP [MB]."""
    times = instants(run, flow, "sent")
    numbers = np.arange(1.0, len(times) + 1.0) * MEGABYTE
    shown = (times >= since) & (times <= until)
    return Curve(label, times[shown], numbers[shown], "step", colour)


def straight(label: str, mbps: float, start: tuple[float, float], end: float, colour: int) -> Curve:
    """Make the line of a steady growth from a point of time [s] and data [MB]."""
    x = np.linspace(start[0], end, 13)
    return Curve(label, x, start[1] + (x - start[0]) * mbps / 8.0, "theory", colour)


def rows(run: Run, trace: str, link: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the instants and values of an end's trace: its cell rate [bit/s], or its data packets."""
    found = run.trace(trace)
    found = found[found["link"] == link]
    column = {"acr": "rate_bps", "ip_queue": "data_packets"}[trace]
    return np.asarray(found["time_s"], dtype=float), np.asarray(found[column], dtype=float)


def stepped(  # noqa: PLR0913  one curve
    run: Run, trace: str, link: str, label: str, colour: int, *, since: float = 0.0, until: float = np.inf
) -> Curve:
    """Make the curve of an end's trace: cell rate [Mbit/s], or data packets."""
    times, values = rows(run, trace, link)
    until = min(until, end_of(run))
    shown = (times > since) & (times < until)
    held = [float(values[np.searchsorted(times, edge, side="right") - 1]) for edge in (since, until)]
    x = np.concatenate([[since], times[shown], [until]])
    y = np.concatenate([held[:1], values[shown], held[1:]]) / (1e6 if trace == "acr" else 1.0)
    return Curve(label, x, y, "step", colour)


def acr_reaches(run: Run, link: str, mbps: float) -> float:
    """Give the instant from which on an end's cell rate stays at a value [s]; nan where it does not end there."""
    times, values = rows(run, "acr", link)
    off = np.flatnonzero(np.abs(values / (mbps * 1e6) - 1.0) > 1e-3)
    if len(off) and off[-1] + 1 >= len(values):
        return float("nan")
    return float(times[off[-1] + 1]) if len(off) else 0.0


def peaks(run: Run, link: str, since: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Find when an end's queue peaks between two instants at which it is empty, and how many segments it holds then."""
    times, values = rows(run, "ip_queue", link)
    late = times >= since
    times, values = times[late], values[late]
    empty = np.flatnonzero(values == 0.0)
    tops = [begin + int(np.argmax(values[begin:end])) for begin, end in pairwise(empty) if end > begin + 1]
    tops = [top for top in tops if values[top] >= LEAST_PEAK]
    return times[tops], values[tops]


def average_from_zero(run: Run, flow: int, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the throughput of a flow averaged from t = 0 [Mbit/s]."""
    done = np.searchsorted(instants(run, flow, "acknowledged"), times, side="right")
    return np.asarray(done * SEGMENT * 8.0 / 1e6 / times)
