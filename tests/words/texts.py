"""The prose of source files: comments, doc comments and messages, without the marks around them."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Kind = Literal["doc", "comment", "message"]

# A character literal is matched so that a quote in it does not begin a string.
_RUST = re.compile(
    r"""(?P<comment>//[^\n]*)
    | \br(?P<hash>\#*)"(?P<raw>.*?)"(?P=hash)
    | "(?P<string>(?:[^"\\]|\\.)*)"
    | '(?:[^'\\]|\\[^']*)'
    """,
    re.DOTALL | re.VERBOSE,
)
_RUST_BOOL_FIELD = re.compile(r"(?:pub(?:\([a-z]+\))? )?\w+: (?:Option<)?bool\b")


@dataclass(frozen=True)
class Text:
    """A piece of prose and where it is."""

    line: int
    kind: Kind
    prose: str
    of_bool: bool = False
    """Whether the prose describes a field that is true or false."""


def rust_texts(source: str) -> Iterator[Text]:
    """Give the comments, the doc comments and the messages of a Rust file."""
    comments = []
    for match in _RUST.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        if match["comment"]:
            comments.append((line, match["comment"]))
        elif match["raw"] is not None or match["string"] is not None:
            # A backslash at the end of a line joins it with the next one.
            prose = match["raw"] or re.sub(r"\\\n\s*", "", match["string"] or "")
            if _is_message(prose):
                yield Text(line, "message", prose)
    lines = source.splitlines()
    for first, last, mark, prose in _blocks(comments, ("///", "//!", "//")):
        if mark == "//":
            yield Text(first, "comment", prose)
        else:
            described = next((text.strip() for text in lines[last:] if not text.strip().startswith("#[")), "")
            yield Text(first, "doc", prose, of_bool=bool(_RUST_BOOL_FIELD.match(described)))


def python_texts(source: str) -> Iterator[Text]:
    """Give the comments, the docstrings and the messages of a Python file."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
    for first, _, _, prose in _blocks(comments, ("#",)):
        yield Text(first, "comment", prose)
    tree = ast.parse(source)
    docstrings = {}
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for before, statement in pairwise([node, *body]):
            if isinstance(statement, ast.Expr) and _string(statement.value) is not None:
                docstrings[statement.value] = isinstance(before, ast.AnnAssign) and (
                    "bool" in ast.unparse(before.annotation).lower()
                )
    yield from _python_strings(tree, docstrings)


def _python_strings(node: ast.AST, docstrings: dict[ast.expr, bool]) -> Iterator[Text]:
    if isinstance(node, ast.expr) and (prose := _string(node)) is not None:
        if node in docstrings:
            yield Text(node.lineno, "doc", prose, of_bool=docstrings[node])
        elif _is_message(prose):
            yield Text(node.lineno, "message", prose)
        if isinstance(node, ast.Constant):
            return
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)):
            yield from _python_strings(child, docstrings)


def _string(node: ast.expr) -> str | None:
    """Give the text of a literal, with `{}` for what is filled in; None for any other expression."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_string(part) or "{}" for part in node.values)
    return None


def markdown_texts(source: str) -> Iterator[Text]:
    """Give the paragraphs and the rows of tables of a Markdown page."""
    line = 1
    for paragraph in source.split("\n\n"):
        for offset, row in enumerate(paragraph.split("\n|")):
            yield Text(line + offset, "comment", row)
        line += paragraph.count("\n") + 2


def _is_message(prose: str) -> bool:
    return len(re.findall(r"[A-Za-z]{2,}", prose)) > 1 and " " in prose.strip()


def _blocks(comments: list[tuple[int, str]], marks: tuple[str, ...]) -> Iterator[tuple[int, int, str, str]]:
    """Join comments of one mark on successive lines: first and last line, mark, prose."""
    block: list[str] = []
    first = last = 0
    found = ""
    for line, comment in comments:
        mark = next(mark for mark in marks if comment.startswith(mark))
        if block and (mark != found or line != last + 1):
            yield first, last, found, "\n".join(block)
            block = []
        if not block:
            first = line
        found, last = mark, line
        block.append(comment[len(mark) :].strip())
    if block:
        yield first, last, found, "\n".join(block)
