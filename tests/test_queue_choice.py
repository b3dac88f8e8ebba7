"""The choice of a queue: with both directions, light flows and transfers; a policer has no queue to choose."""

from dataclasses import replace
from typing import Any

import pytest

import ackclock
from ackclock import scenario as scenarios
from ackclock.advice import QueueAlternative, QueuesCompared, Recommendation
from ackclock.advice.bench import Bench
from ackclock.advice.knobs import buffer_knobs, by_direction
from ackclock.advice.lengths import Length
from ackclock.advice.queue_choice import QueueChoice
from ackclock.advice.queue_trials import queues_to_try, try_queues
from ackclock.advice.targets import Targets
from ackclock.paths import empty_round_trip_s
from ackclock.pictures.queues_compared import queues_chart
from ackclock.stats import Estimate, estimate
from test_which_queue import TOPIC, asked, chosen, mean, queues

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


# ---- whole scenarios


@pytest.fixture(scope="module")
def both_ways() -> Recommendation:
    """Give the answer for two downloads, two uploads and a call, with long queues in both directions."""
    up = {"name": "up", "path": ["line.reverse"], "count": 2}
    return asked(office({"name": "down", "path": ["line"], "count": 2}, up, CALL, buffer="220 ms"))


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


def test_a_call_decides_between_queues_of_the_same_throughput() -> None:
    document = office({"name": "down", "path": ["line"], "count": 2}, CALL)
    advice = ackclock.advise(document, topics=[TOPIC])
    (found,) = advice.recommendations
    assert chosen(found).name == "FQ-CoDel"
    assert mean(chosen(found).light_p95_s) < 1e-3
    codel = next(row for row in queues(found) if row.name == "CoDel")
    assert mean(codel.light_p95_s) > 3e-3
    assert "light flows wait up to" in codel.reason
    assert "those of light flows" in found.answer
    assert len(advice.charts()[0].panels) == 3


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
    assert found.queues is not None
    assert "slow-\ndown" in found.queues.table.headers
    now = queues(found)[0]
    assert mean(now.slowdown_mean) > 3.0 * mean(chosen(found).slowdown_mean)
    assert "transfers take" in now.reason
    assert "less time" in found.answer


def test_a_transfer_that_only_some_queues_finish_counts_for_those() -> None:
    file = {"name": "file", "path": ["line"], "size": "300 pkt", "start": "29 s"}
    found = asked(office({"name": "down", "path": ["line"]}, file))
    assert mean(queues(found)[0].unfinished_transfers) == 1.0
    assert mean(chosen(found).unfinished_transfers) == 0.0
    assert "1 transfer more not finished than with another" in queues(found)[0].reason
    assert "1 transfer more finished" in found.answer
    assert "100% less time" not in found.answer


def test_a_transfer_that_no_queue_finishes_is_judged_by_its_throughput() -> None:
    """CoDel costs CUBIC a quarter of it on 20 Mbit/s and 600 ms."""
    link = {"name": "sat", "rate": "20 Mbit/s", "buffer": "2000 pkt"}
    flow = {"name": "file", "path": ["sat"], "rtt": "600 ms", "size": "10 GB"}
    found = asked({"link": [link], "flow": [flow], "run": {"duration": "120 s", "warmup": "20 s"}})
    codel = next(row for row in queues(found) if row.name.startswith("CoDel"))
    assert mean(codel.throughput_bps) < 0.9 * mean(chosen(found).throughput_bps)
    assert "less throughput than another" in codel.reason


def test_flows_elsewhere_do_not_count() -> None:
    link = {"name": "lan", "rate": "200 Mbit/s", "delay": "1 ms", "buffer": "8 pkt"}
    document = office({"name": "down", "path": ["line"], "count": 2}, {"name": "local", "path": ["lan"]})
    document["link"].append(link)
    now = queues(asked(document))[0]
    assert mean(now.throughput_bps) < 51e6
    assert mean(now.fairness_index) > 0.8


def test_both_directions_of_a_symmetric_line_are_judged_apart() -> None:
    down, up = {"name": "down", "path": ["line"], "count": 4}, {"name": "up", "path": ["line.reverse"]}
    reverse = {"rate": "10 Mbit/s", "buffer": "200 ms"}
    found = asked(office(down, up, rate="10 Mbit/s", reverse=reverse))
    assert set(found.changes) == {"link.line.queue", "link.line.reverse.queue"}
    assert mean(chosen(found).wait_p95_s) < 0.02
    assert 8e6 < mean(chosen(found).reverse_throughput_bps) < 10e6
    assert mean(chosen(found).fairness_index) > 0.95


