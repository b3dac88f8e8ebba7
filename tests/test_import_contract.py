"""Who may import whom: the table is the contract, DESIGN.md says why."""

import sys
from pathlib import Path

import grimp
import pytest

import ackclock

PACKAGE = Path(ackclock.__file__).parent

# What each module, or each module of a folder, may import of ours.
MAY_IMPORT = {
    "nested": set[str](),
    "errors": {"nested"},
    "units": {"errors"},
    "readonly": {"errors"},
    "controls": {"errors"},
    "control_identity": {"controls"},
    "scenario": {"control_identity", "controls", "errors", "nested", "quantities", "tables", "units"},
    "models": {"errors", "nested", "units"},
    "replication": {"scenario"},
    "stats": {"quantities"},
    "wording": {"units"},
    "histograms": {"replication"},
    "delays": {"histograms", "paths", "quantities", "replication", "scenario"},
    "classes": {"delays", "quantities", "replication", "scenario", "stats"},
    "pooled": {"histograms", "quantities", "replication", "stats"},
    "completions": {"groups", "histograms", "pooled", "quantities", "replication", "scenario", "stats", "wording"},
    "pings": {"histograms", "pooled", "quantities", "replication", "scenario", "stats"},
    "batches": {"cycles", "quantities", "replication", "scenario", "stats", "wording"},
    "cycles": {"groups", "replication", "scenario", "socket_buffers", "wording"},
    "lockout": {"groups", "replication", "scenario", "wording"},
    "trust": {"active", "batches", "cycles", "lockout", "replication", "scenario", "wording"},
    "summary": {
        *{"batches", "completions", "cycles", "delays", "pings", "quantities", "replication", "scenario", "stats"},
    },
    "paths": {"scenario"},
    "overview": {"paths", "scenario"},
    "tables": set[str](),
    "prediction": {"errors", "findings", "models", "paths", "scenario", "socket_buffers", "tables", "wording"},
    "advice": {
        *{
            "api",
            "completions",
            "cost",
            "engine",
            "errors",
            "fairness",
            "limits",
            "findings",
            "folders",
            "models",
            "paths",
            "pictures",
            "plots",
            "prediction",
        },
        *{"result", "scenario", "socket_buffers", "stats", "storage", "tables", "units", "wording"},
    },
    "comparison": {"pictures", "plots", "prediction", "result", "scenario", "tables", "wording"},
    "transfers": {"replication", "scenario", "stats"},
    "socket_buffers": {"paths", "scenario"},
    "round_trips": {"stats"},
    "fairness": {"round_trips", "scenario", "stats"},
    "active": {"scenario"},
    "findings": {"active", "fairness", "paths", "scenario", "socket_buffers", "waiting"},
    "waiting": {"paths", "scenario"},
    "groups": {"findings", "scenario"},
    "unmarked": {"findings", "groups", "scenario", "wording"},
    "verdict": {"findings", "groups", "scenario", "socket_buffers", "wording"},
    "traces": {"overview", "replication", "scenario"},
    "charts": set[str](),
    "recoveries": {"replication", "scenario", "stats"},
    "pictures": {"charts", "overview", "paths", "scenario", "units", "wording"},
    "plots": {"charts", "errors", "wording"},
    "recording": {"cost", "engine", "errors", "limits", "memory", "scenario", "traces"},
    "stories": {
        *{"cost", "engine", "errors", "memory", "paths", "recording", "scenario", "tables", "traces", "units"},
        "wording",
    },
    "choosing": {"errors", "pictures", "scenario", "summary"},
    "storied": {"choosing", "errors", "pictured", "scenario", "stories"},
    "pictured": {
        *{
            "choosing",
            "completions",
            "delays",
            "errors",
            "folders",
            "readonly",
            "pictures",
            "plots",
            "recording",
            "scenario",
            "traces",
        },
    },
    "columns": {"groups", "wording"},
    "report": {"columns", "groups", "quantities", "scenario", "summary", "tables", "trust", "wording"},
    "folders": {"errors"},
    "stored": {"completions", "delays", "errors", "quantities", "scenario", "summary", "traces"},
    "storage": {"errors", "folders", "stored"},
    "quantities": set[str](),
    "precision": {
        *{"batches", "completions", "pings", "quantities", "replication", "scenario", "stats", "summary", "wording"},
    },
    "result": {
        *{"batches", "classes", "completions", "cycles", "delays", "errors", "findings", "pictured", "pings"},
        *{
            "storied",
            "folders",
            "precision",
            "quantities",
            "readonly",
            "recoveries",
            "report",
            "scenario",
            "storage",
            "stored",
            "summary",
        },
        *{"tables", "traces", "transfers", "trust", "unmarked", "verdict"},
    },
    "memory": {"errors", "units"},
    "cost": {"overview", "paths", "precision", "scenario", "socket_buffers"},
    "engine": {"controls", "errors", "memory", "overview", "precision", "replication", "scenario"},
    "limits": {"cost", "errors", "units", "wording"},
    "api": {"cost", "engine", "errors", "limits", "memory", "prediction", "result", "scenario", "trust"},
    "sweeps": {
        *{"charts", "completions", "cost", "engine", "errors", "folders", "limits", "memory", "paths", "pings"},
        *{"plots", "precision", "prediction", "quantities", "replication", "scenario", "stats", "storage", "summary"},
        *{"classes", "tables", "units", "wording"},
    },
    "experiments": {
        *{"charts", "errors", "folders", "models", "paths", "plots", "prediction", "quantities", "recoveries"},
        *{"replication", "scenario", "stats", "summary", "sweeps", "tables", "traces", "transfers", "wording"},
    },
    "lab": {
        *{
            "advice",
            "api",
            "charts",
            "comparison",
            "engine",
            "errors",
            "groups",
            "limits",
            "paths",
            "pictures",
            "prediction",
        },
        *{"report", "result", "scenario", "stories", "tables", "traces", "units"},
    },
    "notebook": {"errors", "lab", "result", "scenario"},
    "progress": set[str](),
    "mahimahi": {"api", "engine", "errors", "scenario"},
    "console": {"comparison", "terminal"},
    "listings": {"scenario", "tables", "terminal"},
    "terminal": {"errors"},
    "__main__": {"cli"},
    "cli": {
        *{"advice", "api", "comparison", "console", "experiments", "lab", "listings", "mahimahi", "overriding"},
        *{"progress", "folders", "report", "scenario", "storage", "telling", "terminal", "varying"},
    },
    "varying": {"console", "overriding", "progress", "sweeps", "terminal"},
    "overriding": {"scenario"},
    "telling": {"api", "console", "overriding", "result", "storage", "terminal"},
}
# Other people's packages that one module alone may import.
ONLY_IMPORTER: dict[str, str | set[str]] = {
    "matplotlib": "plots",
    "typer": {"cli", "overriding", "telling", "varying"},
    "pint": "units",
    "xarray": "sweeps",
    "distributed": "sweeps",
    **dict.fromkeys(("jinja2", "markupsafe"), "experiments"),
    "anywidget": "notebook",
    **dict.fromkeys(("starlette", "uvicorn", "markdown_it"), "lab"),
    "tomlkit": {"lab", "notebook"},
}


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


