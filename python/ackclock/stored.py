"""Checks of a stored result: a summary and tables that have what the library reads in them."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, NotRequired, cast

import pandas as pd
from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from ackclock.completions import COMPLETION_TIMES
from ackclock.delays import DISTRIBUTION
from ackclock.errors import ResultError, shortened
from ackclock.quantities import (
    CLASS_QUANTITIES,
    COMPLETION_QUANTITIES,
    FLOW_QUANTITIES,
    LINK_QUANTITIES,
    PING_QUANTITIES,
)
from ackclock.scenario import Resolved
from ackclock.summary import Summary, row_names
from ackclock.traces import AQM, OVERVIEW, STATES

_CONFIG = ConfigDict(strict=True, allow_inf_nan=False, extra="allow")
_MOST = 2.0**63
_Number = Annotated[float, Field(ge=-_MOST, le=_MOST)]
_Count = Annotated[int, Field(ge=0, lt=2**63)]


@with_config(_CONFIG)
class _StoredEstimate(TypedDict):
    mean: _Number | None
    low: _Number | None
    high: _Number | None
    n: _Count


def _whole(found: _StoredEstimate) -> _StoredEstimate:
    if (found["low"] is None) != (found["high"] is None) or (found["mean"] is None and found["low"] is not None):
        raise ValueError("an interval has both ends and a mean")
    return found


_Estimate = Annotated[_StoredEstimate, AfterValidator(_whole)]


@with_config(_CONFIG)
class _Precision(TypedDict):
    quantity: str
    within: _Number
    reached: _Number | None
    most: _Count


@with_config(_CONFIG)
class _LossCycles(TypedDict):
    fewest: _Number
    most: _Number
    flow: str
    equal: bool


@with_config(_CONFIG)
class _StoredSummary(TypedDict):
    title: str
    tcp: NotRequired[dict[str, str]]
    duration_s: _Number
    warmup_s: _Number
    replications: Annotated[int, Field(ge=1, lt=2**63)]
    seed: _Count
    deterministic: bool
    intervals: NotRequired[str]
    loss_cycles: NotRequired[_LossCycles | None]
    precision: NotRequired[_Precision | None]
    flows: list[dict[str, Any]]
    links: list[dict[str, Any]]
    recoveries: NotRequired[list[dict[str, Any]]]
    classes: NotRequired[list[dict[str, Any]]]
    completions: NotRequired[list[dict[str, Any]]]
    pings: NotRequired[list[dict[str, Any]]]
    sources: NotRequired[list[dict[str, Any]]]
    warnings: list[str]
    verdict: str
    version: str


_ONCE_MISSING: Mapping[str, Any] = {"precision": None, "recoveries": []}
"""Parts that older summaries lack."""
_RATES = ("throughput_bps", "loss_fraction")
_ALWAYS: Mapping[str, frozenset[str]] = {
    "flows": frozenset([*_RATES, "goodput_bps", "retransmitted_fraction", "timeouts", "fast_retransmits"]),
    "links": frozenset(
        [*_RATES, "utilisation_fraction", "dropped_packets", "lost_packets", "queue_mean_packets", "queue_max_packets"]
    ),
}
"""Quantities that rows have in results of all versions."""
_SOMETIMES: Mapping[str, Sequence[str]] = {
    "flows": FLOW_QUANTITIES,
    "links": LINK_QUANTITIES,
    "classes": CLASS_QUANTITIES,
    "completions": COMPLETION_QUANTITIES,
    "pings": PING_QUANTITIES,
}
"""Quantities that rows have, or that are `None`."""
_NUMBERS: Mapping[str, Sequence[str]] = {
    "links": ("rate_bps", "drain_s"),
    "completions": ("flows",),
    "pings": ("flows",),
    "sources": ("sources",),
}
"""Plain numbers in the rows of a table."""
_FLAGS: Mapping[str, Sequence[str]] = {"links": ("rate_changes",)}
"""Flags, true or false, in the rows of a table."""
_COLUMNS: Mapping[str, Mapping[str, bool]] = {
    OVERVIEW: {"kind": False, "name": False, "time_s": True, "value": True},
    AQM: {
        **dict.fromkeys(("replication", "queue", "time_s", "count", "probability", "average_packets"), True),
        "link": False,
    },
    STATES: {
        **dict.fromkeys(("flow", "event", "state", "phase"), False),
        **dict.fromkeys(("replication", "time_s", "cwnd", "pacing_rate_bps", "delivery_rate_bps"), True),
    },
    DISTRIBUTION: {"kind": False, "name": False, "delay_s": True, "packets": True},
    COMPLETION_TIMES: {"flow": False, "quantity": False, "low": True, "high": True, "count": True},
    "rounds": {"flow": False, "replication": True, "time_s": True, "rtt_s": True},
}
"""Columns that the library reads in tables, and whether they hold numbers."""


def checked_summary(summary: object, resolved: Resolved) -> Summary:
    """Check a stored summary; what an older version did not write is `None`.

    Parameters
    ----------
    summary : object
        What was read.
    resolved : Resolved
        The scenario that was run, whose flows and links the summary's rows are.

    Raises
    ------
    ResultError
        If a part is missing, or of another type.
    """
    try:
        checked: dict[str, Any] = dict(_adapter().validate_python(summary))
        found = {key: checked[key] for key in cast("Mapping[str, Any]", summary)}  # in the order in which it was saved
        for table in ("flows", "links", "recoveries", "classes", "completions", "pings", "sources"):
            if table in found:
                found[table] = [_row(table, row) for row in found[table]]
    except ValidationError as error:
        raise _refusal(["summary"], error) from None
    for table, kind in (("flows", "flow"), ("links", "link")):
        if [row["name"] for row in found[table]] != row_names(resolved, kind):
            raise ResultError(f"summary.{table}: are not those of the scenario")
    return cast("Summary", found | {key: value for key, value in _ONCE_MISSING.items() if key not in found})


def check_columns(name: str, frame: pd.DataFrame) -> None:
    """Check that a table has the columns that the library reads in it.

    Raises
    ------
    ResultError
        If one is missing, or holds no numbers where it should.
    """
    for column, is_number in _COLUMNS.get(name, {}).items():
        if column not in frame.columns or (is_number and not pd.api.types.is_numeric_dtype(frame[column])):
            raise ResultError(f"{name}: has no column {column} of {'numbers' if is_number else 'names'}")


def _row(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("name", "link") if table == "classes" else ("name",)
    if not all(isinstance(row.get(name), str) for name in names):
        raise ResultError(f"summary.{table}: has a row without a {' or a '.join(names)}")
    found: dict[str, Any] = {}
    for key, value in row.items():
        if key in names:
            found[key] = value
        elif value is None and key not in _ALWAYS.get(table, ()):
            found[key] = None
        else:
            found[key] = _value(table, row, key)
    missing = sorted(key for key in _ALWAYS.get(table, ()) if found.get(key) is None)
    if missing:
        raise ResultError(f"summary.{table}: lacks {', '.join(missing)}")
    return found | {key: None for key in _SOMETIMES.get(table, ()) if key not in found}


def _value(table: str, row: Mapping[str, Any], key: str) -> Any:
    """Check a value in a row: true or false, a number, or an estimate. A whole number stays one."""
    plain = _flag() if key in _FLAGS.get(table, ()) else _number() if key in _NUMBERS.get(table, ()) else None
    try:
        if plain is None:
            return _estimate().validate_python(row[key])
        plain.validate_python(row[key])
        return row[key]
    except ValidationError as error:
        raise _refusal([f"summary.{table}", f"the row {row['name']}", key], error) from None


def _refusal(place: Sequence[str], error: ValidationError) -> ResultError:
    """Name the place of a value that is of another type, as far down as it is known."""
    first = error.errors(include_url=False)[0]
    found = ": ".join([*place[:-1], ".".join([place[-1], *map(str, first["loc"])])])
    return ResultError(f"{shortened(found)}: {first['msg'][:200]}")


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[_StoredSummary]:
    return TypeAdapter(_StoredSummary)


@lru_cache(maxsize=1)
def _estimate() -> TypeAdapter[Any]:
    return TypeAdapter(_Estimate)


@lru_cache(maxsize=1)
def _number() -> TypeAdapter[Any]:
    return TypeAdapter(_Number, config=_CONFIG)


@lru_cache(maxsize=1)
def _flag() -> TypeAdapter[Any]:
    return TypeAdapter(bool, config=_CONFIG)
