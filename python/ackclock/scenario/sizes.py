"""Sizes of transfers from a file: one in each line."""

from pathlib import Path

from ackclock.scenario.named_file import read_named_file
from ackclock.scenario.places import as_toml
from ackclock.scenario.schema_traffic import LARGEST_TRANSFER
from ackclock.scenario.tables import TableError

MOST_SIZES = 10**7
"""Most sizes in a file."""
MOST_SIZES_BYTES = 140_000_000
"""Largest size of such a file [B]: the most sizes, each of thirteen digits and a line's end."""
_ALLOWED = "whole numbers from 1 to 1e12, one in each line"


def read_sizes(name: str, folder: Path | None) -> tuple[int, ...]:
    """Read a file of sizes.

    Parameters
    ----------
    name : str
        The path that the scenario gives.
    folder : Path, optional
        The folder of the scenario's file.

    Returns
    -------
    tuple of int
        The sizes [packets], in the file's order.

    Raises
    ------
    TableError
        If it cannot be read, or does not hold sizes alone.
    """
    sizes: list[int] = []
    for number, line in enumerate(read_named_file(name, folder, MOST_SIZES_BYTES).splitlines(), 1):
        word = line.partition("#")[0].strip()
        if not word:
            continue
        if len(word) > len(str(LARGEST_TRANSFER)) or not word.isdecimal() or not 1 <= int(word) <= LARGEST_TRANSFER:
            raise TableError("file", f"holds no size in line {number}: {as_toml(word[:20])}", allowed=_ALLOWED)
        sizes.append(int(word))
        if len(sizes) > MOST_SIZES:
            raise TableError("file", f"holds more than {MOST_SIZES:,} sizes", allowed=_ALLOWED)
    if not sizes:
        raise TableError("file", "holds no sizes", allowed=_ALLOWED)
    return tuple(sizes)
