"""The picture of a sweep: throughput along its first axis and against the delay; heat maps over two axes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Final

import numpy as np

from ackclock.charts import Array, Chart, Curve, HeatMap, Kind, Panel
from ackclock.scenario.copies import described_name
from ackclock.sweeps.axes import FIELD_SEPARATOR, Axis, coordinate
from ackclock.sweeps.dataset import Finished, theory_numbers
from ackclock.sweeps.plan import Plan
from ackclock.sweeps.scales import has_doubles, number_label, scale_of, words_of

MOST_SERIES: Final = 6
"""Largest number of curves of a panel, without those of theory."""
MOST_MAPS: Final = 3
"""Largest number of heat maps of the delay, one for each [[flow]]."""
MOST_NOTES: Final = 12
TOGETHER: Final = "throughput of all flows together"
_DELAYS: Final = {"rtt": "round trip", "delay": "one-way delay"}
Row = Mapping[str, Any]
Ends = tuple[float, float, float]
"""A mean and the ends of its interval."""
_NOTHING: Final[Ends] = (np.nan, np.nan, np.nan)


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

    @property
    def words(self) -> list[str]:
        """Values in words."""
        return words_of(self.x) if self.ticks is None else self.ticks


@dataclass(frozen=True)
class _Part:
    """The flows of one [[flow]]; without a name all flows. Some of them, or all, are transfers."""

    name: str | None
    flows: int
    transfers: int

    @classmethod
    def every(cls, entries: Sequence["_Part"]) -> "_Part":
        """Put all flows together."""
        return cls(None, sum(part.flows for part in entries), sum(part.transfers for part in entries))

    @property
    def label(self) -> str:
        """Give the words for its curve, apart from the values of axes."""
        name = f", {self.name}" if self.name else ""
        if self.flows <= 1:
            return name
        if self.transfers == self.flows:
            return f"{name}, mean of the transfers"
        return f"{name} ({self.flows} flows together)" if name else ", all flows"

    @property
    def quantity(self) -> str:
        """Say what `_total` computes of its flows."""
        if self.flows <= 1:
            return "throughput"
        if self.transfers == self.flows:
            return "mean throughput of the transfers"
        return f"{TOGETHER}, transfers left out" if self.transfers else TOGETHER

    def rows(self, one: Finished) -> list[Row]:
        """Give the rows of its flows at a point."""
        return [row for row in one.flows if self.name is None or described_name(row["name"]) == self.name]


@dataclass(frozen=True)
class _Series:
    """The points of each curve of the picture, and the axes.

    Parameters
    ----------
    axis : Axis
        The axis along which the curves go.
    others : sequence of Axis
        The other axes: each of their values makes a curve.
    points : mapping of tuple of int to sequence of Finished
        The points of each curve, by their places on the other axes.
    entries : list of _Part
        The [[flow]] tables.
    """

    axis: Axis
    others: Sequence[Axis]
    points: Mapping[tuple[int, ...], Sequence[Finished]]
    entries: list[_Part]

    @property
    def all_flows(self) -> _Part:
        """All flows together."""
        return _Part.every(self.entries)

    @property
    def parts(self) -> list[_Part]:
        """All flows together, and each [[flow]] too where there are several and these are few curves."""
        curves = (len(self.entries) + 1) * len(self.points)
        return [self.all_flows, *(self.entries if len(self.entries) > 1 and curves <= MOST_SERIES else [])]

    def curves(self, parts: Sequence[_Part]) -> Iterator[tuple[int, str, _Part, Sequence[Finished]]]:
        """Give the number of the colour, the label, the flows and the points of the curves of some of the parts."""
        for number, (place, points) in enumerate(self.points.items()):
            for part in parts:
                colour = number * len(self.parts) + self.parts.index(part)
                label = f"simulated{part.label if len(self.parts) > 1 else ''}{self.suffix(place)}"
                yield colour, label, part, points

    def suffix(self, place: tuple[int, ...]) -> str:
        """Name a curve by the values of the other axes."""
        return "".join(f", {axis.named(index)}" for axis, index in zip(self.others, place, strict=True))


def sweep_chart(plan: Plan, finished: Sequence[Finished]) -> Chart:
    """Show throughput along the first axis and against the delay; other axes make a curve a value.

    Parameters
    ----------
    plan : Plan
        The axes.
    finished : sequence of Finished
        The points.

    Returns
    -------
    Chart
        The throughput of all flows together, and where there are few curves that of each [[flow]]. Over two axes there
        are heat maps too. Theory's lines are dashed. Values that are not numbers, such as disciplines, are names on the
        axis, and their points have no line between them. Of more than six curves the first are drawn.
    """
    axis, *others = plan.axes
    by_place: dict[tuple[int, ...], list[Finished]] = {}
    for one in finished:
        by_place.setdefault(one.point.place[1:], []).append(one)
    series = _Series(axis, others, dict(list(by_place.items())[:MOST_SERIES]), _entries(finished))
    left_out = len(by_place) - len(series.points)
    title = f"{plan.scenario.title}: throughput"
    title += f" (the first {MOST_SERIES} of {len(by_place)})" if left_out else ""
    against = delay_panel(series)
    title = title if against is None else f"{title} and delay"
    panels = [_throughput_panel(series), *([] if against is None else [against]), *_cells(plan, finished)]
    if len(panels) == 1:
        return Chart(title, panels, size_inches=(12.0, 8.0))
    rows = -(-len(panels) // 2)
    return Chart(title, panels, columns=2, size_inches=(16.0, 8.0 if rows == 1 else 7.0 * rows))


def _entries(finished: Iterable[Finished]) -> list[_Part]:
    """List the [[flow]] tables, with the largest number of flows that each has at a point."""
    counts: dict[str, int] = {}
    transfers: set[str] = set()
    for one in finished:
        own: dict[str, int] = {}
        for row in one.point.resolved.rows:
            name = described_name(row.name)
            own[name] = own.get(name, 0) + row.count
            if row.size_packets is not None:
                transfers.add(name)
        counts |= {name: max(number, counts.get(name, 0)) for name, number in own.items()}
    return [_Part(name, number, number if name in transfers else 0) for name, number in counts.items()]


def _throughput_panel(series: _Series) -> Panel:
    scale, alone = _scale(series.axis), not series.others
    parts = series.parts
    found = [(number, label, _values(points, part, _total)) for number, label, part, points in series.curves(parts)]
    divisor, unit = scale_of([totals for _, _, totals in found], "bit/s")
    curves = []
    for number, label, totals in found:
        mean, low, high = totals.T / divisor
        curves.append(Curve(label, scale.x, mean, scale.kinds[0], number, low, high))
    for number, (place, points) in enumerate(series.points.items()):
        first = len(found) if alone else number * len(parts)
        curves += _theory_curves(scale, points, first, series.suffix(place), divisor, alone=alone)
    words = series.all_flows.quantity if len(parts) == 1 else "throughput"
    return Panel(scale.label, f"{words} [{unit}]", curves, x_ticks=scale.ticks)


def delay_panel(series: _Series) -> Panel | None:
    """Show throughput against delay, from number to number of the axis.

    Parameters
    ----------
    series : _Series
        The points. The axis's values are written at them, where there are few; points of values that are not numbers
        have no line between them.

    Returns
    -------
    Panel or None
        A curve for each [[flow]] where there are few, else one of all flows together. The delay is the 95th percentile
        of round trips, of flows without ACKs of one-way delays, of several flows the mean of theirs; None if no delays
        were measured.
    """
    kind = _kind_of_delay(chain.from_iterable(series.points.values()))
    if kind is None:
        return None
    entries = [part for part in series.parts[1:] if _kind_of_delay(chain(*series.points.values()), part) == kind]
    parts = entries or [series.all_flows]
    found = [
        (number, label, points, _values(points, part, partial(_delay, kind)), _values(points, part, _total))
        for number, label, part, points in series.curves(parts)
    ]
    across, x_unit = scale_of([delays for *_, delays, _ in found], "s")
    up, y_unit = scale_of([totals for *_, totals in found], "bit/s")
    curves = []
    for number, label, points, delays, totals in found:
        (x, x_low, x_high), (y, low, high) = delays.T / across, totals.T / up
        words = [series.axis.words[one.point.place[0]] for one in points]
        notes = words if len(words) <= MOST_NOTES else None
        curves.append(Curve(label, x, y, _scale(series.axis).kinds[0], number, low, high, x_low, x_high, notes))
    quantity = "throughput" if entries else series.all_flows.quantity
    return Panel(_delay_label(kind, parts, x_unit), f"{quantity} [{y_unit}]", curves)


def _delay_label(kind: str, parts: Sequence[_Part], unit: str) -> str:
    """Say what the delay of curves or a map is: of several flows there is one number for each."""
    if any(part.flows > 1 for part in parts):
        return f"{_DELAYS[kind]}, mean of the flows' 95th percentiles [{unit}]"
    return f"{_DELAYS[kind]}, 95th percentile [{unit}]"


def _cells(plan: Plan, finished: Sequence[Finished]) -> list[Panel]:
    """Show throughput and delay over two axes as heat maps with intervals; nothing if there is another number."""
    if len(plan.axes) != 2:
        return []
    scales = [_scale(axis) for axis in plan.axes]
    kind, entries = _kind_of_delay(finished), _entries(finished)
    every = _Part.every(entries)
    table = _map(scales, finished, lambda one: _total(every.rows(one)))
    divisor, unit = scale_of([table], "bit/s")
    panels = [_map_panel(scales, "", f"{every.quantity} [{unit}]", table / divisor)]
    if kind is None:
        return panels
    known = [part for part in entries if _kind_of_delay(finished, part) == kind]
    for part in known if 1 < len(known) <= MOST_MAPS else [every]:
        table = _map(scales, finished, lambda one, part=part: _delay(kind, part.rows(one)))
        divisor, unit = scale_of([table], "s")
        panels.append(_map_panel(scales, part.name or "", _delay_label(kind, [part], unit), table / divisor))
    return panels


def _map(scales: Sequence[_Scale], finished: Sequence[Finished], value: Any) -> Any:
    """Lay means, low and high ends of a value out over two axes."""
    table = np.full((3, len(scales[1].x), len(scales[0].x)), np.nan)
    for one in finished:
        table[:, one.point.place[1], one.point.place[0]] = value(one)
    return table


def _map_panel(scales: Sequence[_Scale], title: str, label: str, table: Any) -> Panel:
    across, up = scales
    cells = HeatMap(label, *table)
    return Panel(across.label, up.label, (), title, x_ticks=across.words, y_ticks=up.words, cells=cells)


def _kind_of_delay(points: Iterable[Finished], part: _Part | None = None) -> str | None:
    """Choose round trips, or one-way delays where there are no ACKs; None if no delays were measured."""
    every = _Part(None, 0, 0) if part is None else part
    rows = [row for one in points for row in every.rows(one)]
    return next((kind for kind in _DELAYS if any(row.get(f"{kind}_p95_s") is not None for row in rows)), None)


def _delay(kind: str, rows: Sequence[Row]) -> Ends:
    """Average the 95th percentiles of flows [s]; the interval is that of a lone flow."""
    key = f"{kind}_p95_s"
    found = [row[key] for row in rows if row.get(key) is not None and row[key]["mean"] is not None]
    if not found:
        return _NOTHING
    return _ends(found, sum(each["mean"] for each in found) / len(found))


def _total(rows: Sequence[Row]) -> Ends:
    """Sum the throughputs of flows [bit/s]; the interval is that of a lone flow.

    Transfers have rates over their own lives: these are not added, neither to one another nor to those of flows that
    last. Where all flows are transfers, it is the mean of their rates.
    """
    lasting = [row for row in rows if row.get("finish_s") is None]
    found = [row["throughput_bps"] for row in lasting or rows]
    known = [each for each in found if each is not None and each["mean"] is not None]
    if not known:
        return _NOTHING
    return _ends(known, sum(each["mean"] for each in known) / (1 if lasting else len(known)))


def _values(points: Sequence[Finished], part: _Part, value: Callable[[Sequence[Row]], Ends]) -> Array:
    """Give means, low and high ends of a value of some flows: a row a point."""
    return np.array([value(part.rows(one)) for one in points], dtype=float)


def _ends(found: Sequence[Row], value: float) -> Ends:
    if len(found) > 1 or found[0]["low"] is None:
        return value, np.nan, np.nan
    return value, found[0]["low"], found[0]["high"]


def _scale(axis: Axis) -> _Scale:
    values, unit = coordinate(axis.column(axis.name))
    if values.dtype.kind != "f" or has_doubles(values):
        words = axis.words if len(axis.fields) > 1 else [str(value) for value in values]
        return _Scale(np.arange(len(values), dtype=float), FIELD_SEPARATOR.join(axis.fields), words)
    divisor, shown = scale_of([values], unit)
    return _Scale(values / divisor, number_label(axis.fields, shown))


def _theory_curves(  # noqa: PLR0913  of a curve all that it shows
    scale: _Scale, points: Sequence[Finished], first: int, suffix: str, divisor: float, *, alone: bool
) -> Iterator[Curve]:
    """Draw the throughputs that models predict, each with the flows that it is of, if it is not of all."""
    found: dict[str, dict[int, float]] = {}
    for place, one in enumerate(points):
        for _, model, predicted in theory_numbers(one.theory):
            if predicted.measured is not None and predicted.measured.key == "throughput_bps":
                names = predicted.measured.names
                whose = "" if len(names) == len(one.flows) else f"{names[0] if len(names) == 1 else model.subject}: "
                found.setdefault(f"{whose}{predicted.text} ({model.model}){suffix}", {})[place] = predicted.value
    for count, (text, values) in enumerate(list(found.items())[:MOST_SERIES]):
        y = np.array([values.get(place, np.nan) for place in range(len(points))]) / divisor
        yield Curve(text, scale.x, y, scale.kinds[2 if count else 1], first + count if alone else first)
