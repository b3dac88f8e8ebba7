"""Numbers as people read them: with a prefix, a unit and as many digits as mean something."""

import math
from typing import TYPE_CHECKING

from ackclock.units import show

if TYPE_CHECKING:
    from collections.abc import Callable

PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


LEAST_S = 1e-6
"""Least delay that is written as a number [s]; a smaller one is of rounding."""
LEAST_PERCENT = 1e-3
"""Least percentage that is written as a number; a smaller one is written as less, and a smaller change as 0."""


def significant(value: float, digits: int, *, sign: bool = False, zeros: bool = False) -> str:
    """Write a number in some significant digits, as people do: never with an exponent, thousands apart.

    Parameters
    ----------
    value : float
        The number.
    digits : int
        Significant digits.
    sign : bool
        Whether a positive number has a plus.
    zeros : bool
        Whether zeros at the end of a fraction stay.

    Examples
    --------
    >>> significant(16676.4, 4), significant(0.0023456, 3), significant(2434.7, 3, sign=True), significant(0.0, 3)
    ('16,680', '0.00235', '+2,430', '0')
    >>> significant(2.5, 3), significant(2.5, 3, zeros=True), significant(math.inf, 3)
    ('2.5', '2.50', 'inf')
    """
    if value == 0.0 or not math.isfinite(value):
        return f"{value:{'+' if sign and value else ''}g}"
    rounded = float(f"{value:.{digits}g}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    text = f"{rounded:{'+' if sign else ''},.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals > 0 and not zeros else text


def percent(fraction: float, digits: int = 3, *, sign: bool = False) -> str:
    """Write a fraction in percent.

    Examples
    --------
    >>> percent(0.6512), percent(7.53e-7), percent(0.0), percent(24.3, sign=True)
    ('65.1%', '<0.001%', '0%', '+2,430%')
    """
    return f"{hundredths(100.0 * fraction, digits, sign=sign)}%"


def hundredths(value: float, digits: int = 3, *, sign: bool = False, zeros: bool = False) -> str:
    """Write a number of percent without the sign of percent, for a column that has it above.

    Examples
    --------
    >>> hundredths(7.53e-5), hundredths(-7.53e-5, sign=True), hundredths(12.0)
    ('<0.001', '0', '12')
    """
    if abs(value) < LEAST_PERCENT and sign:
        return "0"
    if 0.0 < value < LEAST_PERCENT:
        return f"<{LEAST_PERCENT:g}"
    return significant(value, digits, sign=sign, zeros=zeros)


def number(value: float) -> str:
    """Write a count or a mean of counts.

    Examples
    --------
    >>> number(120.0), number(12345.0), number(3.14159)
    ('120', '12,345', '3.14')
    """
    if value == round(value) or abs(value) >= 1000.0:
        return f"{value:,.0f}"
    return significant(value, 3)


def half_width(half: float, mean: float) -> str:
    """Write half of an interval in percent of its mean, with two digits.

    Examples
    --------
    >>> half_width(0.1234, 1.0), half_width(490.0, -100.0), half_width(1.0, 0.0), half_width(math.inf, 1.0)
    ('±12%', '±490%', '±?', '±?')
    """
    return f"±{percent(half / abs(mean), 2)}" if mean and math.isfinite(half / mean) else "±?"


def plural(count: float, singular: str, several: str | None = None) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> plural(1.0, "packet"), plural(60.5, "packet"), plural(0, "recovery", "recoveries")
    ('1 packet', '60.5 packets', '0 recoveries')
    """
    return f"{number(count)} {singular if count == 1 else several or singular + 's'}"


def bit_rate(bps: float) -> str:
    """Write a bit rate in four digits.

    Examples
    --------
    >>> bit_rate(1.3712e6), bit_rate(0.0)
    ('1.371 Mbit/s', '0 bit/s')
    """
    scale, prefix = bit_rate_scale(bps)
    return f"{significant(bps / scale, 4)} {prefix}bit/s"


def bit_rate_scale(bps: float) -> tuple[float, str]:
    """Choose the prefix for a bit rate, and what to divide by."""
    return next(((scale, prefix) for scale, prefix in PREFIXES if abs(bps) >= scale), PREFIXES[-1])


def megabytes(size_bytes: float) -> str:
    """Write a size with two digits."""
    return f"{float(f'{size_bytes / 1e6:.2g}'):g} MB"


def seconds(value: float) -> str:
    """Write a time in four digits.

    Examples
    --------
    >>> seconds(0.56042), seconds(2000.0)
    ('560.4 ms', '2000 s')
    """
    return show(float(f"{value:.4g}"), "s")


def amount(value: float, unit: str) -> str:
    """Write a quantity in its unit; fractions as percent.

    Examples
    --------
    >>> amount(0.6512, "1"), amount(60.29, "pkt"), amount(1.25e6, "bit/s"), amount(float("nan"), "s")
    ('65.1%', '60.3 packets', '1.25 Mbit/s', '-')
    >>> amount(8.38e-9, "s"), amount(0.0, "s"), amount(2.5e-6, "s")
    ('<1 us', '0 s', '2.5 us')
    """
    if not math.isfinite(value):
        return "-"
    writers: dict[str, Callable[[float], str]] = {
        "bit/s": bit_rate,
        "s": lambda time_s: f"<{seconds(LEAST_S)}" if 0.0 < time_s < LEAST_S else seconds(time_s),
        "pkt": lambda count: plural(count, "packet"),
        "pkt/s": lambda rate: f"{significant(rate, 4)} packets/s",
        "1": percent,
        "B": megabytes,
    }
    return writers[unit](value)
