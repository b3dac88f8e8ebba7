"""A run's duration, or the precision until which one run is lengthened."""

from dataclasses import dataclass
from typing import Self

from ackclock.scenario.amounts import Amount
from ackclock.scenario.fields import FieldError, JsonDict, Kind
from ackclock.scenario.percent import Percent

UNTIL = "until"
FIRST_S = 100.0
"""Duration of the first run of `duration = "until 2%"` [s]."""
LONGEST = 64
"""Factor to the longest run."""


class Until(float):
    """The duration with which a run begins that is lengthened until a quantity is known well enough [s].

    Parameters
    ----------
    within : float
        Half of the interval that ends it, relative to the mean [1].
    """

    within: float

    def __new__(cls, within: float) -> Self:
        """Make the first duration, and keep the precision with it."""
        made = super().__new__(cls, FIRST_S)
        made.within = within
        return made


@dataclass(frozen=True)
class Duration(Kind):
    """An amount of time, or "until" and a percentage."""

    amount: Amount
    percent: Percent

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return f'{self.amount.allowed}, or "{UNTIL} {self.percent.example}"'

    @property
    def sample(self) -> str:
        """An example, as it is written in TOML."""
        return self.amount.sample

    @property
    def unit(self) -> str:
        """SI unit that the value is resolved into."""
        return self.amount.unit

    def read(self, value: object) -> float:
        """Read a duration."""
        if not isinstance(value, str) or not value.strip().startswith(UNTIL):
            found = self.amount.read(value)
            if not isinstance(found, int | float):
                raise FieldError("is not a time")
            return found
        return Until(self.percent.read(value.strip().removeprefix(UNTIL)))

    def json(self) -> JsonDict:
        """Return the JSON Schema: an amount, or a percentage with the word before it."""
        return {"anyOf": [self.amount.json(), {"type": "string", "pattern": rf"^\s*{UNTIL}\s.*%\s*$"}]}
