"""Who may import whom: the table is the contract, DESIGN.md says why."""

import sys
from pathlib import Path

import grimp
import pytest

import ackclock

PACKAGE = Path(ackclock.__file__).parent

# What each module, or each module of a folder, may import of ours.
MAY_IMPORT = {
    "errors": set[str](),
    "units": {"errors"},
    "scenario": {"errors", "quantities", "units"},
    "models": {"errors", "units"},
    "replication": {"quantities"},
    "stats": set[str](),
    "wording": {"units"},
    "summary": {"replication", "stats"},
    "paths": {"replication"},
    "tables": set[str](),
    "prediction": {"errors", "models", "paths", "replication", "tables", "wording"},
    "advice": {
        *{"api", "errors", "models", "paths", "prediction", "replication", "result", "scenario", "stats", "tables"},
        "wording",
    },
    "comparison": {"plots", "prediction", "result", "tables", "wording"},
    "transfers": {"replication", "stats"},
    "verdict": {"paths", "replication", "stats", "wording"},
    "traces": {"replication"},
    "charts": set[str](),
    "recoveries": {"replication", "stats"},
    "plots": {"charts", "paths", "replication", "wording"},
    "report": {"summary", "tables", "wording"},
    "storage": {"errors", "traces", "transfers"},
    "quantities": set[str](),
    "precision": {"replication", "stats", "summary", "wording"},
    "result": {
        *{"errors", "plots", "precision", "quantities", "recoveries", "replication", "report", "storage", "summary"},
        *{"traces", "transfers", "verdict"},
    },
    "engine": {"errors", "paths", "precision", "replication"},
    "api": {"engine", "prediction", "replication", "result", "scenario"},
    "sweeps": {
        "charts",
        "engine",
        "errors",
        "plots",
        "prediction",
        "replication",
        "scenario",
        "storage",
        "summary",
        "units",
    },
    "experiments": {
        *{
            "charts",
            "errors",
            "models",
            "paths",
            "plots",
            "prediction",
            "recoveries",
            "replication",
            "scenario",
            "stats",
            "storage",
            "summary",
            "sweeps",
            "transfers",
        },
        *{"tables", "traces"},
    },
    "progress": set[str](),
    "__main__": {"cli"},
    "cli": {
        *{"advice", "api", "comparison", "errors", "experiments", "prediction", "progress", "report", "scenario"},
        *{"storage", "sweeps"},
    },
}
# Other people's packages that one module alone may import.
ONLY_IMPORTER = {"matplotlib": "plots", "typer": "cli", "pint": "units", "xarray": "sweeps", "distributed": "sweeps"}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(
        "ackclock", include_external_packages=True, exclude_type_checking_imports=True, cache_dir=None
    )


def part(module: str) -> str:
    return module.split(".")[1] if "." in module else module


def ours(graph: grimp.ImportGraph) -> set[str]:
    return {module for module in graph.modules if module.startswith("ackclock.")}


def test_every_module_has_its_line(graph: grimp.ImportGraph) -> None:
    assert {part(module) for module in ours(graph)} == set(MAY_IMPORT)


def test_modules_import_what_they_may(graph: grimp.ImportGraph) -> None:
    broken = sorted(
        f"{importer} imports {imported}"
        for importer in ours(graph)
        for imported in graph.find_modules_directly_imported_by(importer)
        if imported.startswith("ackclock.")
        and part(imported) != part(importer)
        and part(imported) not in MAY_IMPORT.get(part(importer), set())
    )
    assert not broken


def test_importing_the_package_imports_none_of_its_modules(graph: grimp.ImportGraph) -> None:
    assert graph.find_modules_directly_imported_by("ackclock") <= set(sys.stdlib_module_names)


@pytest.mark.parametrize(("package", "importer"), ONLY_IMPORTER.items())
def test_only_one_importer(graph: grimp.ImportGraph, package: str, importer: str) -> None:
    if package in graph.modules:
        assert {part(module) for module in graph.find_modules_that_directly_import(package)} == {importer}


def test_the_compiled_engine_has_one_caller() -> None:
    callers = {path.name for path in PACKAGE.rglob("*.py") if "ackclock._engine" in path.read_text(encoding="utf-8")}
    assert callers == {"engine.py"}
