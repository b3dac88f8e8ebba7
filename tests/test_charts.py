"""Charts as data: all of it is drawn, and all of it stands in the table."""

import itertools
import json
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Annotation, Text

from ackclock.charts import Chart, Curve, Events, Kind, Panel, Span, StraightLine
from ackclock.plots import chart_picture

X = np.arange(1.0, 6.0)
KINDS: tuple[Kind, ...] = get_args(Kind)


def chart(*kinds: Kind) -> Chart:
    curves = [Curve(kind, X, X * place, kind, None, X, X * 2.0) for place, kind in enumerate(kinds, 1)]
    return Chart("a chart", [Panel("rate [Mbit/s]", "packets", curves, "left"), Panel("rate [Mbit/s]", "s", curves)], 2)


def test_each_label_stands_in_the_legend_once_in_the_order_of_the_curves() -> None:
    figure = chart_picture(chart(*KINDS))
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(KINDS)


def test_the_common_legend_begins_with_the_first_panel() -> None:
    panels = [Panel("x", "y", [Curve(label, X, X) for label in labels]) for labels in (("b", "a"), ("a", "c"))]
    (legend,) = chart_picture(Chart("a chart", panels, 2)).legends
    assert [text.get_text() for text in legend.get_texts()] == ["b", "a", "c"]


def test_each_kind_is_drawn_and_axes_have_their_labels() -> None:
    for kind in KINDS:
        left, right = chart_picture(chart(kind)).axes
        assert left.lines or left.collections or left.containers
        assert (left.get_xlabel(), left.get_ylabel(), left.get_title()) == ("rate [Mbit/s]", "packets", "left")
        assert right.get_ylabel() == "s"


@pytest.mark.parametrize("kind", ["simulation", "marks", "theory", "theory-2", "theory-marks", "theory-marks-2"])
def test_no_two_curves_of_a_kind_differ_by_colour_alone(kind: Kind) -> None:
    curves = [Curve(f"curve {place}", X, X * place, kind) for place in range(1, 7)]
    (axes,) = chart_picture(Chart("a chart", [Panel("x", "y", curves)])).axes
    looks = {(str(line.get_marker()), str(line._unscaled_dash_pattern)) for line in axes.lines}  # type: ignore[attr-defined]
    assert len(looks) == len(curves)


@pytest.mark.parametrize("kind", ["marks", "step"])
def test_eight_curves_have_eight_colours_and_twice_as_many_differ(kind: Kind) -> None:
    curves = [Curve(f"curve {place}", X, X * place, kind) for place in range(1, 17)]
    (axes,) = chart_picture(Chart("a chart", [Panel("x", "y", curves, dashed=True)])).axes
    looks = [
        (str(line.get_color()), str(line.get_marker()), str(line._unscaled_dash_pattern))  # type: ignore[attr-defined]
        for line in axes.lines
    ]
    assert len({colour for colour, *_ in looks[:8]}) == 8
    assert len(set(looks)) == len(curves)


def test_an_interval_is_drawn_where_there_is_one() -> None:
    curves = [Curve("with", X, X, "simulation", None, X - 0.5, X + 0.5), Curve("exact", X, X, "simulation", None, X, X)]
    (axes,) = chart_picture(Chart("a chart", [Panel("x", "y", curves)])).axes
    assert len(axes.containers) == 1


def test_the_table_has_every_point_with_its_panel_and_curve() -> None:
    table = chart("simulation", "theory").table
    assert len(table) == 2 * 2 * len(X)
    theory = table[(table["panel"] == "left") & (table["curve"] == "theory")]
    assert theory["packets"].tolist() == (2.0 * X).tolist()
    assert theory["rate [Mbit/s]"].tolist() == X.tolist()


def test_an_axis_is_logarithmic_where_the_panel_says_so() -> None:
    curve = Curve("curve", X, X)
    panels = [Panel("G [ms]", "packets", [curve], "left", log_x=True), Panel("G [ms]", "packets", [curve])]
    left, right = chart_picture(Chart("a chart", panels, 2)).axes
    assert (left.get_xscale(), right.get_xscale()) == ("log", "linear")
    assert left.xaxis.get_major_formatter()(100.0) == "100"


