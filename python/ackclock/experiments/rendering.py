"""Fills the report's templates: the only importer of jinja2. Every value is escaped for its format."""

import re
from functools import lru_cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ackclock.experiments.side_by_side import shown

_OF_MARKDOWN: Final = re.compile(r"([\\`*<\[\]|]|(?<!\w)_|_(?!\w)|~(?=~))")
_OF_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "{''}",
    "-": "-{}",
    "\n": " ",
    "±": r"\ensuremath{\pm}",
    "\u00d7": r"\ensuremath{\times}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "\u2212": r"\ensuremath{-}",
}


def rendered(template: str, **values: Any) -> str:
    """Fill a template.

    Parameters
    ----------
    template : str
        Its file name, whose ending names the format: .html, .md or .tex before .j2.
    values : object
        What it shows.
    """
    text: str = _environment(template.removesuffix(".j2").rpartition(".")[2]).get_template(template).render(values)
    return text.rstrip() + "\n"


def markdown_text(value: object) -> str:
    r"""Escape what Markdown would read as its own signs, in one line.

    Examples
    --------
    >>> print(markdown_text("a | b_c < *d*"))
    a \| b_c \< \*d\*
    """
    return _OF_MARKDOWN.sub(r"\\\1", " ".join(str(value).split()))


def latex_text(value: object) -> str:
    r"""Escape what LaTeX would read as its own signs.

    Examples
    --------
    >>> print(latex_text("5% of w_m & 10^2"))
    5\% of w\_m \& 10\textasciicircum{}2
    """
    return "".join(_OF_LATEX.get(letter, letter) for letter in str(value))


@lru_cache
def _environment(ending: str) -> Environment:
    usual: dict[str, Any] = {"loader": PackageLoader("ackclock.experiments", "templates"), "undefined": StrictUndefined}
    if ending == "html":
        made = Environment(autoescape=True, **usual)
    elif ending == "md":
        made = Environment(autoescape=False, finalize=_unless_marked(markdown_text), **usual)  # noqa: S701  not HTML
    else:
        signs: dict[str, Any] = {"block_start_string": "<%", "block_end_string": "%>", "comment_start_string": "<#"}
        signs |= {"variable_start_string": "<<", "variable_end_string": ">>", "comment_end_string": "#>"}
        made = Environment(autoescape=False, finalize=_unless_marked(latex_text), **signs, **usual)  # noqa: S701
    made.filters["number"] = shown
    return made


def _unless_marked(escape: Any) -> Any:
    """Escape all values except those that a template marks as finished."""
    return lambda value: value if isinstance(value, Markup) else Markup(escape(value))  # noqa: S704
