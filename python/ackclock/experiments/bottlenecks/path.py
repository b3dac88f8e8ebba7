"""The common part of the paper's simulations: mu, T, packets, the two readings of T, and the count of TCP cycles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Curve
from ackclock.experiments.frame import Finding, Run, resolved, scenario_tables, share
from ackclock.models import bottlenecks
from ackclock.scenario import Resolved

K = TypeVar("K")
PAPER: Final = "bottlenecks"
MU_MBPS: Final = 1.5
ROUND_TRIP_S: Final = 0.56
PACKET_BITS: Final = 8 * 512
MEGA: Final = 1e6
PACKETS_PER_MEGABIT: Final = MEGA / PACKET_BITS
MU: Final = MU_MBPS * PACKETS_PER_MEGABIT
PIPE: Final = MU * ROUND_TRIP_S

Reading = Literal["two_way_propagation", "rtt"]
READINGS: Final[Mapping[Reading, str]] = {
    "two_way_propagation": "T is the propagation alone",
    "rtt": "T holds the service times",
}
"""Readings of the paper's T = 560 ms: it is the sum of the propagation delays before figure 4, and includes the service
times in section 3."""

Time = Literal["shown", "steady"]
TIMES: Final[tuple[Time, ...]] = ("shown", "steady")
"""The two times of a simulation: the one that the paper shows, from t = 0, or steady state."""

FORMULA_PERCENT: Final = 10.0
"""Largest error at which a throughput that is "approximated" counts as met [%]."""

LONGEST_RECOVERY_S: Final = 20.0
"""Longest time between the losses of one TCP cycle [s]: avoidance alone takes three times as long here."""


def scenario(name: str, changes: Mapping[str, Any], reading: str = "two_way_propagation") -> Resolved:
    """Resolve a scenario of this paper, with changes by dotted path, in one reading of T."""
    return resolved(read_as(scenario_tables(PAPER, name), reading), changes)


def read_as(tables: dict[str, Any], reading: str) -> dict[str, Any]:
    """Write T into a scenario in one of its readings."""
    flow = tables["flow"][0]
    del flow["two_way_propagation"]
    flow[reading] = "560 ms"
    return tables


def throughputs(runs: Mapping[K, Run], keys: Sequence[K]) -> NDArray[np.float64]:
    """Give the simulated throughput of some runs with its interval [Mbit/s]: rows of value, low, high."""
    found = [runs[key].flow("throughput_bps", MEGA) for key in keys]
    return np.array([[one.value, one.low, one.high] for one in found]).T


def simulated(label: str, x: Any, runs: Mapping[K, Run], keys: Sequence[K], colour: int | None = None) -> Curve:
    """Make the curve of the simulated throughput of some runs; where nothing is random it has no intervals."""
    value, low, high = throughputs(runs, keys)
    if all(len(runs[key].replications) == 1 for key in keys):
        return Curve(label, np.asarray(x, dtype=float), value, "simulation", colour)
    return Curve(label, np.asarray(x, dtype=float), value, "simulation", colour, low, high)


def predicted(path: Resolved) -> bottlenecks.Cycle:
    """Compute the paper's cycle for a resolved scenario, with the round trip that it has."""
    from ackclock.prediction.scene import Scene, drop_factor  # noqa: PLC0415  the models, when they are asked

    scene = Scene(path, path.flows[0])
    access, nodes = scene.access_and_nodes
    factor = drop_factor(nodes[-1].queue)
    if factor is None:
        raise AssertionError("the paper has queues that drop at a full buffer alone")
    rates, buffers = [node.packet_rate for node in nodes], [node.buffer for node in nodes]
    return bottlenecks.cycle(rates, buffers, scene.round_trip_s, access, factor)


def mbps(packets_per_second: Any) -> Any:
    """Turn packets a second into Mbit/s."""
    return np.asarray(packets_per_second) / PACKETS_PER_MEGABIT


def formula_finding(theory: Any, measured: Any, names: Sequence[str]) -> Finding:
    """Give at how many points the paper's approximate throughput is within 10% of the measured one [%]."""
    errors = 100.0 * (np.asarray(theory, dtype=float) / np.asarray(measured, dtype=float) - 1.0)
    listed = f"error {errors.min():+.1f} to {errors.max():+.1f}%, largest at {names[int(np.argmax(np.abs(errors)))]}"
    return Finding(model=100.0 * share((np.abs(errors) <= FORMULA_PERCENT).tolist()), note=listed)


def windows(run: Run, label: str, colour: int) -> Curve:
    """Make the curve of cwnd against time, from the run's overview."""
    overview = run.trace("overview")
    cwnd = overview[overview["kind"] == "cwnd"]
    return Curve(label, cwnd["time_s"].to_numpy(), cwnd["value"].to_numpy(), "step", colour)


@dataclass(frozen=True)
class CycleCount:
    """The whole TCP cycles of a run, without the first slow start."""

    cycles: int
    double_slow_starts: int
    retransmissions_lost: int


def count_cycles(run: Run) -> CycleCount:
    """Count the cycles by their detections of losses: one in avoidance, and those that follow it soon."""
    losses = run.trace("losses")
    losses = losses[losses["replication"] == 0]
    times = losses["time_s"].to_numpy()
    number = np.cumsum(np.diff(times, prepend=-np.inf) > LONGEST_RECOVERY_S)
    last = number.max(initial=0)
    cycles = [losses[number == each] for each in range(2, last)]
    lost = [bool(((cycle["cause"] == "timeout") & cycle["retransmission"]).any()) for cycle in cycles]
    return CycleCount(len(cycles), sum(len(cycle) > 1 for cycle in cycles), sum(lost))


def mostly_double(run: Run) -> bool:
    """Return whether most cycles have two slow starts.

    Raises
    ------
    ValueError
        If the run is too short for a whole cycle, as there is nothing to count.
    """
    found = count_cycles(run)
    if found.cycles == 0:
        duration = run.resolved.run.duration_s
        raise ValueError(f"no whole TCP cycle in {duration:g} s: simulate longer")
    return found.double_slow_starts > found.cycles / 2
