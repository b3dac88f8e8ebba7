"""Advice on a terminal."""

from typing import TYPE_CHECKING

from ackclock.advice.records import Advice
from ackclock.tables import rich_table

if TYPE_CHECKING:
    from rich.console import Console


def print_advice(advice: Advice, console: "Console") -> None:
    """Print each question with its answer, the simulations of before and after, and the rules.

    Parameters
    ----------
    advice : Advice
        What to print.
    console : rich.console.Console
        Where to.
    """
    from rich.text import Text  # noqa: PLC0415  the library itself does without rich

    console.print(Text(advice.title, style="bold"))
    if advice.verdict:
        console.print(Text("As it is: ", style="bold").append(Text(f"{advice.verdict}.", style="not bold")))
    for one in advice.recommendations:
        console.print()
        console.print(Text(one.question, style="bold"))
        console.print(Text(f"{one.answer}."))
        if one.changes:
            console.print(Text(f"Try it: ackclock run ... {one.options}", style="dim"))
        for table in one.tables:
            console.print()
            console.print(rich_table(table))
            if table.note:
                console.print(Text(table.note, style="dim"))
        for remark in one.remarks:
            console.print(Text(f"- {remark}", style="dim"))
    for reason in advice.reasons:
        console.print()
        console.print(Text(f"{reason[0].upper()}{reason[1:]}."))
