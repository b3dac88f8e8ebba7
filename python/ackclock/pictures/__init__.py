"""The pictures of a run and of its comparison with theory, as charts: data that `ackclock.plots` or a page draws."""

from ackclock.pictures.chosen import TRACES_OF_PANELS, AbsentPanelError, Choice, chosen_chart
from ackclock.pictures.compared import comparison_chart
from ackclock.pictures.linked import linked_chart
from ackclock.pictures.overlaid import MOST_CURVES, overlaid_chart
from ackclock.pictures.overview import Measured, overview_chart

__all__ = [
    "MOST_CURVES",
    "TRACES_OF_PANELS",
    "AbsentPanelError",
    "Choice",
    "Measured",
    "chosen_chart",
    "comparison_chart",
    "linked_chart",
    "overlaid_chart",
    "overview_chart",
]
