"""Numbers as people read them: with a prefix, a unit and as many digits as mean something."""

import math
from typing import TYPE_CHECKING

from ackclock.units import show

if TYPE_CHECKING:
    from collections.abc import Callable

PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def number(value: float) -> str:
    """Write a count or a mean of counts.

    Examples
    --------
    >>> number(120.0), number(12345.0), number(3.14159)
    ('120', '12,345', '3.14')
    """
    if value == round(value) or abs(value) >= 1000.0:
        return f"{value:,.0f}"
    return f"{value:.3g}"


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
    return f"{bps / scale:.4g} {prefix}bit/s"


def bit_rate_scale(bps: float) -> tuple[float, str]:
    """Choose the prefix for a bit rate, and what to divide by."""
    return next(((scale, prefix) for scale, prefix in PREFIXES if abs(bps) >= scale), PREFIXES[-1])


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
    """
    if not math.isfinite(value):
        return "-"
    writers: dict[str, Callable[[float], str]] = {
        "bit/s": bit_rate,
        "s": seconds,
        "pkt": lambda count: plural(count, "packet"),
        "pkt/s": lambda rate: f"{rate:.4g} packets/s",
        "1": lambda part: f"{100.0 * part:.3g}%",
    }
    return writers[unit](value)
