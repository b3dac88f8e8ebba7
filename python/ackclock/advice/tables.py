"""Advice for people: on a terminal and in a notebook."""

import html
from typing import TYPE_CHECKING

from ackclock.advice.records import Advice, BeforeAfter, Recommendation
from ackclock.stats import Estimate
from ackclock.tables import TableText, html_table, rich_table
from ackclock.wording import amount, number

if TYPE_CHECKING:
    from rich.console import Console


def print_advice(advice: Advice, console: "Console") -> None:
    """Print each question with its answer, the simulations of before and after, and the rules.

    Parameters
    ----------
    advice : Advice
        What to print.
    console : rich.console.Console
        Where to.
    """
    from rich.text import Text  # noqa: PLC0415  the library itself does without rich

    console.print(Text(advice.title, style="bold"))
    for one in advice.recommendations:
        console.print()
        console.print(Text(one.question, style="bold"))
        console.print(Text(f"{one.answer}."))
        if one.changes:
            console.print(Text(f"Try it: ackclock run ... {_options(one)}", style="dim"))
        for table in _tables(one):
            console.print()
            console.print(rich_table(table))
            if table.note:
                console.print(Text(table.note, style="dim"))
        for remark in one.remarks:
            console.print(Text(f"- {remark}", style="dim"))
    if not advice.recommendations:
        console.print("No question arises that there is advice for.")


def advice_html(advice: Advice) -> str:
    """Write the advice as HTML."""
    parts = [f"<h4>{html.escape(advice.title)}</h4>"]
    for one in advice.recommendations:
        parts.append(f"<p><b>{html.escape(one.question)}</b><br>{html.escape(one.answer)}.</p>")
        if one.changes:
            parts.append(f"<p><code>{html.escape(_options(one))}</code></p>")
        parts += [html_table(table) for table in _tables(one)]
        parts += [f"<p>{html.escape(remark)}</p>" for remark in one.remarks]
    return "".join(parts)


def _options(one: Recommendation) -> str:
    return " ".join(f"--set {path}={_quoted(value)}" for path, value in one.changes.items())


def _quoted(value: str | int) -> str:
    return f'"{value}"' if " " in str(value) else str(value)


def _tables(one: Recommendation) -> list[TableText]:
    tables = []
    if one.check:
        rows = [[row.text, _estimate(row.before, row), _estimate(row.after, row), _change(row)] for row in one.check]
        tables.append(TableText(["simulated", "before", "after", "change"], rows))
    if one.rules:
        rules = [
            [
                rule.name,
                amount(rule.value, rule.unit),
                "decided" if rule.chosen else "holds" if rule.valid else "not made for this",
                rule.reason,
            ]
            for rule in one.rules
        ]
        tables.append(TableText(["rule", "says", "validity", "why"], rules, words=frozenset({2, 3})))
    return tables


def _estimate(found: Estimate, row: BeforeAfter) -> str:
    if found["mean"] is None:
        return "-"
    text = amount(found["mean"], row.unit) if row.unit else number(found["mean"])
    if found["low"] is None or found["high"] is None or found["high"] <= found["low"] or not found["mean"]:
        return text
    return f"{text}\n±{50.0 * (found['high'] - found['low']) / found['mean']:.2g}%"


def _change(row: BeforeAfter) -> str:
    before, after = row.before["mean"], row.after["mean"]
    if not before or after is None:
        return ""
    return f"{100.0 * (after / before - 1.0):+.3g}%"
