"""Each file of a crate's tests is part of the one program that they are: cargo finds none by itself."""

import re
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parents[1] / "crates").glob("*/tests/all.rs"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.parts[-3])
def test_no_file_of_rust_tests_is_left_out(program: Path) -> None:
    named = set(re.findall(r"^mod (\w+);$", program.read_text(encoding="utf-8"), re.MULTILINE))
    files = {path.stem for path in program.parent.glob("*.rs")} - {program.stem}
    assert files
    assert files <= named


def test_every_crate_with_tests_has_a_program() -> None:
    folders = {path.parent for path in PROGRAMS[0].parents[2].glob("*/tests/*.rs")}
    assert folders == {path.parent for path in PROGRAMS}
