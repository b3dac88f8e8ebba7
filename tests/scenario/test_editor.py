"""The JSON Schema for editors, the documentation, and what importing costs."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import ackclock.scenario
from ackclock.scenario import json_schema, load, resolve
from ackclock.scenario.reference import updated

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "scenario.md"
VALIDATOR = Draft202012Validator(json_schema())
SEEN_BY_EDITORS = [
    "bare_number_for_rate",
    "ambiguous_megabits",
    "wrong_dimension_rate_for_delay",
    "unknown_field_of_reverse",
    "missing_rate",
    "missing_all_tables",
    "single_brackets",
    "unknown_preset",
    "unknown_discipline",
    "count_in_quotes",
    "trace_in_quotes",
    "rto_k_in_quotes",
    "red_weight_above_one",
    "dupack_threshold_misspelt",
    "path_is_a_string",
    "name_with_a_dot",
]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_ready_scenarios_are_valid(path: Path) -> None:
    assert list(VALIDATOR.iter_errors(tomllib.loads(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize("name", SEEN_BY_EDITORS)
def test_editors_see_faults_of_single_fields(name: str) -> None:
    text = (Path(__file__).parent / "invalid" / f"{name}.toml").read_text(encoding="utf-8")
    assert list(VALIDATOR.iter_errors(tomllib.loads(text)))


def test_defaults_in_the_schema_are_valid_and_what_load_takes() -> None:
    minimal: dict[str, Any] = {
        "link": [{"name": "a", "rate": "1 Mbit/s"}],
        "flow": [{"path": ["a"]}],
        "run": {"duration": "9 s"},
    }
    written = {
        table: {
            name: entry["default"]
            for name, entry in json_schema()["$defs"][table]["properties"].items()
            if "default" in entry
        }
        for table in ("Link", "Flow", "Run", "Trace")
    }
    explicit = {
        "link": [{**minimal["link"][0], **written["Link"]}],
        "flow": [{**minimal["flow"][0], **written["Flow"]}],
        "run": {**minimal["run"], **written["Run"]},
        "trace": written["Trace"],
    }
    assert VALIDATOR.is_valid(explicit)
    assert resolve(load(explicit)) == resolve(load(minimal))


def test_every_field_has_a_description() -> None:
    tables = [json_schema(), *json_schema()["$defs"].values()]
    assert all(entry["description"] for table in tables for entry in table["properties"].values())


def test_every_propagation_delay_says_whether_it_is_one_way_or_two_way() -> None:
    tables = json_schema()["$defs"]
    delays = {
        f"{table}.{name}": entry["description"]
        for table, fields in tables.items()
        for name, entry in fields["properties"].items()
        if table != "RateProcess"
        and (
            name in {"delay", "low", "high", "steps"} or "propagation" in name or "propagation" in entry["description"]
        )
    }
    assert {"Link.delay", "Reverse.delay", "AtmLink.delay", "DelayProcess.low", "Flow.two_way_propagation"} < set(
        delays
    )
    unclear = {
        field for field, text in delays.items() if not ("one-way" in text or "round trip" in text or "two_way" in field)
    }
    assert unclear == set()


def test_the_documentation_is_up_to_date() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert updated(text) == text


def test_the_example_of_the_documentation_is_a_scenario() -> None:
    example = re.search(r"```toml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    assert load(example[1]).warnings == ()


def test_the_message_of_the_documentation_is_a_real_one() -> None:
    message = re.search(r"```\n(link .*?)\n```", DOCUMENT.read_text(encoding="utf-8"))
    expected = (Path(__file__).parent / "invalid" / "bare_number_for_rate.txt").read_text(encoding="utf-8")
    assert message is not None
    assert message[1] == expected.strip()


@pytest.mark.parametrize(
    "module",
    [
        "ackclock.units",
        "ackclock.errors",
        *(f"ackclock.scenario.{module.name}" for module in pkgutil.iter_modules(ackclock.scenario.__path__)),
    ],
)
def test_examples_in_docstrings_are_right(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS).failed == 0


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import ackclock.scenario", {"pydantic", "pint"}),
        ("import ackclock.units", {"pydantic", "pint"}),
        ("import ackclock.scenario.resolved", {"pint"}),
    ],
)
def test_importing_stays_cheap(statement: str, absent: set[str]) -> None:
    code = f"import sys; sys.path.insert(0, 'python'); {statement}; print(*sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not absent & set(output.split())
