"""Tables without their faulty fields, whose other faults are then found in the same reading."""

import copy
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ackclock.scenario.entries import Table
from ackclock.scenario.schema import Flow
from ackclock.scenario.schema_links import Link

T = TypeVar("T", bound=Table)

_CHECKED_AS_ONE = frozenset({"queue", "rate_process", "delay_process", "loss", "tcp", "traffic"})
"""Tables whose fields are checked against one another: a faulty field leaves nothing to say of the others."""
_IN_PLACE: dict[type[Table], dict[str, Any]] = {
    Link: {"name": "link", "rate": "unlimited"},
    Flow: {"path": ["link"]},
}
"""Values in place of required fields; nothing that they decide is checked."""


def salvaged(model: type[T], table: object) -> T | None:
    """Read a faulty table without its faulty fields, and without those that depend on them.

    Parameters
    ----------
    model : type of Table
        `Link` or `Flow`.
    table : object
        What the document has in its place.

    Returns
    -------
    Table or None
        The rest of it; None if it is not a table. Its rate and path say nothing if the document's are faulty.
    """
    if not isinstance(table, Mapping):
        return None
    rest = copy.deepcopy(dict(table))
    try:
        return model.model_validate(rest)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            _remove(rest, detail)
    in_place = {name: value for name, value in _IN_PLACE[model].items() if name != "rate" or name in table}
    try:
        return model.model_validate({**in_place, **rest})
    except ValidationError:
        return None


def _remove(table: dict[str, Any], detail: ErrorDetails) -> None:
    location = detail["loc"]
    if detail["type"] != "extra_forbidden":
        ends = [end for end, key in enumerate(location, start=1) if key in _CHECKED_AS_ONE]
        location = location[: ends[0]] if ends else location
    inner: Any = table
    for key in location[:-1]:
        inner = inner.get(key) if isinstance(inner, dict) else None
    if isinstance(inner, dict):
        inner.pop(location[-1], None)
        if location[-1] == "rate":
            inner.pop("buffer", None)
            if isinstance(inner.get("reverse"), dict):
                inner["reverse"].pop("buffer", None)
