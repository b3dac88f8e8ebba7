"""Quantities with units: text to SI numbers, and SI numbers to text.

Bits and bytes, packets and seconds are all that a scenario measures, so the unit registry holds these alone. That keeps
its making under 5 ms, and keeps the units of physics that look alike out of the way (``b`` is not a barn here).
"""

import re
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from ackclock.errors import UnitError

if TYPE_CHECKING:
    import pint

Unit = Literal["s", "bit/s", "B", "pkt"]

DIMENSIONS: Final[dict[Unit, str]] = {
    "s": "a time",
    "bit/s": "a rate",
    "B": "an amount of data",
    "pkt": "a number of packets",
}
"""The units that quantities are turned into, and what each measures."""

_TIME = "(?:[pnuµμm]?s|sec|min|h|d|seconds?|minutes?|hours?|days?)"
_DATA = "(?:[kMGTP]|[KMGT]i)?(?:bits?|bytes?|B)"

UNIT_PATTERNS: Final[dict[Unit, str]] = {
    "s": _TIME,
    "bit/s": f"(?:{_DATA}/{_TIME}|[kMGTP]?bps)",
    "B": _DATA,
    "pkt": "(?:pkts?|packets?)",
}
"""The spellings of each unit, as regular expressions that Python and JSON Schema both read."""

NUMBER_PATTERN: Final = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
"""Pattern of the number of a quantity."""

