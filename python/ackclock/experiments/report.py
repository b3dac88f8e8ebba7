"""The report on the papers: what each says, what was found, whether they agree; as HTML, Markdown, LaTeX and CSV."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ackclock
from ackclock.experiments.criteria import WEIGHTS, Counts
from ackclock.experiments.frame import Setting
from ackclock.experiments.pages import HEADERS, Look, Picture, counts_text, drawn, paper_words, stored
from ackclock.experiments.papers import STATES, Form, Item, Paper
from ackclock.experiments.reproduction import ReproducedItem
from ackclock.tables import Printed, TableText, rich_table
from ackclock.wording import plural

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console, ConsoleOptions, RenderableType

TITLE = "The papers, reproduced"
MOST_SHOWN = 12
"""Largest number of items whose figures a notebook gets."""
_EARLIER = "From earlier calls come {} of this report; the numbers of packets and simulations above are without them."


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
    overrides : mapping of str to object
        What the user changed in the scenarios, by dotted path.
    """

    setting: Setting
    papers: tuple[tuple[Paper, tuple[ReproducedItem, ...]], ...]
    points: int
    computed: int
    packets: int
    wall_s: float
    cpu_s: float
    overrides: Mapping[str, Any] = field(default_factory=dict)

    @property
    def form(self) -> Form:
        """Name of the form that was run."""
        return "full" if self.setting.full else "quick"

    @property
    def label(self) -> str:
        """Name of the form, which says if its scenarios were changed."""
        return f"{self.form}, changed" if self.overrides else self.form

    @property
    def changes(self) -> str:
        """A sentence on what was changed; empty if nothing was."""
        if not self.overrides:
            return ""
        listed = ", ".join(f"{path} = {value}" for path, value in self.overrides.items())
        return (
            f"The form was changed: {listed}. Each row compares the changed scenarios with the paper's own numbers, "
            "and none is a verdict of the record. Numbers that an item computes without a scenario are the paper's."
        )

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

        if self.changes:
            yield Text(self.changes, style="bold")
        for paper, items in self.papers:
            rows = [[one.item.name, one.item.title, counts_text(one), one.state] for one in items]
            yield Text(paper.title, style="bold")
            head = ["item", "what", "agree/partly/differ/open", "verdict"]
            yield rich_table(TableText(head, rows, words=frozenset({1, 2, 3})))
        for line in _summary(self):
            yield Text(line, style="dim")

    def __repr__(self) -> str:
        return f"<Reproduction: {', '.join(paper.name for paper, _ in self.papers)}; {plural(len(self.items), 'item')}>"

    def _repr_html_(self) -> str:
        few = len(self.items) <= MOST_SHOWN
        return _rendered("notebook.html.j2", self, drawn if few else None, most_shown=0 if few else MOST_SHOWN)


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
                    "form": reproduction.label,
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
    return _rendered("report.md.j2", reproduction)


def latex_report(reproduction: Reproduction) -> str:
    """Write the report as LaTeX, whose tables can be copied one by one, with its figures in the files of its folder."""
    return _rendered("report.tex.j2", reproduction)


def html_report(reproduction: Reproduction, out: Path) -> str:
    """Write the report as one page that needs no other file.

    Parameters
    ----------
    reproduction : Reproduction
        The items with their verdicts.
    out : Path
        Where its figures are.
    """
    return _rendered("report.html.j2", reproduction, stored(out))


def _rendered(template: str, reproduction: Reproduction, picture: Picture | None = None, **more: Any) -> str:
    from ackclock.experiments.rendering import rendered  # noqa: PLC0415  templates that other uses need not load

    look = Look(reproduction.form, bool(reproduction.overrides), picture)
    return rendered(
        template,
        title=TITLE,
        headers=HEADERS,
        changes=reproduction.changes,
        summary=_summary(reproduction),
        papers=paper_words(reproduction.papers, look),
        **more,
    )


def _summary(reproduction: Reproduction) -> list[str]:
    states = [reproduced.state for reproduced in reproduction.items if reproduced.item.module]
    items = ", ".join(f"{states.count(state)} {state}" for state in STATES.values() if state in states)
    kept = reproduction.points - reproduction.computed
    papers = (f"{paper.name}: {sum((one.counts for one in found), Counts())}" for paper, found in reproduction.papers)
    earlier = sum(bool(one.made_by) for one in reproduction.items)
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
        *([_EARLIER.format(plural(earlier, "item"))] if earlier else []),
    ]
