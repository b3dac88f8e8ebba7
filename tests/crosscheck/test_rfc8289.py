"""CoDel and FQ-CoDel by the RFC's rules, event by event against their pseudocode."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from crosscheck.queues import ours
from crosscheck.queues.draw import DURATION_S, Packets, draw_path, source
from crosscheck.queues.events import Events, first_difference
from crosscheck.queues.rfc8289 import Codel, Discipline, FlowQueues, Packet, Parameters, serve

Drop = Callable[[Packet, float], None]
QUANTUM = 1514


@cache
def played(name: str, index: int, rules: str = "rfc") -> tuple[Any, Parameters, float, ours.Played]:
    """Draw a scenario and play it: the scenario, the constants, the rate of the queue [bit/s], and what happened."""
    random = source(name, 1, index)
    packets = Packets(random.choice((500, 1000, 1460)), random.choice((True, False)))
    rate_bps = round(random.between(0.5e6, 5e6), 3)
    target_s, interval_s = (0.005, 0.1) if index == 0 else (random.between(0.002, 0.03), random.between(0.03, 0.3))
    queue = {"discipline": name, "rules": rules, "target": f"{target_s!r} s", "interval": f"{interval_s!r} s"}
    if name == "fq-codel":
        queue |= {"separation": "perfect", "quantum": f"{QUANTUM} B"}
    resolved = draw_path(random, packets, rate_bps, queue, None)
    largest = max(flow.packet_bytes for flow in resolved.flows)
    return resolved, Parameters(target_s, interval_s, largest), rate_bps, ours.play(resolved)


def by_the_rfc(name: str, index: int, parameters: Parameters) -> Events:
    resolved, _, rate_bps, found = played(name, index)
    sizes = tuple(flow.packet_bytes for flow in resolved.flows)

    def build(drop: Drop) -> Discipline:
        return Codel(parameters, drop) if name == "codel" else FlowQueues(parameters, QUANTUM, drop)

    return serve(build, found.arrivals, sizes, rate_bps)


@pytest.mark.parametrize("index", range(6))
@pytest.mark.parametrize("name", ["codel", "fq-codel"])
def test_every_departure_and_drop_is_that_of_the_pseudocode(name: str, index: int) -> None:
    _, parameters, _, found = played(name, index)
    difference = first_difference(by_the_rfc(name, index, parameters), found.events, DURATION_S)
    assert difference is None, str(difference)
    assert len(found.events.departures) > 1000
    assert len(found.events.drops) > 10


@pytest.mark.parametrize("name", ["codel", "fq-codel"])
def test_the_rules_of_the_kernel_are_others(name: str) -> None:
    _, parameters, _, found = played(name, 0, "linux")
    assert first_difference(by_the_rfc(name, 0, parameters), found.events, DURATION_S) is not None


@pytest.mark.parametrize("name", ["codel", "fq-codel"])
@pytest.mark.parametrize("changed", ["target_s", "interval_s"])
def test_another_constant_is_found(name: str, changed: str) -> None:
    _, parameters, _, found = played(name, 1)
    other = parameters._replace(**{changed: 1.1 * getattr(parameters, changed)})
    assert first_difference(by_the_rfc(name, 1, other), found.events, DURATION_S) is not None
