"""CITATION.cff is valid, and says of the project and of the papers what their own files say."""

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import yaml

import ackclock.experiments

ROOT = Path(__file__).parents[2]
PAPERS = sorted(Path(ackclock.experiments.__file__).parent.glob("*/paper.toml"))


def citation() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8")))


def test_it_is_a_valid_citation_file() -> None:
    schema = json.loads(Path(__file__).with_name("cff-1.2.0.schema.json").read_text(encoding="utf-8"))
    faults = jsonschema.Draft7Validator(schema).iter_errors(citation())
    assert [fault.message for fault in faults] == []


def test_version_and_license_are_the_workspace_s() -> None:
    package = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    cited = citation()
    assert (cited["version"], cited["license"]) == (package["version"], package["license"])


def test_the_references_are_the_papers_that_are_reproduced() -> None:
    papers = [tomllib.loads(path.read_text(encoding="utf-8")) for path in PAPERS]
    cited = {
        (entry["title"], ", ".join(f"{author['given-names']} {author['family-names']}" for author in entry["authors"]))
        for entry in citation()["references"]
    }
    assert cited == {(paper["title"], paper["authors"]) for paper in papers}
