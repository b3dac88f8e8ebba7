"""Tables of which each kind has its own fields."""

from collections.abc import Mapping

from ackclock.scenario.entries import Table
from ackclock.scenario.fields import FieldError


class TableError(FieldError):
    """A fault of a table, and the field that has it."""

    def __init__(self, field: str, problem: str, hint: str | None = None, allowed: str | None = None) -> None:
        super().__init__(problem, hint, allowed)
        self.field = field


def check_fields(
    table: Table, field: str, kind: str, fields: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
) -> None:
    """Check that a table has the fields that its kind needs, and none of another kind.

    Parameters
    ----------
    table : Table
        The table.
    field : str
        Its field that names the kind.
    kind : str
        The kind.
    fields : mapping
        For each kind the fields that it needs and those that it may have.

    Raises
    ------
    TableError
        For the first field that is missing or out of place.
    """
    needed, possible = fields[kind]
    for other, (their_needed, their_possible) in fields.items():
        for name in (*their_needed, *their_possible):
            if table.gives(name) and name not in (*needed, *possible):
                raise TableError(name, f'belongs to the {field} "{other}", not to "{kind}"')
    for name in needed:
        if not table.gives(name):
            raise TableError(field, f'needs the field "{name}"')
