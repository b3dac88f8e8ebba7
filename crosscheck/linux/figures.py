"""The figures of a run by which our engine is compared with the kernel, and the rules of that comparison."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from scipy import stats

LEAST_PROBABILITY = 0.01
"""Probability (two-sample Kolmogorov-Smirnov test) below which two spreads of realisations are not the same.

The rates of a run's flows share it (Bonferroni): of 16 flows one has a spread of one probability in a hundred in every
seventh run.
"""
LEAST_REALISATIONS = 8
"""Number of realisations on each side from which their spreads are compared; fewer show too little."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one run, of the kernel's or of ours.

    Parameters
    ----------
    goodput_mbps : tuple of float
        Payload acknowledged after the warm-up in a second, by flow [Mbit/s].
    queue_ms : float
        Mean wait before the start of transmission at the bottleneck, of the packets that leave after the warm-up [ms].
    drops : int
        Data packets dropped at the bottleneck in the whole run, retransmissions included.
    recoveries, retransmissions, timeouts : int
        Fast recoveries entered, segments sent again and timer expiries in the whole run, of all flows; those of SYNs
        are left out.
    marks : int
        Data packets marked at the bottleneck in the whole run.
    cwnd_mean, cwnd_max : float
        Congestion window after the warm-up, mean over time and flows, and largest [packets]; shown, not judged.
    queue_p95_ms : float
        95th percentile of the waits at the bottleneck [ms]; NaN where it is not known or not judged.
    """

    goodput_mbps: tuple[float, ...]
    queue_ms: float
    drops: int
    recoveries: int
    retransmissions: int
    timeouts: int
    marks: int = 0
    cwnd_mean: float = math.nan
    cwnd_max: float = math.nan
    queue_p95_ms: float = math.nan


@dataclass(frozen=True, slots=True)
class Rule:
    """The allowed difference of a figure of ours from the kernel's.

    Parameters
    ----------
    name : str
        The figure, as it is shown.
    relative : float
        Allowed difference, relative to the kernel's figure.
    absolute : float
        Allowed difference in any case, in the figure's unit.
    alike : int
        Number of figures of its kind, which share the probability of a wrong verdict.
    """

    name: str
    relative: float
    absolute: float = 0.0
    alike: int = 1

    def allowed(self, theirs: float) -> float:
        """Compute the difference that is allowed from a figure of the kernel's."""
        return max(self.absolute, self.relative * abs(theirs))


THROUGHPUT = Rule("throughput [Mbit/s]", 0.02)
QUEUE = Rule("mean queue [ms]", 0.10)
QUEUE_P95 = Rule("95% of waits [ms]", 0.10)
DROPS = Rule("drops", 0.10)
MARKS = Rule("marks", 0.10)
RECOVERIES = Rule("recoveries", 0.05, 1.0)
RETRANSMISSIONS = Rule("retransmissions", 0.05)
TIMEOUTS = Rule("timeouts", 0.05, 1.0)
FAIRNESS = Rule("fairness (Jain)", 0.05)


class Agreement(Enum):
    """The ways in which a figure of ours agrees with the kernel's."""

    WITHIN = "within the tolerance"
    SPREAD = "within the kernel's spread"
    DIFFERS = "differs"


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure of both sides, over their realisations.

    Parameters
    ----------
    rule : Rule
        What is allowed.
    theirs, ours : tuple of float
        The kernel's and our values, the run itself first, then its other realisations.
    """

    rule: Rule
    theirs: tuple[float, ...]
    ours: tuple[float, ...]

    @property
    def agreement(self) -> Agreement:
        """The way in which the figure agrees: by the tolerance, or by the spreads where the kernel's is wider."""
        theirs, ours = self.theirs[0], self.ours[0]
        allowed = self.rule.allowed(theirs)
        if abs(ours - theirs) <= allowed * (1.0 + 1e-9):
            return Agreement.WITHIN
        return Agreement.SPREAD if self._is_in_spread(allowed) else Agreement.DIFFERS

    def _is_in_spread(self, allowed: float) -> bool:
        is_wide = max(self.theirs) - min(self.theirs) > allowed
        if min(len(self.theirs), len(self.ours)) >= LEAST_REALISATIONS:
            if is_wide:
                return same_spread(self.theirs, self.ours, allowed, LEAST_PROBABILITY / self.rule.alike)
            return all(min(abs(one - other) for other in self.theirs) <= allowed for one in self.ours)
        if len(self.ours) >= LEAST_REALISATIONS:
            return min(self.ours) <= self.theirs[0] <= max(self.ours)
        return is_wide and min(self.theirs) - allowed <= self.ours[0] <= max(self.theirs) + allowed

    def line(self) -> str:
        """Write the figure as a line, with the spreads where they decide."""
        theirs, ours = self.theirs[0], self.ours[0]
        apart = f"{100 * (ours / theirs - 1):+7.1f}%" if theirs else " " * 8
        said = f"{self.rule.name:<20} kernel {theirs:12.4f}  ackclock {ours:12.4f} {apart}"
        if self.agreement is Agreement.WITHIN:
            return said
        spreads = "; ".join(
            f"{name} {min(values):.4g} to {max(values):.4g}, median {sorted(values)[len(values) // 2]:.4g}"
            for name, values in (("kernel", self.theirs), ("ackclock", self.ours))
            if len(values) > 1
        )
        return f"{said}  {self.agreement.value}" + (f" ({spreads})" if spreads else "")


