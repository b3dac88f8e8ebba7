"""The rules of docs/words.md: avoided words, and first words of doc comments."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch

from words.texts import Text

HEADLESS = frozenset(
    "what which who how whether where when of as it its so that nothing no".split(),
)
"""First words that leave a doc comment without the subject or the verb of its sentence."""
FEWEST_WORDS = 3

_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
_MASK = "\N{BULLET}"


@dataclass(frozen=True)
class Avoided:
    """A phrase that is not written, and the words to write instead."""

    phrase: str
    instead: str


@dataclass(frozen=True)
class Exception_:
    """A phrase that is allowed in some files though an avoided one is in it."""

    phrase: str
    files: str


@dataclass(frozen=True)
class Rules:
    """The tables of docs/words.md."""

    avoided: tuple[Avoided, ...]
    exceptions: tuple[Exception_, ...]


def read_rules(page: str) -> Rules:
    """Read the tables of docs/words.md: those with a column of avoided phrases, and that of the exceptions."""
    avoided, exceptions = [], []
    for row in _rows(page):
        if "avoided" in row:
            instead = _plain(row["word"])
            avoided += [Avoided(phrase, instead) for phrase in _code(row["avoided"])]
        elif "allowed" in row:
            exceptions += [Exception_(phrase, _plain(row["where"])) for phrase in _code(row["allowed"])]
    return Rules(tuple(avoided), tuple(exceptions))


def faults(text: Text, file: str, rules: Rules) -> Iterator[str]:
    """Give what is wrong with a text, each fault as a sentence."""
    prose = _CODE.sub(_MASK, text.prose)
    for exception in rules.exceptions:
        if exception.files == "everywhere" or fnmatch(file, exception.files):
            prose = _pattern(exception.phrase).sub(_MASK, prose)
    for avoided in rules.avoided:
        for match in _pattern(avoided.phrase).finditer(prose):
            found = " ".join(match[0].split())
            yield f'"{found}" is avoided; write {avoided.instead}'
    if text.kind == "doc":
        yield from _headless(text)


def _headless(text: Text) -> Iterator[str]:
    words = text.prose.split()
    first = words[0].rstrip(",.:;") if words else ""
    if len(words) < FEWEST_WORDS:
        yield f'"{" ".join(words)}" is too short to add anything to the name'
    elif first.lower() in HEADLESS and not (text.of_bool and first == "Whether"):
        yield f'begins with "{first}": begin with a verb (functions) or a noun (types, fields)'


def _pattern(phrase: str) -> re.Pattern[str]:
    words = [re.escape(word).replace(r"\*", r"\w*") for word in phrase.split()]
    return re.compile(r"(?<!\w)" + r"\s+".join(words) + r"(?!\w)", re.IGNORECASE)


def _rows(page: str) -> Iterator[dict[str, str]]:
    """Give the rows of all tables, each as its cells by the heads of their columns."""
    heads: list[str] = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            heads = []
        elif not heads:
            heads = cells
        elif set(line) - set("|-: "):
            yield dict(zip(heads, cells, strict=True))


def _code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def _plain(cell: str) -> str:
    return cell.replace("`", "").replace("*", "")
