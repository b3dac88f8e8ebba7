"""The identity of a class of a congestion control: what stored points of a sweep are named by."""

import dis
import hashlib
import inspect
from collections.abc import Iterator
from os.path import realpath
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType

import numpy as np

from ackclock.controls import CongestionControl

_DIGEST = 16
_DEEPEST = 20
"""Lists within lists that are still called plain."""


def identity(control: type[CongestionControl]) -> tuple[str, str | None]:
    """Identify a class, for the names of stored points.

    Parameters
    ----------
    control : type
        The class.

    Returns
    -------
    tuple of str and str or None
        Its name, and a digest of the files that define it and its bases, of its attributes, and of the globals that its
        code names. None if they do not say all: it was made in a function or typed in, or an attribute, a default
        argument or a global is neither code nor a plain value.
    """
    name = f"{control.__module__}.{control.__qualname__}"
    digest = hashlib.blake2b(name.encode(), digest_size=_DIGEST)
    for one in control.__mro__:
        if one in (CongestionControl, object):
            continue
        content = _content(one)
        if content is None:
            return name, None
        digest.update(content)
    return name, digest.hexdigest()


def _content(control: type) -> bytes | None:
    """Give the source of a class and the plain values that its code may read; None if something else belongs to it."""
    if "<" in control.__qualname__:
        return None
    try:
        source = Path(inspect.getfile(control)).read_bytes()
    except (OSError, TypeError):
        return None
    own = {key: value for key, value in vars(control).items() if not key.startswith("_abc_")}
    plain = _plain_attributes(control)
    methods = [one for value in own.values() for one in _functions(value)]
    known = all(key in plain or key.startswith("__") or _functions(value) for key, value in own.items())
    if not known or any(_file(one) != realpath(inspect.getfile(control)) for one in methods):
        return None
    named = _Named(methods)
    return source + repr((plain, sorted(named.found.items()))).encode() if named.are_known else None


def _plain_attributes(owner: type) -> dict[str, object]:
    own = sorted(vars(owner).items())
    return {key: value for key, value in own if not key.startswith(("__", "_abc_")) and _is_plain(value)}


def _is_plain(value: object, depth: int = 0) -> bool:
    if isinstance(value, tuple | list) and depth < _DEEPEST:
        return all(_is_plain(one, depth + 1) for one in value)
    if isinstance(value, dict) and depth < _DEEPEST:
        return all(_is_plain(one, depth + 1) for pair in value.items() for one in pair)
    return value is None or isinstance(value, bool | int | float | str | bytes)


def _functions(value: object) -> list[FunctionType]:
    """Give the functions that an attribute is made of; none if it is something else."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    if isinstance(value, property):
        return [one for one in (value.fget, value.fset, value.fdel) if isinstance(one, FunctionType)]
    return [value] if isinstance(value, FunctionType) else []


def _file(function: FunctionType) -> str:
    return realpath(function.__code__.co_filename)


class _Named:
    """The plain values that functions read in addition to their arguments: defaults, and globals that their code names.

    Functions and classes of the same file that they name are followed; those of other files and modules are not.

    Parameters
    ----------
    functions : list of FunctionType
        Where to begin.
    """

    def __init__(self, functions: list[FunctionType]) -> None:
        self.found: dict[str, str] = {}
        self.are_known = True
        self._seen: set[FunctionType] = set()
        for function in functions:
            self._follow(function)

    def _follow(self, function: FunctionType) -> None:
        if function in self._seen:
            return
        self._seen.add(function)
        if set(function.__code__.co_freevars) - {"__class__"}:
            self.are_known = False
        self._keep(f"{function.__qualname__}()", [function.__defaults__, function.__kwdefaults__])
        for name in _global_names(function.__code__):
            if name in function.__globals__:
                self._take(name, function.__globals__[name], _file(function))

    def _take(self, name: str, value: object, file: str) -> None:
        value = inspect.unwrap(value) if callable(value) else value
        if isinstance(value, FunctionType):
            if _file(value) == file:
                self._follow(value)
        elif isinstance(value, type):
            self._take_class(value, file)
        elif not isinstance(value, ModuleType | BuiltinFunctionType | np.ufunc):
            self._keep(name, value)

    def _take_class(self, owner: type, file: str) -> None:
        methods = [one for value in vars(owner).values() for one in _functions(value) if _file(one) == file]
        if methods or owner.__module__ in {one.__module__ for one in self._seen}:
            for key, value in _plain_attributes(owner).items():
                self._keep(f"{owner.__qualname__}.{key}", value)
        for method in methods:
            self._follow(method)

    def _keep(self, name: str, value: object) -> None:
        if _is_plain(value):
            self.found[name] = repr(value)
        else:
            self.are_known = False


def _global_names(code: CodeType) -> Iterator[str]:
    """Name the globals that code reads, that of functions within it too."""
    for one in dis.get_instructions(code):
        if one.opname in {"LOAD_GLOBAL", "LOAD_NAME"}:
            yield one.argval
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _global_names(inner)
