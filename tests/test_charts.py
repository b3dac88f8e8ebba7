"""Charts as data: all of it is drawn, and all of it stands in the table."""

from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from ackclock.charts import Chart, Curve, Kind, Panel
from ackclock.plots import chart_picture, save_picture

X = np.arange(1.0, 6.0)
KINDS: tuple[Kind, ...] = get_args(Kind)


def chart(*kinds: Kind) -> Chart:
    curves = [Curve(kind, X, X * place, kind, None, X, X * 2.0) for place, kind in enumerate(kinds, 1)]
    return Chart("a chart", [Panel("rate [Mbit/s]", "packets", curves, "left"), Panel("rate [Mbit/s]", "s", curves)], 2)


def test_each_label_stands_in_the_legend_once_in_the_order_of_the_curves() -> None:
    figure = chart_picture(chart(*KINDS))
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(KINDS)


def test_each_kind_is_drawn_and_axes_have_their_labels() -> None:
    for kind in KINDS:
        left, right = chart_picture(chart(kind)).axes
        assert left.lines or left.collections or left.containers
        assert (left.get_xlabel(), left.get_ylabel(), left.get_title()) == ("rate [Mbit/s]", "packets", "left")
        assert right.get_ylabel() == "s"


@pytest.mark.parametrize("kind", ["simulation", "marks", "theory", "theory-2"])
def test_no_two_curves_of_a_kind_differ_by_colour_alone(kind: Kind) -> None:
    curves = [Curve(f"curve {place}", X, X * place, kind) for place in range(1, 7)]
    (axes,) = chart_picture(Chart("a chart", [Panel("x", "y", curves)])).axes
    assert len({str(line.get_marker()) for line in axes.lines}) == len(curves)


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


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_same_chart_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    paths = [tmp_path / f"{number}.{ending}" for number in range(2)]
    for path in paths:
        save_picture(chart_picture(chart(*KINDS)), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
