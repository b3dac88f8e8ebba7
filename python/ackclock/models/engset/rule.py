"""The buffer rule of the model [engset, section 5.4.1]."""

from typing import Final, NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, model, model_of
from ackclock.models.engset.buffers import TARGET_LOSS, buffer_for_loss
from ackclock.models.engset.flights import transfer
from ackclock.models.engset.path import Path
from ackclock.models.engset.prediction import FILE, OFF_TIME, RECEIVER_WINDOW, predict
from ackclock.models.limits import (
    BIT_RATE,
    FACTOR,
    LISTED_COUNT,
    PACKETS,
    POSITIVE_PROBABILITY,
    TIME,
    WHOLE_WINDOW,
)

FILES: Final = (5, 12, 22, 36, 80, 120, 500, 1000)
"""Mean file sizes of the rule, F [pkt]."""
ROUND_TRIP_TIMES: Final = (0.05, 0.3)
"""Round trips of the rule, RTT_0 [s]."""
ACCESS_CAPACITY: Final = 100e6
"""Capacity of the access links, C_1 [bit/s]."""
RECEIVER_CAPACITY: Final = 1e9
"""Capacity of the receivers' links, which does not limit, C_3 [bit/s]."""


class BufferRule(NamedTuple):
    """The buffers for a wanted loss; axes: choices of N, F, RTT_0."""

    sources: FloatArray
    """Number of sources, N [1]."""
    offered_load: FloatArray
    """Open-loop load, rho_0 [1]."""
    buffer: FloatArray
    """Buffer, B [pkt]; nan where N <= s."""
    largest: float
    """Largest of all buffers [pkt], rounded up; nan if no point has one."""
    largest_by_choice: FloatArray
    """Largest buffer over F and RTT_0 [pkt], rounded up, for each choice of N."""


@model(packets=PACKETS, load=FACTOR, off_time=TIME, window=WHOLE_WINDOW)
def sources_for_load(
    path: Path,
    packets: ArrayLike,
    load: ArrayLike = 1.0,
    off_time: ArrayLike = OFF_TIME,
    window: ArrayLike = RECEIVER_WINDOW,
) -> FloatArray:
    """Compute the number of sources for an open-loop load, the inverse of `offered_load` [engset, eq. 5].

    Parameters
    ----------
    path : Path
        The path.
    packets : array_like
        Mean file size F [pkt], >= 1.
    load : array_like, optional
        rho_0 [1], > 0.
    off_time : array_like, optional
        Mean OFF [s], > 0.
    window : array_like, optional
        Receiver window W_R [pkt], whole, >= 1.

    Returns
    -------
    array of float
        N [1], not rounded.

    Examples
    --------
    Table 4 takes 80 sources for F = 12 on (10M, 1G, R50), with 99.7% load.

    >>> round(float(sources_for_load(Path(0.05, [100e6, 10e6, 1e9]), 12, 0.997)), 1)
    80.0
    """
    rho, off = model_of(sources_for_load).take(load=load, off_time=off_time)
    found = transfer(path, packets, window)
    return np.asarray(rho * path.capacity / found.peak_rate * (found.on_time + off) / found.on_time)[()]


@model(capacity=BIT_RATE)
def rule_path(capacity: float) -> Path:
    """Build the paths for which the rule is made, one for each of `ROUND_TRIP_TIMES` [engset, section 5.4.1].

    Parameters
    ----------
    capacity : float
        C of the multiplexing link [bit/s], > 0, between `ACCESS_CAPACITY` and `RECEIVER_CAPACITY`.

    Returns
    -------
    Path
        With one axis, of RTT_0.

    Examples
    --------
    >>> path = rule_path(10e6)
    >>> path.round_trip_time.tolist(), path.capacities.tolist()
    ([0.05, 0.3], [100000000.0, 10000000.0, 1000000000.0])
    """
    (rate,) = model_of(rule_path).take(capacity=capacity)
    return Path(ROUND_TRIP_TIMES, [ACCESS_CAPACITY, float(rate), RECEIVER_CAPACITY])


# The rule says "N such that rho_0 is about 100%". The whole numbers just below and just above 100% are tried unless N
# is given: B jumps from one N to the next, the more the fewer sources there are.
@model(sources=LISTED_COUNT, files=FILE, window=WHOLE_WINDOW, off_time=TIME, loss=POSITIVE_PROBABILITY)
def buffer_rule(  # noqa: PLR0913  the parameters that the rule leaves open
    path: Path,
    sources: ArrayLike | None = None,
    *,
    files: ArrayLike = FILES,
    window: float = RECEIVER_WINDOW,
    off_time: float = OFF_TIME,
    loss: float = TARGET_LOSS,
) -> BufferRule:
    """Compute ``B = eta ln(rho / L)`` over file sizes and round trips, and the largest [engset, section 5.4.1].

    Parameters
    ----------
    path : Path
        The path, such as `rule_path` makes; its numbers are single or have one axis, of RTT_0.
    sources : array_like, optional
        N [1], whole, >= 1, that broadcasts with axes (choices, F, RTT_0); without, the whole numbers just below and
        just above 100% of open-loop load, for each F and RTT_0.
    files : array_like, optional
        F [pkt], >= 3.
    window : float, optional
        Receiver window W_R [pkt].
    off_time : float, optional
        Mean OFF [s].
    loss : float, optional
        L [1].

    Returns
    -------
    BufferRule
        sources, offered_load, buffer, largest, largest_by_choice.

    Notes
    -----
    The paper prints 202 packets for 10 Mbit/s and 417 for 50 Mbit/s, both "for F = 500", and no N. None of the
    numbers here is 202 or 417; B depends on N.

    Examples
    --------
    >>> found = buffer_rule(Path(0.05, [100e6, 10e6, 1e9]), [[[3]], [[4]]], files=[500])
    >>> found.offered_load.round(2).ravel().tolist(), found.buffer.round().ravel().tolist(), found.largest
    ([0.99, 1.32], [155.0, 229.0], 230.0)
    """
    record = model_of(buffer_rule)
    record.take(loss=loss, off_time=off_time, window=window)
    (packets,) = record.take(files=files)
    packets = packets.reshape(-1, 1)
    if sources is not None:
        (sources,) = record.take(sources=sources)
    else:
        below = np.floor(sources_for_load(path, packets, 1.0, off_time, window))
        sources = np.stack([np.maximum(below, 1.0), below + 1.0])
    if not packets.size or not np.size(sources):
        raise ModelError(Fault("files, sources", "are empty", None, "at least one of each"))
    found = predict(path, packets, sources, off_time=off_time, window=window)
    ratio = np.where(found.shared, found.utilisation_2, 1.0)
    buffer = np.where(found.shared, buffer_for_loss(loss, ratio, found.mean_queue), np.nan)
    chosen, load, buffer = np.broadcast_arrays(found.sources, found.offered_load, buffer)
    kept = np.where(np.isnan(buffer), -np.inf, np.ceil(buffer))
    by_choice = kept.max(axis=(-2, -1))
    by_choice = np.where(np.isneginf(by_choice), np.nan, by_choice)
    largest = float(kept.max()) if np.isfinite(kept).any() else float("nan")
    return BufferRule(chosen, load, buffer, largest, by_choice)
