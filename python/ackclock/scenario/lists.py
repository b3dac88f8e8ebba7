"""Fields that hold lists: of one kind of value, or of pairs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ackclock.scenario.fields import FieldError, JsonDict, Kind, toml_type
from ackclock.scenario.places import as_toml


@dataclass(frozen=True)
class Pair(Kind):
    """Two values, each of its kind."""

    first: Kind
    second: Kind

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return f"a pair of {self.first.allowed} and {self.second.allowed}"

    @property
    def sample(self) -> str:
        """An example, as it is written in TOML."""
        return f"[{self.first.sample}, {self.second.sample}]"

    def read(self, value: object) -> tuple[object, object]:
        """Read a list of two."""
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise FieldError("is not a pair")
        return self.first.read(value[0]), self.second.read(value[1])

    def json(self) -> JsonDict:
        """Return the JSON Schema: a list of two."""
        return {"type": "array", "prefixItems": [self.first.json(), self.second.json()], "minItems": 2, "maxItems": 2}


@dataclass(frozen=True)
class ListOf(Kind):
    """A list of values of one kind; `words` names them. `rising`: each exceeds the one before, of pairs the first."""

    entry: Kind
    words: str
    example: str
    most: int
    rising: bool = False

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        order = " in rising order" if self.rising else ""
        return f"a list of {self.words}{order}, such as {self.example}"

    @property
    def sample(self) -> str:
        """An example, as it is written in TOML."""
        return self.example

    def read(self, value: object) -> tuple[object, ...]:
        """Read a list."""
        if not isinstance(value, list | tuple):
            raise FieldError(f"must be a list of {self.words}, not {toml_type(value)}")
        if not value:
            raise FieldError("is empty")
        if len(value) > self.most:
            raise FieldError(f"has {len(value)} entries, more than {self.most}")
        entries = tuple(self._entry(entry) for entry in value)
        if self.rising:
            self._check_order(value, entries)
        return entries

    def json(self) -> JsonDict:
        """Return the JSON Schema: an array."""
        return {"type": "array", "minItems": 1, "maxItems": self.most, "items": self.entry.json()}

    def _entry(self, entry: object) -> object:
        try:
            return self.entry.read(entry)
        except FieldError as error:
            raise FieldError(f"has the entry {as_toml(entry)}, which {error.problem}", error.hint) from None

    @staticmethod
    def _check_order(value: Iterable[object], entries: tuple[object, ...]) -> None:
        numbers: list[Any] = [entry[0] if isinstance(entry, tuple) else entry for entry in entries]
        for given, before, number in zip(list(value)[1:], numbers, numbers[1:], strict=False):
            if not number > before:
                raise FieldError(f"has the entry {as_toml(given)}, which is not larger than the one before")
