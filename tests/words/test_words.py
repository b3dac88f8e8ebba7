"""Comments, docstrings and messages use the words of docs/words.md."""

from pathlib import Path

import pytest

from words.rules import Rules, faults, read_rules
from words.texts import Text, markdown_texts, python_texts, rust_texts

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "words.md"
READERS = {".rs": rust_texts, ".py": python_texts, ".md": markdown_texts}
HELD = ("crates/**/*.rs", "fuzz/**/*.rs", "tests/words/*.py", "docs/words.md")
"""The files that are held to the rules."""


def rules() -> Rules:
    return read_rules(PAGE.read_text(encoding="utf-8"))


def found(pattern: str) -> list[str]:
    """List the faults of files as `file:line: kind: what is wrong`."""
    page = rules()
    lines = []
    for path in sorted(ROOT.glob(pattern)):
        file = path.relative_to(ROOT).as_posix()
        for text in READERS[path.suffix](path.read_text(encoding="utf-8")):
            lines += [f"{file}:{text.line}: {text.kind}: {fault}" for fault in faults(text, file, page)]
    return lines


@pytest.mark.parametrize("pattern", HELD)
def test_the_words_are_those_of_the_page(pattern: str) -> None:
    assert not (lines := found(pattern)), "\n".join(["see docs/words.md", *lines])
