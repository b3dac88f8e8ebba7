"""The points of a sweep as one labelled array a quantity, with the models' predictions."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import ackclock
from ackclock.classes import class_name, class_rows, class_values
from ackclock.completions import completion_rows
from ackclock.engine import engine_fingerprint
from ackclock.errors import Fault, SweepError
from ackclock.pings import ping_rows
from ackclock.prediction import ModelPrediction, Number, predict_resolved
from ackclock.quantities import QUANTITIES, is_pooled
from ackclock.replication import Replication
from ackclock.scenario import Resolved
from ackclock.summary import flow_rows, link_rows, replication_values, row_names
from ackclock.sweeps.axes import coordinate
from ackclock.sweeps.ends import POOLED
from ackclock.sweeps.plan import Plan, Point
from ackclock.sweeps.record import FORMAT, point_key
from ackclock.sweeps.store import Store

if TYPE_CHECKING:
    import xarray as xr

MOST_CELLS = 200_000_000
CLASS = "class"
"""Kind of the classes of packets, whose names only what was simulated says."""
UNITS = {"bps": "bit/s", "s": "s", "packets": "pkt", "fraction": "1"}


@dataclass(frozen=True)
class Finished:
    """A point with what was simulated and predicted of it.

    Parameters
    ----------
    point : Point
        Where it is.
    replications : list of Replication
        What was simulated.
    theory : tuple of ModelPrediction
        What the models say.
    flows, links, completions, pings : list of dict
        Quantities with their intervals, as in a run's summary.
    """

    point: Point
    replications: list[Replication]
    theory: tuple[ModelPrediction, ...]
    flows: list[dict[str, Any]]
    links: list[dict[str, Any]]
    completions: list[dict[str, Any]]
    pings: list[dict[str, Any]]
    classes: list[dict[str, Any]]
    """Rows of classes of packets, whose `name` is that of `ackclock.classes.class_name`."""

    def rows(self, kind: str) -> list[dict[str, Any]]:
        """Return the rows of a kind of element."""
        found: list[dict[str, Any]] = getattr(self, "classes" if kind == CLASS else f"{kind}s")
        return found


def finished_points(plan: Plan, store: Store) -> Iterator[Finished]:
    """Read the points of a sweep, in order, and ask the models about each."""
    for point in plan.points:
        replications = store.read(point_key(point.resolved))
        theory = predict_resolved(point.resolved).applicable
        tables = (flow_rows, link_rows, completion_rows, ping_rows, _class_rows)
        rows = (rows_of(point.resolved, replications) for rows_of in tables)
        yield Finished(point, replications, theory, *rows)


def _class_rows(resolved: Resolved, replications: list[Replication]) -> list[dict[str, Any]]:
    """Give the rows of classes with the names of `class_name`."""
    return [{**row, "name": class_name(row["link"], row["name"])} for row in class_rows(resolved, replications)]


def theory_name(model: ModelPrediction, number: Number, *, several: bool = False) -> str:
    """Name the variable of a predicted number; its subject only if the model applies to several."""
    return f"theory_{model.model}_{number.key}" + (f"_{model.subject}" if several else "")


def theory_numbers(theory: tuple[ModelPrediction, ...]) -> Iterator[tuple[str, ModelPrediction, Number]]:
    """Give each predicted number of a point with its name."""
    models = [model.model for model in theory]
    for model in theory:
        several = models.count(model.model) > 1
        yield from ((theory_name(model, number, several=several), model, number) for number in model.numbers)


def unit_of(name: str) -> str:
    """Read a quantity's unit off its name.

    Examples
    --------
    >>> unit_of("throughput_bps"), unit_of("rtt_mean_s"), unit_of("timeouts")
    ('bit/s', 's', '1')
    """
    return UNITS.get(name.rpartition("_")[2], "1")


def as_dataset(plan: Plan, finished: list[Finished]) -> "xr.Dataset":
    """Lay a sweep out as labelled arrays.

    Parameters
    ----------
    plan : Plan
        The sweep.
    finished : list of Finished
        Its points, in order.

    Returns
    -------
    xarray.Dataset
        Dimensions: the axes, then replication, flow, link; completion and ping, the [[flow]] of transfers and of
        pings, and class, the link and the class of packets there, where there are any. Variables: `flow_...`,
        `link_...`, `completion_...`, `ping_...`, `class_...` and `packets` as
        simulated, nan where a point has no such replication, flow or link; the ends of their intervals, as in a run's
        summary, under their names with `_low` and `_high`, without replications, and percentiles and extremes over all
        transfers or pings of all replications together with `_pooled`; `theory_...` as predicted, nan where
        the model does not apply to the point. Attributes say what was run, from which seed, by which version.

    Raises
    ------
    SweepError
        If the arrays would not fit into memory.
    """
    import xarray as xr  # noqa: PLC0415  half a second that other uses need not pay

    layout = _Layout(plan, finished)
    variables = {**layout.simulated(), **layout.intervals(), **layout.predicted()}
    return xr.Dataset(variables, coords=layout.coordinates(), attrs=_provenance(plan))


@dataclass
class _Layout:
    plan: Plan
    finished: list[Finished]
    names: dict[str, list[str]] = field(init=False)
    """The names of each kind of element that has any, by kind."""
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        found = {kind: _union(self.finished, kind) for kind in (*QUANTITIES, CLASS)}
        self.names = {kind: names for kind, names in found.items() if names}
        self.depth = max(len(one.replications) for one in self.finished)
        cells = len(self.finished) * self.depth * sum(map(len, self.names.values())) * 10
        if cells > MOST_CELLS:
            given, hint = f"{cells:,} numbers", "vary less at a time, or give fewer replications"
            raise SweepError(Fault("sweep", "is too large for its arrays", given, f"at most {MOST_CELLS:,}", hint))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.rows) for axis in self.plan.axes)

    @property
    def dims(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.plan.axes)

    def coordinates(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for axis in self.plan.axes:
            for name in axis.fields:
                values, unit = coordinate(axis.column(name))
                found[name] = (axis.name, values, {"units": unit} if unit else {})
        found["replication"] = ("replication", np.arange(self.depth, dtype=np.int32))
        return found | {kind: (kind, np.array(names)) for kind, names in self.names.items()}

    def simulated(self) -> dict[str, Any]:
        arrays: dict[str, NDArray[np.float64]] = {}
        packets = np.full((*self.shape, self.depth), np.nan)
        for one in self.finished:
            places = {kind: self._places(one, kind) for kind in self.names}
            for replication in one.replications:
                at = (*one.point.place, replication["replication"])
                packets[at] = replication["packets"]
                values = replication_values(one.point.resolved, replication)
                places[CLASS], values[CLASS] = self._of_classes(one, replication)
                for kind in self.names:
                    for name, column in values[kind].items():
                        self._array(arrays, kind, name)[at][places[kind]] = column
        found: dict[str, Any] = {
            name: ((*self.dims, "replication", name.partition("_")[0]), array, {"units": unit_of(name)})
            for name, array in arrays.items()
        }
        return {**found, "packets": ((*self.dims, "replication"), packets, {"units": "pkt"})}

    def intervals(self) -> dict[str, Any]:
        """Lay out what only a run's summary has of each quantity: the ends of its interval, and what is pooled."""
        arrays: dict[str, NDArray[np.float64]] = {}
        for one in self.finished:
            for kind, names in self.names.items():
                index = {name: place for place, name in enumerate(names)}
                for row in one.rows(kind):
                    at = (*one.point.place, index[row["name"]])
                    for key, value in _of_summary(kind, row):
                        self._ends(arrays, kind, f"{kind}_{key}")[at] = value
        return {name: self._variable(name, array) for name, array in arrays.items()}

    def _variable(self, name: str, array: NDArray[np.float64]) -> tuple[Any, ...]:
        """Give a variable of the summary with its unit, and the number of replications that it is over."""
        quantity, _, ending = name.rpartition("_")
        of_all = {"replications": self.depth} if ending == POOLED else {}
        return (*self.dims, name.partition("_")[0]), array, {"units": unit_of(quantity)} | of_all

    def _ends(self, arrays: dict[str, NDArray[np.float64]], kind: str, name: str) -> NDArray[np.float64]:
        if name not in arrays:
            arrays[name] = np.full((*self.shape, len(self.names[kind])), np.nan)
        return arrays[name]

    def _array(self, arrays: dict[str, NDArray[np.float64]], kind: str, name: str) -> NDArray[np.float64]:
        key = f"{kind}_{name}"
        if key not in arrays:
            arrays[key] = np.full((*self.shape, self.depth, len(self.names[kind])), np.nan)
        return arrays[key]

    def _of_classes(self, one: Finished, replication: Replication) -> tuple[list[int], dict[str, Any]]:
        """Give the places of the classes of a replication, and its quantities."""
        names, values = class_values(one.point.resolved, replication)
        known = self.names.get(CLASS, [])
        return [known.index(name) for name in names], values

    def _places(self, one: Finished, kind: str) -> list[int]:
        index = {name: place for place, name in enumerate(self.names[kind])}
        return [index[name] for name in _names(one, kind)]

    def predicted(self) -> dict[str, Any]:
        arrays: dict[str, NDArray[np.float64]] = {}
        attributes: dict[str, dict[str, str]] = {}
        warnings: dict[str, dict[str, None]] = {}
        for one in self.finished:
            for name, model, number in theory_numbers(one.theory):
                warnings.setdefault(name, {}).update(dict.fromkeys(model.warnings))
                arrays.setdefault(name, np.full(self.shape, np.nan))[one.point.place] = number.value
                text = {"long_name": number.text, "units": number.unit, "model": model.title}
                attributes.setdefault(name, text | _measured(number))
        return {
            name: (
                self.dims,
                array,
                attributes[name] | ({"warnings": "; ".join(warnings[name])} if warnings[name] else {}),
            )
            for name, array in arrays.items()
        }


