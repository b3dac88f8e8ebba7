"""The duration of a transfer by a connection that is alone on the path [engset, section 4.2]."""

from typing import Final, NamedTuple

import numpy as np

from ackclock.models.domain import ArrayLike, FloatArray, model, model_of
from ackclock.models.engset.path import Path, floor
from ackclock.models.limits import BIT_RATE, COUNT, FOLLOWED_PACKETS, PACKETS, SIZE, TIME, WHOLE_WINDOW

INITIAL_WINDOW: Final = 2.0
"""Initial window [pkt]."""


class Rounds(NamedTuple):
    """The two numbers of ``ON_0 = m RTT_0 + n Delta*``."""

    flights: FloatArray
    """Number of flights, m [1]."""
    following: FloatArray
    """Number of packets that follow the first one of the last flight, n [pkt]."""


class Transfer(NamedTuple):
    """A transfer of fixed size by one connection that is alone on the path."""

    rounds: Rounds
    """Numbers (m, n), by flights."""
    on_time: FloatArray
    """Time from sending the first packet to the ACK of the last, ON_0 [s]."""
    peak_rate: FloatArray
    """Peak rate, h_0 = F P / ON_0 [bit/s]."""


@model(packets=FOLLOWED_PACKETS, window=WHOLE_WINDOW, pipe_size=SIZE)
def flight_sizes(packets: int, window: int, pipe_size: float) -> list[int]:
    """List the flights of a transfer [engset, section 4.2, table 3].

    A flight holds the window, 2 packets at first, which doubles each round up to W_R. Where it exceeds floor(beta*) the
    link is saturated, and the flight lasts to the end of the transfer.

    Parameters
    ----------
    packets : int
        Size F of the file [pkt], from 1 to a million.
    window : int
        Receiver window W_R [pkt], >= 1.
    pipe_size : float
        beta* [pkt], > 0.

    Returns
    -------
    list of int
        The flights' sizes [pkt]; their sum is F.

    Notes
    -----
    Table 3 prints four conditions that are too wide: F = 12 needs W_R >= 6 for (2, 4, 6) (with W_R = 4 it is
    (2, 4, 4, 2)); F = 36 with W_R = 12 needs beta* >= 12, not 8, for (2, 4, 8, 12, 10); F = 80 needs W_R > floor(beta*)
    both with 16 < beta* < 32, not 16, and with 8 < beta* < 16, not 9. Its (2, 4, 8, 38) is (2, 4, 8, 66).

    Examples
    --------
    >>> flight_sizes(120, 44, pipe_size=50)
    [2, 4, 8, 16, 32, 44, 14]
    >>> flight_sizes(80, 44, pipe_size=20)
    [2, 4, 8, 16, 50]
    """
    f, w, beta = model_of(flight_sizes).take(packets=packets, window=window, pipe_size=pipe_size)
    sizes: list[int] = []
    left, limit = int(f), int(w)
    current = min(int(INITIAL_WINDOW), limit)
    while left:
        size = left if current > floor(beta) else min(current, left)
        sizes.append(size)
        left -= size
        current = min(2 * current, limit)
    return sizes


# A mean F that is not whole has no flights of its own. Read: files of floor(F) and of ceil(F) packets in the share that
# has the mean F. ON_0 is linear in (m, n), so the mean of their (m, n) gives the mean of their ON_0.
@model(packets=PACKETS, window=WHOLE_WINDOW, pipe_size=SIZE)
def rounds(packets: ArrayLike, window: ArrayLike, pipe_size: ArrayLike) -> Rounds:
    """Compute (m, n) of ``ON_0 = m RTT_0 + n Delta*`` by flights [engset, section 4.2, table 3].

    Parameters
    ----------
    packets : array_like
        Size F of the file [pkt], >= 1, or a mean size, which need not be whole.
    window : array_like
        Receiver window W_R [pkt], whole, >= 1.
    pipe_size : array_like
        beta* [pkt], > 0.

    Returns
    -------
    Rounds
        m, the number of flights, and n, the size of the last one less one; for a mean size between two whole ones the
        mean of theirs.

    Examples
    --------
    >>> found = rounds(80, 44, [40, 20, 10])
    >>> found.flights.tolist(), found.following.tolist()
    ([6.0, 5.0, 4.0], [17.0, 49.0, 65.0])

    Of 6 packets (2, 4) and of 7 (2, 4, 1), half of the files each:

    >>> rounds(6.5, 44, 40)
    Rounds(flights=np.float64(2.5), following=np.float64(1.5))
    """
    arguments = model_of(rounds).take(packets=packets, window=window, pipe_size=pipe_size)
    f, limit, beta = np.broadcast_arrays(*arguments)
    (m, n), (m_next, n_next) = (_rounds_of_file(size, limit, beta) for size in (np.floor(f), np.ceil(f)))
    larger = f - np.floor(f)
    return Rounds((m + larger * (m_next - m))[()], (n + larger * (n_next - n))[()])


