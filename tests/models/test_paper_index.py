"""Citations name what the papers have, and every number of a paper has a place or a reason."""

import re
from pathlib import Path

import pytest

from ackclock.experiments import paper_index
from ackclock.experiments.papers import papers
from ackclock.models.citations import citations, references

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "papers"
NUMBERS = paper_index.all_numbers(FOLDER)
FUNCTIONS = paper_index.functions_by_place()
CITING = [
    path
    for pattern in ("python/**/*.py", "python/**/*.toml", "tests/**/*.py", "scenarios/*.toml", "docs/*.md")
    for path in sorted(ROOT.glob(pattern))
    if path != Path(__file__)  # the wrong citations below
]


def prose(path: Path) -> str:
    """Read a file with its comments and docstrings joined to one line, so that no citation is broken."""
    return re.sub(r"\n\s*(#:? ?)?", " ", path.read_text(encoding="utf-8"))


def test_the_index_is_up_to_date() -> None:
    found = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert found == paper_index.page(FOLDER), "run: python -m ackclock.experiments.paper_index docs/papers"


def test_every_citation_names_what_the_paper_has() -> None:
    unknown = [
        f"{path.relative_to(ROOT)}: [{key}, {place}]"
        for path in CITING
        for key, places in citations(prose(path))
        for place in places
        if key in NUMBERS and str(place) not in NUMBERS[key].places
    ]
    assert not unknown


def test_the_papers_that_are_cited_are_known() -> None:
    assert set(NUMBERS) <= set(references())
    assert {key for key, _ in FUNCTIONS} <= set(references())


@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=list(NUMBERS))
def test_every_formula_has_a_function_or_a_reason_and_not_both(numbers: paper_index.Numbers) -> None:
    placed = {place for place in numbers.formulas if (numbers.key, place) in FUNCTIONS}
    assert placed | set(numbers.without) == set(numbers.formulas)
    assert not placed & set(numbers.without)


@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=list(NUMBERS))
def test_every_figure_and_table_is_an_item_of_the_experiments(numbers: paper_index.Numbers) -> None:
    listed = {f"figure {number}" for number in numbers.figures} | {f"table {number}" for number in numbers.tables}
    items = {place for place in numbers.items if place.startswith(("figure ", "table "))}
    assert listed == items


def test_experiments_and_references_agree_on_the_papers() -> None:
    known = references()
    for paper in papers():
        assert known[paper.name.replace("_", "-")].startswith(f"{paper.authors}: {paper.title}")


@pytest.mark.parametrize("text", ["[engset, 13]", "[engset, eq. thirteen]", "[two-way, proof of lemma 3]"])
def test_a_citation_in_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no kind of place|is not a number"):
        citations(text)
