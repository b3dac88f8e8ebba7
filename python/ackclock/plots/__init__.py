"""The renderer of charts: the only importer of matplotlib."""

from ackclock.plots.picture import Picture
from ackclock.plots.render import AxesLike, chart_picture, draw_into

__all__ = ["AxesLike", "Picture", "chart_picture", "draw_into"]
