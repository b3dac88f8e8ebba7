"""The paper on two-way traffic: what is measured of a run, against the exact timeline and against known numbers."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ackclock
from ackclock.experiments.frame import Run, resolved, scenario_tables
from ackclock.experiments.papers import read_paper
from ackclock.experiments.two_way import atm, line, r_1
from ackclock.experiments.two_way.line import Pair, Visit
from ackclock.models import two_way
from ackclock.scenario import Resolved, load, resolve
from ackclock.sweeps import Memory, point_key, run_points

ROOT = Path(__file__).parents[2]


def run(scenario: Resolved) -> Run:
    store = Memory()
    run_points([scenario], store)
    return Run(scenario, store.read(point_key(scenario)))


def data(entered: float, end: float) -> Visit:
    return Visit(True, entered, end - 1.0, end)


def ack(entered: float) -> Visit:
    return Visit(False, entered, entered, entered)


def test_every_figure_of_the_paper_is_listed() -> None:
    figures = {2: 4, 3: 4, 4: 1, 5: 16}
    names = {item.name for item in read_paper("two_way").items}
    expected = {f"figure-{chapter}.{number}" for chapter, last in figures.items() for number in range(1, last + 1)}
    assert names == expected | {"gfc-2", "losses", "processing", "separate-acks", "text"}


PAIR = Pair((5, 3), (2.0, 1.5))


@pytest.fixture(scope="module")
def simulated() -> Run:
    begin = {"flow.i.tcp.initial_window": "5 pkt", "flow.j.tcp.initial_window": "3 pkt", "flow.j.start": "1.25 ms"}
    return run(line.scenario(PAIR, begin))


def test_the_replayed_queues_are_those_of_the_exact_timeline(simulated: Run) -> None:
    exact = two_way.timeline(PAIR.windows, PAIR.lengths, starts=(0.0, 1.25), until=60.0)
    for stays, node in zip(line.visits(simulated), (exact.i, exact.j), strict=True):
        segments = [1e3 * stay.start for stay in stays if stay.is_data]
        expected = [one.start for one in node.sent if one.kind == "segment"]
        # ACKs of 1 byte need a little time, none in the timeline.
        assert segments[: len(expected)] == pytest.approx(expected, abs=0.02)


def test_the_measured_efficiency_is_the_theorems(simulated: Run) -> None:
    found = [line.measured(simulated, flow) for flow in (0, 1)]
    assert found == pytest.approx(list(PAIR.efficiency), abs=1e-3)
    assert PAIR.case == 2
    assert max(found) < 0.9


def test_a_run_without_two_periods_measures_nothing() -> None:
    short = resolved(scenario_tables("two_way", "line"), {"run.duration": "0.05 s"})
    with pytest.raises(ValueError, match="simulate longer"):
        line.measured(run(short))


def test_runs_of_segments_end_at_an_ack() -> None:
    stays = [data(0, 1), data(0, 2), ack(2), ack(2.5), data(3, 4), data(4, 5), data(5, 6), ack(7), data(8, 9)]
    assert line.runs_of_data(stays, -1.0, 99.0) == [2, 3, 1]
    assert line.runs_of_data(stays, 1.0, 6.0) == [3]


def test_the_most_segments_at_once_leaves_ties_and_acks_out() -> None:
    assert line.most_data([data(0, 1), data(0, 2), ack(0), ack(0)], 0.0) == 2
    # The second enters as the first leaves.
    assert line.most_data([data(0, 1), data(1.0, 2)], 0.0) == 1
    assert line.most_data([data(0, 1), data(0, 2), data(5, 6)], 4.0) == 1


def test_clusters_are_segments_nearer_than_half_a_segments_time() -> None:
    step = r_1.SHARE_SEGMENT_S
    burst = [0.0, 0.01, 0.02, 0.03]
    times = [at * step for start in (0, 10, 20, 30) for at in (*(start + one for one in burst), start + 2, start + 3)]
    # The first and the last may be cut.
    assert r_1.clusters(np.array(times)) == [(6, 10), (12, 16)]


def test_the_rate_of_tcp_segments_over_the_papers_channel_is_131_mbit() -> None:
    assert pytest.approx(130.85, abs=0.01) == atm.USER_MBPS
    assert pytest.approx(28.5, abs=0.1) == 0.016 / atm.SEGMENT_S


@pytest.fixture(scope="module")
def channel() -> Run:
    traces = {"trace.acr": True, "trace.ip_queue": True, "trace.sequence": True}
    return run(atm.scenario("abr", {"run.duration": "0.6 s", "run.warmup": "0.4 s"} | traces))


def test_the_cell_rate_is_reached_once_it_stays(channel: Run) -> None:
    reached = atm.acr_reaches(channel, "vc", atm.LINE_MBPS)
    times, values = atm.rows(channel, "acr", "vc")
    assert values[times < reached].max() < 0.999e6 * atm.LINE_MBPS
    assert np.isnan(atm.acr_reaches(channel, "vc", 100.0))


def test_peaks_lie_between_instants_at_which_the_queue_is_empty(channel: Run) -> None:
    times, tops = atm.peaks(channel, "vc", 0.3)
    assert set(tops.tolist()) == {14.0}
    assert np.diff(times) == pytest.approx(np.full(len(times) - 1, 0.0236), abs=0.0006)


def test_curves_of_traces_go_on_to_the_end_of_what_is_shown(channel: Run) -> None:
    curve = atm.stepped(channel, "acr", "vc", "rate", 0, since=0.05, until=0.5)
    assert (curve.x[0], curve.x[-1]) == (0.05, 0.5)
    assert curve.y[-1] == pytest.approx(atm.LINE_MBPS)
    assert 3.0 < curve.y[0] < atm.LINE_MBPS


@pytest.mark.parametrize(
    ("name", "ready"),
    [
        ("abr", "two-way-abr"),
        ("asymmetric", "two-way-asymmetric"),
        ("r-1", "two-way-r1"),
        ("client-server", "two-way-client-server"),
        ("gfc-2", "two-way-gfc2"),
    ],
)
def test_ready_scenarios_are_those_of_the_paper(name: str, ready: str) -> None:
    def network(scenario: Resolved) -> list[Any]:
        return [scenario.elements, scenario.flows, scenario.atm]

    ours = resolved(scenario_tables("two_way", name))
    assert network(ours) == network(resolve(load(ROOT / "scenarios" / f"{ready}.toml")))


@pytest.mark.parametrize(
    ("ready", "within"),
    [
        ("two-way-abr", 0.015),
        ("two-way-asymmetric", 0.015),
        ("two-way-r1", 0.015),
        ("two-way-client-server", 0.015),
    ],
)
def test_the_model_stands_beside_the_ready_scenarios(ready: str, within: float) -> None:
    found = ackclock.compare(ackclock.run(ROOT / "scenarios" / f"{ready}.toml", duration="4 s", picture=False))
    pairs = [one for one in found.pairs if (one.model, one.key) == ("two-way", "throughput_bps")]
    assert [one.difference for one in pairs] == pytest.approx([0.0] * len(pairs), abs=within)
    assert len(pairs) == {"two-way-r1": 6, "two-way-client-server": 6}.get(ready, 2)


def test_theorem_2_tells_its_cases_apart() -> None:
    pair = Pair((40, 4), (2.0, 2.0))
    assert (pair.case, replace(pair, windows=(4, 40)).case, replace(pair, windows=(9, 9)).case) == (1, 3, 2)
