"""Several drops in one window: Reno after its first recovery, the patient NewReno [engset, section 3.1]."""

from typing import NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, BoolArray, FloatArray, model, model_of
from ackclock.models.engset.path import floor
from ackclock.models.limits import DELAY, TIME, WHOLE_COUNT, WHOLE_WINDOW

_DUPLICATE_ACKS = 3.0


class RenoRecovery(NamedTuple):
    """The end of Reno's first fast recovery, and the event that follows it."""

    threshold: FloatArray
    """Slow-start threshold after the first fast retransmit, S [pkt]."""
    new_packets: FloatArray
    """Number of new packets sent in the fast recovery, S - d or 0 [pkt]; each brings a duplicate ACK."""
    timeout: BoolArray
    """Whether a timeout follows, ``delta < W - S - d``; not after a single drop."""
    second_fast_retransmit: BoolArray
    """Whether a second fast retransmit follows instead: as many duplicate ACKs return as it needs."""


# The text has S = min(floor(theta / 2), 2); its misprint is the min.
@model(window=WHOLE_WINDOW, drops=WHOLE_COUNT, distance=WHOLE_WINDOW)
def reno_recovery(window: ArrayLike, drops: ArrayLike, distance: ArrayLike = 1) -> RenoRecovery:
    """Decide what follows the fast recovery of Reno after d drops in one window [engset, section 3.1].

    A timeout where ``delta < W - S - d``, else a second fast retransmit if enough ACKs return, with
    ``S = max(floor(W / 2), 2)``.

    Parameters
    ----------
    window : array_like
        W at which the drops occur [pkt], whole, >= 1.
    drops : array_like
        d [1], whole, from 1 to W.
    distance : array_like, optional
        delta from the first drop to the second [pkt], whole, from 1 to W - d + 1; plays no role for a single drop.

    Returns
    -------
    RenoRecovery
        threshold, new_packets, timeout, second_fast_retransmit.

    Notes
    -----
    As printed, for congestion avoidance from S + 1 on, and ``W - d >= 3`` so that there is a fast retransmit at all.
    The rule is not derived there, and it does not follow from the section's rules of the sender: packet by packet, the
    three duplicate ACKs of ``S - d >= 3`` new packets bring a second fast retransmit at any distance below W - d.

    Examples
    --------
    >>> found = reno_recovery(window=20, drops=[1, 2, 2, 8], distance=[1, 7, 8, 2])
    >>> found.timeout.tolist(), found.second_fast_retransmit.tolist()
    ([False, True, False, False], [False, False, True, False])
    """
    W, d, delta = model_of(reno_recovery).take(window=window, drops=drops, distance=distance)  # noqa: N806
    several = d > 1.0
    _at_most("drops", d, W, "at most the window")
    _at_most("distance", np.where(several, delta, 1.0), W - d + 1.0, "at most window - drops + 1")
    S = np.maximum(np.floor(W / 2.0), 2.0)  # noqa: N806
    new = np.maximum(S - d, 0.0)
    timeout = several & (delta < W - S - d)
    second = several & ~timeout & (new >= _DUPLICATE_ACKS)
    shape = np.shape(timeout)
    S, new = (np.broadcast_to(values, shape)[()] for values in (S, new))  # noqa: N806
    return RenoRecovery(S, new, np.asarray(timeout)[()], np.asarray(second)[()])


def _at_most(name: str, values: FloatArray, limit: FloatArray, allowed: str) -> None:
    over = np.asarray(values > limit)
    if over.any():
        given = np.broadcast_to(values, over.shape)[over].flat[0]
        raise ModelError(Fault(name, "is too large for the window", f"{given:g}", allowed))


@model(timeout=DELAY, round_trip_time=TIME)
def patient_recovery_drops(timeout: ArrayLike, round_trip_time: ArrayLike) -> FloatArray:
    """Compute how many drops the patient NewReno recovers before it times out, floor(RTO/RTT) [engset, section 3.1].

    Parameters
    ----------
    timeout : array_like
        RTO [s], >= 0, that the first retransmission sets.
    round_trip_time : array_like
        RTT [s], > 0: each takes one drop.

    Returns
    -------
    array of float
        Number of drops [1].

    Notes
    -----
    RFC 6582 calls this variant Impatient: the paper has the two names the other way round.

    Examples
    --------
    >>> patient_recovery_drops(1.0, [0.05, 0.3, 2.0]).tolist()
    [20.0, 3.0, 0.0]
    """
    rto, rtt = model_of(patient_recovery_drops).take(timeout=timeout, round_trip_time=round_trip_time)
    return np.asarray(floor(np.asarray(rto / rtt)))[()]
