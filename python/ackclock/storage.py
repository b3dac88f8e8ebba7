"""The folder of a result: written whole or not at all, and only inside itself."""

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from ackclock.completions import COMPLETION_TIMES
from ackclock.delays import DISTRIBUTION
from ackclock.errors import ResultError
from ackclock.traces import OVERVIEW, TRACES
from ackclock.transfers import FRAMES

RESULT = "result.json"
TRACE_FOLDER = "traces"
CAPTURE_FOLDER = "captures"
PICTURES = ("picture.png", "picture.svg")

Writer = Callable[[Path], object]
"""A function that writes a file; what it returns is not used."""


def prepare_folder(folder: Path) -> None:
    """Create a result's folder where it is missing, and make sure that files can be written there.

    Raises
    ------
    ResultError
        The folder cannot be created or written.
    """
    with _as_result_error(folder, "cannot write here"):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


def write_files(folder: Path, writers: Mapping[str, Writer]) -> None:
    """Write files by their name inside a folder: first all of them under other names, then renamed.

    Parameters
    ----------
    folder : Path
        Folder of the result; created where it is missing.
    writers : mapping of str to callable
        What writes each file, by its path relative to the folder, in the order in which they appear.

    Raises
    ------
    ResultError
        A file cannot be written. What the folder held before is then still there.
    """
    staged: dict[Path, Path] = {}
    with _as_result_error(folder, "cannot write the result"):
        try:
            for name, write in writers.items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                staged[target] = target.with_name(f".{os.getpid()}.{target.name}")
                write(staged[target])
            for target, temporary in staged.items():
                temporary.replace(target)
        finally:
            for temporary in staged.values():
                temporary.unlink(missing_ok=True)


def remove_stale(folder: Path, keep: set[str]) -> None:
    """Remove what an earlier result left in the folder and this one does not have; touches no file of another name."""
    tables = (*TRACES, OVERVIEW, DISTRIBUTION, *FRAMES, COMPLETION_TIMES)
    ours = [f"{TRACE_FOLDER}/{name}.parquet" for name in tables] + list(PICTURES)
    ours += [f"{CAPTURE_FOLDER}/{path.name}" for path in (folder / CAPTURE_FOLDER).glob("*.pcapng")]
    with _as_result_error(folder, "cannot remove an earlier result"):
        for name in set(ours) - keep:
            (folder / name).unlink(missing_ok=True)


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
    """Read a result.json.

    Raises
    ------
    ResultError
        The file is missing, or it is not a result of this library.
    """
    with _as_result_error(folder / RESULT, "cannot read the result"):
        content = json.loads((folder / RESULT).read_bytes())
    missing = {"summary", "resolved", "seed", "version"} - (set(content) if isinstance(content, dict) else set())
    if missing:
        message = f"{folder / RESULT}: is not a result of ackclock; lacks {', '.join(sorted(missing))}"
        raise ResultError(message)
    return dict(content)


class StoredTraces(Mapping[str, pd.DataFrame]):
    """The traces of a saved result, each read when it is asked for.

    Parameters
    ----------
    folder : Path
        Folder of the result.
    """

    def __init__(self, folder: Path) -> None:
        self._paths = {path.stem: path for path in sorted((folder / TRACE_FOLDER).glob("[!.]*.parquet"))}
        self._read: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._read:
            path = self._paths[name]
            with _as_result_error(path, "cannot read the trace"):
                self._read[name] = pd.read_parquet(path)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def read_captures(folder: Path, links: list[str]) -> dict[str, bytes]:
    """Read the captures of a saved result by link name; a run that was interrupted may have left none."""
    paths = {link: folder / CAPTURE_FOLDER / name for link, name in capture_names(links).items()}
    with _as_result_error(folder / CAPTURE_FOLDER, "cannot read the capture"):
        return {link: path.read_bytes() for link, path in paths.items() if path.exists()}


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


@contextmanager
def _as_result_error(where: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"{error.filename or where}: {what}; {error.strerror or error}"
        raise ResultError(message) from error
    except ValueError as error:
        message = f"{where}: {what}; {error}"
        raise ResultError(message) from error
