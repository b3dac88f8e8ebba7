"""The memory that the rows of traces may take."""

import os
from typing import Final

from ackclock.errors import EngineError, UnitError
from ackclock.units import parse

TRACE_MEMORY: Final = "ACKCLOCK_TRACE_MEMORY"
"""The environment variable that changes the limit."""
DEFAULT_BYTES: Final = 500_000_000


def trace_limit() -> int:
    """Give the memory that the recorded rows of all replications may take, in the engine.

    Returns
    -------
    int
        500 MB, or what the environment variable says [B].

    Raises
    ------
    EngineError
        If the variable holds no amount of bytes.
    """
    given = os.environ.get(TRACE_MEMORY)
    if given is None:
        return DEFAULT_BYTES
    try:
        amount = parse(given)
    except UnitError as error:
        raise _refused(given, str(error)) from None
    if amount.unit != "B" or not 0.0 < amount.value < 2.0**63:
        raise _refused(given, "is not an amount of memory")
    return int(amount.value)


def _refused(given: str, problem: str) -> EngineError:
    return EngineError(f'environment variable {TRACE_MEMORY}: {problem}; given "{given}"; allowed such as "2 GB"')
