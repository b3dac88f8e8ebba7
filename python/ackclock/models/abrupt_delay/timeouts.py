"""A step of the round trip that lets the timer expire though nothing is lost [abrupt-delay, section III.A].

The paper leaves the conditions out "due to space considerations"; they are derived here for the setting that
`ackclock.models.abrupt_delay.step` states. The timer is restarted at each ACK of new data (RFC 6298 section 5 (5.3))
and expires RTO after the last restart.
"""

from typing import NamedTuple

import numpy as np

from ackclock.models.abrupt_delay.step import LIKELY_STEP, TIE, Step, includes_service, refuse, step_quantities
from ackclock.models.domain import ArrayLike, BoolArray, FloatArray, IntArray, checked, model
from ackclock.models.limits import PACKET_RATE, TIME


class SpuriousTimeout(NamedTuple):
    """The timer after a step: whether it expires, and by which margin."""

    happens: BoolArray
    """Whether the timer expires."""
    margin: FloatArray
    """The RTO less the longest silence [s]; negative where the timer expires."""
    instant: FloatArray
    """Instant at which it expires, from the start of the round of the step [s]; nan where it does not expire."""
    silence: FloatArray
    """Longest time without an ACK of new data [s], from the round before the step on."""
    duplicates: IntArray
    """Number of duplicate ACKs until then [1]: none, as a longer round trip keeps the order of the packets."""
    smallest_round_trip_time: FloatArray
    """Limit of T2 [s]: a larger one lets the timer expire, no other does."""
    sufficient: BoolArray
    """Whether the paper's sufficient condition holds, ``T2 > T1 + RTO``; it implies `happens`."""


# The last ACK with the old delay comes at (first_after - g) + T1, the first with the new one at first_after + T2:
# between them T2 - T1 + g without an ACK. In the idle period g = T1 - (w-1)/mu, so T2 - (w-1)/mu > RTO; in the busy
# period, or without an idle period, g = 1/mu, so T2 - T1 + 1/mu > RTO.
#
# No later silence is longer. Idle period: T2 - (w-1)/mu in each round. Busy period: the round stays divided, with
# silences of T2 - T1 + 1/mu (as the first) and T1 - (w-1)/mu (as before the step). Without an idle period: 1/mu while
# mu T2 <= w, from then on T2 - (w-1)/mu <= T2 - T1 + 1/mu, because w >= mu T1.
#
# Down: a packet that is overtaken comes as before, one that overtakes earlier. The last ACK of the round comes at
# T2 + (w-1)/mu at the earliest, the next round's first at T1 + T2: a silence of T1 - (w-1)/mu at most, as before.
@model(domain=LIKELY_STEP, quantities=step_quantities, new_round_trip_time=TIME, rto=TIME)
def spurious_timeout(step: Step, new_round_trip_time: ArrayLike, rto: ArrayLike) -> SpuriousTimeout:
    """Decide whether a step lets the timer expire, exactly [abrupt-delay, section III.A].

    ``T2 - (w-1)/mu > RTO`` for a step in the idle period (or at the round's start), ``T2 - T1 + 1/mu > RTO`` for one in
    the busy period and where there is no idle period.

    Parameters
    ----------
    step : Step
        Window w, rate mu, round trip T1 and the step's instant x, by `step_in_round`.
    new_round_trip_time : array_like
        T2 [s], >= 1 / mu, service included; larger or smaller than T1.
    rto : array_like
        The paper's Y_1 [s], as it is at the last ACK with the old delay: just before the step or, by samples of T1
        (`rto_after`), a little less. At least the silence of each round before the step, ``max(T1 - (w-1)/mu, 1/mu)``.

    Returns
    -------
    SpuriousTimeout
        happens, margin, instant, silence, duplicates, smallest_round_trip_time, sufficient.

    Notes
    -----
    Assumptions: `ackclock.models.abrupt_delay.step`. No silence after the first is longer, and after the first sample
    of T2 Jacobson's RTO with k = 4 is above T2: the first silence decides for the rounds that follow, too. The timer
    never expires after a step down, as long as no fast retransmit changes the course.

    Examples
    --------
    Figures 1 and 2: the same step in the idle period, with w = 26 (the link is never idle) and with w = 13.

    >>> from ackclock.models.abrupt_delay import step_in_round
    >>> found = spurious_timeout(step_in_round([26, 13], 125, 0.2, step_instant=0.15), 0.3, rto=0.2004)
    >>> found.happens.tolist(), found.sufficient.tolist()
    ([False, True], [False, False])
    >>> found.silence.round(4).tolist(), found.smallest_round_trip_time.round(4).tolist()
    ([0.108, 0.204], [0.3924, 0.2964])
    """
    new, limit = _timer(step, new_round_trip_time, rto)
    silence = np.maximum(new - step.round_trip + step.spacing, step.steady_silence)
    margin = limit - silence
    happens = margin * step.rate < -TIE
    expiry = step.first_after - step.spacing + step.round_trip + limit
    return SpuriousTimeout(
        happens=happens[()],
        margin=margin[()],
        instant=np.where(happens, expiry, np.nan)[()],
        silence=silence[()],
        duplicates=np.zeros(np.shape(happens), dtype=np.int64)[()],
        smallest_round_trip_time=np.broadcast_to(_smallest(step, limit), happens.shape)[()],
        sufficient=np.broadcast_to((new - step.round_trip - limit) * step.rate > TIE, happens.shape)[()],
    )


@model(rto=TIME)
def timeout_round_trip_time(step: Step, rto: ArrayLike) -> FloatArray:
    """Compute the T2 above which a step lets the timer expire [abrupt-delay, section III.A].

    ``RTO + (w-1)/mu`` in the idle period, ``RTO + T1 - 1/mu`` in the busy period.

    Parameters
    ----------
    step, rto
        As for `spurious_timeout`.

    Returns
    -------
    array of float
        [s]; at most the paper's sufficient ``T1 + RTO``.

    Examples
    --------
    In the idle and in the busy period, where the paper's condition gives 0.4004 s:

    >>> from ackclock.models.abrupt_delay import step_in_round
    >>> timeout_round_trip_time(step_in_round(13, 125, 0.2, step_instant=[0.15, 0.05]), rto=0.2004).round(4).tolist()
    [0.2964, 0.3924]
    """
    _, limit = _timer(step, step.round_trip, rto)
    return _smallest(step, limit)[()]


def _smallest(step: Step, rto: FloatArray) -> FloatArray:
    return np.asarray(rto + step.round_trip - step.spacing)


def _timer(step: Step, new_round_trip_time: ArrayLike, rto: ArrayLike) -> list[FloatArray]:
    new, limit, _, _ = checked(
        new_round_trip_time=(new_round_trip_time, TIME),
        rto=(rto, TIME),
        step=(step.spacing, TIME),
        bottleneck_rate=(step.rate, PACKET_RATE),
    )
    includes_service("new_round_trip_time", new, step.rate)
    too_short = (step.steady_silence - limit) * step.rate > TIE
    refuse("rto", too_short, limit, "expires in each round without a step", ">= max(T1 - (w - 1)/mu, 1/mu)")
    return [new, limit]
