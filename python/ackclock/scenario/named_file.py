"""Files that a scenario names: regular, of bounded size, in its folder or in one that the user allows."""

import os
from collections.abc import Iterator
from pathlib import Path

from ackclock.scenario.tables import TableError

ALLOWED_FOLDERS = "ACKCLOCK_FILES"
"""The environment variable with further folders whose files scenarios may name, separated as in PATH."""


def read_named_file(name: str, folder: Path | None, most_bytes: int) -> str:
    """Read a text file that a scenario names.

    Parameters
    ----------
    name : str
        The path that the scenario gives, from its own folder.
    folder : Path, optional
        The folder of the scenario's file; the current one if the scenario is not from a file.
    most_bytes : int
        Largest size of the file [B].

    Returns
    -------
    str
        Its text.

    Raises
    ------
    TableError
        If the file lies in no allowed folder, or is not a regular file of text of that size.
    """
    path = _allowed_path(name, folder or Path())
    try:
        if not path.exists():
            raise TableError("file", "no such file", "the path is relative to the folder of the scenario's file")
        if not path.is_file():
            raise TableError("file", "is not a regular file")
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
    except OSError as error:
        raise TableError("file", f"cannot be read: {error.strerror or error}") from None
    if len(content) > most_bytes:
        raise TableError("file", f"is larger than {most_bytes // 1_000_000} MB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError("file", f"is not UTF-8 text (byte {error.start})") from None


def _allowed_path(name: str, folder: Path) -> Path:
    try:
        path = (folder / name).resolve()
        roots = [folder.resolve(), *_further_folders()]
    except (OSError, ValueError, RuntimeError):
        raise TableError("file", "is not a path") from None
    if not any(path.is_relative_to(root) for root in roots):
        raise TableError(
            "file",
            "leads out of the scenario's folder",
            f"the environment variable {ALLOWED_FOLDERS} allows other folders",
            allowed="a file in it, or in a folder within",
        )
    return path


def _further_folders() -> Iterator[Path]:
    for folder in os.environ.get(ALLOWED_FOLDERS, "").split(os.pathsep):
        if folder:
            yield Path(folder).resolve()
