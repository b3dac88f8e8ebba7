"""Each warning in the scenario that deserves it, and no other."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock.errors import ScenarioError
from ackclock.scenario import load, resolve
from ackclock.scenario.schema_queues import NAMES

PARAMETERS: dict[str, dict[str, Any]] = {"step": {"threshold": "20 pkt"}}
"""Fields without a default, by the discipline that needs them."""
SCENARIOS = Path(__file__).parents[2] / "scenarios"


Table = dict[str, Any]


def warnings(
    *, link: Table | None = None, flow: Table | None = None, run: Table | None = None, more: Sequence[Table] = ()
) -> list[str]:
    document = {
        "link": [{"name": "a", "rate": "1 Mbit/s", "buffer": "20 pkt", **(link or {})}, *more],
        "flow": [{"path": ["a"], "rtt": "100 ms", **(flow or {})}],
        "run": {"duration": "100 s", **(run or {})},
    }
    return [str(warning) for warning in load(document).warnings]


def test_a_plain_scenario_has_none() -> None:
    assert warnings() == []
    assert warnings(run={"warmup": "1 s", "replications": 5}) == []


def test_socket_buffers_bound_what_is_in_flight() -> None:
    for tcp in ("linux-cubic", {"preset": "linux-cubic", "send_buffer": "unlimited"}):
        assert not [one for one in warnings(link={"buffer": "unlimited"}, flow={"tcp": tcp}) if "as long as" in one]


@pytest.mark.parametrize("discipline", NAMES)
def test_a_buffer_is_called_unlimited_where_the_run_has_none(discipline: str) -> None:
    document = {
        "link": [
            {"name": "a", "rate": "1 Mbit/s", "queue": {"discipline": discipline} | PARAMETERS.get(discipline, {})}
        ],
        "flow": [{"path": ["a"], "rtt": "100 ms"}],
        "run": {"duration": "100 s"},
    }
    scenario = load(document)
    warned = any("is unlimited, as none is given" in str(one) for one in scenario.warnings)
    assert warned == (resolve(scenario).elements[0].buffer is None)


def test_marks_that_nobody_makes_or_heeds_are_named() -> None:
    step = {"discipline": "step", "threshold": "10 pkt"}
    unmarked = "by whose marks prague is to find its window"
    assert any(unmarked in one for one in warnings(flow={"tcp": "draft-prague"}))
    for queue in ("dualpi2", step, {"discipline": "fq-codel", "ecn": "all"}):
        assert not any(unmarked in one for one in warnings(link={"queue": queue}, flow={"tcp": "draft-prague"}))
    nothing = "it can mark nothing: it drops each packet that finds more than 10 pkt"
    assert any(nothing in one for one in warnings(link={"queue": step}))
    full = warnings(link={"queue": step | {"threshold": "30 pkt"}}, flow={"tcp": "linux-dctcp"})
    assert any("the buffer of 20 pkt is full before the queue can reach threshold, 30 pkt" in one for one in full)


@pytest.mark.parametrize("ecn", [None, "all"])
@pytest.mark.parametrize("name", NAMES)
def test_the_warning_of_missing_marks_is_what_a_run_shows(name: str, ecn: str | None) -> None:
    """A DCTCP flow far faster than the link, at each discipline as it is and told to mark."""
    queue = {"discipline": name} | ({} if ecn is None else {"ecn": ecn}) | PARAMETERS.get(name, {})
    document = {
        "link": [{"name": "a", "rate": "10 Mbit/s", "delay": "5 ms", "buffer": "100 pkt", "queue": queue}],
        "flow": [{"path": ["a"], "tcp": {"preset": "linux-dctcp", "max_window": "90 pkt"}}],
        "run": {"duration": "20 s"},
    }
    try:
        scenario = load(document)
    except ScenarioError:
        pytest.skip("no such queue")
    warned = any("to find its window" in str(one) for one in scenario.warnings)
    marked = ackclock.run(scenario).links.marked_packets.iloc[0]
    assert warned == (marked == 0.0)


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "a level where there are none": (
        {"flow": {"priority": 1}},
        "1st [[flow]], field priority: has no effect: no link on the path has the discipline priority",
    ),
    "a level of ACKs where data alone have levels": (
        {"link": {"queue": "priority"}, "flow": {"ack_priority": 1}},
        "1st [[flow]], field ack_priority: has no effect: no link on the path has the discipline priority",
    ),
    "short run": (
        {"run": {"duration": "1.9 s"}},
        '[run], field duration: is shorter than 20 round trips of the flow "flow" (2 s)',
    ),
    "short warm-up": (
        {"run": {"warmup": "0.9 s", "replications": 2}},
        '[run], field warmup: is shorter than 10 round trips of the flow "flow" (1 s): each replication measures its '
        "own start too",
    ),
    "link without flow": (
        {"more": [{"name": "b", "rate": "1 Mbit/s"}]},
        'link "b": no flow crosses the link',
    ),
    "buffer of one packet": (
        {"link": {"buffer": "1 pkt"}},
        'link "a", field buffer: holds only the packet in transmission; counting = "waiting" counts those '
        "that wait only",
    ),
    "buffer of less than two packets in bytes": (
        {"link": {"buffer": "2999 B"}},
        'link "a", field buffer: holds only the packet in transmission; counting = "waiting" counts those '
        "that wait only",
    ),
    "red above the buffer": (
        {"link": {"buffer": "10 pkt", "queue": "red"}},
        'link "a", field queue: the buffer of 10 pkt is full before the mean queue can reach max_threshold, 15 pkt',
    ),
    "buffer at an unlimited rate": (
        {"link": {"reverse": {"rate": "unlimited", "buffer": "3 pkt"}}},
        'link "a", field reverse.buffer: has no effect: at an unlimited rate no packet waits',
    ),
    "queue at an unlimited rate": (
        {"link": {"reverse": {"rate": "unlimited", "queue": "red"}}},
        'link "a", field reverse.queue: has no effect: at an unlimited rate no packet waits',
    ),
    "buffer at a policer": (
        {"link": {"token_bucket": {"kind": "policer", "burst": "60 kB"}, "buffer": "50 pkt"}},
        'link "a", field buffer: has no effect: at a policer no packet waits',
    ),
    "queue at a policer": (
        {"link": {"reverse": {"token_bucket": {"kind": "policer", "burst": "60 kB"}, "queue": "fq-codel"}}},
        'link "a", field reverse.queue: has no effect: at a policer no packet waits',
    ),
    "random drop from an unlimited buffer": (
        {"link": {"reverse": {"queue": "random-drop"}}},
        'link "a", field reverse.queue: random-drop never drops from an unlimited buffer',
    ),
    "nothing bounds the queue": (
        {"link": {"buffer": "unlimited"}, "flow": {"tcp": "newreno-rfc6582"}},
        "1st [[flow]], field path: no buffer on the path is limited, nor the window: the queue grows as long as the "
        "run lasts",
    ),
    "red with thresholds below a millisecond": (
        {"link": {"rate": "1 Gbit/s", "queue": "red"}},
        'link "a", field queue: the thresholds of 5 pkt and 15 pkt are queueing delays of 60 us and 180 us at '
        "1 Gbit/s: packets are dropped almost as soon as one waits",
    ),
    "ns-2's red with the packet in transmission": (
        {"link": {"queue": {"discipline": "red", "rules": "ns2"}}},
        'link "a", field queue.rules: ns-2 counts only the packets that wait, in the mean and in the buffer: '
        'counting = "waiting" does',
    ),
    "data in a buffer that none has chosen": (
        {"flow": {"path": ["a.reverse"]}},
        'link "a", field reverse.buffer: is unlimited, as none is given: its queue drops no packet, however long it '
        'grows; give a buffer, or buffer = "unlimited" if that is meant',
    ),
    "late starts": (
        {"flow": {"name": "web", "start": "90 s", "start_spread": "20 s"}},
        'flow "web", field start_spread: some starts can come after the end of the run',
    ),
    "dupack threshold of old tahoe": (
        {"flow": {"tcp": {"preset": "old-tahoe-ns2", "dupack_threshold": 5}}},
        '1st [[flow]], field tcp.dupack_threshold: has no effect with recovery = "old-tahoe"',
    ),
    "half of the window of ns-2's tahoe": (
        {"flow": {"tcp": {"preset": "tahoe-ns2", "half_window": "fractional"}}},
        '1st [[flow]], field tcp.half_window: has no effect with recovery = "tahoe"',
    ),
    "partial ACKs of reno": (
        {"flow": {"tcp": {"preset": "reno-ns2", "partial_ack_timer": "impatient"}}},
        '1st [[flow]], field tcp.partial_ack_timer: has no effect with recovery = "reno"',
    ),
    "delay without delayed ACKs": (
        {"flow": {"tcp": {"ack_every": 1, "ack_delay": "50 ms"}}},
        "1st [[flow]], field tcp.ack_delay: has no effect with ack_every = 1",
    ),
    "clock of rfc6298": (
        {"flow": {"tcp": {"preset": "newreno-rfc6582", "rto": {"clock_phase": 0.5}}}},
        '1st [[flow]], field tcp.rto.clock_phase: has no effect with estimator = "rfc6298"',
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_should_be_looked_at_is_said_once(case: str) -> None:
    changes, expected = CASES[case]
    assert warnings(**changes) == [expected]


@pytest.mark.parametrize(
    "changes",
    [
        {"run": {"duration": "2 s"}},
        {"run": {"warmup": "1 s", "replications": 2}},
        {"run": {"warmup": "0 s", "replications": 1}},
        {"link": {"buffer": "2 pkt"}},
        {"link": {"buffer": "1 pkt", "counting": "waiting"}},
        {"link": {"buffer": "15 pkt", "queue": "red"}},
        {"link": {"buffer": "unlimited", "queue": "red"}},
        {"link": {"rate": "179.9 Mbit/s", "queue": "red"}},
        {"flow": {"path": ["fast", "a"]}, "more": [{"name": "fast", "rate": "9 Mbit/s"}]},
        {"link": {"reverse": {"buffer": "unlimited"}}, "flow": {"path": ["a.reverse"], "size": "9 pkt"}},
        {"flow": {"path": ["a.reverse"], "tcp": {"max_window": "9 pkt"}}},
        {"link": {"buffer": "unlimited"}, "flow": {"size": "9 pkt"}},
        {"link": {"buffer": "unlimited"}, "flow": {"tcp": {"max_window": "9 pkt"}}},
        {"flow": {"start": "80 s", "start_spread": "20 s"}},
    ],
)
def test_what_is_just_enough_is_not_warned_of(changes: dict[str, Any]) -> None:
    assert warnings(**changes) == []


def test_ready_scenarios_warn_of_nothing_but_the_papers_missing_warmup() -> None:
    warned = {path.stem: [warning.place for warning in load(path).warnings] for path in SCENARIOS.glob("*.toml")}
    assert warned.pop("geo-random-drop") == ["[run], field warmup"]
    assert set(map(tuple, warned.values())) == {()}
