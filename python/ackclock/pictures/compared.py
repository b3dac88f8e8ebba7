"""The picture of a comparison of theory and simulation."""

from typing import TYPE_CHECKING

import numpy as np

from ackclock.charts import Chart, Curve, Panel, StraightLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.prediction import Pair

HEAD_INCHES, ROW_INCHES = 1.8, 0.45


def comparison_chart(title: str, pairs: "Sequence[Pair]") -> Chart:
    """Draw predictions relative to what was simulated: 100% is agreement.

    Parameters
    ----------
    title : str
        The scenario's.
    pairs : sequence of Pair
        Those with both numbers.

    Returns
    -------
    Chart
        A point for each number, with the simulation's interval; one colour for each model.
    """
    models = list(dict.fromkeys(pair.title for pair in pairs))
    panel = Panel(
        "theory relative to the simulation [%]",
        "",
        [_model_curve(number, model, pairs) for number, model in enumerate(models)],
        lines=(StraightLine(100.0, kind="whole", axis="x"),),
        y_ticks=[f"{pair.text}\n{pair.subject}" for pair in pairs],
        y_down=True,
    )
    height = HEAD_INCHES + ROW_INCHES * max(len(pairs), 1)
    return Chart(title, [panel], legend="panel", size_inches=(12.0, height))


def _model_curve(number: int, model: str, pairs: "Sequence[Pair]") -> Curve:
    rows = [(row, pair) for row, pair in enumerate(pairs) if pair.title == model]
    values = [(pair.difference, *pair.difference_interval) for _, pair in rows]
    ratio, low, high = 100.0 * (1.0 + np.array(values, dtype=float).T)
    places = np.array([row for row, _ in rows], dtype=float)
    notes = [f"{value:.4g}%" for value in ratio]
    return Curve(model, ratio, places, "marks", number, x_low=low, x_high=high, notes=notes)
