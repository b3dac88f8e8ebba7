"""The entry of a model function: the types that its signature names, and errors in terms of its arguments."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from math import inf
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args

import numpy as np
from typing_extensions import TypeAliasType

from ackclock.errors import Fault, ModelError, shown
from ackclock.nested import written_out

MOST_NUMBERS = 10_000_000
"""Most numbers of an argument that is a list; NumPy's arrays may have more."""

_BEYOND = "lead to a result that is out of the range of floating-point numbers"

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Check = Callable[[str, Any], None]


def guarded(function: _Function) -> _Function:
    """Wrap a model function, or a method, so that each of its errors is about arguments that its caller wrote.

    An argument of another type than the signature's is refused: an array for a ``float`` or an ``int``, another word
    than those of a ``Literal``, an object of another class. An error that names a quantity in between, where the
    arguments are so extreme that a formula overflows, becomes one that names the arguments; so does a result that an
    overflow, or a division by what has become zero, leaves without a number.

    Examples
    --------
    >>> @guarded
    ... def halved(window: float) -> float:
    ...     return window / 2.0
    >>> halved([4.0, 8.0])
    Traceback (most recent call last):
    ackclock.errors.ModelError: window: is not a single number; given [4.0, 8.0]; allowed a number
    """
    parameters = signature(function).parameters
    checks = {name: check for name, one in parameters.items() if (check := _check_of(one.annotation)) is not None}

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        # Too many arguments, or one given twice, are for the function itself to refuse.
        given = dict(zip(parameters, args, strict=False)) | kwargs
        written = [name for name in given if name not in {"self", "cls"}]
        for name, check in checks.items():
            if name in given:
                check(name, given[name])
        lost: set[str] = set()
        try:
            with np.errstate(over="call", invalid="call", divide="call", call=lambda kind, _: lost.add(kind)):
                result = function(*args, **kwargs)
        except ModelError as error:
            if error.fault.problem == _BEYOND:
                raise ModelError(_beyond({name: given[name] for name in written})) from error
            if parameters.keys() >= set(error.fault.place.split(", ")):
                raise
            raise ModelError(_about(written, error.fault)) from error
        if lost and not _is_finite(result):
            raise ModelError(_beyond({name: given[name] for name in written}))
        return result

    return cast("_Function", call)


def _about(written: Iterable[str], fault: Fault) -> Fault:
    problem = f"lead to {fault.place}, which {fault.problem}"
    return Fault(", ".join(written), problem, fault.given, fault.allowed, fault.hint)


def _beyond(arguments: Mapping[str, Any]) -> Fault:
    given = ", ".join(map(shown, arguments.values()))
    return Fault(", ".join(arguments), _BEYOND, given, "arguments whose products and quotients are 1e-300 to 1e300")


def _is_finite(result: object) -> bool:
    """Return whether all numbers of a result are finite: of an array, or of the parts of a record or a tuple."""
    if is_dataclass(result):
        return all(_is_finite(getattr(result, field.name)) for field in fields(result))
    if isinstance(result, tuple | list):
        return all(map(_is_finite, result))
    numbers = np.asarray(result)
    return numbers.dtype.kind != "f" or bool(np.isfinite(numbers).all())


def _check_of(annotation: Any) -> _Check | None:
    """Choose the check of an argument by its annotation; `None` if the function itself checks it."""
    members = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    kinds = [kind for kind in members if kind is not NoneType]
    check = _check_of_kind(kinds[0]) if len(kinds) == 1 else None
    if check is None or len(members) == len(kinds):
        return check
    required = check
    return lambda name, value: None if value is None else required(name, value)


def _check_of_kind(kind: Any) -> _Check | None:
    if isinstance(kind, TypeAliasType):
        words = [word for word in get_args(kind.__value__) if isinstance(word, str)]  # of a Literal
        return _word_of(words) if words else None
    if kind is Parameter.empty:
        return None
    if kind in (int, float):
        return _single
    # Of a Sequence[...] or of a protocol the function itself looks at what it has.
    is_class = isinstance(kind, type) and not get_args(kind) and not getattr(kind, "_is_protocol", False)
    return object_of(kind) if is_class else None


def _single(name: str, value: Any) -> None:
    if isinstance(value, int | float | np.generic):
        return
    refuse_endless(name, value)
    try:
        single = np.ndim(value) == 0
    except ValueError:  # rows of different lengths
        single = False
    if not single:
        raise ModelError(Fault(name, "is not a single number", shown(value), "a number"))


def refuse_endless(name: str, value: Any) -> None:
    """Refuse a list that holds itself, or too many numbers: NumPy would read it for hours, or until memory ends."""
    if isinstance(value, list | tuple) and (size := written_out(value)) > MOST_NUMBERS:
        problem = (
            "holds itself, or lists too deep within one another" if size == inf else "is a list of too many numbers"
        )
        given = shown(value) if size == inf else f"{size:,.0f}"
        raise ModelError(Fault(name, problem, given, f"{MOST_NUMBERS:,} numbers at most"))


def _word_of(allowed: Sequence[str]) -> _Check:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, str) or value not in allowed:
            raise ModelError(Fault(name, "is unknown", shown(value), ", ".join(map(repr, allowed))))

    return check


def object_of(kind: type) -> _Check:
    """Make the check of an argument that is an object of a class."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, kind):
            raise ModelError(Fault(name, f"is not of type {kind.__name__}", type(value).__name__, kind.__name__))

    return check
