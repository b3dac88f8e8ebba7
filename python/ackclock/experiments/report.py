"""The report on the papers: what each says, what was found, whether they agree; as HTML, Markdown and CSV."""

import base64
import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import ackclock
from ackclock.experiments.criteria import Expected
from ackclock.experiments.frame import Finding, Setting
from ackclock.experiments.papers import Item, Paper
from ackclock.experiments.reproduction import ReproducedItem, item_folder
from ackclock.tables import Printed, TableText, rich_table
from ackclock.wording import plural

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console, ConsoleOptions, RenderableType

    from ackclock.charts import Chart

HEADERS = ("claim", "where", "the paper", "model", "simulation", "agrees if", "verdict", "note")
KINDS = {
    "printed": "",
    "formula": "(its formula)",
    "read": "(by its text)",
    "words": "(in words)",
    "none": "(no number)",
}
STATES = {"agrees": "reproduced", "partly": "partly", "differs": "differs", "diagram": "diagram"}
MOST_SHOWN = 12
"""Largest number of items whose figures a notebook gets."""
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 1240px; padding: 0 1em; color: #1a1a1a; }
table { border-collapse: collapse; width: 100%; margin: 1em 0; font-size: 14px; }
th, td { border-bottom: 1px solid #ccc; padding: .35em .6em; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #666; } img { max-width: 100%; }
.agrees, .reproduced { color: #00604a; font-weight: 600; } .differs { color: #a13d00; font-weight: 600; }
.partly { color: #7a5b00; font-weight: 600; } .shown, .diagram { color: #555; } code { background: #eee; }
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
    def items(self) -> list[ReproducedItem]:
        """The items of all papers."""
        return [item for _, items in self.papers for item in items]

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> Iterator["RenderableType"]:
        from rich.text import Text  # noqa: PLC0415  the library itself does without rich

        for paper, items in self.papers:
            head, *rows = _overview(items)
            yield Text(paper.title, style="bold")
            table = TableText(
                [head[0], head[1], "agree", head[3]], [row[:4] for row in rows], words=frozenset({1, 2, 3})
            )
            yield rich_table(table)
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
            parts += [f"<h4>{html.escape(paper.title)}</h4>", _html_table(_overview(items))]
            parts += [part for one in items if few for part in _html_item(one, _drawn)]
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
                    "low": found.measure.low,
                    "high": found.measure.high,
                    "judged": row.judged,
                    "criterion": row.criterion,
                    "verdict": reproduced.verdicts[row.key],
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
        lines += [*(f"- {reading}" for reading in paper.readings), "", *_markdown_table(_overview(items)), ""]
        for reproduced in items:
            lines += _markdown_item(reproduced)
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
        parts.append(_html_table(_overview(items), link=f"{paper.name}-"))
        parts += [part for reproduced in items for part in _html_item(reproduced, _stored(reproduced.item, out))]
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _summary(reproduction: Reproduction) -> list[str]:
    verdicts = [reproduced.verdict for reproduced in reproduction.items if reproduced.item.module]
    counts = ", ".join(f"{verdicts.count(verdict)} {STATES[verdict]}" for verdict in ("agrees", "partly", "differs"))
    form = "full" if reproduction.setting.full else "quick"
    kept = reproduction.points - reproduction.computed
    return [
        f"{len(verdicts)} items with numbers or claims: {counts}. Each verdict is computed from the criterion next to "
        "it. Criteria are written down before the first run; what was read otherwise or added after it says so.",
        f"{form.capitalize()} form, ackclock {ackclock.__version__}: {reproduction.packets:,} packets in "
        f"{reproduction.points:,} simulations. This time {reproduction.computed:,} were run, in "
        f"{reproduction.wall_s:.1f} s ({reproduction.cpu_s:.1f} s of CPU time); {kept:,} were cached.",
    ]


def _overview(items: tuple[ReproducedItem, ...]) -> list[list[str]]:
    rows = [["item", "what", "numbers and claims that agree", "verdict", "why"]]
    for reproduced in items:
        agree = sum(verdict == "agrees" for verdict in reproduced.verdicts.values())
        count = f"{agree} of {len(reproduced.verdicts)}" if reproduced.verdicts else ""
        state = STATES.get(reproduced.verdict, reproduced.verdict)
        rows.append([reproduced.item.name, reproduced.item.title, count, state, _why(reproduced)])
    return rows


def _why(reproduced: ReproducedItem) -> str:
    """Give the reason on record; say so where this run came out otherwise."""
    state = STATES.get(reproduced.verdict, reproduced.verdict)
    if state == reproduced.item.state:
        return reproduced.item.why
    return f"{reproduced.item.why} (On record: {reproduced.item.state}; this run: {state}.)"


def _rows(reproduced: ReproducedItem) -> Iterator[list[str]]:
    for row in reproduced.item.expected:
        finding = reproduced.finding(row.key)
        judged = f"{row.criterion} ({row.judged}): {row.reason}"
        simulation = _simulation(row, finding)
        model = _number(finding.model, row)
        yield [row.claim, row.where, _paper(row), model, simulation, judged, reproduced.verdicts[row.key], finding.note]


def _paper(row: Expected) -> str:
    kind = KINDS[row.kind]
    return f"{_number(row.paper, row)} {kind}".strip() if isfinite(row.paper) else kind


def _number(value: float, row: Expected) -> str:
    if not isfinite(value):
        return ""
    if row.criterion == "holds":
        return {0.0: "does not hold", 1.0: "holds"}.get(value, f"holds in {100.0 * value:.3g}% of cases")
    return f"{value:.4g} {row.unit}".strip()


def _simulation(row: Expected, finding: Finding) -> str:
    found = finding.measure
    text = _number(found.value, row)
    if text and isfinite(found.low) and found.high > found.low:
        text += f" ({found.low:.4g} to {found.high:.4g})"
    return text


def _markdown_item(reproduced: ReproducedItem) -> list[str]:
    item = reproduced.item
    lines = [f"### {item.name}: {item.title}", "", _why(reproduced), ""]
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


def _html_item(reproduced: ReproducedItem, picture: "Callable[[str, Chart], bytes]") -> Iterator[str]:
    item = reproduced.item
    yield f"<h3 id='{item.paper}-{item.name}'>{html.escape(f'{item.name}: {item.title}')}</h3>"
    yield f"<p>{html.escape(_why(reproduced))}</p>"
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
        kind = f" class='{text}'" if cell in {"agrees", "partly", "differs", "reproduced", "diagram"} else ""
        yield f"<td{kind}>{text}</td>"
