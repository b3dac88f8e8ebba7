"""DualPI2 by the RFC's rules, event by event against its pseudocode."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from crosscheck.mrg32k3a import Mrg32k3a
from crosscheck.queues import ours
from crosscheck.queues.draw import DURATION_S, Packets, path_of, source
from crosscheck.queues.events import TOLERANCE_S, Difference, Events, first_difference
from crosscheck.queues.rfc8289 import Packet, serve
from crosscheck.queues.rfc9332 import DualPi2, Parameters

OVERLOADS = {0: 1.2, 1: 0.3, 2: 0.95, 3: 0.0, 4: 0.6, 5: 1.05}
"""The load of the datagrams of each scenario, over the rate; from 1 on both queues must drop."""


def flows_of_l4s(random: Mrg32k3a, packets: Packets, rate_bps: float, load: float) -> list[dict[str, Any]]:
    """Draw flows of Prague and Classic ones, with and without ECN, and datagrams of a load."""
    flows: list[dict[str, Any]] = []
    for number in range(random.integer(3, 7)):
        size = packets.typical if packets.same_size else random.choice((500, 1000, 1460))
        preset = random.choice(("draft-prague", "linux-reno")) if number else "draft-prague"
        tcp: dict[str, str] = {"preset": preset}
        if preset == "linux-reno" and (number == 1 or random.choice((True, False))):
            tcp["ecn"] = "classic"
        flows.append({"packet": f"{size} B", "tcp": tcp, "start": f"{number * random.between(0.0, 0.5)!r} s"})
        flows[-1]["rtt"] = f"{random.between(150.0, 250.0)!r} ms"
    if load:
        rate = load * rate_bps
        flows.append({"packet": f"{packets.typical} B", "traffic": {"kind": "poisson", "rate": f"{rate!r} bit/s"}})
    return flows


@cache
def played(index: int, rules: str = "rfc") -> tuple[Any, Parameters, float, ours.Played]:
    """Draw a scenario and play it: the scenario, the constants, the rate of the queue [bit/s], and what happened."""
    random = source("dualpi2", 1, index)
    packets = Packets(random.choice((500, 1000, 1460)), random.choice((True, False)))
    rate_bps = round(random.between(2e6, 10e6), 3)
    constants = Parameters()
    queue: dict[str, Any] = {"discipline": "dualpi2", "rules": rules}
    if index > 1:
        constants = constants._replace(target_s=random.between(0.005, 0.03), update_s=random.between(0.005, 0.03))
        constants = constants._replace(alpha=random.between(0.05, 0.5), beta=random.between(1.0, 6.0))
        constants = constants._replace(k=random.between(1.0, 4.0), min_th_s=random.between(0.0, 0.01))
        constants = constants._replace(range_s=random.between(0.0, 0.01), classic_percent=random.integer(1, 50))
        queue |= {"target": f"{constants.target_s!r} s", "update": f"{constants.update_s!r} s"}
        queue |= {"alpha": constants.alpha, "beta": constants.beta, "coupling": constants.k}
        queue |= {"step": f"{constants.min_th_s!r} s", "classic_share": constants.classic_percent / 100}
        queue |= {"ramp": f"{constants.range_s!r} s"} if rules == "rfc" else {}
    flows = flows_of_l4s(random, packets, rate_bps, OVERLOADS[index])
    resolved = path_of(random, flows, rate_bps, queue, None)
    largest = max(flow.packet_bytes for flow in resolved.flows)
    return resolved, constants._replace(largest_bytes=largest), rate_bps, ours.play(resolved)


def by_the_rfc(index: int, parameters: Parameters) -> tuple[Events, float]:
    """Play the arrivals at the pseudocode's queue: the events, and the instant up to which nanoseconds decide [s]."""
    resolved, _, rate_bps, found = played(index)
    sizes = tuple(flow.packet_bytes for flow in resolved.flows)
    queues: list[DualPi2] = []

    def build(drop: Callable[[Packet, float], None]) -> DualPi2:
        queues.append(DualPi2(parameters, drop))
        return queues[0]

    events = serve(build, found.arrivals, sizes, rate_bps)
    return events, min(queues[0].decided_until_s, DURATION_S)


def difference_of(index: int, parameters: Parameters, found: ours.Played) -> Difference | None:
    events, until_s = by_the_rfc(index, parameters)
    return first_difference(events, found.events, until_s - TOLERANCE_S)


@pytest.mark.parametrize("index", OVERLOADS)
def test_every_departure_drop_and_mark_is_that_of_the_pseudocode(index: int) -> None:
    _, parameters, _, found = played(index)
    difference = difference_of(index, parameters, found)
    assert difference is None, str(difference)
    assert by_the_rfc(index, parameters)[1] > DURATION_S / 2
    assert len(found.events.departures) > 1000
    assert found.events.marks > 10


def test_an_overload_drops_packets_of_both_queues() -> None:
    _, _, _, found = played(0)
    l4s = {(arrival.flow, arrival.number) for arrival in found.arrivals if arrival.l4s}
    dropped = [(drop.flow, drop.number) in l4s for drop in found.events.drops]
    assert set(dropped) == {True, False}


def test_the_rules_of_the_kernel_are_others() -> None:
    _, parameters, _, found = played(1, "linux")
    assert difference_of(1, parameters, found) is not None


@pytest.mark.parametrize("changed", ["target_s", "update_s", "alpha", "beta", "k", "min_th_s", "range_s", "th_len"])
def test_another_constant_is_found(changed: str) -> None:
    _, parameters, _, found = played(3)
    other = parameters._replace(**{changed: 1.2 * getattr(parameters, changed) if changed != "th_len" else 2})
    assert difference_of(3, other, found) is not None
