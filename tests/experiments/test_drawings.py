"""Diagrams that are drawn from runs: they show what the papers' do."""

from pathlib import Path

from ackclock.experiments import chosen, reproduce
from ackclock.experiments.engset.figure_1 import events, scenarios
from ackclock.experiments.frame import Run, Setting
from ackclock.sweeps import Folder, point_key, run_points


def test_the_timeline_of_newreno_is_the_paper_s(tmp_path: Path) -> None:
    """Hold the run to each sentence on figure 1 [engset, section 3.1]."""
    resolved = scenarios(Setting())["timeline"]
    store = Folder(tmp_path)
    run_points([resolved], store)
    found = events(Run(resolved, store.read(point_key(resolved))))
    steps = [(kind, number) for kind, _, number in found]
    begun = steps.index(("retransmitted", 1))
    assert {number for kind, number in steps[:begun] if kind == "sent"} == {1, 2, 3, 4, 5, 6}
    # ACKs from 3, 4 and 5 are duplicates; the third one is the TD. That from 6 has new data sent.
    assert steps[begun - 1] == ("acknowledged", 0)
    assert steps[begun + 1 :][:2] == [("acknowledged", 0), ("sent", 7)]
    # The first loss is recovered: the missing packet, and a new one; then new data on the ACK from 7.
    assert steps[begun + 3 :][:5] == [
        ("acknowledged", 1),
        ("retransmitted", 2),
        ("sent", 8),
        ("acknowledged", 1),
        ("sent", 9),
    ]
    # The recovery is over with a = 7 > recover = 6, and new data are sent.
    assert steps[begun + 8 :][:2] == [("acknowledged", 7), ("sent", 10)]


def test_a_drawing_is_in_the_report_with_the_verdict_on_its_order(tmp_path: Path) -> None:
    made = reproduce("engset/figure-1", out=tmp_path)
    ((_, (item,)),) = chosen(["engset/figure-1"])
    assert item.state == made.items[0].state == "reproduced"
    assert (tmp_path / "quick" / "engset" / "figure-1" / "timeline.png").stat().st_size > 1000
    assert "data:image/png" in (tmp_path / "quick" / "report.html").read_text(encoding="utf-8")
