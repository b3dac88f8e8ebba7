"""Weighted fair queueing against processor sharing as a fluid, packet by packet."""

from functools import cache
from typing import Any

import pytest

from crosscheck.queues import ours
from crosscheck.queues.draw import DURATION_S, path_of, source
from crosscheck.queues.events import TOLERANCE_S, Event, Events, first_difference
from crosscheck.queues.gps import InOrder, finishes
from crosscheck.queues.rfc8289 import serve

CASES = range(5)


@cache
def played(index: int, discipline: str = "wfq") -> tuple[Any, float, ours.Played]:
    """Play Poisson sources of packets of several lengths and weights, of 0.7 to 1.1 times the rate together."""
    random = source("wfq", 1, index)
    rate_bps = round(random.between(1e6, 10e6), 3)
    count = random.integer(2, 8)
    load = random.between(0.7, 1.1)
    flows: list[dict[str, Any]] = []
    for _ in range(count):
        rate = load * rate_bps / count * random.between(0.5, 1.5)
        packet, weight = f"{random.integer(100, 1500)} B", random.integer(1, 10)
        traffic = {"kind": "poisson", "rate": f"{rate!r} bit/s"}
        flows.append({"packet": packet, "weight": weight, "traffic": traffic})
    resolved = path_of(random, flows, rate_bps, {"discipline": discipline}, None)
    return resolved, rate_bps, ours.play(resolved)


def fluid(index: int, discipline: str = "wfq") -> tuple[dict[tuple[int, int], float], tuple[int, ...], float]:
    """Give when processor sharing finishes the packets [s], the lengths of packets [B] and the rate [bit/s]."""
    resolved, rate_bps, found = played(index, discipline)
    sizes = tuple(flow.packet_bytes for flow in resolved.flows)
    weights = tuple(flow.weight for flow in resolved.flows)
    return finishes(found.arrivals, sizes, weights, rate_bps), sizes, rate_bps


def latest(index: int, discipline: str) -> float:
    """Compute by how much a packet ends after the fluid at most, in transmissions of the longest packet."""
    finish_s, sizes, rate_bps = fluid(index, discipline)
    _, _, found = played(index, discipline)
    after = [event.time_s - finish_s[event.flow, event.number] for event in departed(found.events)]
    return max(after) * rate_bps / (8 * max(sizes))


def departed(events: Events) -> list[Event]:
    return [event for event in events.departures if event.time_s < DURATION_S]


@pytest.mark.parametrize("index", CASES)
def test_packets_leave_in_the_order_in_which_processor_sharing_finishes_them(index: int) -> None:
    finish_s, sizes, rate_bps = fluid(index)
    _, _, found = played(index)
    expected = serve(lambda _: InOrder(finish_s), found.arrivals, sizes, rate_bps)
    difference = first_difference(expected, found.events, DURATION_S)
    assert difference is None, str(difference)
    assert len(found.events.departures) > 1000


@pytest.mark.parametrize("index", CASES)
def test_no_packet_ends_later_than_processor_sharing_by_more_than_the_longest_packet(index: int) -> None:
    """Parekh, Gallager 1993, theorem 1."""
    _, sizes, rate_bps = fluid(index)
    assert latest(index, "wfq") <= 1.0 + TOLERANCE_S * rate_bps / (8 * max(sizes))


def test_deficit_round_robin_has_no_such_bound() -> None:
    assert max(latest(index, "drr") for index in CASES) > 2.0
