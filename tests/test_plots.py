from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ackclock.plots import save_picture
from ackclock.result import Result
from fakes import make_flow, make_link, make_replication, make_resolved

TRACE = {"overview_interval_s": 1.0}


def draw(**parts: Any) -> Figure:
    resolved = make_resolved(trace=TRACE, **parts)
    return Result.from_replications(resolved, [make_replication(resolved)], version="0.0").plot()


def labels(axes: Axes) -> list[str]:
    return [str(label) for label in axes.get_legend_handles_labels()[1]]


def test_windows_and_queues_share_a_labelled_time_axis() -> None:
    windows, queues = draw().axes
    assert windows.get_xlim() == queues.get_xlim() == (0.0, 100.0)
    assert (windows.get_ylabel(), queues.get_ylabel(), queues.get_xlabel()) == (
        *("cwnd [packets]", "queue [packets]"),
        "time [s]",
    )


def test_the_title_is_the_scenario_s() -> None:
    figure = draw()
    assert figure.get_suptitle() == "GEO satellite path"


def test_only_links_that_queued_are_drawn_and_drops_are_marked() -> None:
    _, queues = draw().axes
    assert labels(queues) == ["satellite", "buffer", "drop"]
    marks = next(line for line in queues.lines if line.get_marker() == "x")
    assert np.asarray(marks.get_xdata()).tolist() == [10.0, 50.0]


def test_a_value_holds_until_the_next_and_to_the_end() -> None:
    line = draw().axes[0].lines[0]
    assert line.get_drawstyle() == "steps-post"
    assert np.asarray(line.get_xdata()).tolist() == [0.0, 10.0, 50.0, 90.0, 100.0]
    assert np.asarray(line.get_ydata()).tolist() == [1.0, 200.0, 100.0, 180.0, 180.0]


@pytest.mark.parametrize("count", [6, 7, 30])
def test_more_than_six_flows_become_a_band(count: int) -> None:
    windows = draw(flows=[make_flow(f"flow[{i}]") for i in range(count)]).axes[0]
    if count <= 6:
        assert labels(windows)[:count] == [f"flow[{i}]" for i in range(count)]
    else:
        assert labels(windows)[:2] == [f"lowest to highest of {count} flows", "median"]
        median = windows.lines[0]
        at_20_s = np.asarray(median.get_ydata())[np.searchsorted(np.asarray(median.get_xdata()), 20.0)]
        assert at_20_s == 200.0 + (count - 1) / 2


def test_a_flow_and_a_link_may_have_one_name() -> None:
    windows, queues = draw(flows=[make_flow("satellite")]).axes
    assert labels(windows)[0] == labels(queues)[0] == "satellite"
    assert np.max(np.asarray(windows.lines[0].get_ydata())) == 200.0


def test_where_nothing_queued_cwnd_stands_alone() -> None:
    links = [make_link("quiet"), make_link("busy")]
    resolved = make_resolved(links=links, trace={"overview_interval_s": 1.0})
    replication = make_replication(resolved)
    overview = replication["traces"]["overview"]
    overview["value"] = np.minimum(overview["value"], 1.0)
    figure = Result.from_replications(resolved, [replication], version="0.0").plot()
    assert len(figure.axes) == 1


def test_the_picture_is_1200_by_800(tmp_path: Path) -> None:
    save_picture(draw(), tmp_path / "picture.png")
    header = (tmp_path / "picture.png").read_bytes()[16:24]
    assert (int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big")) == (1200, 800)
