"""Records of advice: a question, an answer in words, the rules behind it, and what a simulation made of it."""

import html
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import folders
from ackclock.advice.alternatives import Alternatives, written
from ackclock.advice.queue_records import QueuesCompared
from ackclock.errors import AdviceError, Fault
from ackclock.findings import Finding
from ackclock.stats import Estimate
from ackclock.storage import json_writer
from ackclock.tables import Printed, TableText, html_table, rich_table
from ackclock.wording import amount, percent

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

    from ackclock.charts import Chart
    from ackclock.plots import Picture

FILES = ("queues.png", "advice.json")
"""The files of saved advice."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's answer.

    Parameters
    ----------
    name : str
        The rule, with its formula.
    source : str
        Where it comes from.
    value : float
        What it says.
    unit : str
        Of the value.
    valid : bool
        Whether it was made for such a case.
    reason : str
        Why it is or is not.
    chosen : bool
        Whether the recommendation follows it.
    outcome : str
        What a simulation makes of it, if it is made for such a case.
    """

    name: str
    source: str
    value: float
    unit: str
    valid: bool
    reason: str
    chosen: bool = False
    outcome: str = ""

    @property
    def cells(self) -> list[str]:
        """The rule's row in a table: what it says, whether it holds, and why."""
        validity = "decided" if self.chosen else self.outcome or ("holds" if self.valid else "not made for this")
        return [self.name, amount(self.value, self.unit), validity, self.reason]


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """A quantity in the simulations before and after a change.

    Parameters
    ----------
    text : str
        The quantity.
    unit : str
        "bit/s", "pkt", "s", "1" or "" for counts.
    before, after : Estimate
        Means over replications, with intervals.
    """

    text: str
    unit: str
    before: Estimate
    after: Estimate

    @property
    def cells(self) -> list[str]:
        """The comparison's row in a table: both means with their intervals, and the relative change."""
        return [self.text, written(self.before, self.unit), written(self.after, self.unit), self._change]

    @property
    def _change(self) -> str:
        before, after = self.before["mean"], self.after["mean"]
        if not before or after is None:
            return ""
        return percent(after / before - 1.0, sign=True)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One piece of advice.

    Parameters
    ----------
    topic : str
        Its name for programs.
    question : str
        What it answers.
    answer : str
        In words that need no paper.
    changes : mapping of str to str, int or mapping
        What to change, by dotted path, as `run --set` takes it; empty where all is well.
    rules : tuple of Rule
        The rule that decided, and the others.
    check : tuple of BeforeAfter
        The simulations of before and after; empty where nothing was simulated.
    remarks : tuple of str
        What the check showed, and what to know.
    alternatives : tuple of Alternatives
        The sizes that a search simulated, for each place.
    queues : QueuesCompared, optional
        The queues that were simulated.
    """

    topic: str
    question: str
    answer: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    check: tuple[BeforeAfter, ...] = ()
    remarks: tuple[str, ...] = ()
    alternatives: tuple[Alternatives, ...] = ()
    queues: QueuesCompared | None = None

    @property
    def options(self) -> str:
        """The changes as options of the command line."""
        return " ".join(f"--set {path}={_quoted(value)}" for path, value in self.changes.items())

    @property
    def toml(self) -> str:
        """The changes as TOML writes them."""
        return ", ".join(f"{path} = {_toml(value)}" for path, value in self.changes.items())

    @property
    def tables(self) -> list[TableText]:
        """The simulations of before and after, and the rules, as tables for people."""
        tables = [one.table for one in self.alternatives]
        if self.queues is not None:
            tables.append(self.queues.table)
        if self.check:
            rows = [row.cells for row in self.check if None not in (row.before["mean"], row.after["mean"])]
            tables.append(TableText(["simulated", "before", "after", "change"], rows))
        if self.rules:
            rules = [rule.cells for rule in self.rules]
            tables.append(TableText(["rule", "says", "validity", "why"], rules, words=frozenset({2, 3})))
        return tables


@dataclass(frozen=True, slots=True, repr=False)
class Advice(Printed):
    """All advice on a scenario.

    Parameters
    ----------
    title : str
        The scenario's.
    recommendations : tuple of Recommendation
        One a question that the scenario raises.
    reasons : tuple of str
        Why there is no more advice; at least one if nothing is to be changed.
    verdict : str
        What the scenario shows as it is; empty if nothing was simulated.
    findings : tuple of Finding
        The facts that the verdict words, and that the advice builds on.
    """

    title: str
    recommendations: tuple[Recommendation, ...]
    reasons: tuple[str, ...] = ()
    verdict: str = ""
    findings: tuple[Finding, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON."""
        return asdict(self)

    def charts(self) -> "list[Chart]":
        """Describe the pictures of the recommendations that have one, as data to draw."""
        from ackclock.pictures.queues_compared import queues_chart  # noqa: PLC0415  half a second that others need not pay

        compared = (one.queues for one in self.recommendations)
        return [queues_chart(self.title, one.place, one.rows) for one in compared if one is not None]

    def plot(self) -> "Picture | None":
        """Draw the first picture of `charts`: the queues that were compared; None if none were."""
        from ackclock.plots import chart_picture  # noqa: PLC0415  half a second that other uses need not pay

        charts = self.charts()
        return chart_picture(charts[0]) if charts else None

    def save_picture(self, path: str | Path) -> None:
        """Draw that picture into a file, in the format of its ending (png, svg, pdf).

        Parameters
        ----------
        path : str or Path
            The file, which is replaced if it is there.

        Raises
        ------
        AdviceError
            No queues were compared.
        """
        picture = self.plot()
        if picture is None:
            raise AdviceError(
                Fault("picture", "nothing to draw: no queues were compared", None, "the topic which-queue")
            )
        picture.save(Path(path))

    def save(self, folder: str | Path, *, picture: bool = True) -> None:
        """Write advice.json, and queues.png where queues were compared.

        Parameters
        ----------
        folder : str or Path
            Where to; created where it is missing. Earlier advice there is replaced; a file that ackclock did not make
            is not.
        picture : bool
            Whether to draw the picture.

        Raises
        ------
        ResultError
            Something cannot be written, or another file has the name.
        """
        drawing, content = FILES
        drawn: dict[str, folders.Writer] = {drawing: self.save_picture} if picture and self.charts() else {}
        folders.write_files(Path(folder), {**drawn, content: json_writer(self.to_dict())}, "advice")

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> Iterator["RenderableType"]:
        from rich.text import Text  # noqa: PLC0415  the library itself does without rich

        yield Text(self.title, style="bold")
        if self.verdict:
            yield Text("As it is: ", style="bold").append(Text(f"{self.verdict}.", style="not bold"))
        for one in self.recommendations:
            yield ""
            yield Text(one.question, style="bold")
            yield Text(f"{one.answer}.")
            if one.changes:
                yield Text(f"Try it: ackclock run ... {one.options}", style="dim")
            for table in one.tables:
                yield ""
                yield rich_table(table)
                if table.note:
                    yield Text(table.note, style="dim")
            for remark in one.remarks:
                yield Text(f"- {remark}", style="dim")
        for reason in self.reasons:
            yield ""
            yield Text(f"{reason[0].upper()}{reason[1:]}.")

    def __repr__(self) -> str:
        topics = ", ".join(one.topic for one in self.recommendations) or "nothing to change"
        return f"<Advice {self.title!r}: {topics}>"

    def _repr_html_(self) -> str:
        parts = [f"<h4>{html.escape(self.title)}</h4>"]
        if self.verdict:
            parts.append(f"<p><b>As it is:</b> {html.escape(self.verdict)}.</p>")
        for one in self.recommendations:
            parts.append(f"<p><b>{html.escape(one.question)}</b><br>{html.escape(one.answer)}.</p>")
            if one.changes:
                parts.append(f"<p><code>{html.escape(one.options)}</code></p>")
            parts += [html_table(table) for table in one.tables]
            parts += [f"<p>{html.escape(remark)}</p>" for remark in one.remarks]
        parts += [f"<p>{html.escape(reason)}.</p>" for reason in self.reasons]
        return "".join(parts)


def _quoted(value: str | int | Mapping[str, str]) -> str:
    if isinstance(value, Mapping):
        return f"'{_toml(value)}'"
    return f'"{value}"' if " " in str(value) else str(value)


def _toml(value: str | int | Mapping[str, str]) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(one)}' for key, one in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)