@pytest.mark.parametrize("rate", ["200 kbit/s", "205 kbit/s", "300 kbit/s"])
def test_what_is_light_is_what_flows_offer_whatever_a_queue_delivers(rate: str) -> None:
    voice = {**CALL, "traffic": {"kind": "constant", "rate": rate}}
    found = asked(office({"name": "down", "path": ["line"], "count": 4}, voice, rate="1 Mbit/s"))
    known = {row.light_p95_s["mean"] is not None for row in queues(found)}
    assert known == {rate == "200 kbit/s"}
    assert "inf" not in found.answer


def test_a_heavy_flow_without_tcp_counts_in_the_throughput() -> None:
    """SFQ takes from it what it gives TCP, and the queue is longer: no gain."""
    cross = {**CALL, "name": "cross", "packet": "1000 B", "traffic": {"kind": "poisson", "rate": "6 Mbit/s"}}
    found = asked(office({"name": "tcp", "path": ["line"]}, cross, rate="10 Mbit/s", buffer="100 pkt"))
    assert all(mean(row.throughput_bps) < 10.1e6 for row in queues(found))
    assert "SFQ" not in chosen(found).name


def test_flows_that_are_counted_together_have_no_fairness() -> None:
    many = {"name": "many", "path": ["line"], "count": 1100, "start_spread": "2 s"}
    document = office(many, {"name": "one", "path": ["line"]}, rate="200 Mbit/s")
    document["run"] = {"duration": "6 s", "warmup": "3 s"}
    assert all(row.fairness_index["mean"] is None for row in queues(asked(document)))


def test_a_run_of_few_round_trips_says_nothing_of_fairness() -> None:
    """CUBIC's shares even out over many loss cycles; before that no queue is unfair."""
    document = office({"name": "down", "path": ["line"], "count": 2}, delay="200 ms")
    document["link"][0]["rate_process"] = {"kind": "steps", "steps": [["0 s", "50 Mbit/s"], ["9 s", "40 Mbit/s"]]}
    del document["link"][0]["rate"]
    for duration, is_known in (("40 s", False), ("50 s", True)):
        document["run"] = {"duration": duration, "warmup": "5 s"}
        assert (queues(asked(document))[0].fairness_index["mean"] is not None) == is_known


def test_levels_of_priority_at_one_link_do_not_hide_a_long_queue_at_another() -> None:
    document = office({"name": "down", "path": ["line"]}, {"name": "local", "path": ["slow"]})
    document["link"].append({"name": "slow", "rate": "5 Mbit/s", "delay": "5 ms", "queue": "priority"})
    assert chosen(asked(document)).changes.keys() == {"link.line.queue"}


def test_buffers_of_several_places_are_named_with_their_own_sizes() -> None:
    flows = ({"name": "down", "path": ["line"], "count": 2}, {"name": "own", "path": ["slow"], "count": 2})
    document = office(*flows)
    document["link"].append({"name": "slow", "rate": "8 Mbit/s", "delay": "5 ms", "buffer": "400 pkt"})
    rows = queues(asked(document))
    (both,) = (row for row in rows if row.name.startswith("drop-tail") and len(row.changes) == 2)
    sizes = [size.removesuffix(" pkt") for size in both.changes.values()]
    first, other = both.name.split("; ")
    assert first.split()[1] in sizes
    assert other.split()[1] in sizes
    assert " at " in other


def test_a_buffer_that_a_search_has_found_is_among_the_queues() -> None:
    advice = ackclock.advise(office({"name": "down", "path": ["line"]}))
    found = {one.topic: one for one in advice.recommendations}
    size = found["bottleneck-buffer"].changes["link.line.buffer"]
    (searched,) = (row for row in queues(found[TOPIC]) if row.name.endswith("(searched)"))
    assert searched.changes == {"link.line.buffer": size}
    # The reader learns that the two exclude each other, and with which to begin.
    assert "It is an alternative to the buffer that the search found" in found[TOPIC].answer
    assert found[TOPIC].answer.endswith("make one change, this one first")


