"""Which queue is the answer: both directions, flows that send little, transfers, and what a policer has none of."""

from dataclasses import replace
from typing import Any

import pytest

import ackclock
from ackclock.advice import QueueAlternative, QueuesCompared, Recommendation
from ackclock.advice.queue_choice import QueueChoice
from ackclock.advice.targets import Targets
from ackclock.paths import empty_round_trip_s
from ackclock.stats import Estimate, estimate

TOPIC = "which-queue"
CALL = {
    "name": "call",
    "path": ["line"],
    "packet": "200 B",
    "traffic": {"kind": "ping", "interval": "20 ms"},
}


def office(*flows: dict[str, Any], **link: Any) -> dict[str, Any]:
    """Describe a link of 50 Mbit/s down and 10 Mbit/s up, 15 ms away, with 200 ms of buffer in both directions."""
    return {
        "title": "office",
        "link": [
            {
                "name": "line",
                "rate": "50 Mbit/s",
                "delay": "15 ms",
                "buffer": "200 ms",
                "reverse": {"rate": "10 Mbit/s", "buffer": "200 ms"},
                **link,
            }
        ],
        "flow": list(flows),
        "run": {"duration": "30 s", "warmup": "10 s"},
    }


def asked(document: Any, **how: Any) -> Recommendation:
    (found,) = ackclock.advise(document, topics=[TOPIC], **how).recommendations
    assert isinstance(found.queues, QueuesCompared)
    return found


def queues(found: Recommendation) -> tuple[QueueAlternative, ...]:
    assert found.queues is not None
    return found.queues.rows


def chosen(found: Recommendation) -> QueueAlternative:
    (row,) = (row for row in queues(found) if row.is_chosen)
    return row


def mean(found: Estimate) -> float:
    assert found["mean"] is not None
    return found["mean"]


# ---- whole scenarios


@pytest.fixture(scope="module")
def both_ways() -> Recommendation:
    """Give the answer for two downloads, two uploads and a call, with long queues in both directions."""
    up = {"name": "up", "path": ["line.reverse"], "count": 2}
    return asked(office({"name": "down", "path": ["line"], "count": 2}, up, CALL))


def test_long_queues_in_both_directions_are_changed_together(both_ways: Recommendation) -> None:
    assert chosen(both_ways).name == "FQ-CoDel; line.reverse too"
    assert set(both_ways.changes) == {"link.line.queue", "link.line.reverse.queue"}
    assert both_ways.answer.startswith("FQ-CoDel at line and line.reverse: ")
    # A change in one direction leaves the other's queue, of which the row tells.
    names = [row.name for row in queues(both_ways)]
    one_way = queues(both_ways)[names.index("FQ-CoDel")]
    assert mean(one_way.wait_p95_s) > 0.15 > 10.0 * mean(chosen(both_ways).wait_p95_s)


def test_throughput_is_told_apart_by_direction(both_ways: Recommendation) -> None:
    row = chosen(both_ways)
    assert 45e6 < mean(row.throughput_bps) < 50e6
    assert 8e6 < mean(row.reverse_throughput_bps) < 10e6
    assert both_ways.queues is not None
    assert "other di-\nrection" in both_ways.queues.table.headers
    # Flows of one direction share equally; of both together Jain's index would be below 0.8.
    assert mean(row.fairness_index) > 0.95


def test_a_call_decides_between_queues_of_the_same_throughput(both_ways: Recommendation) -> None:
    document = office({"name": "down", "path": ["line"], "count": 2}, CALL)
    found = asked(document)
    assert chosen(found).name == "FQ-CoDel"
    assert mean(chosen(found).light_p95_s) < 1e-3
    codel = next(row for row in queues(found) if row.name == "CoDel")
    assert mean(codel.light_p95_s) > 3e-3
    assert "light flows wait up to" in codel.reason
    assert "those of light flows" in found.answer
    assert len(ackclock.advise(document, topics=[TOPIC]).charts()[0].panels) == 3


def test_without_a_call_the_simplest_queue_with_the_same_power_is_the_answer() -> None:
    found = asked(office({"name": "down", "path": ["line"], "count": 2}))
    assert chosen(found).name == "CoDel"
    assert chosen(found).light_p95_s["mean"] is None


def test_a_voice_flow_without_tcp_is_light_and_a_heavy_one_is_not() -> None:
    voice = {**CALL, "traffic": {"kind": "constant", "rate": "80 kbit/s"}}
    heavy = {**CALL, "name": "video", "packet": "1500 B", "traffic": {"kind": "constant", "rate": "30 Mbit/s"}}
    down = {"name": "down", "path": ["line"]}
    now = queues(asked(office(down, voice)))[0]
    assert mean(now.light_p95_s) > 0.1
    assert queues(asked(office(down, heavy)))[0].light_p95_s["mean"] is None


def test_transfers_are_judged_by_the_time_that_they_take() -> None:
    pages = {
        "name": "pages",
        "path": ["line"],
        "count": 10,
        "traffic": {"kind": "web", "size": "30 pkt", "off": "2 s"},
    }
    found = asked(office({"name": "down", "path": ["line"]}, pages))
    assert "slow-\ndown" in found.queues.table.headers if found.queues else False
    now = queues(found)[0]
    assert mean(now.slowdown_mean) > 3.0 * mean(chosen(found).slowdown_mean)
    assert "transfers take" in now.reason
    assert "less time" in found.answer


