"""The report's formats: everything in them is escaped, tables have the paper's numbers next to ours."""

import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from math import nan
from pathlib import Path

import pytest

from ackclock.experiments import Reproduction, reproduce
from ackclock.experiments.frame import Measure
from ackclock.experiments.report import html_report, latex_report, markdown_report
from ackclock.experiments.side_by_side import SideBySide, column

HOSTILE = "<script>alert(1)</script> | 5% & $x_1^2$ \\end{document} *b* {{ 7 * 7 }} \"q\" 'p'"
TABLE = SideBySide(
    HOSTILE, {HOSTILE: ["first", HOSTILE]}, [column(HOSTILE, [1.0, nan], [2.0, 3.0], [1.5, nan], [2.5, nan])]
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Reproduction, Path]:
    """Reproduce an item, and put signs of all formats wherever people write text."""
    out = tmp_path_factory.mktemp("hostile")
    made = reproduce("bottlenecks/figure-9", out=out)
    (paper, (one,)), *_ = made.papers
    rows = tuple(replace(row, claim=HOSTILE, where=HOSTILE, reason=HOSTILE, unit=HOSTILE) for row in one.item.expected)
    item = replace(one.item, title=HOSTILE, why=HOSTILE, expected=rows)
    findings = {key: replace(found, note=HOSTILE) for key, found in one.outcome.findings.items()}
    charts = {name: replace(chart, title=HOSTILE) for name, chart in one.outcome.charts.items()}
    outcome = replace(one.outcome, findings=findings, charts=charts, notes=(HOSTILE,), tables={"table": TABLE})
    paper = replace(paper, title=HOSTILE, authors=HOSTILE, source=HOSTILE, readings=(HOSTILE,))
    changed = replace(one, item=item, outcome=outcome, made_by=HOSTILE)
    return replace(made, papers=((paper, (changed,)),), overrides={HOSTILE: HOSTILE}), out / "quick"


class Tags(HTMLParser):
    """The tags of a page, those that are not closed, and its cells' words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)
        if tag not in {"meta", "img", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_has_no_tag_of_its_texts_and_all_tags_are_closed(hostile: tuple[Reproduction, Path]) -> None:
    for page in (html_report(*hostile), hostile[0]._repr_html_()):
        tags = Tags(page)
        assert "script" not in tags.seen
        assert tags.open == []
        assert "&lt;script&gt;" in page
        assert "49" not in re.sub(r"base64,[^\"]*", "", page).split("{{ 7 * 7 }}")[1][:5]


def test_links_of_the_page_lead_somewhere(hostile: tuple[Reproduction, Path]) -> None:
    page = html_report(*hostile)
    targets = set(re.findall(r' id="([^"]+)"', page))
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert links <= targets
    assert {"bottlenecks", "bottlenecks-figure-9", "index"} <= links


def test_markdown_has_the_same_number_of_cells_in_each_row_of_a_table(hostile: tuple[Reproduction, Path]) -> None:
    text = markdown_report(hostile[0])
    assert not re.search(r"(?<!\\)<script", text)
    tables = [block for block in re.split(r"\n\n", text) if block.startswith("|")]
    assert len(tables) == 3
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.strip().splitlines()}) == 1


def test_latex_has_balanced_braces_and_no_command_of_its_texts(hostile: tuple[Reproduction, Path]) -> None:
    text = latex_report(hostile[0])
    assert text.count("\\end{document}") == 1
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert "\\textbackslash{}end\\{document\\}" in text
    assert "$" not in re.sub(r"\\\$", "", text)
    for begun in re.findall(r"\\begin\{(\w+)\}", text):
        assert text.count(f"\\begin{{{begun}}}") == text.count(f"\\end{{{begun}}}")


PDFLATEX = shutil.which("pdflatex")
WITHOUT_TEX = pytest.mark.skipif(PDFLATEX is None, reason="pdflatex is not installed: report.tex is not compiled")


def compiled(folder: Path) -> str:
    """Compile a folder's report.tex as docs/papers/verdicts.md says, and return what TeX logged."""
    assert PDFLATEX is not None
    options = ["-interaction=nonstopmode", "-halt-on-error"]
    # The first time is for the references alone: in draft mode TeX reads no picture.
    for command in ([PDFLATEX, "-draftmode", *options], [PDFLATEX, *options]):
        done = subprocess.run(
            [*command, "report.tex"], cwd=folder, capture_output=True, text=True, errors="replace", check=False
        )
        assert done.returncode == 0, done.stdout[-2000:]
    assert (folder / "report.pdf").stat().st_size > 10_000
    return (folder / "report.log").read_text(encoding="utf-8", errors="replace")


@WITHOUT_TEX
def test_the_latex_of_all_papers_compiles_and_nothing_is_wider_than_its_page(
    made: tuple[Reproduction, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "quick"
    shutil.copytree(made[1] / "quick", folder)
    log = compiled(folder)
    assert "Overfull \\hbox" not in log
    assert "undefined references" not in log


@WITHOUT_TEX
def test_latex_compiles_whatever_signs_the_texts_have(hostile: tuple[Reproduction, Path], tmp_path: Path) -> None:
    folder = tmp_path / "quick"
    shutil.copytree(hostile[1], folder)
    (folder / "report.tex").write_text(latex_report(hostile[0]), encoding="utf-8")
    compiled(folder)


def test_a_latex_table_has_as_many_cells_in_each_row_as_columns(hostile: tuple[Reproduction, Path]) -> None:
    first = latex_report(hostile[0]).split("\\begin{longtable}")[1].split("\\end{longtable}")[0]
    assert re.match(r"\{lR\{[0-9.]+\}R\{[0-9.]+\}\}", first)
    rows = [row for row in first.splitlines() if re.search(r"(?<!\\)&", row) and "multicolumn" not in row]
    assert [len(re.findall(r"(?<!\\)&", row)) for row in rows] == [2, 2, 2]


def test_a_table_side_by_side_has_both_numbers_and_the_interval(hostile: tuple[Reproduction, Path]) -> None:
    page = html_report(*hostile)
    assert '<td class="number">1</td><td class="number">2<br><small>1.5 to 2.5</small></td>' in page
    assert '<td class="number"></td><td class="number">3</td>' in page
    frame = TABLE.frame
    assert frame[f"{HOSTILE}, the paper"].tolist()[0] == 1.0
    assert frame[f"{HOSTILE}, ours"].tolist() == [2.0, 3.0]
    assert repr(SideBySide.from_dict(TABLE.to_dict())) == repr(TABLE)


def test_the_judged_number_and_its_interval_are_in_the_row(hostile: tuple[Reproduction, Path]) -> None:
    (paper, (one,)), *_ = hostile[0].papers
    key = one.item.expected[0].key
    findings = {**one.outcome.findings, key: replace(one.finding(key), simulation=Measure(717.0, 710.5, 723.5))}
    made = replace(hostile[0], papers=((paper, (replace(one, outcome=replace(one.outcome, findings=findings)),)),))
    for text in (html_report(made, hostile[1]), markdown_report(made), latex_report(made)):
        assert "710.5 to 723.5" in text
