"""Output of the command line."""

import sys
from typing import TYPE_CHECKING

from ackclock.terminal import json_text

if TYPE_CHECKING:
    from rich.console import Console

    from ackclock.comparison import Comparison


def console() -> "Console":
    """Return the console of standard output."""
    from rich.console import Console  # noqa: PLC0415

    return Console(highlight=False, soft_wrap=False)


def print_run(comparison: "Comparison", *, as_json: bool) -> None:
    """Print a run and its theory: tables for people, or JSON.

    Parameters
    ----------
    comparison : Comparison
        The run next to its theory.
    as_json : bool
        Whether JSON is printed.
    """
    result = comparison.result
    if as_json:
        sys.stdout.write(json_text({**result.summary, "theory": comparison.to_dict()}) + "\n")
        return
    where = console()
    where.print(result)
    where.print()
    where.print(comparison)
