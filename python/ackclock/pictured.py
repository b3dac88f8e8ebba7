"""Pictures of results: of one, with the panels, flows and times that are chosen, and of several over each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, overload

import ackclock
from ackclock import folders
from ackclock.choosing import chosen, default_choice
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
from ackclock.readonly import FrameCopies, read_only
from ackclock.recording import with_traces
from ackclock.scenario.arguments import NAMES, PATH, Allowed, check_arguments
from ackclock.traces import AQM, OVERVIEW, STATES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from ackclock.charts import Chart
    from ackclock.plots import AxesLike, Picture
    from ackclock.prediction import ReferenceLine
    from ackclock.scenario import Resolved
    from ackclock.summary import Summary

_OVERVIEW_HAS: Final = frozenset(("cwnd", "queue", "state", "recovery"))
REFERENCE_LINES = Allowed(
    "a list of reference lines, such as compare(result).reference_lines",
    lambda value: isinstance(value, list | tuple) and all(hasattr(line, "kind") for line in value),
)
_RESULTS = Allowed(
    "a list of two or more results, which run() gives",
    lambda value: (
        isinstance(value, list | tuple) and len(value) >= 2 and all(isinstance(one, Pictured) for one in value)
    ),
)
_RECORD_TRACES: Final = "record the traces when it is run, such as overrides={'trace.cwnd': True}"


class Pictured:
    """A finished run that can be drawn.

    Parameters
    ----------
    summary : Summary
        Quantities of flows and links; the run keeps a copy that cannot be changed.
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
        self.summary: Summary = read_only(summary)
        self.resolved = resolved
        self.version = version
        self.traces: Mapping[str, pd.DataFrame] = FrameCopies({} if traces is None else traces)

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
        return self._described("Result.chart", reference_lines, panels, between, flows)

    def _described(
        self,
        function: str,
        reference_lines: Sequence[ReferenceLine],
        panels: Sequence[str] | None = None,
        between: tuple[float, float] | None = None,
        flows: Sequence[str] | None = None,
    ) -> Chart:
        """Describe the picture for a function, whose name faults have."""
        check_arguments(function, reference_lines=(reference_lines, REFERENCE_LINES))
        choice = chosen(function, self.resolved, self.summary, panels, between, flows)
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
            "queue", "aqm" (a panel for each quantity), "rtt", "rate", "sequence" (packets by number), "link-rate",
            "ping", "delay" (distribution), "completion", "delay-throughput". By default the run's overview. Traces
            that these need and the run did not record come from its first replication, which is run once more; the
            same seed gives the same bits.
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
        return _drawn(self._described("Result.plot", reference_lines, panels, between, flows), axes)

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
        picture = _picture(self._described("Result.save_picture", reference_lines))
        folders.write_file(Path(path), picture.save)

    def _chosen(self, choice: Choice, reference_lines: Sequence[ReferenceLine] = (), *, over: bool = False) -> Chart:
        """Draw the chosen panels, with traces that are recorded now if they are missing.

        Over other runs, the overview has enough of windows and queues unless a part of the run is looked at.
        """
        spared = _OVERVIEW_HAS if over and choice.between is None else frozenset()
        wanted = [name for panel in choice.panels for name in TRACES_OF_PANELS[panel] if name not in spared]
        if any(name not in self.traces for name in (OVERVIEW, *wanted)):
            check_repeatable(self, "picture")
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
        return Measured(*map(self.traces.get, (COMPLETION_TIMES, DISTRIBUTION, STATES, AQM)))


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
        choice = chosen("plot", result.resolved, result.summary, panels, between, flows) or default_choice(
            result.summary
        )
        charts.append(result._chosen(choice, over=True))  # noqa: SLF001  of this module
    return _drawn(_together(charts, names), axes)


def _picture(chart: Chart) -> Picture:
    from ackclock.plots import chart_picture  # noqa: PLC0415  half a second that other uses need not pay

    return chart_picture(chart)


def _drawn(chart: Chart, axes: AxesLike | None) -> Picture | None:
    from ackclock.plots import draw_into  # noqa: PLC0415  half a second that other uses need not pay

    if axes is None:
        return _picture(chart)
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


def check_repeatable(result: Pictured, what: str, instead: str = _RECORD_TRACES) -> None:
    """Refuse to run again what cannot be the same run.

    Parameters
    ----------
    result : Result
        The result.
    what : str
        The use of what would be recorded.
    instead : str
        Advice: what works.

    Raises
    ------
    ResultError
        If it is of another version, or its congestion control is a class of the user's.
    """
    now = str(ackclock.__version__)
    if result.resolved.programs:
        problem = "needs more than the run recorded, and its congestion control is a class that is not here"
    elif result.version != now:
        problem = f"needs more than the run recorded, and it is of ackclock {result.version}; this is {now}"
    else:
        return
    raise ResultError(f"{what}: {problem}; {instead}")


def _default_labels(results: Sequence[Pictured]) -> list[str]:
    titles = [result.summary["title"] for result in results]
    if len(set(titles)) == len(titles):
        return titles
    return [f"{number}: {title}" for number, title in enumerate(titles, 1)]
