"""Simulations over a plain line: their scenarios, and what the two queues held, from the senders' instants alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ackclock.experiments.frame import Run, resolved, scenario_tables
from ackclock.models import two_way
from ackclock.paths import host_of, nodes
from ackclock.scenario import Resolved

PAPER: Final = "two_way"
PER_SECOND: Final = 1000.0
"""Number of segments a second at the scenario's rate: a millisecond of delay is a segment of length."""
SEGMENT_BITS: Final = 9180 * 8
TIE_S: Final = 0.02 / PER_SECOND
"""Time below which two instants are one [s]: two hundredths of a segment, a hundred ACKs of 1 byte."""


@dataclass(frozen=True)
class Pair:
    """Two connections: windows [segments], one-way delays and rates in the units of the scenario's rate.

    Parameters
    ----------
    windows : tuple of int
        W_i, W_j.
    lengths : tuple of float
        D_ij, D_ji, in segments at the scenario's rate.
    rates : tuple of float
        rho_i, rho_j, as parts of the scenario's rate.
    """

    windows: tuple[int, int]
    lengths: tuple[float, float]
    rates: tuple[float, float] = (1.0, 1.0)

    def __str__(self) -> str:
        return f"{self.windows} {self.lengths} {self.rates}"

    @property
    def efficiency(self) -> tuple[float, float]:
        """The efficiencies of both by theorem 1 or 2 [1]."""
        return _two(two_way.efficiency(self.windows, self.lengths, self.rates))

    @property
    def one_way(self) -> tuple[float, float]:
        """The efficiency of each alone [1]."""
        return _two(two_way.one_way_efficiency(self.windows, self.lengths, self.rates))

    @property
    def most_queued(self) -> tuple[float, float]:
        """The largest queues by lemma 4 or 5 [segments]."""
        return _two(two_way.maximum_queue(self.windows, self.lengths, self.rates))

    @property
    def surplus(self) -> float:
        """The time to send both windows, less the round trip, in segments at the scenario's rate."""
        return sum(w / r for w, r in zip(self.windows, self.rates, strict=True)) - sum(self.lengths)

    @property
    def case(self) -> int:
        """The number of the theorems' case that holds for connection i."""
        x, y = (w / r for w, r in zip(self.windows, self.rates, strict=True))
        if x > y + sum(self.lengths):
            return 1
        return 3 if x < y - sum(self.lengths) else 2

    @property
    def round_s(self) -> float:
        """The duration of two busy periods of each [s]."""
        work = [w / r for w, r in zip(self.windows, self.rates, strict=True)]
        return 2.0 * max(*work, (sum(work) + sum(self.lengths)) / 2.0) / PER_SECOND


def _two(values: Any) -> tuple[float, float]:
    first, second = np.asarray(values, dtype=float).tolist()
    return first, second


def scenario(pair: Pair, changes: Mapping[str, Any] | None = None, rounds: int = 40) -> Resolved:
    """Resolve the scenario of a pair: half a second for slow start, then `rounds` rounds of two busy periods each."""
    fields: dict[str, Any] = {"run.duration": f"{0.5 + rounds * pair.round_s:.6g} s"}
    for end, flow, part in zip(("line", "line.reverse"), ("i", "j"), range(2), strict=True):
        fields[f"link.{end}.rate"] = f"{pair.rates[part] * PER_SECOND * SEGMENT_BITS / 1e6:.9g} Mbit/s"
        fields[f"link.{end}.delay"] = f"{pair.lengths[part] * 1e3 / PER_SECOND:.9g} ms"
        fields[f"flow.{flow}.tcp.max_window"] = f"{pair.windows[part]} pkt"
    return resolved(scenario_tables(PAPER, "line"), fields | dict(changes or {}))


def one_way(pair: Pair) -> Resolved:
    """Resolve the scenario with connection i alone."""
    tables = scenario_tables(PAPER, "line")
    tables["flow"] = tables["flow"][:1]
    fields = {
        "run.duration": f"{0.5 + 40 * pair.round_s:.6g} s",
        "link.line.delay": f"{pair.lengths[0] * 1e3 / PER_SECOND:.9g} ms",
        "link.line.reverse.delay": f"{pair.lengths[1] * 1e3 / PER_SECOND:.9g} ms",
        "flow.i.tcp.max_window": f"{pair.windows[0]} pkt",
    }
    return resolved(tables, fields)


