"""The nearest known name to one that is not known."""

import difflib
from collections.abc import Iterable

_MOST_COMPARED = 500
"""Largest number of names compared letter by letter; of more, only those that differ in case or dashes count."""


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
    """
    names = list(known)
    folded = _fold(given)
    same = [name for name in names if _fold(name) == folded]
    near = same or difflib.get_close_matches(given[:80], names[:_MOST_COMPARED], n=1, cutoff=0.6)
    return f'did you mean "{near[0]}"?' if near else None


def _fold(name: str) -> str:
    return name.casefold().replace("_", "-").replace(" ", "-")