def full_chart() -> Chart:
    """Give a chart that uses all that a panel can hold."""
    curves = [
        Curve(
            "gap", X, np.array([1.0, np.nan, 3.0, np.inf, 5.0]), "marks", 1, None, None, X - 1.0, X + 1.0, list("abcde")
        ),
        Curve("band", X, X, "step-band", 0, X - 1.0, X + 1.0),
    ]
    panel = Panel(
        "x [s]",
        "y",
        curves,
        "title",
        lines=[StraightLine(2.0, "limit", "limit", colour=0), StraightLine(3.0, kind="whole", axis="x")],
        events=[Events("drop", np.array([1.0, 2.5]), 1), Events("drop", np.array([3.0]))],
        spans=[Span(0.0, 1.0, "warm-up")],
        y_ticks=["none", "one", "two"],
        x_range=(0.0, 6.0),
        y_top=np.float64(7.0),
        y_down=True,
        y_whole=True,
        first_in_front=True,
        dashed=True,
        columns=2,
    )
    return Chart("all", [panel, Panel("x [s]", "y", curves)], 2, share_x=True, legend="panel", size_inches=(8.0, 9.0))


@pytest.mark.parametrize("made", [full_chart(), chart(*KINDS)], ids=["all fields", "all kinds"])
def test_a_chart_is_the_same_after_json(made: Chart) -> None:
    content = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    read = Chart.from_dict(content)
    assert read.to_dict() == made.to_dict() == content
    assert [len(panel.curves) for panel in read.panels] == [len(panel.curves) for panel in made.panels]
    finite = made.table.replace([np.inf, -np.inf], np.nan)
    pd.testing.assert_frame_equal(read.table, finite)


def test_what_is_not_finite_is_null_in_json_and_a_gap_when_read() -> None:
    y = full_chart().to_dict()["panels"][0]["curves"][0]["y"]
    assert y == [1.0, None, 3.0, None, 5.0]
    assert np.isnan(Chart.from_dict(full_chart().to_dict()).panels[0].curves[0].y[1])


def test_lines_events_and_phases_are_drawn_and_named_once() -> None:
    upper, _ = chart_picture(full_chart()).axes
    legend = upper.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["gap", "band", "limit", "drop", "warm-up"]
    assert [3.0, 3.0] in [np.asarray(line.get_xdata()).tolist() for line in upper.lines]
    assert upper.yaxis_inverted()
    # The second and the fourth point are not finite.
    assert [text.get_text() for text in upper.texts] == list("ace")


def test_the_table_has_lines_and_events_too() -> None:
    table = full_chart().table
    assert table[table["kind"] == "limit"]["y"].tolist() == [2.0]
    assert table[table["kind"] == "event"]["x [s]"].tolist() == [1.0, 2.5, 3.0]


def test_a_line_is_named_at_its_right_end_apart_from_its_neighbours() -> None:
    lines = [StraightLine(value, f"line at {value:g}", named="margin") for value in (3.0, 3.01, 1.0)]
    (axes,) = chart_picture(Chart("a chart", [Panel("x", "y", [Curve("curve", X, X)], lines=lines)])).axes
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert (heights["line at 1"], heights["line at 3"]) == (1.0, 3.0)
    assert heights["line at 3.01"] > 3.1


