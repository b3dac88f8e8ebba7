"""The tables of docs/scenario.md and docs/tcp.md, made from the schema.

``python -m ackclock.scenario.reference docs/scenario.md`` writes them again, each between its two marks; the text
around them stays. A test compares.
"""

import re
import sys
import typing
from collections.abc import Sequence
from pathlib import Path

from ackclock.scenario.amounts import Amount
from ackclock.scenario.contract import CONGESTION_CONTROLS
from ackclock.scenario.controls import ControlNumbers
from ackclock.scenario.dialects import table_lines
from ackclock.scenario.entries import Table
from ackclock.scenario.fields import (
    AmountShorthand,
    Choice,
    Count,
    Flag,
    Kind,
    LinkNames,
    Number,
    OpenChoice,
    Shorthand,
    Text,
)
from ackclock.scenario.lists import ListOf
from ackclock.scenario.losses import Loss
from ackclock.scenario.percent import Percent
from ackclock.scenario.places import as_toml
from ackclock.scenario.presets import preset_names, preset_tables
from ackclock.scenario.schema import Flow, Form, Precision, Run, Trace, kind_of
from ackclock.scenario.schema_atm import Abr, AtmLink, Channel, ChannelReverse, CrossTraffic
from ackclock.scenario.schema_hosts import Host
from ackclock.scenario.schema_links import DelayProcess, DelayState, Link, Reverse, TokenBucket
from ackclock.scenario.schema_queues import Queue
from ackclock.scenario.schema_rates import RateProcess, RateState
from ackclock.scenario.schema_tcp import Rto, Tcp
from ackclock.scenario.schema_traffic import Period, Size, Traffic, Writes
from ackclock.scenario.until import Duration

_MODELS: dict[str, type[Table]] = {
    model.__name__.lower(): model
    for model in (
        *(
            Form,
            Link,
            Reverse,
            Queue,
            TokenBucket,
            RateProcess,
            RateState,
            DelayProcess,
            DelayState,
            Loss,
            Flow,
            Traffic,
            Size,
            Period,
            Writes,
            Tcp,
            Rto,
            Run,
        ),
        *(Host, Precision, Trace, AtmLink, Channel, Abr, ChannelReverse, CrossTraffic),
    )
}
_TYPES: dict[type[Kind], str] = {
    ControlNumbers: "table of numbers",
    Amount: "quantity",
    Count: "integer",
    Number: "number",
    Flag: "boolean",
    Choice: "string",
    OpenChoice: "string",
    Text: "string",
    LinkNames: "array of strings",
    ListOf: "array",
    Percent: "percentage",
    Duration: "quantity or string",
}
_BLOCK = re.compile(r"(<!-- generated: ([a-z]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def updated(text: str) -> str:
    """Replace the generated tables of a Markdown text.

    Parameters
    ----------
    text : str
        Markdown with marks such as ``<!-- generated: link -->`` and ``<!-- end -->``.

    Returns
    -------
    str
        The same text with the tables as the schema has them now.
    """
    return _BLOCK.sub(lambda match: f"{match[1]}{_generated(match[2])}{match[3]}", text)


def _generated(name: str) -> str:
    if name == "presets":
        return _presets()
    if name == "summaries":
        return "".join(f"- `{preset}`: {table['summary']}\n" for preset, table in preset_tables().items())
    if name == "controls":
        return _controls()
    if name == "dialects":
        return "".join(f"{line}\n" for line in table_lines())
    return _fields(_MODELS[name])


def _controls() -> str:
    """Lay out the congestion controls with their numbers."""
    rows: list[tuple[str, ...]] = [
        (f"`{name}`", f"`{key}`", f"{one.low:g} to {one.high:g}", one.unit, f"{one.default:g}", one.help)
        for name, control in CONGESTION_CONTROLS.items()
        for key, one in control.parameters.items()
    ]
    others = ", ".join(f"`{name}`" for name, control in CONGESTION_CONTROLS.items() if not control.parameters)
    table = _table(("congestion_control", "number", "allowed", "unit", "default", "meaning"), rows)
    return f"{table}\nWithout numbers: {others}.\n"


def _fields(model: type[Table]) -> str:
    rows = [_row(model, name) for name in model.model_fields]
    return _table(("field", "type", "allowed", "unit", "default", "example", "meaning"), rows)


def _row(model: type[Table], name: str) -> tuple[str, ...]:
    info = model.model_fields[name]
    kind = kind_of(model, name)
    form, allowed, unit, example = _described(kind) if kind else ("table", "see below", "", "")
    if typing.get_origin(info.annotation) is list:
        form, allowed = "array of tables", "at least one"
    return (f"`{name}`", form, allowed, unit, _default(model, name), example, info.description or "")


def _described(kind: Kind | Shorthand | AmountShorthand) -> tuple[str, str, str, str]:
    """Give the type, what is allowed, the unit it is resolved into, and an example."""
    if isinstance(kind, Shorthand):
        return "string or table", f"the name of a {kind.what}, or a table: see below", "", f'`"{kind.names()[0]}"`'
    if isinstance(kind, AmountShorthand):
        return (
            "quantity or table",
            f"{_allowed(kind.kind)}, or a table: see below",
            kind.kind.unit,
            f"`{kind.kind.sample}`",
        )
    return _TYPES[type(kind)], _allowed(kind), kind.unit, f"`{kind.sample}`"


def _allowed(kind: Kind) -> str:
    """Say what is allowed without the example, which has a column of its own."""
    return kind.allowed.replace(f", such as {kind.sample}", "")


def _default(model: type[Table], name: str) -> str:
    info = model.model_fields[name]
    extra = info.json_schema_extra
    if info.is_required() or not isinstance(extra, dict):
        return "required"
    words = extra.get("words")
    return str(words) if words else f"`{as_toml(extra['default'])}`"


def _presets() -> str:
    """Lay out the presets, those of each sender in a table of their own."""
    machines: dict[tuple[str, ...], list[str]] = {}
    for name in preset_names():
        machines.setdefault(tuple(_axes(name)), []).append(name)
    tables = [
        _table(
            ("axis", *(f"`{name}`" for name in names)),
            [(f"`{axis}`", *(f"`{as_toml(_axes(name)[axis])}`" for name in names)) for axis in axes],
        )
        for axes, names in machines.items()
    ]
    return "\n".join(tables)


def _axes(name: str) -> dict[str, object]:
    """Give the axes of a preset by their field, those of the timer last."""
    preset = {axis: value for axis, value in preset_tables()[name].items() if axis != "summary"}
    timer = preset.pop("rto")
    return {**preset, **{f"rto.{axis}": value for axis, value in timer.items()}}


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def main(path: str) -> None:
    """Replace the generated tables of a file."""
    file = Path(path)
    file.write_text(updated(file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
