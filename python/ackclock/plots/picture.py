"""A matplotlib figure that a notebook shows as a picture."""

from io import BytesIO
from pathlib import Path
from typing import Any, Final

from matplotlib.figure import Figure

from ackclock.plots.style import style

POINTS_OF_AN_INCH: Final = 72.0
PIXELS_OF_A_POINT: Final = 2.0
"""Pixels of the picture for each pixel of the page, so that it is sharp where two make one."""


class Picture(Figure):
    """A figure that shows itself in notebooks.

    Notes
    -----
    pyplot does not know it: it is not shown a second time, and it is gone with the last variable that holds it. All of
    matplotlib works with it, such as `savefig` and `axes`.
    """

    def save(self, path: str | Path) -> None:
        """Write it in the format of the path's ending; the same picture gives the same bytes."""
        metadata = {"Date": None} if Path(path).suffix == ".svg" else {}
        with style():
            self.savefig(path, metadata=metadata)

    def png(self, dpi: float = 100.0) -> bytes:
        """Draw it at some pixels an inch."""
        content = BytesIO()
        with style():
            self.savefig(content, format="png", dpi=dpi)
        return content.getvalue()

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """Give the picture to a notebook: letters of 12 points are 12 pixels of its page."""
        width, height = (round(POINTS_OF_AN_INCH * inches) for inches in self.get_size_inches())
        return self.png(PIXELS_OF_A_POINT * POINTS_OF_AN_INCH), {"width": width, "height": height}
