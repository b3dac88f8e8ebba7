"""The loop of a PI controller, such as PIE's, and the Reno flows that it controls: equilibrium and margins.

Hollot and others linearise the fluid model of TCP and a queue about its equilibrium; Pan and others (PIE) and De
Schepper and others (PI2) put their controllers into that loop. The papers are cited from memory, as their full texts
could not be looked up; RFC 8033's table was compared with Linux's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import pi, sqrt
from typing import Any, Final, Literal

import numpy as np
from typing_extensions import TypeAliasType

from ackclock.models.domain import ArrayLike, BoolArray, FloatArray, Limits, model, model_of, plain
from ackclock.models.limits import (
    COUNT,
    DELAY,
    EVENT_RATE,
    EVENT_RATE_OR_ZERO,
    PACKET_RATE,
    PROBABILITY,
    TIME,
)
from ackclock.models.queues.codel import LEAST_WINDOW
from ackclock.models.queues.roots import bisected

Controller = TypeAliasType("Controller", Literal["pi", "pie", "pi2", "pi2-scalable"])

SCALES: Final = ((1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0))
"""Drop probabilities below which PIE divides alpha and beta, and by how much."""
_PROBABILITY: Final = Limits(
    0.0, 0.1, high_included=True, reason="retransmissions and timeouts, which the fluid model leaves out, are frequent"
)
_ASSUMES: Final = "Reno flows without end and with one round trip; a fluid near its equilibrium; nothing else limits"
_WIDE: Final = 60.0
"""Natural logarithm of the range about 1 / R in which the gain's crossover is sought."""
_STEPS: Final = 2000
"""Number of frequencies, each 1.4% below the one before, at which the phase is looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class QueueEquilibrium:
    """The equilibrium of flows and a queue whose delay is controlled.

    Parameters
    ----------
    round_trip : array
        Round trip with the queue, R_0 [s].
    window : array
        Window of each flow, W_0 [pkt].
    drop_probability : array
        Drop or mark probability that holds them there, p_0 [1]; above 1 it does not exist.
    queue : array
        The queue, q_0 [pkt].
    """

    round_trip: FloatArray
    window: FloatArray
    drop_probability: FloatArray
    queue: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class PiLoop:
    """The open loop L(s) = gain (1 + s / zero) exp(-s R_0) / (s (1 + s / window_pole) (1 + s / queue_pole)).

    Parameters
    ----------
    equilibrium : QueueEquilibrium
        The equilibrium about which it is linear.
    gain : array
        The loop's gain [rad/s].
    zero : array
        The controller's zero [rad/s].
    window_pole, queue_pole : array
        The poles of the windows and of the queue [rad/s].
    crossover : array
        Frequency at which the gain is 1 [rad/s].
    phase_margin : array
        Phase above -180 degrees there [degree]; negative: the loop is unstable.
    gain_margin : array
        Factor by which the gain may grow before the loop becomes unstable [dB].
    """

    equilibrium: QueueEquilibrium
    gain: FloatArray
    zero: FloatArray
    window_pole: FloatArray
    queue_pole: FloatArray
    crossover: FloatArray
    phase_margin: FloatArray
    gain_margin: FloatArray

    @property
    def is_stable(self) -> BoolArray:
        """Return for each loop whether it is stable: its phase margin is positive."""
        return np.asarray(self.phase_margin) > 0.0


def _quantities_there(**arguments: Any) -> Mapping[str, Any]:
    found = queue_equilibrium(**arguments)
    return {"window": found.window, "drop_probability": found.drop_probability}


@model(
    domain={"window": LEAST_WINDOW, "drop_probability": _PROBABILITY},
    quantities=_quantities_there,
    assumes=_ASSUMES,
    flows=COUNT,
    bottleneck_rate=PACKET_RATE,
    round_trip_time=DELAY,
    target=TIME,
)
def queue_equilibrium(
    flows: ArrayLike, bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, target: ArrayLike
) -> QueueEquilibrium:
    """Compute the equilibrium of Reno flows at a link whose queueing delay is held at a target [hollot].

    Parameters
    ----------
    flows : array_like
        Number of flows, N [1], >= 1.
    bottleneck_rate : array_like
        Rate of the link, C [pkt/s], > 0.
    round_trip_time : array_like
        Round-trip time without the queue [s], >= 0.
    target : array_like
        Queueing delay [s], > 0.

    Returns
    -------
    QueueEquilibrium
        Round trip, window, drop probability and queue.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    Where windows do not change, one packet a round trip more makes up for p_0 W_0 halvings a round trip: p_0 W_0^2 = 2.
    Its window is the fluid's constant one. A sawtooth with the same mean window and losses at equal distances has
    p = 1.5 / W^2.

    Examples
    --------
    Hollot's first example: 60 flows at 3750 pkt/s (15 Mbit/s), 246 ms with a queue of 175 packets.

    >>> found = queue_equilibrium(60, 3750.0, 0.2, 175.0 / 3750.0)
    >>> print(f"{found.round_trip:.3f} {found.window:.1f} {found.drop_probability:.4f}")
    0.247 15.4 0.0084
    """
    return _equilibrium(
        *model_of(queue_equilibrium).take(
            flows=flows, bottleneck_rate=bottleneck_rate, round_trip_time=round_trip_time, target=target
        )
    )


@model(drop_probability=PROBABILITY)
def pie_scale(drop_probability: ArrayLike) -> FloatArray:
    """Compute the factor by which PIE scales its alpha and beta at a drop probability [rfc8033, section 4.2].

    Parameters
    ----------
    drop_probability : array_like
        Drop probability, p [1], in [0, 1].

    Returns
    -------
    array
        Factor [1]: 1 from p = 0.1 on, 1/2048 below 0.000001.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Examples
    --------
    >>> print(1.0 / pie_scale([0.2, 0.05, 0.005, 1e-7]))
    [1.000e+00 2.000e+00 8.000e+00 2.048e+03]
    """
    return plain(_scale(*model_of(pie_scale).take(drop_probability=drop_probability)))


def _quantities(**arguments: Any) -> Mapping[str, Any]:
    found = pi_loop(**arguments).equilibrium
    return {"window": found.window, "drop_probability": found.drop_probability}


@model(
    domain={"window": LEAST_WINDOW, "drop_probability": _PROBABILITY},
    quantities=_quantities,
    assumes=f"{_ASSUMES}; the controller's update interval is short against the round trip",
    flows=COUNT,
    bottleneck_rate=PACKET_RATE,
    round_trip_time=DELAY,
    target=TIME,
    alpha=EVENT_RATE,
    beta=EVENT_RATE_OR_ZERO,
    update_interval=TIME,
)
def pi_loop(  # noqa: PLR0913  the flows, the link and the controller
    flows: ArrayLike,
    bottleneck_rate: ArrayLike,
    round_trip_time: ArrayLike,
    target: ArrayLike = 0.015,
    controller: Controller = "pie",
    *,
    alpha: ArrayLike = 0.125,
    beta: ArrayLike = 1.25,
    update_interval: ArrayLike = 0.015,
) -> PiLoop:
    """Compute the linear loop of a PI controller and the flows that it controls [hollot], [pan], [pi2].

    Parameters
    ----------
    flows, bottleneck_rate, round_trip_time, target : array_like
        As for `queue_equilibrium`.
    controller : str
        ``"pi"``: the probability itself is controlled; ``"pie"``: the same with `pie_scale`'s factor at the
        equilibrium; ``"pi2"``: its square root is controlled; ``"pi2-scalable"``: the flows are scalable ones, such as
        DCTCP's, which take half a packet off the window for each mark, and the probability is that of a mark.
    alpha : array_like
        Change of the probability in an update for each second of delay above the target [1/s], > 0.
    beta : array_like
        Change of the probability in an update for each second by which the delay has grown since the last [1/s], >= 0.
    update_interval : array_like
        Time between two updates, T [s], > 0.

    Returns
    -------
    PiLoop
        The loop with its gain, poles, crossover and margins.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    The controller is alpha / T (1 + s / z) / s with z = alpha / (T (beta + alpha / 2)), the bilinear transform of its
    difference equation. The gain falls with the frequency everywhere, so it is 1 at one frequency, and the phase there
    decides. Queue and windows give the gain R_0 / (2 p_0) for Reno, and R_0 / p'_0 for the square root and for
    scalable flows; the windows' pole is sqrt(2 p_0) / R_0 for Reno and p_0 / (2 R_0) for scalable flows, whose window
    is 2 / p_0.

    Examples
    --------
    RFC 8033's parameters, 20 flows at 10 Mbit/s in packets of 1,500 bytes, 100 ms; and what ten times as much would do.

    >>> rfc = pi_loop(20, 833.3, 0.1)
    >>> print(f"{rfc.phase_margin:.0f} degrees, {rfc.gain_margin:.0f} dB")
    46 degrees, 12 dB
    >>> print(bool(pi_loop(20, 833.3, 0.1, alpha=1.25, beta=12.5).is_stable))
    False
    """
    n, c, rtt, goal, a, b, t = model_of(pi_loop).take(
        flows=flows,
        bottleneck_rate=bottleneck_rate,
        round_trip_time=round_trip_time,
        target=target,
        alpha=alpha,
        beta=beta,
        update_interval=update_interval,
    )
    found = _equilibrium(n, c, rtt, goal)
    trip, p = np.asarray(found.round_trip), np.asarray(found.drop_probability)
    window_pole = sqrt(2.0) * np.sqrt(p) / trip
    gain = trip / (2.0 * p)
    if controller == "pie":
        a, b = a * _scale(p), b * _scale(p)
    elif controller == "pi2":
        gain = trip / np.sqrt(p)
    elif controller == "pi2-scalable":
        p = 2.0 / np.asarray(found.window)
        found = QueueEquilibrium(found.round_trip, found.window, plain(p), found.queue)
        gain, window_pole = trip / p, p / (2.0 * trip)
    return _closed(found, gain * a / t, a / (t * (b + a / 2.0)), window_pole, 1.0 / trip)


def _equilibrium(n: FloatArray, c: FloatArray, rtt: FloatArray, goal: FloatArray) -> QueueEquilibrium:
    trip = rtt + goal
    window = trip * c / n
    return QueueEquilibrium(plain(trip), plain(window), plain(2.0 / window**2), plain(goal * c))


def _scale(p: FloatArray) -> FloatArray:
    return np.select([p < below for below, _ in SCALES], [1.0 / by for _, by in SCALES], 1.0)


def _closed(
    found: QueueEquilibrium, gain: FloatArray, zero: FloatArray, window_pole: FloatArray, queue_pole: FloatArray
) -> PiLoop:
    """Find the crossovers of the loop and its margins."""
    trip = np.asarray(found.round_trip)

    def logarithm(frequency: FloatArray) -> FloatArray:
        """Give the logarithm of the loop's gain at a frequency."""
        lags = np.log1p((frequency / window_pole) ** 2) + np.log1p((frequency / queue_pole) ** 2)
        return np.asarray(np.log(gain / frequency) + 0.5 * (np.log1p((frequency / zero) ** 2) - lags))

    def lag(frequency: FloatArray) -> FloatArray:
        """Give what windows, queue and round trip take off the phase [rad]."""
        return np.asarray(np.arctan(frequency / window_pole) + np.arctan(frequency / queue_pole) + frequency * trip)

    centre = -np.log(trip)
    crossover = np.exp(bisected(lambda x: logarithm(np.exp(x)), centre - _WIDE, centre + _WIDE))
    margin = pi / 2.0 + np.arctan(crossover / zero) - lag(crossover)
    # The round trip alone takes 180 degrees off at pi / R_0, and the controller gives 90 at most.
    last = _last_root(lambda x: np.asarray(pi / 2.0 + np.arctan(x / zero) - lag(x)), pi / trip)
    return PiLoop(
        found,
        gain=plain(gain),
        zero=plain(zero),
        window_pole=plain(window_pole),
        queue_pole=plain(queue_pole),
        crossover=plain(crossover),
        phase_margin=plain(np.degrees(margin)),
        gain_margin=plain(-20.0 / np.log(10.0) * logarithm(last)),
    )


def _last_root(function: Callable[[FloatArray], FloatArray], high: FloatArray) -> FloatArray:
    """Find the largest root of a function that is negative from `high` on, and positive near 0."""
    above, below = high + 0.0, np.zeros_like(high)
    for part in np.geomspace(1.0, 1e-12, _STEPS):
        is_open = below == 0.0
        is_positive = function(part * high) > 0.0
        below = np.where(is_open & is_positive, part * high, below)
        above = np.where(is_open & ~is_positive, part * high, above)
        if np.all(below > 0.0):
            break
    return bisected(function, below, above)
