"""Options of the command line that several commands take: fields that are changed, and the most that a run takes."""

from typing import Annotated, Any

import typer

Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="FIELD=VALUE", help='Change a field: link.satellite.buffer="20 pkt". May be repeated.'
    ),
]

Limit = Annotated[list[str] | None, typer.Option(metavar="AMOUNT", help='Refuse more, such as "10 min" or "2 GB".')]


def changes(overrides: list[str] | None, seed: int | None = None, replications: int | None = None) -> dict[str, Any]:
    """Collect what options change in the scenario, by dotted path.

    Parameters
    ----------
    overrides : list of str, optional
        Texts of the form FIELD=VALUE.
    seed, replications : int, optional
        Values of run.seed and run.replications.

    Raises
    ------
    typer.BadParameter
        If a text is not of that form, or a field is given twice.
    """
    found: dict[str, Any] = {}
    for field, value in [assignment(text) for text in overrides or []]:
        if field in found:
            raise typer.BadParameter(f"{field} is given twice: {found[field]!r} and {value!r}", param_hint="--set")
        found[field] = value
    for name, given in {"seed": seed, "replications": replications}.items():
        field = f"run.{name}"
        if given is not None and field in found:
            problem = f"{field} is given twice: {given!r}, and {found[field]!r} with --set"
            raise typer.BadParameter(problem, param_hint=f"--{name}")
        if given is not None:
            found[field] = given
    return found


def assignment(text: str, option: str = "--set", example: str = 'link.satellite.buffer="20 pkt"') -> tuple[str, Any]:
    """Read an option of the form FIELD=VALUE.

    Parameters
    ----------
    text : str
        What the user wrote.
    option, example : str
        The option's name and an example of its value, for the message.
    """
    from ackclock.scenario.override import read_value  # noqa: PLC0415

    field, equals, value = text.partition("=")
    if not (equals and field.strip()):
        raise typer.BadParameter(f"{text!r} is not FIELD=VALUE, such as {example}", param_hint=option)
    return field.strip(), read_value(value, f"{option} {field.strip()}")
