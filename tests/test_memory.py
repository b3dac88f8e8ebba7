"""Recorded rows take no more memory than they may."""

import pytest

import ackclock
from ackclock.errors import EngineError
from ackclock.memory import TRACE_MEMORY, trace_limit

SCENARIO = """
[[link]]
name = "a"
rate = "100 Mbit/s"
buffer = "100 pkt"
[[flow]]
path = ["a"]
tcp = "newreno-rfc6582"
rtt = "10 ms"
[run]
duration = "20 s"
replications = {replications}
[trace]
{trace} = true
"""


@pytest.mark.parametrize("trace", ["cwnd", "queue", "sequence"])
def test_a_trace_that_outgrows_its_memory_ends_the_run_with_an_error(
    trace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TRACE_MEMORY, "1 MB")
    with pytest.raises(EngineError, match=r"rows do not fit .* 1 MB for all.*record less.*ACKCLOCK_TRACE_MEMORY"):
        ackclock.run(SCENARIO.format(trace=trace, replications=1), picture=False)


def test_a_trace_that_fits_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRACE_MEMORY, "100 MB")
    result = ackclock.run(SCENARIO.format(trace="sequence", replications=1), picture=False)
    assert len(result.traces["sequence"]) > 100_000


def test_replications_share_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    random = SCENARIO.replace('buffer = "100 pkt"', 'buffer = "100 pkt"\nqueue = "random-drop"')
    monkeypatch.setenv(TRACE_MEMORY, "15 MB")
    assert (
        len(ackclock.run(random.format(trace="sequence", replications=1), picture=False).traces["sequence"]) > 100_000
    )
    with pytest.raises(EngineError, match="for all replications"):
        ackclock.run(random.format(trace="sequence", replications=4), picture=False)


@pytest.mark.parametrize("given", ["", "2", "3 pkt", "-1 MB", "0 MB", "1e400 GB", "much"])
def test_no_amount_of_memory_is_refused_by_name(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRACE_MEMORY, given)
    with pytest.raises(EngineError, match=f'environment variable {TRACE_MEMORY}: .*; allowed such as "2 GB"'):
        trace_limit()