def same_spread(
    first: Sequence[float], second: Sequence[float], allowed: float, least_probability: float = LEAST_PROBABILITY
) -> bool:
    """Return whether two sets of values can be of one distribution, where values that are close are the same.

    Parameters
    ----------
    first, second : sequence of float
        The values.
    allowed : float
        Difference of values that are the same.
    least_probability : float
        Probability from which on the test does not reject.

    Returns
    -------
    bool
        Whether the two-sample test of Kolmogorov and Smirnov does not reject it, with the largest distance by which
        one distribution is above the other even if all its values are larger, or smaller, by `allowed`.

    Examples
    --------
    >>> same_spread([140, 401] * 8, [398] * 16, 14), same_spread([140, 401] * 8, [600] * 16, 14)
    (True, False)
    """
    pairs = ((first, second), (second, first))
    distance = max(_fraction_to(one, x) - _fraction_to(other, x + allowed) for one, other in pairs for x in one)
    size = round(len(first) * len(second) / (len(first) + len(second)))
    return float(stats.kstwo.sf(distance, size)) >= least_probability


def _fraction_to(values: Sequence[float], limit: float) -> float:
    """Compute the fraction of values that are at most a limit."""
    return sum(value <= limit for value in values) / len(values)


def compare(theirs: Sequence[Figures], ours: Sequence[Figures], *, alike: bool = False) -> list[Compared]:
    """Compare the figures of a run over realisations.

    Parameters
    ----------
    theirs, ours : sequence of Figures
        The kernel's and our figures: the run itself, then others that differ from it in nothing that matters, such as
        a start a microsecond later.
    alike : bool
        Whether all flows are of one kind: which of them has more is chance then, and where too few realisations show
        that, their fairness is judged and not the rate of each.

    Returns
    -------
    list of Compared
        A value for each figure that is judged.
    """
    together = alike and min(len(theirs), len(ours)) < LEAST_REALISATIONS
    columns = zip(_columns(theirs, together=together), _columns(ours, together=together), strict=True)
    # A figure that a side does not know is not judged.
    return [Compared(rule, tuple(found), tuple(other)) for (rule, found), (_, other) in columns if found and other]


def fairness(rates: Sequence[float]) -> float:
    """Compute Jain's index of some rates: 1 if all are equal, 1/n if one of n has all."""
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates)) if any(rates) else 1.0


def _columns(runs: Sequence[Figures], *, together: bool) -> Iterator[tuple[Rule, list[float]]]:
    yield THROUGHPUT, [sum(run.goodput_mbps) for run in runs]
    flows = len(runs[0].goodput_mbps)
    if together and flows > 1:
        yield FAIRNESS, [fairness(run.goodput_mbps) for run in runs]
    for flow in range(flows if flows > 1 and not together else 0):
        rule = Rule(f"flow {flow + 1} [Mbit/s]", THROUGHPUT.relative, alike=flows)
        yield rule, [run.goodput_mbps[flow] for run in runs]
    yield QUEUE, [run.queue_ms for run in runs]
    yield QUEUE_P95, [run.queue_p95_ms for run in runs if not math.isnan(run.queue_p95_ms)]
    yield DROPS, [run.drops for run in runs]
    yield MARKS, [run.marks for run in runs]
    yield RECOVERIES, [run.recoveries for run in runs]
    yield RETRANSMISSIONS, [run.retransmissions for run in runs]
    yield TIMEOUTS, [run.timeouts for run in runs]
