"""Pictures with chosen panels, flows and times; overlays; and what notebooks get."""

import struct
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import ackclock
from ackclock.charts import Curve, Panel
from ackclock.errors import AckclockError, ArgumentError, LimitError, ResultError
from ackclock.pictures import TRACES_OF_PANELS

TWO = """
[[link]]
name = "line"
rate = "10 Mbit/s"
delay = "18 ms"
buffer = "50 pkt"
[[flow]]
name = "one"
path = ["line"]
tcp = "linux-cubic"
[[flow]]
name = "two"
path = ["line"]
tcp = "newreno-rfc6582"
[run]
duration = "10 s"
"""
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def two() -> ackclock.Result:
    return ackclock.run(TWO)


@pytest.fixture(scope="module")
def short_buffer() -> ackclock.Result:
    return ackclock.run(TWO, overrides={"link.line.buffer": "10 pkt"})


def panels_of(result: ackclock.Result, **chosen: Any) -> tuple[Panel, ...]:
    return tuple(result.chart(**chosen).panels)


def curve(panel: Panel, label: str) -> Curve:
    return next(one for one in panel.curves if one.label == label)


def test_a_notebook_gets_the_picture_at_twice_the_pixels_of_the_page(two: ackclock.Result) -> None:
    content, shown = two.plot()._repr_png_()
    assert content[:8] == PNG
    width, height = struct.unpack(">II", content[16:24])
    assert (width, height) == (2 * shown["width"], 2 * shown["height"])
    assert shown["width"] == 864


def test_pyplot_does_not_know_the_picture_and_its_settings_stay(two: ackclock.Result) -> None:
    figures, settings = plt.get_fignums(), dict(mpl.rcParams)
    picture = two.plot(panels=["cwnd"])
    picture._repr_png_()
    assert isinstance(picture, Figure)
    assert plt.get_fignums() == figures
    assert dict(mpl.rcParams) == settings


def test_panels_come_in_the_order_in_which_they_are_chosen(two: ackclock.Result) -> None:
    chosen = ["sequence", "cwnd", "queue", "rtt", "rate", "delay", "delay-throughput"]
    labels = [panel.y_label for panel in panels_of(two, panels=chosen)]
    assert labels[:5] == [
        "packet number",
        "cwnd [packets]",
        "queue [packets]",
        "round trip [ms]",
        "acknowledged [Mbit/s]",
    ]
    assert labels[5:] == ["packets with a longer one [%]", "throughput [Mbit/s]"]
    assert len(two.plot(panels=chosen).axes) == 7


def test_what_was_not_recorded_is_that_of_the_same_run(two: ackclock.Result) -> None:
    recorded = ackclock.run(TWO, overrides={"trace.rtt": True, "trace.sequence": True}, picture=False)
    assert "rtt" not in two.traces
    (panel,) = panels_of(two, panels=["rtt"])
    own = recorded.traces["rtt"]
    own = own[own["flow"] == "two"]
    drawn = curve(panel, "two")
    assert np.array_equal(drawn.x[:-1], own["time_s"].to_numpy())
    assert np.array_equal(drawn.y[:-1], own["rtt_s"].to_numpy() * 1e3)


def test_one_chosen_flow_has_its_threshold_and_its_slow_start(two: ackclock.Result) -> None:
    (panel,) = panels_of(two, panels=["cwnd"], flows=["two"])
    assert {"ssthresh", "two"} <= {one.label for one in panel.curves}
    assert "one" not in {one.label for one in panel.curves}
    assert "slow start" in {span.label for span in panel.spans}


def test_a_flow_of_a_group_is_chosen_by_its_number_and_a_group_by_its_name() -> None:
    result = ackclock.run(TWO, overrides={"flow.one.count": 3})
    (panel,) = panels_of(result, panels=["cwnd"], flows=["one[1]"])
    assert "one[1]" in {one.label for one in panel.curves}
    (panel,) = panels_of(result, panels=["cwnd"], flows=["one"])
    assert {"one[0]", "one[1]", "one[2]"} <= {one.label for one in panel.curves}
    assert "two" not in {one.label for one in panel.curves}


def test_a_part_of_the_run_has_each_change_of_each_queue_and_an_axis_of_its_own(two: ackclock.Result) -> None:
    windows, queues = panels_of(two, between=(2.0, 3.0))
    assert windows.x_range == queues.x_range == (2.0, 3.0)
    recorded = ackclock.run(TWO, overrides={"trace.queue": True}, picture=False).traces["queue"]
    own = recorded[(recorded["link"] == "line") & (recorded["time_s"] > 2.0) & (recorded["time_s"] < 3.0)]
    drawn = curve(queues, "line")
    assert drawn.x[0] == 2.0
    assert drawn.x[-1] == 3.0
    assert np.array_equal(drawn.y[1:-1], own["packets"].to_numpy())
    assert max(one.y.max() for one in windows.curves) < max(one.y.max() for one in panels_of(two)[0].curves)


def test_a_run_in_which_nothing_waits_has_no_panel_of_queues_by_default() -> None:
    result = ackclock.run(
        TWO,
        overrides={
            "flow.one.tcp": "newreno-rfc6582",
            "flow.one.size": "1 pkt",
            "flow.two.size": "1 pkt",
            "flow.two.start": "1 s",
        },
    )
    assert len(panels_of(result, between=(0.0, 1.0))) == 1
    with pytest.raises(ResultError, match="panel queue: no packet waited"):
        result.chart(panels=["queue"])


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"panels": ["cwdn"]}, 'argument "panels": has no panel of this name; given "cwdn"; allowed "cwnd", '),
        ({"panels": []}, "names nothing to draw"),
        ({"panels": "cwnd"}, "a list of texts"),
        ({"flows": ["three"]}, 'argument "flows": has no flow of this name; given "three"; allowed "one", "two"'),
        ({"between": (5, 3)}, "given 5 to 3 s; allowed a part of 0 to 10 s"),
        ({"between": (5,)}, "begin and end in seconds"),
        ({"panels": ["ping"]}, "panel ping: no ping came back"),
        ({"panels": ["completion"]}, "panel completion: fewer than ten transfers completed"),
        ({"panels": ["link-rate"]}, "panel link-rate: the rate of no link changes"),
    ],
)
def test_a_choice_that_cannot_be_drawn_is_refused_in_words(
    two: ackclock.Result, chosen: dict[str, Any], message: str
) -> None:
    with pytest.raises(AckclockError) as caught:
        two.plot(**chosen)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", TRACES_OF_PANELS)
