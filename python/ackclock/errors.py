"""The exception types of the library, and the fault that most of them carry."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from ackclock.nested import written_out

MOST_FAULTS_SHOWN = 50
"""Most faults that the message of an error lists; `ScenarioError.faults` has all."""
_LONGEST_PART = 1000
"""Largest number of characters of each part of a message: of the place, the problem, what was given and so on."""
_MOST_SHOWN = 1000
"""Most values of a list that a message shows."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, in the order in which a user asks about it.

    Parameters
    ----------
    place : str
        Where it is: table, field, line.
    problem : str
        What is wrong there.
    given : str, optional
        What was found, as it would be written in TOML.
    allowed : str, optional
        What may be written there instead, with an example.
    hint : str, optional
        What was probably meant.
    line : int, optional
        Line of the TOML file, from 1; also part of `place`.
    """

    place: str
    problem: str
    given: str | None = None
    allowed: str | None = None
    hint: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        parts = [f"{shortened(self.place)}: {shortened(self.problem)}"]
        if self.given is not None:
            parts.append(f"given {shortened(self.given)}")
        if self.allowed is not None:
            parts.append(f"allowed {shortened(self.allowed)}")
        if self.hint is not None:
            parts.append(shortened(self.hint))
        return "; ".join(parts)


def shown(value: object) -> str:
    """Write any object for a message, the kind of it if it cannot be written, or would be too long.

    Examples
    --------
    >>> shown([1.5, "a"]), shown(10**5000)
    ("[1.5, 'a']", 'an object of type int')
    """
    if written_out(value) <= _MOST_SHOWN:
        with suppress(RecursionError, TypeError, ValueError):  # of too many digits, or not to be written
            return repr(value)
    return f"an object of type {type(value).__name__}"


def shortened(text: str) -> str:
    """Make a part of a message printable, and cut it off where it is too long to be read."""
    text = printable(text)
    return text if len(text) <= _LONGEST_PART else f"{text[: _LONGEST_PART - 3]}..."


def printable(text: str) -> str:
    r"""Escape lone surrogates, which UTF-8 cannot encode: printing them is an error.

    Examples
    --------
    >>> printable("\ud800")
    '\\ud800'
    """
    return text.encode(errors="backslashreplace").decode()


class AckclockError(Exception):
    """Base class of every exception that ackclock raises on purpose."""

    def __str__(self) -> str:
        return printable(super().__str__())


class UnitError(AckclockError, ValueError):
    """A text that is not a quantity.

    Parameters
    ----------
    problem : str
        What is wrong with the text.
    hint : str, optional
        What was probably meant.
    unknown_unit : str, optional
        The unit that is unknown, where that is the problem.
    """

    def __init__(self, problem: str, hint: str | None = None, unknown_unit: str | None = None) -> None:
        super().__init__(problem, hint, unknown_unit)
        self.problem = problem
        self.hint = hint
        self.unknown_unit = unknown_unit

    def __str__(self) -> str:
        return "; ".join(shortened(part) for part in (self.problem, self.hint) if part is not None)


class ScenarioError(AckclockError, ValueError):
    """A scenario that cannot be run, with all that is wrong with it.

    Parameters
    ----------
    faults : iterable of Fault
        All faults, in the order of the scenario's text.
    source : str
        The file or other origin of the scenario.
    """

    def __init__(self, faults: Iterable[Fault], source: str = "scenario") -> None:
        self.faults: tuple[Fault, ...] = tuple(faults)
        self.source = source
        super().__init__(self.faults, source)

    def __str__(self) -> str:
        number = len(self.faults)
        head = f"{shortened(self.source)}: {number} fault{'' if number == 1 else 's'}"
        shown = [f"  {fault}" for fault in self.faults[:MOST_FAULTS_SHOWN]]
        rest = [f"  and {number - len(shown):,} more"] if number > len(shown) else []
        return "\n".join([head, *shown, *rest])


class ArgumentError(AckclockError, TypeError):
    """An argument of a type that a function does not take.

    Parameters
    ----------
    fault : Fault
        Its place names the function and the argument.
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault

    def __str__(self) -> str:
        return str(self.fault)


class ModelError(AckclockError, ValueError):
    """Arguments for which a model has no value.

    Parameters
    ----------
    fault : Fault
        Its place is the argument's name.
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault

    def __str__(self) -> str:
        return str(self.fault)


class AdviceError(AckclockError, ValueError):
    """A question that there is no advice for.

    Parameters
    ----------
    fault : Fault
        What was asked, and what can be.
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault

    def __str__(self) -> str:
        return str(self.fault)


class EngineError(AckclockError, RuntimeError):
    """The engine refused a resolved scenario, or failed while it ran."""


class LimitError(AckclockError, ValueError):
    """A run or sweep that is expected to take more than the user's limit, or a limit that is not an amount.

    Parameters
    ----------
    fault : Fault
        What is expected, and what is allowed.
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault

    def __str__(self) -> str:
        return str(self.fault)


class LongRunWarning(UserWarning):
    """A run that takes long or much memory, said before it starts."""


class ResultError(AckclockError, ValueError):
    """A stored result that cannot be read."""


class SweepError(AckclockError, ValueError):
    """A sweep that cannot be run, or the items of a paper that do not exist.

    Parameters
    ----------
    fault : Fault
        What is wrong, where.
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault

    def __str__(self) -> str:
        return str(self.fault)
