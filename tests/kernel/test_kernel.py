"""What is read of a run of the kernel, and what happens where there is no kernel; one run where there is one."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crosscheck.linux import __main__ as command
from crosscheck.linux import check, kernel, ours, recorded
from crosscheck.linux.experiment import Experiment, KernelFlow
from crosscheck.linux.figures import Figures
from crosscheck.linux.kernel import KernelError, Played
from crosscheck.linux.picture import chart
from crosscheck.linux.realisations import SHIFTS_US, phase_of_s, realise, shift_name
from crosscheck.linux.translate import translate

FLOWS = tuple(KernelFlow(name, "reno", 0.0, None, 0.01, 0.01) for name in ("one", "two"))
EXPERIMENT = Experiment("read", FLOWS, 10_000_000, 20, 1500, 4.0, 1.0, offset_s=0.5)
ANALYSED = "arr=900 dep=880 drops=17 bare_drops=3 w_util=0.9 q_mean_ms=12.5 q_p50_ms=11.0 q_p95_ms=20.5"
LOG = """guest: 6.1.192 uptime 0.00 0.00
finish flow=1 t=2.250
finish flow=0 t=-1.000
lab: end t=4.000
qdisc netem 8002: root refcnt 2 limit 20 rate 10Mbit packetoverhead -14
 Sent 1332000 bytes 888 pkt (dropped 21, overlimits 0 requeues 0)
qdisc netem 8003: root refcnt 2 limit 100000 delay 10ms
 Sent 1332000 bytes 888 pkt (dropped 4, overlimits 0 requeues 0)
"""
COUNTERS = {"TcpExtTCPSackRecovery": 5, "TcpExtTCPRenoRecovery": 2, "TcpRetransSegs": 23, "TcpExtTCPTimeouts": 1}


def windows() -> kernel.Columns:
    """Two flows that acknowledge 1 and 0.5 MB a second from 0 s on, with windows of 10 and 30 packets."""
    times = np.repeat(np.arange(0.0, 4.01, 0.01), 2)
    flows = np.tile([0.0, 1.0], len(times) // 2)
    rate = np.where(flows == 0.0, 1e6, 0.5e6)
    return {"t": times, "flow": flows, "cwnd": np.where(flows == 0.0, 10.0, 30.0), "bytes_acked": rate * times}


def test_figures_are_read_from_what_a_run_leaves() -> None:
    found = kernel.read_figures(EXPERIMENT, windows(), ANALYSED, COUNTERS, LOG)
    assert list(found.goodput_mbps) == pytest.approx([8.0, 4.0], rel=0.005)
    assert (found.drops, found.recoveries, found.retransmissions, found.timeouts) == (18, 7, 23, 1)
    assert (found.queue_ms, found.cwnd_mean, found.cwnd_max) == (12.5, 20.0, 30.0)
    assert np.isnan(found.queue_p95_ms), "of drop-tail the mean alone is judged"
    managed = replace(EXPERIMENT, options={"aqm": "codel"})
    assert kernel.read_figures(managed, windows(), ANALYSED, COUNTERS, LOG).queue_p95_ms == 20.5


def test_syns_that_are_sent_again_are_no_retransmissions_of_data_and_no_timeouts() -> None:
    counters = {**COUNTERS, "TcpRetransSegs": 26, "TcpExtTCPTimeouts": 4, "TcpExtTCPSynRetrans": 3}
    found = kernel.read_figures(EXPERIMENT, windows(), ANALYSED, counters, LOG)
    assert (found.retransmissions, found.timeouts) == (23, 1)


def test_a_log_without_the_bottlenecks_counters_is_an_error() -> None:
    with pytest.raises(KernelError, match="read: the guest's log has no counters"):
        kernel.read_figures(EXPERIMENT, windows(), ANALYSED, COUNTERS, "guest: 6.1.192\n")


def test_a_queue_whose_packets_have_not_left_at_the_end_is_cut() -> None:
    times = np.arange(0.0, 3.5, 0.01)
    found = kernel.known_queue(EXPERIMENT, {"t": times, "queue_pkts": np.where(times > 3.48, 0.0, 9.0)})
    assert found["t"][-1] == pytest.approx(3.5 - 20 * 1500 * 8 / 10e6, abs=0.01)
    assert set(found["queue_pkts"]) == {9.0}


def test_finishes_are_as_the_scenario_counts_time_and_unfinished_flows_have_none() -> None:
    assert kernel.read_finishes(EXPERIMENT, LOG) == {1: 1.75}


def test_a_command_line_that_is_too_long_is_refused(tmp_path: Path) -> None:
    many = replace(EXPERIMENT, options={"wire": "drop=" + ",".join(map(str, range(2000)))})
    with pytest.raises(KernelError, match="do not fit the kernel's command line of 4096 B"):
        kernel._boot(many, tmp_path)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let nothing be installed."""
    monkeypatch.setattr(kernel, "SOURCE", tmp_path / "linux-source-6.1.tar.xz")
    monkeypatch.setattr(kernel, "CACHE", tmp_path)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("shutil.which", lambda name: None if name in ("flex", "bc") else name)


