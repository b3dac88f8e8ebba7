"""A thinned chart looks the same: extremes stay, and nothing is invented."""

import json

import numpy as np
import pytest

from ackclock.charts import Chart, Curve, Events, Panel, Span
from ackclock.lab.thinning import chart_data, thinned

GENERATOR = np.random.default_rng(1)
X = np.sort(GENERATOR.uniform(0.0, 60.0, 50_000))
Y = GENERATOR.normal(size=50_000)


def one(curve: Curve, start: float = 0.0, end: float = 60.0, columns: int = 500, **others: object) -> Panel:
    chart = Chart("t", [Panel("x", "y", [curve], **others)])  # type: ignore[arg-type]
    return thinned(chart, start, end, columns).panels[0]


@pytest.mark.parametrize("kind", ["step", "simulation"])
def test_each_column_keeps_its_extremes_and_its_last_value(kind: str) -> None:
    curve = one(Curve("c", X, Y, kind)).curves[0]  # type: ignore[arg-type]
    assert len(curve.x) <= 3 * 500 + 3
    columns = np.clip((X * 500 / 60.0).astype(int), 0, 499)
    kept = np.clip((curve.x * 500 / 60.0).astype(int), 0, 499)
    for column in range(500):
        own, shown = Y[columns == column], curve.y[kept == column]
        assert (shown.min(), shown.max(), shown[-1]) == (own.min(), own.max(), own[-1])


def test_all_points_kept_are_points_of_the_curve() -> None:
    curve = one(Curve("c", X, Y, "step")).curves[0]
    index = np.searchsorted(X, curve.x)
    assert (X[index] == curve.x).all()
    assert (Y[index] == curve.y).all()


def test_a_short_curve_stays_as_it_is() -> None:
    curve = one(Curve("c", X[:900], Y[:900], "step")).curves[0]
    assert len(curve.x) == 900


def test_a_part_of_a_run_has_the_point_before_and_the_point_after_it() -> None:
    x = np.arange(10.0)
    curve = one(Curve("c", x, x, "step"), 2.5, 4.5).curves[0]
    assert curve.x.tolist() == [2.0, 3.0, 4.0, 5.0]


def test_marks_that_cover_each_other_are_one() -> None:
    x = np.linspace(0.0, 60.0, 100_000)
    curve = one(Curve("c", x, np.zeros(100_000), "marks"), columns=300).curves[0]
    assert 290 <= len(curve.x) <= 302


def test_phases_without_a_pixel_between_them_are_joined() -> None:
    spans = [Span(float(i), i + 0.99, "a", 1) for i in range(10)] + [Span(30.0, 31.0, "a", 1)]
    panel = one(Curve("c", X, Y), columns=300, spans=spans)
    assert [(span.start, span.end) for span in panel.spans] == [(0.0, 9.99), (30.0, 31.0)]


def test_events_have_one_mark_for_each_two_pixels() -> None:
    panel = one(Curve("c", X, Y), columns=300, events=[Events("drop", X)])
    assert 140 <= len(panel.events[0].x) <= 151


def test_the_data_are_those_of_to_dict_but_for_their_digits() -> None:
    curve = Curve("c", np.array([0.123456789, 1.0]), np.array([np.nan, 2e6]), low=np.array([0.0, np.inf]))
    chart = Chart("t", [Panel("x", "y", [curve], lines=(), spans=[Span(0.0, 1.0)])])
    found, whole = chart_data(chart), chart.to_dict()
    json.dumps(found, allow_nan=False)
    assert found["panels"][0]["curves"][0]["y"] == [None, 2e6]
    assert found["panels"][0]["curves"][0]["x"] == [0.123457, 1.0]
    assert Chart.from_dict(found).to_dict()["panels"][0]["spans"] == whole["panels"][0]["spans"]
    assert set(found) == set(whole)
    assert set(found["panels"][0]) == set(whole["panels"][0])
    assert set(found["panels"][0]["curves"][0]) == set(whole["panels"][0]["curves"][0])
