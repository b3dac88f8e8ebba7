"""Records of advice: a question, an answer in words, the rules behind it, and what a simulation made of it."""

import html
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ackclock.stats import Estimate
from ackclock.tables import TableText, html_table
from ackclock.wording import amount, number, percent


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
    """

    name: str
    source: str
    value: float
    unit: str
    valid: bool
    reason: str
    chosen: bool = False

    @property
    def cells(self) -> list[str]:
        """The rule's row in a table: what it says, whether it holds, and why."""
        validity = "decided" if self.chosen else "holds" if self.valid else "not made for this"
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
        return [self.text, _estimate(self.before, self.unit), _estimate(self.after, self.unit), self._change]

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
    changes : mapping of str to str or int
        What to change, by dotted path, as `run --set` takes it; empty where all is well.
    rules : tuple of Rule
        The rule that decided, and the others.
    check : tuple of BeforeAfter
        The simulations of before and after; empty where nothing was simulated.
    remarks : tuple of str
        What the check showed, and what to know.
    """

    topic: str
    question: str
    answer: str
    changes: Mapping[str, str | int] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    check: tuple[BeforeAfter, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def options(self) -> str:
        """The changes as options of the command line."""
        return " ".join(f"--set {path}={_quoted(value)}" for path, value in self.changes.items())

    @property
    def tables(self) -> list[TableText]:
        """The simulations of before and after, and the rules, as tables for people."""
        tables = []
        if self.check:
            rows = [row.cells for row in self.check]
            tables.append(TableText(["simulated", "before", "after", "change"], rows))
        if self.rules:
            rules = [rule.cells for rule in self.rules]
            tables.append(TableText(["rule", "says", "validity", "why"], rules, words=frozenset({2, 3})))
        return tables


@dataclass(frozen=True, slots=True)
class Advice:
    """All advice on a scenario.

    Parameters
    ----------
    title : str
        The scenario's.
    recommendations : tuple of Recommendation
        One a question that the scenario raises.
    """

    title: str
    recommendations: tuple[Recommendation, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON."""
        return asdict(self)

    def _repr_html_(self) -> str:
        parts = [f"<h4>{html.escape(self.title)}</h4>"]
        for one in self.recommendations:
            parts.append(f"<p><b>{html.escape(one.question)}</b><br>{html.escape(one.answer)}.</p>")
            if one.changes:
                parts.append(f"<p><code>{html.escape(one.options)}</code></p>")
            parts += [html_table(table) for table in one.tables]
            parts += [f"<p>{html.escape(remark)}</p>" for remark in one.remarks]
        return "".join(parts)


def _quoted(value: str | int) -> str:
    return f'"{value}"' if " " in str(value) else str(value)


def _estimate(found: Estimate, unit: str) -> str:
    if found["mean"] is None:
        return "-"
    text = amount(found["mean"], unit) if unit else number(found["mean"])
    if found["low"] is None or found["high"] is None or found["high"] <= found["low"] or not found["mean"]:
        return text
    return f"{text}\n±{50.0 * (found['high'] - found['low']) / found['mean']:.2g}%"
