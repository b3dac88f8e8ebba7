"""Data that a result gives: whoever reads it cannot change what the result prints, draws and saves."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, NoReturn

import pandas as pd

from ackclock.errors import ArgumentError, Fault


def _refuse(self: object, *given: object, **named: object) -> NoReturn:
    del self, given, named
    hint = "copy.deepcopy makes a copy that can be changed"
    raise ArgumentError(Fault("result", "is read-only; its tables and lists cannot be changed", hint=hint))


class _Table(dict[str, Any]):
    """A dictionary that cannot be changed; its copies can."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: deepcopy(value, memo) for key, value in self.items()}

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return type(self), (dict(self),)


class _List(list[Any]):
    """A list that cannot be changed; its copies can."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [deepcopy(value, memo) for value in self]

    def __copy__(self) -> list[Any]:
        return list(self)

    def __reduce__(self) -> tuple[type, tuple[list[Any]]]:
        return type(self), (list(self),)


def read_only(value: Any) -> Any:
    """Make dictionaries and lists, and those within them, ones that cannot be changed.

    Parameters
    ----------
    value : object
        Plain data; it stays as it is.

    Returns
    -------
    object
        Equal data. A change raises `ArgumentError`; `copy.deepcopy` gives plain data again.

    Examples
    --------
    >>> row = read_only({"name": "flow", "mean": [1.0]})
    >>> row["mean"].append(2.0)
    Traceback (most recent call last):
    ackclock.errors.ArgumentError: result: is read-only; its tables and lists cannot be changed; copy.deepcopy makes ...
    """
    if isinstance(value, dict):
        return _Table((key, read_only(one)) for key, one in value.items())
    return _List(map(read_only, value)) if isinstance(value, list) else value


class FrameCopies(Mapping[str, pd.DataFrame]):
    """Data frames by name, a copy at each reading, which shares its numbers until one of the two is changed.

    Parameters
    ----------
    frames : mapping of str to DataFrame
        The frames.
    """

    def __init__(self, frames: Mapping[str, pd.DataFrame]) -> None:
        self._frames = frames

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self._frames[name].copy(deep=False)

    def __contains__(self, name: object) -> bool:
        return name in self._frames

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)
