"""Compare the congestion windows that ns-2 and our engine say of a flow."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

RELATIVE_TOLERANCE = 1e-6
"""Values of cwnd agree within this, relative [1]."""

TIME_TOLERANCE_S = 1e-6
"""Changes agree within this [s]."""

CONTEXT = 3


class Change(NamedTuple):
    """A change of a flow's congestion window.

    Parameters
    ----------
    time_s : float
        When [s].
    cwnd : float
        Value after it [packets].
    ssthresh : float
        Slow start threshold after it, for the reader of a difference [packets].
    resolution : float
        How far the true value can be from `cwnd` because it was printed with few digits [packets].
    """

    time_s: float
    cwnd: float
    ssthresh: float = float("nan")
    resolution: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of a comparison.

    Parameters
    ----------
    compared : int
        Changes that agree.
    worst_time_s : float
        Largest difference of their times [s].
    difference : str or None
        The first difference with the changes before it, in words; `None` if all agree.
    differs_s : float
        When that is on the side where it is earlier; infinite if all agree [s].
    """

    compared: int
    worst_time_s: float
    difference: str | None = field(default=None)
    differs_s: float = math.inf

    @property
    def passed(self) -> bool:
        """Return whether all changes agree."""
        return self.difference is None


def normalise(
    changes: Sequence[Change],
    initial: float,
    end_s: float,
    within_s: float = TIME_TOLERANCE_S,
    *,
    each_instant_once: bool = False,
) -> list[Change]:
    """Keep what is a change of cwnd and lies before the end of the run.

    Parameters
    ----------
    changes : sequence of Change
        Changes of one flow, in order of time.
    initial : float
        Initial window: what the first change is a change from [packets].
    end_s : float
        End of the run [s].
    within_s : float
        Tolerance of times [s].
    each_instant_once : bool
        Whether of the rows of one instant the last one alone is kept: with ECN an ACK may halve the window and open it,
        or halve it and set it to one packet, and ns-2 says both.

    Returns
    -------
    list of Change
        The rows but these:

        - cwnd is the same number, bit for bit, as in the row before (the first: as the initial window). A value printed
          with few digits stays even if it looks like the one before it, as ns-2 prints no value twice.
        - cwnd is below one packet and the next row, at the very same instant, puts the floor of one packet: ns-2 takes
          what a partial ACK acknowledges off first. The floored row is judged against the row before both.
        - the last `within_s` of the run, where an event may fall to either side of the end.
    """
    kept: list[Change] = []
    before, floored = initial, False
    for change, following in zip_longest(changes, changes[1:]):
        if change.time_s >= end_s - within_s:
            break
        in_one = following is not None and following.time_s == change.time_s
        if in_one and (change.cwnd < 1.0 or each_instant_once):
            floored = True
            continue
        looks_same = bool(kept) and change.resolution > 0.0 and not floored
        if change.cwnd != before or looks_same:
            kept.append(change)
        before, floored = change.cwnd, False
    return kept


def compare(theirs: Sequence[Change], ours: Sequence[Change], within_s: float = TIME_TOLERANCE_S) -> Verdict:
    """Compare the changes of one flow, in order.

    Parameters
    ----------
    theirs, ours : sequence of Change
        Normalised changes of ns-2 and of our engine.
    within_s : float
        Tolerance of their times [s].

    Returns
    -------
    Verdict
        Passed where both have as many changes, of the same values (within `RELATIVE_TOLERANCE`, or the digits that ns-2
        printed where those are fewer) at the same times (within `within_s`).
    """
    worst = 0.0
    for index, (their, our) in enumerate(zip_longest(theirs, ours)):
        if their is None or our is None or not _agree(their, our, within_s):
            first = min(change.time_s for change in (their, our) if change is not None)
            return Verdict(index, worst, _describe(theirs, ours, index), first)
        worst = max(worst, abs(their.time_s - our.time_s))
    return Verdict(len(theirs), worst)


def _agree(their: Change, our: Change, within_s: float) -> bool:
    allowed = RELATIVE_TOLERANCE * abs(their.cwnd) + their.resolution + our.resolution
    return abs(their.time_s - our.time_s) <= within_s and abs(their.cwnd - our.cwnd) <= allowed


def _describe(theirs: Sequence[Change], ours: Sequence[Change], index: int) -> str:
    lines = [f"first difference at change {index + 1} (ns-2 has {len(theirs)} changes, ackclock {len(ours)})"]
    for row in range(max(0, index - CONTEXT), index + 1):
        mark = ">" if row == index else " "
        lines.append(f"{mark} {row + 1:>7}  ns-2 {_show(theirs, row)}   ackclock {_show(ours, row)}")
    return "\n".join(lines)


def _show(changes: Sequence[Change], row: int) -> str:
    if row >= len(changes):
        return f"{'nothing':<48}"
    change = changes[row]
    return f"{change.time_s:>16.9f} s  cwnd {change.cwnd:>11.6f}  ssthresh {change.ssthresh:>6g}"
