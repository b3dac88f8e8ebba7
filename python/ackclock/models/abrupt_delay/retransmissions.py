"""A step down of the round trip that brings D duplicate ACKs though nothing is lost [abrupt-delay, section III.B].

The paper says that the conditions "can be analytically stated"; they are derived here for the setting that
`ackclock.models.abrupt_delay.step` states. A duplicate ACK is one for a packet that is not the next expected; an ACK of
new data resets the count.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from ackclock.models.abrupt_delay.step import (
    LIKELY_STEP,
    THRESHOLD,
    TIE,
    Step,
    ceiling,
    includes_service,
    step_quantities,
)
from ackclock.models.domain import ArrayLike, BoolArray, FloatArray, IntArray, checked, model
from ackclock.models.limits import TIME


class SpuriousFastRetransmit(NamedTuple):
    """The D-th duplicate ACK in a row after a step: whether it comes, and by which margin."""

    happens: BoolArray
    """Whether the D-th duplicate ACK comes."""
    margin: FloatArray
    """Time from the ACK of the packet that is overtaken to the D-th duplicate ACK [s]: negative where the duplicate
    comes first, infinite where fewer than D packets can be counted."""
    instant: FloatArray
    """Instant at which it comes, from the start of the round of the step [s]; nan where it does not come."""
    duplicates: IntArray
    """Largest number of duplicate ACKs in a row, if the sender does not react [1]."""
    largest_round_trip_time: FloatArray
    """Supremum of the T2 that bring the D-th duplicate ACK [s]; nan where none does."""


# Packets leave at least 1/mu apart, so those with the new delay arrive at least 1/mu apart; where two old ones arrive
# just 1/mu apart, at most one new one comes between them, and the next old one is new data: never two duplicates in a
# row. Only the old packets around the idle period leave more room: the previous round's last arrives at (w-1)/mu, this
# round's first at T1, if it is old and some of this round are new: 0 < m < w. Packet k of these, m <= k < w, comes at
# T2 + k/mu, and counts where
#     (w-1)/mu <= T2 + k/mu < T1.
# The first that counts is max(m, ceil(w - 1 - mu T2)); the D-th in a row is D - 1 after it.
#
# D = 1: any overtaking will do. The first new packet leaves g after the last old one, so T2 + g < T1.
@model(domain=LIKELY_STEP, quantities=step_quantities, new_round_trip_time=TIME, threshold=THRESHOLD)
def spurious_fast_retransmit(
    step: Step, new_round_trip_time: ArrayLike, threshold: ArrayLike = 3
) -> SpuriousFastRetransmit:
    """Decide whether D duplicate ACKs in a row come after a step [abrupt-delay, section III.B].

    The exact form of the conditions (i) to (iii), for D >= 2: D packets k, m <= k < w, must arrive with
    ``(w-1)/mu <= T2 + k/mu < T1``, where ``m = ceil(mu x)`` packets of the round left before the step. For D = 1 any
    overtaking is enough: T2 < T1 - 1/mu in the busy period or without an idle one, T2 < (w-1)/mu in the idle period or
    at the round's start.

    Parameters
    ----------
    step : Step
        Window w, rate mu, round trip T1 and the step's instant x, by `step_in_round`.
    new_round_trip_time : array_like
        T2 [s], >= 1 / mu, service included; larger or smaller than T1.
    threshold : array_like, optional
        D [1], whole, >= 1, infinite for OldTahoe.

    Returns
    -------
    SpuriousFastRetransmit
        happens, margin, instant, duplicates, largest_round_trip_time.

    Notes
    -----
    Assumptions: `ackclock.models.abrupt_delay.step`. The paper's conditions become: (i) the idle period is longer
    than D - 2 services, ``T1 > (w + D - 2)/mu`` (the paper: D); (ii) ``m + D <= w``; (iii) the D duplicates come within
    the idle part of the ACKs. These bound T2 from above, ``T2 < T1 - (m + D - 1)/mu``, and from below,
    ``T2 >= (D - 1)/mu``: with a smaller one most of the new packets are back between the ACKs of the previous round.
    Where ``T1 < (w - 1 + D)/mu`` not all T2 between do: the slot is shorter than D services, and the phase decides.

    Examples
    --------
    Figures 3 and 4: a step in the idle and in the busy period, with w = 26 (all is busy) and with w = 13.

    >>> from ackclock.models.abrupt_delay import step_in_round
    >>> found = spurious_fast_retransmit(step_in_round([[26], [13]], 125, 0.2, step_instant=[0.15, 0.03]), 0.1)
    >>> found.happens.tolist()
    [[False, False], [False, True]]
    >>> int(found.duplicates[1, 1]), round(float(found.instant[1, 1]), 3), round(float(found.margin[1, 1]), 3)
    (9, 0.148, -0.052)
    """
    new, needed, _ = checked(
        new_round_trip_time=(new_round_trip_time, TIME), threshold=(threshold, THRESHOLD), step=(step.spacing, TIME)
    )
    includes_service("new_round_trip_time", new, step.rate)
    first, room = _counted(step, new)
    late, last = _lateness(step, new, first, needed)
    happens = late * step.rate < -TIE
    overtaking = (step.round_trip - new - step.spacing) * step.rate > TIE
    return SpuriousFastRetransmit(
        happens=happens[()],
        margin=late[()],
        instant=np.where(happens, last, np.nan)[()],
        duplicates=np.broadcast_to(np.maximum(room, overtaking), happens.shape).astype(np.int64)[()],
        largest_round_trip_time=np.broadcast_to(_largest(step, needed), happens.shape)[()],
    )


@model(threshold=THRESHOLD)
def fast_retransmit_round_trip_time(step: Step, threshold: ArrayLike = 3) -> FloatArray:
    """Compute the T2 below which a step brings D duplicate ACKs [abrupt-delay, section III.B].

    ``T1 - (m + D - 1)/mu``

    Parameters
    ----------
    step, threshold
        As for `spurious_fast_retransmit`.

    Returns
    -------
    array of float
        Supremum of the T2 that do [s], itself not among them; nan where no T2 >= 1 / mu does.

    Notes
    -----
    Exists for D >= 2 where ``m + D <= w`` and ``T1 > (w + D - 2)/mu``, with m >= 1 packets before the step; for D = 1
    it is ``T1 - 1/mu`` or ``(w-1)/mu``. Not every smaller T2 does: see `spurious_fast_retransmit`.

    Examples
    --------
    A step of a few packets' service is enough early in the busy period; near its end, D packets are not left:

    >>> from ackclock.models.abrupt_delay import step_in_round
    >>> fast_retransmit_round_trip_time(step_in_round(13, 125, 0.2, step_instant=[0.004, 0.03, 0.09])).round(3).tolist()
    [0.176, 0.152, nan]
    """
    needed, _ = checked(threshold=(threshold, THRESHOLD), step=(step.spacing, TIME))
    return _largest(step, needed)[()]


def _counted(step: Step, new: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Find the first packet that counts between the ACKs of two rounds, and how many do."""
    first = np.maximum(step.packets_before, ceiling(step.window - 1.0 - new * step.rate))
    past = np.minimum(step.window, ceiling((step.round_trip - new) * step.rate))
    return first, np.where(step.divided, np.maximum(past - first, 0.0), 0.0)


