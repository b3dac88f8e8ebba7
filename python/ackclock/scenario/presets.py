"""The presets of TCP, as text; they are scenario tables like the user's own."""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any


@lru_cache(maxsize=1)
def preset_tables() -> Mapping[str, dict[str, Any]]:
    """Read all presets.

    Returns
    -------
    mapping of str to dict
        For each preset its `summary` and its complete TCP table.
    """
    return tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))


def preset_names() -> tuple[str, ...]:
    """Name all presets.

    Returns
    -------
    tuple of str
        The names, in the order of presets.toml.

    Examples
    --------
    >>> "tahoe-ns2" in preset_names()
    True
    """
    return tuple(preset_tables())
