"""The kinds of fields that several tables of a scenario share."""

from typing import Annotated, get_args

from ackclock.scenario.amounts import Amount, Span
from ackclock.scenario.contract import RANGES
from ackclock.scenario.fields import Choice, Flag, Text


def most(field: str) -> int:
    """Give the engine's largest value of a whole number."""
    return int(RANGES[field].high)


def name_of(example: str) -> Text:
    """Allow the name of a link, a flow, a host or a channel."""
    return Text(64, example, "[A-Za-z0-9_][A-Za-z0-9_-]*", "a name of letters, digits, _ and -")


def choice(what: str, names: object) -> Choice:
    """Allow the words of a Literal."""
    return Choice(what, get_args(names))


LONGEST_RUN_S = RANGES["run.duration_s"].high
"""Longest run, and longest round trip [s]."""
MOST_STEPS = 1_000_000
"""Largest number of entries of a list of instants or packets."""
MOST_BUFFER_BYTES = most("elements[].buffer.bytes")

TIME = Span("s", 0, 1e5, "0 to 1e5 s")
SOME_BYTES = Span("B", 1, MOST_BUFFER_BYTES, "1 to 1e15 B", whole=True)
PACKET = Span("B", 1, 65535, "1 to 65535 B", whole=True)
PACKET_SIZE = Amount("512 B", (PACKET,))
Switch = Annotated[bool, Flag()]
