"""Standard output and error as a command finds them: closed, full, or without the letters that a text has."""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, NoReturn, TextIO

from ackclock.errors import AckclockError, ArgumentError

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130

_STANDARD_STREAMS = 3
_ARGUMENT = re.compile(r'\(\), argument "?(\w+)"?$')


def prepare_streams() -> None:
    """Make standard output and error safe to write to.

    A closed one becomes the null device, so that no file of a result gets its number. A character that a stream's
    encoding lacks is written as its escape.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) < _STANDARD_STREAMS:
        pass
    os.close(number)
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123  open until the end
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def json_text(content: Any) -> str:
    """Write JSON for standard output: letters beyond ASCII as they are if it can show them."""
    unicode = (getattr(sys.stdout, "encoding", None) or "ascii").lower().startswith("utf")
    return json.dumps(content, indent=1, ensure_ascii=not unicode, allow_nan=False)


@contextmanager
def faults_as_text() -> Iterator[None]:
    """Turn what a user can cause into a message and an exit status."""
    try:
        yield
        sys.stdout.flush()
    except AckclockError as error:
        _end(str(error), BAD_INPUT)
    except KeyboardInterrupt:
        _end("Interrupted", INTERRUPTED)
    except OSError as error:
        _end(f"{error.filename or 'standard output'}: {error.strerror or error}", FAILED)
    except MemoryError:
        _end("out of memory: record fewer traces, or run fewer replications at a time (--threads)", FAILED)


@contextmanager
def as_options(arguments: Mapping[str, str], command: str) -> Iterator[None]:
    """Name arguments of the library's functions, in errors about them, as the command line has them.

    Parameters
    ----------
    arguments : mapping of str to str
        The option or argument of the command by the name of the function's argument.
    command : str
        The command, for errors that name no argument.
    """
    try:
        yield
    except ArgumentError as error:
        named = _ARGUMENT.search(error.fault.place)
        name = None if named is None else arguments.get(named[1])
        place = name or (command if error.fault.place.endswith("()") else error.fault.place)
        raise ArgumentError(replace(error.fault, place=place)) from None


def _end(message: str, status: int) -> NoReturn:
    with suppress(OSError):
        sys.stderr.write(f"{message}\n")
        sys.stderr.flush()
    sys.exit(status)
