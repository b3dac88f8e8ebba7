"""Tables of words, on a terminal and as HTML."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class TableText:
    """A table's words: a header a column, and rows of cells; the first column is the name."""

    headers: list[str]
    rows: list[list[str]]
    note: str = ""
    words: frozenset[int] = frozenset()
    """The columns except the first that hold words: they wrap, aligned to the left."""


def rich_table(table: TableText) -> "RenderableType":
    """Lay a table out for a terminal: the first column to the left, numbers to the right."""
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    laid_out = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for number_of, header in enumerate(table.headers):
        wraps = number_of == 0 or number_of in table.words
        laid_out.add_column(Text(header), justify="left" if wraps else "right", no_wrap=not wraps, overflow="fold")
    for row in table.rows:
        laid_out.add_row(*(Text(cell) for cell in row))
    return laid_out


def html_table(table: TableText) -> str:
    """Write a table as HTML."""

    def line(tag: str, cells: Sequence[str]) -> str:
        return (
            "<tr>" + "".join(f"<{tag}>{html.escape(cell).replace(chr(10), '<br>')}</{tag}>" for cell in cells) + "</tr>"
        )

    rows = "".join(line("td", row) for row in table.rows)
    note = f"<p>{html.escape(table.note)}</p>" if table.note else ""
    return f"<table><thead>{line('th', table.headers)}</thead><tbody>{rows}</tbody></table>{note}"