def test_searched_buffers_of_two_links_are_named_with_their_links() -> None:
    """The only flow's ACKs cross the link with the longest wait: its throughput is not called another direction's."""
    reverse = {"rate": "256 kbit/s", "buffer": "20 pkt"}
    link = {"name": "dsl", "rate": "100 Mbit/s", "delay": "10 ms", "buffer": "200 pkt", "reverse": reverse}
    bench = Bench(
        scenarios.load({"link": [link], "flow": [{"name": "dl", "path": ["dsl"]}], "run": {"duration": "9 s"}})
    )
    bench.sized = {"link.dsl.reverse.buffer": "1 pkt", "link.dsl.buffer": "58 pkt"}
    links = ackclock.run(bench.scenario, picture=False).summary["links"]
    knobs = [part for knob in buffer_knobs(bench.resolved, links) for part in by_direction(knob)]
    knob = next(knob for knob in knobs if knob.names == ("dsl.reverse",))
    queue = queues_to_try(bench, [knob])[1]
    assert queue.title == "drop-tail, 1 packet (searched); drop-tail, 58 packets (searched) at dsl"
    assert queue.at("dsl.reverse").startswith("drop-tail, 1 packet (searched) at dsl.reverse and ")
    rows = try_queues(bench, [knob], [queue], Length(9.0, 1.0, 1), "")
    assert "other di-\nrection" not in QueuesCompared("dsl.reverse", tuple(rows)).table.headers
    assert queues_chart("dsl", "dsl.reverse", rows).panels[0].y_label == "throughput [Mbit/s]"


@pytest.mark.parametrize(
    ("scenario", "answer"),
    [
        ("access-bufferbloat", "CoDel at access: "),
        ("access-modem", "drop-tail, 3 packets at modem: "),
        ("access-unequal-rtts", "FQ-CoDel, target 15 ms at line: "),
        ("home-queues", "Keep FQ-CoDel, 833 packets (now) at home: "),
        ("satellite-download", "drop-tail, 430 packets at satellite: "),
        ("lte-trace", "SFQ at lte: "),
    ],
)
def test_the_answers_to_ready_scenarios_are_those_of_the_page(scenario: str, answer: str) -> None:
    assert asked(scenario).answer.startswith(answer)


def test_a_policer_has_no_queue_to_choose() -> None:
    document = office({"name": "down", "path": ["line"]}, token_bucket={"kind": "policer", "burst": "50 kB"})
    del document["link"][0]["reverse"], document["link"][0]["buffer"]
    assert not ackclock.advise(document, topics=[TOPIC, "bottleneck-buffer"]).recommendations


def test_the_empty_round_trip_of_a_ping_is_of_the_request_and_the_echo() -> None:
    resolved = ackclock.resolve(office(CALL))
    # 200 bytes at 50 and 10 Mbit/s.
    assert empty_round_trip_s(resolved, resolved.flows[0]) == pytest.approx(0.030 + 32e-6 + 160e-6)


def varying(queue: str) -> dict[str, Any]:
    """Describe a download and a call at a link whose rate alternates between 10 and 4 Mbit/s."""
    rate = {"kind": "steps", "steps": [["0 s", "10 Mbit/s"], ["2 s", "4 Mbit/s"]], "repeat": "4 s"}
    link = {"name": "lte", "delay": "20 ms", "buffer": "200 pkt", "rate_process": rate, "queue": queue}
    call = {"name": "call", "path": ["lte"], "packet": "1200 B", "traffic": {"kind": "constant", "rate": "1 Mbit/s"}}
    run = {"duration": "40 s", "warmup": "8 s"}
    return {"title": "lte", "link": [link], "flow": [{"name": "dl", "path": ["lte"]}, call], "run": run}


def test_a_call_counts_where_the_rate_changes() -> None:
    """The run does not give the call's queueing delay there. The advice takes the delay less that of the empty path."""
    found = asked(varying("drop-tail"))
    (kept,) = (row for row in queues(found) if not row.changes)
    delay = ackclock.run(varying("drop-tail")).flows.delay_p95_s["call"]
    assert mean(kept.light_p95_s) == pytest.approx(delay - 0.020 - 1200 * 8 / 7e6, rel=0.05)