def circles(graph: grimp.ImportGraph) -> list[list[str]]:
    """Find the groups of modules that import one another, by Tarjan's algorithm; deferred imports count."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        numbers[module] = lowest[module] = len(numbers)
        path.append(module)
        for imported in sorted(graph.find_modules_directly_imported_by(module)):
            if imported not in numbers:
                visit(imported)
                lowest[module] = min(lowest[module], lowest[imported])
            elif imported in path:
                lowest[module] = min(lowest[module], numbers[imported])
        if lowest[module] == numbers[module]:
            group = path[path.index(module) :]
            del path[path.index(module) :]
            found.extend([sorted(group)] if len(group) > 1 else [])

    for module in sorted(graph.modules):
        if module not in numbers:
            visit(module)
    return found


def test_circles_are_found() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in (("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("d", "e"), ("f", "a"), ("e", "e1")):
        graph.add_import(importer=importer, imported=imported)
    assert circles(graph) == [["b", "c"]]


def test_no_modules_import_one_another() -> None:
    """Imports inside functions and for types count too, except those of the package itself, which holds all names."""
    graph = grimp.build_graph("ackclock", cache_dir=None)
    for module in graph.find_modules_directly_imported_by("ackclock"):
        graph.remove_import(importer="ackclock", imported=module)
    assert circles(graph) == []


@pytest.mark.parametrize(("package", "importer"), ONLY_IMPORTER.items())
def test_only_one_importer(graph: grimp.ImportGraph, package: str, importer: str | set[str]) -> None:
    if package in graph.modules:
        importers = {part(module) for module in graph.find_modules_that_directly_import(package)}
        assert importers == ({importer} if isinstance(importer, str) else importer)


def test_the_compiled_engine_has_one_caller_and_its_controls() -> None:
    callers = {path.name for path in PACKAGE.rglob("*.py") if "ackclock._engine" in path.read_text(encoding="utf-8")}
    assert callers == {"engine.py", "controls.py"}
