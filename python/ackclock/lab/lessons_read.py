"""The lessons: a folder each, with a text, a scenario, what to try, and questions with answers."""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from ackclock.errors import Fault, ScenarioError

FOLDER: Final = Path(__file__).with_name("lessons")
"""The folder that holds them."""


@lru_cache(maxsize=1)
def lesson_names() -> tuple[str, ...]:
    """Name all lessons, in the order in which they are taught."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob("*/text.md")))


def lesson(name: str) -> dict[str, Any]:
    """Read a lesson.

    Parameters
    ----------
    name : str
        The name of its folder.

    Returns
    -------
    dict
        Its `title`, its `text` as HTML, its `scenario` as TOML; `try`, a list of steps, each with a `text` and the
        fields that it changes (`set`); `questions`, each with its `answer`, as HTML.

    Raises
    ------
    ScenarioError
        If there is no such lesson.
    """
    if name not in lesson_names():
        raise ScenarioError(
            [Fault("lesson", "there is no such lesson", name[:60], ", ".join(lesson_names()))], "lesson"
        )
    folder = FOLDER / name
    steps = tomllib.loads((folder / "lesson.toml").read_text(encoding="utf-8"))
    text = (folder / "text.md").read_text(encoding="utf-8")
    title, _, rest = text.partition("\n")
    return {
        "name": name,
        "title": title.lstrip("# ").strip(),
        "text": as_html(rest),
        "scenario": (folder / "scenario.toml").read_text(encoding="utf-8"),
        "try": [{"text": as_html(one["text"]), "set": one["set"]} for one in steps["try"]],
        "questions": [
            {"question": as_html(one["question"]), "answer": as_html(one["answer"])} for one in steps["question"]
        ],
    }


def lesson_path(name: str) -> Path:
    """Give the file of a lesson's scenario."""
    return FOLDER / name / "scenario.toml"


def lesson_titles() -> dict[str, str]:
    """Give the title of each lesson by its name."""
    return {name: _title(FOLDER / name / "text.md") for name in lesson_names()}


def as_html(text: str) -> str:
    """Write Markdown as HTML; HTML within it is shown as text."""
    return str(_markdown().render(text))


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().lstrip("# ").strip()


@lru_cache(maxsize=1)
def _markdown() -> Any:
    from markdown_it import MarkdownIt  # noqa: PLC0415  needed when a lesson is opened

    return MarkdownIt("commonmark", {"html": False}).enable("table")
