"""ns-2's queues, event by event: RED in bytes, adaptive RED, SFQ, DRR and PI."""

from dataclasses import replace

import pytest

from crosscheck.queues import ns2
from crosscheck.queues.__main__ import main
from crosscheck.queues.check import check
from crosscheck.queues.draw import DISCIPLINES, Case, draw_queue
from crosscheck.queues.events import Event, Events, first_difference


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize("index", range(2))
@pytest.mark.parametrize("name", list(DISCIPLINES))
def test_every_departure_drop_and_mark_is_that_of_ns2(name: str, index: int) -> None:
    report = check(draw_queue(name, 2, index))
    assert report.difference is None, report.line()
    assert report.departures > 1000, report.line()
    assert report.drops > 10, report.line()


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize(
    ("name", "index", "setting", "value"),
    [
        ("red-bytes", 0, "queue_in_bytes_", "false"),
        ("red-bytes", 0, "mean_pktsize_", 400),
        ("ared", 0, "adaptive_", 0),
        ("ared", 0, "interval_", 0.7),
        ("ared", 0, "top_", 0.05),
        ("sfq", 0, "buckets_", 17),
        ("sfq", 0, "maxqueue_", 30),
        ("drr", 0, "quantum_", 300),
        ("drr", 0, "blimit_", 9000),
        ("pi", 0, "qref_", 1.0),
        ("pi", 0, "w_", 33.0),
    ],
)
def test_another_setting_is_found(name: str, index: int, setting: str, value: object) -> None:
    case = draw_queue(name, 2, index)
    queue = replace(case.queue, settings=case.queue.settings | {setting: value})
    assert check(case, Case(case.name, case.resolved, queue)).difference is not None


@pytest.mark.usefixtures("needs_ns2")
def test_the_command_counts_and_names_what_it_compares(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "drr", "--count", "1", "--fresh", "1"]) == 0
    *passed, again, total = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in passed] == [["PASS", "drr"], ["PASS", "drr"]]
    assert again.startswith("the fresh ones again: python -m crosscheck.queues --seed ")
    assert total == "2 queues: 2 passed, 0 failed"


@pytest.mark.parametrize("name", list(DISCIPLINES))
def test_a_scenario_depends_on_its_seed_and_number_alone(name: str) -> None:
    one, same, other = (draw_queue(name, seed, 3).resolved.to_dict() for seed in (5, 5, 6))
    assert one == same
    assert one != other


def events(*departures: Event, drops: tuple[Event, ...] = ()) -> Events:
    return Events(list(departures), list(drops))


def test_the_first_difference_is_that_of_the_earliest_event() -> None:
    ours = events(Event(1.0, 0, 0), Event(2.0, 1, 0), Event(3.0, 0, 1), drops=(Event(2.5, 1, 1),))
    assert first_difference(ours, ours, 9.0) is None
    changed = {
        "flow": events(Event(1.0, 0, 0), Event(2.0, 2, 0), Event(3.0, 0, 1), drops=(Event(2.5, 1, 1),)),
        "mark": events(Event(1.0, 0, 0), Event(2.0, 1, 0, ce=True), Event(3.0, 0, 1), drops=(Event(2.5, 1, 1),)),
        "time": events(Event(1.0, 0, 0), Event(2.00001, 1, 0), Event(3.0, 0, 1), drops=(Event(2.5, 1, 1),)),
    }
    for theirs in changed.values():
        found = first_difference(theirs, ours, 9.0)
        assert found is not None
        assert (found.kind, found.index) == ("departure", 1)
    missing = first_difference(events(*ours.departures), ours, 9.0)
    assert missing is not None
    assert (missing.kind, missing.theirs) == ("drop", None)
    assert first_difference(events(*ours.departures), ours, 2.4) is None


def test_ns2_numbers_packets_by_their_order_and_a_retransmission_has_the_first_number() -> None:
    arrivals = [Event(0.1, 0, 0), Event(0.2, 1, 0), Event(0.3, 0, 1), Event(0.4, 0, 0)]
    lines = [
        "- 0.15 0 0 tcp 1000 ------N 0 1.0 0.0 1 5",
        "d 0.3 0 0 tcp 1000 ------N 0 1.0 0.0 2 6",
        "- 0.45 0 0 tcp 1000 ----E-N 0 1.0 0.0 3 7",
    ]
    read = ns2.read_events("\n".join(lines), arrivals)
    assert read.departures == [Event(0.15, 0, 0), Event(0.45, 0, 0, ce=True)]
    assert read.drops == [Event(0.3, 0, 1)]
    assert read.marks == 1
