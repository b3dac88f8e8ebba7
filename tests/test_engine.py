from dataclasses import replace
from typing import Any

import pytest

from ackclock.engine import run_resolved
from ackclock.errors import EngineError
from ackclock.overview import overview_interval_s
from fakes import RED, FakeJob, make_flow, make_link, make_resolved

Fake = type[FakeJob]


def numbers(outcome: Any) -> list[int]:
    return [replication["replication"] for replication in outcome.replications]


def test_all_replications_come_back_in_order(fake_engine: Fake) -> None:
    outcome = run_resolved(make_resolved(replications=5), threads=2)
    assert numbers(outcome) == [0, 1, 2, 3, 4]
    assert not outcome.interrupted


def test_a_scenario_without_randomness_runs_once(fake_engine: Fake) -> None:
    outcome = run_resolved(make_resolved(flows=[make_flow("flow")], replications=10))
    assert (numbers(outcome), outcome.requested) == ([0], 1)


@pytest.mark.parametrize(
    ("flow", "queue", "expected"),
    [
        ({}, {}, True),
        ({}, {"overflow": "front"}, True),
        ({"start_spread_s": 0.1}, {}, False),
        ({}, {"overflow": "random"}, False),
        ({}, RED, False),
    ],
)
def test_what_is_random(flow: dict[str, Any], queue: dict[str, Any], expected: bool) -> None:
    links = [make_link("a", queue=queue), make_link("b")]
    assert make_resolved([make_flow("flow", **flow)], links).is_deterministic is expected


def test_only_replication_0_pays_for_picture_and_capture(fake_engine: Fake) -> None:
    run_resolved(make_resolved(trace={"capture": ["satellite"], "rtt": True}), overview=True, threads=2)
    first, rest = (job.resolved.trace for job in fake_engine.started)
    assert (first.overview_interval_s, first.capture) == (100.0 / 2000, ("satellite",))
    assert (rest.overview_interval_s, rest.capture) == (None, None)
    assert first.rtt
    assert rest.rtt


def test_the_scenario_itself_stays_as_it_was(fake_engine: Fake) -> None:
    resolved = make_resolved()
    before = resolved.to_json()
    outcome = run_resolved(resolved)
    assert resolved.to_json() == before
    assert outcome.resolved == resolved


def test_without_a_picture_one_job_runs_all(fake_engine: Fake) -> None:
    run_resolved(make_resolved(), threads=3)
    assert [(job.replications, job.threads) for job in fake_engine.started] == [([0, 1, 2, 3], 3)]


@pytest.mark.parametrize(("threads", "shares"), [(1, [1, 1]), (2, [1, 2]), (4, [1, 3]), (16, [1, 3])])
def test_threads_follow_the_replications(fake_engine: Fake, threads: int, shares: list[int]) -> None:
    run_resolved(make_resolved(replications=4), overview=True, threads=threads)
    assert [job.threads for job in fake_engine.started] == shares


def test_many_flows_get_a_coarser_picture() -> None:
    one = make_resolved()
    assert overview_interval_s(replace(one, flows=one.flows * 99_998)) == 100.0 / 20


@pytest.mark.parametrize(("poll", "kept"), [(1, []), (3, [0, 1]), (4, [0, 1, 2])])
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_keeps_what_is_finished(fake_engine: Fake, poll: int, kept: list[int], threads: int) -> None:
    fake_engine.interrupt_after = poll
    outcome = run_resolved(make_resolved(replications=4), overview=True, threads=threads)
    assert outcome.interrupted
    assert numbers(outcome) == kept
    assert all(job.cancelled for job in fake_engine.started)


def test_progress_grows_to_one(fake_engine: Fake) -> None:
    seen: list[tuple[float, int]] = []
    run_resolved(make_resolved(replications=4), overview=True, threads=1, on_progress=lambda *now: seen.append(now))
    assert seen == sorted(seen)
    assert seen[-1] == (1.0, 4)


def test_a_failing_progress_report_stops_the_workers(fake_engine: Fake) -> None:
    def fail(_fraction: float, _finished: int) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        run_resolved(make_resolved(replications=4), overview=True, threads=2, on_progress=fail)
    assert all(job.cancelled for job in fake_engine.started)


def test_the_engine_s_refusal_keeps_its_faults(fake_engine: Fake) -> None:
    with pytest.raises(EngineError, match=r"links\[0\].rate_bps.*\nflows\[0\].path: is empty"):
        run_resolved(make_resolved(title="refused"))


def test_a_replication_that_breaks_down_is_an_engine_error(fake_engine: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    def results(_job: FakeJob) -> list[Any]:
        raise RuntimeError("replication 3: out of events")

    monkeypatch.setattr(fake_engine, "results", results)
    with pytest.raises(EngineError, match="replication 3"):
        run_resolved(make_resolved())


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_must_be_positive(fake_engine: Fake, threads: int) -> None:
    with pytest.raises(EngineError, match="threads: must be at least 1"):
        run_resolved(make_resolved(), threads=threads)
