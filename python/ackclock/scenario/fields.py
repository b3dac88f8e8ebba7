"""Kinds of values of a scenario's fields: reading, allowed values in words, and JSON Schema, in one class a kind.

The kinds annotate the fields of the schema's models; pydantic calls them for each value. Quantities are in `amounts`.
"""

import datetime as dt
import math
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from ackclock.scenario.suggestions import did_you_mean
from ackclock.units import NUMBER_PATTERN

JsonDict = dict[str, Any]
_CONTROLS = frozenset(["Cc", "Cs", "Zl", "Zp"])
"""Unicode's categories of control characters, of halves of characters, and of breaks between lines and paragraphs."""
MOST_NAMES = 100_000
"""Largest number of links on a path: as many as a scenario may have, each in its two directions."""


class FieldError(ValueError):
    """A value that its field does not take; pydantic collects these."""

    def __init__(self, problem: str, hint: str | None = None, allowed: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint
        self.allowed = allowed


def toml_type(value: object) -> str:
    """Name the TOML type of a value, with its article."""
    names: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "a boolean"),
        (int, "an integer"),
        (float, "a float"),
        (str, "a string"),
        (Mapping, "a table"),
        ((list, tuple), "an array"),
        ((dt.date, dt.time), "a date or time"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), f"an object of type {type(value).__name__}")


class Kind(ABC):
    """One kind of value: an annotation that pydantic, the fault messages and the documentation read."""

    @property
    @abstractmethod
    def allowed(self) -> str:
        """The allowed values, in words."""

    @abstractmethod
    def read(self, value: object) -> object:
        """Turn a TOML value into the model's value, or raise `FieldError`."""

    @abstractmethod
    def json(self) -> JsonDict:
        """Return the JSON Schema of the TOML value."""

    @property
    @abstractmethod
    def sample(self) -> str:
        """An example, as it is written in TOML."""

    @property
    def unit(self) -> str:
        """SI unit that the value is resolved into, empty where it has none."""
        return ""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Let pydantic read the value with `read` alone."""
        del source, handler
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonDict:
        """Give pydantic the JSON Schema of the kind."""
        del schema, handler
        return self.json()


@dataclass(frozen=True)
class Count(Kind):
    """A whole number in a range, or the word for none."""

    low: int
    high: int
    example: int
    words: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return f"a whole number from {self.low} to {self.high}" + "".join(f', or "{word}"' for word in self.words)

    @property
    def sample(self) -> str:
        """An example, as it is written in TOML."""
        return str(self.example)

    def read(self, value: object) -> int | None:
        """Read an integer."""
        if isinstance(value, str):
            if value in self.words:
                return None
            hint = f"write {value.strip()} without quotes" if re.fullmatch(r"\s*[0-9]{1,15}\s*", value) else None
            raise FieldError("must be a whole number, not a string", hint or did_you_mean(value, self.words))
        if isinstance(value, bool) or not isinstance(value, int):
            whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
            hint = f"write {int(value)}" if isinstance(value, float) and whole else None
            raise FieldError(f"must be a whole number, not {toml_type(value)}", hint)
        if not self.low <= value <= self.high:
            raise FieldError("is negative" if value < 0 else "is too small" if value < self.low else "is too large")
        return value

    def json(self) -> JsonDict:
        """Return the JSON Schema: an integer, or one of the words."""
        number: JsonDict = {"type": "integer", "minimum": self.low, "maximum": self.high}
        return {"anyOf": [number, {"enum": list(self.words)}]} if self.words else number


@dataclass(frozen=True)
class Number(Kind):
    """A dimensionless number between two bounds; `closed` lets the upper bound itself in, `from_low` the lower one."""

    low: float
    high: float
    example: float
    closed: bool = False
    from_low: bool = False

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        high = f"{self.high:g}".replace("e+0", "e")
        low = f"{'from' if self.from_low else 'above'} {self.low:g}".replace("e-0", "e-")
        return f"a number {low} and {'at most' if self.closed else 'below'} {high}"

    @property
    def sample(self) -> str:
        """An example, as it is written in TOML."""
        return str(self.example)

    def read(self, value: object) -> float:
        """Read a number."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            quoted = isinstance(value, str) and re.fullmatch(NUMBER_PATTERN, value.strip()) is not None
            hint = f"write {str(value).strip()[:20]} without quotes" if quoted else None
            raise FieldError(f"must be a number, not {toml_type(value)}", hint)
        if isinstance(value, float) and not math.isfinite(value):
            raise FieldError("is not finite")
        if value < self.low or (value == self.low and not self.from_low):
            raise FieldError("is negative" if value < 0 else "is zero" if value == 0 else "is too small")
        if value > self.high or (value == self.high and not self.closed):
            raise FieldError("is too large")
        return float(value)

    def json(self) -> JsonDict:
        """Return the JSON Schema: a number between the bounds."""
        return {
            "type": "number",
            ("minimum" if self.from_low else "exclusiveMinimum"): self.low,
            ("maximum" if self.closed else "exclusiveMaximum"): self.high,
        }


