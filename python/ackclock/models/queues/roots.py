"""Roots of functions of arrays by bisection."""

from collections.abc import Callable
from typing import Final

import numpy as np

from ackclock.models.domain import FloatArray

STEPS: Final = 100
"""Number of halvings: more than a double has digits."""


def bisected(function: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray) -> FloatArray:
    """Find the root of a falling function in each interval, or an end of one without a root.

    Parameters
    ----------
    function : callable
        The function, of arrays.
    low, high : array
        Ends of the intervals.

    Returns
    -------
    array
        The roots, of the shape that the ends and the function have together.
    """
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        is_above = function(middle) > 0.0
        low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
    return 0.5 * (low + high)
