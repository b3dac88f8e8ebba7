"""A search for the smallest size that passes a test which noise may upset; it knows no scenario."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

Test = Callable[[Sequence[int]], Mapping[int, bool]]
"""A function that tests several sizes at once, and says of each whether it passes."""

RESOLUTION = 0.03
"""Relative width of the bracket at which the search ends; below 33 it ends at the exact size."""
NEIGHBOUR = 0.1
"""Relative distance to the neighbour above, which must pass too."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """Ends of a search.

    Parameters
    ----------
    size : int, optional
        The smallest size that was found to pass, with its neighbour above; None if even the largest does not.
    below : int
        The largest size that was found not to pass; 0 if none was.
    """

    size: int | None
    below: int


def neighbour(size: int) -> int:
    """Return the neighbour above a size: about a tenth larger, one packet at least."""
    return max(size + 1, ceil(size * (1.0 + NEIGHBOUR)))


def smallest(test: Test, start: int, most: int, least: int = 1) -> Bracket:
    """Find the smallest size that passes, and whose neighbour above passes too.

    Each step tests a size and its neighbour above: a size that passes by chance alone does not end the search below a
    neighbour that fails. The sizes that are tested depend on the outcomes alone, not on how many are tested at a time.

    Parameters
    ----------
    test : callable
        The test; larger sizes pass more often than smaller ones, but need not always.
    start : int
        Where the search begins, such as a rule's answer.
    most : int
        The largest size that is tried.
    least : int
        The smallest size that is tried.

    Returns
    -------
    Bracket
        The size, to within 3%, and the largest below it that failed.
    """
    low, high = _bracket(test, min(max(start, least), most), most, least)
    if high is None:
        return Bracket(None, low)
    while high - low > max(1, ceil(RESOLUTION * high)):
        middle = (low + high) // 2
        low, high = (low, middle) if _holds(test, middle) else (middle, high)
    return Bracket(high, low)


def _bracket(test: Test, size: int, most: int, least: int) -> tuple[int, int | None]:
    """Halve a size until one does not hold, or double it until one holds: give both; None if none holds."""
    if _holds(test, size):
        while size > least and _holds(test, max(least, size // 2)):
            size = max(least, size // 2)
        return (max(least, size // 2) if size > least else least - 1), size
    while size < most:
        low, size = size, min(2 * size, most)
        if _holds(test, size):
            return low, size
    return size, None


def _holds(test: Test, size: int) -> bool:
    above = neighbour(size)
    passed = test((size, above))
    return passed[size] and passed[above]
