"""The report on the papers: what each says, what was found, whether they agree; as HTML, Markdown and CSV."""

import base64
import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import ackclock
from ackclock.experiments.criteria import WEIGHTS, Counts, Expected
from ackclock.experiments.explanation import number, why
from ackclock.experiments.frame import Finding, Setting
from ackclock.experiments.papers import STATES, Form, Item, Paper
from ackclock.experiments.reproduction import ReproducedItem, item_folder
from ackclock.tables import Printed, TableText, rich_table
from ackclock.wording import plural

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console, ConsoleOptions, RenderableType

    from ackclock.charts import Chart

HEADERS = ("claim", "where", "kind", "the paper", "model", "simulation", "agrees if", "verdict", "note")
CLASSES = {name: name for name in ("agrees", "partly", "differs", "reproduced", "identities", "diagram")} | {
    "not decided": "undecided"
}
MOST_SHOWN = 12
"""Largest number of items whose figures a notebook gets."""
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 1240px; padding: 0 1em; color: #1a1a1a; }
table { border-collapse: collapse; width: 100%; margin: 1em 0; font-size: 14px; }
th, td { border-bottom: 1px solid #ccc; padding: .35em .6em; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #666; } img { max-width: 100%; }
.agrees, .reproduced { color: #00604a; font-weight: 600; } .differs { color: #a13d00; font-weight: 600; }
.partly { color: #7a5b00; font-weight: 600; } .undecided, .identities, .diagram { color: #555; }
code { background: #eee; }
"""


@dataclass(frozen=True, repr=False)
class Reproduction(Printed):
    """The items that one command reproduced.

    Parameters
    ----------
    setting : Setting
        Quick or full.
    papers : tuple of (Paper, tuple of ReproducedItem)
        The items, by paper.
    points, computed, packets : int
        Number of different points, of those simulated now, and of the packets of all points.
    wall_s, cpu_s : float
        Time that simulating took now.
    """

    setting: Setting
    papers: tuple[tuple[Paper, tuple[ReproducedItem, ...]], ...]
    points: int
    computed: int
    packets: int
    wall_s: float
    cpu_s: float

    @property
    def form(self) -> Form:
        """Name of the form that was run."""
        return "full" if self.setting.full else "quick"

    @property
    def counts(self) -> Counts:
        """Number of rows of all items with each verdict."""
        return sum((item.counts for item in self.items), Counts())

    @property
    def items(self) -> list[ReproducedItem]:
        """The items of all papers."""
        return [item for _, items in self.papers for item in items]

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> Iterator["RenderableType"]:
        from rich.text import Text  # noqa: PLC0415  the library itself does without rich

        for paper, items in self.papers:
            _, *rows = _overview(items, self.form)
            yield Text(paper.title, style="bold")
            head = ["item", "what", "agree/partly/differ/open", "verdict"]
            yield rich_table(TableText(head, [row[:4] for row in rows], words=frozenset({1, 2, 3})))
        for line in _summary(self):
            yield Text(line, style="dim")

    def __repr__(self) -> str:
        return f"<Reproduction: {', '.join(paper.name for paper, _ in self.papers)}; {plural(len(self.items), 'item')}>"

    def _repr_html_(self) -> str:
        few = len(self.items) <= MOST_SHOWN
        parts = [f"<p>{html.escape(line)}</p>" for line in _summary(self)]
        if not few:
            parts.append(f"<p>report.html has the figures; up to {MOST_SHOWN} items would show them here.</p>")
        for paper, items in self.papers:
            parts += [f"<h4>{html.escape(paper.title)}</h4>", _html_table(_overview(items, self.form))]
            parts += [part for one in items if few for part in _html_item(one, _drawn, self.form)]
        return "".join(parts)


def verdict_table(reproduction: Reproduction) -> "pd.DataFrame":
    """Write a row a number or claim of the papers."""
    import pandas as pd  # noqa: PLC0415  half a second that other uses need not pay

    rows = []
    for reproduced in reproduction.items:
        for row in reproduced.item.expected:
            found = reproduced.finding(row.key)
            rows.append(
                {
                    "paper": reproduced.item.paper,
                    "item": row.item,
                    "key": row.key,
                    "claim": row.claim,
                    "kind": row.kind,
                    "printed": row.paper,
                    "unit": row.unit,
                    "model": found.model,
                    "simulation": found.measure.value,
                    "low": found.judged(row.judged).low,
                    "high": found.judged(row.judged).high,
                    "judged": row.judged,
                    "criterion": row.criterion,
                    "verdict": reproduced.verdicts[row.key],
                    "needs": reproduced.judgements[row.key].needs,
                    "weight": WEIGHTS[row.kind],
                    "form": reproduction.form,
                    "note": found.note,
                }
            )
    return pd.DataFrame(rows)


def print_items(picked: Sequence[tuple[Paper, list[Item]]], console: "Console") -> None:
    """Print papers and items with what is known of them."""
    rows = [[f"{paper.name}/{item.name}", item.state, item.title] for paper, items in picked for item in items]
    console.print(rich_table(TableText(["item", "state", "what"], rows, words=frozenset({1, 2}))))


def markdown_report(reproduction: Reproduction) -> str:
    """Write the report as Markdown, with its figures as links to the files of its folder."""
    lines = ["# The papers, reproduced", "", *_summary(reproduction), ""]
    for paper, items in reproduction.papers:
        lines += [f"## {paper.title}", "", f"{paper.authors}; {paper.source}.", ""]
        lines += [
            *(f"- {reading}" for reading in paper.readings),
            "",
            *_markdown_table(_overview(items, reproduction.form)),
            "",
        ]
        for reproduced in items:
            lines += _markdown_item(reproduced, reproduction.form)
    return "\n".join(lines) + "\n"


def html_report(reproduction: Reproduction, out: Path) -> str:
    """Write the report as one page that needs no other file.

    Parameters
    ----------
    reproduction : Reproduction
        The items with their verdicts.
    out : Path
        Where its figures are.
    """
    parts = ["<!doctype html><html lang='en'><head><meta charset='utf-8'><title>The papers, reproduced</title>"]
    parts += [f"<style>{STYLE}</style></head><body><h1>The papers, reproduced</h1>"]
    parts += [f"<p>{html.escape(line)}</p>" for line in _summary(reproduction)]
    for paper, items in reproduction.papers:
        parts += [f"<h2>{html.escape(paper.title)}</h2><p>{html.escape(f'{paper.authors}; {paper.source}')}.</p>"]
        parts += ["<ul>", *(f"<li>{html.escape(reading)}</li>" for reading in paper.readings), "</ul>"]
        parts.append(_html_table(_overview(items, reproduction.form), link=f"{paper.name}-"))
        parts += [
            part
            for reproduced in items
            for part in _html_item(reproduced, _stored(reproduced.item, out), reproduction.form)
        ]
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _summary(reproduction: Reproduction) -> list[str]:
    states = [reproduced.state for reproduced in reproduction.items if reproduced.item.module]
    items = ", ".join(f"{states.count(state)} {state}" for state in STATES.values() if state in states)
    kept = reproduction.points - reproduction.computed
    papers = (f"{paper.name}: {sum((one.counts for one in found), Counts())}" for paper, found in reproduction.papers)
    return [
        f"{reproduction.counts.rows} numbers and claims: {reproduction.counts}. {len(states)} items: {items}.",
        *(f"{text}." for text in papers),
        "Each verdict is computed from the criterion next to it. A number agrees if it lies within the tolerance and "
        "its interval is no wider than the tolerance, and differs if its whole interval is outside; else the run has "
        "not decided. A claim in words is judged by the fraction of cases in which it holds, by how much its words ask "
        "for. An identity is arithmetic of a model with itself or with the paper's own numbers: no evidence, and "
        "counted apart. Criteria are written down before the first run; what was read otherwise or added after it "
        "says so.",
        f"{reproduction.form.capitalize()} form, ackclock {ackclock.__version__}: {reproduction.packets:,} packets in "
        f"{reproduction.points:,} simulations. This time {reproduction.computed:,} were run, in "
        f"{reproduction.wall_s:.1f} s ({reproduction.cpu_s:.1f} s of CPU time); {kept:,} were cached.",
    ]


def _overview(items: tuple[ReproducedItem, ...], form: Form) -> list[list[str]]:
    rows = [["item", "what", "agree / partly / differ / not decided", "verdict", "why"]]
    for one in items:
        counts = one.counts
        text = " / ".join(str(number) for number in counts.numbers()[:4]) if counts.rows else ""
        if counts.identities:
            text = f"{text}; identities {counts.identities_hold} of {counts.identities}".removeprefix("; ")
        rows.append([one.item.name, one.item.title, text, one.state, why(one, form)])
    return rows


def _rows(reproduced: ReproducedItem) -> Iterator[list[str]]:
    for row in reproduced.item.expected:
        finding = reproduced.finding(row.key)
        judged = f"{row.criterion} ({row.judged}): {row.reason}"
        needs = reproduced.judgements[row.key].needs
        note = "; ".join(part for part in (finding.note, f"to decide it: {needs}" if needs else "") if part)
        simulation = _simulation(row, finding)
        model = number(finding.model, row)
        verdict = reproduced.verdicts[row.key]
        yield [row.claim, row.where, row.kind, number(row.paper, row), model, simulation, judged, verdict, note]


def _simulation(row: Expected, finding: Finding) -> str:
    found = finding.measure
    text = number(found.value, row)
    if text and isfinite(found.low) and found.high > found.low:
        text += f" ({found.low:.4g} to {found.high:.4g})"
    return text


def _markdown_item(reproduced: ReproducedItem, form: Form) -> list[str]:
    item = reproduced.item
    lines = [f"### {item.name}: {item.title}", "", why(reproduced, form), ""]
    if reproduced.item.expected:
        lines += [*_markdown_table([list(HEADERS), *_rows(reproduced)]), ""]
    for name, chart in reproduced.outcome.charts.items():
        lines += [f"![{chart.title}]({item.paper}/{item.name}/{name}.png)", ""]
    lines += [*(f"{note}\n" for note in reproduced.outcome.notes)]
    if reproduced.points:
        lines += [f"{reproduced.points} simulations, {reproduced.packets:,} packets.", ""]
    return lines


def _markdown_table(rows: list[list[str]]) -> list[str]:
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return [lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]]


def _stored(item: Item, out: Path) -> "Callable[[str, Chart], bytes]":
    """Read the pictures of an item from its folder."""
    return lambda name, _: (item_folder(out, item) / f"{name}.png").read_bytes()


def _drawn(_: str, chart: "Chart") -> bytes:
    from ackclock.plots import chart_picture  # noqa: PLC0415  half a second that other uses need not pay

    return chart_picture(chart).png()


def _html_item(reproduced: ReproducedItem, picture: "Callable[[str, Chart], bytes]", form: Form) -> Iterator[str]:
    item = reproduced.item
    yield f"<h3 id='{item.paper}-{item.name}'>{html.escape(f'{item.name}: {item.title}')}</h3>"
    yield f"<p>{html.escape(why(reproduced, form))}</p>"
    if item.expected:
        yield _html_table([list(HEADERS), *_rows(reproduced)])
    for name, chart in reproduced.outcome.charts.items():
        content = base64.b64encode(picture(name, chart)).decode()
        title = html.escape(chart.title, quote=True)
        yield f"<img style='max-width: 100%' alt='{title}' src='data:image/png;base64,{content}'>"
    yield from (f"<p>{html.escape(note)}</p>" for note in reproduced.outcome.notes)
    if reproduced.points:
        yield f"<p>{reproduced.points} simulations, {reproduced.packets:,} packets.</p>"


def _html_table(rows: list[list[str]], link: str = "") -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in rows[0])
    body = "".join(f"<tr>{''.join(_html_cells(row, link))}</tr>" for row in rows[1:])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_cells(row: list[str], link: str) -> Iterator[str]:
    for place, cell in enumerate(row):
        text = html.escape(cell)
        if link and place == 0:
            text = f"<a href='#{link}{text}'>{text}</a>"
        kind = f" class='{CLASSES[cell]}'" if cell in CLASSES else ""
        yield f"<td{kind}>{text}</td>"
