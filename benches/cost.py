"""The cost of a run, and how several measurements of it are summed up."""

import resource
import statistics
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """The cost of one run.

    Parameters
    ----------
    packets : int
        Data packets delivered.
    events : int
        Events that the engine handled.
    cpu_s : float
        CPU time [s].
    peak_rss_bytes : int
        Largest resident set of the process [B].
    """

    packets: int
    events: int
    cpu_s: float
    peak_rss_bytes: int

    @property
    def ns_per_packet(self) -> float:
        """The CPU time per delivered data packet [ns]."""
        return 1e9 * self.cpu_s / self.packets


@dataclass(frozen=True)
class Spread:
    """The smallest value, the median and the largest of several."""

    min: float
    median: float
    max: float

    @classmethod
    def of(cls, values: Iterable[float]) -> "Spread":
        """Sum up the values."""
        ordered = sorted(values)
        return cls(ordered[0], statistics.median(ordered), ordered[-1])

    def record(self) -> dict[str, float]:
        """Return the entry of bench.json."""
        return {"min": round(self.min, 4), "median": round(self.median, 4), "max": round(self.max, 4)}


def children_cpu_s() -> float:
    """Return the CPU time of all processes that this one started and that have ended [s]."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
