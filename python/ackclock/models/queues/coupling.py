"""The coupling of two queues, of Classic and of scalable flows: RFC 9332's DualQ.

Classic flows see the square of a base probability p', scalable ones k p'. RFC 9332 and the paper on PI2 are cited from
memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ackclock.models.domain import ArrayLike, FloatArray, Limits, model, model_of, plain
from ackclock.models.limits import COUNT, FACTOR, OPEN_FRACTION, PACKET_RATE, PROBABILITY, TIME
from ackclock.models.queues.marks import drawn_window_constant, scalable_marks

MARKS_A_WINDOW: Final = 2.0
"""Marks a round trip with which the window of a scalable flow stays: each takes half a packet off it."""
_ROUNDS: Final = 60
"""Iterations of the base probability, each of which leaves at most 0.6 of its error in the domain."""
_NOT_ALL: Final = Limits(0.0, 1.0, reason="all packets of the scalable flows are marked, and the coupling ends")
_LAW: Final = Limits(
    0.0, 0.1, high_included=True, reason="timeouts and retransmissions, which the square root leaves out, are frequent"
)


@dataclass(frozen=True, slots=True, eq=False)
class CoupledProbabilities:
    """The probabilities of the two queues.

    Parameters
    ----------
    classic : array
        Probability that a Classic packet is dropped or marked, p_C [1].
    scalable : array
        Probability that a packet of a scalable flow is marked by the coupling, p_CL [1], 1 at most.
    """

    classic: FloatArray
    scalable: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class CoupledRates:
    """The rates of Classic and scalable flows that share a link with coupled queues.

    Parameters
    ----------
    base_probability : array
        Base probability at which all flows together fill the link, p' [1].
    classic_probability, scalable_probability : array
        Probabilities of a Classic and of a scalable packet, p_C and p_CL [1]; above 1 they do not exist.
    classic_rate, scalable_rate : array
        Rate of each flow [pkt/s].
    ratio : array
        Rate of a scalable flow by that of a Classic one [1].
    """

    base_probability: FloatArray
    classic_probability: FloatArray
    scalable_probability: FloatArray
    classic_rate: FloatArray
    scalable_rate: FloatArray
    ratio: FloatArray


@model(base_probability=PROBABILITY, coupling=FACTOR)
def coupled_probabilities(base_probability: ArrayLike, coupling: ArrayLike = 2.0) -> CoupledProbabilities:
    """Compute the probabilities of both queues from the base probability [rfc9332, section 2.1].

    Parameters
    ----------
    base_probability : array_like
        Base probability, p' [1], in [0, 1].
    coupling : array_like
        Coupling factor, k [1], > 0.

    Returns
    -------
    CoupledProbabilities
        p_C = p'^2 and p_CL = k p', 1 at most.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Examples
    --------
    >>> found = coupled_probabilities(0.1)
    >>> print(f"{found.classic:.2f} {found.scalable:.2f}")
    0.01 0.20
    """
    p, k = model_of(coupled_probabilities).take(base_probability=base_probability, coupling=coupling)
    return CoupledProbabilities(plain(p**2 + 0.0 * k), plain(np.minimum(1.0, k * p)))


def _quantities(**arguments: Any) -> Mapping[str, Any]:
    found = coupled_rates(**arguments)
    return {"scalable_probability": found.scalable_probability, "classic_probability": found.classic_probability}


@model(
    domain={"scalable_probability": _NOT_ALL, "classic_probability": _LAW},
    quantities=_quantities,
    assumes="flows without end; the scalable queue marks by the coupling alone, not by its own threshold",
    classic_flows=COUNT,
    scalable_flows=COUNT,
    bottleneck_rate=PACKET_RATE,
    classic_round_trip=TIME,
    scalable_round_trip=TIME,
    coupling=FACTOR,
    increase=FACTOR,
    remainder=OPEN_FRACTION,
)
def coupled_rates(  # noqa: PLR0913  two kinds of flows, the link and the coupling
    classic_flows: ArrayLike,
    scalable_flows: ArrayLike,
    bottleneck_rate: ArrayLike,
    classic_round_trip: ArrayLike,
    scalable_round_trip: ArrayLike,
    *,
    coupling: ArrayLike = 2.0,
    increase: ArrayLike = 1.0,
    remainder: ArrayLike = 0.5,
    drawn: bool = False,
) -> CoupledRates:
    """Compute how Classic and scalable flows share a link with coupled queues [rfc9332, section 2.1], [pi2].

    Parameters
    ----------
    classic_flows, scalable_flows : array_like
        Numbers of flows [1], >= 1.
    bottleneck_rate : array_like
        Rate of the link [pkt/s], > 0.
    classic_round_trip, scalable_round_trip : array_like
        Round trips with the queues, R_C and R_L [s], > 0.
    coupling : array_like
        Coupling factor, k [1], > 0.
    increase, remainder : array_like
        Of the Classic flows: packets by which the window grows a round trip, and the fraction that a loss leaves [1];
        1 and 0.5 for Reno, and for RFC 9438's CUBIC where it is as fast as Reno; 1 and 0.7 for CUBIC's Reno mode of
        [pi2], which adds a whole packet.
    drawn : bool
        Whether packets are marked and dropped by independent draws, as Linux's DualPI2 does; the constants are then
        those of `scalable_marks` and `drawn_window_constant`, else the papers'.

    Returns
    -------
    CoupledRates
        Probabilities and rates.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    A Classic flow has c / (R_C sqrt(p_C)) = c / (R_C p') with c = sqrt(increase (1 + remainder) / (2 (1 - remainder))),
    1.22 for Reno and 1.68 for CUBIC in the Reno mode of [pi2]; a scalable one 2 / (R_L p_CL) = 2 / (R_L k p'). So the
    ratio of the rates does not depend on p'. With drawn signals the scalable constant falls from 2.73 with p', and the
    Classic ones are 1.31 and 1.75.

    Examples
    --------
    A flow of each kind at 40 Mbit/s with base round trips of 10 ms, the Classic queue at 15 ms.

    >>> found = coupled_rates(1, 1, 3333.0, 0.025, 0.011)
    >>> print(f"{found.ratio:.2f} times the rate of a Classic flow at p' = {found.base_probability:.4f}")
    1.86 times the rate of a Classic flow at p' = 0.0420
    >>> print(f"{coupled_rates(1, 1, 3333.0, 0.025, 0.011, drawn=True).ratio:.2f} with drawn marks")
    2.18 with drawn marks
    """
    n_c, n_l, c, r_c, r_l, k, add, beta = model_of(coupled_rates).take(
        classic_flows=classic_flows,
        scalable_flows=scalable_flows,
        bottleneck_rate=bottleneck_rate,
        classic_round_trip=classic_round_trip,
        scalable_round_trip=scalable_round_trip,
        coupling=coupling,
        increase=increase,
        remainder=remainder,
    )
    classic, scalable = _constant(add, beta) / r_c, MARKS_A_WINDOW / (r_l * k)
    p = (n_c * classic + n_l * scalable) / c
    if drawn:
        classic = np.asarray(drawn_window_constant(add, beta)) / r_c
        for _ in range(_ROUNDS):
            scalable = np.asarray(scalable_marks(np.minimum(1.0, k * p))) / (r_l * k)
            p = (n_c * classic + n_l * scalable) / c
    return CoupledRates(
        base_probability=plain(p),
        classic_probability=plain(p**2),
        scalable_probability=plain(k * p),
        classic_rate=plain(classic / p),
        scalable_rate=plain(scalable / p),
        ratio=plain(scalable / classic),
    )


@model(
    assumes="as `coupled_rates`",
    classic_round_trip=TIME,
    scalable_round_trip=TIME,
    increase=FACTOR,
    remainder=OPEN_FRACTION,
)
def coupling_for_equal_rates(
    classic_round_trip: ArrayLike,
    scalable_round_trip: ArrayLike,
    increase: ArrayLike = 1.0,
    remainder: ArrayLike = 0.5,
) -> FloatArray:
    """Compute the coupling factor with which both kinds of flows have the same rate [rfc9332, section 2.1], [pi2].

    Parameters
    ----------
    classic_round_trip, scalable_round_trip, increase, remainder : array_like
        As for `coupled_rates`.

    Returns
    -------
    array
        Coupling factor, k [1].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    With one round trip for both it is 1.63 for Reno and 1.19 for CUBIC in the Reno mode of [pi2]; RFC 9332 recommends
    2. The round trips for which 2 makes rates equal have R_C / R_L = 1.22 for Reno, 1.68 for that CUBIC.

    Examples
    --------
    >>> print(f"{coupling_for_equal_rates(0.04, 0.04):.2f} {coupling_for_equal_rates(0.04, 0.04, 1.0, 0.7):.2f}")
    1.63 1.19
    """
    r_c, r_l, add, beta = model_of(coupling_for_equal_rates).take(
        classic_round_trip=classic_round_trip,
        scalable_round_trip=scalable_round_trip,
        increase=increase,
        remainder=remainder,
    )
    return plain(MARKS_A_WINDOW * r_c / (_constant(add, beta) * r_l))


def _constant(increase: FloatArray, remainder: FloatArray) -> FloatArray:
    """Compute W sqrt(p) of a sawtooth with a loss at the end of each tooth."""
    return np.asarray(np.sqrt(increase * (1.0 + remainder) / (2.0 * (1.0 - remainder))))
