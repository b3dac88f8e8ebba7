"""A fixed share of the campaign, and that its oracles see what is broken."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ackclock.engine import run_resolved
from ackclock.scenario import Resolved
from campaign.examine import examine
from campaign.legal import legal
from campaign.oracles import broken, differences

NUMBERS = (*range(24), 52, 463, 495, 5968, 160_486, 163_289, 164_529)
"""The last ones have found a fault each: pings whose echoes are dropped, slowdowns below 1 over ATM channels, slowdowns
and working times beyond 64 bits, and a utilisation of 1 + 2e-16."""


@pytest.mark.parametrize("number", NUMBERS)
def test_a_legal_run_breaks_no_oracle(number: int) -> None:
    assert examine(number).faults == ()


def test_a_number_is_always_the_same_scenario() -> None:
    assert legal(7).to_json() == legal(7).to_json()


@pytest.fixture(scope="module")
def ran() -> tuple[Resolved, Any]:
    """A run with datagrams, transfers and drops; what a flow sends is all that comes to its first link."""
    for number in range(200):
        resolved = legal(number)
        run = run_resolved(resolved, threads=1).replications[0]
        found = run["links"]["dropped_total"].sum() > 10 and len(resolved.flows) > 2 and resolved.trace.queue
        found = found and "drops" in run["traces"] and _nothing_comes_to_first_links(resolved)
        if found and run["completions"]["groups"]["entry"].size and "delays" in run and "flow_batches" in run:
            return resolved, run
    raise AssertionError("no number below 200 has all of it")


def _nothing_comes_to_first_links(resolved: Resolved) -> bool:
    further = {link for flow in resolved.flows for way in (flow.path[1:], flow.return_path) for link in way}
    return not further & {flow.path[0] for flow in resolved.flows}


def add(table: str, column: str, amount: float) -> Callable[[Any], None]:
    def change(run: Any) -> None:
        values = run[table][column]
        values[np.argmax(values)] += amount

    return change


@pytest.mark.parametrize(
    ("oracle", "change"),
    [
        ("signs", add("flows", "timeouts", -1e9)),
        ("links", add("links", "departed_total", 1.0)),
        ("links", add("links", "arrived_total", 1e6)),
        ("first_links", add("flows", "sent_total", -1.0)),
        ("flows", add("flows", "received_total", 1e6)),
        ("traces", add("links", "dropped_total", 1.0)),
        ("rates", add("links", "busy_s", 1e4)),
        ("rates", add("links", "departed_bytes", 1e9)),
        ("batches", add("flows", "received_packets", 1.0)),
        ("completions", add("flows", "completion_max_s", 0.0)),
    ],
)
def test_an_oracle_sees_what_is_broken(ran: tuple[Resolved, Any], oracle: str, change: Callable[[Any], None]) -> None:
    resolved, run = ran
    assert list(broken(resolved, run)) == []
    other = copy.deepcopy(run)
    change(other)
    if oracle == "completions":
        other["completions"]["groups"]["delivered_max_s"][:] = 0.0
    assert any(sentence.startswith(f"{oracle}: ") for sentence in broken(resolved, other))


def test_a_bit_makes_a_difference(ran: tuple[Resolved, Any]) -> None:
    _, run = ran
    other = copy.deepcopy(run)
    assert list(differences(run, other)) == []
    other["links"]["busy_s"][0] = np.nextafter(other["links"]["busy_s"][0], np.inf)
    assert [sentence.split(":")[0] for sentence in differences(run, other)] == ["links.busy_s"]
