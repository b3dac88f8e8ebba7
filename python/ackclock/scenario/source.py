"""Origin of a scenario: a TOML file, TOML text or a mapping, and the line of each of its fields."""

import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ackclock.errors import Fault, ScenarioError
from ackclock.scenario.programs import ControlProgram
from ackclock.scenario.ready import ready_names, ready_path
from ackclock.scenario.suggestions import did_you_mean

Location = tuple[str | int, ...]
"""Keys and list positions that lead to a value of the document."""

_TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:'{0,2})|"(?:\\.|[^"\\])*"|'[^']*'|\#[^\n]*|[\[\]{}=\n]|[^"'\#\[\]{}=\n]+''',
    re.DOTALL,
)
_TOML_PLACE = re.compile(
    r"(?P<problem>.*?) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL
)
_BARE_QUANTITY = re.compile(r"=\s*([+-]?[0-9.]+\s*[A-Za-zµ][A-Za-z/]*)\s*(?:#.*)?$")
_TWICE = re.compile(r"cannot overwrite a value|cannot declare .* twice|duplicate inline table key")
_LARGEST_FILE = 10_000_000
ORIGINS = "the path of a TOML file, the name of a ready scenario, TOML text, or a mapping of its tables"
"""Forms of a scenario, in words."""
MOST_PARTS_OF_A_KEY = 32


@dataclass(frozen=True)
class Source:
    """A scenario as the user gave it.

    Parameters
    ----------
    name : str
        Path of the file, or another name for messages.
    document : dict
        The parsed tables.
    text : str, optional
        The TOML text, where there is one.
    overrides : mapping of Location to str
        Fields that were replaced, and the key that the user gave for each.
    folder : Path, optional
        Where the file is; what the scenario reads lies there.
    controls : mapping of str to ControlProgram
        The classes of congestion controls that are given to its runs, by their names.
    """

    name: str
    document: dict[str, Any]
    text: str | None = None
    overrides: Mapping[Location, str] = field(default_factory=dict)
    folder: Path | None = None
    controls: Mapping[str, ControlProgram] = field(default_factory=dict)

    @cached_property
    def lines(self) -> dict[Location, int]:
        """Line of each table and field, from 1."""
        return {} if self.text is None else line_index(self.text)


def read_source(origin: str | Path | Mapping[str, Any]) -> Source:
    """Read a file, a ready scenario by its name, a text (a string with a line break) or a mapping.

    Raises
    ------
    ScenarioError
        If there is no such file, or it is not TOML.
    """
    if isinstance(origin, Mapping):
        return Source("scenario", dict(origin))
    if isinstance(origin, str) and "\n" in origin:
        return _parsed("scenario", origin)
    if isinstance(origin, str) and not origin.strip():
        raise ScenarioError([Fault("scenario", "is empty", f'"{origin}"', ORIGINS)], "scenario")
    path = _found(Path(origin))
    return replace(_parsed(str(path), _file_text(path, text=isinstance(origin, str))), folder=path.parent)


def _found(path: Path) -> Path:
    """Give the file, or the ready scenario of that name if the file does not exist."""
    ready = str(path) in ready_names() and not path.exists()
    return ready_path(path.name) if ready else path


