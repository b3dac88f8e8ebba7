"""Changing single fields of a scenario by their dotted path."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ackclock.errors import Fault, ScenarioError
from ackclock.scenario.network import flow_names
from ackclock.scenario.places import Places, as_toml
from ackclock.scenario.plain import copied, refuse_odd_tables
from ackclock.scenario.schema import Run
from ackclock.scenario.source import MOST_PARTS_OF_A_KEY, Location, Source, line_of_long_key
from ackclock.scenario.suggestions import did_you_mean

_HEADS = ("link", "flow", "run", "trace", "title", "host", "atm_link", "channel", "cross_traffic")
_OPENING = {"{": "table", "[": "list"}
_SHORTHANDS = {"queue": "discipline", "tcp": "preset", "size": "mean", "on": "mean", "off": "mean"}


def read_value(text: str, place: str) -> Any:
    """Read a value of the command line: as TOML where it is that, else as text, for shells take its quotes.

    Parameters
    ----------
    text : str
        What was written.
    place : str
        Where, for the message.

    Raises
    ------
    ScenarioError
        If it begins as a table or a list and is not TOML, a number has more digits than Python reads, or a key too many
        parts.

    Examples
    --------
    >>> read_value("20", "run.seed"), read_value("20 pkt", "link.satellite.buffer")
    (20, '20 pkt')
    """
    value, problem = _as_toml(text, place)
    if problem and text.lstrip()[:1] in _OPENING:
        what = _OPENING[text.lstrip()[0]]
        hint = None if '"' in text else "a shell takes quotes away that are not within single ones: 'FIELD=VALUE'"
        raise _refused(place, f"begins as a {what} and is not valid TOML: {problem}", text, hint)
    return text.strip() if problem else value


def read_list(text: str, place: str) -> list[Any] | None:
    """Read values with commas between them, if they are a list of TOML; parameters and errors as of `read_value`."""
    value, problem = _as_toml(f"[{text}]", place)
    return value if not problem and isinstance(value, list) else None


def _as_toml(text: str, place: str) -> tuple[Any, str]:
    """Read a value as TOML; if it is not that, give what is wrong."""
    line = f"value = {text}"
    if line_of_long_key(line) is not None:
        raise _refused(place, f"has a key of more than {MOST_PARTS_OF_A_KEY} parts", text)
    try:
        document = tomllib.loads(line)
    except tomllib.TOMLDecodeError as error:
        problem = str(error).partition(" (at ")[0]
        return None, problem[:1].lower() + problem[1:]
    except RecursionError:
        return None, "it is nested too deeply"
    except ValueError:  # of int(), which has a limit
        raise _refused(place, "holds a number of too many digits", text) from None
    return (document["value"], "") if len(document) == 1 else (None, "it has several lines")


def _refused(place: str, problem: str, text: str, hint: str | None = None) -> ScenarioError:
    return ScenarioError([Fault(place, problem, as_toml(text), hint=hint)], "command line")


def overridden(source: Source, overrides: Mapping[str, Any]) -> Source:
    """Replace fields of the document.

    Parameters
    ----------
    source : Source
        A scenario without faults; it stays as it is.
    overrides : mapping of str to object
        Values by dotted path.

    Returns
    -------
    Source
        The changed scenario, unchecked.

    Raises
    ------
    ScenarioError
        If a path leads nowhere.
    """
    refuse_odd_tables(overrides, source.name)
    document = copied(source.document)
    places = dict(source.overrides)
    faults: list[Fault] = []
    for key, value in overrides.items():
        location = _location(key, source, faults)
        if location is not None:
            _put(document, location, copied(value))
            places[location] = key
    if faults:
        raise ScenarioError(faults, source.name)
    return replace(source, document=document, overrides=places)


def with_run_fields(
    function: str, overrides: Mapping[str, Any] | None, run_fields: Mapping[str, Any]
) -> dict[str, Any]:
    """Add the fields of [run] that a function of the library got as keywords to its overrides.

    Parameters
    ----------
    function : str
        Name of the function, for the message.
    overrides : mapping of str to object, optional
        Values by dotted path.
    run_fields : mapping of str to object
        Values by the name of a field of [run].

    Returns
    -------
    dict
        Values by dotted path.

    Raises
    ------
    ScenarioError
        With all keywords that are not fields of [run].
    """
    faults = [
        Fault(
            f'{function}(), keyword "{name}"',
            "is not a field of [run]",
            given=as_toml(value),
            allowed=", ".join(Run.model_fields),
            hint=did_you_mean(name, Run.model_fields) or 'for other fields use overrides={"link.NAME.FIELD": value}',
        )
        for name, value in run_fields.items()
        if name not in Run.model_fields
    ]
    if faults:
        raise ScenarioError(faults, f"{function}()")
    return {**(overrides or {}), **{f"run.{name}": value for name, value in run_fields.items()}}


def written_value(source: Source, key: str) -> object:
    """Give the value that a field has in the document, None if the scenario leaves it out.

    Parameters
    ----------
    source : Source
        A scenario without faults.
    key : str
        Dotted path of the field.

    Raises
    ------
    ScenarioError
        If the path leads nowhere.
    """
    return Places(source).value(location_of(source, key))


def location_of(source: Source, key: str) -> Location:
    """Give the keys and list positions that lead to a field in the document.

    Parameters
    ----------
    source : Source
        A scenario.
    key : str
        Dotted path of the field.

    Raises
    ------
    ScenarioError
        If the path leads nowhere.
    """
    faults: list[Fault] = []
    location = _location(key, source, faults)
    if location is None:
        raise ScenarioError(faults, source.name)
    return location


def _location(key: str, source: Source, faults: list[Fault]) -> Location | None:
    head, *rest = key.split(".")
    place = f'override "{key}"'
    if head not in _HEADS:
        allowed = "link.NAME.FIELD, flow.NAME.FIELD, run.FIELD, trace.FIELD or title"
        faults.append(Fault(place, f"begins with {as_toml(head)}", allowed=allowed, hint=did_you_mean(head, _HEADS)))
    elif head == "title" or (head in {"run", "trace"} and rest):
        return (head, *rest)
    elif head in {"run", "trace"} or len(rest) < 2:
        shape = f"{head}.FIELD" if head in {"run", "trace"} else f"{head}.NAME.FIELD"
        faults.append(Fault(place, "names no field", allowed=f"a path such as {shape}"))
    else:
        return _in_table(head, rest, place, source, faults)
    return None


def _in_table(head: str, rest: list[str], place: str, source: Source, faults: list[Fault]) -> Location | None:
    tables = Places(source)
    given = [tables.name((head, position)) for position in range(len(source.document.get(head, ())))]
    names = flow_names(given) if head == "flow" else [name or "" for name in given]
    name, *fields = rest
    if name in names:
        return (head, names.index(name), *fields)
    listed = ", ".join(f'"{known}"' for known in names[:5]) + (", ..." if len(names) > 5 else "")
    faults.append(Fault(place, f'no {head} named "{name}"', allowed=listed, hint=did_you_mean(name, names)))
    return None


def _put(document: dict[str, Any], location: Location, value: object) -> None:
    """Set a value; a word that stands for a table is written out where the path goes on into it."""
    table: Any = document
    for step, key in enumerate(location[:-1]):
        if isinstance(key, int):
            table = table[key]
            continue
        if isinstance(table.get(key), str):
            table[key] = {_SHORTHANDS.get(key, key): table[key]}
        inner = table.setdefault(key, {})
        if not isinstance(inner, dict | list) or (isinstance(inner, list) and not isinstance(location[step + 1], int)):
            table[key] = inner = {}
        table = inner
    table[location[-1]] = value
