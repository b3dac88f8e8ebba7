"""Tables that a TOML file could hold: keys and texts of Unicode, and an end to the nesting."""

from collections import deque
from collections.abc import Mapping
from math import inf
from typing import Any

from ackclock.errors import Fault, ScenarioError
from ackclock.nested import written_out
from ackclock.scenario.places import as_toml

_DEEPEST = 50
_LONGEST_PLACE = 200
MOST_VALUES = 10_000_000
"""Most values of tables and lists, each as many times as all lists written out have it."""


def refuse_odd_tables(tables: Mapping[Any, Any], name: str) -> None:
    """Refuse tables that no TOML file can hold.

    Parameters
    ----------
    tables : mapping
        A scenario's tables, or values of its fields.
    name : str
        The scenario's, for the message.

    Raises
    ------
    ScenarioError
        With the first key that is not a text, text that UTF-8 cannot encode, or table that is nested too deeply; and
        where all lists written out have too many values.
    """
    size = written_out(tables)
    if MOST_VALUES < size < inf:
        given, allowed = (f"{number:,.0f} values" for number in (size, MOST_VALUES))
        raise ScenarioError([Fault("scenario", "is too large", given, f"{allowed} at most")], name)
    seen: set[tuple[int, int]] = set()  # a table within itself is met again, one deeper
    waiting: deque[tuple[str, int, object]] = deque([("", 0, tables)])
    while waiting:
        place, depth, value = waiting.popleft()
        problem = _problem(value, depth)
        if problem is not None:
            raise ScenarioError([Fault(place or "scenario", problem, as_toml(value))], name)
        if (id(value), depth) in seen:
            continue
        seen.add((id(value), depth))
        if isinstance(value, Mapping):
            within = f"{place[:_LONGEST_PLACE]}." if place else ""
            waiting.extend((f"{within}{key}", depth + 1, inner) for key, inner in value.items())
        elif isinstance(value, list | tuple):
            waiting.extend((place, depth + 1, inner) for inner in value)


def copied(value: Any) -> Any:
    """Copy a value of plain tables and lists; a number of NumPy becomes one of Python."""
    if isinstance(value, Mapping):
        return {key: copied(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [copied(inner) for inner in value]
    is_number = type(value).__module__ == "numpy" and type(value).__name__ != "ndarray"
    return value.item() if is_number and hasattr(value, "item") else value


def _problem(value: object, depth: int) -> str | None:
    if isinstance(value, Mapping | list | tuple) and depth > _DEEPEST:
        return f"is nested deeper than {_DEEPEST} tables and lists"
    if isinstance(value, Mapping) and not all(isinstance(key, str) and _is_unicode(key) for key in value):
        return "has a key that is not a text of Unicode"
    if isinstance(value, str) and not _is_unicode(value):
        return "has letters that UTF-8 cannot encode"
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
