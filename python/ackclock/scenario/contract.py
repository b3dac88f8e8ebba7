"""The engine's side of the contract: the names of choices, the codes in its tables, the ranges of numbers.

`contract.json` is what the compiled engine says of itself (`_engine.contract()`), kept here so that reading a scenario
needs no engine. A test compares the two; `make golden` writes the file.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field


@dataclass(frozen=True, slots=True)
class Range:
    """The range of a field of the resolved scenario.

    Parameters
    ----------
    unit : str
        Unit of the field; "1" for a pure number.
    low, high : float
        Smallest and largest value.
    """

    unit: str
    low: float
    high: float


def _read() -> dict[str, Any]:
    text = files("ackclock.scenario").joinpath("contract.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


_CONTRACT: Final = _read()

RANGES: Final[Mapping[str, Range]] = MappingProxyType(
    {field: Range(**entry) for field, entry in _CONTRACT["ranges"].items()}
)
"""Ranges by field of the resolved scenario, such as `elements[].rate_bps`."""

AXES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {field: tuple(names) for field, names in _CONTRACT["axes"].items()}
)
"""Names of the choices by field of the resolved scenario."""

CODES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {column: tuple(names) for column, names in _CONTRACT["codes"].items()}
)
"""Names of the codes 0, 1, 2, ... by `table.column` of the engine's results."""

SEGMENT_OVERHEAD_BYTES: Final[int] = _CONTRACT["segment_overhead_bytes"]
"""Memory of a segment in a socket buffer beyond its data [B]."""

RECOVERIES: Final[Mapping[str, Mapping[str, bool]]] = MappingProxyType(_CONTRACT["recoveries"])
"""Properties of each loss recovery, by its name."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a congestion control.

    Parameters
    ----------
    unit : str
        Its unit; empty for a ratio or a choice.
    low, high : float
        Smallest and largest value.
    default : float
        Value where a scenario gives none.
    help : str
        Sentence for users.
    """

    unit: str
    low: float
    high: float
    default: float
    help: str


@dataclass(frozen=True, slots=True)
class CongestionControl:
    """A congestion control of the engine's list.

    Parameters
    ----------
    parameters : mapping of str to Parameter
        Its numbers that a scenario may set, by name.
    slow_start : str
        The end of slow start that Linux has with it.
    grows_until_loss : bool
        Whether its window grows until a loss or the receiver's window ends it, as far as is known.
    is_random : bool
        Whether it draws random numbers.
    """

    parameters: Mapping[str, Parameter]
    slow_start: str
    grows_until_loss: bool
    is_random: bool


CONGESTION_CONTROLS: Final[Mapping[str, CongestionControl]] = MappingProxyType(
    {
        name: CongestionControl(
            **{**entry, "parameters": {key: Parameter(**one) for key, one in entry["parameters"].items()}}
        )
        for name, entry in _CONTRACT["congestion_controls"].items()
    }
)
"""The congestion controls by name, in the order of the engine's list."""

DISCIPLINES: Final[Mapping[str, Mapping[str, bool]]] = MappingProxyType(_CONTRACT["disciplines"])
"""Properties of each queue discipline that models ask for, by its name."""

MOST_ROWS_OF_A_GROUP: Final[int] = _CONTRACT["most_rows_of_a_group"]
"""Largest number of flows of a group of which each has a row of its own in the results."""


CHECKED: Final = ConfigDict(
    extra="forbid", strict=True, allow_inf_nan=False, str_min_length=0, revalidate_instances="always"
)
"""Settings of the checks of all records of the resolved scenario, read from JSON or made in Python."""

Whole = Annotated[int, Field(ge=0, lt=2**63)]
"""A whole number that the engine can hold, such as an index, which is checked against its list."""


def within(field: str) -> Any:
    """Give the annotation that keeps a number in the engine's range.

    Parameters
    ----------
    field : str
        Field of the resolved scenario, as in `RANGES`.

    Returns
    -------
    FieldInfo
        For `typing.Annotated`.
    """
    limits = RANGES[field]
    low, high = (int(limit) if limit.is_integer() else limit for limit in (limits.low, limits.high))
    return Field(ge=low, le=high)


def count_within(field: str) -> Any:
    """Give the annotation that keeps the length of a list in the engine's range; as `within`."""
    limits = RANGES[field]
    return Field(min_length=int(limits.low), max_length=int(limits.high))
