"""A share, given in percent."""

import re
from dataclasses import dataclass

from ackclock.scenario.fields import FieldError, JsonDict, Kind, toml_type
from ackclock.units import NUMBER_PATTERN


@dataclass(frozen=True)
class Percent(Kind):
    """A fraction in percent, above 0 and at most 100%."""

    example: str

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return f'a percentage above 0% and at most 100%, such as "{self.example}"'

    @property
    def sample(self) -> str:
        """An example, as it is written in TOML."""
        return f'"{self.example}"'

    def read(self, value: object) -> float:
        """Read a percentage as a share."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            raise FieldError("needs a unit", f'write "{100 * value:.6g}%", or "{value}%"')
        if not isinstance(value, str):
            raise FieldError(f"must be a percentage, not {toml_type(value)}")
        match = re.fullmatch(rf"\s*({NUMBER_PATTERN})\s*%\s*", value)
        if match is None:
            raise FieldError("is not a percentage")
        share = float(match[1]) / 100.0
        if not 0.0 < share <= 1.0:
            raise FieldError("is not above 0%" if share <= 0.0 else "is above 100%")
        return share

    def json(self) -> JsonDict:
        """Return the JSON Schema: a string."""
        return {"type": "string", "pattern": r"%\s*$"}
