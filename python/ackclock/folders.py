"""Files that are written all together or not at all, in folders that may hold files of others."""

import hashlib
import json
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ackclock.errors import ResultError, shortened

Writer = Callable[[Path], object]
"""A function that writes a file; what it returns is not used."""

MADE = ".ackclock.json"
"""The file in a folder that lists what ackclock made there, with digests."""
_DIGEST = 16


@dataclass(frozen=True)
class Made:
    """The files of a folder that ackclock made.

    Parameters
    ----------
    files : mapping of str to sequence of str
        By the path in the folder the kind of its maker ("run", "sweep" and so on) and the digests that it may have:
        two if a process was killed while it replaced the file.
    """

    files: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def of_kind(self, kind: str) -> list[str]:
        """Give the paths of the files of a maker."""
        return [name for name, parts in self.files.items() if parts[:1] == [kind]]

    def holds(self, name: str, content: bytes) -> bool:
        """Return whether a file has the content that it was made with; also if the list does not name it."""
        return name not in self.files or _digest(content) in self.files[name][1:]


def made_in(folder: Path) -> Made:
    """Read the list of the files that ackclock made in a folder; one that cannot be read is empty."""
    try:
        if not (folder / MADE).is_file():  # a pipe of this name would never end
            return Made()
        content = json.loads((folder / MADE).read_bytes())
        files = {name: [str(part) for part in parts] for name, parts in content["files"].items() if _is_inside(name)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Made()
    return Made(files)


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def prepare_folder(folder: Path, names: Sequence[str] = (), within: Sequence[str] = ()) -> None:
    """Create a folder where it is missing, and make sure that files can be written there.

    Parameters
    ----------
    folder : Path
        The folder.
    names : sequence of str
        Files that will be written: none of another maker may be there.
    within : sequence of str
        Folders within that will be written to.

    Raises
    ------
    ResultError
        If the folder cannot be created or written, or if such a file is there.
    """
    with as_result_error(folder, "cannot write here"):
        folder.mkdir(parents=True, exist_ok=True)
        with _named(folder), tempfile.TemporaryFile(dir=folder):
            pass
    for name in within:
        if os.path.lexists(folder / name) and not (folder / name).is_dir():
            raise ResultError(f"{folder / name}: is there, and is not a folder; move it away, or choose another folder")
    _refuse_others(folder, names, made_in(folder))


def write_files(folder: Path, writers: Mapping[str, Writer], kind: str) -> None:
    """Write files by their name inside a folder, and remove what the same kind of maker left there before.

    All of them are written apart first. The last one is the head: it disappears before the others are replaced, and
    comes last, so that whoever finds it finds all.

    Parameters
    ----------
    folder : Path
        The folder; created where it is missing.
    writers : mapping of str to callable
        What writes each file, by its path relative to the folder.
    kind : str
        The maker: "run", "sweep", ...

    Raises
    ------
    ResultError
        If a file cannot be written, or one that ackclock did not make is in its place. The folder then holds what it
        held before.
    """
    with as_result_error(folder, "cannot write here"):
        folder.mkdir(parents=True, exist_ok=True)
        with _named(folder):
            apart = Path(tempfile.mkdtemp(prefix=f"{_mark()}{os.getpid()}.", dir=folder))
    try:
        made = made_in(folder)
        _refuse_others(folder, [*writers], made)
        new = {name: [kind, _written(apart / "new" / name, folder / name, write)] for name, write in writers.items()}
        _Replacement(folder, apart, made, new, kind).commit()
    except _NotRestoredError:
        raise
    except BaseException:
        shutil.rmtree(apart, ignore_errors=True)
        raise
    shutil.rmtree(apart, ignore_errors=True)
    remove_abandoned(folder)


def write_file(path: Path, write: Writer) -> None:
    """Write one file whose name the caller chose: whole, or not at all.

    Raises
    ------
    ResultError
        If it cannot be written.
    """
    if not path.name:
        raise ResultError(f"{path}: is not the name of a file")
    temporary = path.with_name(f"{_mark()}{os.getpid()}.{path.name}")
    with as_result_error(path, "cannot be written", given=temporary):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write(temporary)
            temporary.replace(path)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def remove_abandoned(folder: Path) -> None:
    """Remove what processes of this machine had begun to write in a folder when they were killed."""
    for path in folder.glob(f"{_mark()}*"):
        pid = path.name.removeprefix(_mark()).partition(".")[0]
        if pid.isdecimal() and not _lives(int(pid)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):
                    path.unlink()


@contextmanager
def as_result_error(where: Path, what: str, given: Path | None = None) -> Iterator[None]:
    """Turn errors of files into `ResultError`, which names the file.

    Parameters
    ----------
    where : Path
        The file, for errors that name none.
    what : str
        What cannot be done.
    given : Path, optional
        A temporary name, in place of which the message has `where`.
    """
    try:
        yield
    except OSError as error:
        named = error.filename if error.filename and str(error.filename) != str(given) else where
        raise ResultError(f"{shortened(str(named))}: {what}; {error.strerror or error}") from error
    except ValueError as error:
        raise ResultError(f"{where}: {what}; {error}") from error


@contextmanager
def _named(folder: Path) -> Iterator[None]:
    """Let errors name a folder in place of a temporary file in it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from error


class _NotRestoredError(ResultError):
    """A failure after which the earlier files could not be put back."""


@dataclass
class _Replacement:
    """The replacement of a folder's files, which is undone if a part of it fails."""

    folder: Path
    apart: Path
    made: Made
    new: Mapping[str, Sequence[str]]
    kind: str
    moved: list[str] = field(default_factory=list)
    placed: list[str] = field(default_factory=list)

    def commit(self) -> None:
        earlier = [name for name in self.made.of_kind(self.kind) if name not in self.new]
        stale = [name for name in earlier if is_ours(self.folder, name, self.made)]
        kept = {name: parts for name, parts in self.made.files.items() if name not in {*earlier, *self.new}}
        both = {name: [self.kind, *self.made.files.get(name, ())[1:], *parts[1:]] for name, parts in self.new.items()}
        names = [*self.new]
        try:
            self._list_made({**self.made.files, **both})
            for name in [*names[-1:], *names[:-1], *stale]:
                self._move_away(name)
            for name in names:
                self._place(name)
            self._list_made({**kept, **self.new})
        except BaseException as error:
            self._undo(error)
            raise

    def _list_made(self, files: Mapping[str, Sequence[str]]) -> None:
        text = json.dumps({"files": dict(sorted(files.items()))}, indent=1) + "\n"
        _written(self.apart / MADE, self.folder / MADE, lambda path: path.write_text(text, encoding="utf-8"))
        with as_result_error(self.folder / MADE, "cannot be written", given=self.apart / MADE):
            (self.apart / MADE).replace(self.folder / MADE)

    def _move_away(self, name: str) -> None:
        target, old = self.folder / name, self.apart / "old" / name
        if os.path.lexists(target):
            with as_result_error(target, "cannot be replaced"):
                old.parent.mkdir(parents=True, exist_ok=True)
                target.rename(old)
            self.moved.append(name)

    def _place(self, name: str) -> None:
        target, new = self.folder / name, self.apart / "new" / name
        with as_result_error(target, "cannot be written", given=new):
            target.parent.mkdir(parents=True, exist_ok=True)
            new.replace(target)
        self.placed.append(name)

    def _undo(self, cause: BaseException) -> None:
        try:
            for name in reversed(self.placed):
                (self.folder / name).unlink()
            for name in reversed(self.moved):
                (self.apart / "old" / name).rename(self.folder / name)
        except OSError as error:
            message = f"{cause}; and the earlier files cannot be put back ({error}): they are in {self.apart / 'old'}"
            raise _NotRestoredError(message) from error
        with suppress(ResultError):
            if self.made.files:
                self._list_made(self.made.files)
            else:
                (self.folder / MADE).unlink(missing_ok=True)


def _refuse_others(folder: Path, names: Sequence[str], made: Made) -> None:
    for name in names:
        if (os.path.lexists(folder / name) or _leads_away(folder, name)) and not is_ours(folder, name, made):
            problem = "is there, and is not a file that ackclock made and nobody changed"
            raise ResultError(f"{folder / name}: {problem}; move it away, or choose another folder")


def is_ours(folder: Path, name: str, made: Made) -> bool:
    """Return whether a file is one that ackclock made in the folder itself, and nobody changed since."""
    path = folder / name
    if name not in made.files or _leads_away(folder, name) or not path.is_file():
        return False
    with as_result_error(path, "cannot be read"):
        return _digest_of_file(path) in made.files[name][1:]


def _leads_away(folder: Path, name: str) -> bool:
    """Return whether a file, or a folder above it within the given one, is a link."""
    path = folder / name
    return any(link.is_symlink() for link in [path, *path.parents][: len(Path(name).parts)])


def _written(path: Path, name: Path, write: Writer) -> str:
    """Write a file, whose final name messages have, and give its digest."""
    with as_result_error(name, "cannot be written", given=path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path)
        return _digest_of_file(path)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=_DIGEST).hexdigest()


def _digest_of_file(path: Path) -> str:
    def blake2b() -> Any:
        return hashlib.blake2b(digest_size=_DIGEST)

    with path.open("rb") as file:
        return hashlib.file_digest(file, blake2b).hexdigest()


def _mark() -> str:
    """Give the beginning of temporary names on this machine."""
    return f".ackclock.{socket.gethostname()}."


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