@dataclass(frozen=True)
class Flag(Kind):
    """A value that is true or false."""

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return "true or false"

    @property
    def sample(self) -> str:
        """An example, as it is written in TOML."""
        return "true"

    def read(self, value: object) -> bool:
        """Read a boolean."""
        if isinstance(value, bool):
            return value
        words = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}
        meant = words.get(value.casefold()) if isinstance(value, str) else None
        raise FieldError(f"must be a boolean, not {toml_type(value)}", meant and f"write {meant} without quotes")

    def json(self) -> JsonDict:
        """Return the JSON Schema: a boolean."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class Choice(Kind):
    """One of some words; `what` is their kind in messages."""

    what: str
    names: Sequence[str]

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return " | ".join(f'"{name}"' for name in self.names)

    @property
    def sample(self) -> str:
        """An example, as it is written in TOML."""
        return f'"{self.names[-1]}"'

    def read(self, value: object) -> str:
        """Read one of the words."""
        if not isinstance(value, str):
            raise FieldError(f"must be a string, not {toml_type(value)}")
        if value not in self.names:
            raise FieldError(f"unknown {self.what}", did_you_mean(value, self.names))
        return value

    def json(self) -> JsonDict:
        """Return the JSON Schema: an enumeration."""
        return {"type": "string", "enum": list(self.names)}


@dataclass(frozen=True)
class OpenChoice(Choice):
    """One of some words, or another word that whoever runs the scenario gives a meaning; the checks know which."""

    def read(self, value: object) -> str:
        """Read a word."""
        if not isinstance(value, str):
            raise FieldError(f"must be a string, not {toml_type(value)}")
        return value


@dataclass(frozen=True)
class Text(Kind):
    """A string of a limited length, in a pattern if one is given."""

    longest: int
    example: str
    pattern: str = ""
    text: str = "a text"

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return f"{self.text} of at most {self.longest} characters{'' if self.pattern else ', no control characters'}"

    @property
    def sample(self) -> str:
        """An example, as it is written in TOML."""
        return f'"{self.example}"'

    def read(self, value: object) -> str:
        """Read a string."""
        if not isinstance(value, str):
            raise FieldError(f"must be a string, not {toml_type(value)}")
        if len(value) > self.longest:
            raise FieldError("is too long")
        control = next((each for each in value if unicodedata.category(each) in _CONTROLS), None)
        if control is not None and not self.pattern:
            raise FieldError(f"has the control character U+{ord(control):04X}")
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise FieldError("has characters that a name may not have" if value else "is empty")
        return value

    def json(self) -> JsonDict:
        """Return the JSON Schema: a string."""
        pattern = {"pattern": f"^{self.pattern}$"} if self.pattern else {}
        return {"type": "string", "maxLength": self.longest, **pattern}


@dataclass(frozen=True)
class LinkNames(Kind):
    """A list of link names; whether the links exist is checked when all of them are known."""

    example: str
    most: int = MOST_NAMES

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return f'a list of link names, such as {self.sample} ("access.reverse" is the other direction)'

    @property
    def sample(self) -> str:
        """An example, as it is written in TOML."""
        return self.example

    def read(self, value: object) -> tuple[str, ...]:
        """Read a list of strings."""
        if isinstance(value, str):
            raise FieldError("must be a list of link names, not a string", f'write ["{value[:60]}"]')
        if not isinstance(value, list | tuple):
            raise FieldError(f"must be a list of link names, not {toml_type(value)}")
        if not value:
            raise FieldError("is empty")
        if len(value) > self.most:
            raise FieldError(f"has {len(value)} entries, more than {self.most}")
        odd = [entry for entry in value if not isinstance(entry, str)]
        if odd:
            raise FieldError(f"must hold link names, not {toml_type(odd[0])}")
        return tuple(value)

    def json(self) -> JsonDict:
        """Return the JSON Schema: a list of strings."""
        return {"type": "array", "minItems": 1, "maxItems": self.most, "items": {"type": "string"}}


@dataclass(frozen=True)
class Shorthand:
    """A table that a single word may stand for; `names` are the words, `key` is the field that each of them fills."""

    what: str
    key: str
    names: Callable[[], Sequence[str]] = field(repr=False)

    def expand(self, value: object) -> object:
        """Write the table out."""
        if isinstance(value, Mapping):
            return value
        choice = Choice(self.what, self.names())
        allowed = f"{choice.allowed}, or a table with one of them as {self.key}"
        if not isinstance(value, str):
            raise FieldError(f"must be a string or a table, not {toml_type(value)}", allowed=allowed)
        try:
            return {self.key: choice.read(value)}
        except FieldError as error:
            raise FieldError(error.problem, error.hint, allowed) from None

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Expand the word before pydantic validates the table."""
        return core_schema.no_info_before_validator_function(self.expand, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonDict:
        """Return the JSON Schema: either the word or the table."""
        return {"anyOf": [{"type": "string", "enum": list(self.names())}, handler(schema)]}


@dataclass(frozen=True)
class AmountShorthand:
    """A table that a single amount may stand for; `key` is the field that it fills, `rest` the others."""

    key: str
    kind: Kind
    rest: Mapping[str, object] = field(default_factory=dict)

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return f"{self.kind.allowed}, or a table"

    def expand(self, value: object) -> object:
        """Write the table out."""
        if isinstance(value, Mapping):
            return value
        try:
            self.kind.read(value)
        except FieldError as error:
            raise FieldError(error.problem, error.hint, self.allowed) from None
        return {**self.rest, self.key: value}

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Expand the amount before pydantic validates the table."""
        return core_schema.no_info_before_validator_function(self.expand, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonDict:
        """Return the JSON Schema: either the amount or the table."""
        return {"anyOf": [self.kind.json(), handler(schema)]}