@pytest.mark.usefixtures("bare")
def test_without_the_package_the_command_says_so_and_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 0
    said = capsys.readouterr().out
    assert said.startswith("skipped: no Linux kernel to compare with: flex, bc, ")
    assert "apt-get install bc flex linux-source-6.1" in said


@pytest.mark.usefixtures("bare")
def test_a_kernel_that_is_built_needs_no_source(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel._kernel_file().write_text("")
    assert kernel.missing() is None
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert kernel.missing() == "User Mode Linux needs x86_64; this is aarch64"


def test_a_scenario_that_cannot_be_played_and_a_kernel_that_fails_are_said_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KernelError("no result")

    monkeypatch.setattr(kernel, "missing", lambda: None)
    monkeypatch.setattr(kernel, "is_built", lambda: True)
    monkeypatch.setattr(kernel, "build", lambda: None)
    monkeypatch.setattr(kernel, "play", fail)
    file = tmp_path / "own.toml"
    link, run = '[[link]]\nname = "isp"\nrate = "5 Mbit/s"\n', '[run]\nduration = "5 s"\n'
    file.write_text(f'{link}[[flow]]\npath = ["isp"]\ntcp = "newreno-rfc6582"\n{run}')
    assert command.main([str(file)]) == 2
    assert capsys.readouterr().out.startswith("flow.flow.tcp.recovery: 'newreno' cannot be played in the kernel; ")
    file.write_text(f'{link}[[flow]]\npath = ["isp"]\ntcp = "linux-reno"\n{run}')
    assert command.main([str(file)]) == 1
    assert capsys.readouterr().out == "no result\n"


def test_a_name_that_no_scenario_has_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel, "missing", lambda: None)
    monkeypatch.setattr(kernel, "is_built", lambda: True)
    monkeypatch.setattr(kernel, "build", lambda: None)
    assert command.main(["--fresh", "0", "--only", "a_redecn"]) == 2
    said = capsys.readouterr().out
    assert "--only a_redecn: no name contains that; allowed: a part of one of " in said
    assert "A_redecn_16" in said


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch) -> dict[float, Figures]:
    """Let the kernel play what our engine does, but for the realisations that the test puts here."""
    said: dict[float, Figures] = {}
    scenario = recorded.runs()["D_cubic"].scenario()
    mine = ours.play(scenario)

    def play(experiment: Experiment, **how: bool) -> Any:
        figures = said.get(experiment.shift_us, said.get(-1.0, mine))
        sent = ours.sent(realise(scenario, 0.0), [-phase_of_s(scenario)]) if how.get("packets") else {}
        return Played(figures, {}, {}, {}, sent)

    monkeypatch.setattr(kernel, "play", play)
    return said


@pytest.mark.usefixtures("plays")
def test_the_same_figures_pass() -> None:
    report = check.check(check.Case("same", recorded.runs()["D_cubic"].scenario()))
    assert report.mark is check.Mark.PASS
    assert re.fullmatch(r"PASS   same\n    packets as the kernel's within 0.1 ms: all [1-9]\d+", report.text())


@pytest.mark.usefixtures("plays")
def test_a_packet_that_is_sent_later_is_shown_and_changes_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    play = kernel.play

    def late(experiment: Experiment, **how: bool) -> Any:
        played = play(experiment, **how)
        played.sent[0][0][100] += 2e-4
        return played

    monkeypatch.setattr(kernel, "play", late)
    report = check.check(check.Case("late", recorded.runs()["D_cubic"].scenario()))
    assert report.mark is check.Mark.PASS
    assert "packets as the kernel's within 0.1 ms: the first 100 of " in report.text()
    report = check.check(check.Case("late", recorded.runs()["D_cubic"].scenario(), exact=True))
    assert report.mark is check.Mark.SPREAD, "each packet should be the kernel's"


