"""`print` of what the library gives writes the tables of the command line; notebooks get the same tables."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from typer.testing import CliRunner

import ackclock
from ackclock.cli import app
from ackclock.experiments import reproduce
from ackclock.scenario.ready import ready_names

SCENARIO = "geo-two-nodes"


def printed(*arguments: str) -> str:
    done = CliRunner().invoke(app, [*arguments])
    assert done.exit_code == 0, done.output
    return "\n".join(line.rstrip() for line in done.stdout.splitlines())


class Tables(HTMLParser):
    """The cells of each row of HTML, and what else is written."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")
        if tag not in {"br", "img"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] in (["td"], ["th"]):
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def result() -> ackclock.Result:
    return ackclock.run(SCENARIO)


def test_a_result_and_its_comparison_are_what_run_prints(result: ackclock.Result) -> None:
    command = printed("run", SCENARIO, "--no-picture")
    assert command == f"{result}\n\n{ackclock.compare(result)}"


def test_a_prediction_is_what_predict_prints() -> None:
    assert str(ackclock.predict(SCENARIO)) == printed("predict", SCENARIO)


def test_advice_is_what_advise_prints() -> None:
    assert str(ackclock.advise(SCENARIO, simulate=False)) == printed("advise", SCENARIO, "--no-simulate")


def test_a_reproduction_is_what_reproduce_prints_and_shows_its_figures(tmp_path: Any) -> None:
    made = reproduce(["bottlenecks/figure-2"], out=tmp_path)
    command = printed("reproduce", "bottlenecks/figure-2", "--out", str(tmp_path))
    ours, theirs = (re.sub(r"This time .*", "", text, flags=re.DOTALL) for text in (str(made), command))
    assert ours == theirs
    page = made._repr_html_()
    assert page.count('src="data:image/png;base64,iVBOR') == sum(len(item.outcome.charts) for item in made.items) >= 1
    assert len(Tables(page).rows) >= 3
    assert repr(made) == "<Reproduction: bottlenecks; 1 item>"


def test_a_scenario_lists_its_links_its_flows_and_its_run() -> None:
    text = str(ackclock.scenario.load("geo-two-nodes"))
    assert re.search(r"^satellite\s+1\.5 Mbit/s\s+0 s\s+\d+ pkt\s+drop-tail$", text, re.MULTILINE)
    assert re.search(r"^flow\s+1\s+TCP\s+tahoe-ns2\s+", text, re.MULTILINE)
    assert re.search(r"^Runs \d+ s.*; seed 1$", text, re.MULTILINE)


@pytest.mark.parametrize("name", ready_names())
def test_every_ready_scenario_can_be_printed(name: str) -> None:
    scenario = ackclock.scenario.load(name)
    assert str(scenario).split()[:2] == scenario.title.split()[:2]
    assert len(Tables(scenario._repr_html_()).rows) >= 2


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (ackclock.compare, "<Comparison 'GEO satellite path"),
        (lambda result: ackclock.predict(result.resolved), "<Prediction 'GEO satellite path"),
        (lambda _: ackclock.advise(SCENARIO, simulate=False), "<Advice 'GEO satellite path"),
        (lambda _: ackclock.scenario.load(SCENARIO), "<Scenario 'GEO satellite path"),
    ],
)
def test_the_repr_is_one_line_and_the_html_has_the_cells_of_the_text(
    make: Any, text: str, result: ackclock.Result
) -> None:
    made = make(result)
    assert repr(made).startswith(text)
    assert len(repr(made)) < 120
    rows = Tables(made._repr_html_()).rows
    assert len({len(row) for row in rows}) <= len(rows) / 2
    names = {row[0] for row in rows}
    flat = " ".join(str(made).split())
    assert sum(name in flat for name in names) >= len(names) * 0.6  # the others are wrapped


def test_numbers_of_a_notebook_s_table_are_right_aligned_and_words_left(result: ackclock.Result) -> None:
    page = result._repr_html_()
    assert '<td style="text-align: left">satellite</td><td style="text-align: right">1.5 Mbit/s</td>' in page
