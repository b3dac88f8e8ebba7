"""Kinds of a table from its other fields: what to write where the field that names the kind is missing."""

from collections.abc import Mapping
from typing import Any, Final

from ackclock.scenario.check_queues import FIELDS_OF_DISCIPLINES
from ackclock.scenario.entries import Table
from ackclock.scenario.fields import Kind
from ackclock.scenario.losses import LOSS_FIELDS, Loss
from ackclock.scenario.places import as_toml
from ackclock.scenario.schema_links import DELAY_FIELDS, DelayProcess
from ackclock.scenario.schema_queues import Queue
from ackclock.scenario.schema_rates import RATE_FIELDS, RateProcess
from ackclock.scenario.schema_traffic import Size, Traffic
from ackclock.scenario.traffic import NEEDED_BY_TRAFFIC, OPTIONAL_IN_TRAFFIC, SIZE_FIELDS

Fields = Mapping[str, tuple[str, ...]]
_MOST_NAMED = 4


def _joined(fields: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]) -> Fields:
    return {kind: (*needed, *possible) for kind, (needed, possible) in fields.items()}


def _by_kind(kinds_of: Fields) -> Fields:
    """Turn the kinds of each field into the fields of each kind."""
    kinds = dict.fromkeys(kind for kinds in kinds_of.values() for kind in kinds)
    return {kind: tuple(name for name, theirs in kinds_of.items() if kind in theirs) for kind in kinds}


_FIELDS: Final[Mapping[type[Table], Fields]] = {
    Loss: _joined(LOSS_FIELDS),
    RateProcess: _joined(RATE_FIELDS),
    DelayProcess: _joined(DELAY_FIELDS),
    Queue: _by_kind(FIELDS_OF_DISCIPLINES),
    Traffic: {kind: (*needed, *OPTIONAL_IN_TRAFFIC.get(kind, ())) for kind, needed in NEEDED_BY_TRAFFIC.items()},
    Size: SIZE_FIELDS,
}
"""The fields of each kind of each table with kinds, without those that all kinds have."""


def hint_for_kind(model: type[Table], name: str, kind: Kind, given: Mapping[str, Any]) -> str | None:
    """Say what to write for a missing field.

    Parameters
    ----------
    model : type of Table
        The table's schema.
    name : str
        The missing field.
    kind : Kind
        What it allows.
    given : mapping
        The table as it was written.

    Returns
    -------
    str or None
        The kinds that have the fields that are given, or the value of a field of another name that is a kind; an
        example if no field is given that only some kinds have, None if no kind has all of them.
    """
    fields = _FIELDS.get(model)
    if fields is None:
        return f"write {name} = {kind.sample}"
    if (misnamed := misnamed_kind(model, name, given)) is not None:
        return f"write {name} = {as_toml(given[misnamed])} in place of {misnamed}"
    told = {field for theirs in fields.values() for field in theirs} & set(given)
    if not told:
        return f"write {name} = {kind.sample}"
    found = sorted((f'"{one}"' for one, theirs in fields.items() if told <= set(theirs)), key=kind.allowed.index)
    if not found:
        return None
    more = f" or {len(found) - _MOST_NAMED} others" if len(found) > _MOST_NAMED else ""
    *first, last = found[:_MOST_NAMED]
    values = f"{', '.join(found[:_MOST_NAMED])}{more}" if more or not first else f"{', '.join(first)} or {last}"
    return f"write {name} = {values}, which {'has' if len(found) == 1 else 'have'} {_and(sorted(told))}"


def misnamed_kind(model: type[Table], name: str, given: Mapping[str, Any]) -> str | None:
    """Find an unknown field whose value is a kind of the table."""
    kinds = set(_FIELDS.get(model, ()))
    found = (field for field, value in given.items() if field not in model.model_fields and isinstance(value, str))
    return next((field for field in found if given[field] in kinds and name not in given), None)


def kind_field(model: type[Table]) -> str | None:
    """Give the field of a table that names its kind; None of a table without kinds."""
    names = ("model", "kind", "discipline", "law")
    return next((name for name in names if name in model.model_fields), None) if model in _FIELDS else None


def _and(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