def test_packets_decide_where_all_should_be_the_kernels(plays: dict[float, Figures]) -> None:
    plays[-1.0] = replace(ours.play(recorded.runs()["D_cubic"].scenario()), queue_ms=500.0)
    report = check.check(check.Case("exact", recorded.runs()["D_cubic"].scenario(), exact=True))
    assert report.mark is check.Mark.PASS
    assert "mean queue [ms]      kernel     500.0000" in report.text()


def test_packets_that_cannot_be_compared_change_no_verdict(
    monkeypatch: pytest.MonkeyPatch, plays: dict[float, Figures]
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError("too many")

    monkeypatch.setattr(check, "same_packets", fail)
    report = check.check(check.Case("none", recorded.runs()["D_cubic"].scenario()))
    assert (report.mark, report.detail, plays) == (check.Mark.PASS, "packets: MemoryError: too many", {})


def test_other_figures_fail_after_all_realisations_were_played(plays: dict[float, Figures]) -> None:
    plays[-1.0] = replace(ours.play(recorded.runs()["D_cubic"].scenario()), drops=500)
    report = check.check(check.Case("other", recorded.runs()["D_cubic"].scenario()))
    assert report.mark is check.Mark.FAIL
    drops = next(one for one in report.compared if one.rule.name == "drops")
    assert len(drops.theirs) == len(drops.ours) == len(check.DECIDING_US) == 16
    assert "drops                kernel     500.0000  ackclock      27.0000" in report.text()
    assert check.check(check.Case("other", recorded.runs()["D_cubic"].scenario(), "why")).text().endswith("    why")


def test_what_eight_realisations_reject_sixteen_others_decide(plays: dict[float, Figures]) -> None:
    scenario = recorded.runs()["D_cubic"].scenario()
    mine = ours.play(scenario)
    plays.update({float(shift): replace(mine, drops=500) for shift in (0, *check.PLAYED_US)})
    report = check.check(check.Case("by chance", scenario))
    assert report.mark is check.Mark.PASS
    assert {len(one.theirs) for one in report.compared} == {len(check.DECIDING_US)}
    assert not set(check.DECIDING_US) & set(SHIFTS_US)


def test_recorded_realisations_are_not_played_again(plays: dict[float, Figures]) -> None:
    scenario = recorded.runs()["D_cubic"].scenario()
    plays[-1.0] = replace(ours.play(scenario), drops=500)
    spread = {shift_name(shift): replace(plays[-1.0], drops=27) for shift in SHIFTS_US[:12]}
    report = check.check(check.Case("spread", scenario, spread=spread))
    assert report.mark is check.Mark.SPREAD
    assert [one.theirs for one in report.compared if one.rule.name == "drops"] == [(500, *[27] * 11)]


def test_a_run_that_fails_is_reported_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(experiment: Experiment, **_: object) -> Any:
        raise KernelError("no result")

    monkeypatch.setattr(kernel, "play", play)
    report = check.check(check.Case("broken", recorded.runs()["D_cubic"].scenario()))
    assert (report.mark, report.detail) == (check.Mark.FAIL, "KernelError: no result")


def test_the_picture_has_both_curves_of_each_window_and_of_the_queue() -> None:
    scenario = recorded.runs()["T_reno"].scenario()
    queue = {"t": np.array([0.0, 1.0]), "queue_pkts": np.array([0.0, 5.0])}
    drawn = chart(scenario, Played(Figures((1.0, 1.0), 1.0, 0, 0, 0, 0), windows(), queue, {}), ours.traces(scenario))
    assert [panel.title for panel in drawn.panels] == ["window of flow1", "window of flow2", "queue of the bottleneck"]
    assert all([curve.label for curve in panel.curves] == ["Linux 6.1", "ackclock"] for panel in drawn.panels)
    their_window, our_window = drawn.panels[1].curves
    assert set(their_window.y) == {30.0}
    assert our_window.y.max() > 10.0
    assert drawn.panels[2].curves[1].y.max() == 100.0


@pytest.mark.skipif(not kernel.is_built(), reason="no Linux kernel in target/linux; make crosscheck-linux builds it")
def test_the_kernel_plays_a_recorded_run_again() -> None:
    run = replace(recorded.runs()["D_cubic"], duration_s=10.0, warmup_s=2.5)
    played = kernel.play(translate(run.scenario()))
    assert played.figures == kernel.play(translate(run.scenario())).figures
    assert (played.figures.drops, played.figures.recoveries) == (7, 4), "the recorded run's until then"
