"""Measured round trips: CSV and Parquet, and the conditions on a sequence of them [variable-delay, section 2.1].

The samples of the model tile the time axis: ``R_n = T_{n+1} - T_n``, one a round. A file with a sample for each ACK, or
only where the value changes, gives predictions that are 20 to 35% low: pass it through `one_sample_per_round`.
"""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, BoolArray, FloatArray, Limits, model, model_of
from ackclock.models.limits import INSTANT, TIME
from ackclock.models.variable_delay.arguments import measured

if TYPE_CHECKING:
    import pandas as pd

_TILING: Final[Mapping[str, Limits]] = {
    "sum of round trips / time": Limits(
        0.95,
        1.05,
        low_included=True,
        high_included=True,
        reason="the samples do not tile the time axis, one a round: see one_sample_per_round",
    )
}


def _quantities(tiling: float) -> dict[str, float]:
    return {"sum of round trips / time": tiling}


class RoundTripTrace(NamedTuple):
    """Measured round trips, in the order of time."""

    time: FloatArray
    """Instant at which each round trip begins, T_n [s]."""
    round_trip: FloatArray
    """Round trips, R_n [s]."""
    ambiguous: BoolArray
    """True for a round in which something was retransmitted: by Karn's rule such a round gives no sample."""

    @property
    def samples(self) -> FloatArray:
        """The round trips [s] without the ambiguous ones."""
        return self.round_trip[~self.ambiguous]

    @property
    def tiling(self) -> float:
        """The sum of all round trips by the time that they span: 1 where they tile the time axis."""
        return float(self.round_trip.sum() / (self.time[-1] + self.round_trip[-1] - self.time[0]))


@model(domain=_TILING, quantities=_quantities, time=INSTANT, round_trip=TIME)
def round_trip_trace(time: ArrayLike, round_trip: ArrayLike) -> RoundTripTrace:
    """Check times and round trips, and return them as a trace [variable-delay, section 2.1].

    Parameters
    ----------
    time : array_like
        The instant at which each round trip begins [s], not decreasing.
    round_trip : array_like
        [s], > 0, as many.

    Returns
    -------
    RoundTripTrace

    Examples
    --------
    >>> round_trip_trace([0.0, 0.1, 0.3], [0.1, 0.2, 0.1]).tiling.__round__(9)
    1.0
    """
    trips = measured("round_trip", round_trip)
    (times,) = model_of(round_trip_trace).take(time=time)
    if times.shape != trips.shape:
        given = f"{times.shape} for {trips.shape}"
        raise ModelError(Fault("time", "has another length than round_trip", given, "the same"))
    back = np.flatnonzero(np.diff(times) < 0.0)
    if back.size:
        raise ModelError(Fault("time", "goes back", f"{times[back[0] + 1]:g} at index {back[0] + 1}", "in order [s]"))
    return RoundTripTrace(times, trips, np.zeros(trips.shape, dtype=np.bool_))


@model()
def one_sample_per_round(trace: RoundTripTrace) -> RoundTripTrace:
    """Keep one sample a round: the first that begins when the last one has ended [variable-delay, section 2.1].

    Parameters
    ----------
    trace : RoundTripTrace
        With a sample for each packet, say, by the time of its sending.

    Returns
    -------
    RoundTripTrace

    Examples
    --------
    >>> each_packet = round_trip_trace([0.0, 0.1, 0.2, 0.3, 0.4], [0.2, 0.2, 0.2, 0.2, 0.2])
    >>> one_sample_per_round(each_packet).time.tolist()
    [0.0, 0.2, 0.4]
    """
    kept, free = [], -np.inf
    # A sample that begins a rounding error early is the next one.
    early = 1e-9
    for index, (time, trip) in enumerate(zip(trace.time.tolist(), trace.round_trip.tolist(), strict=True)):
        if time >= free - early * trip:
            kept.append(index)
            free = time + trip
    return RoundTripTrace(trace.time[kept], trace.round_trip[kept], trace.ambiguous[kept])


def read_csv(path: str | PathLike[str], *, time: str = "time", round_trip: str = "rtt") -> RoundTripTrace:
    r"""Read round trips from a CSV file with a line of names.

    Parameters
    ----------
    path : path
        The file.
    time, round_trip : str, optional
        The columns: beginning of each round trip, and the round trip itself [s].

    Returns
    -------
    RoundTripTrace

    Raises
    ------
    ModelError
        For a file without these columns or without samples, and for round trips that are not positive.

    Examples
    --------
    >>> from io import StringIO
    >>> read_csv(StringIO("time,rtt\n0.0,0.2\n0.2,0.3\n")).samples.tolist()
    [0.2, 0.3]
    """
    import pandas as pd  # noqa: PLC0415 (takes a third of a second)

    try:
        frame = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    return _of_columns(frame, time, round_trip)


def read_parquet(path: str | PathLike[str], *, time: str = "time", round_trip: str = "rtt") -> RoundTripTrace:
    """Read round trips from a Parquet file.

    Parameters
    ----------
    path : path
        The file.
    time, round_trip : str, optional
        The columns, as for `read_csv`.

    Returns
    -------
    RoundTripTrace
    """
    import pandas as pd  # noqa: PLC0415 (takes a third of a second)

    try:
        frame = pd.read_parquet(path)
    except (OSError, ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError) as error:
        raise _unreadable(path, error) from None
    return _of_columns(frame, time, round_trip)


def _unreadable(path: object, error: Exception) -> ModelError:
    name = Path(path).name if isinstance(path, str | PathLike) else "trace"
    return ModelError(Fault(name, "cannot be read", str(error)))


def _of_columns(frame: "pd.DataFrame", time: str, round_trip: str) -> RoundTripTrace:
    missing = [name for name in (time, round_trip) if name not in frame.columns]
    if missing:
        raise ModelError(
            Fault(missing[0], "is not a column", ", ".join(map(str, frame.columns)), f"{time}, {round_trip}")
        )
    return round_trip_trace(frame[time].to_numpy(), frame[round_trip].to_numpy())
