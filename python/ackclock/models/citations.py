"""Citations in docstrings, such as ``[engset, eq. 13]``: a paper's key, and the places in it.

The keys are those of ``references.toml`` in this package. A place is a kind and a number: ``eq. 4``, ``section 6``,
``theorem 1``, ``lemma 2``, ``remark 1``, ``figure 5``, ``table 3``, ``footnote 3``, ``chapter 5``. Several numbers of
one kind are listed (``eqs. 6 and 7``) or spanned (``eqs. 9 to 11``). Where a paper uses a number twice, the section
distinguishes them: ``eq. 9 of section 4.3``.
"""

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

KINDS: Final = {
    **dict.fromkeys(("eq.", "eqs."), "eq."),
    **{
        f"{kind}{plural}": kind
        for kind in ("section", "theorem", "lemma", "remark", "figure", "table", "footnote", "chapter")
        for plural in ("", "s")
    },
}
"""The words that may precede a number, and the kind that each means."""

_KEY: Final = r"[a-z][a-z0-9-]*"
_NUMBER: Final = r"[0-9IVX]+(?:\.[0-9A-Z]+)*(?:\.[ivx]+)?"
_CITATION: Final = re.compile(rf"\[({_KEY})(?:, ([^][]*))?\]")
_PLACE: Final = re.compile(rf"({'|'.join(map(re.escape, KINDS))}) (.*)")
_SPAN: Final = re.compile(r"(.*?)(\d+) to (?:\1)(\d+)")


class Place(NamedTuple):
    """A numbered part of a paper."""

    kind: str
    """``eq.``, ``section``, ``figure`` and so on, see `KINDS`."""
    number: str
    """The number as the paper prints it."""

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


class Citation(NamedTuple):
    """A paper and the places that are cited in it."""

    key: str
    """The paper's key in ``references.toml``."""
    places: tuple[Place, ...]
    """The places, in the order in which they are cited; empty if the whole paper is cited."""


@lru_cache
def references() -> dict[str, str]:
    """Return authors, title and publication of each paper, by its key."""
    text = files("ackclock.models").joinpath("references.toml").read_text(encoding="utf-8")
    return {
        key: f"{paper['authors']}: {paper['title']}, {paper['published']}" for key, paper in tomllib.loads(text).items()
    }


def citations(text: str) -> list[Citation]:
    """Find the citations in a docstring.

    Brackets that do not begin with the key of a paper, such as a unit's, are not citations.

    Raises
    ------
    ValueError
        If a citation does not name its places in the form that this module describes.

    Examples
    --------
    >>> [(one.key, list(map(str, one.places))) for one in citations("by (4) [bottlenecks, eqs. 1 to 3, section 6].")]
    [('bottlenecks', ['eq. 1', 'eq. 2', 'eq. 3', 'section 6'])]
    >>> list(map(str, citations("[engset, eqs. 9 and 10 of section 4.3]")[0].places))
    ['eq. 9 of section 4.3', 'eq. 10 of section 4.3']
    """
    joined = " ".join(text.split())
    return [Citation(key, tuple(_places(inside))) for key, inside in _CITATION.findall(joined) if key in references()]


def _places(inside: str) -> list[Place]:
    found: list[Place] = []
    kind, group = "", 0
    for part in filter(None, re.split(r", and |, | and ", inside)):
        if named := _PLACE.fullmatch(part):
            kind, group = KINDS[named[1]], len(found)
        if not kind:
            message = f"[..., {inside}]: no kind of place before {part!r}; allowed {', '.join(KINDS)}"
            raise ValueError(message)
        numbers, _, section = (named[2] if named else part).partition(" of section ")
        found += [Place(kind, number) for number in _numbers(numbers)]
        if section:
            # The section is that of all numbers since the kind was named.
            found[group:] = [Place(kind, f"{number} of section {section}") for _, number in found[group:]]
    return found


def _numbers(text: str) -> list[str]:
    if span := _SPAN.fullmatch(text):
        prefix, first, last = span[1], int(span[2]), int(span[3])
        return [f"{prefix}{number}" for number in range(first, last + 1)]
    if not re.fullmatch(_NUMBER, text):
        message = f"{text!r} is not a number of a paper, such as 4, 3.9 or III.B"
        raise ValueError(message)
    return [text]
