"""The panels of a sweep's data: curves along an axis, heat maps over two, one quantity against another."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ackclock.charts import Array, Curve, HeatMap, Panel
from ackclock.sweeps.axes import FIELD_SEPARATOR
from ackclock.sweeps.scales import coordinate_words, has_doubles, number_label, scale_of, words_of

if TYPE_CHECKING:
    import xarray as xr

MOST_CURVES: Final = 6
MOST_NOTES: Final = 12
_ENDS: Final = ("mean", "low", "high")
_FRACTION: Final = "_fraction"
Variable = tuple[str, "xr.Dataset"]


def curve_panels(data: "xr.Dataset", axes: Sequence[str], name: str, found: "xr.Dataset") -> list[Panel]:
    """Draw a quantity along an axis, with a curve and its intervals for each flow or link.

    Parameters
    ----------
    data : xarray.Dataset
        The sweep.
    axes : sequence of str
        Its axis.
    name : str
        The quantity.
    found : xarray.Dataset
        Its mean, low and high.
    """
    x, label, words = _axis(data[axes[0]])
    divisor, unit = _unit(name, found)
    curves = [
        Curve(element, x, mean / divisor, "marks" if words else "simulation", number, low / divisor, high / divisor)
        for number, (element, (mean, low, high)) in enumerate(_elements(found, axes))
    ]
    return [Panel(label, f"{_text(name)}{unit}", curves, x_ticks=words)]


def heat_panels(data: "xr.Dataset", axes: Sequence[str], name: str, found: "xr.Dataset") -> list[Panel]:
    """Draw a quantity over two axes: a heat map for each flow or link; parameters as of `curve_panels`."""
    divisor, unit = _unit(name, found)
    labels, words = zip(*(_words(data[axis]) for axis in axes), strict=True)
    return [
        Panel(
            labels[0],
            labels[1],
            (),
            element if several else "",
            x_ticks=words[0],
            y_ticks=words[1],
            cells=HeatMap(f"{_text(name)}{unit}", mean.T / divisor, low.T / divisor, high.T / divisor),
        )
        for elements in [list(_elements(found, axes))]
        for several in [len(elements) > 1]
        for element, (mean, low, high) in elements
    ]


def against_panels(data: "xr.Dataset", axes: Sequence[str], across: Variable, up: Variable) -> list[Panel]:
    """Draw one quantity against another, from point to point of the first axis.

    Parameters
    ----------
    data : xarray.Dataset
        The sweep.
    axes : sequence of str
        One or two axes; each value of the second has a curve.
    across, up : (str, xarray.Dataset)
        The quantities of x and y, with mean, low and high.
    """
    (x_name, x_found), (y_name, y_found) = across, up
    x_divisor, x_unit = _unit(x_name, x_found)
    y_divisor, y_unit = _unit(y_name, y_found)
    notes = _words(data[axes[0]])[1]
    curves: list[Curve] = []
    for others, x_values, y_values in _series(data, axes, x_found, y_found):
        ends = zip(x_values, y_values, strict=True)
        (x, y), (x_low, low), (x_high, high) = ((one / x_divisor, two / y_divisor) for one, two in ends)
        kind: Any = "marks" if data[axes[0]].dtype.kind != "f" else "simulation"
        shown = notes if len(notes) <= MOST_NOTES else None
        curves.append(Curve(others, x, y, kind, len(curves), low, high, x_low, x_high, notes=shown))
    return [Panel(f"{_text(x_name)}{x_unit}", f"{_text(y_name)}{y_unit}", curves[:MOST_CURVES])]


def _series(
    data: "xr.Dataset", axes: Sequence[str], x: "xr.Dataset", y: "xr.Dataset"
) -> Iterator[tuple[str, Any, Any]]:
    """Give each curve of one quantity against another, named by the flow or link and the value of the second axis."""
    pairs = list(zip(_elements(x, axes), _elements(y, axes), strict=False))
    words = _words(data[axes[1]])[1] if len(axes) == 2 else [""]
    for (element, x_values), (_, y_values) in pairs:
        for place, word in enumerate(words):
            name = ", ".join(filter(None, (element if len(pairs) > 1 else "", f"{axes[1]} = {word}" if word else "")))
            picked = [[one if len(axes) == 1 else one[:, place] for one in values] for values in (x_values, y_values)]
            yield name or element, picked[0], picked[1]


def _elements(found: "xr.Dataset", axes: Sequence[str]) -> Iterator[tuple[str, list[Array]]]:
    """Give mean, low and high of each flow or link, with the axes in order."""
    others = [str(dim) for dim in found["mean"].dims if dim not in axes]
    ends = [found[name].transpose(*others, *axes).values for name in _ENDS]
    if not others:
        yield "simulated", ends
        return
    for place, name in enumerate(found[others[0]].values.tolist()[:MOST_CURVES]):
        yield str(name), [one[place] for one in ends]


def _axis(values: "xr.DataArray") -> tuple[Array, str, list[str] | None]:
    """Give the places, the label and, of values that are not numbers, the words of an axis."""
    fields = fields_along(values, str(values.name))
    if values.dtype.kind not in "fi" or has_doubles(values.values):
        rows = zip(*(words_along(values[field]) for field in fields), strict=True)
        return np.arange(len(values), dtype=float), FIELD_SEPARATOR.join(fields), [", ".join(row) for row in rows]
    divisor, shown = _scale(values)
    return np.asarray(values.values, dtype=float) / divisor, number_label(fields, shown), None


def fields_along(data: "xr.Dataset | xr.DataArray", dim: str) -> list[str]:
    """List the coordinates along a dimension: of an axis its fields, the one that names it first."""
    return [dim, *(str(name) for name, one in data.coords.items() if one.dims == (dim,) and name != dim)]


def words_along(values: "xr.DataArray") -> list[str]:
    """Write the values of a coordinate, each with its unit."""
    return coordinate_words(values.values, str(values.attrs.get("units", "")))


def _words(values: "xr.DataArray") -> tuple[str, list[str]]:
    """Give the label and the words of an axis of a heat map, whose values are evenly apart whatever they are."""
    places, label, words = _axis(values)
    return label, words_of(places) if words is None else words


def _scale(values: "xr.DataArray") -> tuple[float, str]:
    unit = str(values.attrs.get("units", ""))
    return scale_of([values.values], unit)


def _unit(name: str, found: "xr.Dataset") -> tuple[float, str]:
    """Give the divisor and the unit in brackets in which a quantity is drawn; counts have none."""
    unit = str(found.attrs.get("units", ""))
    if unit == "1" and not name.endswith(_FRACTION):
        return 1.0, ""
    divisor, shown = (1e-2, "%") if unit == "1" else scale_of([found[end].values for end in _ENDS], unit)
    return divisor, f" [{shown}]" if shown else ""


def _text(name: str) -> str:
    """Write the name of a variable for people: without its kind and its unit."""
    kind, _, rest = name.partition("_")
    words = [word for word in rest.split("_") if word not in {"bps", "s", "packets", "fraction"}]
    return f"{kind}: {' '.join(words)}" if kind in {"completion", "ping"} else " ".join(words)
