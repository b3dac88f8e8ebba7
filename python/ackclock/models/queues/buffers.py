"""The sawtooth of one flow at a drop-tail buffer: how busy it keeps the link, and how long it makes packets wait.

For many flows out of step `classics.many_flows_buffer` has the bandwidth-delay product by the square root of their
number. Spang and others show that this rule holds for controls other than Reno too, and that one flow of a newer
control needs less; their abstract alone was read, and says 60 to 75% less: a remainder of 0.7 makes it 57%.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from ackclock.models.domain import ArrayLike, FloatArray, Limits, model, model_of, plain
from ackclock.models.limits import FACTOR, OPEN_FRACTION, PACKET_RATE, QUEUE, TIME

_LEAST_PIPE: Final = Limits(
    8.0, low_included=True, unit="pkt", reason="windows of few whole packets do not move as a fluid"
)
_MOST_INCREASE: Final = Limits(
    0.0,
    1.0 / 8.0,
    low_included=True,
    high_included=True,
    reason="the recovery, which the model leaves out, is a large part of a cycle of few round trips",
)
_ASSUMES: Final = "one flow without end, which loses a packet each time that the buffer is full, and repairs it at once"
_LOSSES: Final = (
    "one flow without end, which loses as many packets as its window grows by in a round trip, one at least, each time "
    "that the buffer is full, and repairs them at once"
)


@dataclass(frozen=True, slots=True, eq=False)
class Sawtooth:
    """The cycle of a flow from one loss to the next.

    Parameters
    ----------
    utilisation : array
        Fraction of the link's rate that is used [1].
    mean_queue : array
        Mean queue over the time [pkt].
    largest_window : array
        Window at the loss, the bandwidth-delay product and the buffer [pkt].
    period : array
        Time from one loss to the next [s].
    loss_fraction : array
        Losses a packet [1]: one a cycle, of an additive increase above 1 as many as that.
    """

    utilisation: FloatArray
    mean_queue: FloatArray
    largest_window: FloatArray
    period: FloatArray
    loss_fraction: FloatArray


@model(
    domain={},
    assumes=_ASSUMES,
    bottleneck_rate=PACKET_RATE,
    round_trip_time=TIME,
    remainder=OPEN_FRACTION,
)
def lone_flow_buffer(bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, remainder: ArrayLike = 0.5) -> FloatArray:
    """Compute the buffer with which one flow always keeps the link busy [appenzeller, section 2], [spang].

    Parameters
    ----------
    bottleneck_rate : array_like
        Rate of the link [pkt/s], > 0.
    round_trip_time : array_like
        Round-trip time without the queue [s], > 0.
    remainder : array_like
        Fraction of the window that a loss leaves, beta [1], in (0, 1): 0.5 for Reno, 0.7 for CUBIC.

    Returns
    -------
    array
        Buffer [pkt]: (1 - beta) / beta bandwidth-delay products.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Examples
    --------
    >>> print(lone_flow_buffer(1000.0, 0.1, [0.5, 0.7]).round(1))
    [100.   42.9]
    """
    c, rtt, beta = model_of(lone_flow_buffer).take(
        bottleneck_rate=bottleneck_rate, round_trip_time=round_trip_time, remainder=remainder
    )
    return plain(c * rtt * (1.0 - beta) / beta)


def _pipe(**arguments: Any) -> Mapping[str, Any]:
    c, rtt = (np.asarray(arguments[name], dtype=np.float64) for name in ("bottleneck_rate", "round_trip_time"))
    return {"pipe": c * rtt}


def _pipe_and_increase(**arguments: Any) -> Mapping[str, Any]:
    found = _pipe(**arguments)
    increase = np.asarray(arguments.get("increase", 1.0), dtype=np.float64)
    # One packet a round trip is in the domain wherever the pipe is.
    return {**found, "increase_share": np.where(increase > 1.0, increase / found["pipe"], 0.0)}


@model(
    domain={"pipe": _LEAST_PIPE, "increase_share": _MOST_INCREASE},
    quantities=_pipe_and_increase,
    assumes=_LOSSES,
    buffer=QUEUE,
    bottleneck_rate=PACKET_RATE,
    round_trip_time=TIME,
    increase=FACTOR,
    remainder=OPEN_FRACTION,
)
def aimd_sawtooth(
    buffer: ArrayLike,
    bottleneck_rate: ArrayLike,
    round_trip_time: ArrayLike,
    increase: ArrayLike = 1.0,
    remainder: ArrayLike = 0.5,
) -> Sawtooth:
    """Compute the cycle of a flow whose window grows by a constant a round trip [appenzeller, section 2].

    Parameters
    ----------
    buffer : array_like
        Buffer of the link [pkt], >= 0.
    bottleneck_rate : array_like
        Rate of the link [pkt/s], > 0.
    round_trip_time : array_like
        Round-trip time without the queue [s], > 0.
    increase : array_like
        Packets by which the window grows a round trip [1], > 0.
    remainder : array_like
        Fraction of the window that a loss leaves [1], in (0, 1).

    Returns
    -------
    Sawtooth
        Utilisation, queue and cycle.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    While the window is less than the bandwidth-delay product, a round trip takes its time without the queue and the
    link idles; then it takes window / rate, and the rest of the window waits. The utilisation does not depend on the
    increase.

    The buffer stays full for the round trip until the sender hears of the first loss; the window grows in it, and as
    many packets are lost. `linux-reno` lost 1.5 packets a cycle with an increase of 1, as its window may grow twice
    before it hears of the loss, 2.3 with 2 and 4.0 with 4 (10 Mbit/s, 41 ms, 40 packets of buffer).

    Examples
    --------
    Reno with no buffer, half a bandwidth-delay product of it, and one.

    >>> print(aimd_sawtooth([0.0, 50.0, 100.0], 1000.0, 0.1).utilisation.round(3))
    [0.75  0.964 1.   ]
    """
    b, c, rtt, add, beta = model_of(aimd_sawtooth).take(
        buffer=buffer,
        bottleneck_rate=bottleneck_rate,
        round_trip_time=round_trip_time,
        increase=increase,
        remainder=remainder,
    )
    cycle = _linear(b, c, rtt, add, beta)
    return replace(cycle, loss_fraction=plain(np.maximum(add, 1.0) * cycle.loss_fraction))


@model(
    domain={"pipe": _LEAST_PIPE},
    quantities=_pipe,
    assumes=f"{_ASSUMES}; all of a cycle grows by one of CUBIC's two laws",
    buffer=QUEUE,
    bottleneck_rate=PACKET_RATE,
    round_trip_time=TIME,
    steepness=FACTOR,
    remainder=OPEN_FRACTION,
)
def cubic_sawtooth(  # noqa: PLR0913  the link, and CUBIC's numbers
    buffer: ArrayLike,
    bottleneck_rate: ArrayLike,
    round_trip_time: ArrayLike,
    steepness: ArrayLike = 0.4,
    remainder: ArrayLike = 0.7,
    *,
    fast_convergence: bool = True,
) -> Sawtooth:
    """Compute the mean cycle of a CUBIC flow [rfc9438, sections 4.2, 4.3 and 4.7], [appenzeller, section 2].

    Parameters
    ----------
    buffer, bottleneck_rate, round_trip_time : array_like
        As for `aimd_sawtooth`.
    steepness : array_like
        C of the cubic function [pkt/s^3], > 0.
    remainder : array_like
        Fraction of the window that a loss leaves, beta_cubic [1], in (0, 1).
    fast_convergence : bool
        Whether a flow that loses a packet below its last W_max remembers less than its window.

    Returns
    -------
    Sawtooth
        Utilisation, queue and cycle.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    The window is that of the growth with the shorter cycle: the cubic function, or 3 (1 - beta) / (1 + beta) packets a
    round trip, with which CUBIC is as fast as Reno.

    With fast convergence the cubic cycles alternate. One has W_max = (1 + beta) / 2 of the largest window P, grows past
    it ever faster, and exceeds P by what it grows in the round trip until it hears of the loss. The next one has that
    for its W_max, loses a packet at P before it comes there, and is followed by one of the first kind. Without it each
    cycle ends where the cubic function is flat.

    Examples
    --------
    CUBIC at 10,000 pkt/s and no buffer: at 10 ms it grows as Reno, at 100 ms by the cubic function.

    >>> print(cubic_sawtooth(0.0, 10000.0, [0.01, 0.1], fast_convergence=False).utilisation.round(3))
    [0.85  0.925]
    >>> print(cubic_sawtooth(0.0, 10000.0, [0.01, 0.1]).utilisation.round(3))
    [0.85  0.867]
    """
    b, c, rtt, steep, beta = model_of(cubic_sawtooth).take(
        buffer=buffer,
        bottleneck_rate=bottleneck_rate,
        round_trip_time=round_trip_time,
        steepness=steepness,
        remainder=remainder,
    )
    linear = _linear(b, c, rtt, 3.0 * (1.0 - beta) / (1.0 + beta), beta)
    pipe, largest = c * rtt, c * rtt + b
    cycles = [_Cubic(beta * largest, largest, largest)]
    if fast_convergence:
        lower = (1.0 + beta) / 2.0 * largest
        time = np.cbrt((largest - lower) / steep)
        beyond = largest + 3.0 * steep * time**2 * largest / c
        cycles = [_Cubic(beta * largest, lower, largest), _Cubic(beta * beyond, beyond, largest)]
    areas = [_areas(cycle, pipe, steep) for cycle in cycles]
    period, idle, queue = (np.asarray(sum(part)) for part in zip(*areas, strict=True))
    used = 1.0 - idle / (rtt * c * period)
    is_linear = np.asarray(linear.period) < period / len(cycles)
    sent = used * c * period / len(cycles)
    return Sawtooth(
        utilisation=plain(np.where(is_linear, linear.utilisation, used)),
        mean_queue=plain(np.where(is_linear, linear.mean_queue, queue / period)),
        largest_window=plain(np.broadcast_to(largest, is_linear.shape)),
        period=plain(np.where(is_linear, linear.period, period / len(cycles))),
        loss_fraction=plain(np.where(is_linear, linear.loss_fraction, 1.0 / sent)),
    )


@dataclass(frozen=True, slots=True)
class _Cubic:
    """A cycle of the cubic function: the window at its beginning, W_max, and the window at its end [pkt]."""

    start: FloatArray
    middle: FloatArray
    end: FloatArray


def _areas(cycle: _Cubic, pipe: FloatArray, steep: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute a cycle's duration [s], and the areas between the window and the pipe, below and above it [pkt s]."""
    # Times from the instant at which the function is flat.
    last = np.cbrt((cycle.end - cycle.middle) / steep)
    first = np.minimum(np.cbrt((cycle.start - cycle.middle) / steep), last)
    full = np.clip(np.cbrt((pipe - cycle.middle) / steep), first, last)
    height = cycle.middle - pipe
    below = -height * (full - first) - steep * (full**4 - first**4) / 4.0
    above = height * (last - full) + steep * (last**4 - full**4) / 4.0
    return last - first, below, above


def _linear(b: FloatArray, c: FloatArray, rtt: FloatArray, add: FloatArray, beta: FloatArray) -> Sawtooth:
    pipe = c * rtt
    largest = pipe + b
    least = beta * largest
    full = np.maximum(pipe, least)
    sent = (largest**2 - least**2) / (2.0 * add)
    idling = (full - least) * rtt / add
    busy = (largest**2 - full**2) / (2.0 * add * c)
    waiting = ((largest**3 - full**3) / 3.0 - pipe * (largest**2 - full**2) / 2.0) / (add * c)
    period = idling + busy
    return Sawtooth(
        utilisation=plain(sent / (c * period)),
        mean_queue=plain(waiting / period),
        largest_window=plain(largest + 0.0 * sent),
        period=plain(period),
        loss_fraction=plain(1.0 / sent),
    )