def _file_text(path: Path, *, text: bool) -> str:
    """Read a file; `text` is whether the user gave a string, which may be meant as TOML."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir() and not _is_of_the_shell(path):
            raise _refused(path, "is not a regular file", "give the path of a .toml file, or /dev/stdin")
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
        if len(content) > _LARGEST_FILE:
            raise _refused(path, "the file is larger than 10 MB")
        return content.decode("utf-8-sig")
    except ScenarioError:
        raise
    except FileNotFoundError:
        lists = "`ackclock scenarios` lists the ready ones"
        lists += "; a string is taken as TOML text only if it has a line break" if text else ""
        hint = did_you_mean(path.stem, ready_names())
        raise _refused(path, "there is no such file", f"{hint} {lists}" if hint else lists) from None
    except IsADirectoryError:
        raise _refused(path, "is a directory", "give the path of a .toml file") from None
    except UnicodeDecodeError as error:
        raise _refused(path, f"is not UTF-8 text (byte {error.start})", "TOML files are UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _refused(path, f"cannot be read: {reason}") from None


def _is_of_the_shell(path: Path) -> bool:
    """Return whether a path is standard input, or what a shell gives for `<(command)`: it has an end to wait for."""
    return str(path) == "/dev/stdin" or str(path.parent) in {"/dev/fd", "/proc/self/fd"}


def _refused(path: Path, problem: str, hint: str | None = None) -> ScenarioError:
    return ScenarioError([Fault(str(path), problem, hint=hint)], str(path))


def _parsed(name: str, text: str) -> Source:
    line = line_of_long_key(text)
    if line is not None:
        fault = Fault(f"line {line}", f"has a key of more than {MOST_PARTS_OF_A_KEY} parts", line=line)
        raise ScenarioError([fault], name)
    try:
        return Source(name, tomllib.loads(text), text)
    except RecursionError:
        raise ScenarioError([Fault("scenario", "is nested too deeply to be read")], name) from None
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError([_syntax_fault(str(error), text)], name) from None
    except ValueError:  # of int(), which has a limit
        raise ScenarioError([Fault("scenario", "holds a number of too many digits")], name) from None


def line_of_long_key(text: str) -> int | None:
    """Find a key or header of too many parts: `tomllib` takes time and memory by the square of their number."""
    line, dots = 1, 0
    for match in _TOKEN.finditer(text):
        piece = match[0]
        line += piece.count("\n")
        if piece in "\n=[]{}":
            dots = 0
        elif piece[0] not in "\"'#":
            for number, words in enumerate(piece.split(",")):
                dots = words.count(".") + (dots if number == 0 else 0)
                if dots >= MOST_PARTS_OF_A_KEY:
                    return line
    return None


def _syntax_fault(message: str, text: str) -> Fault:
    match = _TOML_PLACE.fullmatch(message)
    if match is None:
        return Fault("scenario", f"is not valid TOML: {_lower(message)}")
    lines = text.split("\n")
    line = int(match["line"] or len(lines))
    column = int(match["column"] or len(lines[-1]) + 1)
    bare = _BARE_QUANTITY.search(lines[line - 1].rstrip("\r")) if line <= len(lines) else None
    hint = f'a quantity is written in quotes: "{bare[1].strip()}"' if bare else None
    problem = _lower(match["problem"])
    if "illegal character '\\n'" in message.lower():
        hint = "a closing quote is missing"
    elif _TWICE.match(problem):
        problem, hint = _twice(text, line, problem)
    return Fault(f"line {line}, column {column}", f"is not valid TOML: {problem}", hint=hint, line=line)


def _twice(text: str, line: int, problem: str) -> tuple[str, str | None]:
    """Name the key or the table that is there for the second time, and the line of the first."""
    try:
        *before, (location, _) = _located("\n".join(text.split("\n")[:line]))
    except ValueError:  # what follows on that line may be anything
        return problem, None
    inline = re.fullmatch(r"duplicate inline table key '(.*)'", problem)
    key = inline[1] if inline else ".".join(part for part in location if isinstance(part, str))
    earlier = [first for other, first in before if other == location and not inline]
    hint = f"the first is in line {earlier[0]}" if earlier else None
    return f'"{key}" is there twice' if earlier or inline else f'{problem}, of "{key}"', hint


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def line_index(text: str) -> dict[Location, int]:
    r"""Find the line of each table and field of a valid TOML text.

    Parameters
    ----------
    text : str
        TOML that `tomllib` accepts.

    Returns
    -------
    dict of Location to int
        Lines from 1; the fields of an inline table are on their table's line and not listed.

    Notes
    -----
    `tomllib` keeps no positions. Headers and keys are found as the statements that begin outside of all strings and
    brackets; `tomllib` itself then reads each key, so that quoting and dots need no second reading of the standard.

    Examples
    --------
    >>> line_index('[run]\nduration = "1 s"\n')
    {('run',): 1, ('run', 'duration'): 2}
    """
    index: dict[Location, int] = {}
    for location, line in _located(text):
        index.setdefault(location, line)
    return index


def _located(text: str) -> Iterator[tuple[Location, int]]:
    """Give each table and field with its line, in the order of the text; of a dotted key each part."""
    arrays: dict[Location, int] = {}
    table: Location = ()
    for line, statement in _statements(text):
        if statement.startswith("["):
            table = _header(statement, arrays)
            yield table, line
        else:
            location = table
            for key in _keys(f"{statement}= 0"):
                location = (*location, key)
                yield location, line


def _statements(text: str) -> list[tuple[int, str]]:
    """Give each table header, and the text before the first "=" of each assignment, with its line."""
    found: list[tuple[int, str]] = []
    line, depth, first_line, statement, assigned = 1, 0, 0, "", False
    for match in _TOKEN.finditer(text):
        piece = match[0]
        if not statement:
            first_line = line
        line += piece.count("\n")
        if piece == "\n" and depth == 0:
            if statement.strip():
                found.append((first_line, statement.strip()))
            statement, assigned = "", False
        elif piece == "=":
            assigned = True
        elif piece in "[]{}":
            depth += 1 if piece in "[{" else -1
        if not (assigned or piece == "\n" or piece.startswith("#")):
            statement += piece.lstrip() if not statement else piece
    return [*found, (first_line, statement.strip())] if statement.strip() else found


def _header(statement: str, arrays: dict[Location, int]) -> Location:
    keys = _keys(statement)
    location: Location = ()
    for key in keys:
        location = (*location, key)
        if statement.startswith("[[") and len(location) - sum(isinstance(part, int) for part in location) == len(keys):
            arrays[location] = arrays.get(location, -1) + 1
        if location in arrays:
            location = (*location, arrays[location])
    return location


def _keys(statement: str) -> list[str]:
    """Read the keys of a header or assignment."""
    keys: list[str] = []
    value: object = tomllib.loads(statement)
    while isinstance(value, dict | list) and value:
        if isinstance(value, list):
            value = value[0]
        else:
            key, value = next(iter(value.items()))
            keys.append(key)
    return keys
