"""The numbers of logarithmic axes: as many as have room."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axis import Axis, XAxis
from matplotlib.ticker import FuncFormatter, Locator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from ackclock.plots.picture import POINTS_OF_AN_INCH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

Values = NDArray[Any]
FEW_DECADES: Final = 2.3
"""Decades up to which 2 and 5 of each have a number too."""
LEAST_RATIO: Final = 5.0
"""Ends of an axis below whose ratio 1, 2 and 5 of each decade are too few."""
MOST_STEPS: Final = 4
"""Most equal steps on such an axis."""
SMALLEST_DECADE, LARGEST_DECADE = -4, 6
"""Powers of ten beyond which an axis writes 10 with an exponent."""
_RAISED: Final = str.maketrans("0123456789-", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b")
"""Raised digits: formulas between dollar signs are not drawn in all pictures."""
LETTER, LINE = 0.7, 1.4
"""Room of a letter along an axis, and of a line of text, relative to the size of the letters."""


def number_decades(axis: Axis) -> None:
    """Write numbers, not powers; over few decades more than one in each, and over a part of one in equal steps."""
    axis.set_major_locator(_Decades(float(mpl.rcParams["font.size"])))
    axis.set_major_formatter(FuncFormatter(_written))
    axis.set_minor_formatter(NullFormatter())


class _Decades(Locator):
    """The places of numbers that do not cover one another.

    Parameters
    ----------
    size : float
        Size of the letters [pt].
    """

    def __init__(self, size: float) -> None:
        self._size = size

    def __call__(self) -> "Sequence[float]":
        """Give the places on the axis as it is shown."""
        return self.tick_values(*cast("Axis", self.axis).get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> "Sequence[float]":
        """Give the places between two values: the most of those that have room."""
        low, high = sorted((vmin, vmax))
        if not 0.0 < low < high < np.inf:
            return []
        nearly = 1.0 + 1e-9
        choices = [one[(one * nearly >= low) & (one <= high * nearly)] for one in _choices(low, high)]
        choices.append(choices[0][:: max(1, len(choices[0]) - 1)])
        fitting = (one for one in choices if len(one) > 1 and self._has_room(one, low, high))
        found: list[float] = next(fitting, choices[0][:1]).tolist()
        return found

    def _has_room(self, places: Values, low: float, high: float) -> bool:
        axes, along = cast("Axes", cast("Any", self.axis).axes), isinstance(self.axis, XAxis)
        inches = axes.bbox.transformed(cast("Any", axes.figure).dpi_scale_trans.inverted())
        length = POINTS_OF_AN_INCH * (inches.width if along else inches.height)
        middles = length / self._size * np.log(places / low) / np.log(high / low)
        widths = np.array([LETTER * (1 + len(_written(place))) if along else LINE for place in places])
        return bool(np.all(np.diff(middles) >= (widths[1:] + widths[:-1]) / 2.0))


def _choices(low: float, high: float) -> Iterator[Values]:
    """Give places for the numbers of an axis, each time fewer."""
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    decades = 10.0 ** np.arange(first, last + 1)
    if high / low < LEAST_RATIO:
        for steps in range(MOST_STEPS, 1, -1):
            yield np.asarray(MaxNLocator(steps, steps=[1, 2, 5, 10]).tick_values(low, high))
    elif np.log10(high / low) < FEW_DECADES:
        yield np.outer(decades, (1.0, 2.0, 5.0)).ravel()
        yield np.outer(decades, (1.0, 3.0)).ravel()
    for every in range(1, last - first + 1):
        yield decades[::every]


def _written(value: float, _place: object = None) -> str:
    """Write a number of a logarithmic axis; a very large or small one with a power of ten."""
    digits, power = f"{value:.9e}".split("e")
    exponent = int(power)
    if SMALLEST_DECADE <= exponent <= LARGEST_DECADE:
        return f"{value:.10g}"
    ten, factor = f"10{str(exponent).translate(_RAISED)}", f"{float(digits):.10g}"
    return ten if factor == "1" else f"{factor}\u00b7{ten}"
