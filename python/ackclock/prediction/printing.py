"""Predictions on a terminal."""

from typing import TYPE_CHECKING

from ackclock.prediction.records import Prediction
from ackclock.tables import rich_table

if TYPE_CHECKING:
    from rich.console import Console


def print_prediction(prediction: Prediction, console: "Console") -> None:
    """Print what each model says, then a line for each model that says nothing, with its reasons.

    Parameters
    ----------
    prediction : Prediction
        What to print.
    console : rich.console.Console
        Where to.
    """
    from rich.text import Text  # noqa: PLC0415  the library itself does without rich

    console.print(Text(prediction.title, style="bold"))
    for model in prediction.applicable:
        console.print()
        console.print(Text(model.title, style="bold"))
        console.print(rich_table(model.numbers_table))
        for sentence in model.sentences:
            console.print(Text(f"{sentence[0].upper()}{sentence[1:]}."))
        for warning in model.warnings:
            console.print(Text("Warning: ", style="yellow").append(Text(warning, style="not bold default")))
    if not prediction.applicable:
        console.print("\nNo model applies to this scenario; ackclock run simulates it.")
    if prediction.inapplicable:
        console.print(Text("\nNot applicable here (--json has titles and reasons in full):", style="bold"))
    longest = max((len(other.model) for other in prediction.inapplicable), default=0)
    for other in prediction.inapplicable:
        line = Text(f"{other.model:{longest}}  {'; '.join(other.reasons)}", style="dim")
        console.print(line, no_wrap=True, overflow="ellipsis")