def test_packets_that_no_congestion_control_slows_down_raise_the_question() -> None:
    """A source of 12 Mbit/s at 10 Mbit/s: fair queueing lets the ping by, and no buffer is searched."""
    link = {"name": "l", "rate": "10 Mbit/s", "delay": "10 ms", "buffer": "300 ms"}
    flows = [
        {"name": "u", "path": ["l"], "traffic": {"kind": "constant", "rate": "12 Mbit/s"}},
        {"name": "ping", "path": ["l"], "traffic": {"kind": "ping", "interval": "100 ms"}},
    ]
    document = {"title": "udp", "link": [link], "flow": flows, "run": {"duration": "40 s", "warmup": "5 s"}}
    (found,) = ackclock.advise(document).recommendations
    assert (found.topic, chosen(found).name) == (TOPIC, "FQ-CoDel")
    lost = next(row for row in queues(found) if row.name == "drop-tail, 84 packets")
    assert lost.light_p95_s["mean"] is None
    assert lost.reason == "none of the packets of light flows arrives"


def test_throughput_is_that_of_the_flows_and_that_over_the_links_counts_a_flow_over_two_twice() -> None:
    links = [
        {"name": "a", "rate": "10 Mbit/s", "delay": "10 ms", "buffer": "300 ms"},
        {"name": "b", "rate": "9.8 Mbit/s", "delay": "10 ms", "buffer": "300 ms"},
    ]
    flows = [{"name": "long", "path": ["a", "b"]}, {"name": "one", "path": ["a"]}, {"name": "two", "path": ["b"]}]
    document = {"title": "two hops", "link": links, "flow": flows, "run": {"duration": "40 s", "warmup": "10 s"}}
    found = asked(document)
    assert mean(chosen(found).fairness_index) > 0.95
    for row in queues(found):
        assert mean(row.throughput_bps) < 19.8e6
        assert mean(row.throughput_bps) < mean(row.carried_bps) < 19.81e6


def test_l4s_flows_have_a_column_and_a_queue_that_marks_early_for_them() -> None:
    link = {"name": "line", "rate": "50 Mbit/s", "buffer": "500 pkt", "queue": "dualpi2"}
    flows = [
        {"name": "prague", "path": ["line"], "rtt": "20 ms", "tcp": "draft-prague"},
        {"name": "cubic", "path": ["line"], "rtt": "20 ms", "tcp": "linux-cubic"},
    ]
    found = asked({"title": "l4s", "link": [link], "flow": flows, "run": {"duration": "30 s", "warmup": "10 s"}})
    rows = {row.name.partition(",")[0] if "ce_" not in row.name else "ce": row for row in queues(found)}
    assert mean(rows["DualPI2"].l4s_p95_s) < 0.001 < mean(rows["ce"].l4s_p95_s) < mean(rows["FQ-CoDel"].l4s_p95_s)
    assert "L4S flows" in found.answer


def test_l4s_flows_wait_where_the_rate_changes_too() -> None:
    """The one-way delay less that of the empty path, not less its round trip."""
    link = varying("dualpi2")["link"][0]
    flow = {"name": "prague", "path": ["lte"], "rtt": "60 ms", "tcp": "draft-prague"}
    found = asked({"title": "l4s", "link": [link], "flow": [flow], "run": {"duration": "20 s", "warmup": "8 s"}})
    tail = next(row for row in queues(found) if row.name.startswith("drop-tail"))
    assert mean(tail.l4s_p95_s) > 0.01


# ---- the judge


def value(mean: float) -> Estimate:
    return estimate([mean], 0.95, exact=True)


def queue(name: str, mbps: float, wait_ms: float, **other: float) -> QueueAlternative:
    """Make a queue with a throughput and a delay; what is not given does not matter."""
    known = {
        "throughput_bps": mbps * 1e6,
        "carried_bps": mbps * 1e6,
        "wait_mean_s": wait_ms / 2e3,
        "wait_p95_s": wait_ms / 1e3,
        "wait_p99_s": wait_ms / 1e3,
        "rtt_p95_s": 0.030 + wait_ms / 1e3,
        "utilisation_fraction": 1.0,
        "loss_fraction": 0.0,
        "marked_fraction": 0.0,
        **other,
    }
    absent = (
        "reverse_throughput_bps",
        "light_p95_s",
        "light_loss_fraction",
        "l4s_p95_s",
        "slowdown_mean",
        "unfinished_transfers",
        "fairness_index",
    )
    found: dict[str, Any] = {key: value(float("nan")) for key in absent}
    found |= {key: value(one) for key, one in known.items()}
    found["reverse_carried_bps"] = found["reverse_throughput_bps"]
    return QueueAlternative(name, {}, **found)


def best(*rows: QueueAlternative, targets: Targets | None = None) -> str:
    targets = targets or Targets()
    return rows[QueueChoice(rows, targets, 0.030).best].name


