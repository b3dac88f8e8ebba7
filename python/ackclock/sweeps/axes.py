"""The axes of a sweep: which fields take which values."""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ackclock import units
from ackclock.errors import Fault, SweepError, UnitError
from ackclock.scenario.arguments import TEXT, check_arguments
from ackclock.scenario.override import read_list, read_value, written_value
from ackclock.scenario.places import as_toml
from ackclock.scenario.plain import refuse_odd_tables

if TYPE_CHECKING:
    from ackclock.scenario import Scenario

MOST_VALUES = 20_000
MOST_DIGITS = 300
"""Largest number of digits before the point of a range's numbers, or of zeros after it."""
MAGNITUDES = f"0, or from 1e-{MOST_DIGITS} to 1e{MOST_DIGITS}"
FORMS = 'FIELD=START:STOP:STEP or FIELD=VALUE,VALUE,..., such as link.satellite.buffer="10:60:2 pkt"'

MOST_EXACT = 2**53
"""Largest whole number up to which a float holds each."""
FIELD_SEPARATOR = " & "
"""The text between fields that change in step."""
_LARGEST_BARE = 10**MOST_DIGITS
_NUMBER = re.compile(units.NUMBER_PATTERN)
_RANGE = re.compile(rf"({units.NUMBER_PATTERN}):({units.NUMBER_PATTERN}):({units.NUMBER_PATTERN})\s*(\S.*)?")
_WITH_UNIT = re.compile(rf"({units.NUMBER_PATTERN})\s*([A-Za-zµμ].*)")


@dataclass(frozen=True)
class Axis:
    """Fields that change together, and their values.

    Parameters
    ----------
    fields : tuple of str
        Dotted paths; the first one is the axis's name.
    rows : tuple of tuple
        At each place on the axis a value for each field, as in the TOML.
    """

    fields: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @property
    def name(self) -> str:
        """The first field."""
        return self.fields[0]

    def column(self, field: str) -> list[Any]:
        """Give one field's values along the axis."""
        place = self.fields.index(field)
        return [row[place] for row in self.rows]

    @property
    def words(self) -> list[str]:
        """The values of all fields at each place."""
        return [", ".join(map(str, row)) for row in self.rows]

    def named(self, place: int) -> str:
        """Write each field with its value at a place."""
        return ", ".join(f"{field} = {value}" for field, value in zip(self.fields, self.rows[place], strict=True))


def parse_axis(text: str) -> Axis:
    """Read an axis as the command line has it.

    Parameters
    ----------
    text : str
        ``FIELD=START:STOP:STEP`` (STOP included), ``FIELD=VALUE,VALUE,...``, a unit after the last number holding for
        all bare ones; several of these joined by ``" & "`` change in step.

    Returns
    -------
    Axis
        The axis; numbers without a unit are left bare.

    Raises
    ------
    SweepError
        If it is not an axis.

    Examples
    --------
    >>> parse_axis("link.satellite.buffer=10:14:2 pkt").rows
    (('10 pkt',), ('12 pkt',), ('14 pkt',))
    >>> parse_axis("link.feeder.rate=1,2 Mbit/s & link.feeder.buffer=10,20 pkt").rows
    (('1 Mbit/s', '10 pkt'), ('2 Mbit/s', '20 pkt'))
    """
    check_arguments("parse_axis", text=(text, TEXT))
    return zipped_axis([_parse_field(part) for part in text.split(FIELD_SEPARATOR)])


def by_fields(axes: Sequence[Axis]) -> dict[tuple[str, ...], Sequence[tuple[Any, ...]]]:
    """Give the values of several axes by their fields, as `sweep` takes them.

    Raises
    ------
    SweepError
        If two axes have a field in common.
    """
    refuse_shared_fields(axes)
    return {axis.fields: axis.rows for axis in axes}


def refuse_shared_fields(axes: Sequence[Axis]) -> None:
    """Refuse axes that have a field in common."""
    fields = [field for axis in axes for field in axis.fields]
    twice = next((field for place, field in enumerate(fields) if field in fields[:place]), None)
    if twice is not None:
        _refuse(twice, "is given twice", allowed="each field once; all its values in one axis")


