"""The ready scenarios, which come with the package and are known by name."""

import tomllib
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "scenarios"
"""The folder that holds them, a TOML file each."""


def ready_names() -> tuple[str, ...]:
    """Name all ready scenarios, in the order of the alphabet."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def ready_files() -> tuple[str, ...]:
    """Name the files that ready scenarios name: they lie in the same folder."""
    return tuple(sorted(path.name for path in FOLDER.glob("*.trace")))


def ready_titles() -> dict[str, str]:
    """Give the title of each ready scenario by its name."""
    return {name: str(tomllib.loads(ready_path(name).read_text(encoding="utf-8"))["title"]) for name in ready_names()}


def ready_path(name: str) -> Path:
    """Give the file of a ready scenario."""
    return FOLDER / f"{name}.toml"
