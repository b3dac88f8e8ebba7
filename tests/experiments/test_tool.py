"""The tool that reproduces: which items are found by name, what a report keeps, what a change does."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ackclock
from ackclock.cli import app
from ackclock.errors import ArgumentError, ScenarioError, SweepError
from ackclock.experiments import chosen, reproduce
from ackclock.experiments.kept import KEPT, read_item
from ackclock.experiments.record import update_record

FOUND = {
    "RR-3620/figure-4": "bottlenecks/figure-4",
    "Analysis of TCP with Several Bottleneck Nodes/fig. 4": "bottlenecks/figure-4",
    "bottlenecks/fig4": "bottlenecks/figure-4",
    "two-way/Figure 5.2": "two_way/figure-5.2",
    "UCSC-CRL-96-23/5.2": "two_way/figure-5.2",
    "engset/4.2": "engset/section-4.2",
    "Zaragoza/Tab. 7": "engset/table-7",
    "Table 7": "engset/table-7",
    "figure 16": "engset/figure-16",
}


def names_of(*names: str) -> list[str]:
    return [f"{paper.name}/{item.name}" for paper, items in chosen(names) for item in items]


@pytest.mark.parametrize(("written", "item"), FOUND.items())
def test_an_item_is_found_by_the_paper_s_own_name(written: str, item: str) -> None:
    assert names_of(written) == [item]


def test_a_paper_is_found_by_its_report_number() -> None:
    assert names_of("hal-00956255") == names_of("engset")


@pytest.mark.parametrize(
    ("written", "listed"),
    {
        "figure 4": ["abrupt_delay/figure-4", "bottlenecks/figure-4", "engset/figure-4"],
        "Barakat": ["bottlenecks", "variable_delay"],
        "Barakat/figure-2": ["bottlenecks", "variable_delay"],
        "figur-16": ['"engset/figure-16"'],
        "engset/figure-17": ['"figure-1'],
        "": ["bottlenecks"],
        "/": ["bottlenecks"],
    }.items(),
)
def test_a_name_that_does_not_fit_one_item_is_answered_with_near_ones(written: str, listed: list[str]) -> None:
    with pytest.raises(SweepError) as refused:
        chosen([written])
    for name in listed:
        assert name in str(refused.value)


def verdicts(folder: Path) -> dict[str, str]:
    with (folder / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        return {f"{row['paper']}/{row['item']}/{row['key']}": row["verdict"] for row in csv.DictReader(file)}


def test_a_report_keeps_the_items_of_earlier_calls(tmp_path: Path) -> None:
    reproduce("bottlenecks/figure-5", out=tmp_path)
    first = verdicts(tmp_path / "quick")
    made = reproduce("bottlenecks/figure-9", out=tmp_path)
    both = verdicts(tmp_path / "quick")
    assert [one.item.name for one in made.items] == ["figure-9"]
    assert first.items() < both.items()
    assert {key.split("/")[1] for key in both} == {"figure-5", "figure-9"}
    page, markdown = ((tmp_path / "quick" / name).read_text(encoding="utf-8") for name in ("report.html", "report.md"))
    assert page.index('<h3 id="bottlenecks-figure-5"') < page.index('<h3 id="bottlenecks-figure-9"')
    assert len(re.findall("<img ", page)) == 2
    assert "### figure-5: " in markdown
    assert "Reproduced by an earlier call" in markdown


def test_an_item_whose_file_is_damaged_is_left_out_of_later_reports(tmp_path: Path) -> None:
    reproduce("bottlenecks/figure-5", out=tmp_path)
    (tmp_path / "quick" / "bottlenecks" / "figure-5" / KEPT).write_text('{"findings": 3}', encoding="utf-8")
    ((_, (item,)),) = chosen(["bottlenecks/figure-5"])
    assert read_item(tmp_path / "quick", item) is None
    reproduce("bottlenecks/figure-6", out=tmp_path)
    assert {key.split("/")[1] for key in verdicts(tmp_path / "quick")} == {"figure-6"}


def test_a_kept_item_is_what_was_found(tmp_path: Path) -> None:
    (made,) = reproduce("bottlenecks/figure-9", out=tmp_path).items
    kept = read_item(tmp_path / "quick", made.item)
    assert kept is not None
    assert kept.verdicts == made.verdicts
    for key, found in made.outcome.findings.items():
        assert repr(kept.finding(key).measure) == repr(found.measure)
        assert kept.finding(key).note == found.note
    assert kept.made_by == ackclock.__version__


def test_a_changed_form_has_a_folder_of_its_own_and_says_what_was_changed(tmp_path: Path) -> None:
    made = ackclock.reproduce("bottlenecks/figure-9", overrides={"link.satellite.buffer": "20 pkt"}, out=tmp_path)
    (folder,) = tmp_path.glob("quick-link*")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "The form was changed: link.satellite.buffer = 20 pkt." in page
    assert "on record" not in page
    assert made.items[0].item.why not in page
    with (folder / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        assert {row["form"] for row in csv.DictReader(file)} == {"quick, changed"}
    assert not (tmp_path / "quick").exists()


def test_a_change_changes_the_numbers(tmp_path: Path) -> None:
    (paper,) = reproduce("bottlenecks/figure-9", out=tmp_path).items
    (same,) = reproduce("bottlenecks/figure-9", out=tmp_path, overrides={"link.satellite.rate": "1.5 Mbit/s"}).items
    (other,) = reproduce("bottlenecks/figure-9", out=tmp_path, overrides={"link.satellite.rate": "1 Mbit/s"}).items
    key = "throughput"
    assert same.finding(key).measure.value == paper.finding(key).measure.value
    assert other.finding(key).measure.value < paper.finding(key).measure.value


def test_a_name_with_a_star_changes_all_that_fit_and_the_report_says_where(tmp_path: Path) -> None:
    made = ackclock.reproduce("bottlenecks/figure-4", overrides={"link.node*.buffer": "30 pkt"}, out=tmp_path)
    assert "link.node*.buffer in" in made.items[0].outcome.notes[0]


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"link.node.buffer": "20 pkt"}, SweepError, "link.satellite"),
        ({"link.satellite.buffer": "20 bananas"}, ScenarioError, "buffer"),
        ({"link.satellite.bufer": "20 pkt"}, ScenarioError, "buffer"),
        ({"lnk.satellite.buffer": "20 pkt"}, ScenarioError, "link"),
    ],
)
def test_a_change_that_fits_nothing_is_refused(
    changes: dict[str, str], error: type[Exception], words: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        reproduce("bottlenecks/figure-9", overrides=changes, out=tmp_path)


def test_an_item_without_simulations_cannot_be_changed(tmp_path: Path) -> None:
    with pytest.raises(SweepError, match="simulates nothing"):
        reproduce("engset/figure-3", overrides={"run.duration": "10 s"}, out=tmp_path)


def test_a_change_after_which_an_item_cannot_be_judged_is_answered_in_words(tmp_path: Path) -> None:
    arguments = ["reproduce", "bottlenecks/text", "--set", "run.duration=1 s", "--set", "run.warmup=0 s"]
    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path)])
    assert isinstance(done.exception, SweepError)
    assert "bottlenecks/text: cannot be judged with these changes" in str(done.exception)


def test_verdicts_of_a_changed_form_do_not_enter_the_record(tmp_path: Path) -> None:
    reproduce("bottlenecks/figure-9", overrides={"link.satellite.rate": "1 Mbit/s"}, out=tmp_path)
    (changed,) = tmp_path.glob("quick-link*")
    folder = tmp_path / "python" / "ackclock" / "experiments" / "bottlenecks"
    folder.mkdir(parents=True)
    update_record(tmp_path, changed / "verdicts.csv")
    own = Path(ackclock.__file__).parent / "experiments" / "bottlenecks" / "record.csv"
    assert (folder / "record.csv").read_text(encoding="utf-8") == own.read_text(encoding="utf-8")


@pytest.mark.parametrize("names", [1, [5], None])
def test_names_that_are_not_texts_are_refused(names: Any, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match='argument "names": is not what the function takes'):
        ackclock.reproduce(names, out=tmp_path / "papers")
    assert not (tmp_path / "papers").exists()
