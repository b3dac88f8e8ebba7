"""The pictures of a run and of its comparison with theory, as charts: data that `ackclock.plots` or a page draws."""

from ackclock.pictures.compared import comparison_chart
from ackclock.pictures.overview import overview_chart

__all__ = ["comparison_chart", "overview_chart"]