def zipped_axis(fields: Sequence[tuple[str, Sequence[Any]]]) -> Axis:
    """Make an axis along which fields change in step; each is given with its values.

    Raises
    ------
    SweepError
        If a field is given twice, the fields have different numbers of values, or a field has none.
    """
    columns = dict(fields)
    if len(columns) < len(fields):
        names = [field for field, _ in fields]
        twice = next(field for place, field in enumerate(names) if field in names[:place])
        _refuse(twice, "is given twice", allowed="each field once")
    lengths = {field: len(values) for field, values in columns.items()}
    name = next(iter(columns))
    for field, length in lengths.items():
        if length == 0:
            _refuse(field, "has no values", allowed=FORMS)
        if length > MOST_VALUES:
            _refuse(field, "has too many values", given=f"{length}", allowed=f"at most {MOST_VALUES}")
        if length != lengths[name]:
            given = f"{length} values for {field}, {lengths[name]} for {name}"
            _refuse(field, "has another number of values than the field that it goes with", given, "as many for each")
    return _without_doubles(Axis(tuple(columns), tuple(zip(*columns.values(), strict=True))))


def _without_doubles(axis: Axis) -> Axis:
    """Refuse values that are the same, in whichever way they are written."""
    seen: dict[Hashable, Sequence[Any]] = {}
    refuse_odd_tables({axis.name: axis.rows}, "sweep")
    for row in axis.rows:
        value = tuple(map(_meaning, row))
        if value in seen:
            first = _shown(seen[value])
            given = _shown(row) if first == _shown(row) else f"{first} and {_shown(row)}"
            _refuse(axis.name, "has a value twice", given=given, allowed="each value once")
        seen[value] = row
    return axis


def _meaning(value: Any) -> Hashable:
    """Give what is equal for values that mean the same: 10 and 10.0, "1 Mbit/s" and "1000 kbit/s"."""
    if isinstance(value, list | tuple):
        return tuple(map(_meaning, value))
    if isinstance(value, Mapping):
        return frozenset((key, _meaning(inner)) for key, inner in value.items())
    if isinstance(value, str):
        try:
            return units.parse(value)
        except UnitError:
            return value.strip()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return repr(value)


def axes_of(vary: Mapping[Any, Sequence[Any]], scenario: "Scenario") -> list[Axis]:
    """Read the axes as Python has them.

    Parameters
    ----------
    vary : mapping
        Values by dotted path; a tuple of paths has tuples of values, which change in step.
    scenario : Scenario
        Gives bare numbers the unit that the field has there.
    """
    return [with_units(_axis_of(key, values), scenario) for key, values in vary.items()]


def with_units(axis: Axis, scenario: "Scenario") -> Axis:
    """Give bare numbers the unit with which the scenario writes the field."""
    columns = {field: _with_unit(axis.column(field), written_value(scenario.source, field)) for field in axis.fields}
    return _without_doubles(Axis(axis.fields, tuple(zip(*columns.values(), strict=True))))


def _in_words(value: Any) -> str:
    """Write a value other than a text: a table with its fields, as far as they are plain."""
    if not isinstance(value, dict):
        return as_toml(value)
    inside = (f"{key} = {{...}}" if isinstance(one, dict) else f"{key} = {as_toml(one)}" for key, one in value.items())
    return f"{{{', '.join(inside)}}}"


def coordinate(values: Sequence[Any]) -> tuple[NDArray[Any], str]:
    """Turn an axis's values into an array with its unit.

    Returns
    -------
    tuple of array and str
        Numbers in SI units where all values are numbers or quantities of one kind, else texts and no unit. So are whole
        numbers, such as seeds, that a float would round.

    Examples
    --------
    >>> coordinate(["1 Mbit/s", "2.5 Mbit/s"])
    (array([1000000., 2500000.]), 'bit/s')
    >>> coordinate(["drop-tail", "red"])
    (array(['drop-tail', 'red'], dtype='<U9'), '')
    """
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        exact = all(isinstance(value, float) or abs(value) <= MOST_EXACT for value in values)
        return (np.array(values, dtype=float) if exact else np.array([str(value) for value in values])), ""
    try:
        found = [units.parse(value) for value in values]
    except (UnitError, AttributeError, TypeError):
        return np.array([value if isinstance(value, str) else _in_words(value) for value in values]), ""
    if len({quantity.unit for quantity in found}) == 1:
        return np.array([quantity.value for quantity in found]), found[0].unit
    return np.array([str(value) for value in values]), ""


