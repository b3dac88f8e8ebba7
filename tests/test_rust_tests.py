"""Each file of a crate's tests is part of a module of the crate: cargo finds none of them by itself."""

import re
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[1] / "crates"
PROGRAMS = sorted(CRATES.glob("*/tests/all.rs"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.parts[-3])
def test_no_file_of_rust_tests_is_left_out(program: Path) -> None:
    named = set(re.findall(r"^mod (\w+);$", program.read_text(encoding="utf-8"), re.MULTILINE))
    files = {path.stem for path in program.parent.glob("*.rs")} - {program.stem}
    assert files
    assert files <= named


def test_every_crate_with_tests_has_them_as_a_module() -> None:
    folders = {path.parent for path in CRATES.glob("*/tests/*.rs")}
    assert folders == {path.parent for path in PROGRAMS}
    for program in PROGRAMS:
        crate = program.parents[1]
        assert '#[path = "../tests/all.rs"]\nmod outside;' in (crate / "src/lib.rs").read_text(encoding="utf-8")


def test_no_comment_has_an_example_that_nobody_runs() -> None:
    """`make test` runs no examples of doc comments: a unit test says the same, and is compiled with the others."""
    opened = re.compile(r"(?s)^ *//[/!] ```(\w*)\n(?:(?! *//[/!] ```).)*? *//[/!] ```$", re.MULTILINE)
    kinds = {kind for path in CRATES.rglob("*.rs") for kind in opened.findall(path.read_text(encoding="utf-8"))}
    assert kinds == {"text"}
