"""Pictures fit for print: symbols, colours of the paper's points, axes, legends; intervals by halves of the runs."""

import numpy as np
import pytest

from ackclock.charts import Chart, Curve, Kind, Panel
from ackclock.experiments.print_form import for_print, symbols
from ackclock.experiments.uncertainty import chart_with_intervals
from ackclock.plots import chart_picture
from ackclock.plots.style import COLOURS

X = np.array([1.0, 2.0, 3.0])


def line(label: str, y: list[float], kind: Kind = "simulation", colour: int | None = None) -> Curve:
    return Curve(label, X, np.array(y), kind, colour)


@pytest.mark.parametrize(
    ("text", "written"),
    {
        "W_R = 44": "$W_{R}$ = 44",
        "RTT_0 [ms]": r"$\mathrm{RTT}_{0}$ [ms]",
        "lambda = 1/10": r"$\lambda$ = 1/10",
        "eta and beta": r"$\eta$ and $\beta$",
        "h_j / C": "$h_{j}$ / C",
        "mu_1, mu' and B'": r"$\mu_{1}$, $\mu'$ and $B'$",
        "the paper's mean, a node_1 and $5": r"the paper's mean, a node_1 and \$5",
        "multiple, theta, number": "multiple, theta, number",
        "omega = 7": r"$\omega$ = 7",
        "1 / sqrt(p)": r"1 / $\sqrt{p}$",
        "clock of 10 us, +-4%": "clock of 10 \N{MICRO SIGN}s, \N{PLUS-MINUS SIGN}4%",
        "0.5 <= x": "0.5 \N{LESS-THAN OR EQUAL TO} x",
        "status of us": "status of us",
    }.items(),
)
def test_letters_of_formulas_become_symbols_and_words_stay(text: str, written: str) -> None:
    assert symbols(text) == written


def test_symbols_can_be_drawn_and_the_data_keep_their_names() -> None:
    chart = Chart("W_R and rho_0", [Panel("mu' [pkt/s]", "P(Q > x) [%]", [line("RTT_0 = 50 ms", [1.0, 2.0, 3.0])])])
    picture = chart_picture(for_print(chart))
    assert picture.axes[0].get_xlabel() == r"$\mu'$ [pkt/s]"
    assert picture.png().startswith(b"\x89PNG")
    assert "mu' [pkt/s]" in chart.table.columns


def test_the_paper_s_points_have_the_colour_of_their_curve_and_are_above_it() -> None:
    curves = [
        line("the paper", [1.0, 2.0, 3.0], "paper"),
        line("theory", [1.0, 2.0, 3.0], "theory"),
        line("own", [1.0, 2.0, 3.0]),
    ]
    (panel,) = for_print(Chart("", [Panel("x", "y", curves)])).panels
    assert panel.curves[-1].kind == "paper"
    (axes,) = chart_picture(Chart("", [panel])).axes
    own, star = (next(one for one in axes.lines if one.get_label() == label) for label in ("own", "the paper"))
    assert star.get_markeredgecolor() == own.get_color() == COLOURS[2]
    assert star.get_zorder() > own.get_zorder()


def test_the_paper_s_points_of_several_curves_have_a_black_star_in_the_legend() -> None:
    curves = [line("a", [1.0, 2.0, 3.0]), line("b", [3.0, 2.0, 1.0])]
    curves += [line("the paper", [1.0, 2.0, 3.0], "paper", number) for number in (0, 1)]
    figure = chart_picture(for_print(Chart("", [Panel("x", "y", curves)])))
    (legend,) = figure.legends
    star = legend.legend_handles[-1]
    assert star is not None
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "the paper"]
    assert star.get_markeredgecolor() == "black"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("y", "from_zero"), [([154.0, 155.0, 156.0], False), ([10.0, 80.0, 156.0], True), ([0.0, 1.0, 1.0], True)]
)
def test_an_axis_begins_at_zero_where_the_differences_are_seen(y: list[float], from_zero: bool) -> None:
    (panel,) = for_print(Chart("", [Panel("x", "y", [line("own", y)])])).panels
    assert panel.from_zero is from_zero


def test_panels_that_mean_different_things_have_a_legend_each() -> None:
    alike = [Panel("x", "y", [line("a", [1.0, 2.0, 3.0])]) for _ in range(2)]
    other = Panel("x", "y", [line("b", [1.0, 2.0, 3.0])])
    assert for_print(Chart("", alike)).legend == "chart"
    assert for_print(Chart("", [*alike, other])).legend == "panel"


def test_small_powers_of_ten_on_an_axis_are_written_with_an_exponent() -> None:
    curve = Curve("own", X, np.array([1e-6, 1e-3, 1.0]))
    (axes,) = chart_picture(Chart("", [Panel("x", "y", [curve], log_y=True)])).axes
    written = axes.yaxis.get_major_formatter()
    assert [written(value) for value in (1.0, 1e-3, 1e-6)] == ["1", "0.001", "10\u207b\u2076"]


def test_an_axis_has_its_ticks_at_points_that_are_few_and_whole() -> None:
    def ticks(x: list[float]) -> list[float]:
        panel = Panel("x", "y", [Curve("own", np.array(x), np.ones(len(x)))])
        return list(chart_picture(Chart("", [panel])).axes[0].get_xticks())

    assert ticks([80.0, 100.0, 120.0]) == [80.0, 100.0, 120.0]
    assert ticks([1.0, 2.0, 1000.0]) != [1.0, 2.0, 1000.0]


def test_theory_is_a_line_without_marks() -> None:
    (axes,) = chart_picture(Chart("", [Panel("x", "y", [line("theory", [1.0, 2.0, 3.0], "theory")])])).axes
    assert axes.lines[0].get_marker() == "None"
    assert axes.lines[0].is_dashed()


def test_points_get_intervals_from_halves_of_the_runs_and_others_none() -> None:
    def chart(scatter: float) -> Chart:
        curves = [line("own", [10.0 + scatter, 20.0, 30.0]), line("theory", [10.0 + scatter, 2.0, 3.0], "theory")]
        return Chart("", [Panel("x", "y", curves)])

    own, theory = chart_with_intervals(chart(0.0), [chart(-0.5), chart(0.0), chart(0.5)], 3).panels[0].curves
    assert own.low is not None
    assert own.high is not None
    np.testing.assert_allclose(own.low, [7.516, 20.0, 30.0], atol=1e-3)
    np.testing.assert_allclose(own.high, [12.484, 20.0, 30.0], atol=1e-3)
    assert theory.low is None


def test_a_point_that_a_half_lacks_has_no_interval() -> None:
    whole, part = Curve("own", X, X * 1.0), Curve("own", X[:2], np.array([1.5, 2.5]))
    charts = [Chart("", [Panel("x", "y", [curve])]) for curve in (whole, part)]
    (found,) = chart_with_intervals(charts[0], [charts[1], charts[0], charts[1]], 3).panels[0].curves
    assert found.low is not None
    assert found.low[2] == 3.0
    assert found.low[0] < 1.0