NOW = queue("now", 50.0, 200.0)


def judge(*rows: QueueAlternative, targets: Targets | None = None) -> QueueChoice:
    return QueueChoice(rows, targets or Targets(), 0.030)


def test_a_shorter_delay_may_cost_a_twentieth_of_the_throughput_and_no_more() -> None:
    assert best(NOW, queue("codel", 47.6, 5.0)) == "codel"
    assert best(NOW, queue("codel", 47.4, 5.0)) == "now"
    named = Targets(utilisation=0.99, named=frozenset({"utilisation"}))
    assert best(NOW, queue("codel", 49.0, 5.0), targets=named) == "now"


def test_it_may_cost_a_fifth_where_calls_or_transfers_gain() -> None:
    for gaining in ({"light_p95_s": 0.005}, {"slowdown_mean": 2.0}):
        now = queue("now", 50.0, 200.0, **{key: 40.0 * one for key, one in gaining.items()})
        assert best(now, queue("codel", 40.1, 5.0, **gaining)) == "codel"
        assert best(now, queue("codel", 39.9, 5.0, **gaining)) == "now"


def test_a_little_delay_is_not_worth_much_throughput() -> None:
    few, same, dear = queue("buffer", 50.0, 6.0), queue("codel", 49.9, 5.5), queue("pie", 47.6, 7.0)
    assert best(NOW, few, same, dear) == "buffer"
    choice = judge(NOW, few, same, dear)
    assert choice.reason(same, few) == "as good, and less simple"
    assert choice.reason(dear, few) == "4.8% less throughput"
    assert choice.reason(NOW, few) == "95% of the packets wait up to 200 ms, 36.4 times as long as with another"
    assert choice.reason(few, few) == ""


def test_of_two_sizes_that_are_as_good_none_is_called_less_simple() -> None:
    rows = (NOW, queue("drop-tail, 26 packets (searched)", 50.0, 6.0), queue("drop-tail, 30 packets", 50.0, 6.1))
    assert judge(*rows).reason(rows[2], rows[1]) == "as good: of such sizes the first in this table is taken"


def test_a_longer_queue_that_is_worth_as_much_is_compared_with_the_answer_s() -> None:
    """Not with that of a queue that is left out; and nothing is the delay's alone where transfers cross."""
    fair = queue("fq-codel", 41.0, 51.5, slowdown_mean=6.55)
    sfq = queue("sfq", 41.0, 60.6, slowdown_mean=6.52)
    out = queue("drop-tail, 38 packets", 20.0, 8.6, slowdown_mean=13.0)
    choice = judge(queue("now", 40.0, 39.3, slowdown_mean=8.52), out, fair, sfq)
    assert choice.excluded(out)
    longer = "as good, with a longer queue: 95% of the packets wait up to 60.6 ms, 1.18 times as long as with fq-codel"
    assert choice.reason(sfq, fair) == longer
    assert choice.is_as_good(sfq, fair)


def test_of_equals_the_first_is_the_answer() -> None:
    assert best(NOW, queue("codel", 49.0, 5.0), queue("fq-codel", 49.5, 5.0)) == "codel"


def test_the_floor_is_of_both_directions_by_their_geometric_mean() -> None:
    """A tenth less up for half more down."""
    now = queue("now", 10.0, 200.0, reverse_throughput_bps=30e6)
    shared = queue("fq-codel", 9.0, 5.0, reverse_throughput_bps=45e6)
    assert best(now, shared) == "fq-codel"
    assert "geometric mean" in judge(now, shared).excluded(now)


def test_a_better_share_of_a_bottleneck_is_not_a_loss_of_throughput() -> None:
    """Two of three offices fill their own links and the core, or all three share it: 40 Mbit/s over the core."""
    now = queue("now", 40.0, 48.6, carried_bps=80e6, fairness_index=0.656)
    fair = queue("fq-codel", 39.9, 8.9, carried_bps=66.6e6, fairness_index=1.0)
    assert best(now, fair) == "fq-codel"
    assert judge(now, fair).excluded(now) == "a fairness of 0.66, where 1.00 can be had"
    # A flow over two links gets what two flows over one link each had.
    long = queue("fq-codel", 14.8, 8.9, carried_bps=19.8e6, fairness_index=1.0)
    assert best(queue("now", 17.8, 48.6, carried_bps=19.8e6, fairness_index=0.7), long) == "fq-codel"
    less = queue("codel", 37.0, 8.9, carried_bps=66.6e6)
    reason = "7.5% less throughput (of the flows and over the links) than another"
    assert judge(now, fair, less).excluded(less) == reason