def test_each_panel_is_drawn_or_its_absence_is_said(name: str, two: ackclock.Result) -> None:
    try:
        picture = two.plot(panels=[name])
    except ResultError as error:
        assert f"panel {name}: " in str(error)  # noqa: PT017  either is right
    else:
        assert picture.axes[0].get_ylabel()


def test_axes_of_the_caller_are_drawn_into_and_nothing_comes_back(two: ackclock.Result) -> None:
    figure, axes = plt.subplots(2, 1)
    try:
        assert two.plot(panels=["cwnd", "rtt"], axes=axes) is None
        assert [one.get_ylabel() for one in axes] == ["cwnd [packets]", "round trip [ms]"]
        assert all(one.lines for one in axes)
        with pytest.raises(ArgumentError, match="given 2 of type Axes; allowed 1 matplotlib Axes"):
            two.plot(panels=["cwnd"], axes=axes)
    finally:
        plt.close(figure)


def test_runs_over_each_other_have_their_labels_and_a_colour_each(
    two: ackclock.Result, short_buffer: ackclock.Result
) -> None:
    picture = ackclock.plot([two, short_buffer], ["long", "short"], flows=["two"], panels=["cwnd", "rtt"])
    for axes in picture.axes:
        legend = axes.get_legend()
        assert legend is not None
        assert [text.get_text() for text in legend.get_texts()][:2] == ["long", "short"]
    windows = picture.axes[0].lines
    assert windows[0].get_color() != windows[1].get_color()
    alone = two.plot(panels=["cwnd"], flows=["two"]).axes[0]
    own = next(line for line in alone.lines if line.get_label() == "two")
    assert np.array_equal(np.asarray(windows[0].get_ydata()), np.asarray(own.get_ydata()))


def test_several_flows_over_each_other_are_named_by_run_and_flow(
    two: ackclock.Result, short_buffer: ackclock.Result
) -> None:
    legend = ackclock.plot([two, short_buffer], ["long", "short"]).axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["long: one", "long: two", "short: one", "short: two"]


def test_runs_with_one_title_are_numbered(two: ackclock.Result, short_buffer: ackclock.Result) -> None:
    legend = ackclock.plot([two, short_buffer], flows=["one"]).axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["1: untitled", "2: untitled"]


def test_overlays_refuse_what_is_not_two_results(two: ackclock.Result) -> None:
    with pytest.raises(ArgumentError, match="two or more results"):
        ackclock.plot([two])
    with pytest.raises(ArgumentError, match="given 1 labels; allowed 2"):
        ackclock.plot([two, two], ["a"])
    many = ackclock.run(TWO, overrides={"flow.one.count": 5})
    with pytest.raises(ResultError, match="curves over each other in one panel"):
        ackclock.plot([many] * 3)


def test_a_long_run_is_not_made_again_for_a_picture(two: ackclock.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ackclock.limits.LONG_S", 0.0)
    with pytest.raises(LimitError, match="needs the run once more, which is long"):
        two.plot(panels=["rtt"])


def test_a_result_of_another_version_is_not_mixed_with_a_run_of_this_one(two: ackclock.Result, tmp_path: Path) -> None:
    two.save(tmp_path, picture=False)
    loaded = ackclock.Result.load(tmp_path)
    assert panels_of(loaded, panels=["rtt"])
    loaded.version = "0.0"
    with pytest.raises(ResultError, match=r"it is of ackclock 0\.0; this is "):
        loaded.plot(panels=["rtt"])
    assert panels_of(loaded)


def test_of_queues_over_each_other_the_longest_of_each_run_is_drawn(
    two: ackclock.Result, short_buffer: ackclock.Result
) -> None:
    axes = ackclock.plot([two, short_buffer], ["long", "short"], panels=["queue"]).axes[0]
    assert axes.get_title(loc="left") == "Longest queue: line"
    legend = axes.get_legend()
    assert legend is not None
    names = ["long", "short", "buffer", "long, line: drop", "short, line: drop"]
    assert [text.get_text() for text in legend.get_texts()] == names
    marks = [line for line in axes.lines if line.get_marker() in {"x", "+"}]
    handles = [handle for handle in legend.get_lines() if handle.get_marker() in {"x", "+"}]
    looks = [[(line.get_marker(), line.get_color()) for line in lines] for lines in (marks, handles)]
    assert looks[0] == looks[1]
    assert len(set(looks[0])) == 2


def test_a_fault_names_the_function_that_was_called() -> None:
    result = ackclock.run(TWO)
    wrong: Any = "cwnd"
    for name, call in (("plot", result.plot), ("chart", result.chart)):
        with pytest.raises(ArgumentError, match=rf"^Result.{name}\(\)"):
            call(panels=["window"])
        with pytest.raises(ArgumentError, match=rf"^Result.{name}\(\)"):
            call(wrong)
    with pytest.raises(ArgumentError, match=r"^Result.save_picture\(\)"):
        result.save_picture("picture.png", wrong)
