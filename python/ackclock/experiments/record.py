"""A record of the verdicts, and the tables that README.md and the papers' pages make of it.

``python -m ackclock.experiments.record . results/papers`` reads the verdicts of a reproduction, quick and full, writes
them into each paper's ``record.csv``, and writes the tables of counts, items and rows in README.md and docs/papers
again. Without the second argument it writes the tables alone. A test compares the pages with the record, and the record
with the quick form.
"""

import csv
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Final

from ackclock.experiments.criteria import Counts, Expected
from ackclock.experiments.explanation import number
from ackclock.experiments.papers import FORMS, Form, Item, Paper, Recorded, papers, read_paper

BEGIN: Final = "<!-- verdicts: written by python -m ackclock.experiments.record -->"
END: Final = "<!-- end of the verdicts -->"
_PACKAGE: Final = Path("python/ackclock/experiments")
_COUNTS: Final = ("paper", "form", "agree", "partly", "differ", "not decided", "identities that hold")
_DIGITS: Final = 6


def update_record(root: Path, verdicts: Path) -> None:
    """Write the verdicts of a reproduction into the records of its papers.

    Parameters
    ----------
    root : Path
        The repository.
    verdicts : Path
        The file verdicts.csv of a reproduction.
    """
    with verdicts.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for name in sorted({row["paper"] for row in rows}):
        own = {(row["item"], row["key"]): row for row in rows if row["paper"] == name}
        _write_record(root / _PACKAGE / name / "record.csv", read_paper(name), own)
    read_paper.cache_clear()


def _write_record(path: Path, paper: Paper, found: Mapping[tuple[str, str], Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["item", "key", *(text for form in FORMS for text in (form, f"{form}_value"))])
        for item in paper.items:
            for row in item.expected:
                new = found.get((item.name, row.key))
                cells = [cell for form in FORMS for cell in _cells(item, row, form, new)]
                writer.writerow([item.name, row.key, *cells])


def _cells(item: Item, row: Expected, form: Form, new: Mapping[str, str] | None) -> tuple[str, str]:
    if new is not None and new["form"] == form:
        return new["verdict"], f"{float(new[row.judged] or 'nan'):.{_DIGITS}g}"
    known = item.record.get(form, {}).get(row.key)
    return (known.verdict, f"{known.value:.{_DIGITS}g}") if known else ("", "")


def with_block(text: str, lines: Sequence[str]) -> str:
    """Return a page with its block of verdicts replaced.

    Raises
    ------
    ValueError
        If the page has no such block.
    """
    block = "\n".join([BEGIN, "", *lines, "", END])
    found, count = re.subn(rf"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: block, text, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"the page has {count} blocks of verdicts; allowed 1, between {BEGIN} and {END}")
    return found


def pages(root: Path) -> dict[Path, str]:
    """Return README.md and the papers' pages, with their tables as the record has them."""
    known = papers()
    blocks: dict[Path, list[str]] = {root / "README.md": list(counts_table(known))}
    for paper in known:
        page = root / "docs" / "papers" / f"{paper.name.replace('_', '-')}.md"
        blocks[page] = [*counts_table([paper]), "", *_items_table(paper), "", *_rows_table(paper)]
    return {path: with_block(path.read_text(encoding="utf-8"), lines) for path, lines in blocks.items()}


def counts_table(listed: Sequence[Paper]) -> Iterator[str]:
    """Write how many rows of each paper have each verdict, in each form on record."""
    yield from _head(_COUNTS)
    for form in FORMS:
        totals = [(paper.name, sum((item.counts(form) for item in paper.items), Counts())) for paper in listed]
        recorded = [(name, counts) for name, counts in totals if counts.rows + counts.identities]
        for name, counts in recorded:
            yield _counts_row(name, form, counts)
        if len(recorded) > 1 and len(recorded) == len(listed):
            yield _counts_row("all", form, sum((counts for _, counts in recorded), Counts()))


def _counts_row(name: str, form: Form, counts: Counts) -> str:
    identities = f"{counts.identities_hold} of {counts.identities}"
    return _line([name.replace("_", " "), form, *(str(each) for each in counts.numbers()[:4]), identities])


def _items_table(paper: Paper) -> Iterator[str]:
    yield from _head(("item", "what", "quick", "full", "what is known"))
    for item in paper.items:
        yield _line([item.name, item.title, item.state, item.state_of("full") or "not run", item.why])


def _rows_table(paper: Paper) -> Iterator[str]:
    yield "The rows that do not agree in one of the forms:\n"
    yield from _head(("item", "claim", "the paper", "quick", "full"))
    for item in paper.items:
        for row in item.expected:
            found = [item.record.get(form, {}).get(row.key) for form in FORMS]
            if any(one is not None and one.verdict != "agrees" for one in found):
                yield _line([item.name, row.claim, number(row.paper, row), *(_found(one, row) for one in found)])


def _found(found: Recorded | None, row: Expected) -> str:
    if found is None:
        return "not run"
    return f"{found.verdict}: {number(found.value, row)}" if isfinite(found.value) else found.verdict


def _head(names: Sequence[str]) -> list[str]:
    return [_line(names), f"|{'---|' * len(names)}"]


def _line(cells: Sequence[str]) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def main(root: Path, out: Path | None) -> None:
    """Update the record from a reproduction's folder, if one is given, with each form that is in it; write the pages.

    Raises
    ------
    FileNotFoundError
        If the folder holds no form's verdicts.
    """
    if out is not None:
        found = [path for form in FORMS if (path := out / form / "verdicts.csv").is_file()]
        if not found:
            raise FileNotFoundError(f"{out} holds no quick/verdicts.csv and no full/verdicts.csv")
        for path in found:
            update_record(root, path)
    for path, text in pages(root).items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