_QUANTITY = re.compile(rf"(?P<number>{NUMBER_PATTERN})\s*(?P<unit>.*)", re.DOTALL)
_NOT_FINITE = re.compile(r"[+-]?(?:inf|nan|infinity)\b", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+)(\D.*)", re.DOTALL)
_LONE_B = re.compile(r"([kKMGTP]?)i?b(/\w+|ps)?")
USUAL_UNITS: Final = (
    *("ps", "ns", "us", "ms", "s", "min", "h", "d", "pkt", "packets"),
    *("bit", "kbit", "Mbit", "Gbit", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB"),
    *("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "bps", "kbps", "Mbps", "Gbps", "B/s", "kB/s", "MB/s", "GB/s"),
)
"""Spellings worth suggesting."""

_KNOWN_SLIPS = {
    "m": 'write "ms" (milliseconds) or "min" (minutes)',
    "M": 'write the whole unit: "MB" (megabytes), "Mbit/s" (megabits a second)',
    "k": 'write the whole unit: "kB" (kilobytes), "kbit/s" (kilobits a second)',
    "p": 'write "pkt" (packets)',
}
_DEFINITIONS = """
pico- = 1e-12 = p-
nano- = 1e-9 = n-
micro- = 1e-6 = µ- = μ- = u-
milli- = 1e-3 = m-
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
tera- = 1e12 = T-
peta- = 1e15 = P-
kibi- = 1024 = Ki-
mebi- = 1048576 = Mi-
gibi- = 1073741824 = Gi-
tebi- = 1099511627776 = Ti-
second = [time] = s = sec
minute = 60 * second = min
hour = 60 * minute = h
day = 24 * hour = d
bit = [information]
byte = 8 * bit = B
packet = [packets] = pkt
bps = bit / second
"""
_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_PINT_NAMES: dict[Unit, str] = {"s": "second", "bit/s": "bit/second", "B": "byte", "pkt": "packet"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with one of the four units that a scenario is resolved into."""

    value: float
    unit: Unit

    def __str__(self) -> str:
        return show(self.value, self.unit)


def parse(text: str) -> Quantity:
    """Read a quantity such as ``"1.5 Mbit/s"``.

    Parameters
    ----------
    text : str
        A decimal number and a unit: of time (``ps`` to ``d``), of rate (``bit/s``, ``Mbit/s``, ``Mbps``, ``kB/s``),
        of data (``B``, ``kB`` = 1000 B, ``KiB`` = 1024 B, ``bit``, ...) or ``pkt``.

    Returns
    -------
    Quantity
        In ``s``, ``bit/s``, ``B`` or ``pkt``, correctly rounded. Any size or sign; a number too large for a float is
        infinite.

    Raises
    ------
    UnitError
        If the text is not a number with a unit.

    Examples
    --------
    >>> parse("1.5 Mbit/s")
    Quantity(value=1500000.0, unit='bit/s')
    >>> parse("64 KiB")
    Quantity(value=65536.0, unit='B')
    """
    if not isinstance(text, str):
        raise UnitError("is not a text")
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise _no_number(text.strip())
    number, unit_text = match["number"], match["unit"].strip()
    if not unit_text:
        raise UnitError("has no unit")
    unit = next((unit for unit, pattern in UNIT_PATTERNS.items() if re.fullmatch(pattern, unit_text)), None)
    if unit is None:
        raise _no_unit(number, unit_text)
    try:
        return Quantity(float(Decimal(number) * _factor(unit_text, unit)), unit)
    except DecimalException:
        exponent = re.split("[eE]", number)[-1]
        return Quantity(0.0 if exponent.startswith("-") else float("inf"), unit)


def show(value: float, unit: Unit, digits: int = 6) -> str:
    """Write a number of SI units with the prefix that suits its size.

    Parameters
    ----------
    value : float
        The number [`unit`].
    unit : {"s", "bit/s", "B", "pkt"}
        Its unit.
    digits : int
        Significant digits.

    Returns
    -------
    str
        The quantity; `parse` reads it again.

    Examples
    --------
    >>> show(2.7e6, "bit/s"), show(0.56, "s"), show(512, "B")
    ('2.7 Mbit/s', '560 ms', '512 B')
    """
    scale: tuple[tuple[float, str], ...]
    if unit == "s":
        scale = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"), (1e-12, "ps"))
    elif unit == "pkt":
        scale = ((1.0, "pkt"),)
    else:
        scale = tuple((factor, prefix + unit) for factor, prefix in _PREFIXES)
    rounded = abs(float(f"{value:.{digits}g}"))
    factor, name = next((step for step in scale if rounded >= step[0]), scale[0] if value == 0 else scale[-1])
    return f"{value / factor:.{digits}g} {name}"


@lru_cache(maxsize=1)
def _registry() -> "pint.UnitRegistry[Decimal]":
    import pint  # noqa: PLC0415 (takes a quarter of a second)

    registry: pint.UnitRegistry[Decimal] = pint.UnitRegistry(None, non_int_type=Decimal)
    registry.load_definitions(_DEFINITIONS.splitlines())
    return registry


@lru_cache(maxsize=256)
def _factor(unit_text: str, unit: Unit) -> Decimal:
    registry = _registry()
    return registry.Quantity(Decimal(1), registry.parse_units(unit_text)).m_as(_PINT_NAMES[unit])


def _no_number(text: str) -> UnitError:
    if not text:
        return UnitError("is empty")
    if _NOT_FINITE.match(text):
        return UnitError("is not finite")
    comma = _DECIMAL_COMMA.fullmatch(text)
    if comma is not None:
        whole, fraction, rest = comma.groups()
        return UnitError("is not a number with a unit", f'write a decimal point: "{whole}.{fraction}{rest}"')
    return UnitError("is not a number with a unit")


def _no_unit(number: str, unit_text: str) -> UnitError:
    if not unit_text[0].isalpha():
        return _no_number(number + unit_text)
    lone_b = _LONE_B.fullmatch(unit_text)
    if lone_b is not None:
        prefix = lone_b[1].replace("K", "k")
        per = "/s" if lone_b[2] == "ps" else lone_b[2] or ""
        hint = f'write "{prefix}bit{per}" (bits) or "{prefix}B{per}" (bytes)'
        return UnitError(f'has the ambiguous unit "{unit_text}"', hint)
    if unit_text == "KB":
        return UnitError('has the ambiguous unit "KB"', 'write "kB" (1000 bytes) or "KiB" (1024 bytes)')
    return UnitError(f'has the unknown unit "{unit_text[:20]}"', _KNOWN_SLIPS.get(unit_text), unit_text)
