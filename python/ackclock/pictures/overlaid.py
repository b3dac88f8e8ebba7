"""The pictures of several runs over each other."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ackclock.charts import Chart, Curve, Panel, StraightLine
from ackclock.pictures.linked import QUEUES

MOST_CURVES: Final = 12
"""Largest number of curves of a panel: as many colours and dashes as a reader can distinguish."""
_WITHOUT_NAMES: Final = frozenset(("step-guide",))


def overlaid_chart(charts: Sequence[Chart], labels: Sequence[str]) -> Chart:
    """Draw the panels of several charts over each other.

    Parameters
    ----------
    charts : sequence of Chart
        The charts, with the same panels in the same order.
    labels : sequence of str
        A name for each.

    Returns
    -------
    Chart
        A curve has the name of its chart, followed by its own if the chart has several; a chart with one curve has one
        colour throughout. Of queues the longest one of each is drawn. Shaded phases and thresholds, which would cover
        each other, are left out.
    """
    panels = [_overlaid([chart.panels[place] for chart in charts], labels) for place in range(len(charts[0].panels))]
    titles = list(dict.fromkeys(chart.title for chart in charts))
    return replace(charts[0], title=titles[0] if len(titles) == 1 else " / ".join(labels), panels=panels)


def _overlaid(panels: Sequence[Panel], labels: Sequence[str]) -> Panel:
    curves: list[Curve] = []
    drawn = [[curve for curve in panel.curves if curve.kind not in _WITHOUT_NAMES] for panel in panels]
    title = panels[0].title
    if title == QUEUES:  # the longest of each run, which comes first; more would cover each other
        drawn = [own[:1] for own in drawn]
        links = list(dict.fromkeys(own[0].label for own in drawn))
        title = f"Longest queue: {', '.join(links)}"
    simple = all(len({curve.label for curve in own}) <= 1 for own in drawn)
    for number, (own, label) in enumerate(zip(drawn, labels, strict=True)):
        for curve in own:
            name = label if simple else f"{label}: {curve.label}"
            colour = number if simple else len({one.label for one in curves} - {name})
            notes = None if curve.notes is None else [name]
            curves.append(replace(curve, label=name, colour=colour, notes=notes))
    ranges = [panel.x_range for panel in panels if panel.x_range is not None]
    events = [
        replace(one, label=f"{label}, {one.label}", colour=number)
        for number, (panel, label) in enumerate(zip(panels, labels, strict=True))
        for one in panel.events
    ]
    return replace(
        panels[0],
        curves=curves,
        title=title,
        events=events if simple else (),
        spans=(),
        lines=_lines(panels),
        x_range=None if not ranges else (min(low for low, _ in ranges), max(high for _, high in ranges)),
        y_top=None if any(panel.y_top is None for panel in panels) else max(panel.y_top or 0.0 for panel in panels),
        dashed=not simple,
        first_in_front=False,
        second=panels[0].second if all(panel.second == panels[0].second for panel in panels) else None,
    )


def _lines(panels: Sequence[Panel]) -> list[StraightLine]:
    """Give the lines of all panels once; those of colours that they do not share are grey."""
    found = dict.fromkeys(replace(line, colour=None) for panel in panels for line in panel.lines)
    return list(found)
