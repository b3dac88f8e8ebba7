"""Bounds of a scenario as a whole, which are looked at before anything is built from it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ackclock.errors import Fault
from ackclock.scenario.places import Places
from ackclock.scenario.sizes import MOST_SIZES_BYTES

MOST_TABLES: Final = {
    "link": 50_000,
    "flow": 50_000,
    "host": 50_000,
    "atm_link": 1000,
    "channel": 1000,
    "cross_traffic": 1000,
}
"""Largest number of tables of each kind; SECURITY.md says what the most costs."""
MOST_NAMED_BYTES: Final = MOST_SIZES_BYTES
"""Largest size of all files together that a scenario names, each counted as often as it is named [B]."""
_WORDS: Final = {"atm_link": "ATM links", "cross_traffic": "sources of cross-traffic"}


def number_faults(places: Places) -> Iterator[Fault]:
    """Give the faults of what is too much of a scenario, whatever else is wrong with it.

    Parameters
    ----------
    places : Places
        Names the places of the document.

    Yields
    ------
    Fault
        Each fault.
    """
    document = places.source.document
    for kind, most in MOST_TABLES.items():
        number = len(_tables(document, kind))
        if number > most:
            problem = f"has too many {_WORDS.get(kind, f'{kind}s')}"
            yield places.fault((), problem, given=f"{number} [[{kind}]]", allowed=f"{most} at most")
    named = sum(_size_bytes(name, places.source.folder) for name in _named_files(document))
    if named > MOST_NAMED_BYTES:
        given, allowed = (f"{size / 1e6:,.0f} MB" for size in (named, MOST_NAMED_BYTES))
        yield places.fault((), "names files that are too large together", given=given, allowed=f"{allowed} at most")


def _tables(document: Mapping[str, Any], kind: str) -> list[Any]:
    tables = document.get(kind)
    return tables if isinstance(tables, list) else []


def _named_files(document: Mapping[str, Any]) -> Iterator[str]:
    """Give the names of the files of rates, of delays and of sizes, in the document's words."""
    for link in _tables(document, "link"):
        for way in (link, _inner(link, "reverse")):
            yield from _file(_inner(way, "rate_process"))
            yield from _file(_inner(way, "delay_process"))
    for flow in _tables(document, "flow"):
        yield from _file(_inner(_inner(flow, "traffic"), "size"))


def _inner(table: object, key: str) -> object:
    return table.get(key) if isinstance(table, Mapping) else None


def _file(table: object) -> Iterator[str]:
    name = _inner(table, "file")
    if isinstance(name, str):
        yield name


def _size_bytes(name: str, folder: Path | None) -> int:
    """Return the size of a file [B]; 0 if it cannot be read, or is too large alone: both are faults of its field."""
    try:
        size = ((folder or Path()) / name).stat().st_size
    except (OSError, ValueError):
        return 0
    return size if size <= MOST_NAMED_BYTES else 0
