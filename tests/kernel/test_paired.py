"""Mean differences over pairs of runs: what is computed of them, and which starts are played."""

from dataclasses import replace
from statistics import fmean
from typing import Any

import pytest

from crosscheck.linux import kernel, paired
from crosscheck.linux.__main__ import main
from crosscheck.linux.check import Case, resolved
from crosscheck.linux.draw import draw, draw_managed
from crosscheck.linux.figures import Figures

FIGURES = Figures((3.0, 4.0), 20.0, 100, 10, 100, 0, cwnd_mean=8.0)


def test_a_small_difference_in_each_pair_is_not_by_chance_and_a_large_one_in_some_may_be() -> None:
    theirs = [replace(FIGURES, queue_ms=20.0 + one, drops=100 + 10 * one) for one in range(8)]
    mine = [replace(one, queue_ms=0.95 * one.queue_ms) for one in theirs]
    mine = [replace(one, drops=theirs[at].drops + (40 if at % 2 else -36)) for at, one in enumerate(mine)]
    found = {one.name: one for one in paired.differences(theirs, mine)}
    queue, drops = found["mean queue [ms]"], found["drops"]
    assert queue.mean == pytest.approx(-0.05 * queue.theirs)
    assert queue.is_sure
    assert "-5.00%" in queue.line()
    assert queue.line().endswith("not by chance")
    assert drops.mean == pytest.approx(2.0)
    assert not drops.is_sure
    assert found["throughput [Mbit/s]"].theirs == 7.0
    assert not found["throughput [Mbit/s]"].is_sure
    # Without any timeout there is nothing to relate a difference to.
    assert "%" not in found["timeouts"].line()


def test_a_difference_that_is_the_same_in_all_pairs_is_sure() -> None:
    mine = [replace(FIGURES, recoveries=11)] * 3
    found = {one.name: one for one in paired.differences([FIGURES] * 3, mine)}
    assert found["recoveries"].is_sure
    assert not found["drops"].is_sure


def test_starts_move_each_flow_by_up_to_50_ms_and_are_the_same_again() -> None:
    scenario = resolved(draw(7, 1))
    found = list(paired.other_starts(scenario, 5))
    assert found[0] == scenario
    assert found == list(paired.other_starts(scenario, 5))
    moved = [
        [flow["start_s"] - first["start_s"] for flow, first in zip(one["flows"], scenario["flows"], strict=True)]
        for one in found[1:]
    ]
    assert all(abs(by_s) <= 0.05 for one in moved for by_s in one)
    assert len({by_s for one in moved for by_s in one}) == 4 * len(scenario["flows"])


def test_a_path_that_one_side_cannot_run_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise kernel.KernelError("the kernel did not end its run")

    monkeypatch.setattr(kernel, "play", fails)
    text = paired.mean_differences(Case("one", resolved(draw(7, 1))), 2)
    assert text == "one\n    KernelError: the kernel did not end its run"


def test_pie_updates_as_often_as_the_kernel_s() -> None:
    """Hold 16 flows of CUBIC behind FQ-PIE to the means of the kernel's six runs, played once with these starts.

    With an update each 15 ms the mean queue was 5% shorter, drops were 6% and recoveries 4% more.
    """
    document = draw_managed(281128, 16)
    for flow in document["flow"]:
        flow["tcp"]["preset"] = "linux-cubic"
    starts = paired.other_starts(resolved(document), 6)
    found = [Case("", one).ours(0.0) for one in starts]
    assert fmean(one.queue_ms for one in found) == pytest.approx(61.81, rel=0.01)
    assert fmean(one.drops for one in found) == pytest.approx(2376.5, rel=0.03)
    assert fmean(one.recoveries for one in found) == pytest.approx(1431.5, rel=0.01)


@pytest.mark.parametrize("given", ["1", "-3", "two"])
def test_fewer_than_two_starts_are_refused(capsys: pytest.CaptureFixture[str], given: str) -> None:
    with pytest.raises(SystemExit):
        main([f"--starts={given}"])
    assert f"{given} is not a number of starts: 2 or more" in capsys.readouterr().err
