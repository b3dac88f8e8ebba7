"""Queues: buffers for many flows, processor sharing, Engset's loss system."""

from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, Limits, model, model_of, plain
from ackclock.models.limits import (
    COUNT,
    EVENT_RATE_OR_ZERO,
    FACTOR_OR_ZERO,
    LISTED_COUNT,
    PACKET_RATE,
    QUEUE,
    SIZE,
    TIME,
    WHOLE_COUNT,
)

_MANY: Final = Limits(500.0, low_included=True, reason="fewer flows may halve their windows in step")
_LONG_FLOWS: Final = "long flows that halve their windows independently, a link that is the bottleneck of all of them"
_LOSS_SYSTEM: Final = "a blocked call goes back to its idle source; times of any distribution"


@dataclass(frozen=True, slots=True, eq=False)
class ProcessorSharing:
    """The state of a processor-sharing server.

    Parameters
    ----------
    load : array
        Offered load, rho [1].
    slowdown : array
        Response time of any job by its time alone, 1 / (1 - rho) [1].
    response_time : array
        Mean response time of a job of the size asked for [s].
    jobs : array
        Mean number of jobs present, rho / (1 - rho) [1].
    """

    load: FloatArray
    slowdown: FloatArray
    response_time: FloatArray
    jobs: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Engset:
    """Congestion of a loss system with finitely many sources.

    Parameters
    ----------
    time_congestion : array
        Proportion of time in which all servers are busy [1].
    call_congestion : array
        Proportion of calls that are blocked [1].
    traffic_congestion : array
        Proportion of the offered traffic that is not carried [1].
    busy_servers : array
        Mean number of busy servers: the traffic carried [1].
    """

    time_congestion: FloatArray
    call_congestion: FloatArray
    traffic_congestion: FloatArray
    busy_servers: FloatArray


@model(domain={"flows": _MANY}, assumes=_LONG_FLOWS, capacity=PACKET_RATE, round_trip_time=TIME, flows=COUNT)
def many_flows_buffer(capacity: ArrayLike, round_trip_time: ArrayLike, flows: ArrayLike) -> FloatArray:
    """Compute the buffer that keeps a link with many long flows busy, ``2 T_p C / sqrt(n)`` [appenzeller, section 3].

    For one flow it is the bandwidth-delay product.

    Parameters
    ----------
    capacity : array_like
        The link's rate, C [pkt/s], > 0; in bit/s the buffer is in bit.
    round_trip_time : array_like
        Mean round-trip time with an empty queue, 2 T_p [s], > 0.
    flows : array_like
        Number of flows that share the link, n [1], >= 1.

    Returns
    -------
    array
        Buffer [pkt].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Examples
    --------
    The abstract's 10 Gbit/s link with 50,000 flows, at 250 ms, needs about 10 Mbit.

    >>> print(f"{many_flows_buffer(10e9, 0.25, 50_000) / 1e6:.1f}")
    11.2
    """
    c, rtt, n = model_of(many_flows_buffer).take(capacity=capacity, round_trip_time=round_trip_time, flows=flows)
    return plain(rtt * c / np.sqrt(n))


@model(
    domain={"flows": _MANY}, assumes=_LONG_FLOWS, buffer=QUEUE, capacity=PACKET_RATE, round_trip_time=TIME, flows=COUNT
)
def many_flows_utilisation(
    buffer: ArrayLike, capacity: ArrayLike, round_trip_time: ArrayLike, flows: ArrayLike
) -> FloatArray:
    """Compute a lower bound of the utilisation of a link with many long flows [appenzeller, section 3].

    Parameters
    ----------
    buffer : array_like
        The link's buffer, B [pkt], >= 0.
    capacity : array_like
        The link's rate, C [pkt/s], > 0.
    round_trip_time : array_like
        Mean round-trip time with an empty queue, 2 T_p [s], > 0.
    flows : array_like
        Number of flows that share the link, n [1], >= 1.

    Returns
    -------
    array
        Utilisation, at least [1].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    The sum of the windows is normal with the mean 2 T_p C + B and the deviation of n independent sawteeth.

    Examples
    --------
    The paper prints 98.99% for 10,000 flows and a buffer by the rule.

    >>> print(f"{100 * many_flows_utilisation(many_flows_buffer(1e6, 0.1, 1e4), 1e6, 0.1, 1e4):.2f}%")
    98.99%
    """
    from scipy.special import erf  # noqa: PLC0415  a third of a second that others need not pay

    b, c, rtt, n = model_of(many_flows_utilisation).take(
        buffer=buffer, capacity=capacity, round_trip_time=round_trip_time, flows=flows
    )
    return plain(erf(3 * sqrt(3) / (2 * sqrt(2)) * b * np.sqrt(n) / (rtt * c + b)))


