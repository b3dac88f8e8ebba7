"""A note about rows that a table leaves out says where they are: for the command and Python, or for the lab's page."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ackclock
from ackclock.cli import app
from ackclock.lab.answers import answer
from ackclock.lab.running import prepared, run
from ackclock.report import summary_tables
from ackclock.result import Result

SCENARIO = """
[[link]]
name = "line"
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "20 pkt"

[[flow]]
name = "many"
count = 20
path = ["line"]

[run]
duration = "2 s"
"""


@pytest.fixture(scope="module")
def result() -> Result:
    return ackclock.run(SCENARIO, picture=False)


def on_one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_what_is_printed_names_the_option_and_what_a_result_has_in_python(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    path.write_text(SCENARIO)
    command = CliRunner().invoke(app, ["run", str(path), "--no-picture"]).output
    for text in (command, str(result), result._repr_html_()):
        assert "or less busy, left out; --json, or `result.links` in Python, has all." in on_one_line(text)
        assert "Each column by itself; --json, or `result.flows` in Python, has all 20 rows." in on_one_line(text)
    assert (len(result.links), len(result.flows)) == (2, 20)


def test_a_prediction_names_both_the_option_and_what_it_has_in_python() -> None:
    prediction = ackclock.predict(SCENARIO)
    assert "Not applicable here (in full: --json, or `inapplicable` in Python):" in str(prediction)
    assert prediction.inapplicable


def test_the_page_names_a_download_that_has_all() -> None:
    told = answer(run(prepared(SCENARIO), lambda _: None))
    notes = " ".join(table["note"] for table in told["tables"])
    assert "left out; Download, Numbers (CSV), has all." in notes
    assert "Download, Numbers (CSV), has all 20 rows." in notes
    assert "json" not in notes
    assert {one["name"] for one in told["numbers"] if one["of"] == "links"} == {"line", "line.reverse"}
    assert len({one["name"] for one in told["numbers"] if one["of"] == "flows"}) == 20


def test_the_page_has_the_numbers_of_all_classes_too() -> None:
    text = SCENARIO.replace('buffer = "20 pkt"', 'buffer = "20 pkt"\nqueue = "fq-codel"').replace("count = 20\n", "")
    more = "\n".join(f'[[flow]]\nname = "other{number}"\npath = ["line"]' for number in range(13))
    ran = run(prepared(text.replace("[run]", f"{more}\n[run]")), lambda _: None)
    (note,) = [table.note for table in summary_tables(ran.result.summary, "page") if table.headers[0] == "link: class"]
    assert note == "2 rows left out; Download, Numbers (CSV), has all."
    names = {one["name"] for one in answer(ran)["numbers"] if one["of"] == "classes"}
    assert len(names) == 14
    assert "line: many" in names
