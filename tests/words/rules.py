"""The rules of docs/words.md: avoided words, and first words of doc comments."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache

from words.texts import Text

PREPOSITIONS = frozenset(
    [
        *("about", "above", "after", "against", "among", "as", "at", "before", "behind", "below", "between", "beyond"),
        *("by", "during", "for", "from", "in", "inside", "into", "of", "on", "out", "over", "past", "per", "since"),
        *("through", "to", "towards", "under", "until", "up", "upon", "with", "within", "without"),
    ]
)
HEADLESS = PREPOSITIONS | frozenset(
    ["what", "which", "who", "how", "whether", "where", "when", "it", "its", "so", "that", "nothing", "no"]
)
"""First words that leave a doc comment without the subject or the verb of its sentence."""
FEWEST_WORDS = 3

_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
_QUOTATION = re.compile(r'"[^"]*"')
_MASK = "\N{BULLET}"


@dataclass(frozen=True)
class Avoided:
    """A phrase that is not written, and the words to write instead."""

    phrase: str
    instead: str


@dataclass(frozen=True)
class Allowed:
    """A phrase that is allowed in some files though an avoided one is in it."""

    phrase: str
    files: str


@dataclass(frozen=True)
class Rules:
    """The tables of docs/words.md."""

    avoided: tuple[Avoided, ...]
    allowed: tuple[Allowed, ...]


def read_rules(page: str) -> Rules:
    """Read the tables of docs/words.md: those with a column of avoided phrases, and that of the exceptions."""
    avoided, exceptions = [], []
    for row in _rows(page):
        if "avoided" in row:
            instead = _plain(row["word"])
            avoided += [Avoided(phrase, instead) for phrase in _code(row["avoided"])]
        elif "allowed" in row:
            exceptions += [Allowed(phrase, _plain(row["where"])) for phrase in _code(row["allowed"])]
    return Rules(tuple(avoided), tuple(exceptions))


def faults(text: Text, file: str, rules: Rules) -> Iterator[str]:
    """Give what is wrong with a text, each fault as a sentence."""
    allowed = tuple(
        allowed.phrase for allowed in rules.allowed if allowed.files == "everywhere" or fnmatch(file, allowed.files)
    )
    prose = _CODE.sub(_MASK, text.prose)
    if text.kind != "message":
        prose = _QUOTATION.sub(_MASK, prose)
    prose = _pattern(allowed).sub(_MASK, prose)
    for match in _pattern(tuple(avoided.phrase for avoided in rules.avoided)).finditer(prose):
        instead = rules.avoided[int((match.lastgroup or "")[1:])].instead
        yield f'"{" ".join(match[0].split())}" is avoided; write {instead}'
    if text.kind == "doc":
        yield from _headless(text)


def _headless(text: Text) -> Iterator[str]:
    words = text.prose.split()
    first = words[0].rstrip(",.:;") if words else ""
    if len(words) < FEWEST_WORDS:
        yield f'"{" ".join(words)}" is too short to add anything to the name'
    elif first.lower() in HEADLESS and not (text.of_bool and first == "Whether"):
        yield f'begins with "{first}": begin with a verb (functions) or a noun (types, fields)'


@cache
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Give a pattern of whole words that matches any of the phrases, the one of index n as its group `pn`."""
    spaced = [r"\s+".join(re.escape(word).replace(r"\*", r"\w*") for word in phrase.split()) for phrase in phrases]
    groups = [f"(?P<p{index}>{phrase})" for index, phrase in enumerate(spaced)]
    return re.compile(rf"(?<!\w)(?:{'|'.join(groups) or '(?!)'})(?!\w)", re.IGNORECASE)


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
    return cell.replace("`", "")
