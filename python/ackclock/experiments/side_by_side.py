"""Tables of a paper with its numbers and ours side by side, cell by cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pandas as pd

DIGITS: Final = 4


@dataclass(frozen=True)
class Cell:
    """A number of the paper and ours.

    Parameters
    ----------
    paper, ours : float
        The numbers; nan for a missing one.
    low, high : float
        Ends of the interval of ours; nan without one.
    """

    paper: float = nan
    ours: float = nan
    low: float = nan
    high: float = nan

    @property
    def interval(self) -> str:
        """The interval for people; empty without one."""
        known = isfinite(self.low) and isfinite(self.high) and self.high > self.low
        return f"{self.low:.{DIGITS}g} to {self.high:.{DIGITS}g}" if known else ""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    title : str
        What it holds, with the unit.
    cells : sequence of Cell
        Its cells, one a row.
    """

    title: str
    cells: Sequence[Cell]


@dataclass(frozen=True)
class SideBySide:
    """A table of the paper, each number next to ours.

    Parameters
    ----------
    title : str
        What it shows.
    names : mapping of str to sequence of str
        The columns that name a row, by their titles.
    columns : sequence of Column
        The columns of numbers.
    """

    title: str
    names: Mapping[str, Sequence[str]]
    columns: Sequence[Column] = field(default_factory=tuple)

    @property
    def rows(self) -> list[tuple[list[str], list[Cell]]]:
        """Names and cells of each row."""
        count = len(next(iter(self.names.values())))
        return [
            ([names[row] for names in self.names.values()], [column.cells[row] for column in self.columns])
            for row in range(count)
        ]

    @property
    def frame(self) -> "pd.DataFrame":
        """A row a row; of each column of numbers the paper's, ours and the ends of the interval of ours."""
        import pandas as pd  # noqa: PLC0415  half a second that other uses need not pay

        found: dict[str, Any] = {title: list(names) for title, names in self.names.items()}
        for column in self.columns:
            for name, part in (("the paper", "paper"), ("ours", "ours"), ("low", "low"), ("high", "high")):
                found[f"{column.title}, {name}"] = [getattr(cell, part) for cell in column.cells]
        return pd.DataFrame(found)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; a missing number gives a null."""
        columns = [
            {"title": one.title, "cells": [[_or_none(n) for n in _numbers(cell)] for cell in one.cells]}
            for one in self.columns
        ]
        return {"title": self.title, "names": {key: list(value) for key, value in self.names.items()}} | {
            "columns": columns
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "SideBySide":
        """Read what `to_dict` gave."""
        columns = [
            Column(one["title"], [Cell(*(nan if n is None else n for n in cell)) for cell in one["cells"]])
            for one in content["columns"]
        ]
        return cls(content["title"], content["names"], columns)


def column(title: str, paper: Any, ours: Any, low: Any = None, high: Any = None) -> Column:
    """Make a column of numbers from series of one length; one that is left out is missing."""
    count = len(ours)
    parts = [[nan] * count if part is None else [float(n) for n in part] for part in (paper, ours, low, high)]
    return Column(title, [Cell(*cells) for cells in zip(*parts, strict=True)])


def shown(value: float) -> str:
    """Write a number for people; a missing one is empty."""
    return "" if isnan(value) else f"{value:.{DIGITS}g}"


def _numbers(cell: Cell) -> tuple[float, float, float, float]:
    return cell.paper, cell.ours, cell.low, cell.high


def _or_none(value: float) -> float | None:
    return value if isfinite(value) else None
