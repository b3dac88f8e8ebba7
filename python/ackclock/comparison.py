"""Comparison of theory and simulation: each predicted number with what the run measured of it."""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from ackclock.pictures import comparison_chart
from ackclock.prediction import (
    Inapplicable,
    Measured,
    ModelPrediction,
    Number,
    Pair,
    ReferenceLine,
    predict_from_measured,
    predict_from_rounds,
    predict_resolved,
)
from ackclock.prediction.claims import confront
from ackclock.result import Result
from ackclock.scenario.arguments import check_arguments, instance_of
from ackclock.tables import Printed, TableText, html_table, rich_table
from ackclock.wording import amount, half_width, hundredths, percent, plural

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console, ConsoleOptions, RenderableType

    from ackclock.charts import Chart
    from ackclock.plots import Picture


_NO_MODEL = "no model applies to this scenario; ackclock predict says why"


@dataclass(frozen=True, repr=False)
class Comparison(Printed):
    """The predictions of the models for one run, with what the run measured.

    Parameters
    ----------
    result : Result
        The run.
    predictions : tuple of ModelPrediction
        The models that apply to its scenario, including those that need its measured losses or rounds.
    inapplicable : tuple of Inapplicable
        The others.
    """

    result: Result
    predictions: tuple[ModelPrediction, ...]
    inapplicable: tuple[Inapplicable, ...]

    @property
    def pairs(self) -> list[Pair]:
        """Every predicted number, with what was measured of it where something was."""
        return [_pair(self.result, model, number) for model in self.predictions for number in model.numbers]

    @property
    def reference_lines(self) -> tuple[ReferenceLine, ...]:
        """The lines that the theory draws into the picture."""
        return tuple(line for model in self.predictions for line in model.reference_lines)

    @property
    def tables(self) -> list[tuple[str, str, TableText]]:
        """Title, subject and table of words of each model, theory and simulation next to each other."""
        return list(_tables(self))

    @property
    def table(self) -> "pd.DataFrame":
        """The pairs: a row each, with the relative difference and its interval."""
        import pandas as pd  # noqa: PLC0415  half a second that printing does not need

        rows = []
        for pair in self.pairs:
            low, high = pair.difference_interval
            rows.append(
                {
                    **{key: value for key, value in asdict(pair).items() if key != "title"},
                    "difference": pair.difference,
                    "difference_low": low,
                    "difference_high": high,
                }
            )
        return pd.DataFrame(rows)

    def chart(self) -> "Chart":
        """Describe each prediction that a run can measure, relative to what was simulated, as data to draw."""
        return comparison_chart(self.result.summary["title"], [pair for pair in self.pairs if _both(pair)])

    def plot(self) -> "Picture":
        """Draw the panels of `chart`."""
        from ackclock.plots import chart_picture  # noqa: PLC0415  half a second that other uses need not pay

        return chart_picture(self.chart())

    def picture(self) -> "Picture":
        """Draw the run's windows and queues with the theory's lines."""
        return self.result.plot(self.reference_lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; a number without a value is `None`."""
        models = [
            {
                "model": model.model,
                "title": model.title,
                "subject": model.subject,
                "numbers": [_plain(_pair(self.result, model, number)) for number in model.numbers],
                "sentences": list(model.sentences),
                "warnings": list(model.warnings),
            }
            for model in self.predictions
        ]
        return {"models": models, "inapplicable": [asdict(other) for other in self.inapplicable]}

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> Iterator["RenderableType"]:
        from rich.text import Text  # noqa: PLC0415  the library itself does without rich

        for number, (model, (title, _, table)) in enumerate(zip(self.predictions, _tables(self), strict=True)):
            if number > 0:
                yield ""
            yield Text("Theory: ", style="bold").append(Text(title, style="not bold"))
            yield rich_table(table)
            for sentence in model.sentences:
                yield Text(f"{sentence[0].upper()}{sentence[1:]}.", style="dim")
            for warning in model.warnings:
                yield Text("Warning: ", style="yellow").append(Text(warning, style="not bold default"))
        if not self.predictions:
            yield Text(f"Theory: {_NO_MODEL}", style="dim")

    def __repr__(self) -> str:
        return f"<Comparison {self.result.summary['title']!r}: {plural(len(self.predictions), 'model')}>"

    def _repr_html_(self) -> str:
        parts = []
        for model, (title, _, table) in zip(self.predictions, _tables(self), strict=True):
            parts += [f"<p><b>Theory:</b> {html.escape(title)}</p>", html_table(table)]
            parts += [f"<p>{html.escape(f'{one[0].upper()}{one[1:]}.')}</p>" for one in model.sentences]
            parts += [f"<p><b>Warning:</b> {html.escape(warning)}</p>" for warning in model.warnings]
        return "".join(parts) or f"<p>Theory: {_NO_MODEL}</p>"


def compare(result: Result) -> Comparison:
    """Compare what the models predict for a run's scenario with what the run measured.

    Parameters
    ----------
    result : Result
        The run.

    Returns
    -------
    Comparison
        A row a number in `table`; a picture in `plot`.

    Examples
    --------
    >>> import ackclock
    >>> result = ackclock.run("geo-two-nodes")  # doctest: +SKIP
    >>> ackclock.compare(result).table[["text", "predicted", "simulated", "difference"]]  # doctest: +SKIP
    """
    check_arguments("compare", result=(result, instance_of("a Result, which run() gives", Result)))
    prediction = predict_resolved(result.resolved)
    extra = [
        *predict_from_measured(result.resolved, result.summary["flows"]),
        *predict_from_rounds(result.resolved, result.traces.get("rounds")),
    ]
    models = (*prediction.applicable, *(one for one in extra if isinstance(one, ModelPrediction)))
    return Comparison(
        result,
        tuple(confront(model, result.findings, result.summary["flows"]) for model in models),
        (*prediction.inapplicable, *(one for one in extra if isinstance(one, Inapplicable))),
    )


def _tables(comparison: Comparison) -> Iterator[tuple[str, str, TableText]]:
    for model in comparison.predictions:
        pairs = [_pair(comparison.result, model, number) for number in model.numbers]
        rows = [[pair.text, amount(pair.predicted, pair.unit), _simulated(pair), _difference(pair)] for pair in pairs]
        yield model.title, model.subject, TableText([model.subject, "theory", "simulated", "difference"], rows)


def _pair(result: Result, model: ModelPrediction, number: Number) -> Pair:
    pair = (model.model, model.title, model.subject, number.key, number.text, number.unit, number.value)
    return Pair(*pair, *(() if number.measured is None else _measured(result, number.measured)))


def _measured(result: Result, what: Measured) -> tuple[float, float, float]:
    rows: Sequence[Mapping[str, Any]] = result.summary.get(what.table, [])
    found = [row[what.key] for row in rows if row["name"] in what.names]
    means = [nan if one is None or one["mean"] is None else float(one["mean"]) for one in found]
    if len(found) != 1 or found[0] is None or found[0]["low"] is None:
        return sum(means) if means else nan, nan, nan
    return means[0], float(found[0]["low"]), float(found[0]["high"])


def _both(pair: Pair) -> bool:
    return isfinite(pair.predicted) and isfinite(pair.simulated) and pair.simulated > 0.0


def _simulated(pair: Pair) -> str:
    text = amount(pair.simulated, pair.unit)
    half = (pair.high - pair.low) / 2.0
    return f"{text}\n{half_width(half, pair.simulated)}" if half > 0.0 and pair.simulated else text


def _difference(pair: Pair) -> str:
    if not isfinite(pair.difference):
        return "-"
    low, high = pair.difference_interval
    text = percent(pair.difference, sign=True)
    return (
        f"{text}\n{hundredths(100.0 * low, sign=True)} to {hundredths(100.0 * high, sign=True)}" if high > low else text
    )


def _plain(pair: Pair) -> dict[str, Any]:
    content = {**asdict(pair), "difference": pair.difference}
    for key in ("model", "title", "subject"):
        del content[key]
    return {key: None if isinstance(one, float) and not isfinite(one) else one for key, one in content.items()}
