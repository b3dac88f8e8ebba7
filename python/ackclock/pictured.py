"""Pictures of results: of one, with the panels, flows and times that are chosen, and of several over each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, overload

import ackclock
from ackclock import folders
from ackclock.completions import COMPLETION_TIMES
from ackclock.delays import DISTRIBUTION
from ackclock.errors import ArgumentError, Fault, ResultError
from ackclock.pictures import (
    MOST_CURVES,
    TRACES_OF_PANELS,
    AbsentPanelError,
    Choice,
    Measured,
    chosen_chart,
    overlaid_chart,
    overview_chart,
)
from ackclock.recording import with_traces
from ackclock.scenario.arguments import NAMES, NUMBER, PATH, Allowed, check_arguments
from ackclock.traces import OVERVIEW, STATES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from ackclock.charts import Chart
    from ackclock.plots import AxesLike, Picture
    from ackclock.prediction import ReferenceLine
    from ackclock.scenario import Resolved
    from ackclock.summary import Summary

_MOST_NAMES: Final = 24
_OVERVIEW_HAS: Final = frozenset(("cwnd", "queue", "state", "recovery"))
DEFAULT: Final = ("cwnd", "queue")
"""The panels if a range of times or flows is chosen, and panels are not; without a queue the first alone."""
REFERENCE_LINES = Allowed(
    "a list of reference lines, such as compare(result).reference_lines",
    lambda value: isinstance(value, list | tuple) and all(hasattr(line, "kind") for line in value),
)
_RANGE = Allowed(
    "begin and end in seconds, such as (10, 20)",
    lambda value: isinstance(value, list | tuple) and len(value) == 2 and all(map(NUMBER.holds, value)),
)
_RESULTS = Allowed(
    "a list of two or more results, which run() gives",
    lambda value: (
        isinstance(value, list | tuple) and len(value) >= 2 and all(isinstance(one, Pictured) for one in value)
    ),
)


class Pictured:
    """A finished run that can be drawn.

    Parameters
    ----------
    summary : Summary
        Quantities of flows and links.
    resolved : Resolved
        The scenario that was run.
    version : str
        The version of ackclock that ran it.
    traces : mapping of str to DataFrame
        A data frame by trace name.
    """

    def __init__(
        self, summary: Summary, resolved: Resolved, version: str, traces: Mapping[str, pd.DataFrame] | None = None
    ) -> None:
        self.summary = summary
        self.resolved = resolved
        self.version = version
        self.traces: Mapping[str, pd.DataFrame] = {} if traces is None else traces

    def chart(
        self,
        reference_lines: Sequence[ReferenceLine] = (),
        *,
        panels: Sequence[str] | None = None,
        between: tuple[float, float] | None = None,
        flows: Sequence[str] | None = None,
    ) -> Chart:
        """Describe the run's picture, as data: cwnd, queues, states and pings over time, and completion times.

        Parameters
        ----------
        reference_lines : sequence of ReferenceLine, optional
            Lines of the theory, such as `ackclock.compare(result).reference_lines`.
        panels, between, flows
            As for `plot`.

        Raises
        ------
        ResultError
            The run recorded no overview to draw, or does not have a panel that is chosen.
        LimitError
            Panels need traces that were not recorded, and the run is long.
        """
        check_arguments("Result.chart", reference_lines=(reference_lines, REFERENCE_LINES))
        choice = _choice("Result.chart", self, panels, between, flows)
        if choice is not None:
            return self._chosen(choice, reference_lines)
        if OVERVIEW not in self.traces:
            message = "picture: nothing to draw; the run recorded no overview; run it again with picture=True"
            raise ResultError(message)
        return overview_chart(self.resolved, self.traces[OVERVIEW], reference_lines, self._measured_frames())

    @overload
    def plot(
        self,
        reference_lines: Sequence[ReferenceLine] = (),
        *,
        panels: Sequence[str] | None = None,
        between: tuple[float, float] | None = None,
        flows: Sequence[str] | None = None,
        axes: None = None,
    ) -> Picture: ...
    @overload
    def plot(
        self,
        reference_lines: Sequence[ReferenceLine] = (),
        *,
        panels: Sequence[str] | None = None,
        between: tuple[float, float] | None = None,
        flows: Sequence[str] | None = None,
        axes: AxesLike,
    ) -> None: ...
    def plot(
        self,
        reference_lines: Sequence[ReferenceLine] = (),
        *,
        panels: Sequence[str] | None = None,
        between: tuple[float, float] | None = None,
        flows: Sequence[str] | None = None,
        axes: AxesLike | None = None,
    ) -> Picture | None:
        """Draw `chart`; a notebook shows it.

        Parameters
        ----------
        reference_lines : sequence of ReferenceLine, optional
            Lines of the theory.
        panels : sequence of str, optional
            What to draw, from top to bottom: "cwnd" (with ssthresh and the phases of one sender), "states", "pacing",
            "queue", "rtt", "rate", "sequence" (packets by number), "link-rate", "ping", "delay" (distribution),
            "completion", "delay-throughput". By default the run's overview. Traces that these need and the run did not
            record come from its first replication, which is run once more; the same seed gives the same bits.
        between : pair of float, optional
            Begin and end of the part of the run to draw [s].
        flows : sequence of str, optional
            Names of the flows to draw; of a group `name` or `name[3]`.
        axes : matplotlib Axes or sequence of them, optional
            As many as there are panels, to draw into.

        Returns
        -------
        Picture or None
            A matplotlib Figure that pyplot does not know; with `axes`, which have a figure already, None.

        Raises
        ------
        ResultError
            The run recorded no overview to draw, or does not have a panel that is chosen.
        ArgumentError
            A panel or a flow has an unknown name, or there is another number of axes than of panels.
        LimitError
            Panels need traces that were not recorded, and the run is long.

        Examples
        --------
        >>> result.plot(panels=["cwnd", "rtt", "sequence"], between=(10, 20))  # doctest: +SKIP
        """
        return _drawn(self.chart(reference_lines, panels=panels, between=between, flows=flows), axes)

    def save_picture(self, path: str | Path, reference_lines: Sequence[ReferenceLine] = ()) -> None:
        """Draw the picture into one file, in the format of its ending (png, svg, pdf).

        Parameters
        ----------
        path : str or Path
            The file, which is replaced if it is there.
        reference_lines : sequence of ReferenceLine, optional
            Lines of the theory in the picture.

        Raises
        ------
        ResultError
            The run recorded no overview to draw, or the file cannot be written.
        """
        check_arguments("Result.save_picture", path=(path, PATH))
        picture = self.plot(reference_lines)
        folders.write_file(Path(path), picture.save)

    def _chosen(self, choice: Choice, reference_lines: Sequence[ReferenceLine] = (), *, over: bool = False) -> Chart:
        """Draw the chosen panels, with traces that are recorded now if they are missing.

        Over other runs, the overview has enough of windows and queues unless a part of the run is looked at.
        """
        spared = _OVERVIEW_HAS if over and choice.between is None else frozenset()
        wanted = [name for panel in choice.panels for name in TRACES_OF_PANELS[panel] if name not in spared]
        if any(name not in self.traces for name in (OVERVIEW, *wanted)):
            _check_repeatable(self)
        traces = with_traces(self.resolved, self.traces, wanted, "picture")
        try:
            return chosen_chart(
                self.resolved,
                traces,
                self.summary["flows"],
                choice,
                measured=self._measured_frames(),
                reference_lines=reference_lines,
            )
        except AbsentPanelError as error:
            raise ResultError(f"picture, {error}") from None

    def _measured_frames(self) -> Measured:
        return Measured(*map(self.traces.get, (COMPLETION_TIMES, DISTRIBUTION, STATES)))


@overload
def plot(
    results: Sequence[Pictured],
    labels: Sequence[str] | None = None,
    *,
    panels: Sequence[str] | None = None,
    between: tuple[float, float] | None = None,
    flows: Sequence[str] | None = None,
    axes: None = None,
) -> Picture: ...
@overload
def plot(
    results: Sequence[Pictured],
    labels: Sequence[str] | None = None,
    *,
    panels: Sequence[str] | None = None,
    between: tuple[float, float] | None = None,
    flows: Sequence[str] | None = None,
    axes: AxesLike,
) -> None: ...
def plot(  # noqa: PLR0913  all but two by name
    results: Sequence[Pictured],
    labels: Sequence[str] | None = None,
    *,
    panels: Sequence[str] | None = None,
    between: tuple[float, float] | None = None,
    flows: Sequence[str] | None = None,
    axes: AxesLike | None = None,
) -> Picture | None:
    """Draw several results over each other; a notebook shows it. `Result.plot` draws a single one.

    Parameters
    ----------
    results : sequence of Result
        The results, two or more.
    labels : sequence of str, optional
        A name for each; by default the titles of their scenarios, numbered if they are the same.
    panels, between, flows, axes
        As for `Result.plot`; cwnd and queues by default.

    Returns
    -------
    Picture or None
        As of `Result.plot`.

    Raises
    ------
    ResultError
        A run does not have a panel that is chosen, or a panel has more than twelve curves.
    ArgumentError
        Labels and results differ in number, or as for `Result.plot`.
    LimitError
        Panels need traces that were not recorded, and a run is long.

    Examples
    --------
    >>> import ackclock
    >>> runs = [ackclock.run("geo-two-nodes", seed=seed) for seed in (1, 2)]  # doctest: +SKIP
    >>> ackclock.plot(runs, ["first", "second"], panels=["cwnd", "rtt"])  # doctest: +SKIP
    """
    check_arguments("plot", results=(results, _RESULTS), labels=(labels, NAMES.or_none()))
    names = _default_labels(results) if labels is None else list(labels)
    if len(names) != len(results):
        given, allowed = f"{len(names)} labels", f"{len(results)}, one for each result"
        raise ArgumentError(Fault('plot(), argument "labels"', "do not fit the results", given, allowed))
    charts = []
    for result in results:
        choice = _choice("plot", result, panels, between, flows) or _default(result)
        charts.append(result._chosen(choice, over=True))  # noqa: SLF001  of this module
    return _drawn(_together(charts, names), axes)


def _drawn(chart: Chart, axes: AxesLike | None) -> Picture | None:
    from ackclock.plots import chart_picture, draw_into  # noqa: PLC0415  half a second that other uses need not pay

    if axes is None:
        return chart_picture(chart)
    draw_into(chart, axes)
    return None


def _together(charts: Sequence[Chart], names: Sequence[str]) -> Chart:
    fewest = min(len(chart.panels) for chart in charts)  # by default a run without a queue has a panel less
    chart = overlaid_chart([replace(chart, panels=chart.panels[:fewest]) for chart in charts], names)
    for panel in chart.panels:
        curves = len({curve.label for curve in panel.curves})
        if curves > MOST_CURVES:
            message = f"picture: {curves} curves over each other in one panel; at most {MOST_CURVES}; choose some flows"
            raise ResultError(message)
    return chart


def _default(result: Pictured) -> Choice:
    return _with_queue_if_any(result, Choice(DEFAULT))


def _choice(
    function: str,
    result: Pictured,
    panels: Sequence[str] | None,
    between: tuple[float, float] | None,
    flows: Sequence[str] | None,
) -> Choice | None:
    """Check what a caller chose; None if nothing."""
    check_arguments(
        function,
        panels=(panels, NAMES.or_none()),
        between=(between, _RANGE.or_none()),
        flows=(flows, NAMES.or_none()),
    )
    _check_names(function, "panels", panels, tuple(TRACES_OF_PANELS))
    resolved = result.resolved
    known = dict.fromkeys((*(flow.name for flow in resolved.flows), *resolved.flow_names))
    _check_names(function, "flows", flows, tuple(known))
    end = resolved.run.duration_s
    if between is not None and not 0.0 <= between[0] < between[1] <= end:
        given, allowed = f"{between[0]:g} to {between[1]:g} s", f"a part of 0 to {end:g} s"
        raise ArgumentError(Fault(f'{function}(), argument "between"', "is not a part of the run", given, allowed))
    if panels is None and between is None and flows is None:
        return None
    choice = Choice(
        DEFAULT if panels is None else tuple(panels),
        None if between is None else (float(between[0]), float(between[1])),
        None if flows is None else tuple(flows),
    )
    return choice if panels is not None else _with_queue_if_any(result, choice)


def _with_queue_if_any(result: Pictured, choice: Choice) -> Choice:
    longest = [row["queue_max_packets"]["mean"] for row in result.summary["links"]]
    waited = any(one is not None and one > 1.0 for one in longest)
    return choice if waited else replace(choice, panels=("cwnd",))


def _check_names(function: str, argument: str, given: Sequence[str] | None, known: Sequence[str]) -> None:
    if given is None:
        return
    place = f'{function}(), argument "{argument}"'
    if not given:
        raise ArgumentError(Fault(place, "names nothing to draw", "[]", f"some of {_listed(known)}"))
    for name in given:
        if name not in known:
            raise ArgumentError(Fault(place, f"has no {argument[:-1]} of this name", f'"{name}"', _listed(known)))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown} and {len(names) - _MOST_NAMES:,} more"


def _check_repeatable(result: Pictured) -> None:
    """Refuse to run again what cannot be the same run."""
    now = str(ackclock.__version__)
    if result.resolved.programs:
        problem = "needs traces that the run did not record, and its congestion control is a class that is not here"
    elif result.version != now:
        problem = f"needs traces that the run did not record, and it is of ackclock {result.version}; this is {now}"
    else:
        return
    raise ResultError(f"picture: {problem}; record them when it is run, such as overrides={{'trace.cwnd': True}}")


def _default_labels(results: Sequence[Pictured]) -> list[str]:
    titles = [result.summary["title"] for result in results]
    if len(set(titles)) == len(titles):
        return titles
    return [f"{number}: {title}" for number, title in enumerate(titles, 1)]
