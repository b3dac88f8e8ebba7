"""Stores of finished points, each by the name that its content gives it."""

from pathlib import Path
from typing import Protocol

from ackclock.errors import ResultError
from ackclock.folders import as_result_error, remove_abandoned, write_file
from ackclock.replication import Replication
from ackclock.sweeps.record import decode, is_whole


class Store(Protocol):
    """Finished points by name."""

    def has(self, key: str) -> bool:
        """Return whether a point is there, whole."""
        ...

    def keep(self, key: str, content: bytes) -> None:
        """Keep a point."""
        ...

    def read(self, key: str) -> list[Replication]:
        """Read a point that is there."""
        ...


class Memory:
    """Points that nobody asked to be kept on disk."""

    def __init__(self) -> None:
        self._points: dict[str, bytes] = {}

    def has(self, key: str) -> bool:
        """Return whether a point is there."""
        return key in self._points

    def keep(self, key: str, content: bytes) -> None:
        """Keep a point."""
        self._points[key] = content

    def read(self, key: str) -> list[Replication]:
        """Read a point that is there."""
        return decode(self._points[key])


class Folder:
    """Points as files: each appears whole or not at all, so that a run that is killed goes on where it was.

    Parameters
    ----------
    path : Path
        The folder; created where it is missing. What a process that was killed had begun to write is removed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with as_result_error(path, "cannot keep points here"):
            path.mkdir(parents=True, exist_ok=True)
            for folder in path.glob("??/"):
                remove_abandoned(folder)

    def has(self, key: str) -> bool:
        """Return whether a point is there, whole; a damaged file, or that of another point, counts as none."""
        try:
            return is_whole(key, self._file(key).read_bytes())
        except OSError:
            return False

    def keep(self, key: str, content: bytes) -> None:
        """Write a point to a temporary file, then rename it."""
        write_file(self._file(key), lambda path: path.write_bytes(content))

    def read(self, key: str) -> list[Replication]:
        """Read a point that is there."""
        with as_result_error(self._file(key), "cannot read the point"):
            content = self._file(key).read_bytes()
        if not is_whole(key, content):
            raise ResultError(f"{self._file(key)}: the point is damaged; the same command computes it again")
        return decode(content)

    def _file(self, key: str) -> Path:
        return self._path / key[:2] / key[2:]
