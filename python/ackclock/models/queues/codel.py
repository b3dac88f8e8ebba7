"""CoDel's steady state: how often it drops, with which count, and how long it takes to come there.

RFC 8289 gives the control law; what it makes of flows is derived here from their own laws.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from typing_extensions import TypeAliasType

from ackclock.models.domain import ArrayLike, FloatArray, Limits, model, model_of, plain
from ackclock.models.limits import COUNT, DELAY, FACTOR, OPEN_FRACTION, PACKET_RATE, TIME

Growth = TypeAliasType("Growth", Literal["reno", "cubic"])

ZETA_OF_HALF: Final = -1.4603545088095868
_ALWAYS_DROPPING: Final = Limits(
    1.0,
    low_included=True,
    reason="count is the number of drops since CoDel began to drop, whose root shortens the time to the next; "
    "the flows need less than a drop in each interval: CoDel leaves its dropping state between two drops",
)
LEAST_WINDOW: Final = Limits(
    12.0,
    low_included=True,
    unit="pkt",
    reason="recoveries, which the laws of the windows leave out, are a large part of shorter cycles",
)
_SHIFT: Final = 10
"""Number of terms that are added up one by one, so that the series for the rest is exact to the last digits."""


@dataclass(frozen=True, slots=True, eq=False)
class CodelState:
    """CoDel's steady state with flows that it holds at the target.

    Parameters
    ----------
    window : array
        Mean window of each flow [pkt].
    drop_probability : array
        Drops a packet [1].
    drop_rate : array
        Drops a second of all flows [1/s].
    count : array
        The count that belongs to this rate [1]; below 1 CoDel does not drop all the time.
    settling_time : array
        Time from the beginning of a lasting queue to that count [s].
    """

    window: FloatArray
    drop_probability: FloatArray
    drop_rate: FloatArray
    count: FloatArray
    settling_time: FloatArray


@model(count=COUNT, interval=TIME)
def codel_drop_rate(count: ArrayLike, interval: ArrayLike = 0.1) -> FloatArray:
    """Compute the rate at which CoDel drops with a count, sqrt(count) / interval [rfc8289, section 3.2].

    Parameters
    ----------
    count : array_like
        Packets dropped since the dropping state began [1], >= 1.
    interval : array_like
        INTERVAL [s], > 0.

    Returns
    -------
    array
        Rate of drops [1/s].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Examples
    --------
    >>> print(codel_drop_rate([1, 4, 100]))
    [ 10.  20. 100.]
    """
    k, i = model_of(codel_drop_rate).take(count=count, interval=interval)
    return plain(np.sqrt(k) / i)


@model(
    assumes="the sojourn time stays above the target all the time, and the dropping state begins with a count of 1",
    count=COUNT,
    interval=TIME,
)
def codel_time_to_count(count: ArrayLike, interval: ArrayLike = 0.1) -> FloatArray:
    """Compute the time in which a lasting queue brings CoDel to a count [rfc8289, section 3.2].

    Parameters
    ----------
    count : array_like
        The count [1], >= 1; a fraction lies between the times of its neighbours.
    interval : array_like
        INTERVAL [s], > 0.

    Returns
    -------
    array
        Time [s]: an interval until the first drop, and the sum of interval / sqrt(k) for k below the count.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    The sum grows as 2 sqrt(count): the rate of drops grows by half of 1 / interval^2 in each second at any count.

    Examples
    --------
    >>> print(codel_time_to_count([1, 2, 100]).round(3))
    [0.1   0.2   1.949]
    """
    k, i = model_of(codel_time_to_count).take(count=count, interval=interval)
    return plain(i * (1.0 + _sum_below(k)))


def _quantities(**arguments: Any) -> Mapping[str, Any]:
    found = codel_state(**arguments)
    return {"count": found.count, "window": found.window}


@model(
    domain={"count": _ALWAYS_DROPPING, "window": LEAST_WINDOW},
    quantities=_quantities,
    assumes="flows without end and with one round trip, out of step; the queueing delay stays near the target",
    flows=COUNT,
    bottleneck_rate=PACKET_RATE,
    round_trip_time=DELAY,
    target=TIME,
    interval=TIME,
    steepness=FACTOR,
    remainder=OPEN_FRACTION,
)
def codel_state(  # noqa: PLR0913  the flows, the link and CoDel's two parameters
    flows: ArrayLike,
    bottleneck_rate: ArrayLike,
    round_trip_time: ArrayLike,
    target: ArrayLike = 0.005,
    interval: ArrayLike = 0.1,
    *,
    growth: Growth = "reno",
    steepness: ArrayLike = 0.4,
    remainder: ArrayLike = 0.7,
) -> CodelState:
    """Compute the drops with which CoDel holds flows at its target [rfc8289, section 3.2], [mathis], [rfc9438].

    Parameters
    ----------
    flows : array_like
        Number of flows [1], >= 1.
    bottleneck_rate : array_like
        Rate of the link [pkt/s], > 0.
    round_trip_time : array_like
        Round-trip time without the queue [s], >= 0.
    target, interval : array_like
        CoDel's TARGET and INTERVAL [s], > 0.
    growth : str
        ``"reno"`` or ``"cubic"``: how windows grow.
    steepness, remainder : array_like
        Of CUBIC: C of the cubic function [pkt/s^3], and the fraction of the window that a loss leaves [1].

    Returns
    -------
    CodelState
        Window, drops, count and the time to come there.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    The windows together are the link's rate times the round trip with the target. Reno needs 1.5 / W^2 losses a packet
    for that. CUBIC needs as many, or those of its cubic function where they are more, since its window is the larger
    one of the two.

    Examples
    --------
    Ten flows at 10 Mbit/s in packets of 1,500 bytes, 40 ms.

    >>> found = codel_state(10, 833.3, 0.04)
    >>> print(f"{found.drop_rate:.0f} drops a second, count {found.count:.0f}, after {found.settling_time:.1f} s")
    89 drops a second, count 79, after 1.7 s
    """
    n, c, rtt, goal, i, steep, beta = model_of(codel_state).take(
        flows=flows,
        bottleneck_rate=bottleneck_rate,
        round_trip_time=round_trip_time,
        target=target,
        interval=interval,
        steepness=steepness,
        remainder=remainder,
    )
    trip = rtt + goal
    window = c * trip / n
    loss = 1.5 / window**2
    if growth == "cubic":
        cubic = np.cbrt(steep * (3.0 + beta) / (4.0 * (1.0 - beta))) * trip / window ** (4.0 / 3.0)
        loss = np.maximum(loss, cubic)
    rate = loss * c
    count = (rate * i) ** 2
    return CodelState(
        window=plain(window),
        drop_probability=plain(loss),
        drop_rate=plain(rate),
        count=plain(count),
        settling_time=plain(i * (1.0 + _sum_below(np.maximum(count, 1.0)))),
    )


@model(
    assumes="one flow without end, whose queue rises above the target once in each cycle of its window",
    bottleneck_rate=PACKET_RATE,
    round_trip_time=DELAY,
    target=TIME,
    interval=TIME,
    increase=FACTOR,
)
def codel_lone_buffer(
    bottleneck_rate: ArrayLike,
    round_trip_time: ArrayLike,
    target: ArrayLike = 0.005,
    interval: ArrayLike = 0.1,
    increase: ArrayLike = 1.0,
) -> FloatArray:
    """Compute the buffer that CoDel amounts to for one flow: the queue at the drop [rfc8289, section 3.2].

    Parameters
    ----------
    bottleneck_rate, round_trip_time, target, interval : array_like
        As for `codel_state`.
    increase : array_like
        Packets by which the window grows a round trip [1], > 0.

    Returns
    -------
    array
        Queue at which the window comes down [pkt]; `aimd_sawtooth` has the rest of the cycle.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    The first drop comes an interval after the queue has passed the target, and the window grows until then, and for the
    round trip in which the sender hears of it.

    Examples
    --------
    >>> print(f"{codel_lone_buffer(833.3, 0.04):.1f} packets, of which {833.3 * 0.005:.1f} are the target")
    7.4 packets, of which 4.2 are the target
    """
    c, rtt, goal, i, add = model_of(codel_lone_buffer).take(
        bottleneck_rate=bottleneck_rate,
        round_trip_time=round_trip_time,
        target=target,
        interval=interval,
        increase=increase,
    )
    return plain(c * goal + add * (i / (rtt + goal) + 1.0))


def _sum_below(count: FloatArray) -> FloatArray:
    """Compute the sum of 1 / sqrt(k) for k from 1 to count - 1 by Euler and Maclaurin's series."""
    far = count + (_SHIFT - 1.0)
    total = 2.0 * np.sqrt(far) + ZETA_OF_HALF + 0.5 / np.sqrt(far)
    total += -(far**-1.5) / 24.0 + far**-3.5 / 384.0 - far**-5.5 / 1024.0
    return np.asarray(total - sum((count + step) ** -0.5 for step in range(_SHIFT)))
