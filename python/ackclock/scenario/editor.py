"""JSON Schema of the user's form, for editors."""

from typing import Any

from ackclock.scenario.schema import Form


def json_schema() -> dict[str, Any]:
    """Export the JSON Schema of scenario files.

    Returns
    -------
    dict
        JSON Schema (draft 2020-12). It knows fields, types, words and units; the ranges of quantities, and what lies
        between fields, only `load` checks.

    Examples
    --------
    >>> json_schema()["required"]
    ['flow', 'run']
    """
    schema = Form.model_json_schema()
    tables = [*schema.pop("$defs").items()]
    for _, table in [*tables, ("", schema)]:
        for entry in table["properties"].values():
            _tidy(entry)
    for name in ("link", "flow"):
        schema["properties"][name]["minItems"] = 1
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "ackclock scenario",
        "$defs": dict(tables),
    }


def _tidy(entry: dict[str, Any]) -> None:
    """Drop what helps no editor; a default that no TOML value says goes into the description."""
    entry.pop("title", None)
    words = entry.pop("words", "")
    if words:
        entry["description"] += f" (default: {words})"
    if words or isinstance(entry.get("default"), dict):
        entry.pop("default", None)