def _rounds_of_file(f: FloatArray, limit: FloatArray, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
    pipe = np.asarray(floor(beta))
    left, current, m = f.copy(), np.minimum(INITIAL_WINDOW, limit), np.ones(f.shape)
    slow_start = np.ones(f.shape, dtype=np.bool_)
    while slow_start.any():
        slow_start &= (current <= pipe) & (left > current) & (current < limit)
        left -= np.where(slow_start, current, 0.0)
        m += slow_start
        current = np.where(slow_start, np.minimum(2.0 * current, limit), current)
    # The rest is sent in one lasting flight, or in flights of one size, the receiver's window.
    more = np.where(current <= pipe, np.ceil(left / current) - 1.0, 0.0)
    return m + more, np.asarray(left - more * current - 1.0)


# The text asks for n < floor(beta) in 4.1 and n <= floor(beta) in 4.2; its example has n = 9 = floor(beta). Read: as
# many whole RTT_0 as there are, then whole Delta*; that gives n <= floor(beta), and leaves n < floor(beta) as it is.
@model()
def renormalised(found: Rounds, path: Path) -> Rounds:
    """Rewrite ON_0 with as many RTT_0 as it holds, so that n <= floor(beta*) [engset, sections 4.1 and 4.2].

    Parameters
    ----------
    found : Rounds
        (m, n) by flights.
    path : Path
        The path.

    Returns
    -------
    Rounds
        (m, n) for the queue; less than one Delta* of ON_0 is left out. Unchanged where no link is saturated.

    Examples
    --------
    >>> path = Path.from_propagation(0.3, [100e6, 1.5e6, 128e3], packet_size=576)
    >>> again = renormalised(rounds(347, 44, path.pipe_size), path)
    >>> int(again.flights), int(again.following)
    (38, 9)
    """
    m, n = found
    more = floor(n / path.pipe_size)
    # The subtraction loses digits of n, which floor's relative tolerance does not make good for a small rest.
    rest = np.where(more > 0.0, np.floor(n - more * path.pipe_size + 1e-9), n)
    return Rounds(np.asarray(m + more)[()], rest[()])


@model(packets=PACKETS, window=WHOLE_WINDOW)
def transfer(path: Path, packets: ArrayLike, window: ArrayLike) -> Transfer:
    """Compute ON_0 and the peak rate h_0 of a connection alone on a path [engset, eqs. 2 and 3].

    Parameters
    ----------
    path : Path
        The path.
    packets : array_like
        Size F of the file [pkt], >= 1, or a mean size, see `rounds`.
    window : array_like
        Receiver window W_R [pkt], whole, >= 1.

    Returns
    -------
    Transfer
        rounds, on_time, peak_rate.

    Examples
    --------
    The setting (100M, 10M, 2M, R50): 112, 180 and 242 ms; and the special setting.

    >>> transfer(Path(0.05, [100e6, 10e6, 2e6]), [5, 12, 22], window=44).on_time.round(6).tolist()
    [0.112, 0.18, 0.242]
    >>> special = Path.from_propagation(0.3, [100e6, 1.5e6, 128e3], packet_size=576)
    >>> round(float(transfer(special, 347, window=44).peak_rate) / 1e3, 2)
    120.05
    """
    found = rounds(packets, window, path.pipe_size)
    on_time = on_time_of(found, path)
    rate = np.asarray(packets, dtype=np.float64) * path.packet_bits / on_time
    return Transfer(found, on_time, np.asarray(rate)[()])


def on_time_of(found: Rounds, path: Path) -> FloatArray:
    """Compute ``m RTT_0 + n Delta*`` [s] [engset, eq. 2]."""
    return np.asarray(found.flights * path.rtt + found.following * path.slowest_service_time)[()]


@model(sources=COUNT, on_time=TIME, off_time=TIME, peak_rate=BIT_RATE, capacity=BIT_RATE)
def offered_load(
    sources: ArrayLike, on_time: ArrayLike, off_time: ArrayLike, peak_rate: ArrayLike, capacity: ArrayLike
) -> FloatArray:
    """Compute the open-loop load, ``rho_0 = ON_0 / (ON_0 + OFF) N h_0 / C`` [engset, eq. 5].

    Parameters
    ----------
    sources : array_like
        N [1], >= 1.
    on_time, off_time : array_like
        ON_0 and OFF [s], > 0.
    peak_rate : array_like
        h_0 [bit/s], > 0.
    capacity : array_like
        C of the multiplexing link [bit/s], > 0.

    Returns
    -------
    array of float
        rho_0 [1]; may exceed 1.

    Examples
    --------
    Table 6.

    >>> (100 * offered_load([82, 98, 115, 134], 0.18, 1.0, 800e3, 10e6)).round(1).tolist()
    [100.1, 119.6, 140.3, 163.5]
    """
    n, on, off, h, c = model_of(offered_load).take(
        sources=sources, on_time=on_time, off_time=off_time, peak_rate=peak_rate, capacity=capacity
    )
    return np.asarray(on / (on + off) * n * h / c)[()]
