"""The schema's models from the document: all that pydantic finds wrong, as faults."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ackclock.errors import Fault, UnitError
from ackclock.scenario.atm import AtmTables
from ackclock.scenario.entries import Table
from ackclock.scenario.fields import FieldError, Kind, toml_type
from ackclock.scenario.kinds_by_fields import hint_for_kind, kind_field, misnamed_kind
from ackclock.scenario.places import Places
from ackclock.scenario.salvage import salvaged
from ackclock.scenario.schema import Flow, Form, Run, Trace, kind_of
from ackclock.scenario.schema_atm import AtmLink, Channel, CrossTraffic
from ackclock.scenario.schema_hosts import Host
from ackclock.scenario.schema_links import Link
from ackclock.scenario.source import Location
from ackclock.scenario.suggestions import did_you_mean
from ackclock.units import DIMENSIONS, parse

T = TypeVar("T", bound=Table)

_TABLES = {
    "link": "[[link]]",
    "flow": "[[flow]]",
    "run": "[run]",
    "trace": "[trace]",
    "host": "[[host]]",
    "atm_link": "[[atm_link]]",
    "channel": "[[channel]]",
    "cross_traffic": "[[cross_traffic]]",
}
_FIRST_FIELDS = {
    "link": 'one table for each link, with at least name = "satellite" and rate = "1.5 Mbit/s"',
    "flow": 'one table for each flow, with at least path = ["satellite"]',
    "run": 'a table with at least duration = "2000 s"',
    "trace": "a table such as [trace] with cwnd = true",
    "host": 'one table for each host, with at least name = "server" and processing = "50 us"',
    "atm_link": 'one table for each ATM link, with at least name = "trunk" and rate = "155.52 Mbit/s"',
    "channel": 'one table for each channel, with at least name = "vc" and path = ["trunk"]',
    "cross_traffic": 'one table for each source, with at least name, path = ["trunk"] and rate = "40 Mbit/s"',
}


@dataclass(frozen=True)
class Draft:
    """The tables of a scenario that are right in themselves; None for those that are not.

    `rest_of_links` and `rest_of_flows` hold what is left of the others without their faulty fields, by position.
    """

    links: tuple[Link | None, ...]
    flows: tuple[Flow | None, ...]
    run: Run | None
    trace: Trace | None
    title: str = ""
    atm: AtmTables = field(default_factory=AtmTables)
    hosts: tuple[Host | None, ...] = ()
    rest_of_links: Mapping[int, Link] = field(default_factory=dict)
    rest_of_flows: Mapping[int, Flow] = field(default_factory=dict)


def read_form(places: Places) -> tuple[Draft, list[Fault]]:
    """Validate all tables; return those that are right, and what is wrong with the others."""
    document = places.source.document
    try:
        form = Form.model_validate(document)
    except ValidationError as error:
        faults = [_fault(places, detail) for detail in error.errors(include_url=False)]
        if not ("link" in document or "channel" in document):
            faults.insert(0, _empty(places, "link"))
        return _draft(document), _without_doubles(faults)
    faults = [_empty(places, "link")] if not (form.link or form.channel) else []
    faults += [_empty(places, "flow")] if not form.flow else []
    atm = AtmTables(tuple(form.atm_link), tuple(form.channel), tuple(form.cross_traffic))
    return Draft(tuple(form.link), tuple(form.flow), form.run, form.trace, form.title, atm, tuple(form.host)), faults


def _draft(document: Mapping[str, Any]) -> Draft:
    return Draft(
        links=tuple(_model(Link, table) for table in _tables(document.get("link"))),
        flows=tuple(_model(Flow, table) for table in _tables(document.get("flow"))),
        run=_model(Run, document.get("run")),
        trace=_model(Trace, document.get("trace", {})),
        atm=AtmTables(
            tuple(_model(AtmLink, table) for table in _tables(document.get("atm_link"))),
            tuple(_model(Channel, table) for table in _tables(document.get("channel"))),
            tuple(_model(CrossTraffic, table) for table in _tables(document.get("cross_traffic"))),
        ),
        hosts=tuple(_model(Host, table) for table in _tables(document.get("host"))),
        rest_of_links=_rests(Link, document.get("link")),
        rest_of_flows=_rests(Flow, document.get("flow")),
    )


def _rests(model: type[T], tables: object) -> dict[int, T]:
    faulty = (position for position, table in enumerate(_tables(tables)) if _model(model, table) is None)
    rests = {position: salvaged(model, _tables(tables)[position]) for position in faulty}
    return {position: rest for position, rest in rests.items() if rest is not None}


def _tables(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def _model(model: type[T], table: object) -> T | None:
    try:
        return model.model_validate(table)
    except ValidationError:
        return None


def _without_doubles(faults: list[Fault]) -> list[Fault]:
    return list({str(fault): fault for fault in faults}.values())


def _empty(places: Places, name: str) -> Fault:
    return places.fault((), f"{_TABLES[name]} is missing", hint=f"write {_FIRST_FIELDS[name]}", given=None)


def _fault(places: Places, detail: ErrorDetails) -> Fault:
    location: Location = detail["loc"]
    match detail["type"]:
        case "missing":
            return missing(places, location)
        case "extra_forbidden":
            return _unknown(places, location)
        case "value_error":
            return _refused(places, location, detail["ctx"]["error"])
        case "list_type":
            name = str(location[-1])
            problem = f"must be an array of tables, not {toml_type(detail['input'])}"
            single = isinstance(detail["input"], Mapping) and name in _TABLES
            hint = f"write {_TABLES[name]} with double brackets" if single else None
            return places.fault(location, problem, allowed=_FIRST_FIELDS.get(name), hint=hint)
        case _:
            return _no_table(places, location, detail["input"])


def _no_table(places: Places, location: Location, value: object) -> Fault:
    name = str(location[0])
    hint = f"write [{name}] with single brackets" if len(location) == 1 and isinstance(value, list) else None
    problem = f"must be a table, not {toml_type(value)}"
    whole = len(location) == 1 or isinstance(location[-1], int)
    return places.fault(location, problem, allowed=_FIRST_FIELDS.get(name) if whole else None, hint=hint)


def missing(places: Places, location: Location) -> Fault:
    """Describe a field that is needed and missing."""
    name = str(location[-1])
    if len(location) == 1:
        return _empty(places, name)
    kind, given = _kind(location), places.value(location[:-1])
    table = given if isinstance(given, Mapping) else {}
    hint = hint_for_kind(_model_at(location[:-1]), name, kind, table) if isinstance(kind, Kind) else None
    allowed = kind.allowed if isinstance(kind, Kind) else None
    return places.fault(location[:-1], f'field "{name}" is missing', allowed=allowed, hint=hint, given=None)


def _unknown(places: Places, location: Location) -> Fault:
    model, given = _model_at(location[:-1]), places.value(location[:-1])
    fields, name = list(model.model_fields), str(location[-1])
    of_kind = kind_field(model)
    if of_kind and isinstance(given, Mapping) and misnamed_kind(model, of_kind, given) == name:
        return places.fault(location, "unknown field", allowed=", ".join(fields), hint=f'did you mean "{of_kind}"?')
    what = "unknown field" if len(location) > 1 else "unknown table or field"
    return places.fault(location, what, allowed=", ".join(fields), hint=did_you_mean(name, fields))


def _refused(places: Places, location: Location, error: FieldError) -> Fault:
    kind = _kind(location)
    allowed = error.allowed or (kind.allowed if isinstance(kind, Kind) else None)
    return places.fault(
        location, error.problem, allowed=allowed, hint=error.hint or _in_packets(places, location, error)
    )


def _in_packets(places: Places, location: Location, error: FieldError) -> str | None:
    """Say what an amount of data is in packets of its flow, where a number of packets is wanted."""
    if location[0] != "flow" or error.problem != f"must be {DIMENSIONS['pkt']}, not {DIMENSIONS['B']}":
        return None
    written = places.value((*location[:2], "packet"))
    try:
        packet_bytes = Flow.model_fields["packet"].default if written is None else parse(str(written)).value
        packets = math.ceil(parse(str(places.value(location))).value / packet_bytes)
    except (UnitError, ArithmeticError, ValueError):
        return None
    return f'write "{packets} pkt" for as much in packets of {packet_bytes:g} B'


def _kind(location: Location) -> object:
    return kind_of(_model_at(location[:-1]), str(location[-1]))


def _model_at(location: Location) -> type[Table]:
    """Find the model of the table at a place."""
    model: type[Table] = Form
    for key in location:
        if isinstance(key, str):
            annotation = model.model_fields[key].annotation
            model = cast("type[Table]", next(iter(get_args(annotation)), annotation))
    return model
