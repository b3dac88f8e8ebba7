"""An index of the papers: where each numbered equation, theorem, lemma, table and figure is.

``python -m ackclock.experiments.paper_index docs/papers`` writes ``index.md`` there from the docstrings of the models,
the items of the experiments, and ``KEY.toml`` in the same folder, which lists the numbers of a paper. A test compares.
"""

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Final

from ackclock import models
from ackclock.experiments.papers import Item, read_paper
from ackclock.models.citations import Place, citations, references

_HEAD: Final = """\
# Where the papers' equations, theorems, tables and figures are

Made from the docstrings of `ackclock.models`, the items of `ackclock.experiments` and the lists of numbers in the
folder of this page, by `python -m ackclock.experiments.paper_index docs/papers`; a test compares. Citations such as
`[engset, eq. 13]` in docstrings and comments name these numbers.
"""
_MODELS: Final = Path(models.__file__).parent


@dataclass(frozen=True)
class Numbers:
    """The numbers of a paper.

    Parameters
    ----------
    key : str
        The paper's key in citations.
    sections, footnotes, figures, tables : tuple of str
        Their numbers.
    formulas : mapping of str to str
        Subject of each numbered equation, theorem, lemma and remark.
    without : mapping of str to str
        Reason of each of these that has no function.
    missing : mapping of str to str
        What the paper has without a number and the models lack, and the fact.
    """

    key: str
    sections: tuple[str, ...]
    footnotes: tuple[str, ...]
    figures: tuple[str, ...]
    tables: tuple[str, ...]
    formulas: Mapping[str, str]
    without: Mapping[str, str]
    missing: Mapping[str, str]

    @property
    def places(self) -> set[str]:
        """All places that a citation may name."""
        kinds = {"section": self.sections, "footnote": self.footnotes, "figure": self.figures, "table": self.tables}
        return {str(Place(kind, number)) for kind, numbers in kinds.items() for number in numbers} | set(self.formulas)

    def reason(self, place: str) -> str:
        """Return why no function has a place."""
        return f"no function: {self.without.get(place, 'no reason is given')}"

    @property
    def items(self) -> dict[str, Item]:
        """The experiments' items by place, such as ``figure 4``."""
        paper = read_paper(self.key.replace("-", "_"))
        return {item.name.replace("-", " ", 1): item for item in paper.items}


def read_numbers(path: Path) -> Numbers:
    """Read a paper's ``KEY.toml``."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in content.items()
    }
    return Numbers(path.stem, **fields)


def all_numbers(folder: Path) -> dict[str, Numbers]:
    """Read the numbers of all papers, by key."""
    return {path.stem: read_numbers(path) for path in sorted(folder.glob("*.toml"))}


def functions_by_place() -> dict[tuple[str, str], list[str]]:
    """Find the functions and classes of the models that cite a place of a paper, the public ones if there are any.

    Returns
    -------
    dict of tuple to list of str
        Names by key and place. A public name is that in the package, another one that in its module.
    """
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    names: set[str] = set()
    for package in models.__all__:
        public = set(import_module(f"ackclock.models.{package}").__all__)
        for path in sorted((_MODELS / package).glob("*.py")):
            for name, text in docstrings(path):
                label = f"{package}.{name}" if name in public else f"{package}.{path.stem}.{name}"
                names.update({label} if name in public else ())
                for key, places in citations(text) if name else ():
                    for place in places:
                        if label not in found[key, str(place)]:
                            found[key, str(place)].append(label)
    return {place: [label for label in labels if label in names] or labels for place, labels in found.items()}


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the docstrings of a module, each with the function or class that has it; the module's has no name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield "", ast.get_docstring(tree) or ""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, ast.get_docstring(node) or ""
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    yield f"{node.name}.{method.name}", ast.get_docstring(method) or ""


def page(folder: Path) -> str:
    """Return the index page."""
    functions = functions_by_place()
    papers = (_paper(numbers, functions) for numbers in all_numbers(folder).values())
    return "\n".join([_HEAD, *chain.from_iterable(papers)])


def _paper(numbers: Numbers, functions: Mapping[tuple[str, str], list[str]]) -> Iterator[str]:
    yield f"## {numbers.key}\n"
    yield f"{references()[numbers.key]}: [its page]({numbers.key}.md).\n"
    yield "| number | subject | where |"
    yield "|---|---|---|"
    for place, subject in numbers.formulas.items():
        where = _code(functions.get((numbers.key, place), []))
        yield f"| {place} | {subject} | {where or numbers.reason(place)} |"
    items = numbers.items
    for kind, listed in (("figure", numbers.figures), ("table", numbers.tables)):
        for number in listed:
            item = items[f"{kind} {number}"]
            where = _code([*_reproduction(item), *functions.get((numbers.key, f"{kind} {number}"), [])])
            yield f"| {kind} {number} | {item.title} | {where or item.why} |"
    if numbers.missing:
        yield "\nNot implemented yet, and without a number in the paper:\n"
        yield from (f"- {subject}: {fact}." for subject, fact in numbers.missing.items())
    yield ""


def _reproduction(item: Item) -> list[str]:
    return [f"ackclock reproduce {item.paper}/{item.name}"] if item.maker else []


def _code(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    directory = Path(sys.argv[1])
    (directory / "index.md").write_text(page(directory), encoding="utf-8")