def _axis_of(key: Any, values: Sequence[Any]) -> Axis:
    fields = (key,) if isinstance(key, str) else key
    if not (isinstance(fields, tuple) and fields and all(isinstance(field, str) for field in fields)):
        _refuse(as_toml(key), "is not a dotted path, nor a tuple of them", allowed='such as "link.satellite.buffer"')
    if isinstance(values, str):
        return parse_axis(f"{fields[0]}={values}")
    try:
        rows = [(value,) for value in values] if isinstance(key, str) else [tuple(row) for row in values]
    except TypeError:  # of what has no entries
        _refuse(fields[0], "needs a list of values", as_toml(values), "a list, of tuples where several fields change")
    odd = next((row for row in rows if len(row) != len(fields)), None)
    if odd is not None:
        _refuse(fields[0], "needs a value for each of its fields", _shown(odd), f"{len(fields)} values")
    plain = [tuple(value.item() if isinstance(value, np.generic) else value for value in row) for row in rows]
    return zipped_axis([(field, [row[place] for row in plain]) for place, field in enumerate(fields)])


def _parse_field(text: str) -> tuple[str, list[Any]]:
    field, equals, values = (part.strip() for part in text.partition("="))
    if not (equals and field and values):
        raise SweepError(Fault(f'axis "{text.strip()}"', "names no field with values", allowed=FORMS))
    matched = _RANGE.fullmatch(values)
    if matched is not None:
        return field, _range(field, values, matched)
    if re.fullmatch(r"[-+0-9.eE]+(:[-+0-9.eE]*){1,3}.*", values):
        _refuse(field, "is not a range", values, "START:STOP:STEP, such as 10:60:2")
    return field, _shared_unit(_list(field, values))


def _range(field: str, text: str, matched: "re.Match[str]") -> list[Any]:
    try:
        start, stop, step = numbers = [Decimal(matched[place]) for place in (1, 2, 3)]
    except DecimalException:
        _refuse(field, "has a number that is too large or too small", text, MAGNITUDES)
    if any(number and abs(number.adjusted()) > MOST_DIGITS for number in numbers):
        _refuse(field, "has a number that is too large or too small", text, MAGNITUDES)
    if step == 0 or (stop - start) * step < 0:
        _refuse(field, "never reaches the end of its range", text, "a step from START towards STOP, other than 0")
    if (stop - start) / step >= MOST_VALUES:
        _refuse(field, "has too many values", text, f"at most {MOST_VALUES}")
    numbers = [start + place * step for place in range(int((stop - start) / step) + 1)]
    unit = matched[4]
    return [f"{_plain(number)} {unit}" if unit else _number(_plain(number)) for number in numbers]


def _list(field: str, text: str) -> list[Any]:
    place = f'axis "{field}"'
    whole = read_list(text, place)
    if whole is not None:
        return whole
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        _refuse(field, "has an empty value", text, FORMS)
    return [read_value(part, place) for part in parts]


def _shared_unit(values: list[Any]) -> list[Any]:
    """Give bare numbers the unit of the last value."""
    matched = _WITH_UNIT.fullmatch(values[-1]) if isinstance(values[-1], str) else None
    return values if matched is None else [_in_unit(value, matched[2]) for value in values]


def _with_unit(values: list[Any], written: object) -> list[Any]:
    matched = _WITH_UNIT.fullmatch(written.strip()) if isinstance(written, str) else None
    return values if matched is None else [_in_unit(value, matched[2]) for value in values]


def _in_unit(value: Any, unit: str) -> Any:
    bare = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST_BARE
    return f"{value} {unit}" if bare or (isinstance(value, str) and _NUMBER.fullmatch(value)) else value


def _plain(number: Decimal) -> str:
    """Write a number without an exponent and without trailing zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _shown(row: Sequence[Any]) -> str:
    return ", ".join(as_toml(value) for value in row)


def _refuse(field: str, problem: str, given: str | None = None, allowed: str | None = None) -> NoReturn:
    raise SweepError(Fault(f'axis "{field}"', problem, given, allowed))
