"""Requests of the page, read from JSON: what is missing or odd is a fault, not an exception of Python."""

import json
from math import isfinite
from typing import Any, Final

from ackclock.errors import ArgumentError, Fault

Json = dict[str, Any]
MOST_COLUMNS: Final = 4000
LONGEST_S: Final = 1e7
"""Largest instant of a run [s]."""
_MOST_CHANGES: Final = 50


def read_request(body: bytes) -> Json:
    """Read the body of a request, which is a JSON object.

    Raises
    ------
    ArgumentError
        If it is not one.
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise _refused("body", "is not JSON") from None
    if not isinstance(content, dict):
        raise _refused("body", "is not an object")
    return content


def text_of(content: Json, name: str) -> str:
    """Give a text of a request; `ArgumentError` if it is missing or not a text."""
    value = content.get(name)
    if not isinstance(value, str):
        raise _refused(name, "must be a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _refused(name, "has letters that UTF-8 cannot encode") from None
    return value


def number_of(content: Json, name: str, low: float, high: float, default: float | None = None) -> float:
    """Give a number of a request, between two bounds; `ArgumentError` if it is another."""
    value = content.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise _refused(name, "must be a number")
    if not low <= value <= high:
        raise _refused(name, "is out of range", f"{value:g}", f"{low:g} to {high:g}")
    return float(value)


def changes_of(content: Json) -> Json:
    """Give the fields that a request changes, by dotted path; `ArgumentError` if they are odd."""
    value = content.get("set", {})
    if not isinstance(value, dict) or len(value) > _MOST_CHANGES:
        raise _refused("set", f"must be an object of at most {_MOST_CHANGES} fields")
    return value


def columns_of(content: Json) -> int:
    """Give the number of pixels that panels are wide."""
    return int(number_of(content, "columns", 100, MOST_COLUMNS, 900))


def range_of(content: Json) -> tuple[float, float] | None:
    """Give the part of the run that the page shows [s]; None if it shows all of it."""
    value = content.get("range")
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise _refused("range", "must be a list of two numbers")
    start, end = (number_of({"range": one}, "range", 0.0, LONGEST_S) for one in value)
    if not start < end:
        raise _refused("range", "does not end after its start")
    return start, end


def _refused(name: str, problem: str, given: str | None = None, allowed: str | None = None) -> ArgumentError:
    return ArgumentError(Fault(f"request, field {name}", problem, given, allowed))
