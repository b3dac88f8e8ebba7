"""A sweep as flat tables."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ackclock.sweeps.axes import Axis, coordinate
from ackclock.sweeps.dataset import Finished, theory_numbers
from ackclock.sweeps.plan import Plan

if TYPE_CHECKING:
    import pandas as pd


def flow_table(plan: Plan, finished: Sequence[Finished]) -> "pd.DataFrame":
    """Write a row a point and flow: the axes in SI units, each quantity with its interval, each prediction."""
    return _table(plan, finished, "flow", lambda one: one.flows)


def link_table(plan: Plan, finished: Sequence[Finished]) -> "pd.DataFrame":
    """Write a row a point and link: the axes in SI units, each quantity with its interval."""
    return _table(plan, finished, "link", lambda one: one.links)


def completion_table(plan: Plan, finished: Sequence[Finished]) -> "pd.DataFrame":
    """Write a row a point and [[flow]] of transfers: the axes in SI units, each quantity with its interval."""
    return _table(plan, finished, "completion", lambda one: one.completions)


def ping_table(plan: Plan, finished: Sequence[Finished]) -> "pd.DataFrame":
    """Write a row a point and [[flow]] that pings: the axes in SI units, each quantity with its interval."""
    return _table(plan, finished, "ping", lambda one: one.pings)


def class_table(plan: Plan, finished: Sequence[Finished]) -> "pd.DataFrame":
    """Write a row a point and class of packets at a link: the axes in SI units, each quantity with its interval."""
    return _table(plan, finished, "class", lambda one: one.classes)


def _table(
    plan: Plan, finished: Sequence[Finished], kind: str, rows_of: Callable[[Finished], list[dict[str, Any]]]
) -> "pd.DataFrame":
    import pandas as pd  # noqa: PLC0415  half a second that other uses need not pay

    columns = [(place, *_column(axis, field)) for place, axis in enumerate(plan.axes) for field in axis.fields]
    rows = []
    for one in finished:
        where = {name: values[one.point.place[place]] for place, name, values in columns}
        numbers = theory_numbers(one.theory) if kind == "flow" else ()
        predicted = {name: number.value for name, _, number in numbers}
        for row in rows_of(one):
            cells: dict[str, Any] = {**where, kind: row["name"]}
            for name, found in row.items():
                if isinstance(found, Mapping):
                    cells |= {name: found["mean"], f"{name}_low": found["low"], f"{name}_high": found["high"]}
            rows.append(cells | predicted)
    return pd.DataFrame(rows)


def _column(axis: Axis, field: str) -> tuple[str, Any]:
    """Name a field's column, with its unit; give its values along the axis."""
    values, unit = coordinate(axis.column(field))
    return f"{field} [{unit}]" if unit else field, values
