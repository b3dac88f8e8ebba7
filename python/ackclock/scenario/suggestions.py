"""The nearest known name to one that is not known."""

import difflib
from collections.abc import Iterable

_MOST_COMPARED = 500
"""Largest number of names compared letter by letter; of more, only those that differ in case or dashes count."""

_ALIKE = 0.85
"""Similarity from which two names differ by a slip of the fingers."""


def did_you_mean(given: str, known: Iterable[str]) -> str | None:
    """Ask back with the known name that is most like the given one.

    Parameters
    ----------
    given : str
        The name that is not known.
    known : iterable of str
        The names that are.

    Returns
    -------
    str or None
        The question; None if nothing comes near.

    Examples
    --------
    >>> did_you_mean("bufer", ["rate", "delay", "buffer"])
    'did you mean "buffer"?'
    >>> did_you_mean("linux-prague", ["linux-reno", "draft-prague"])
    'did you mean "draft-prague"?'
    """
    names = list(known)
    folded = _fold(given)
    same = [name for name in names if _fold(name) == folded]
    near = same or _nearest(given[:80], names[:_MOST_COMPARED])
    return f'did you mean "{near[0]}"?' if near else None


def _nearest(given: str, names: list[str]) -> list[str]:
    """Find the name that is spelled almost alike, else one that ends in the same word, else the most similar one."""
    word = _fold(given).rpartition("-")[2]
    return (
        difflib.get_close_matches(given, names, n=1, cutoff=_ALIKE)
        or [name for name in names if _fold(name).rpartition("-")[2] == word and word != _fold(name)][:1]
        or difflib.get_close_matches(given, names, n=1, cutoff=0.6)
    )


def _fold(name: str) -> str:
    return name.casefold().replace("_", "-").replace(" ", "-")
