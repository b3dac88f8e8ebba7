"""Tables of words, on a terminal and as HTML."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

Place = Literal["printed", "page"]
"""Names of the places where tables are read: in a terminal and in Python, in the same words, or on the lab's page."""

LETTERS_OF_A_NAME = 16
"""Letters of a row's name that are never folded into several lines."""
GAP = 2
"""Blanks between two columns."""


class Printed:
    """An object that `print` and the command line write in the same words: its class says how to a console of rich."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> Iterator["RenderableType"]:
            """Give what a console prints, part by part."""

    def __str__(self) -> str:
        from rich.console import Console  # noqa: PLC0415  the library itself does without rich

        written = StringIO()
        width = get_terminal_size().columns
        Console(file=written, width=width, color_system=None, force_jupyter=False, highlight=False).print(self)
        return "\n".join(line.rstrip() for line in written.getvalue().splitlines()).strip()


@dataclass(frozen=True)
class TableText:
    """A table's words: a header a column, and rows of cells; the first column is the name."""

    headers: list[str]
    rows: list[list[str]]
    note: str = ""
    words: frozenset[int] = frozenset()
    """The columns except the first that hold words: they wrap, aligned to the left."""
    names: int = 1
    """Number of first columns that name a row: each part of a table that is too wide begins with them."""


def what_has_all(kind: str, place: Place) -> str:
    """Say what has all rows of a kind, such as "links", for a table that leaves some out."""
    found = {"printed": f"--json, or `result.{kind}` in Python,", "page": "Download, Numbers (CSV),"}
    return f"{found[place]} has all"


def rich_table(table: TableText) -> "RenderableType":
    """Lay a table out for a terminal: the first column to the left, numbers to the right.

    Parameters
    ----------
    table : TableText
        The table to lay out. Where its numbers need more columns than the terminal has, it is printed in parts, each
        with the names.

    Returns
    -------
    rich.console.RenderableType
        What a console prints.
    """
    return _Fitted(table)


@dataclass(frozen=True)
class _Fitted:
    """A table that rich prints, in parts if it is wider than the terminal."""

    table: TableText

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> Iterator["RenderableType"]:
        del console
        for position, part in enumerate(parts_of(self.table, options.max_width)):
            if position > 0:
                yield ""
            yield _laid_out(part)


def parts_of(table: TableText, width: int) -> list[TableText]:
    """Split the columns of a table into parts that a terminal has room for.

    Parameters
    ----------
    table : TableText
        The table; one with columns of words, which wrap, stays whole.
    width : int
        Letters of a line.

    Returns
    -------
    list of TableText
        As few as hold all columns, of about equal width, each with the first column.
    """
    widths, names = [max(map(_letters, column)) for column in zip(table.headers, *table.rows, strict=True)], table.names
    room = width + GAP - sum(min(one, LETTERS_OF_A_NAME) + GAP for one in widths[:names])
    if table.words or sum(one + GAP for one in widths[names:]) <= room:
        return [table]
    fewest = len(_filled(widths, names, room))
    groups = next(groups for part in range(max(room, 0) + 1) if len(groups := _filled(widths, names, part)) <= fewest)

    def cells(row: Sequence[str], group: Sequence[int]) -> list[str]:
        return [*row[:names], *(row[column] for column in group)]

    rows = [[cells(row, group) for row in table.rows] for group in groups]
    return [TableText(cells(table.headers, group), part, names=names) for group, part in zip(groups, rows, strict=True)]


def _filled(widths: Sequence[int], names: int, room: int) -> list[list[int]]:
    """Put columns next to each other until there is no room; a part has at least one."""
    groups: list[list[int]] = []
    left = 0
    for column in range(names, len(widths)):
        needed = widths[column] + GAP
        if not groups or needed > left:
            groups.append([])
            left = room
        groups[-1].append(column)
        left -= needed
    return groups


def _letters(cell: str) -> int:
    return max(map(len, cell.split("\n")))


def _laid_out(table: TableText) -> "Table":
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    laid_out = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for number_of, header in enumerate(table.headers):
        wraps = number_of < table.names or number_of in table.words
        laid_out.add_column(Text(header), justify="left" if wraps else "right", no_wrap=not wraps, overflow="fold")
    for row in table.rows:
        laid_out.add_row(*(Text(cell) for cell in row))
    return laid_out


def html_table(table: TableText) -> str:
    """Write a table as HTML: words to the left, numbers to the right, as on a terminal."""

    def line(tag: str, cells: Sequence[str]) -> str:
        return f"<tr>{''.join(one(tag, column, cell) for column, cell in enumerate(cells))}</tr>"

    def one(tag: str, column: int, cell: str) -> str:
        side = "left" if column < table.names or column in table.words else "right"
        return f'<{tag} style="text-align: {side}">{html.escape(cell).replace(chr(10), "<br>")}</{tag}>'

    rows = "".join(line("td", row) for row in table.rows)
    note = f"<p>{html.escape(table.note)}</p>" if table.note else ""
    return f"<table><thead>{line('th', table.headers)}</thead><tbody>{rows}</tbody></table>{note}"
