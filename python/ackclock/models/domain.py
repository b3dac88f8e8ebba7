"""Limits of a model's numbers, as data: where there is a result, and where it can be trusted.

A value outside the limits of an argument is an error: `checked` raises `ModelError`. A value outside the limits of a
domain is a warning: the model computes a result, and `Limits.warning` returns the sentence that questions it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from types import MappingProxyType
from typing import Any, Final, TypeVar

import numpy as np
from numpy import typing as npt
from typing_extensions import TypeAliasType

from ackclock.errors import Fault, ModelError, shown
from ackclock.models.citations import Citation, citations, references
from ackclock.models.signatures import guarded, refuse_endless

# Named aliases: a signature shows the name, where an ordinary alias would be expanded to hundreds of characters.
ArrayLike = TypeAliasType("ArrayLike", npt.ArrayLike)
FloatArray = TypeAliasType("FloatArray", npt.NDArray[np.float64])
IntArray = TypeAliasType("IntArray", npt.NDArray[np.int64])
BoolArray = TypeAliasType("BoolArray", npt.NDArray[np.bool_])

ROUNDING: Final = 1e-12
"""Relative difference that rounding makes, and more."""


@dataclass(frozen=True, slots=True)
class Limits:
    """An interval for a quantity, its unit and the reason for it.

    Parameters
    ----------
    low, high : float
        The ends [`unit`].
    low_included, high_included : bool
        Whether an end belongs to the interval. An infinite end that belongs to it means that infinity is a value.
    unit : str
        The unit; ``"1"`` for a pure number.
    reason : str
        The reason, for the reader of the warning or of the error.
    whole : bool
        Whether only whole numbers belong to the interval; infinity counts as whole.

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
    whole: bool = False

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
        """Return for each value whether it lies within the limits; nan never does."""
        array = np.asarray(values, dtype=np.float64)
        above = array >= self.low if self.low_included else array > self.low
        below = array <= self.high if self.high_included else array < self.high
        within = np.asarray(above & below)
        return within & (array == np.floor(array)) if self.whole else within

    def warning(self, name: str, values: ArrayLike) -> str | None:
        """Return the sentence that names a value outside the limits, or `None` if all lie within.

        A value that rounding alone takes beyond an end that belongs to the interval lies within.

        Examples
        --------
        >>> Limits(0.0, 0.25, unit="1", reason="the queue is assumed short").warning("beta", [0.1, 0.5])
        'beta: is outside the domain; given 0.5; allowed > 0 and < 0.25; the queue is assumed short'
        """
        array = np.asarray(values, dtype=np.float64)
        ends = [end for end, included in ((self.low, self.low_included), (self.high, self.high_included)) if included]
        outside = ~self.contain(array)
        for end in ends:
            outside &= ~np.isclose(array, end, rtol=ROUNDING, atol=0.0)
        if not np.any(outside):
            return None
        given = array[outside].flat[0]
        return str(Fault(name, "is outside the domain", f"{given:g}", str(self), self.reason or None))


def checked(**arguments: tuple[Any, Limits]) -> list[FloatArray]:
    """Return arguments as arrays; each must lie within its limits, and all must broadcast together.

    Parameters
    ----------
    **arguments : tuple of array_like and Limits
        Values and limits, by the argument's name.

    Returns
    -------
    list of array of float
        The arrays in the order given, not yet broadcast.

    Raises
    ------
    ModelError
        If an argument is outside its limits, or the shapes do not fit; the error is about the first such argument.

    Examples
    --------
    >>> checked(rate=(-1.0, Limits(0.0, unit="pkt/s")))
    Traceback (most recent call last):
    ackclock.errors.ModelError: rate: is out of range; given -1; allowed > 0 and finite [pkt/s]
    >>> checked(sources=(2.5, Limits(1.0, low_included=True, whole=True)))
    Traceback (most recent call last):
    ackclock.errors.ModelError: sources: is not a whole number; given 2.5; allowed whole, >= 1 and finite
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


@dataclass(frozen=True, slots=True)
class Model:
    """The record of a published model; `model` makes it, a package's `MODELS` holds it.

    Parameters
    ----------
    function : callable
        The function or class that computes the model. Its docstring says what it computes, and cites the source.
    arguments : mapping of str to Limits
        The limits of each numeric argument. A value outside them is an error: the function raises `ModelError`.
    domain : mapping of str to Limits
        The limits within which the result can be trusted, by quantity: an argument, or what `quantities` returns. A
        value outside them is a warning: the function computes the result, and `warnings` reports the value.
    quantities : callable, optional
        The function that computes those quantities of the domain that are not arguments.
    assumes : str
        Assumptions of the model that no argument expresses.
    """

    function: Callable[..., Any]
    arguments: Mapping[str, Limits]
    domain: Mapping[str, Limits]
    quantities: Callable[..., Mapping[str, Any]] | None
    assumes: str

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    @property
    def computes(self) -> str:
        """The first sentence of the function's docstring, without its citation."""
        paragraph = " ".join((self.function.__doc__ or "").split("\n\n")[0].split())
        return re.sub(r"(,? \[[^][]*\])+\.$", ".", paragraph)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The papers that the function's docstring cites, and the places in them."""
        return tuple(citations(self.function.__doc__ or ""))

    @property
    def source(self) -> str:
        """Authors, title and publication of the cited papers."""
        return "; ".join(dict.fromkeys(references()[one.key] for one in self.citations))

    @property
    def equations(self) -> str:
        """The equations, and other places, that are cited of the first paper."""
        first = self.citations[0].key
        return ", ".join(
            dict.fromkeys(str(place) for key, places in self.citations if key == first for place in places)
        )

    def take(self, **values: Any) -> list[FloatArray]:
        """Return arguments as arrays that broadcast together, checked against their limits, in the order given."""
        return checked(**{name: (value, self.arguments[name]) for name, value in values.items()})

    def warnings(self, **values: Any) -> tuple[str, ...]:
        """Return a sentence for each quantity of the domain that has a value outside its limits.

        Parameters
        ----------
        **values
            Arguments of the model, as far as the domain needs them; or the arguments of `quantities`, where the model
            has that function.

        Raises
        ------
        ModelError
            If the model has no such argument, or an argument is a list of too many numbers.

        Examples
        --------
        >>> from ackclock.models.classics import MODELS
        >>> MODELS["square_root_rate"].warnings(loss_probability=0.2)[0]
        'loss_probability: is outside the domain; given 0.2; allowed > 0 and <= 0.01; timeouts are left out'
        """
        for name, value in values.items():
            refuse_endless(name, value)
        known = {**values, **self.quantities(**values)} if self.quantities else values
        if not self.quantities and (unknown := values.keys() - self.arguments.keys()):
            allowed = ", ".join(self.arguments)
            raise ModelError(Fault(self.name, "has no such argument", ", ".join(sorted(unknown)), allowed))
        found = (limits.warning(name, known[name]) for name, limits in self.domain.items() if name in known)
        return tuple(warning for warning in found if warning is not None)


