"""What is said before a long run, and what is refused beyond the user's limit."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ackclock
from ackclock import api
from ackclock.cli import app
from ackclock.cost import Estimate, estimate
from ackclock.engine import run_resolved
from ackclock.errors import LimitError, LongRunWarning
from ackclock.limits import LIMIT, is_long, read_limits, sentence
from ackclock.memory import trace_limit
from ackclock.scenario.ready import ready_names

FACTOR = 2.0
"""Largest ratio of the packets that are expected to those that are sent, either way."""
WEB = """
[[link]]
name = "access"
rate = "{rate}"
delay = "10 ms"
buffer = "200 pkt"
[[flow]]
path = ["access"]
count = {count}
tcp = "newreno-engset"
traffic = {{ kind = "web", size = {{ law = "exponential-pareto", mean = "12 pkt" }}, off = "{off}" }}
[run]
duration = "{duration}"
"""
BULK = """
[[link]]
name = "a"
rate = "{rate}"
buffer = "100 pkt"
[[flow]]
path = ["a"]
rtt = "10 ms"
[run]
duration = "{duration}"
"""
LONG = BULK.format(rate="10 Gbit/s", duration="100000 s")
SHORT = BULK.format(rate="10 Mbit/s", duration="1 s")


def expected(scenario: Any, **changes: Any) -> Estimate:
    resolved = ackclock.resolve(scenario, **changes)
    return estimate(resolved, threads=1, trace_bytes=trace_limit())


@pytest.mark.parametrize("name", ready_names())
def test_the_packets_of_the_ready_scenarios(name: str) -> None:
    # An ATM network goes cell by cell: a tenth of its time is enough.
    share = 0.2 if "gfc2" in name else 1.0
    resolved = ackclock.resolve(name)
    resolved = ackclock.resolve(name, duration=f"{share * resolved.run.duration_s} s", warmup="0 s")
    runs = run_resolved(resolved, threads=2).replications
    sent = sum(float(run["flows"]["sent_total"].sum()) for run in runs)
    found = estimate(resolved, threads=1, trace_bytes=trace_limit())
    assert 1.0 / FACTOR < found.packets / sent < FACTOR


@pytest.mark.parametrize(
    ("count", "rate", "off"), [(500, "50 Mbit/s", "2 s"), (5000, "200 Mbit/s", "5 s"), (5000, "50 Mbit/s", "5 s")]
)
def test_the_packets_of_many_users(count: int, rate: str, off: str) -> None:
    resolved = ackclock.resolve(WEB.format(count=count, rate=rate, off=off, duration="40 s"))
    (run,) = run_resolved(resolved, threads=1).replications
    found = estimate(resolved, threads=1, trace_bytes=trace_limit())
    assert 1.0 / FACTOR < found.packets / float(run["flows"]["sent_total"].sum()) < FACTOR


def test_datagrams_that_a_link_drops_are_sent_all_the_same() -> None:
    flow = {"path": ["a"], "traffic": {"kind": "constant", "rate": "80 Mbit/s"}, "packet": "1000 B"}
    link = {"name": "a", "rate": "1 Mbit/s", "buffer": "9 pkt"}
    found = expected({"link": [link], "flow": [flow], "run": {"duration": "10 s"}})
    assert found.packets == pytest.approx(100_000.0)


def test_memory_grows_with_flows_rows_replications_and_traces() -> None:
    plain = expected(SHORT)
    assert plain.memory_bytes < 200e6
    assert expected(WEB.format(count=1_000_000, rate="1 Gbit/s", off="5 s", duration="1 s")).memory_bytes > 9e8
    assert expected(LONG, overrides={"trace.sequence": True}).memory_bytes > 1.5e9
    flows = [{"name": f"group{number}", "path": ["a"], "count": 1000} for number in range(100)]
    link = {"name": "a", "rate": "1 Mbit/s", "buffer": "9 pkt"}
    many: Any = {"link": [link], "flow": flows, "run": {"duration": "1 s", "replications": 10}}
    assert expected({**many, "flow": [{**flow, "start_spread": "1 s"} for flow in flows]}).memory_bytes > 3e9


def test_an_unlimited_buffer_and_window_may_hold_all_that_is_sent() -> None:
    endless = BULK.replace('buffer = "100 pkt"', 'buffer = "unlimited"')
    endless = endless.replace("[[flow]]", '[[flow]]\ntcp = "reno-rfc5681"')
    assert expected(endless.format(rate="1 Gbit/s", duration="100 s")).memory_bytes > 3e8


def test_a_precision_says_how_much_more_it_may_be() -> None:
    precise = {"run.duration": "100 s", "run.precision": {"within": "1%", "longest": "6400 s"}}
    assert expected("geo-two-nodes", overrides={**precise, "run.warmup": "0 s"}).most == 128.0
    several = {"run.precision": {"within": "1%", "most": 400, "batch": 10}}
    assert expected("geo-random-drop", overrides=several).most == 40.0


def test_the_sentence_says_packets_time_and_memory() -> None:
    words = "About 120 million packets: 4.2 min of computing with 2 threads, 310 MB of memory"
    assert sentence(Estimate(1.2e8, 250.0, 3.1e8, threads=2)) == words
    more = "; up to 50 times the packets and the time for the precision that is wanted"
    assert sentence(Estimate(1.2e8, 250.0, 3.1e8, threads=2, most=50.0)) == words + more


def test_what_is_long() -> None:
    assert not is_long(Estimate(1e6, 9.0, 9e8))
    assert is_long(Estimate(1e6, 11.0, 9e8))
    assert is_long(Estimate(1e6, 9.0, 1.1e9))
    assert is_long(Estimate(1e6, 1.0, 2e8, most=11.0))


def test_a_long_run_says_so_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "run_resolved", lambda *given, **named: pytest.fail("it has started"))
    said = r"^About 83 billion packets: .* h of computing with 1 thread, 1\d\d MB of memory$"
    refused = r"limit: is less than the run is expected to take, about .* h; given 10 min"
    with pytest.warns(LongRunWarning, match=said), pytest.raises(LimitError, match=refused):
        ackclock.run(LONG, threads=2, limit="10 min")


def test_a_short_run_says_nothing() -> None:
    assert ackclock.run(SHORT, limit=["10 s", "1 GB", "1e5 pkt"], picture=False).flows is not None


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("100 pkt", r"about 830 packets; given 100 packets"),
        ("100 MB", r"about 1\d0 MB; given 100 MB"),
        (["1 h", "1 us"], r"about .* s; given .* s"),
    ],
)
def test_a_run_beyond_its_limit_is_refused(limit: Any, message: str) -> None:
    with pytest.raises(LimitError, match=message):
        ackclock.run(SHORT, limit=limit, picture=False)


def test_the_environment_limits_runs_without_a_limit_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "10 min, 100 pkt")
    with pytest.raises(LimitError, match="given 100 packets"):
        ackclock.run(SHORT, picture=False)
    with pytest.raises(LimitError, match="the sweep is expected to take, about 1,700 packets"):
        ackclock.sweep(SHORT, {"run.seed": [1, 2]})
    assert ackclock.run(SHORT, limit="1e4 pkt", picture=False).flows is not None


@pytest.mark.parametrize("given", ["", "10", "5 Mbit/s", "0 s", "-1 GB", "much", None, 3])
def test_what_is_no_limit_is_refused(given: Any) -> None:
    with pytest.raises(LimitError, match=r'^limit: .*; allowed a time, .*"10 min", "2 GB" or "1e9 pkt"'):
        read_limits([given])


def test_a_sweep_beyond_its_limit_is_refused_and_what_is_finished_does_not_count(tmp_path: Path) -> None:
    axes = {"run.seed": [1, 2, 3]}
    with pytest.raises(LimitError, match=r"less than the sweep is expected to take, about 2,500 packets; given 2,000"):
        ackclock.sweep(SHORT, axes, limit="2000 pkt", out=tmp_path)
    ackclock.sweep(SHORT, {"run.seed": [1, 2]}, limit="2000 pkt", out=tmp_path)
    ackclock.sweep(SHORT, axes, limit="2000 pkt", out=tmp_path)


def test_the_command_line_says_and_refuses(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(LONG, encoding="utf-8")
    for command in (["run"], ["sweep", "--vary", "run.seed=1,2", "--out", str(tmp_path / "out")]):
        result = CliRunner().invoke(app, [*command, str(tmp_path / "long.toml"), "--limit", "10 min"])
        assert isinstance(result.exception, LimitError)
        assert result.stderr.startswith("About ")
        assert "billion packets: " in result.stderr
