"""Pictures: the only importer of matplotlib."""

from ackclock.plots.charts import chart_picture
from ackclock.plots.parts import save_picture
from ackclock.plots.pictures import comparison_picture, overview_picture

__all__ = ["chart_picture", "comparison_picture", "overview_picture", "save_picture"]
