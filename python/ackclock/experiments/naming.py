"""Finds papers and items by the names that people write: "bottlenecks/figure-4", "RR-3620 fig. 4", "Table 7"."""

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Final

from ackclock.errors import Fault, SweepError
from ackclock.experiments.papers import Item, Paper, papers

_KINDS: Final = {
    "fig": "figure",
    "figs": "figure",
    "figure": "figure",
    "tab": "table",
    "tbl": "table",
    "table": "table",
    "sec": "section",
    "sect": "section",
    "section": "section",
}
"""Words for a kind of item, and how the items' own names begin."""
_SHORTEST: Final = 4
"""Least number of letters and digits of a part of a paper's title, authors or source."""
_MOST_LISTED: Final = 8
_Picked = list[tuple[Paper, list[Item]]]


def chosen(names: Sequence[str] = ()) -> _Picked:
    """Find papers and items; without names all of them.

    Parameters
    ----------
    names : sequence of str
        "PAPER", "PAPER/ITEM" or "ITEM". A paper is found by its folder, or by a part of its title, authors or source
        that no other paper has, such as "RR-3620". An item is found by its name, or by the paper's own words for it:
        "fig. 4", "Table 7", "4.2". Without its paper it must be in one paper alone.

    Returns
    -------
    list of tuple of Paper and list of Item
        Each item once, in the order of the names.

    Raises
    ------
    SweepError
        If a name fits nothing, or more than one thing; the message lists what is near.

    Examples
    --------
    >>> [(paper.name, [item.name for item in items]) for paper, items in chosen(["RR-3620/fig. 4", "Table 7"])]
    [('bottlenecks', ['figure-4']), ('engset', ['table-7'])]
    """
    known = papers()
    wanted: dict[str, list[Item]] = {}
    for name in names or [paper.name for paper in known]:
        paper, items = _found(name.strip(), known)
        listed = wanted.setdefault(paper.name, [])
        listed.extend(item for item in items if item not in listed)
    by_name = {paper.name: paper for paper in known}
    return [(by_name[name], items) for name, items in wanted.items()]


def _found(name: str, known: Sequence[Paper]) -> tuple[Paper, list[Item]]:
    written, slash, rest = name.partition("/")
    named = _named_papers(written, known)
    if len(named) == 1:
        return named[0], _items_of(named[0], rest if slash else "")
    if not slash:
        return _anywhere(name, named, known)
    if named:
        raise SweepError(Fault("paper", "is not the only one of this name", written, _names(named)))
    raise SweepError(_unknown("paper", written, [paper.name for paper in known]))


def _named_papers(written: str, known: Sequence[Paper]) -> list[Paper]:
    exact = [paper for paper in known if _plain(paper.name) == _plain(written)]
    part = _plain(written)
    if exact or len(part) < _SHORTEST or _of_item(written) is not None:
        return exact
    return [
        paper for paper in known if any(part in _plain(text) for text in (paper.title, paper.authors, paper.source))
    ]


def _items_of(paper: Paper, written: str) -> list[Item]:
    if not written:
        return list(paper.items)
    fitting = _fitting(written, paper)
    if len(fitting) == 1:
        return fitting
    where = f"item of {paper.name}"
    if fitting:
        allowed = ", ".join(item.name for item in fitting)
        raise SweepError(Fault(where, "is not the only one of this name", written, allowed))
    raise SweepError(_unknown(where, written, [item.name for item in paper.items]))


def _anywhere(name: str, named: Sequence[Paper], known: Sequence[Paper]) -> tuple[Paper, list[Item]]:
    """Find an item that was written without its paper."""
    fitting = [(paper, item) for paper in known for item in _fitting(name, paper)]
    if len(fitting) == 1 and not named:
        paper, item = fitting[0]
        return paper, [item]
    if named or fitting:
        listed = [paper.name for paper in named] + [f"{paper.name}/{item.name}" for paper, item in fitting]
        problem = "is not the only paper or item of this name"
        raise SweepError(Fault("paper or item", problem, name, ", ".join(listed)))
    every = [f"{paper.name}/{item.name}" for paper in known for item in paper.items if item.module]
    near = list(_near(name, [*(paper.name for paper in known), *every]))
    allowed = f"a paper ({_names(known)}) or PAPER/ITEM; `ackclock reproduce --list` lists the items"
    raise SweepError(Fault("paper or item", "is unknown", name, allowed, _did_you_mean(near)))


def _fitting(written: str, paper: Paper) -> list[Item]:
    """Return the items of a paper that a name fits: the one of that very name, else those of that kind and number."""
    exact = [item for item in paper.items if _plain(item.name) == _plain(written)]
    wanted = _of_item(written)
    if exact or wanted is None:
        return exact
    kind, number = wanted
    return [
        item
        for item in paper.items
        if (own := _of_item(item.name)) is not None and own[1] == number and kind in {"", own[0]}
    ]


def _of_item(written: str) -> tuple[str, str] | None:
    """Read kind and number of an item, such as ("figure", "4.2"); the kind may be missing."""
    matched = re.fullmatch(r"([a-z]*)\.?[\s_-]*([0-9]+(?:\.[0-9]+)*)\.?", written.strip().lower())
    if matched is None or (matched[1] and matched[1] not in _KINDS):
        return None
    return _KINDS.get(matched[1], ""), matched[2]


def _plain(text: str) -> str:
    """Return the letters and digits alone; dots stay, as they separate numbers."""
    return re.sub(r"[^a-z0-9.]", "", text.lower())


def _names(listed: Sequence[Paper]) -> str:
    return ", ".join(paper.name for paper in listed)


def _unknown(what: str, given: str, allowed: Sequence[str]) -> Fault:
    return Fault(what, "is unknown", given, ", ".join(allowed), _did_you_mean(list(_near(given, allowed))))


def _near(given: str, allowed: Sequence[str]) -> Iterator[str]:
    """Give the nearest names: those that begin with what was written, those that hold it, then those spelt alike."""
    part = _plain(given)
    found = [name for name in allowed if part and _plain(name).startswith(part)]
    found += [name for name in allowed if part and part in _plain(name)]
    found += difflib.get_close_matches(given.lower(), allowed, n=3)
    yield from list(dict.fromkeys(found))[:_MOST_LISTED]


def _did_you_mean(near: Sequence[str]) -> str | None:
    if not near:
        return None
    *most, last = (f'"{name}"' for name in near)
    return f"did you mean {', '.join(most)} or {last}?" if most else f"did you mean {last}?"
