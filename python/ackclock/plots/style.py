"""The look of all pictures."""

from contextlib import AbstractContextManager
from typing import Any, Final

import matplotlib as mpl

# Okabe and Ito's colours, which colour-blind readers can tell apart, with a dark red in place of yellow, which fades on
# white. Marks and dashes begin again after six, so that no two of 24 curves have both alike.
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#882255")
GREY: Final = "0.35"
MARKERS: Final = ("o", "s", "^", "D", "v", "P")
DASHES: Final[tuple[Any, ...]] = ("-", (0, (4, 2)), "-.", (0, (1, 1)), (0, (6, 2, 1, 2)), (0, (2, 2)))
"""Dashes of curves that may lie on one another: through the gaps one sees the lower one."""

THEORY_DASHES: Final[tuple[Any, ...]] = (
    (0, (5, 2)),
    (0, (5, 2, 1, 2)),
    (0, (2, 1.5)),
    (0, (9, 2)),
    (0, (1, 1.2)),
    (0, (9, 2, 2, 2)),
)
"""Dashes of lines of theory: no two differ by colour alone."""


def colour(number: int | None, default: str = GREY) -> str:
    """Return the colour with a number; the default without one."""
    return default if number is None else COLOURS[number % len(COLOURS)]


def style(*, math: bool = False) -> AbstractContextManager[None]:
    """Set the look of all pictures.

    Parameters
    ----------
    math : bool
        Whether words that are made meanwhile hold formulas between dollar signs.
    """
    return mpl.rc_context(
        {
            "axes.formatter.limits": [-5, 9],  # powers of ten between which numbers have no exponent
            "axes.formatter.useoffset": False,
            "axes.grid": True,
            "axes.spines.right": False,
            "axes.spines.top": False,
            "figure.autolayout": False,  # a picture is laid out once, whatever a user has set for his own
            "figure.constrained_layout.use": False,
            "font.size": 12.0,
            "grid.alpha": 0.3,
            "lines.linewidth": 1.3,
            "svg.hashsalt": "ackclock",
            "mathtext.fontset": "dejavusans",
            "text.parse_math": math,
        }
    )
