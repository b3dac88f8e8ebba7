"""Units in which the numbers of a sweep are drawn, and those numbers in words, without exponents."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Array
from ackclock.wording import significant

DIGITS: Final = 6
_PREFIXES: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_LEAST_MEGABITS, _MOST_MILLISECONDS, _LEAST_MILLISECONDS = 1e5, 10.0, 1e-3
"""Largest values below and above which rates [bit/s] and times [s] have another prefix than mega and milli."""


def scale_of(values: Iterable[Any], unit: str) -> tuple[float, str]:
    """Choose the unit in which values are drawn together, by the largest of them.

    Parameters
    ----------
    values : iterable of float or array
        The values in SI units; what is not finite does not count.
    unit : str
        Their unit.

    Returns
    -------
    tuple of float and str
        What to divide by, and the unit with its prefix: of rates Mbit/s and of times ms, unless these would be many
        digits; of bytes the largest prefix. Other units stay.

    Examples
    --------
    >>> scale_of([1e9, 1e10], "bit/s"), scale_of([1.5e6], "bit/s"), scale_of([1e6], "B"), scale_of([0.06], "s")
    ((1000000000.0, 'Gbit/s'), (1000000.0, 'Mbit/s'), (1000000.0, 'MB'), (0.001, 'ms'))
    """
    numbers = np.concatenate([np.ravel(np.asarray(one, dtype=float)) for one in values] or [np.empty(0)])
    most = float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0))
    if unit == "s":
        if most >= _MOST_MILLISECONDS:
            return 1.0, "s"
        return (1e-6, "us") if 0.0 < most < _LEAST_MILLISECONDS else (1e-3, "ms")
    if unit == "bit/s" and (most == 0.0 or _LEAST_MEGABITS <= most < 1e9):
        return 1e6, "Mbit/s"
    if unit in {"bit/s", "B"}:
        factor, prefix = next((one for one in _PREFIXES if most >= one[0]), _PREFIXES[-1])
        return factor, prefix + unit
    return 1.0, unit


def has_doubles(values: NDArray[Any]) -> bool:
    """Return whether two places of an axis have one value, which other fields that change in step tell apart."""
    return len(set(values.tolist())) < len(values)


def number_label(fields: Sequence[str], unit: str) -> str:
    """Label an axis of numbers, those of the first of some fields that change in step.

    Examples
    --------
    >>> number_label(["link.feeder.rate", "link.feeder.buffer"], "Mbit/s")
    'link.feeder.rate [Mbit/s], in step with link.feeder.buffer'
    """
    others = f", in step with {', '.join(fields[1:])}" if len(fields) > 1 else ""
    return f"{fields[0]} [{unit}]{others}" if unit else f"{fields[0]}{others}"


def coordinate_words(values: NDArray[Any], unit: str) -> list[str]:
    """Write the values of an axis of a sweep, each with its unit.

    Examples
    --------
    >>> coordinate_words(np.array([1.6e6, 25e6]), "bit/s"), coordinate_words(np.array(["codel"]), "")
    (['1.6 Mbit/s', '25 Mbit/s'], ['codel'])
    """
    if values.dtype.kind != "f":
        return [str(value) for value in values]
    scaled = [(value, *scale_of([value], unit)) for value in values.tolist()]
    return [f"{significant(value / divisor, DIGITS)} {shown}".strip() for value, divisor, shown in scaled]


def words_of(places: Array) -> list[str]:
    """Write numbers for people.

    Examples
    --------
    >>> words_of(np.array([0.5, 12500.0, 1e6]))
    ['0.5', '12,500', '1,000,000']
    """
    return [significant(place, DIGITS) for place in places.tolist()]
