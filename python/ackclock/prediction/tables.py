"""Predictions as tables for people: on a terminal and in a notebook."""

import html
from typing import TYPE_CHECKING

from ackclock.prediction.records import ModelPrediction, Prediction
from ackclock.tables import TableText, html_table, rich_table
from ackclock.wording import amount

if TYPE_CHECKING:
    from rich.console import Console


def model_table(model: ModelPrediction) -> TableText:
    """Lay out the numbers of one model."""
    return TableText([model.subject, "theory"], [[one.text, amount(one.value, one.unit)] for one in model.numbers])


def print_prediction(prediction: Prediction, console: "Console") -> None:
    """Print what each model says, then the models that say nothing, with their reasons.

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
        console.print(rich_table(model_table(model)))
        for sentence in model.sentences:
            console.print(Text(f"{sentence[0].upper()}{sentence[1:]}."))
        for warning in model.warnings:
            console.print(Text("Warning: ", style="yellow").append(Text(warning, style="not bold default")))
    if not prediction.applicable:
        console.print("\nNo model speaks of this scenario; ackclock run simulates it.")
    if prediction.inapplicable:
        console.print(Text("\nNot applicable here:", style="bold"))
    for other in prediction.inapplicable:
        console.print(Text(f"{other.title}: {'; '.join(other.reasons)}", style="dim"))


def prediction_html(prediction: Prediction) -> str:
    """Write what the models say as HTML."""
    parts = [f"<h4>{html.escape(prediction.title)}</h4>"]
    for model in prediction.applicable:
        parts += [f"<p><b>{html.escape(model.title)}</b></p>", html_table(model_table(model))]
        parts += [f"<p>{html.escape(sentence)}</p>" for sentence in model.sentences]
        parts += [f"<p><b>Warning:</b> {html.escape(warning)}</p>" for warning in model.warnings]
    parts += [
        f"<p><i>{html.escape(other.title)}: {html.escape('; '.join(other.reasons))}</i></p>"
        for other in prediction.inapplicable
    ]
    return "".join(parts)
