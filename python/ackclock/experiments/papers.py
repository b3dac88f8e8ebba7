"""The papers: which items each has, and what it says of them. Data, read from the papers' folders."""

import csv
import io
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from math import nan
from typing import Final, Literal, cast

from ackclock.errors import Fault, SweepError
from ackclock.experiments.criteria import KINDS, Counts, Expected, Verdict, check_criterion, count, item_verdict
from ackclock.experiments.frame import PACKAGE

Form = Literal["quick", "full"]
FORMS: Final[tuple[Form, ...]] = ("quick", "full")
STATES: Final = {
    "agrees": "reproduced",
    "partly": "partly",
    "differs": "differs",
    "not decided": "not decided",
    "identity": "identities",
    "diagram": "diagram",
}
"""Words for the verdict on an item."""


@dataclass(frozen=True)
class Recorded:
    """The finding of one form of the reproduction on a row when the record was written.

    Parameters
    ----------
    verdict : str
        The verdict.
    value : float
        The number that was compared with the paper's.
    """

    verdict: Verdict
    value: float


@dataclass(frozen=True)
class Item:
    """A figure, a table, or numbers of a section.

    Parameters
    ----------
    paper, name, title : str
        Whose, which, what it shows.
    why : str
        What is known of it and why, written for the quick form on record.
    module : str
        Its module in the paper's folder; empty for a diagram.
    expected : tuple of Expected
        The paper's numbers and claims.
    drawing : str
        Module of a diagram that is drawn from runs, with nothing to judge; else empty.
    record : mapping of str to mapping of str to Recorded
        What was found when the record was written, by form and key; a form that was not run has none.
    """

    paper: str
    name: str
    title: str
    why: str
    module: str
    expected: tuple[Expected, ...]
    drawing: str = ""
    record: Mapping[Form, Mapping[str, Recorded]] = field(default_factory=dict, compare=False)

    @property
    def state(self) -> str:
        """The verdict on record, in the quick form; "diagram" if there is nothing to compute."""
        return self.state_of("quick")

    def state_of(self, form: Form) -> str:
        """Return the verdict on record of a form, or "" if that form has none."""
        rows = self.rows(form)
        if not self.module:
            return STATES["diagram"]
        return STATES[item_verdict(rows)] if rows else ""

    @property
    def maker(self) -> str:
        """Module that makes the item; empty if nothing is made of it."""
        return self.module or self.drawing

    @property
    def shares(self) -> set[str]:
        """Keys of the rows whose finding is a fraction of cases."""
        return {row.key for row in self.expected if row.of_share()}

    def rows(self, form: Form) -> list[tuple[str, Verdict]]:
        """Return kind and verdict of each row on record."""
        recorded = self.record.get(form, {})
        return [(row.kind, recorded[row.key].verdict) for row in self.expected if row.key in recorded]

    def counts(self, form: Form) -> Counts:
        """Count the verdicts on record."""
        return count(self.rows(form))


@dataclass(frozen=True)
class Paper:
    """A paper.

    Parameters
    ----------
    name, title, authors, source : str
        What it is.
    readings : tuple of str
        How points are read that it leaves open.
    items : tuple of Item
        All its figures and tables, in its order.
    """

    name: str
    title: str
    authors: str
    source: str
    readings: tuple[str, ...]
    items: tuple[Item, ...]


def papers() -> list[Paper]:
    """Read all papers, by name."""
    folders = (entry for entry in files(PACKAGE).iterdir() if entry.joinpath("paper.toml").is_file())
    return [read_paper(name) for name in sorted(entry.name for entry in folders)]


@lru_cache
def read_paper(name: str) -> Paper:
    """Read a paper's folder: paper.toml, expected.csv."""
    folder = files(PACKAGE).joinpath(name)
    content = tomllib.loads(folder.joinpath("paper.toml").read_text(encoding="utf-8"))
    expected = _expected(folder.joinpath("expected.csv").read_text(encoding="utf-8"))
    recorded = _recorded(folder.joinpath("record.csv"))
    names = [item["name"] for item in content["item"]]
    stray = {row.item for row in expected} - set(names)
    if stray:
        raise SweepError(Fault(f"{name}/expected.csv", "names unknown items", ", ".join(stray), ", ".join(names)))
    items = (
        Item(
            paper=name,
            name=item["name"],
            title=item["title"],
            why=item["why"],
            module=item.get("module", ""),
            expected=tuple(row for row in expected if row.item == item["name"]),
            drawing=item.get("drawing", ""),
            record=recorded.get(item["name"], {}),
        )
        for item in content["item"]
    )
    readings = tuple(content.get("readings", ()))
    return Paper(name, content["title"], content["authors"], content["source"], readings, tuple(items))


def _expected(text: str) -> list[Expected]:
    rows = csv.DictReader(io.StringIO(text))
    found = [
        Expected(paper=float(row.pop("paper") or nan), **{name: str(value) for name, value in row.items()})
        for row in rows
    ]
    for row in found:
        check_criterion(row.criterion)
        if row.kind not in KINDS:
            raise SweepError(
                Fault(f"expected.csv, {row.item}, {row.key}, kind", "is unknown", row.kind, ", ".join(KINDS))
            )
    return found


def _recorded(path: Traversable) -> dict[str, dict[Form, dict[str, Recorded]]]:
    found: dict[str, dict[Form, dict[str, Recorded]]] = {}
    if not path.is_file():
        return found
    for row in csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))):
        for form in FORMS:
            if row[form]:
                record = Recorded(cast("Verdict", row[form]), float(row[f"{form}_value"] or nan))
                found.setdefault(row["item"], {}).setdefault(form, {})[row["key"]] = record
    return found
