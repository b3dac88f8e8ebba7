"""Records of theory: predictions with numbers and reference lines, reasons for none, pairs with what was measured."""

import html
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, Literal

from ackclock.tables import Printed, TableText, html_table, rich_table
from ackclock.wording import amount, plural

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console, ConsoleOptions, RenderableType

Unit = Literal["bit/s", "pkt", "pkt/s", "s", "1", "%"]


@dataclass(frozen=True, slots=True)
class Measured:
    """Place in a run's summary of the measured value of a predicted number.

    Parameters
    ----------
    table : str
        "flows", "links" or "sources".
    names : tuple of str
        The rows, whose values add up.
    key : str
        The quantity.
    """

    table: Literal["flows", "links", "sources"]
    names: tuple[str, ...]
    key: str


@dataclass(frozen=True, slots=True)
class Number:
    """A predicted number.

    Parameters
    ----------
    key : str
        Its name for programs; ends in the unit.
    text : str
        Its name for people, with the paper's letter.
    value : float
        In `unit`; not finite where the model has no value.
    unit : str
        "bit/s", "pkt", "pkt/s", "s", "1" or "%".
    measured : Measured, optional
        What a run measures of it.
    """

    key: str
    text: str
    value: float
    unit: Unit
    measured: Measured | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """A predicted number and what was measured of it.

    Parameters
    ----------
    model, title, subject : str
        Name of the model for programs and for people, and the flows or links that the number is about.
    key, text, unit : str
        Name of the quantity for programs and for people, and its unit.
    predicted : float
        The model's value.
    simulated : float
        Mean over replications; nan if the run does not measure the quantity.
    low, high : float
        Interval of that mean; nan if there is one replication only, or if the mean is a sum over flows.
    """

    model: str
    title: str
    subject: str
    key: str
    text: str
    unit: str
    predicted: float
    simulated: float = nan
    low: float = nan
    high: float = nan

    @property
    def difference(self) -> float:
        """The excess of the prediction over the simulation, relative to the simulation."""
        return self.predicted / self.simulated - 1.0 if self.simulated else nan

    @property
    def difference_interval(self) -> tuple[float, float]:
        """The interval of the difference, from the simulation's."""
        if not (self.low > 0.0 and self.high > 0.0):
            return nan, nan
        return self.predicted / self.high - 1.0, self.predicted / self.low - 1.0


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """A horizontal line that a model draws into the picture of a run.

    Parameters
    ----------
    kind : str
        Quantity whose axis the line belongs to: "cwnd", "queue" or "throughput".
    name : str
        Name of the flow or link.
    value : float
        Height of the line [pkt, bit/s].
    label : str
        Name of the line for people.
    """

    kind: Literal["cwnd", "queue", "throughput"]
    name: str
    value: float
    label: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a model that a run can refute.

    Parameters
    ----------
    link : str
        The link that it is about.
    stays_busy : bool
        Whether the model has it always busy; else it idles at times.
    text : str
        The sentence, one of the prediction's.
    flows : tuple of str
        The flows that fill the link in the model.
    """

    link: str
    stays_busy: bool
    text: str
    flows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShareClaim:
    """A sentence of a model on the share that flows take of a link, which a run can refute.

    Parameters
    ----------
    measured : Measured
        Where a run has what they take [bit/s].
    rate_bps : float
        Rate of the link [bit/s].
    share : float
        What they take by the model, as a fraction of the rate.
    tolerance : float
        Difference of the shares up to which the run agrees.
    text : str
        The sentence, one of the prediction's.
    """

    measured: Measured
    rate_bps: float
    share: float
    tolerance: float
    text: str


@dataclass(frozen=True, slots=True)
class ModelPrediction:
    """Prediction of one model for a scenario.

    Parameters
    ----------
    model : str
        Its name for programs.
    title : str
        Its name for people, with the source.
    subject : str
        The flows or links that it applies to.
    numbers : tuple of Number
        What it computes.
    sentences : tuple of str
        What that means.
    warnings : tuple of str
        Why the numbers should not be trusted, where they should not.
    reference_lines : tuple of ReferenceLine
        Lines for the picture.
    claims : tuple of Claim or ShareClaim
        The sentences that a run can refute.
    """

    model: str
    title: str
    subject: str
    numbers: tuple[Number, ...]
    sentences: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    reference_lines: tuple[ReferenceLine, ...] = ()
    claims: tuple[Claim | ShareClaim, ...] = ()

    @property
    def numbers_table(self) -> TableText:
        """The numbers as a table for people."""
        return TableText([self.subject, "theory"], [[one.text, amount(one.value, one.unit)] for one in self.numbers])


@dataclass(frozen=True, slots=True)
class Inapplicable:
    """A model that says nothing of a scenario, and why."""

    model: str
    title: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Prediction(Printed):
    """Predictions of all models for a scenario.

    Parameters
    ----------
    title : str
        The scenario's.
    applicable : tuple of ModelPrediction
        The models that apply to it.
    inapplicable : tuple of Inapplicable
        The others.
    """

    title: str
    applicable: tuple[ModelPrediction, ...]
    inapplicable: tuple[Inapplicable, ...]

    @property
    def reference_lines(self) -> tuple[ReferenceLine, ...]:
        """The lines for the picture, of all models; one that several models draw is drawn once."""
        found = {
            (line.kind, line.name, line.label): line for model in self.applicable for line in model.reference_lines
        }
        return tuple(found.values())

    @property
    def table(self) -> "pd.DataFrame":
        """The numbers: a row each, with model, subject, key, text, value and unit."""
        import pandas as pd  # noqa: PLC0415  half a second that printing does not need

        rows = [
            (model.model, model.subject, number.key, number.text, number.value, number.unit)
            for model in self.applicable
            for number in model.numbers
        ]
        return pd.DataFrame(rows, columns=["model", "subject", "key", "text", "value", "unit"])

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON; a number without a value is `None`."""
        content: dict[str, Any] = _finite(asdict(self))
        return content

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> Iterator["RenderableType"]:
        from rich.text import Text  # noqa: PLC0415  the library itself does without rich

        yield Text(self.title, style="bold")
        for model in self.applicable:
            yield ""
            yield Text(model.title, style="bold")
            yield rich_table(model.numbers_table)
            for sentence in model.sentences:
                yield Text(f"{sentence[0].upper()}{sentence[1:]}.")
            for warning in model.warnings:
                yield Text("Warning: ", style="yellow").append(Text(warning, style="not bold default"))
        if not self.applicable:
            yield "\nNo model applies to this scenario; ackclock run simulates it."
        if self.inapplicable:
            yield Text(
                "\nNot applicable here (in full: --json, or `inapplicable` in Python):",
                style="bold",
            )
        longest = max((len(other.model) for other in self.inapplicable), default=0)
        for other in self.inapplicable:
            line = f"{other.model:{longest}}  {'; '.join(other.reasons)}"
            yield Text(line, style="dim", no_wrap=True, overflow="ellipsis")

    def __repr__(self) -> str:
        counts = f"{plural(len(self.applicable), 'model')} of {len(self.applicable) + len(self.inapplicable)}"
        return f"<Prediction {self.title!r}: {counts}>"

    def _repr_html_(self) -> str:
        parts = [f"<h4>{html.escape(self.title)}</h4>"]
        for model in self.applicable:
            parts += [f"<p><b>{html.escape(model.title)}</b></p>", html_table(model.numbers_table)]
            parts += [f"<p>{html.escape(sentence)}</p>" for sentence in model.sentences]
            parts += [f"<p><b>Warning:</b> {html.escape(warning)}</p>" for warning in model.warnings]
        parts += [
            f"<p><i>{html.escape(other.title)}: {html.escape('; '.join(other.reasons))}</i></p>"
            for other in self.inapplicable
        ]
        return "".join(parts)


def _finite(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not isfinite(content) else content
