"""One step of the round trip: the packets that leave before it, and those after it [abrupt-delay, section III].

The setting of `timeouts` and `retransmissions`. Times are measured at the sender, from the start of the round that the
step falls in.

- The window is w and stays so. The link sends w packets one by one, 1/mu apart (the busy period), then nothing until T1
  after the first of them (the idle period); the next round begins as the ACKs of this one come. With ``w >= mu T1``
  nothing is ever idle: packets leave each 1/mu, and ``w - mu T1`` of them wait at the link.
- A packet *leaves* when its transmission begins. Leaving at t, it reaches the receiver at t + T(t), service included,
  and its ACK is at the sender at once: the return path has no delay. T is T1 before the step's instant x and T2 from
  it on: a packet that leaves at x has T2. So packets overtake where T2 < T1.
- ACKs are cumulative, one for each packet, none is delayed or lost. A duplicate ACK sends nothing (no limited
  transmit).
- At equal instants: an ACK before the timer, and packets arrive in the order in which they left.
- T2 stays until the first decision.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, BoolArray, FloatArray, Limits, model, model_of
from ackclock.models.limits import DELAY, PACKET_RATE, TIME, WHOLE_WINDOW

THRESHOLD: Final = Limits(1.0, low_included=True, high_included=True, whole=True)

TIE: Final = 1e-9
"""Fraction of a packet's service time below which two instants count as one: binary numbers are seldom exact."""

LIKELY_STEP: Final[Mapping[str, Limits]] = {
    "rto / round_trip_time": Limits(1.0, low_included=True, reason="an RTO made of samples of T1 is no smaller"),
    "new_round_trip_time / round_trip_time": Limits(
        0.1,
        10.0,
        low_included=True,
        high_included=True,
        reason="the paper's steps are up to threefold; a far larger one is an outage, not a route",
    ),
}
"""Domain of the conditions: likely steps and timers."""


class Step(NamedTuple):
    """An instant in a round, and the packets around it; the numbers broadcast together. Made by `step_in_round`."""

    window: FloatArray
    """Window, w [pkt]."""
    rate: FloatArray
    """Rate of the link, mu [pkt/s]."""
    round_trip: FloatArray
    """Round trip before the step, T1 [s]."""
    packets_before: FloatArray
    """Number of packets of this round that leave before the step, m [pkt]."""
    divided: BoolArray
    """Whether the step falls between two packets of one busy period that an idle period follows."""
    first_after: FloatArray
    """Instant at which the first packet with T2 leaves [s]."""
    spacing: FloatArray
    """Time from the last packet with T1 to the first with T2, g [s]."""

    @property
    def steady_silence(self) -> FloatArray:
        """The time without an ACK in each round without a step [s]."""
        return np.asarray(np.maximum(self.round_trip - (self.window - 1.0) / self.rate, 1.0 / self.rate))


# m = number of k with k/mu < x. Between packets m - 1 and m of a busy period, or where there is no idle period at all,
# the last old and the first new packet leave 1/mu apart: g = 1/mu, the new one at m/mu. Otherwise the idle period lies
# between: the new one leaves at the start of a round (this one's, m = 0, or the next one's, m = w), g = T1 - (w-1)/mu.
@model(window=WHOLE_WINDOW, bottleneck_rate=PACKET_RATE, round_trip_time=TIME, step_instant=DELAY)
def step_in_round(
    window: ArrayLike, bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, step_instant: ArrayLike
) -> Step:
    """Find which packets leave before and after a step at an instant of a round [abrupt-delay, section III].

    Parameters
    ----------
    window : array_like
        w [pkt], whole, >= 1: constant.
    bottleneck_rate : array_like
        mu [pkt/s], > 0.
    round_trip_time : array_like
        T1 [s], >= 1 / mu, before the step, service included.
    step_instant : array_like
        x [s], from 0 to less than T1, from the start of the round: the moment at which its first packet leaves.

    Returns
    -------
    Step
        The argument of `spurious_timeout` and `spurious_fast_retransmit`.

    Notes
    -----
    The head of this module describes the setting.

    Examples
    --------
    In the busy period, in the idle period, and where there is no idle period:

    >>> found = step_in_round([13, 13, 26], 125, 0.2, step_instant=[0.03, 0.15, 0.15])
    >>> found.packets_before.tolist(), found.divided.tolist(), found.spacing.round(3).tolist()
    ([4.0, 13.0, 19.0], [True, False, False], [0.008, 0.104, 0.008])
    """
    w, mu, T1, x = model_of(step_in_round).take(  # noqa: N806
        window=window, bottleneck_rate=bottleneck_rate, round_trip_time=round_trip_time, step_instant=step_instant
    )
    includes_service("round_trip_time", T1, mu)
    refuse("step_instant", x >= T1, x, "is past the round's end", "less than round_trip_time")
    saturated = w >= mu * T1 - TIE
    before = ceiling(x * mu)
    m = np.where(saturated, before, np.minimum(before, w))
    divided = ~saturated & (m > 0.0) & (m < w)
    together = saturated | divided
    return Step(
        window=w,
        rate=mu,
        round_trip=T1,
        packets_before=m,
        divided=divided,
        first_after=np.where(together, m / mu, np.where(m > 0.0, T1, 0.0)),
        spacing=np.where(together, 1.0 / mu, T1 - (w - 1.0) / mu),
    )


def step_quantities(step: Step, new_round_trip_time: ArrayLike, **given: ArrayLike) -> dict[str, Any]:
    """Compute the quantities of `LIKELY_STEP` from the arguments of a model."""
    found = {"new_round_trip_time / round_trip_time": np.asarray(new_round_trip_time) / step.round_trip}
    if "rto" in given:
        found["rto / round_trip_time"] = np.asarray(given["rto"]) / step.round_trip
    return found


def ceiling(packets: FloatArray) -> FloatArray:
    """Round up; a number within the rounding error of a whole one becomes that one."""
    return np.asarray(np.ceil(packets - TIE))


def includes_service(name: str, values: FloatArray, rate: FloatArray) -> None:
    """Refuse a round trip shorter than the service of one packet."""
    refuse(name, values * rate < 1.0 - TIE, values, "is shorter than a packet's service", ">= 1 / bottleneck_rate")


def refuse(name: str, wrong: BoolArray, values: FloatArray, what: str, allowed: str) -> None:
    """Raise for the first value that is wrong."""
    if np.any(wrong):
        given = np.broadcast_to(values, np.shape(wrong))[wrong].flat[0]
        raise ModelError(Fault(name, what, f"{given:g}", allowed))
