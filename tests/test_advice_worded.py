"""The words of advice on buffers are those of its tables."""

from functools import cache
from importlib.resources import files
from math import inf
from pathlib import Path

import ackclock
from ackclock.advice import Recommendation

LESSONS = Path(str(files("ackclock.lab"))) / "lessons"


@cache
def advised_lesson(name: str) -> Recommendation:
    advice = ackclock.advise(LESSONS / name / "scenario.toml", topics=["bottleneck-buffer"])
    (found,) = advice.recommendations
    return found


def test_no_size_below_the_answer_meets_the_targets_without_a_word() -> None:
    """The search holds 55 packets, which runs of twice the time refute; it tried 57 and 59 too, below 61."""
    found = advised_lesson("7-cubic-bbr")
    (table,) = found.alternatives
    rows = {row.size_packets: row for row in table.rows}
    chosen = next(row.size_packets for row in table.rows if row.chosen)
    assert chosen == 57
    assert rows[55].meets
    assert rows[55].cells[-1] == "refuted"
    doubts = {"refuted", "by chance"}
    assert all(not row.meets or row.note in doubts for row in table.rows if (row.size_packets or inf) < chosen)
    assert any(
        remark.startswith("55 packets at bottleneck meet the targets in the runs of") for remark in found.remarks
    )


def test_the_round_trips_of_the_sentence_are_in_the_table_under_their_own_name() -> None:
    """Those of the flow that the queue costs most are not the longest ones."""
    found = advised_lesson("2-bufferbloat")
    rows = {row.text: row.cells for row in found.check}
    _, old, new, _ = rows["round trip of web, p95"]
    assert f"95% of the round trips of web are up to {old} instead of {new}" in found.answer
    assert rows["longest round trip, p95"][2] != new
