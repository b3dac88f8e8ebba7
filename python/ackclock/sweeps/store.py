"""Stores of finished points, each by the name that its content gives it."""

import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Protocol

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
        self._mark = f".{socket.gethostname()}."
        path.mkdir(parents=True, exist_ok=True)
        self._remove_abandoned()

    def has(self, key: str) -> bool:
        """Return whether a point is there, whole; a damaged file counts as none."""
        try:
            return is_whole(self._file(key).read_bytes())
        except OSError:
            return False

    def keep(self, key: str, content: bytes) -> None:
        """Write a point to a temporary file, then rename it."""
        target = self._file(key)
        target.parent.mkdir(exist_ok=True)
        temporary = self._path / f"{self._mark}{os.getpid()}.{key}"
        try:
            temporary.write_bytes(content)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)

    def read(self, key: str) -> list[Replication]:
        """Read a point that is there."""
        return decode(self._file(key).read_bytes())

    def _file(self, key: str) -> Path:
        return self._path / key[:2] / key[2:]

    def _remove_abandoned(self) -> None:
        for path in self._path.glob(f"{self._mark}*"):
            pid = path.name.removeprefix(self._mark).partition(".")[0]
            if not (pid.isdecimal() and _lives(int(pid))):
                with suppress(OSError):
                    path.unlink()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