def measured(run: Run, flow: int = 0) -> float:
    """Measure a connection's efficiency: over the last third of the run, in whole pairs of windows.

    In steady state a connection sends its window twice in each period, so the time for whole pairs of windows does not
    depend on where it begins.
    """
    about = run.resolved.flows[flow]
    rate = nodes(run.resolved, about.path, about.packet_bytes)[0].packet_rate
    return segments_per_second(run, flow) / rate


def segments_per_second(run: Run, flow: int) -> float:
    """Measure the segments that are acknowledged a second, over whole pairs of windows."""
    window = int(run.resolved.rows[flow].tcp.sender.window_packets)
    times = acknowledged(run, flow)
    pairs = int(np.sum(times > times[-1] * 2.0 / 3.0)) // (2 * window)
    if pairs < 2:
        raise ValueError(f"{len(times)} segments hold no two periods of a window of {window}: simulate longer")
    return 2.0 * window * pairs / float(times[-1] - times[-1 - 2 * window * pairs])


def acknowledged(run: Run, flow: int) -> NDArray[np.float64]:
    """Give the instants at which a flow's segments were acknowledged [s]."""
    return instants(run, flow, "acknowledged")


def instants(run: Run, flow: int, kind: str) -> NDArray[np.float64]:
    """Give the instants of one kind of a flow's events [s]."""
    return run.once(_instants, flow, kind)


def _instants(run: Run, flow: int, kind: str) -> NDArray[np.float64]:
    rows = run.trace("sequence")
    chosen = (rows["flow"].cat.codes == flow) & (rows["kind"] == kind)
    return np.asarray(rows["time_s"][chosen], dtype=float)


def _processing(run: Run, node: int) -> tuple[float, float]:
    """Give what a node's process takes for a segment and for an ACK [s]."""
    flows = run.resolved.flows
    ends = host_of(run.resolved, flows[1 - node].path), host_of(run.resolved, flows[node].return_path)
    data, ack = (
        0.0 if host is None else host.processing_s(ack=is_ack) for host, is_ack in zip(ends, (False, True), strict=True)
    )
    return data, ack


class Visit(NamedTuple):
    """A packet's stay in the queue of a node."""

    is_data: bool
    entered: float
    start: float
    end: float


def visits(run: Run) -> tuple[list[Visit], list[Visit]]:
    """Replay what node i and node j sent, in order, from the instants at which the senders sent [s]."""
    return run.once(_visits)


def _visits(run: Run) -> tuple[list[Visit], list[Visit]]:
    links, flows = run.resolved.elements[:2], run.resolved.flows[:2]
    services = [
        (links[node].service_s(flows[1 - node].tcp.ack_bytes), link.service_s(flow.packet_bytes))
        for node, (link, flow) in enumerate(zip(links, flows, strict=True))
    ]
    # At equal instants what arrives at a node goes before what enters its queue.
    entering = [(float(time), True, node, True) for node in range(2) for time in instants(run, node, "sent")]
    heapify(entering)
    processing = [_processing(run, node) for node in range(2)]
    found = ([], [])  # type: tuple[list[Visit], list[Visit]]
    free, idle = [0.0, 0.0], [0.0, 0.0]
    while entering:
        entered, at_queue, node, is_data = heappop(entering)
        if not at_queue:
            idle[node] = max(entered, idle[node]) + processing[node][not is_data]
            if is_data:
                heappush(entering, (idle[node], True, node, False))
            continue
        start = max(entered, free[node])
        end = free[node] = start + services[node][is_data]
        found[node].append(Visit(is_data, entered, start, end))
        heappush(entering, (end + links[node].delay_s, False, 1 - node, is_data))
    return found


def runs_of_data(stays: Sequence[Visit], after: float, before: float) -> list[int]:
    """Give the lengths of the runs of segments between ACKs that enter a queue in some time, cut ones left out."""
    runs = [list(group) for _, group in groupby(stays, key=lambda stay: stay.is_data)]
    return [len(run) for run in runs if run[0].is_data and run[0].entered >= after and run[-1].entered <= before]


def most_data(stays: Sequence[Visit], after: float) -> int:
    """Give the most segments at once in a queue, the one in service included.

    What enters as another leaves, to within the few bytes of an ACK, does not meet it: in the analysis ACKs have none.
    """
    late = [stay for stay in stays if stay.is_data and stay.end >= after]
    changes = sorted([(stay.end - TIE_S, -1) for stay in late] + [(max(stay.entered, after), 1) for stay in late])
    return int(np.cumsum([change for _, change in changes]).max(initial=0))


def end_of(run: Run) -> float:
    """Give the end of a run [s]."""
    return run.resolved.run.duration_s
