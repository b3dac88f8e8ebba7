"""Intervals, tables and pictures of the data of sweeps, which xarray gives as `data.ackclock`."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, overload

import numpy as np

from ackclock.errors import Fault, SweepError
from ackclock.scenario.arguments import NUMBER, TEXT, check_arguments
from ackclock.sweeps.ends import DEFAULT_CONFIDENCE, REPLICATION, ROUNDING, mean_and_ends
from ackclock.sweeps.pictured import against_panels, curve_panels, fields_along, heat_panels, words_along
from ackclock.tables import Printed, TableText, html_table, rich_table
from ackclock.wording import amount, half_width, number

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import Console, ConsoleOptions, RenderableType

    from ackclock.charts import Chart
    from ackclock.plots import AxesLike, Picture

ELEMENTS: Final = ("flow", "link", "completion", "ping", "class")
"""Dimensions that are not axes of a sweep, apart from the replications."""
DEFAULT: Final = "flow_throughput_bps"
SHOWN: Final = (
    ("flow_throughput_bps", "throughput"),
    ("flow_goodput_bps", "goodput"),
    ("flow_loss_fraction", "loss"),
    ("flow_rtt_p95_s", "RTT p95"),
    ("flow_delay_p95_s", "delay p95"),
)
"""The columns of the table, as far as they are there; one-way delays without round trips."""
MOST_ROWS: Final = 60
LEAST: Final = 2
"""Least number of replications that give an interval."""


class SweepAccessor(Printed):
    """Intervals, tables and pictures of a sweep's data; xarray gives it as `data.ackclock`.

    Parameters
    ----------
    data : xarray.Dataset
        What `ackclock.sweep` gave, or its sweep.nc, or a part of either that `sel` chose.

    Examples
    --------
    >>> import ackclock
    >>> data = ackclock.sweep("geo-two-nodes", {"link.satellite.buffer": "10:60:10"})  # doctest: +SKIP
    >>> data.ackclock.interval("flow_throughput")  # doctest: +SKIP
    >>> print(data.ackclock)  # doctest: +SKIP
    """

    def __init__(self, data: "xr.Dataset") -> None:
        self._data = data

    @property
    def axes(self) -> list[str]:
        """The dimensions that are axes of the sweep, in their order."""
        return [str(name) for name in self._data.dims if name not in {REPLICATION, *ELEMENTS}]

    def interval(self, name: str, confidence: float | None = None) -> "xr.Dataset":
        """Give the mean of a quantity and the ends of its interval at each point.

        Percentiles and extremes of transfers and pings are over those of all replications together.

        Parameters
        ----------
        name : str
            A simulated variable, with its unit (``"flow_throughput_bps"``) or without it.
        confidence : float, optional
            Probability that an interval holds the true mean [1], above 0 and below 1: Student's t over the
            replications. By default that of the runs, their run.confidence, and of points with one replication the
            interval by batch means, or a point where nothing is random, as long as it is about the value that is there.

        Returns
        -------
        xarray.Dataset
            `mean`, `low` and `high`, with the dimensions of the variable except the replications.

        Raises
        ------
        SweepError
            If there is no such variable, it has no value at all, or no point has enough replications for an interval.
        """
        check_arguments("interval", name=(name, TEXT), confidence=(confidence, NUMBER.or_none()))
        if confidence is not None and not 0.0 < confidence < 1.0:
            raise SweepError(
                Fault('argument "confidence"', "is not a probability", f"{confidence:g}", "above 0, below 1")
            )
        variable = self._named(name)
        found = self._means(variable, confidence)
        if not np.isfinite(found["mean"]).any():
            raise SweepError(
                Fault("interval", f'"{name}" has no value: nothing was measured, or nothing is left of it')
            )
        if not np.isfinite(found["low"]).any():
            depth = int(self._data.sizes.get(REPLICATION, 1))
            given = f"{depth} replication{'s' * (depth != 1)}"
            hint = "sweep with replications=10, or a longer run, which gives batch means"
            too_few = "replications"
            if f"{variable}_pooled" in self._data:
                too_few = "values in all replications together"
                hint = "sweep with more replications: docs/scenario.md says how many values a percentile needs"
            problem = f'no interval of "{name}": too few {too_few}'
            raise SweepError(Fault("interval", problem, given, f"{LEAST} or more", hint))
        return found

    def chart(self, name: str = DEFAULT, *, against: str | None = None) -> "Chart":
        """Describe the picture of a quantity, as data; parameters and errors as of `plot`."""
        from ackclock.charts import Chart  # noqa: PLC0415

        check_arguments("chart", name=(name, TEXT), against=(against, TEXT.or_none()))
        variable = self._named(name)
        y = self._means(variable, None)
        title = str(self._data.attrs.get("title", ""))
        axes = self.axes
        if not 1 <= len(axes) <= 2:
            hint = "choose one value of the others, such as data.sel({'run.seed': 1})"
            raise SweepError(Fault("picture", "needs one or two axes", ", ".join(axes) or "none", hint=hint))
        if against is not None:
            x_name = self._named(against)
            panels = against_panels(self._data, axes, (x_name, self._means(x_name, None)), (variable, y))
        else:
            draw = heat_panels if len(axes) == 2 else curve_panels
            panels = draw(self._data, axes, variable, y)
        width = 8.5 * len(panels) if len(axes) == 2 and against is None else 12.0
        return Chart(title, panels, columns=len(panels), legend="panel", size_inches=(max(width, 11.0), 7.0))

    @overload
    def plot(self, name: str = DEFAULT, *, against: str | None = None, axes: None = None) -> "Picture": ...
    @overload
    def plot(self, name: str = DEFAULT, *, against: str | None = None, axes: "AxesLike") -> None: ...
    def plot(
        self, name: str = DEFAULT, *, against: str | None = None, axes: "AxesLike | None" = None
    ) -> "Picture | None":
        """Draw a quantity: along one axis as curves, over two axes as cells of a heat map, with intervals.

        Parameters
        ----------
        name : str
            A simulated variable, with its unit or without it.
        against : str, optional
            Another one for the x axis: ``data.ackclock.plot("flow_throughput", against="flow_rtt_p95")`` is throughput
            against delay, from point to point of the first axis.
        axes : matplotlib Axes or sequence of them, optional
            As many as there are panels (one; of a heat map one a flow or link), to draw into.

        Returns
        -------
        Picture or None
            A matplotlib Figure that a notebook shows; None with `axes`.

        Raises
        ------
        SweepError
            If there is no such variable, or the data have no axis, or more than two.
        ArgumentError
            If `axes` are of another number than the panels.
        """
        from ackclock.plots import chart_picture, draw_into  # noqa: PLC0415  half a second that other uses need not pay

        chart = self.chart(name, against=against)
        if axes is None:
            return chart_picture(chart)
        draw_into(chart, axes)
        return None

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> Iterator["RenderableType"]:
        from rich.text import Text  # noqa: PLC0415  the library itself does without rich

        yield Text(str(self._data.attrs.get("title", "")), style="bold")
        yield rich_table(self._table())
        yield from (Text(line, style="dim") for line in (self._table().note,) if line)

    def __repr__(self) -> str:
        sizes = " x ".join(f"{self._data.sizes[name]} {name}" for name in self.axes)
        return f"<Sweep {self._data.attrs.get('title', '')!r}: {sizes or 'one point'}>"

    def _repr_html_(self) -> str:
        return html_table(self._table())

    def _table(self) -> TableText:
        """List the points: a row a point and flow, with the quantities that matter and half of their intervals."""
        shown = [(name, title) for name, title in SHOWN if name in self._data and np.isfinite(self._data[name]).any()]
        if ("flow_rtt_p95_s", "RTT p95") in shown:
            shown = [one for one in shown if one[0] != "flow_delay_p95_s"]
        found = {name: self._means(name, None) for name, _ in shown}
        dims = [*self.axes, *(["flow"] if "flow" in self._data.dims else [])]
        places = {name: dim for dim in dims for name in fields_along(self._data, dim)}
        words_at = {name: words_along(self._data[name]) for name in places}
        rows = []
        for index in np.ndindex(*(self._data.sizes[name] for name in dims)):
            at = dict(zip(dims, index, strict=True))
            words = [words_at[name][at[dim]] for name, dim in places.items()]
            cells = [_cell(found[name].isel(at), str(self._data[name].attrs.get("units", ""))) for name, _ in shown]
            rows.append([*words, *cells])
        note = f"The first {MOST_ROWS} of {len(rows):,} rows; flows.csv has all." if len(rows) > MOST_ROWS else ""
        return TableText([*places, *(title for _, title in shown)], rows[:MOST_ROWS], note, names=max(1, len(places)))

    def _named(self, name: str) -> str:
        """Return the simulated variable of a name with or without its unit."""
        known = [str(one) for one in self._data.data_vars if REPLICATION in self._data[one].dims]
        if name in known:
            return name
        units = [one for one in known if one.rpartition("_")[0] == name]
        if len(units) == 1:
            return units[0]
        near = [one for one in known if one.startswith(f"{name}_")] or get_close_matches(name, known, 3, 0.5)
        if not known:
            hint = "this is not the data of a sweep, or `mean` has left no replications"
        else:
            hint = f"did you mean {' or '.join(near[:4])}?" if near else f"such as {', '.join(known[:4])}"
        raise SweepError(Fault("data of the sweep", "has no simulated variable of this name", f'"{name}"', hint=hint))

    def _means(self, name: str, confidence: float | None) -> "xr.Dataset":
        """Give mean, low and high of a variable, the ends nan where there is no interval."""
        variable = self._data[name]
        mean, low, high = mean_and_ends(self._data, name, confidence)
        found = mean.to_dataset(name="mean").assign(low=low, high=high)
        attributes = {**variable.attrs, "variable": name}
        attributes["confidence"] = str(confidence or self._data.attrs.get("confidence", DEFAULT_CONFIDENCE))
        return found.assign_attrs(attributes)


def _cell(found: "xr.Dataset", unit: str) -> str:
    mean, low, high = (float(found[name]) for name in ("mean", "low", "high"))
    if not np.isfinite(mean):
        return "-"
    text = amount(mean, unit) if unit in {"bit/s", "s", "1", "pkt"} else number(mean)
    half = (high - low) / 2.0
    return f"{text}\n{half_width(half, mean)}" if half > ROUNDING * abs(mean) else text
