import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from ackclock.charts import Chart
from ackclock.pictures import overview_chart
from ackclock.plots import Picture, chart_picture
from ackclock.result import Result
from fakes import make_flow, make_link, make_replication, make_resolved

TRACE = {"overview_interval_s": 1.0}


def draw(**parts: Any) -> Picture:
    resolved = make_resolved(trace=TRACE, **parts)
    return Result.from_replications(resolved, [make_replication(resolved)], version="0.0").plot()


def labels(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


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
    assert labels(queues) == ["satellite", "buffer", "satellite: drop"]
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


def test_flows_beside_a_large_group_have_lines_of_their_own_over_its_band() -> None:
    group = [make_flow("web", count=3000)]
    resolved = make_resolved(flows=[*group, make_flow("download"), make_flow("upload")], trace=TRACE)
    overview = pd.DataFrame(
        [("cwnd", f"web[{i}]", 0.0, 1.0 + i % 9) for i in range(3000)]
        + [("cwnd", "download", 0.0, 70.0), ("cwnd", "upload", 5.0, 3.0)],
        columns=["kind", "name", "time_s", "value"],
    )
    (windows,) = overview_chart(resolved, overview).panels
    band, median, download, upload = windows.curves
    assert [curve.label for curve in windows.curves] == [
        *("lowest to highest of 3,000 flows", "median", "download", "upload"),
    ]
    assert band.high is not None
    assert (band.high.max(), median.y.max(), download.y.max()) == (9.0, 5.0, 70.0)
    assert upload.x.tolist() == [5.0, 100.0]
    assert len({curve.colour for curve in (band, download, upload)}) == 3


def test_many_flows_beside_a_group_are_part_of_the_band() -> None:
    flows = [make_flow("web", count=9), *(make_flow(f"flow {i}") for i in range(6))]
    overview = pd.DataFrame([("cwnd", "flow 0", 0.0, 1.0)], columns=["kind", "name", "time_s", "value"])
    (windows,) = overview_chart(make_resolved(flows=flows, trace=TRACE), overview).panels
    assert {curve.kind for curve in windows.curves} == {"step-band", "step"}


@pytest.mark.parametrize(("limit", "drawn"), [(60, True), (72, True), (73, False), (20_000, False)])
def test_a_buffer_far_above_the_queue_is_in_the_legend_only(limit: int, drawn: bool) -> None:
    figure = draw(links=[make_link("satellite", buffer={"packets": limit}), make_link("other", buffer=None)])
    _, queues = figure.axes
    top = queues.get_ylim()[1]
    expected = "buffer" if drawn else f"buffer of satellite, above: {limit:,} packets"
    assert labels(queues) == ["satellite", expected, "satellite: drop"]
    # The longest queue has 18 packets.
    assert (top > limit) == drawn
    assert 18.0 < top <= 1.06 * (limit if drawn else 18.0)


def test_every_picture_survives_json(tmp_path: Path) -> None:
    resolved = make_resolved(trace=TRACE)
    result = Result.from_replications(resolved, [make_replication(resolved)], version="0.0")
    chart = result.chart()
    read = Chart.from_dict(json.loads(json.dumps(chart.to_dict(), allow_nan=False)))
    assert read.to_dict() == chart.to_dict()
    for name, drawn in (("chart", chart), ("read", read)):
        chart_picture(drawn).save(str(tmp_path / f"{name}.png"))
    assert (tmp_path / "chart.png").read_bytes() == (tmp_path / "read.png").read_bytes()


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
    draw().save(tmp_path / "picture.png")
    header = (tmp_path / "picture.png").read_bytes()[16:24]
    assert (int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big")) == (1200, 800)
