"""Mean differences of our engine from the kernel's runs, over flows that start at other times on both sides.

One run of a path with losses says little: a start a millisecond later has other losses. Here each start is played on
both sides, so that what remains of the mean difference over several is a rule that one of the two lacks. PIE's update
each 15 ms in place of 16 made the mean queue of one path 5% shorter, within the kernel's spread; six starts showed it.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scipy import stats

from crosscheck.linux import kernel
from crosscheck.linux.check import Case
from crosscheck.linux.figures import (
    DROPS,
    MARKS,
    QUEUE,
    RECOVERIES,
    RETRANSMISSIONS,
    THROUGHPUT,
    TIMEOUTS,
    Figures,
)
from crosscheck.linux.path import Scenario
from crosscheck.linux.translate import translate
from crosscheck.mrg32k3a import Mrg32k3a

EARLIER_S, LATER_S = -0.05, 0.05
"""Times by which a flow starts at another time, drawn for each flow [s]."""
LEAST_START_S = 0.05
SURE = 0.001
"""Probability of a difference by chance (Student's t of the pairs) below which it is named."""
SHOWN = {
    "goodput_mbps": THROUGHPUT.name,
    "queue_ms": QUEUE.name,
    "drops": DROPS.name,
    "recoveries": RECOVERIES.name,
    "retransmissions": RETRANSMISSIONS.name,
    "timeouts": TIMEOUTS.name,
    "marks": MARKS.name,
    "cwnd_mean": "mean cwnd [pkt]",
}
"""Figures that are shown, and their names."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean difference of one figure over pairs of runs.

    Parameters
    ----------
    name : str
        The figure, as it is shown.
    theirs, ours : float
        Means of the kernel's and of our figures.
    mean, error : float
        Mean of the differences of pairs, and its standard error, in the figure's unit.
    pairs : int
        Number of pairs.
    """

    name: str
    theirs: float
    ours: float
    mean: float
    error: float
    pairs: int

    @property
    def is_sure(self) -> bool:
        """Return whether a difference as large is unlikely by chance."""
        if self.error == 0.0:
            return self.mean != 0.0
        return float(stats.t.sf(abs(self.mean / self.error), self.pairs - 1)) < SURE / 2.0

    def line(self) -> str:
        """Write the figure in a line."""
        relative = f"{self.mean / self.theirs:+8.2%} ±{self.error / abs(self.theirs):.2%}" if self.theirs else ""
        text = f"{self.name:<20} kernel {self.theirs:12.4f}  ackclock {self.ours:12.4f}  {relative}"
        return f"{text}  not by chance" if self.is_sure else text.rstrip()


def other_starts(scenario: Scenario, count: int) -> Iterator[Scenario]:
    """Give a resolved scenario, and then others whose flows start up to 50 ms earlier or later each.

    Parameters
    ----------
    scenario : dict
        Resolved scenario.
    count : int
        How many to give, the first included.
    """
    random = Mrg32k3a(count)
    yield scenario
    for _ in range(count - 1):
        moved = [max(LEAST_START_S, flow["start_s"] + random.between(EARLIER_S, LATER_S)) for flow in scenario["flows"]]
        flows = [{**flow, "start_s": start_s} for flow, start_s in zip(scenario["flows"], moved, strict=True)]
        yield {**scenario, "flows": flows}


def differences(theirs: Sequence[Figures], mine: Sequence[Figures]) -> list[Difference]:
    """Compute the mean difference of each figure over pairs of runs, two at least."""
    found = []
    for key, name in SHOWN.items():
        pairs = [(_value(one, key), _value(other, key)) for one, other in zip(theirs, mine, strict=True)]
        apart = [own - kernels for kernels, own in pairs]
        kernels, own = (statistics.fmean(pair[side] for pair in pairs) for side in (0, 1))
        error = statistics.stdev(apart) / math.sqrt(len(pairs))
        found.append(Difference(name, kernels, own, statistics.fmean(apart), error, len(pairs)))
    return found


def _value(figures: Figures, key: str) -> float:
    value = getattr(figures, key)
    return float(sum(value)) if key == "goodput_mbps" else float(value)


def mean_differences(case: Case, starts: int) -> str:
    """Play a scenario with some starts on both sides, and write its mean differences."""
    cases = [Case(case.name, scenario) for scenario in other_starts(case.scenario, starts)]
    try:
        played = [(kernel.play(translate(one.scenario)).figures, one.ours(0.0)) for one in cases]
    except Exception as fault:  # noqa: BLE001 - a scenario that one side cannot run must not end the others
        return f"{case.name}\n    {type(fault).__name__}: {fault}"
    found = differences([pair[0] for pair in played], [pair[1] for pair in played])
    return "\n".join([f"{case.name}: {starts} starts", *(f"    {one.line()}" for one in found)])