def _lateness(step: Step, new: FloatArray, first: FloatArray, needed: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute by how much the D-th duplicate comes too late, and when it comes."""
    last = first + needed - 1.0
    arrival = np.where(needed > 1.0, new + last / step.rate, new + step.first_after)
    enough = step.divided & (last < step.window)
    late = np.where(enough, arrival - step.round_trip, inf)
    return np.where(needed > 1.0, late, new + step.spacing - step.round_trip), arrival


# Just below T1 - (m + D - 1)/mu the D-th new packet, m + D - 1, comes just before T1; it counts as the D-th if it
# exists (m + D <= w) and the first, m, comes no earlier than (w-1)/mu: T1 - (D-1)/mu > (w-1)/mu. If not, the slot has a
# length of at most (D-1)/mu and never holds D.
def _largest(step: Step, needed: FloatArray) -> FloatArray:
    w, m, mu, D = step.window, step.packets_before, step.rate, needed  # noqa: N806
    possible = step.divided & (m + D <= w) & (step.round_trip * mu > w + D - 2.0 + TIE)
    in_a_row = np.where(possible, step.round_trip - (m + D - 1.0) / mu, np.nan)
    overtaking = step.round_trip - step.spacing
    single = np.where(overtaking * mu > 1.0 + TIE, overtaking, np.nan)
    return np.where(needed > 1.0, in_a_row, single)
