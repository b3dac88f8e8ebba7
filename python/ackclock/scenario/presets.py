"""The presets of TCP, as text; they are scenario tables like the user's own."""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ackclock.errors import Fault, ScenarioError
from ackclock.scenario.dialects import ruled
from ackclock.scenario.machines import MACHINES
from ackclock.scenario.suggestions import did_you_mean

FILE = "presets.toml"


@lru_cache(maxsize=1)
def preset_tables() -> Mapping[str, dict[str, Any]]:
    """Read all presets.

    Returns
    -------
    mapping of str to dict
        For each preset its `summary` and its complete TCP table; by the RFCs with their rules (`dialects.RULES`).
    """
    tables = inherited(tomllib.loads(Path(__file__).with_name(FILE).read_text(encoding="utf-8")))
    return {name: ruled(table, "rfc") if _is_by_the_rfcs(table) else table for name, table in tables.items()}


def _is_by_the_rfcs(table: Mapping[str, Any]) -> bool:
    return table["dialect"] == "rfc" and table["recovery"] in MACHINES["selective"].recovery


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


def inherited(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Complete each preset with the fields, and the fields of tables, of the preset that it `extends`.

    Parameters
    ----------
    tables : mapping of str to mapping
        The presets as they are written.

    Returns
    -------
    dict of str to dict
        The same presets without `extends`. A `summary` is not inherited.

    Raises
    ------
    ScenarioError
        If a preset extends an unknown one, or itself by way of others.

    Examples
    --------
    >>> parent = {"k": 4, "rto": {"min": "1 s", "max": "60 s"}}
    >>> inherited({"parent": parent, "child": {"extends": "parent", "rto": {"min": "0 s"}}})["child"]
    {'k': 4, 'rto': {'min': '0 s', 'max': '60 s'}}
    """
    return {name: _completed(tables, name, ()) for name in tables}


def _completed(tables: Mapping[str, Mapping[str, Any]], name: str, heirs: tuple[str, ...]) -> dict[str, Any]:
    own = dict(tables[name])
    parent = own.pop("extends", None)
    if parent is None:
        return own
    if parent not in tables:
        raise _refused(name, "unknown preset", parent, ", ".join(tables), did_you_mean(str(parent), tables))
    if parent in (name, *heirs):
        raise _refused(name, "leads back to this preset", parent, "a preset that does not extend this one")
    base = _completed(tables, parent, (name, *heirs))
    base.pop("summary", None)
    return _merged(base, own)


def _merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    tables = {key: _merged(base[key], value) for key, value in own.items() if isinstance(base.get(key), dict)}
    return {**base, **own, **tables}


def _refused(name: str, problem: str, parent: object, allowed: str, hint: str | None = None) -> ScenarioError:
    return ScenarioError([Fault(f'preset "{name}", field extends', problem, f'"{parent}"', allowed, hint)], FILE)
