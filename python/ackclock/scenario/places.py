"""Places of tables and fields, in words; given values, as TOML."""

import json
import re
from collections.abc import Mapping
from types import EllipsisType
from typing import Any

from ackclock.errors import Fault
from ackclock.scenario.source import Location, Source

_LONGEST_GIVEN = 60
_DEEPEST_GIVEN = 4
_NAMED = ("link", "flow", "host", "atm_link", "channel", "cross_traffic")


class Places:
    """Names the places of a scenario and makes its faults.

    Parameters
    ----------
    source : Source
        The scenario as the user gave it.
    """

    def __init__(self, source: Source) -> None:
        self.source = source

    def fault(
        self,
        location: Location,
        problem: str,
        *,
        given: str | EllipsisType | None = ...,
        allowed: str | None = None,
        hint: str | None = None,
    ) -> Fault:
        """Make a fault; what was given is the value at the place, unless the caller has words for it or None."""
        location = self._written(location)
        return Fault(
            self.place(location),
            problem,
            given=self.given(location) if isinstance(given, EllipsisType) else given,
            allowed=allowed,
            hint=hint,
            line=None if self._override(location) else self.line(location),
        )

    def place(self, location: Location) -> str:
        """Name a place in full: table, field, and line or override."""
        override = self._override(location)
        line = self.line(location)
        where = f'override "{override}"' if override else f"line {line}" if line else ""
        return ", ".join(part for part in (self._table(location), _field(location), where) if part)

    def short(self, location: Location) -> str:
        """Name a place as warnings do: table and field."""
        named = self.name(location)
        table = f'{location[0]} "{named}"' if named else self._table(location)
        return ", ".join(part for part in (table, _field(location)) if part)

    def name(self, location: Location) -> str | None:
        """Give the name of the link or flow in which a place is."""
        entry = self.value(location[:2]) if len(location) >= 2 and isinstance(location[1], int) else None
        name = entry.get("name") if isinstance(entry, Mapping) else None
        return name if isinstance(name, str) else None

    def line(self, location: Location) -> int | None:
        """Give the line of a field, or of the nearest table around it that has one."""
        lines = self.source.lines
        while location:
            if location in lines or (*location, 0) in lines:
                return lines.get(location) or lines[(*location, 0)]
            location = location[:-1]
        return None

    def value(self, location: Location) -> object:
        """Give the value at a place of the document, None if it has none."""
        value: Any = self.source.document
        for key in location:
            if isinstance(value, Mapping) and isinstance(key, str):
                value = value.get(key)
            elif isinstance(value, list) and isinstance(key, int) and key < len(value):
                value = value[key]
            else:
                return None
        return value

    def given(self, location: Location) -> str | None:
        """Give the value at a place as TOML; tables are left out."""
        value = self.value(location)
        tables = isinstance(value, Mapping) or (
            isinstance(value, list) and any(isinstance(item, Mapping) for item in value)
        )
        return None if value is None or tables else as_toml(value)

    def _written(self, location: Location) -> Location:
        """Stop at a word that stands for a table: its fields are not the user's."""
        for end in range(1, len(location)):
            if isinstance(self.value(location[:end]), str):
                return location[:end]
        return location

    def _override(self, location: Location) -> str | None:
        overrides = self.source.overrides
        around = (overrides[location[:end]] for end in range(len(location), 0, -1) if location[:end] in overrides)
        if (found := next(around, None)) is not None or location in self.source.lines:
            return found
        # A table that is nowhere in the file is one that an override of a field in it made.
        inside = (key for place, key in overrides.items() if location and place[: len(location)] == location)
        return next(inside, None) if isinstance(self.value(location), Mapping) else None

    def _table(self, location: Location) -> str:
        match location:
            case (str(kind), int(position), *_) if kind in _NAMED:
                header = f"{ordinal(position + 1)} [[{kind}]]"
                name = self.name(location)
                return header if name is None else f'{kind} "{name[:_LONGEST_GIVEN]}" ({header})'
            case ("run" | "trace" as kind, *_):
                return f"[{kind}]"
            case _:
                return "scenario" if len(location) == 0 else ""


def _field(location: Location) -> str:
    start = 2 if location[:1] in {(kind,) for kind in _NAMED} and location[1:] and isinstance(location[1], int) else 1
    if len(location) == 1 and location[0] not in {"run", "trace"}:
        start = 0
    keys = location[start:]
    text = ".".join(_key(key) for key in keys if isinstance(key, str))
    entries = "".join(f", {ordinal(key + 1)} entry" for key in keys if isinstance(key, int))
    return f"field {text}{entries}" if text else ""


def _key(key: str) -> str:
    """Write a key as TOML does: bare if it can be."""
    return key[:_LONGEST_GIVEN] if re.fullmatch("[A-Za-z0-9_-]+", key) else as_toml(key)


def ordinal(number: int) -> str:
    """Write 1 as 1st.

    Examples
    --------
    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def as_toml(value: object) -> str:
    """Write a value as TOML would, at most 60 characters of it."""
    text = _toml(value)
    return text if len(text) <= _LONGEST_GIVEN else f"{text[: _LONGEST_GIVEN - 3]}..."


def _toml(value: object, depth: int = 0) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value[: _LONGEST_GIVEN + 1], ensure_ascii=False)
    if isinstance(value, int) and value.bit_length() > 1000:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, list | tuple):
        shown = value[:_LONGEST_GIVEN] if depth < _DEEPEST_GIVEN else ["..."] if value else []
        return f"[{', '.join(_toml(entry, depth + 1) for entry in shown)}]"
    if isinstance(value, Mapping):
        return "{...}" if value else "{}"
    return str(value)
