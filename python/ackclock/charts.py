"""A chart as data: panels, and curves in them. `ackclock.plots` draws it, `table` writes its numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["simulation", "marks", "theory", "theory-2", "thick", "paper", "step", "band", "guide"]
"""How a curve is drawn: measured points joined by a line; those points alone; a dashed line; a dash-dotted one; a thick
one; large open stars; a stepped line; a filled band from `low` to `high`; a thin grey line."""


@dataclass(frozen=True)
class Curve:
    """One curve.

    Parameters
    ----------
    label : str
        Its name in the legend; curves of one label share an entry.
    x, y : array
        Its points; nan leaves a gap.
    kind : str
        How it is drawn.
    colour : int, optional
        Number of its colour; by default that of its place among the panel's labels.
    low, high : array, optional
        Ends of each point's interval, or of the band.
    """

    label: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    kind: Kind = "simulation"
    colour: int | None = None
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Parameters
    ----------
    x_label, y_label : str
        What the axes show, with the unit.
    curves : sequence of Curve
        What is drawn.
    title : str
        What tells this panel from the others.
    x_ticks : sequence of str, optional
        Words for the places 0, 1, ... on the x axis.
    from_zero : bool
        Whether the y axis begins at 0.
    y_top : float, optional
        End of the y axis, where the curves leave what is of interest.
    log_x, log_y : bool
        Whether an axis is logarithmic; such a y axis does not begin at 0.
    y_bottom : float, optional
        Beginning of a logarithmic y axis.
    """

    x_label: str
    y_label: str
    curves: Sequence[Curve]
    title: str = ""
    x_ticks: Sequence[str] | None = None
    from_zero: bool = True
    y_top: float | None = None
    log_x: bool = False
    log_y: bool = False
    y_bottom: float | None = None


@dataclass(frozen=True)
class Chart:
    """Panels under one title.

    Parameters
    ----------
    title : str
        What it shows.
    panels : sequence of Panel
        The panels.
    columns : int
        How many stand side by side.
    share_y : bool
        Whether the panels have one scale.
    """

    title: str
    panels: Sequence[Panel]
    columns: int = 1
    share_y: bool = False
    size_inches: tuple[float, float] = (12.0, 7.5)

    @property
    def table(self) -> "pd.DataFrame":
        """All points: a row each, with panel, curve, kind, x, y, low and high."""
        import pandas as pd  # noqa: PLC0415  half a second that drawing alone does not need

        frames = [_rows(number, panel, curve) for number, panel in enumerate(self.panels) for curve in panel.curves]
        return pd.concat([pd.DataFrame(frame) for frame in frames], ignore_index=True)


def _rows(number: int, panel: Panel, curve: Curve) -> dict[str, object]:
    missing = np.full(len(curve.x), np.nan)
    return {
        "panel": np.full(len(curve.x), panel.title or str(number + 1), dtype=object),
        "curve": np.full(len(curve.x), curve.label, dtype=object),
        "kind": np.full(len(curve.x), curve.kind, dtype=object),
        panel_column(panel.x_label): np.asarray(curve.x, dtype=float),
        panel_column(panel.y_label): np.asarray(curve.y, dtype=float),
        "low": missing if curve.low is None else np.asarray(curve.low, dtype=float),
        "high": missing if curve.high is None else np.asarray(curve.high, dtype=float),
    }


def panel_column(label: str) -> str:
    """Name a column after an axis."""
    return label.replace("\n", " ")