def test_a_transfer_that_does_not_finish_speaks_against_a_queue() -> None:
    file = {"name": "file", "path": ["line"], "size": "1000 pkt", "start": "11 s"}
    found = asked(office({"name": "down", "path": ["line"]}, file))
    assert mean(chosen(found).unfinished_transfers) == 0.0
    assert mean(chosen(found).slowdown_mean) < mean(queues(found)[0].slowdown_mean)


def test_a_policer_has_no_queue_to_choose() -> None:
    document = office({"name": "down", "path": ["line"]}, token_bucket={"kind": "policer", "burst": "50 kB"})
    del document["link"][0]["reverse"], document["link"][0]["buffer"]
    assert not ackclock.advise(document, topics=[TOPIC, "bottleneck-buffer"]).recommendations


def test_the_empty_round_trip_of_a_ping_is_of_the_request_and_the_echo() -> None:
    resolved = ackclock.resolve(office(CALL))
    # 200 bytes at 50 and 10 Mbit/s.
    assert empty_round_trip_s(resolved, resolved.flows[0]) == pytest.approx(0.030 + 32e-6 + 160e-6)


# ---- the judge


def value(mean: float) -> Estimate:
    return estimate([mean], 0.95, exact=True)


def queue(name: str, mbps: float, wait_ms: float, **other: float) -> QueueAlternative:
    """Make a queue with a throughput and a delay; what is not given does not matter."""
    known = {
        "throughput_bps": mbps * 1e6,
        "wait_mean_s": wait_ms / 2e3,
        "wait_p95_s": wait_ms / 1e3,
        "wait_p99_s": wait_ms / 1e3,
        "rtt_p95_s": 0.030 + wait_ms / 1e3,
        "utilisation_fraction": 1.0,
        "loss_fraction": 0.0,
        "marked_fraction": 0.0,
        **other,
    }
    absent = ("reverse_throughput_bps", "light_p95_s", "slowdown_mean", "unfinished_transfers", "fairness_index")
    found: dict[str, Any] = {key: value(float("nan")) for key in absent}
    found |= {key: value(one) for key, one in known.items()}
    return QueueAlternative(name, {}, **found)


def best(*rows: QueueAlternative, targets: Targets | None = None) -> str:
    targets = targets or Targets()
    return rows[QueueChoice(rows, targets, 0.030).best].name


NOW = queue("now", 50.0, 200.0)


def test_a_shorter_delay_may_cost_a_twentieth_of_the_throughput_and_no_more() -> None:
    assert best(NOW, queue("codel", 47.6, 5.0)) == "codel"
    assert best(NOW, queue("codel", 47.4, 5.0)) == "now"
    named = Targets(utilisation=0.99, named=frozenset({"utilisation"}))
    assert best(NOW, queue("codel", 49.0, 5.0), targets=named) == "now"


def test_a_little_delay_is_not_worth_much_throughput() -> None:
    few, same, dear = queue("buffer", 50.0, 6.0), queue("codel", 49.9, 5.5), queue("pie", 47.6, 5.0)
    assert best(NOW, few, same, dear) == "buffer"
    choice = QueueChoice((NOW, few, same, dear), Targets(), 0.030)
    assert choice.reason(same, few) == "as good, and less simple"
    assert "does not make up" in choice.reason(dear, few)


def test_of_equals_the_first_is_the_answer() -> None:
    assert best(NOW, queue("codel", 49.0, 5.0), queue("fq-codel", 49.5, 5.0)) == "codel"


def test_the_floor_is_of_both_directions_by_their_geometric_mean() -> None:
    # A tenth less up for a third more down.
    now = replace(queue("now", 10.0, 200.0), reverse_throughput_bps=value(30e6))
    shared = replace(queue("fq-codel", 9.0, 5.0), reverse_throughput_bps=value(45e6))
    assert best(now, shared) == "fq-codel"
    assert "geometric mean" in QueueChoice((now, shared), Targets(), 0.030).missed(now)


def test_light_flows_come_before_the_power() -> None:
    buffer = queue("buffer", 50.0, 10.0, light_p95_s=0.010)
    sfq = queue("sfq", 50.0, 60.0, light_p95_s=0.0005)
    assert best(replace(NOW, light_p95_s=value(0.2)), buffer, sfq) == "sfq"
    both = queue("fq-codel", 49.0, 8.0, light_p95_s=0.0008)
    assert best(replace(NOW, light_p95_s=value(0.2)), buffer, sfq, both) == "fq-codel"


def test_unfinished_and_slow_transfers_speak_against_a_queue() -> None:
    slow = replace(NOW, slowdown_mean=value(4.0), unfinished_transfers=value(0.0))
    quick = queue("codel", 49.0, 5.0, slowdown_mean=2.0, unfinished_transfers=0.0)
    assert best(slow, quick) == "codel"
    assert QueueChoice((slow, quick), Targets(), 0.030).missed(slow) == "transfers take 2 times as long as with another"
    assert best(slow, replace(quick, unfinished_transfers=value(2.0))) == "now"


def test_targets_for_loss_and_round_trip_are_kept() -> None:
    lossy = queue("codel", 50.0, 5.0, loss_fraction=0.02)
    assert best(NOW, lossy) == "codel"
    assert best(NOW, lossy, targets=Targets(loss=0.01)) == "codel"
    assert best(NOW, lossy, targets=Targets(loss=0.01, named=frozenset({"loss"}))) == "now"
    assert best(NOW, queue("pie", 50.0, 80.0), queue("sfq", 50.0, 20.0), targets=Targets(rtt_p95_s=0.060)) == "sfq"
