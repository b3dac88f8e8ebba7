"""What a model's numbers must be, and what they should be for the model to be trusted: limits as data.

Outside the limits of an argument there is no value: `checked` raises. Outside the limits of a domain there is a value
that should not be trusted: `Limits.warning` returns the sentence that says so, and nobody prints it.
"""

from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ackclock.errors import Fault, ModelError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Limits:
    """An interval for a quantity, its unit and the reason.

    Parameters
    ----------
    low, high : float
        The ends [`unit`].
    low_included, high_included : bool
        Whether an end belongs to the interval. An infinite end that belongs to it means that infinity is a value.
    unit : str
        ``"1"`` for a pure number.
    reason : str
        Why, for the reader of the warning or of the error.

    Examples
    --------
    >>> print(Limits(0.0, 1.0, high_included=True, unit="1"))
    > 0 and <= 1
    """

    low: float = -inf
    high: float = inf
    low_included: bool = False
    high_included: bool = False
    unit: str = "1"
    reason: str = ""

    def __str__(self) -> str:
        parts = []
        if self.low > -inf:
            parts.append(f"{'>=' if self.low_included else '>'} {self.low:g}")
        if self.high < inf:
            parts.append(f"{'<=' if self.high_included else '<'} {self.high:g}")
        elif not self.high_included:
            parts.append("finite")
        unit = "" if self.unit == "1" else f" [{self.unit}]"
        return (" and ".join(parts) or "any number") + unit

    def contain(self, values: ArrayLike) -> BoolArray:
        """Tell for each value whether it lies within; nan never does."""
        array = np.asarray(values, dtype=np.float64)
        above = array >= self.low if self.low_included else array > self.low
        below = array <= self.high if self.high_included else array < self.high
        return np.asarray(above & below)

    def warning(self, name: str, values: ArrayLike) -> str | None:
        """Say that some values lie outside, or return None where all lie within.

        Examples
        --------
        >>> Limits(0.0, 0.25, unit="1", reason="the queue is assumed short").warning("beta", [0.1, 0.5])
        'beta: is outside the domain; given 0.5; allowed > 0 and < 0.25; the queue is assumed short'
        """
        outside = ~self.contain(values)
        if not np.any(outside):
            return None
        given = np.asarray(values, dtype=np.float64)[outside].flat[0]
        return str(Fault(name, "is outside the domain", f"{given:g}", str(self), self.reason or None))


def checked(**arguments: tuple[Any, Limits]) -> list[FloatArray]:
    """Turn arguments into arrays; each must lie within its limits, and all must broadcast together.

    Parameters
    ----------
    **arguments : tuple of array_like and Limits
        By the argument's name.

    Returns
    -------
    list of array of float
        In the order given, not yet broadcast.

    Raises
    ------
    ModelError
        For the first argument that is wrong.

    Examples
    --------
    >>> checked(rate=(-1.0, Limits(0.0, unit="pkt/s")))
    Traceback (most recent call last):
    ackclock.errors.ModelError: rate: is out of range; given -1; allowed > 0 and finite [pkt/s]
    """
    arrays = [_checked(name, value, limits) for name, (value, limits) in arguments.items()]
    try:
        np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        names = ", ".join(arguments)
        fault = Fault(
            names, "do not broadcast together", f"shapes {shapes}", "shapes that are equal, or 1, axis by axis"
        )
        raise ModelError(fault) from None
    return arrays


def _checked(name: str, value: Any, limits: Limits) -> FloatArray:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(Fault(name, "is no number", repr(value), str(limits))) from None
    # The extremes tell, nan among them, and cost less than a look at each value.
    if array.size and not limits.contain([array.min(), array.max()]).all():
        given = array[~limits.contain(array)].flat[0]
        raise ModelError(Fault(name, "is out of range", f"{given:g}", str(limits), limits.reason or None))
    return array
