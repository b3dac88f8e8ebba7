"""Faults of single fields of a resolved scenario, read from JSON or made with `dataclasses.replace`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from ackclock.errors import Fault
from ackclock.scenario.places import as_toml

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


def field_faults(error: ValidationError) -> list[Fault]:
    """Give the faults of single fields: wrong kinds, numbers out of range, unknown names."""
    return [
        _field_fault(detail)
        for detail in error.errors(include_url=False)
        if not (detail["type"] == "too_short" and detail["input"])  # follows from a fault within
    ]


def _field_fault(detail: "ErrorDetails") -> Fault:
    place, kind, value = f"resolved scenario, field {_path(detail['loc'])}", detail["type"], detail["input"]
    given = as_toml(value) if isinstance(value, _PLAIN) else f"an object of type {type(value).__name__}"
    match kind:
        case "missing":
            return Fault(place, "field required")
        case "union_tag_not_found":
            return Fault(f"{place}.kind", "field required")
        case "too_short":
            return Fault(place, "is empty", given, "one entry or more")
        case "model_attributes_type":
            return Fault(place, "is not a record", given, "a record with the field kind")
        case "union_tag_invalid":
            return Fault(f"{place}.kind", "is not a known kind", detail["ctx"]["tag"], detail["ctx"]["expected_tags"])
    return Fault(place, detail["msg"][:1].lower() + detail["msg"][1:], given)


_PLAIN: Final = (type(None), bool, int, float, str, list, tuple, Mapping)
_OF_KINDS: Final = frozenset(["buffer", "sender", "scheduler", "aqm", "law", "traffic", "size", "allocation"])


def _path(location: tuple[str | int, ...]) -> str:
    # Behind a field of several kinds is the name of the kind.
    shown = [
        key
        for position, key in enumerate(location)
        if position == 0
        or (location[position - 1] not in _OF_KINDS and location[position - 2 : position - 1] != ("elements",))
    ]
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in shown).lstrip(".") or "(all)"
