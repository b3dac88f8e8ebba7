"""Limits of what a run or a sweep may take: a sentence before a long one, an error beyond the user's limit."""

import os
from collections.abc import Sequence
from typing import Final

from ackclock.cost import Estimate
from ackclock.errors import Fault, LimitError, UnitError, shown
from ackclock.units import Quantity, parse
from ackclock.wording import plural, significant

LIMIT: Final = "ACKCLOCK_LIMIT"
"""The environment variable with the limits of all runs that are not given others, separated by commas."""
LONG_S, LARGE_BYTES = 10.0, 1e9
"""Time [s] and memory [B] from which a run says what it takes before it starts."""
_ALLOWED: Final = 'a time, an amount of memory or a number of packets, such as "10 min", "2 GB" or "1e9 pkt"'
HINT: Final = "shorten run.duration, lower the rates or the number of flows, or raise the limit"
"""Ways out for a user who may choose the limits."""
MOST_DIGITS: Final = 17
"""Digits from which two numbers that differ are written the same."""
_UNITS: Final = ("s", "B", "pkt")


def read_limits(given: str | Sequence[str] | None) -> tuple[Quantity, ...]:
    """Read what the user allows.

    Parameters
    ----------
    given : str or sequence of str, optional
        Amounts: of time, of memory, of packets; those of the environment variable if None.

    Returns
    -------
    tuple of Quantity
        Each limit.

    Raises
    ------
    LimitError
        If one of them is not such an amount.

    Examples
    --------
    >>> read_limits(["10 min", "2 GB"])
    (Quantity(value=600.0, unit='s'), Quantity(value=2000000000.0, unit='B'))
    """
    place = "limit"
    if given is None:
        place, words = f"environment variable {LIMIT}", os.environ.get(LIMIT, "")
        given = words.split(",") if words.strip() else []
    if not isinstance(given, Sequence):
        raise LimitError(Fault(place, "is not a text or a list of texts", shown(given), _ALLOWED))
    return tuple(_limit(place, text) for text in ([given] if isinstance(given, str) else given))


def _limit(place: str, text: str) -> Quantity:
    try:
        amount = parse(text)
    except (UnitError, AttributeError, TypeError) as error:
        problem = str(error) if isinstance(error, UnitError) else "is not a text"
        raise LimitError(Fault(place, problem, given=f'"{text}"', allowed=_ALLOWED)) from None
    if amount.unit not in _UNITS or not amount.value > 0.0:
        raise LimitError(Fault(place, "limits nothing", given=f'"{text}"', allowed=_ALLOWED))
    return amount


def refuse_beyond(limits: Sequence[Quantity], expected: Estimate, *, what: str = "the run", hint: str = HINT) -> None:
    """Refuse what is expected to take more than a limit.

    Parameters
    ----------
    limits : sequence of Quantity
        The limits.
    expected : Estimate
        What is expected.
    what : str
        What is refused.
    hint : str
        What the user can do.

    Raises
    ------
    LimitError
        With the expected amount and the limit.
    """
    amounts = {
        "s": expected.seconds * expected.most,
        "B": expected.memory_bytes,
        "pkt": expected.packets * expected.most,
    }
    for limit in limits:
        amount = amounts[limit.unit]
        if amount > limit.value:
            most = "up to" if expected.most > 1.0 and limit.unit != "B" else "about"
            more, given = _apart(amount, limit.value, limit.unit)
            problem = f"is less than {what} is expected to take, {most} {more}"
            raise LimitError(Fault("limit", problem, given=given, hint=hint))


def is_long(expected: Estimate) -> bool:
    """Return whether the user must hear what a run takes before it starts."""
    return expected.seconds * expected.most > LONG_S or expected.memory_bytes > LARGE_BYTES


def sentence(expected: Estimate) -> str:
    """Say in one sentence what a run is expected to take.

    Parameters
    ----------
    expected : Estimate
        What is expected.

    Returns
    -------
    str
        Packets, time and memory.

    Examples
    --------
    >>> sentence(Estimate(3.2e9, 400.0, 2.4e8, threads=2))
    'About 3.2 billion packets: 6.7 min of computing with 2 threads, 240 MB of memory'
    """
    words = (
        f"About {worded(expected.packets, 'pkt')}: {worded(expected.seconds, 's')} of computing with "
        f"{plural(expected.threads, 'thread')}, {worded(expected.memory_bytes, 'B')} of memory"
    )
    if expected.most > 1.0:
        words += (
            f"; up to {significant(expected.most, 2)} times the packets and the time for the precision that is wanted"
        )
    return words


def _apart(amount: float, other: float, unit: str) -> tuple[str, str]:
    """Write two amounts with as many digits as it takes to see that they differ."""
    pairs = [(worded(amount, unit, digits), worded(other, unit, digits)) for digits in range(2, MOST_DIGITS)]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[-1])


def worded(amount: float, unit: str, digits: int = 2) -> str:
    """Write an amount in the unit in which people have it.

    Parameters
    ----------
    amount : float
        The amount.
    unit : str
        "s", "B" or "pkt".
    digits : int
        Significant digits.
    """
    scales: dict[str, tuple[tuple[float, str], ...]] = {
        "s": ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s")),
        "B": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")),
        "pkt": ((1e9, "billion packets"), (1e6, "million packets"), (1.0, "packets")),
    }
    factor, name = next((scale for scale in scales[unit] if amount >= scale[0]), scales[unit][-1])
    return f"{significant(amount / factor, digits)} {name}"