@model(
    assumes="Poisson arrivals, sizes of any distribution, all present share the capacity equally at every instant",
    size=QUEUE,
    capacity=PACKET_RATE,
    arrival_rate=EVENT_RATE_OR_ZERO,
    mean_size=SIZE,
)
def processor_sharing(
    size: ArrayLike, capacity: ArrayLike, arrival_rate: ArrayLike, mean_size: ArrayLike
) -> ProcessorSharing:
    """Compute the mean response time of a job at an M/G/1 processor-sharing server [kleinrock, section 4.4].

    ``T(x) = x / (1 - rho)``, whatever the sizes' distribution.

    Parameters
    ----------
    size : array_like
        The job's size, x [pkt], >= 0; any unit, if the capacity and the mean size have the same.
    capacity : array_like
        The server's rate [pkt/s], > 0.
    arrival_rate : array_like
        Jobs that arrive a second [1/s], >= 0.
    mean_size : array_like
        Their mean size [pkt], > 0.

    Returns
    -------
    ProcessorSharing
        Load, slowdown, response time and jobs present.

    Raises
    ------
    ModelError
        If an argument is outside its range, or the load is 1 or more.

    Examples
    --------
    >>> found = processor_sharing(size=20.0, capacity=100.0, arrival_rate=6.0, mean_size=10.0)
    >>> print(f"load {found.load:.2f}, response {found.response_time:.2f} s, jobs {found.jobs:.2f}")
    load 0.60, response 0.50 s, jobs 1.50
    """
    x, c, rate, mean = model_of(processor_sharing).take(
        size=size, capacity=capacity, arrival_rate=arrival_rate, mean_size=mean_size
    )
    load = np.asarray(rate * mean / c)
    if np.any(load >= 1):
        given = f"a load arrival_rate mean_size / capacity of {load[load >= 1].flat[0]:g}"
        raise ModelError(Fault("arrival_rate", "is too high", given, "a load < 1", "no queue of it is stationary"))
    return ProcessorSharing(plain(load), plain(1 / (1 - load)), plain(x / (c * (1 - load))), plain(load / (1 - load)))


@model(assumes=_LOSS_SYSTEM, sources=WHOLE_COUNT, servers=LISTED_COUNT, idle_source_load=FACTOR_OR_ZERO)
def engset_states(sources: int, servers: int, idle_source_load: float) -> FloatArray:
    """Compute the probability of each number of busy servers in a loss system [engset-1918], [iversen, chapter 5].

    Parameters
    ----------
    sources : int
        Number of sources, N [1], >= 1.
    servers : int
        Number of servers, n [1], from 1 to a million.
    idle_source_load : float
        Rate of calls of an idle source times the mean holding time, beta [1], >= 0.

    Returns
    -------
    array
        P_0 to P_n; 0 above N.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    From the most probable state outward, each state from its neighbour by P_j+1 / P_j = (N - j) beta / (j + 1): no
    number exceeds 1, so nothing overflows, and a number that underflows is 0 to all digits.

    Examples
    --------
    >>> print(engset_states(sources=4, servers=3, idle_source_load=1 / 3) * 85)
    [27. 36. 18.  4.]
    """
    n, s, beta = model_of(engset_states).take(sources=sources, servers=servers, idle_source_load=idle_source_load)
    steps = np.arange(int(s))
    ratios = np.maximum(n - steps, 0.0) * beta / (steps + 1)
    mode = int(np.count_nonzero(ratios > 1))
    below = np.cumprod(1 / ratios[:mode][::-1])[::-1]
    weights = np.concatenate([below, [1.0], np.cumprod(ratios[mode:])])
    return plain(weights / np.sum(weights))


@model(assumes=_LOSS_SYSTEM, sources=WHOLE_COUNT, servers=WHOLE_COUNT, idle_source_load=FACTOR_OR_ZERO)
def engset_congestion(sources: ArrayLike, servers: ArrayLike, idle_source_load: ArrayLike) -> Engset:
    """Compute time, call and traffic congestion of Engset's loss system [engset-1918], [iversen, chapter 5].

    Parameters
    ----------
    sources : array_like
        Number of sources, N [1], >= 1, whole.
    servers : array_like
        Number of servers, n [1], >= 1, whole.
    idle_source_load : array_like
        Rate of calls of an idle source times the mean holding time, beta [1], >= 0.

    Returns
    -------
    Engset
        Time, call and traffic congestion, busy servers.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    ``E_k = x E_k-1 / (k + x E_k-1)`` with ``x = (N - k + 1) beta``, ``E_0 = 1``: all terms are positive, nothing
    cancels. A call sees the system without its own source. One NumPy step a server.

    Examples
    --------
    >>> found = engset_congestion(sources=4, servers=3, idle_source_load=1 / 3)
    >>> print(f"{found.time_congestion * 85:.3f}/85, {found.call_congestion * 64:.3f}/64")
    4.000/85, 1.000/64
    >>> print(f"{found.traffic_congestion * 85:.3f}/85")
    1.000/85
    """
    arguments = model_of(engset_congestion).take(sources=sources, servers=servers, idle_source_load=idle_source_load)
    n, s, beta = np.broadcast_arrays(*arguments)
    steps = float(np.max(np.minimum(n, s), initial=0.0))
    if steps > LISTED_COUNT.high:
        allowed = f"at most {LISTED_COUNT.high:g} of the one or the other"
        raise ModelError(Fault("sources, servers", "are too many for the recursion", f"{steps:g} of both", allowed))
    time, call = _blocking(np.stack([n, n - 1]), np.stack([s, s]), beta)
    accepted = beta * (1 - call)
    return Engset(plain(time), plain(call), plain(call / (1 + accepted)), plain(n * accepted / (1 + accepted)))


def _blocking(sources: FloatArray, servers: FloatArray, beta: FloatArray) -> FloatArray:
    """Compute the time congestion by the recursion in the number of servers."""
    blocking = np.ones(sources.shape)
    # With more servers than sources nobody is blocked, from step sources + 1 on.
    for k in range(1, int(np.max(np.minimum(servers, sources + 1), initial=0.0)) + 1):
        offered = np.maximum(sources - (k - 1), 0.0) * beta * blocking
        np.divide(offered, k + offered, out=blocking, where=k <= servers)
    return blocking