def test_panels_may_take_several_columns() -> None:
    curve = [Curve("curve", X, X)]
    panels = [Panel("x", "y", curve), Panel("x", "y", curve), Panel("x", "y", curve, columns=2), Panel("x", "y", curve)]
    left, right, wide, last = (axes.get_position() for axes in chart_picture(Chart("a chart", panels, 2)).axes)
    assert left.y0 == right.y0 > wide.y0 > last.y0
    assert wide.x1 == pytest.approx(right.x1)
    assert last.x1 == pytest.approx(left.x1)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_same_chart_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    paths = [tmp_path / f"{number}.{ending}" for number in range(2)]
    for path in paths:
        chart_picture(chart(*KINDS)).save(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_no_mark_and_no_word_is_cut_at_the_edge_of_a_panel() -> None:
    level = np.array([19.99, 20.0, 19.995])
    words = Panel("queue", "Mbit/s", [Curve("run", np.arange(3.0), level, "marks")], x_ticks=["one", "two", "three"])
    named = Panel("delay", "Mbit/s", [Curve("run", np.array([10.0, 10.1, 50.0]), level, "marks", notes=words.x_ticks)])
    figure = chart_picture(Chart("a chart", [words, named], 2))
    for axes in figure.axes:
        (points,) = (line for line in axes.lines if np.size(line.get_xdata()) == 3)
        box = axes.get_window_extent()
        radius = points.get_markersize() / 2.0 * figure.dpi / 72.0
        inside = box.padded(-radius)
        assert all(inside.contains(*place) for place in axes.transData.transform(points.get_xydata()))
        for text in axes.texts:
            low, high = text.get_window_extent().min, text.get_window_extent().max
            assert box.contains(*low)
            assert box.contains(*high)


def test_words_of_points_that_lie_close_together_do_not_cover_one_another() -> None:
    x, y = np.array([10.0, 10.05, 10.1, 50.0]), np.array([20.0, 20.0, 19.9, 5.0])
    curve = Curve("run", x, y, "marks", notes=["drop-tail", "codel", "pie", "red"])
    (axes,) = chart_picture(Chart("a chart", [Panel("delay", "Mbit/s", [curve])])).axes
    boxes = [Text.get_window_extent(text) for text in axes.texts]
    assert [text.get_text() for text in axes.texts] == curve.notes
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])


@pytest.mark.parametrize("least", [1.05e-5, 1.65e-3, 1.5e6])
def test_numbers_of_a_logarithmic_axis_do_not_cover_one_another(least: float) -> None:
    ranges = [np.geomspace(least, least * ratio, 5) for ratio in (1.05, 1.37, 2.0, 4.0, 6.0, 20.0, 100.0, 300.0, 1e6)]
    panels = [Panel("time [s]", "transfers", [Curve("run", x, x, "step")], log_x=True, log_y=True) for x in ranges]
    figure = chart_picture(Chart("a chart", panels, 3, size_inches=(12.0, 8.0)))
    figure.draw_without_rendering()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = axis.get_view_interval()
        places = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
        shown = [label for place, label in places if low <= place <= high]
        boxes = [label.get_window_extent() for label in shown]
        assert len(shown) > 1
        assert not any(one.overlaps(other) for one, other in itertools.pairwise(boxes))
        assert not any("e" in label.get_text() or "$" in label.get_text() for label in shown)


def test_a_word_is_nearest_to_its_own_point_or_has_a_line_to_it() -> None:
    """A long word at the right edge has its place above the point of another."""
    x = [53.0, 123.0, 145.0, 152.0, 6.0]
    words = ["PIE", "drop-tail, 500 packets (now)", "SFQ", "SFQ; home too", "FQ"]
    curves = [
        Curve(word, np.array([at]), np.array([8.5 + 0.02 * place]), "marks", place, notes=[word])
        for place, (at, word) in enumerate(zip(x, words, strict=True))
    ]
    curves.append(Curve("low", np.array([120.0]), np.array([1.2]), "marks", notes=["low"]))
    panel = Panel("delay", "Mbit/s", curves, log_x=True)
    (axes,) = chart_picture(Chart("a chart", [panel], size_inches=(8.0, 7.0))).axes
    points = axes.transData.transform([(curve.x[0], curve.y[0]) for curve in curves])
    nearest, lines = [], []
    for text in axes.texts:
        assert isinstance(text, Annotation)
        assert text.arrow_patch is not None
        low, high = Text.get_window_extent(text).min, Text.get_window_extent(text).max
        distances = np.hypot(*np.maximum(np.maximum(low - points, points - high), 0.0).T)
        nearest.append(curves[int(distances.argmin())].label == text.get_text())
        lines.append(bool(text.arrow_patch.get_visible()))
    assert all(near or line for near, line in zip(nearest, lines, strict=True))
    assert not all(lines)
