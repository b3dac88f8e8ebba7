"""The pictures of a run and of its comparison with theory, as charts: data that `ackclock.plots` or a page draws."""

from ackclock.pictures.compared import comparison_chart
from ackclock.pictures.linked import linked_chart
from ackclock.pictures.overview import Measured, overview_chart

__all__ = ["Measured", "comparison_chart", "linked_chart", "overview_chart"]
