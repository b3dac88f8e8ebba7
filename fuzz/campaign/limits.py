"""The limits of a case: no other errors, no long messages, not much time or memory, no files elsewhere."""

import os
import resource
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ackclock.errors import AckclockError

MOST_SECONDS = 3.0
"""Processor time of a case [s]."""
MOST_BYTES = 2_000_000_000
"""Memory that a case may take beyond what the libraries take [B]."""
LONGEST_MESSAGE = 60_000
"""Characters of an error's message: 50 faults of 1,200."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = frozenset(
    ["os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.truncate", "os.chmod"]
)


class Watch:
    """A watch over the files that are written: an audit hook, which stays for the life of the process.

    Parameters
    ----------
    folder : Path
        The only folder that may be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder.resolve())
        self.written: list[str] = []
        """Paths elsewhere that were written."""
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else flags & _WRITING
            paths = [path] if writes else []
        elif event in _CHANGES:
            paths = [path for path in arguments[:2] if isinstance(path, str | bytes | os.PathLike)]
        else:
            return
        for path in paths:
            if isinstance(path, str | bytes | os.PathLike):
                self._note(os.fsdecode(path))

    def _note(self, path: str) -> None:
        whole = os.path.realpath(path)
        if whole != os.devnull and not whole.startswith(self._folder):
            self.written.append(path)


def limit_memory() -> None:
    """Let the process take no more than `MOST_BYTES` beyond what it has."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def judged(case: Callable[[], object], watch: Watch) -> tuple[str, str]:
    """Run a case.

    Parameters
    ----------
    case : callable
        The case.
    watch : Watch
        Sees which files it writes.

    Returns
    -------
    tuple of str and str
        How it ended ("well", or the name of the library's error), and what is wrong with that, if anything.
    """
    watch.written.clear()
    started, wrong, ended = time.process_time(), "", "well"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case()
    except AckclockError as error:
        ended, text = type(error).__name__, str(error)
        if len(text) > LONGEST_MESSAGE:
            wrong = f"a message of {len(text)} characters: {text[:500]}"
    except BaseException as error:  # noqa: BLE001  that is what is looked for
        ended, wrong = type(error).__name__, _trace(error)
    spent = time.process_time() - started
    if spent > MOST_SECONDS and not wrong:
        wrong = f"took {spent:.1f} s of processor time"
    if watch.written and not wrong:
        wrong = f"wrote {watch.written[:5]}"
    return ended, wrong


def _trace(error: BaseException) -> str:
    lines = traceback.format_exception(error)
    return "".join(lines)[-6000:]
