"""Changing single fields of a scenario's text, with its comments and its layout."""

import tomllib
from collections.abc import Mapping, MutableMapping
from dataclasses import replace
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from ackclock.scenario.override import location_of, overridden
from ackclock.scenario.ready import FOLDER
from ackclock.scenario.source import Location, Source, read_source


def source_of(text: str) -> Source:
    """Read a text as TOML, never as the name of a file; files that it names lie with the ready scenarios.

    Parameters
    ----------
    text : str
        The scenario as the page holds it.

    Raises
    ------
    ScenarioError
        If it is not TOML.
    """
    return replace(read_source(text if "\n" in text else f"{text}\n"), folder=FOLDER)


def edited(text: str, changes: Mapping[str, Any]) -> str:
    r"""Change fields of a scenario's text.

    Parameters
    ----------
    text : str
        The scenario, which may have faults but must be TOML.
    changes : mapping of str to object
        A value for each dotted path such as "link.line.rate"; None removes the field, so that its default is back.

    Returns
    -------
    str
        The same text with these fields changed. Its comments stay, except within a value that is replaced.

    Raises
    ------
    ScenarioError
        If the text is not TOML, or a path leads nowhere.

    Examples
    --------
    >>> edited('[run]\nduration = "1 s"  # short\n', {"run.duration": "2 s"})
    '[run]\nduration = "2 s"  # short\n'
    """
    source = source_of(text)
    set_ = {key: value for key, value in changes.items() if value is not None}
    locations = {key: location_of(source, key) for key in changes}
    wanted = overridden(source, set_).document
    for key, location in locations.items():
        if changes[key] is None:
            _remove(wanted, location)
    try:
        document = tomlkit.parse(source.text or "")
        for location in locations.values():
            _change(document, location, wanted)
        found = tomlkit.dumps(document)
        if tomllib.loads(found) == wanted:
            return found
    except (TOMLKitError, tomllib.TOMLDecodeError, KeyError, IndexError, TypeError):
        pass  # a layout that tomlkit cannot change in place: the text is written again from its values
    return tomlkit.dumps(wanted)


def _change(document: Any, location: Location, wanted: Mapping[str, Any]) -> None:
    """Give one field of a tomlkit document the value that it has in `wanted`, or remove it if it is not there."""
    table, goal = document, wanted
    for position, key in enumerate(location):
        is_last = position == len(location) - 1
        if isinstance(key, str) and key not in goal:
            if key in table:
                del table[key]
            return
        if is_last or not _leads_on(table, key):
            _put(table, key, goal[key])  # type: ignore[index]
            return
        table, goal = table[key], goal[key]  # type: ignore[index]


def _leads_on(table: Any, key: str | int) -> bool:
    inner = table[key] if isinstance(key, int) else table.get(key)
    return isinstance(inner, MutableMapping | list)


def _put(table: Any, key: str | int, value: Any) -> None:
    item = tomlkit.item(value)
    if isinstance(item, Table):  # a table within a table is written on one line
        inline = tomlkit.inline_table()
        inline.update(value)
        item = inline
    table[key] = item


def _remove(document: Any, location: Location) -> None:
    for key in location[:-1]:
        if isinstance(document, dict) and not isinstance(document.get(key), dict | list):
            return
        document = document[key]
    document.pop(location[-1], None)
