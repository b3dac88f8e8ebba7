"""Columns of quantities, and rows of tables made of them: one row for each flow or link, or what many spread over."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ackclock.groups import by_table, row_name
from ackclock.wording import LEAST_S, hundredths, number, significant

Row = Mapping[str, Any]

MOST_ROWS = 12
MOST_DECIMALS = 6
PERCENT, MILLISECOND = 0.01, 1e-3
_DIGITS_OF_ENDS = 3
_SYMMETRIC = 0.01
"""Distance of an interval's middle from its value, over its width, up to which the table shows half of it."""


@dataclass(frozen=True)
class Column:
    """The column of one quantity in a table: its title, its unit and its digits.

    Parameters
    ----------
    key : str
        The summary's key.
    title : str
        What the reader calls it, and its unit on a line of its own.
    scale : float
        What to divide by for that unit.
    digits : int, optional
        Significant digits; `None` for a count.
    additive : bool
        Whether a sum over flows means something.
    """

    key: str
    title: str
    scale: float = 1.0
    digits: int | None = 4
    additive: bool = False

    def text(self, value: float) -> str:
        """Write one value."""
        scaled = value / self.scale
        if scaled == 0.0 or self.digits is None:
            return number(scaled)
        if self.scale == PERCENT:
            return hundredths(scaled, self.digits, zeros=True)
        if self.scale == MILLISECOND and 0.0 < value < LEAST_S:
            return f"<{LEAST_S / MILLISECOND:g}"
        return significant(scaled, self.digits, zeros=True)

    def interval(self, value: float, half_width: float) -> str:
        """Write a value over half its interval, both to the interval's second digit."""
        decimals = max(0, 1 - math.floor(math.log10(half_width / self.scale)))
        is_rounding = self.scale == MILLISECOND and value > 0.0 and value + half_width < LEAST_S
        if decimals > MOST_DECIMALS or is_rounding:
            return self.text(value)
        return f"{value / self.scale:,.{decimals}f}\n±{half_width / self.scale:,.{decimals}f}"


def mean_of(found: Mapping[str, Any] | None) -> float:
    """Take a quantity's mean, 0 if nothing was measured."""
    return 0.0 if found is None or found["mean"] is None else float(found["mean"])


def _cell(found: Mapping[str, Any] | None, column: Column) -> str:
    if found is None or found["mean"] is None:
        return "-"
    if found["low"] is None or not found["high"] > found["low"]:
        return column.text(found["mean"])
    mean, low, high = found["mean"], found["low"], found["high"]
    if abs((low + high) / 2.0 - mean) > _SYMMETRIC * (high - low):
        ends = replace(column, digits=column.digits and _DIGITS_OF_ENDS)
        return f"{column.text(mean)}\n[{ends.text(low)}, {ends.text(high)}]"
    return column.interval(mean, (high - low) / 2.0)


def sum_row(flows: Sequence[Row], columns: Sequence[Column]) -> list[str]:
    """Lay out the sum of each column that has one."""
    sums = (
        column.text(sum(mean_of(flow[column.key]) for flow in flows)) if column.additive else "" for column in columns
    )
    return list(sums)


def _over_rows(rows: Sequence[Row], column: Column, pick: Callable[[list[float]], float]) -> str:
    means = [row[column.key]["mean"] for row in rows if row[column.key] is not None]
    known = [mean for mean in means if mean is not None]
    return column.text(pick(known)) if known else "-"


def rows_or_spread(rows: Sequence[Row], columns: Sequence[Column]) -> list[list[str]]:
    """Lay out rows one by one; of many, the copies of each table as what they spread over."""
    tables = by_table(rows, row_name) if len(rows) > MOST_ROWS else {row["name"]: [row] for row in rows}
    return [
        cells
        for name, group in tables.items()
        for cells in (spread_rows(f"{name} ", group, columns) if len(group) > 1 else plain_rows(group, columns))
    ]


def plain_rows(rows: Sequence[Row], columns: Sequence[Column]) -> list[list[str]]:
    """Lay out rows one by one, each with its name."""
    return [[row["name"], *(_cell(row[column.key], column) for column in columns)] for row in rows]


def spread_rows(prefix: str, rows: Sequence[Row], columns: Sequence[Column]) -> list[list[str]]:
    """Lay out the lowest, the median and the highest of each column."""
    kinds: tuple[tuple[str, Callable[[list[float]], float]], ...] = (
        ("lowest", min),
        ("median", statistics.median),
        ("highest", max),
    )
    return [[f"{prefix}{kind}", *(_over_rows(rows, column, pick) for column in columns)] for kind, pick in kinds]
