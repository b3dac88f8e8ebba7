"""Product files and functions are short: a file holds one thing, and a function is read at once.

Clippy holds the functions of Rust (`too-many-lines-threshold` in clippy.toml). Those of Python are counted in the same
way: the lines of the body without its docstring, comments and blank lines.
"""

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 40
PYTHON = ("python/**/*.py", "crosscheck/**/*.py", "benches/**/*.py", "fuzz/campaign/*.py")
RUST = ("crates/*/src/**/*.rs", "fuzz/src/**/*.rs", "fuzz/fuzz_targets/*.rs", "benches/*.rs")
_NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def sources(pattern: str) -> Iterator[tuple[str, str]]:
    """Give name and text of each file."""
    paths = sorted(ROOT.glob(pattern))
    assert paths, f"no file is like {pattern}"
    for path in paths:
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def lengths(source: str) -> Iterator[tuple[str, int, int]]:
    """Give name, line and length of each function."""
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type not in _NOT_CODE]
    code = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documented = ast.get_docstring(node) is not None
            body = [line for part in node.body[documented:] for line in range(part.lineno, (part.end_lineno or 0) + 1)]
            yield node.name, node.lineno, len(code.intersection(body))


@pytest.mark.parametrize("pattern", [*PYTHON, *RUST])
def test_files_are_short(pattern: str) -> None:
    found = [(file, len(text.splitlines())) for file, text in sources(pattern)]
    long = [f"{file}: {lines} lines" for file, lines in found if lines > MOST_LINES_OF_A_FILE]
    assert not long, "\n".join(long)


@pytest.mark.parametrize("pattern", PYTHON)
def test_functions_are_short(pattern: str) -> None:
    long = [
        f"{file}:{line}: {name}: {length} lines"
        for file, text in sources(pattern)
        for name, line, length in lengths(text)
        if length > MOST_LINES_OF_A_FUNCTION
    ]
    assert not long, "\n".join(long)


SAMPLE = '''
def outer(
    first: int,
) -> int:
    """Count.

    A second paragraph.
    """
    # A comment.
    def inner() -> str:
        return """
        two
        """

    return len(
        inner()
    )

def empty() -> None:
    """Do nothing."""
'''


def test_the_length_of_a_function_is_its_lines_of_code() -> None:
    assert sorted(lengths(SAMPLE)) == [("empty", 19, 0), ("inner", 10, 3), ("outer", 2, 7)]
