"""Words of the report: what its templates show of each paper, item and row."""

import base64
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ackclock.experiments.criteria import Expected
from ackclock.experiments.explanation import found_sentence, number, why
from ackclock.experiments.frame import Finding, Measure
from ackclock.experiments.papers import Form, Item, Paper
from ackclock.experiments.print_form import for_print
from ackclock.experiments.reproduction import ReproducedItem, item_folder

if TYPE_CHECKING:
    from ackclock.charts import Chart

HEADERS: Final = (
    "claim",
    "the paper",
    "ours",
    "95% interval",
    "verdict",
    "agrees if",
    "what it is",
    "note",
)
CLASSES: Final = {name: name for name in ("agrees", "partly", "differs", "reproduced", "identities", "diagram")} | {
    "not decided": "undecided"
}
Picture = Callable[[Item, str, "Chart"], bytes]


@dataclass(frozen=True)
class Look:
    """Choices of a report that all its items share.

    Parameters
    ----------
    form : str
        The form that was run.
    changed : bool
        Whether the user changed its scenarios: the record and its explanations then say nothing of it.
    picture : callable, optional
        A function that gives the bytes of a picture; without one they are links.
    """

    form: Form
    changed: bool = False
    picture: Picture | None = None


def paper_words(papers: Sequence[tuple[Paper, tuple[ReproducedItem, ...]]], look: Look) -> list[dict[str, Any]]:
    """Return what templates show of papers: each with its items, each of which has links to its neighbours."""
    found = []
    for paper, items in papers:
        words = [_item_words(one, look) for one in items]
        for before, after in pairwise(words):
            before["after"], after["before"] = after["id"], before["id"]
        about = {"id": paper.name, "name": paper.name, "title": paper.title, "readings": paper.readings}
        found.append({**about, "origin": f"{paper.authors}; {paper.source}.", "entries": words})
    return found


def counts_text(one: ReproducedItem) -> str:
    """Write how many rows of an item have each verdict."""
    counts = one.counts
    text = " / ".join(str(each) for each in counts.numbers()[:4]) if counts.rows else ""
    if counts.identities:
        text = f"{text}; identities {counts.identities_hold} of {counts.identities}".removeprefix("; ")
    return text


def why_text(one: ReproducedItem, look: Look) -> str:
    """Return the reason of a verdict; of a changed form what was found alone, as explanations are of the paper's."""
    return found_sentence(one) if look.changed else why(one, look.form)


def stored(out: Path) -> Picture:
    """Return what reads the pictures of items from their folders."""
    return lambda item, name, _: (item_folder(out, item) / f"{name}.png").read_bytes()


def drawn(_item: Item, _name: str, chart: "Chart") -> bytes:
    """Draw a chart."""
    from ackclock.plots import chart_picture  # noqa: PLC0415  half a second that other uses need not pay

    return chart_picture(for_print(chart)).png()


def _item_words(one: ReproducedItem, look: Look) -> dict[str, Any]:
    item, outcome = one.item, one.outcome
    heading = f"{item.name}: {item.title}"
    effort = f"{one.points} simulations, {one.packets:,} packets." if one.points else ""
    if one.made_by:
        effort = f"{effort} Reproduced by an earlier call, with ackclock {one.made_by}.".strip()
    return {
        "id": f"{item.paper}-{item.name}",
        "anchor": re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"),
        "folder": f"{item.paper}/{item.name}",
        "name": item.name,
        "title": item.title,
        "state": one.state,
        "css": CLASSES.get(one.state, ""),
        "counts": counts_text(one),
        "why": why_text(one, look),
        "rows": list(row_words(one)),
        "tables": list(outcome.tables.values()),
        "pictures": [_picture_words(item, name, chart, look) for name, chart in outcome.charts.items()],
        "notes": list(outcome.notes),
        "effort": effort,
        "before": "",
        "after": "",
    }


def _picture_words(item: Item, name: str, chart: "Chart", look: Look) -> dict[str, str]:
    content = "" if look.picture is None else base64.b64encode(look.picture(item, name, chart)).decode()
    return {"name": name, "title": chart.title, "content": content}


def row_words(reproduced: ReproducedItem) -> Iterator[dict[str, str]]:
    """Yield the cells of each number or claim: the paper's and ours, with interval and verdict."""
    for row in reproduced.item.expected:
        finding, judgement = reproduced.finding(row.key), reproduced.judgements[row.key]
        needs = f"to decide it: {judgement.needs}" if judgement.needs else ""
        judged = finding.judged(row.judged)
        yield {
            "claim": row.claim,
            "paper": number(row.paper, row),
            "ours": number(judged.value, row),
            "interval": _interval(judged),
            "verdict": judgement.verdict,
            "css": CLASSES[judgement.verdict],
            "criterion": f"{row.criterion} ({row.judged}): {row.reason}",
            "place": f"{row.where}; {row.kind}",
            "note": "; ".join(part for part in (_other(row, finding), finding.note, needs) if part),
        }


def _interval(found: Measure) -> str:
    known = isfinite(found.low) and isfinite(found.high) and found.high > found.low
    return f"{found.low:.4g} to {found.high:.4g}" if known else ""


def _other(row: Expected, finding: Finding) -> str:
    """Write the number that is not judged: the model's next to a simulated one, or the other way round."""
    other = "simulation" if row.judged == "model" else "model"
    text = number(finding.judged(other).value, row)
    return f"the {other}: {text}" if text else ""
