"""The papers' folders: their data are whole, and one command makes all of their items."""

import base64
import re
from importlib.resources import files
from math import isfinite
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr
from typer.testing import CliRunner

from ackclock.cli import app
from ackclock.errors import SweepError
from ackclock.experiments import Paper, ReproducedItem, Reproduction, chosen, papers, reproduce
from ackclock.experiments.criteria import KINDS, Judgement, verdict
from ackclock.experiments.explanation import why
from ackclock.experiments.frame import Finding, Outcome, Setting, item_module
from ackclock.experiments.papers import STATES
from ackclock.experiments.record import pages, with_block
from ackclock.experiments.rendering import markdown_text
from ackclock.scenario import load

PAPERS = papers()
ROOT = Path(__file__).parents[2]


def test_one_worker_makes_the_papers(request: pytest.FixtureRequest, made: tuple[Reproduction, Path]) -> None:
    grouped = request.config.getoption("loadgroup", default=False)
    assert not grouped or request.node.nodeid.endswith("@papers"), "each worker makes all papers"


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_item_says_what_is_known_of_it_and_why(paper: Paper) -> None:
    for item in paper.items:
        assert item.state in set(STATES.values())
        assert len(item.why) > 20
        assert bool(item.module) == bool(item.expected)
        assert (item.state == "diagram") == (not item.module)
    assert len({item.name for item in paper.items}) == len(paper.items)


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_expected_number_has_a_source_a_kind_and_a_reason(paper: Paper) -> None:
    for item in paper.items:
        assert len({row.key for row in item.expected}) == len(item.expected)
        for row in item.expected:
            assert row.claim
            assert row.where
            assert row.reason
            assert row.kind in KINDS
            assert row.judged in {"simulation", "model"}


def test_bottlenecks_lists_all_eleven_figures() -> None:
    (paper,) = (paper for paper in PAPERS if paper.name == "bottlenecks")
    assert {f"figure-{number}" for number in range(1, 12)} <= {item.name for item in paper.items}


def test_variable_delay_lists_its_three_figures_and_its_table() -> None:
    (paper,) = (paper for paper in PAPERS if paper.name == "variable_delay")
    assert {"figure-1", "figure-2", "figure-3", "table-1"} <= {item.name for item in paper.items}


def test_engset_lists_all_sixteen_figures_and_eleven_tables() -> None:
    (paper,) = (paper for paper in PAPERS if paper.name == "engset")
    wanted = {f"figure-{number}" for number in range(1, 17)} | {f"table-{number}" for number in range(1, 12)}
    assert wanted <= {item.name for item in paper.items}


def test_every_verdict_can_fail() -> None:
    for paper in PAPERS:
        for row in (row for item in paper.items for row in item.expected):
            wrong = 0.0 if row.of_share() else 1e9 if "most" in row.criterion else -1e9
            assert verdict(row, Finding(wrong, wrong)) == "differs"


def test_the_record_is_what_the_quick_form_finds(made: tuple[Reproduction, Path]) -> None:
    found = {
        f"{one.item.paper}/{one.item.name}/{key}": text for one in made[0].items for key, text in one.verdicts.items()
    }
    known = {
        f"{one.item.paper}/{one.item.name}/{key}": recorded.verdict
        for one in made[0].items
        for key, recorded in one.item.record.get("quick", {}).items()
    }
    assert found == known


