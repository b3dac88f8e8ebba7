"""Congestion controls in scenarios: their numbers, and the end of slow start that comes with them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, cast

from ackclock.errors import Fault
from ackclock.scenario.contract import CONGESTION_CONTROLS
from ackclock.scenario.fields import FieldError, JsonDict, Kind, toml_type
from ackclock.scenario.places import Places, as_toml
from ackclock.scenario.source import Location
from ackclock.scenario.suggestions import did_you_mean

ControlDialectName = Literal["linux", "rfc"]
SlowStartExitName = Literal["standard", "hystart", "hystart++"]

MOST_NUMBERS = 16
"""Largest number of entries of the table, more than any control has."""


@dataclass(frozen=True)
class ControlNumbers(Kind):
    """A table of numbers; which ones there are, and their ranges, depends on the congestion control."""

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return f"a table of the congestion control's numbers, such as {self.sample}"

    @property
    def sample(self) -> str:
        """An example, as it is written in TOML."""
        return "{ beta = 0.8 }"

    def read(self, value: object) -> dict[str, float]:
        """Read a table of finite numbers."""
        if not isinstance(value, Mapping):
            raise FieldError(f"must be a table, not {toml_type(value)}")
        if len(value) > MOST_NUMBERS:
            raise FieldError(f"has {len(value)} entries, more than {MOST_NUMBERS}")
        return {name: self._number(name, number) for name, number in value.items()}

    def json(self) -> JsonDict:
        """Return the JSON Schema: a table of numbers of all controls."""
        names = sorted({name for control in CONGESTION_CONTROLS.values() for name in control.parameters})
        return {
            "type": "object",
            "properties": {name: {"type": "number"} for name in names},
            "additionalProperties": False,
        }

    @staticmethod
    def _number(name: object, number: object) -> float:
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise FieldError(f"has the entry {name}, which must be a number, not {toml_type(number)}")
        if not abs(number) < math.inf:
            raise FieldError(f"has the entry {name} of {number}, which is not finite")
        if abs(number) > 1e300:
            raise FieldError(f"has the entry {name}, which is too large")
        return float(number)


def number_faults(places: Places, location: Location, control: str, numbers: Mapping[str, float]) -> Iterator[Fault]:
    """Give the numbers that a congestion control does not have, and those out of its ranges.

    Parameters
    ----------
    places : Places
        Names the places.
    location : Location
        The table of numbers.
    control : str
        Its name; one of your own has no numbers.
    numbers : mapping of str to float
        The table.

    Yields
    ------
    Fault
        What does not fit.
    """
    known = CONGESTION_CONTROLS[control].parameters if control in CONGESTION_CONTROLS else {}
    for name, number in numbers.items():
        if name not in known:
            allowed = ", ".join(known) or "none"
            problem, hint = f'is not a number of congestion_control = "{control}"', did_you_mean(name, known)
            yield places.fault((*location, name), problem, allowed=allowed, hint=hint)
            continue
        low, high = known[name].low, known[name].high
        if not low <= number <= high:
            problem = "is too small" if number < low else "is too large"
            unit = f" {known[name].unit}" if known[name].unit else ""
            allowed = f"{as_toml(low)} to {as_toml(high)}{unit}"
            yield places.fault((*location, name), problem, allowed=allowed)


def slow_start_of(control: str, dialect: ControlDialectName) -> SlowStartExitName:
    """Give the end of slow start that comes with a congestion control.

    Parameters
    ----------
    control : str
        Its name; one of your own ends slow start itself.
    dialect : str
        Whose rules hold.

    Returns
    -------
    str
        Linux's; by the RFCs HyStart++ where Linux has HyStart (RFC 9438 section 4.10).

    Examples
    --------
    >>> slow_start_of("cubic", "linux"), slow_start_of("cubic", "rfc"), slow_start_of("reno", "rfc")
    ('hystart', 'hystart++', 'standard')
    """
    if control not in CONGESTION_CONTROLS:
        return "standard"
    own = cast("SlowStartExitName", CONGESTION_CONTROLS[control].slow_start)
    return "hystart++" if own == "hystart" and dialect == "rfc" else own
