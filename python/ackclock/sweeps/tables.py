"""A sweep as flat tables and as a chart."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.charts import Chart, Curve, HeatMap, Kind, Panel
from ackclock.sweeps.axes import Axis, coordinate
from ackclock.sweeps.dataset import Finished, theory_numbers
from ackclock.sweeps.plan import Plan

if TYPE_CHECKING:
    import pandas as pd

MOST_SERIES = 6
MOST_NOTES = 12
_DELAYS = {"rtt": "round trip", "delay": "one-way delay"}
UNIT_SCALES = {"bit/s": (1e6, "Mbit/s"), "s": (1e-3, "ms")}


@dataclass(frozen=True)
class _Scale:
    """An axis of a sweep in its picture: places, label, and words where its values are not numbers."""

    x: Any
    label: str
    ticks: list[str] | None = None

    @property
    def kinds(self) -> tuple[Kind, Kind, Kind]:
        """The kinds of curves along it, of the simulation and of theory: names have no line from one to the next."""
        if self.ticks is None:
            return "simulation", "theory", "theory-2"
        return "marks", "theory-marks", "theory-marks-2"


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


def sweep_chart(plan: Plan, finished: Sequence[Finished]) -> Chart:
    """Show the throughput of all flows together against the first axis; other axes make a curve a value.

    Over two axes there are heat maps too. Theory's lines are dashed. Values that are not numbers, such as disciplines,
    are names on the axis, and their points have no line between them. Of more than six curves the first are drawn.
    """
    axis, *others = plan.axes
    series: dict[tuple[int, ...], list[Finished]] = {}
    for one in finished:
        series.setdefault(one.point.place[1:], []).append(one)
    shown = dict(list(series.items())[:MOST_SERIES])
    scale = _scale(axis)
    curves = [
        curve
        for number, (place, points) in enumerate(shown.items())
        for curve in _curves(scale, points, others, place, number)
    ]
    left_out = len(series) - len(shown)
    title = f"{plan.scenario.title}: throughput" + (f" (the first {MOST_SERIES} of {len(series)})" if left_out else "")
    panels = [Panel(scale.label, "throughput [Mbit/s]", curves, x_ticks=scale.ticks)]
    against = delay_panel(axis, others, shown)
    title = title if against is None else f"{title} and delay"
    panels += ([] if against is None else [against]) + _cells(plan, finished)
    if len(panels) == 1:
        return Chart(title, panels, size_inches=(12.0, 8.0))
    return Chart(title, panels, columns=2, size_inches=(16.0, 8.0 if len(panels) == 2 else 14.0))


def _cells(plan: Plan, finished: Sequence[Finished]) -> list[Panel]:
    """Show throughput and delay over two axes as heat maps with intervals; nothing if there is another number."""
    if len(plan.axes) != 2:
        return []
    scales = [_scale(axis) for axis in plan.axes]
    words = [[f"{place:g}" for place in scale.x] if scale.ticks is None else scale.ticks for scale in scales]
    kind = _kind_of_delay(finished)
    shown: list[tuple[str, Callable[[Finished], tuple[float, float, float]], float]] = [
        ("throughput [Mbit/s]", _total, 1e6)
    ]
    if kind is not None:
        shown.append((f"{_DELAYS[kind]}, 95th percentile [ms]", lambda one: _delay_ms(one, f"{kind}_p95_s"), 1.0))
    panels = []
    for label, value, unit in shown:
        table = np.full((3, len(words[1]), len(words[0])), np.nan)
        for one in finished:
            table[:, one.point.place[1], one.point.place[0]] = np.array(value(one)) / unit
        cells = HeatMap(label, *table)
        panels.append(Panel(scales[0].label, scales[1].label, (), x_ticks=words[0], y_ticks=words[1], cells=cells))
    return panels


def delay_panel(
    axis: Axis, others: Sequence[Axis], series: Mapping[tuple[int, ...], Sequence[Finished]]
) -> Panel | None:
    """Show the throughput of all flows together against their delay, from number to number of the axis.

    Parameters
    ----------
    axis : Axis
        The axis along which the curves go; its values are written at their points, where there are few. Points of
        values that are not numbers have no line between them.
    others : sequence of Axis
        The other axes.
    series : mapping of tuple of int to sequence of Finished
        The points of each curve, by their places on the other axes.

    Returns
    -------
    Panel or None
        The delay is the 95th percentile of round trips, of flows without ACKs of one-way delays, as the mean over the
        flows; None if no delays were measured.
    """
    kind = _kind_of_delay(chain.from_iterable(series.values()))
    if kind is None:
        return None
    curves = []
    kind_of_curve = _scale(axis).kinds[0]
    for number, (place, points) in enumerate(series.items()):
        delays = np.array([_delay_ms(one, f"{kind}_p95_s") for one in points])
        totals = np.array([_total(one) for one in points]) / 1e6
        words = [str(axis.rows[one.point.place[0]][0]) for one in points]
        curves.append(
            Curve(
                f"simulated{_suffix(others, place)}",
                delays[:, 0],
                totals[:, 0],
                kind_of_curve,
                number,
                *(totals[:, 1], totals[:, 2], delays[:, 1], delays[:, 2]),
                notes=words if len(words) <= MOST_NOTES else None,
            )
        )
    return Panel(f"{_DELAYS[kind]}, 95th percentile [ms]", "throughput [Mbit/s]", curves)


def _kind_of_delay(points: Iterable[Finished]) -> str | None:
    """Choose round trips, or one-way delays where there are no ACKs; None if no delays were measured."""
    rows = [row for one in points for row in one.flows]
    return next((kind for kind in _DELAYS if any(row.get(f"{kind}_p95_s") is not None for row in rows)), None)


def _delay_ms(one: Finished, key: str) -> tuple[float, float, float]:
    """Average a delay over the flows; the interval is that of a lone flow."""
    found = [row[key] for row in one.flows if row.get(key) is not None and row[key]["mean"] is not None]
    if not found:
        return np.nan, np.nan, np.nan
    mean = sum(each["mean"] for each in found) / len(found) * 1e3
    if len(found) > 1 or found[0]["low"] is None:
        return mean, np.nan, np.nan
    return mean, found[0]["low"] * 1e3, found[0]["high"] * 1e3


def _scale(axis: Axis) -> _Scale:
    values, unit = coordinate(axis.column(axis.name))
    if values.dtype.kind != "f":
        return _Scale(np.arange(len(values), dtype=float), axis.name, [str(value) for value in values])
    divisor, shown = UNIT_SCALES.get(unit, (1.0, unit))
    return _Scale(values / divisor, f"{axis.name} [{shown}]" if shown else axis.name)


def _curves(
    scale: _Scale, points: Sequence[Finished], others: Sequence[Axis], place: tuple[int, ...], number: int
) -> list[Curve]:
    suffix = _suffix(others, place)
    totals = np.array([_total(one) for one in points]) / 1e6
    kind = scale.kinds[0]
    simulated = Curve(f"simulated{suffix}", scale.x, totals[:, 0], kind, number, totals[:, 1], totals[:, 2])
    return [simulated, *_theory_curves(scale, points, number, suffix, alone=not others)]


def _suffix(others: Sequence[Axis], place: tuple[int, ...]) -> str:
    values = [f"{axis.name} = {axis.rows[index][0]}" for axis, index in zip(others, place, strict=True)]
    return f", {', '.join(values)}" if values else ""


def _theory_curves(scale: _Scale, points: Sequence[Finished], number: int, suffix: str, *, alone: bool) -> list[Curve]:
    found: dict[str, dict[int, float]] = {}
    for place, one in enumerate(points):
        for _, model, predicted in theory_numbers(one.theory):
            if predicted.measured is not None and predicted.measured.key == "throughput_bps":
                text = f"{predicted.text} ({model.model}){suffix}"
                found.setdefault(text, {})[place] = predicted.value / 1e6
    return [
        Curve(
            text,
            scale.x,
            _along(values, len(points)),
            scale.kinds[2 if count else 1],
            number + 1 + count if alone else number,
        )
        for count, (text, values) in enumerate(found.items())
    ]


def _along(values: Mapping[int, float], count: int) -> Any:
    return np.array([values.get(place, np.nan) for place in range(count)])


def _total(one: Finished) -> tuple[float, float, float]:
    """Sum the flows' throughputs; the interval is that of a lone flow."""
    found = [row["throughput_bps"] for row in one.flows]
    mean = sum(each["mean"] or 0.0 for each in found)
    if len(found) > 1 or found[0]["low"] is None:
        return mean, np.nan, np.nan
    return mean, found[0]["low"], found[0]["high"]