def test_the_delay_of_light_flows_counts_next_to_that_of_all_packets() -> None:
    now = replace(NOW, light_p95_s=value(0.2))
    buffer = queue("buffer", 50.0, 10.0, light_p95_s=0.010)
    sfq = queue("sfq", 50.0, 60.0, light_p95_s=0.0005)
    fq_codel = queue("fq-codel", 49.0, 8.0, light_p95_s=0.0008)
    assert best(now, sfq) == "sfq"
    assert best(now, buffer, sfq, fq_codel) == "fq-codel"
    assert "of light flows wait up to 10 ms" in judge(now, buffer, sfq, fq_codel).reason(buffer, fq_codel)


def test_fairness_counts_by_its_ratio_down_to_four_fifths_of_the_largest() -> None:
    codel, fair = queue("codel", 50.0, 10.0, fairness_index=0.85), queue("fq-codel", 50.0, 20.0, fairness_index=1.0)
    assert best(codel, fair) == "codel"
    assert best(replace(codel, fairness_index=value(0.81)), replace(fair, wait_p95_s=value(0.015))) == "fq-codel"
    unfair = replace(codel, fairness_index=value(0.79))
    assert best(unfair, fair) == "fq-codel"
    assert judge(unfair, fair).reason(unfair, fair) == "a fairness of 0.79, where 1.00 can be had"


def test_what_light_flows_lose_counts() -> None:
    short = queue("buffer", 50.0, 5.0, light_p95_s=0.0005, light_loss_fraction=0.3)
    fair = queue("fq-codel", 50.0, 5.0, light_p95_s=0.0005, light_loss_fraction=0.0)
    assert best(NOW, short, fair) == "fq-codel"
    assert judge(NOW, short, fair).reason(short, fair) == "light flows lose 30% of their packets"
    assert judge(NOW, short, fair).reason(NOW, fair) == "none of the packets of light flows arrives"


def test_unfinished_and_slow_transfers_speak_against_a_queue() -> None:
    slow = replace(NOW, slowdown_mean=value(4.0), unfinished_transfers=value(0.0))
    quick = queue("codel", 49.0, 5.0, slowdown_mean=2.0, unfinished_transfers=0.0)
    assert best(slow, quick) == "codel"
    assert best(slow, replace(quick, unfinished_transfers=value(2.0))) == "now"
    late = replace(quick, slowdown_mean=value(3.0), name="late")
    assert judge(slow, quick, late).reason(late, quick) == "transfers take 1.5 times as long as with another"


def test_a_queue_that_other_random_numbers_refute_says_so_and_no_other() -> None:
    rows = (NOW, queue("codel", 50.0, 5.0), queue("pie", 50.0, 15.0))
    how = "with other random numbers"
    assert judge(*rows).reason(rows[1], NOW, refuted=rows[1], how=how) == f"not better {how}"
    assert judge(*rows).reason(rows[2], NOW, refuted=rows[1]) == "as good as the present one, which needs no change"


def test_targets_for_loss_and_round_trip_are_kept() -> None:
    lossy = queue("codel", 50.0, 5.0, loss_fraction=0.02)
    assert best(NOW, lossy) == "codel"
    assert best(NOW, lossy, targets=Targets(loss=0.01)) == "codel"
    assert best(NOW, lossy, targets=Targets(loss=0.01, named=frozenset({"loss"}))) == "now"
    assert best(NOW, queue("pie", 50.0, 80.0), queue("sfq", 50.0, 20.0), targets=Targets(rtt_p95_s=0.060)) == "sfq"


def test_throughput_does_not_make_up_for_transfers_and_calls_that_are_clearly_worse_off() -> None:
    old = queue("now", 20.0, 100.0, slowdown_mean=10.0, light_p95_s=0.010)
    assert judge().is_better(queue("a", 40.0, 100.0, slowdown_mean=11.0, light_p95_s=0.010), old)
    assert not judge().is_better(queue("b", 40.0, 100.0, slowdown_mean=13.0, light_p95_s=0.010), old)
    assert not judge().is_better(queue("c", 40.0, 100.0, slowdown_mean=10.0, light_p95_s=0.020), old)
