"""Lists of the command line: ready scenarios, presets, the schema. Imports what a list needs when it is printed."""

import sys
from collections.abc import Mapping

from ackclock.terminal import json_text


def print_scenarios() -> None:
    """List the ready scenarios; their names stand for their files."""
    from ackclock.scenario.ready import FOLDER, ready_titles  # noqa: PLC0415

    _print_list(("scenario", "title"), ready_titles())
    sys.stdout.write(f"Files: {FOLDER}\n")


def print_presets() -> None:
    """List the TCP presets."""
    from ackclock.scenario.presets import preset_tables  # noqa: PLC0415

    _print_list(("preset", "TCP"), {name: str(table["summary"]) for name, table in preset_tables().items()})


def print_schema() -> None:
    """Print the JSON Schema of scenarios, for editors."""
    from ackclock.scenario import json_schema  # noqa: PLC0415

    sys.stdout.write(json_text(json_schema()) + "\n")


def _print_list(headers: tuple[str, str], texts: Mapping[str, str]) -> None:
    from rich.console import Console  # noqa: PLC0415

    from ackclock.tables import TableText, rich_table  # noqa: PLC0415

    table = TableText([*headers], [[name, text] for name, text in texts.items()], words=frozenset({1}))
    Console(highlight=False).print(rich_table(table))
