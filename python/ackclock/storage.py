"""The files of a result: their names, what writes them and what reads them."""

import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ackclock.errors import ResultError
from ackclock.folders import Made, Writer, as_result_error, made_in
from ackclock.stored import check_columns

RESULT = "result.json"
TRACE_FOLDER = "traces"
CAPTURE_FOLDER = "captures"
PICTURES = ("picture.png", "picture.svg")
KIND = "run"
"""The maker of a result's files, for `folders.write_files`."""


def json_writer(content: Mapping[str, Any]) -> Writer:
    """Make what writes a JSON file."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return lambda path: path.write_text(text, encoding="utf-8")


def trace_writer(frame: pd.DataFrame) -> Writer:
    """Make what writes a Parquet file."""
    return lambda path: frame.to_parquet(path, index=False)


def capture_writer(content: bytes) -> Writer:
    """Make what writes a pcapng file."""
    return lambda path: path.write_bytes(content)


def capture_names(links: list[str]) -> dict[str, str]:
    """Choose a file name for each captured link that no link's name can lead out of the folder."""
    names: dict[str, str] = {}
    for link in links:
        stem = re.sub(r"[^A-Za-z0-9._-]+", "_", link).strip(".") or "link"
        taken = names.values()
        unique = next(name for name in _numbered(stem, ".pcapng") if name not in taken)
        names[link] = unique
    return names


def read_result(folder: Path) -> dict[str, Any]:
    """Read a result.json, and make sure that all files of the result are there.

    Raises
    ------
    ResultError
        The file is missing or damaged, or it is not a result of this library.
    """
    made = made_in(folder)
    try:
        with as_result_error(folder / RESULT, "cannot read the result"):
            content = json.loads(_as_it_was_saved(folder, RESULT, made))
    except RecursionError:
        raise ResultError(f"{folder / RESULT}: cannot read the result; it is nested too deeply") from None
    missing = {"summary", "resolved", "seed", "version"} - (set(content) if isinstance(content, dict) else set())
    if missing:
        message = f"{folder / RESULT}: is not a result of ackclock; lacks {', '.join(sorted(missing))}"
        raise ResultError(message)
    lost = next((name for name in made.of_kind(KIND) if not (folder / name).exists()), None)
    if lost is not None:
        raise ResultError(f"{folder / lost}: the file is missing; the result is not whole")
    return dict(content)


class StoredTraces(Mapping[str, pd.DataFrame]):
    """The traces of a saved result, each read when it is asked for.

    Parameters
    ----------
    folder : Path
        Folder of the result.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made = made_in(folder)
        paths = {path.stem: f"{TRACE_FOLDER}/{path.name}" for path in (folder / TRACE_FOLDER).glob("[!.]*.parquet")}
        listed = self._made.of_kind(KIND)
        self._names = {stem: paths[stem] for stem in sorted(paths) if not listed or paths[stem] in listed}
        self._read: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._read:
            self._read[name] = self._frame(name)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _frame(self, name: str) -> pd.DataFrame:
        file = self._names[name]
        where = self._folder / file
        with as_result_error(where, "cannot read the trace"):
            content = _as_it_was_saved(self._folder, file, self._made)
            try:
                frame = pd.read_parquet(io.BytesIO(content))
            except (ArithmeticError, AttributeError, LookupError, MemoryError, NotImplementedError, TypeError) as error:
                # Arrow and pandas raise all of these for damaged files.
                raise ValueError(f"it is not a table of traces ({error})") from error
            check_columns(name, frame)
        return frame


def read_captures(folder: Path, links: list[str]) -> dict[str, bytes]:
    """Read the captures of a saved result by link name; a run that was interrupted may have left none."""
    made = made_in(folder)
    names = {link: f"{CAPTURE_FOLDER}/{name}" for link, name in capture_names(links).items()}
    with as_result_error(folder / CAPTURE_FOLDER, "cannot read the capture"):
        return {link: _as_it_was_saved(folder, name, made) for link, name in names.items() if (folder / name).exists()}


def _as_it_was_saved(folder: Path, name: str, made: Made) -> bytes:
    """Read a file of a result, and make sure that it is the one that was saved."""
    if (folder / name).exists() and not (folder / name).is_file():
        raise ResultError(f"{folder / name}: is not a regular file")
    content = (folder / name).read_bytes()
    if not made.holds(name, content):
        raise ResultError(f"{folder / name}: is damaged, or was changed since it was saved")
    return content


def free_path(path: Path) -> Path:
    """Find a name that no file has yet.

    Parameters
    ----------
    path : Path
        The name wanted.

    Returns
    -------
    Path
        `path` itself, or the first of ``name-2.png``, ``name-3.png``, ... that is free.
    """
    return next(free for name in _numbered(path.stem, path.suffix) if not os.path.lexists(free := path.with_name(name)))


def _numbered(stem: str, suffix: str) -> Iterator[str]:
    yield stem + suffix
    for count in range(2, 1_000_000):
        yield f"{stem}-{count}{suffix}"
