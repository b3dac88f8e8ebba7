"""The scenario: one TOML description of a path and its traffic, checked and resolved.

`load` reads it, `resolve` gives it in SI numbers with nothing implicit, `with_overrides` changes single fields,
`json_schema` describes to editors what it may hold. The modules behind are imported when they are first needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ackclock.errors import Fault, ScenarioError

if TYPE_CHECKING:
    from ackclock.scenario.editor import json_schema
    from ackclock.scenario.presets import preset_names
    from ackclock.scenario.resolved import Resolved
    from ackclock.scenario.resolved_elements import Element
    from ackclock.scenario.resolved_flows import ResolvedFlow
    from ackclock.scenario.resolving import resolve
    from ackclock.scenario.scenario import Scenario, load, loaded, with_overrides
    from ackclock.scenario.warn import Warning_

__all__ = [
    "Element",
    "Fault",
    "Resolved",
    "ResolvedFlow",
    "Scenario",
    "ScenarioError",
    "Warning_",
    "json_schema",
    "load",
    "loaded",
    "preset_names",
    "resolve",
    "with_overrides",
]

_HOMES = {
    "Element": "resolved_elements",
    "Resolved": "resolved",
    "ResolvedFlow": "resolved_flows",
    "Scenario": "scenario",
    "Warning_": "warn",
    "json_schema": "editor",
    "load": "scenario",
    "loaded": "scenario",
    "preset_names": "presets",
    "resolve": "resolving",
    "with_overrides": "scenario",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
