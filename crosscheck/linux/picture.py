"""One picture of both: the windows and the queue of a scenario in the kernel and in our engine."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from crosscheck.linux.kernel import Played
from crosscheck.linux.path import Scenario, bottleneck_of

MOST_POINTS = 4000
"""Points of a drawn curve; longer ones are thinned evenly."""
SAMPLE_S = 0.01
"""Time between two samples of the kernel's state [s]."""


def save_picture(path: Path, scenario: Scenario, played: Played, traces: dict[str, Any]) -> None:
    """Draw the windows of each flow and the queue, of the kernel and of our engine, into a file.

    Parameters
    ----------
    path : Path
        The file, a PNG.
    scenario : dict
        Resolved scenario.
    played : Played
        The kernel's run.
    traces : dict
        Our traces of cwnd and of the queues.
    """
    plots = import_module("ackclock.plots")
    plots.chart_picture(chart(scenario, played, traces)).save(path)


def chart(scenario: Scenario, played: Played, traces: dict[str, Any]) -> Any:
    """Describe the picture as data: a panel for each flow and one for the queue."""
    charts = import_module("ackclock.charts")
    names = [
        f"{flow['name']}[{n}]" if flow["count"] > 1 else flow["name"]
        for flow in scenario["flows"]
        for n in range(flow["count"])
    ]
    ends = (0.0, scenario["run"]["duration_s"])
    panels = [
        charts.Panel(
            "",
            "cwnd [packets]",
            _pair(charts, _their_window(played, flow), _our_window(traces, flow, ends[1])),
            title=f"window of {name}",
            x_range=ends,
        )
        for flow, name in enumerate(names)
    ]
    queues = _pair(charts, _their_queue(played), _our_queue(traces, bottleneck_of(scenario), ends[1]))
    panels.append(charts.Panel("time [s]", "packets", queues, title="queue of the bottleneck", x_range=ends))
    height = 1.5 + 2.6 * len(panels)
    return charts.Chart(f"{scenario['title']}: Linux and ackclock", panels, share_x=True, size_inches=(12.0, height))


def _pair(charts: Any, theirs: Any, our: Any) -> list[Any]:
    return [
        charts.Curve("Linux 6.1", *_thinned(*theirs), kind="thick", colour=1),
        charts.Curve("ackclock", *_thinned(*our), kind="step", colour=0),
    ]


def _their_window(played: Played, flow: int) -> tuple[Any, Any]:
    own = (played.windows["flow"] == flow) & (played.windows["bytes_acked"] > 0)
    return played.windows["t"][own], played.windows["cwnd"][own]


def _our_window(traces: dict[str, Any], flow: int, end_s: float) -> tuple[Any, Any]:
    trace = traces["cwnd"]
    own = trace["flow"] == flow
    return _sampled(trace["time_s"][own], trace["cwnd"][own], end_s)


def _their_queue(played: Played) -> tuple[Any, Any]:
    return played.queue["t"], played.queue["queue_pkts"]


def _our_queue(traces: dict[str, Any], link: int, end_s: float) -> tuple[Any, Any]:
    trace = traces["queue"]
    own = trace["link"] == link
    return _sampled(trace["time_s"][own], trace["packets"][own].astype(float), end_s)


def _sampled(times: Any, values: Any, end_s: float) -> tuple[Any, Any]:
    """Sample what holds until the next change as often as the kernel's state is."""
    if not len(times):
        return times, values
    samples = np.arange(times[0], end_s, SAMPLE_S)
    return samples, values[np.searchsorted(times, samples, side="right") - 1]


def _thinned(times: Any, values: Any) -> tuple[Any, Any]:
    step = max(1, len(times) // MOST_POINTS)
    return np.asarray(times[::step], dtype=float), np.asarray(values[::step], dtype=float)
