"""The time in which the flows of a run are active: from the first start to the end of the last transfer."""

from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.scenario import Resolved

LATE = 0.05
"""Part of the measured time after which a start is late [1]: means over all of it say less than the flow did."""


@dataclass(frozen=True)
class Active:
    """The active part of the measured time.

    Parameters
    ----------
    part : float
        Its length by that of the measured time [1].
    from_s : float or None
        The first start, if it is late [s].
    until_s : float or None
        The end of the last transfer, if nothing is active after it [s].
    """

    part: float
    from_s: float | None
    until_s: float | None

    @property
    def numbers(self) -> dict[str, float]:
        """Ends of the time, where they are not those of the measured one [s]."""
        ends = {"from_s": self.from_s, "until_s": self.until_s}
        return {name: end for name, end in ends.items() if end is not None}


def active_time(resolved: Resolved, finishes_s: Sequence[float]) -> Active:
    """Find the time in which flows other than pings are active.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    finishes_s : sequence of float
        Mean end of each of `Resolved.rows`; 0 if it did not end [s].

    Returns
    -------
    Active
        The time; all of the measured time if all flows ended before it.
    """
    run = resolved.run
    rows = [(flow, end) for flow, end in zip(resolved.rows, finishes_s, strict=True) if flow.kind != "ping"]
    first, last = min((flow.start_s for flow, _ in rows), default=0.0), max((end for _, end in rows), default=0.0)
    from_s = first if is_late(resolved, first) else None
    begin_s = run.warmup_s if from_s is None else from_s
    is_over = min((end for _, end in rows), default=0.0) > 0.0 and begin_s < last < run.duration_s
    until_s = last if is_over else None
    return Active(((until_s or run.duration_s) - begin_s) / run.measured_s, from_s, until_s)


def is_late(resolved: Resolved, start_s: float) -> bool:
    """Return whether a start is late [s]: after more than `LATE` of the measured time, and before its end."""
    run = resolved.run
    return run.warmup_s + LATE * run.measured_s < start_s < run.duration_s