_Function = TypeVar("_Function", bound=Callable[..., Any])
_RECORDS: Final[dict[Callable[..., Any], Model]] = {}


def model(
    *,
    domain: Mapping[str, Limits] = MappingProxyType({}),
    quantities: Callable[..., Mapping[str, Any]] | None = None,
    assumes: str = "",
    **arguments: Limits,
) -> Callable[[_Function], _Function]:
    """Make a decorator that records a function, or a class, as a published model; `Model` describes the parameters.

    A function is also `guarded`: it refuses arguments of other types than its signature's.

    Examples
    --------
    >>> @model(window=Limits(0.0, unit="pkt"))
    ... def halved(window):
    ...     (w,) = model_of(halved).take(window=window)
    ...     return w / 2.0
    >>> halved(-4.0)
    Traceback (most recent call last):
    ackclock.errors.ModelError: window: is out of range; given -4; allowed > 0 and finite [pkt]
    """

    def record(function: _Function) -> _Function:
        kept = function if isinstance(function, type) else guarded(function)
        _RECORDS[kept] = Model(kept, MappingProxyType(arguments), domain, quantities, assumes)
        return kept

    return record


def model_of(function: Callable[..., Any]) -> Model:
    """Return the record of a function or class that `model` decorates."""
    return _RECORDS[function]


def models_of(package: str) -> Mapping[str, Model]:
    """Return the records of all models of a package, by name."""
    inside = (record for record in _RECORDS.values() if record.function.__module__.startswith(f"{package}."))
    return MappingProxyType({record.name: record for record in inside})


def plain(values: ArrayLike) -> FloatArray:
    """Return a zero-dimensional array as a NumPy scalar, others as they are."""
    result: FloatArray = np.asarray(values, dtype=np.float64)[()]
    return result


def floats(name: str, value: Any, limits: Limits) -> FloatArray:
    """Return an argument as an array; all that is not a real number is refused."""
    refuse_endless(name, value)
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and not any(one is None for one in array.flat):
            array = array.astype(np.float64)  # fractions, decimals, whole numbers beyond 64 bits
    except OverflowError:
        raise ModelError(Fault(name, "is out of range", "more than 1.8e308", str(limits))) from None
    except (TypeError, ValueError):
        raise ModelError(Fault(name, "is not a number", shown(value), str(limits))) from None
    if array.dtype.kind not in "biuf":
        raise ModelError(Fault(name, "is not a number", shown(value), str(limits)))
    return array.astype(np.float64, copy=False)


def _checked(name: str, value: Any, limits: Limits) -> FloatArray:
    array = floats(name, value, limits)
    interval = replace(limits, whole=False) if limits.whole else limits
    # The smallest and the largest value suffice, as nan spreads to both, and cost less than a look at each value.
    if array.size and not interval.contain([array.min(), array.max()]).all():
        given = array[~interval.contain(array)].flat[0]
        raise ModelError(Fault(name, "is out of range", f"{given:g}", str(limits), limits.reason or None))
    if limits.whole and not limits.contain(array).all():
        given = array[~limits.contain(array)].flat[0]
        raise ModelError(Fault(name, "is not a whole number", f"{given:g}", f"whole, {limits}"))
    return array
