"""Tables on a terminal: no line is wider than it, and names and numbers stay whole."""

from io import StringIO

import pytest
from rich.console import Console

from ackclock.tables import LETTERS_OF_A_NAME, TableText, parts_of, rich_table

NAMES = ["satellite", "a", "x" * LETTERS_OF_A_NAME]
HEADERS = ["link", "rate", "utilis-\nation %", "throughput\nMbit/s", "loss\n%", "dropped\npackets", "queue\nmean"]
ROWS = [[name, "100 Mbit/s", "99.99\n±0.0012", "123.45\n±0.12", "0.406", "1,234,567", "12.25\n±0.5"] for name in NAMES]
TABLE = TableText(HEADERS, ROWS)


def printed(table: TableText, width: int) -> list[str]:
    console = Console(file=StringIO(), width=width)
    console.print(rich_table(table))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_a_table_that_fits_is_one() -> None:
    assert parts_of(TABLE, 80) == [TABLE]
    assert sum(line.startswith("satellite") for line in printed(TABLE, 80)) == 1


@pytest.mark.parametrize("width", [79, 60, 45, 30, 5])
def test_a_table_that_is_too_wide_comes_in_parts_that_hold_everything(width: int) -> None:
    parts = parts_of(TABLE, width)
    assert len(parts) > 1 or width == 79
    assert [header for part in parts for header in part.headers[1:]] == HEADERS[1:]
    for row, name in enumerate(NAMES):
        assert all(part.rows[row][0] == name for part in parts)
        assert [cell for part in parts for cell in part.rows[row][1:]] == ROWS[row][1:]


@pytest.mark.parametrize("width", [79, 60, 45, 30])
def test_no_line_is_too_wide_and_no_name_or_number_is_cut(width: int) -> None:
    lines = printed(TABLE, width)
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    parts = len(parts_of(TABLE, width))
    for name in NAMES:
        assert words.count(name) == parts
    for number in ("99.99", "±0.0012", "123.45", "0.406", "1,234,567", "12.25"):
        assert words.count(number) == len(NAMES)


def test_every_column_that_names_a_row_is_in_each_part() -> None:
    table = TableText(["buffer", *HEADERS], [["10 pkt", *row] for row in ROWS], names=2)
    parts = parts_of(table, 60)
    assert len(parts) > 1
    assert all(part.headers[:2] == ["buffer", "link"] for part in parts)
    assert [cell for part in parts for cell in part.rows[0][2:]] == ROWS[0][1:]
    assert max(map(len, printed(table, 60))) <= 60
    assert printed(table, 60)[3].startswith("10 pkt  satellite ")


def test_the_parts_are_about_equally_wide() -> None:
    first, second = (max(map(len, part.headers[1:])) * len(part.headers[1:]) for part in parts_of(TABLE, 60))
    assert 0.3 < first / second < 3.0


def test_columns_of_words_wrap_instead() -> None:
    listed = TableText(["preset", "TCP"], [["tahoe-ns2", "a long text " * 20]], words=frozenset({1}))
    assert parts_of(listed, 80) == [listed]
    assert max(map(len, printed(listed, 80))) <= 80