def _of_summary(kind: str, row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Give the ends of the intervals of a row, and its values over all replications together, by variable."""
    for key, found in row.items():
        if isinstance(found, Mapping):
            if is_pooled(kind, key) and found["mean"] is not None:
                yield f"{key}_{POOLED}", found["mean"]
            if found["low"] is not None:
                yield from ((f"{key}_{end}", found[end]) for end in ("low", "high"))


def _measured(number: Number) -> dict[str, str]:
    """Say which variable holds what was simulated of a predicted number."""
    if number.measured is None:
        return {}
    return {"simulated": f"{number.measured.table[:-1]}_{number.measured.key}"}


def _union(finished: list[Finished], kind: str) -> list[str]:
    return list(dict.fromkeys(name for one in finished for name in _names(one, kind)))


def _names(one: Finished, kind: str) -> list[str]:
    """Give the names of a summary's rows."""
    if kind == CLASS:
        return [row["name"] for row in one.classes]
    return row_names(one.point.resolved, kind)


def _provenance(plan: Plan) -> dict[str, Any]:
    varied: Mapping[str, Any] = {name: axis.column(name) for axis in plan.axes for name in axis.fields}
    seed = plan.points[0].resolved.run.seed
    return {
        "title": plan.scenario.title,
        "scenario": json.dumps(plan.scenario.source.document, ensure_ascii=False, default=str),
        "varied": json.dumps(varied, ensure_ascii=False, default=str),
        "seed": str(seed),
        "confidence": str(plan.points[0].resolved.run.confidence),
        "warnings": json.dumps(plan.warnings, ensure_ascii=False),
        "version": ackclock.__version__,
        "engine": engine_fingerprint(),
        "point_format": str(FORMAT),
    }