@pytest.mark.parametrize("path", pages(ROOT), ids=lambda path: path.name)
def test_the_pages_have_the_counts_of_the_record(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == pages(ROOT)[path]


def test_a_page_without_a_place_for_verdicts_is_refused() -> None:
    with pytest.raises(ValueError, match="0 blocks"):
        with_block("a page", [])


def test_every_expected_number_is_found(made: tuple[Reproduction, Path]) -> None:
    missing = [
        f"{one.item.paper}/{one.item.name}/{row.key}"
        for one in made[0].items
        for row in one.item.expected
        if not isfinite(one.finding(row.key).judged(row.judged).value)
    ]
    assert not missing


def test_every_finding_is_expected(made: tuple[Reproduction, Path]) -> None:
    for one in made[0].items:
        assert set(one.outcome.findings) == {row.key for row in one.item.expected}


def test_the_reports_hold_every_item_number_and_figure(made: tuple[Reproduction, Path]) -> None:
    reproduction, folder = made
    out = folder / "quick"
    page, markdown = ((out / name).read_text(encoding="utf-8") for name in ("report.html", "report.md"))
    for one in reproduction.items:
        assert f'id="{one.item.paper}-{one.item.name}"' in page
        assert f"### {one.item.name}: {markdown_text(one.item.title)}" in markdown
        for row in one.item.expected:
            assert markdown_text(row.claim) in markdown
        for name in one.outcome.charts:
            assert f"({one.item.paper}/{one.item.name}/{name}.png)" in markdown
    assert page.count("<img ") == sum(len(one.outcome.charts) for one in reproduction.items)
    assert not re.search(r"(src|href)=['\"](?!data:|#)", page)
    for content in re.findall(r'base64,([^"]+)"', page):
        assert base64.b64decode(content).startswith(b"\x89PNG")


def test_every_figure_has_pictures_and_its_numbers(made: tuple[Reproduction, Path]) -> None:
    reproduction, out = made
    for one in reproduction.items:
        folder = out / "quick" / one.item.paper / one.item.name
        for name, chart in one.outcome.charts.items():
            assert (folder / f"{name}.svg").stat().st_size > 1000
            assert len(pd.read_csv(folder / f"{name}.csv")) == len(chart.table) > 0
        if one.points:
            rows = pd.read_csv(folder / "runs.csv")["run"]
            assert rows.nunique() == one.points
            assert xr.load_dataset(folder / "runs.nc", engine="scipy").sizes["row"] == len(rows)


def test_a_second_time_nothing_is_simulated_and_the_files_are_the_same(made: tuple[Reproduction, Path]) -> None:
    _, out = made
    folder = out / "quick" / "bottlenecks" / "figure-9"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    again = reproduce(["bottlenecks/figure-9"], out=out)
    assert again.computed == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def work(paper: str, *, full: bool) -> float:
    """Add up the simulated seconds of a paper's items."""
    (items,) = (items for _, items in chosen([paper]))
    labelled = [item_module(paper, item.module).scenarios(Setting(full=full)) for item in items if item.module]
    runs = [resolved.run for scenarios in labelled for resolved in scenarios.values()]
    return float(sum(run.duration_s * run.replications for run in runs))


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_the_full_form_simulates_more(paper: Paper) -> None:
    assert work(paper.name, full=True) > 2.0 * work(paper.name, full=False)


def test_unknown_papers_and_items_are_answered_with_the_known() -> None:
    with pytest.raises(SweepError, match='did you mean "bottlenecks"'):
        chosen(["botlenecks"])
    with pytest.raises(SweepError, match='did you mean "figure-4"'):
        chosen(["bottlenecks/figur-4"])


def test_items_are_chosen_once_and_by_name() -> None:
    ((paper, items),) = chosen(["bottlenecks/figure-4", "bottlenecks/figure-2", "bottlenecks/figure-4"])
    assert paper.name == "bottlenecks"
    assert [item.name for item in items] == ["figure-4", "figure-2"]


def test_the_command_line_prints_verdicts_and_where_the_report_is(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["reproduce", "bottlenecks/figure-5", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "figure-5" in done.output
    assert str(tmp_path / "quick" / "report.html") in done.output.replace("\n", "")


def test_what_came_out_otherwise_than_on_record_is_said() -> None:
    ((_, (item,)),) = chosen(["bottlenecks/figure-9"])
    findings = {"throughput": Finding(600.0), "disappears": Finding(1.0)}
    judgements = {"throughput": Judgement("differs"), "disappears": Judgement("agrees")}
    text = why(ReproducedItem(item, Outcome(findings), judgements), "full")
    assert text.startswith("Differ: throughput 600 kbit/s (the paper: 717).")
    assert "in this run (full) it is otherwise: throughput differs, on record agrees" in text


@pytest.mark.parametrize(
    "path", sorted(Path(str(files("ackclock.experiments"))).glob("*/scenarios/*.toml")), ids=lambda path: path.stem
)
def test_scenarios_of_the_papers_are_whole_and_say_where_they_come_from(path: Path) -> None:
    scenario = load(path)
    assert scenario.title
    assert "# Source: " in path.read_text(encoding="utf-8")
