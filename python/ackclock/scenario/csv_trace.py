"""CSV files with a row for each change of a quantity: an instant, and the value from then on."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ackclock.scenario.named_file import read_named_file
from ackclock.scenario.places import as_toml
from ackclock.scenario.schema_kinds import LONGEST_RUN_S, MOST_STEPS
from ackclock.scenario.tables import TableError

MOST_TRACE_BYTES = 32_000_000
"""Largest size of a file of changes [B]."""


@dataclass(frozen=True, slots=True)
class TraceColumn:
    """The second column of a trace.

    Parameters
    ----------
    name : str
        Its quantity, such as "delay".
    unit : str
        Unit of its values.
    most : float
        Largest value; the smallest is 0.
    """

    name: str
    unit: str
    most: float

    @property
    def row(self) -> str:
        """The words for a row's two columns."""
        return f"time in s, {self.name} in {self.unit}"


def read_trace(name: str, folder: Path | None, column: TraceColumn) -> list[tuple[float, float]]:
    """Read a file of instants and values; its first value holds from the start.

    Parameters
    ----------
    name : str
        The file, as the scenario names it.
    folder : Path, optional
        Where the scenario's file is.
    column : TraceColumn
        What the values are.

    Returns
    -------
    list of tuple
        Each instant [s] and the value from then on; the first instant is 0.

    Raises
    ------
    TableError
        If the file cannot be read, is empty or too long, or if a row is not a pair of numbers in range and in order.
    """
    steps: list[tuple[float, float]] = []
    for line, row in _rows(read_named_file(name, folder, MOST_TRACE_BYTES)):
        time, value = _numbers(line, row, column)
        if steps and time <= steps[-1][0]:
            raise TableError("file", f"goes back in time in line {line}: {as_toml(', '.join(row))}")
        steps.append((time, value))
        if len(steps) > MOST_STEPS:
            raise TableError("file", f"has more than {MOST_STEPS} rows")
    if not steps:
        raise TableError("file", "has no rows", allowed=f"a row for each change: {column.row}")
    return [(0.0, steps[0][1]), *steps[1:]]


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Give the rows with their lines; a first one that is not a pair of numbers is the head, "#" begins a comment."""
    first = True
    for line, content in enumerate(text.splitlines(), 1):
        row = next(csv.reader([content.partition("#")[0]]), [])
        if any(cell.strip() for cell in row):
            if not (first and not any(_is_number(cell) for cell in row)):
                yield line, row
            first = False


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(line: int, row: list[str], column: TraceColumn) -> tuple[float, float]:
    allowed = f"two numbers in each row, a comma between them: {column.row}"
    if len(row) != 2 or not all(_is_number(cell) for cell in row):
        raise TableError("file", f"has no pair of numbers in line {line}: {as_toml(', '.join(row))}", allowed=allowed)
    time, value = float(row[0]), float(row[1])
    if not (0.0 <= time <= LONGEST_RUN_S and 0.0 <= value <= column.most):
        most = f"{column.most:.0e}".replace("e+0", "e").replace("e+", "e")
        allowed = f"times from 0 to 1e7 s, {column.name}s from 0 to {most} {column.unit}"
        raise TableError("file", f"is out of range in line {line}: {as_toml(', '.join(row))}", allowed=allowed)
    return time, value
