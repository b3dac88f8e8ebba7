"""Arguments of the library's functions: an error names the argument, what was given, and what is allowed."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from os import PathLike
from typing import Any

from ackclock.errors import ArgumentError, Fault, shown
from ackclock.scenario.places import as_toml


@dataclass(frozen=True)
class Allowed:
    """A kind of arguments.

    Parameters
    ----------
    text : str
        The kind in words.
    holds : callable
        Whether a value is of the kind.
    has_text_keys : bool
        Whether it is a mapping whose keys are texts; an error then names a key that is not.
    """

    text: str
    holds: Callable[[Any], bool]
    has_text_keys: bool = False

    def or_none(self) -> "Allowed":
        """Allow `None` too."""
        either = f"{self.text}, or None"
        return replace(self, text=either, holds=lambda value: value is None or self.holds(value))


def instance_of(text: str, *kinds: type) -> Allowed:
    """Allow objects of some classes."""
    return Allowed(text, lambda value: isinstance(value, kinds))


def _is_path(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, PathLike) and isinstance(value.__fspath__(), str))


def _is_count(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= 1


def _holds_texts(value: object) -> bool:
    if isinstance(value, str) or not isinstance(value, Collection):
        return False
    try:
        return all(isinstance(one, str) for one in value)
    except TypeError:  # an array without axes
        return False


def _has_text_keys(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


INDENT = Allowed("a whole number from 1 to 100", lambda value: _is_count(value) and value <= 100)
COUNT = Allowed("a whole number from 1 on", _is_count)
NUMBER = Allowed("a number", lambda value: isinstance(value, Real) and not isinstance(value, bool))
FLAG = instance_of("True or False", bool)
TEXT = instance_of("a text", str)
PATH = Allowed("a path", _is_path)
FUNCTION = Allowed("a function", callable)
OVERRIDES = Allowed(
    'a mapping of dotted paths to values, such as {"link.satellite.buffer": "20 pkt"}',
    _has_text_keys,
    has_text_keys=True,
)
NAMES = Allowed("a list of texts", _holds_texts)


def check_arguments(function: str, **given: tuple[Any, Allowed]) -> None:
    """Check the arguments of a function.

    Parameters
    ----------
    function : str
        Its name, for the message.
    **given : tuple of (object, Allowed)
        By the argument's name what the caller gave, and what is allowed.

    Raises
    ------
    ArgumentError
        With the first argument that is of another kind.
    """
    for name, (value, allowed) in given.items():
        if not allowed.holds(value):
            place = f'{function}(), argument "{name}"'
            if allowed.has_text_keys and isinstance(value, Mapping) and not _has_text_keys(value):
                odd = next(key for key in value if not isinstance(key, str))
                raise ArgumentError(Fault(place, "has a key that is not a text", shown(odd), allowed.text))
            plain = isinstance(value, bool | int | float | str)
            written = as_toml(value) if plain else f"an object of type {type(value).__name__}"
            raise ArgumentError(Fault(place, "is not what the function takes", written, allowed.text))
