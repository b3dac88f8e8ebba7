"""The renderer of charts: the only importer of matplotlib."""

from ackclock.plots.render import chart_picture
from ackclock.plots.style import save_picture

__all__ = ["chart_picture", "save_picture"]
