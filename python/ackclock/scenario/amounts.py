"""Fields that hold quantities: in which units, in which ranges."""

import math
import re
from dataclasses import dataclass

from ackclock.errors import UnitError
from ackclock.scenario.fields import FieldError, JsonDict, Kind, toml_type
from ackclock.scenario.suggestions import did_you_mean
from ackclock.units import DIMENSIONS, NUMBER_PATTERN, UNIT_PATTERNS, USUAL_UNITS, Quantity, Unit, parse, show


@dataclass(frozen=True)
class Span:
    """The range of an amount in one unit; the text says it in words."""

    unit: Unit
    low: float
    high: float
    text: str
    whole: bool = False

    def read(self, quantity: Quantity) -> Quantity:
        """Return the quantity if it lies in the range."""
        value = quantity.value
        if value < 0:
            raise FieldError("is negative")
        if value == 0 and self.low > 0:
            raise FieldError("is zero")
        if value < self.low:
            raise FieldError("is too small")
        if value > self.high:
            raise FieldError("is too large")
        if self.whole and value != math.floor(value):
            raise FieldError(f"is not a whole number of {'bytes' if self.unit == 'B' else 'packets'}")
        return quantity


@dataclass(frozen=True)
class Amount(Kind):
    """A quantity in one of the given ranges, or one of the words for none, or the one for an infinite amount.

    Reads a word for none as None, an amount as a `Quantity` where several units are possible, else as a float (int
    where it is whole).
    """

    example: str
    spans: tuple[Span, ...]
    words: tuple[str, ...] = ()
    infinite: str = ""

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        ranges = _either([span.text for span in self.spans])
        words = "".join(f', or "{word}"' for word in self._all_words)
        return f"{ranges}, such as {self.sample}{words}"

    @property
    def sample(self) -> str:
        """An example, as it is written in TOML."""
        return f'"{self.example}"'

    @property
    def unit(self) -> str:
        """Units that the value is resolved into."""
        return " | ".join(span.unit for span in self.spans)

    def read(self, value: object) -> Quantity | float | None:
        """Read the text of a quantity."""
        if isinstance(value, str) and value in self.words:
            return None
        is_infinite = self.infinite and value == self.infinite
        quantity = Quantity(math.inf, self.spans[0].unit) if is_infinite else self._checked(self._quantity(value))
        if len(self.spans) > 1:
            return quantity
        return int(quantity.value) if self.spans[0].whole else quantity.value

    def json(self) -> JsonDict:
        """Return the JSON Schema: a string with a pattern of number and unit."""
        units = "|".join(UNIT_PATTERNS[span.unit] for span in self.spans)
        words = "".join(f"|{word}" for word in self._all_words)
        return {"type": "string", "pattern": rf"^\s*(?:{NUMBER_PATTERN}\s*(?:{units})\s*{words})$"}

    @property
    def _all_words(self) -> tuple[str, ...]:
        return (*self.words, self.infinite) if self.infinite else self.words

    def _quantity(self, value: object) -> Quantity:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise FieldError(f"must be a quantity, not {toml_type(value)}")
        if not isinstance(value, str):
            unit = self.example.split()[-1]
            finite = isinstance(value, int) or math.isfinite(value)
            hint = f'write "{value} {unit}" if {unit} is meant' if finite and 0 < value < 1e15 else None
            raise FieldError("needs a unit", hint)
        try:
            return parse(value)
        except UnitError as error:
            hint = error.hint or did_you_mean(value, self._all_words)
            if hint is None and error.unknown_unit is not None:
                hint = did_you_mean(error.unknown_unit, self._units_worth_suggesting())
            raise FieldError(error.problem, hint) from None

    def _checked(self, quantity: Quantity) -> Quantity:
        span = next((span for span in self.spans if span.unit == quantity.unit), None)
        if span is None:
            expected = _either([DIMENSIONS[span.unit] for span in self.spans])
            raise FieldError(f"must be {expected}, not {DIMENSIONS[quantity.unit]}", self._hint_of_rate(quantity))
        return span.read(quantity)

    def _hint_of_rate(self, quantity: Quantity) -> str | None:
        takes_rates = any(span.unit == "bit/s" for span in self.spans)
        if quantity.unit == "B" and takes_rates and 0 < quantity.value < 1e15:
            return f'write "{show(8 * quantity.value, "bit/s")}" if that is the amount of a second'
        return None

    def _units_worth_suggesting(self) -> list[str]:
        patterns = [UNIT_PATTERNS[span.unit] for span in self.spans]
        return [unit for unit in USUAL_UNITS if any(re.fullmatch(pattern, unit) for pattern in patterns)]


def _either(names: list[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
