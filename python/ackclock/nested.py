"""The size of lists within lists: one that holds itself, or is shared again and again, has no end where it is read."""

from math import inf

_DEEPEST = 64
"""Most lists within one another: as many as an array of NumPy can have axes."""


def written_out(value: object) -> float:
    """Count the values of nested lists and tables, each as many times as all lists written out have it.

    Parameters
    ----------
    value : object
        A list, a tuple, a dictionary, or what such a one holds.

    Returns
    -------
    float
        Number of values; infinite where a list holds itself, or lies deeper than an array can [1].

    Examples
    --------
    >>> twice = [1.0, 2.0]
    >>> written_out([twice, twice, 3.0])
    8.0
    >>> twice.append(twice)
    >>> written_out(twice)
    inf
    """
    return _size(value, 0, {})


def _size(value: object, depth: int, known: dict[int, float]) -> float:
    """Count the values of one list, those of a list that was met before from what is known of it by its id."""
    if not isinstance(value, list | tuple | dict):
        return 1.0
    if depth == _DEEPEST:
        return inf
    if id(value) not in known:
        known[id(value)] = inf  # while it is counted: it may hold itself
        parts = value.values() if isinstance(value, dict) else value
        lists = [part for part in parts if isinstance(part, list | tuple | dict)]
        known[id(value)] = 1.0 + len(value) - len(lists) + sum(_size(part, depth + 1, known) for part in lists)
    return known[id(value)]
