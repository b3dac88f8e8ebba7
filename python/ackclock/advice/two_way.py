"""Two-way traffic: what ACK compression costs, and the windows that would make it up (Kalampoukas et al. 1997)."""

from dataclasses import replace
from math import ceil

import numpy as np

from ackclock.advice.bench import Bench, before_after, of_link, rate_of
from ackclock.advice.records import Recommendation, Rule
from ackclock.models import two_way
from ackclock.prediction.two_way import Side, sides
from ackclock.wording import amount, number

TOPIC = "two-way"
QUESTION = "What does traffic in both directions cost, and how could it be made up?"
SOURCE = "Kalampoukas, Varma, Ramakrishnan 1997"
SLIGHT = 0.05
"""Fraction of the throughput: a smaller loss is not worth a change."""
WANTED = 0.9
"""Efficiency that the new windows are to reach; no window reaches 1 (theorem 1)."""


def advise_two_way(bench: Bench, *, simulate: bool) -> Recommendation | None:
    """Recommend windows against ACK compression; None if the question does not arise, or of several pairs."""
    found = sides(bench.resolved)
    if isinstance(found, str) or len(found) > 1:
        return None
    ((one, other),) = found
    windows, delays = [sum(one.windows), sum(other.windows)], [one.delay_s, other.delay_s]
    rates = [one.node.packet_rate, other.node.packet_rate]
    shares = np.asarray(two_way.efficiency(windows, delays, rates)).tolist()
    alone = np.asarray(two_way.one_way_efficiency(windows, delays, rates)).tolist()
    lost = [1.0 - share / single for share, single in zip(shares, alone, strict=True)]
    if max(lost) < SLIGHT:
        return Recommendation(TOPIC, QUESTION, "Next to nothing: neither direction loses a twentieth of its throughput")
    # Windows that take equally long to send, so that neither direction waits for the other: their time is that of the
    # window at a rate of 1.
    duration = float(two_way.windows_for_efficiency(WANTED, delays))
    wanted = [float(ceil(duration * rate)) for rate in rates]
    changes = {**_changes(one, wanted[0]), **_changes(other, wanted[1])}
    answer = (
        f"{amount(max(lost[0], 0.0), '1')} of what {_names(one)} could have alone, {amount(max(lost[1], 0.0), '1')} of "
        f"what {_names(other)} could: ACKs wait behind the data of the other direction and come in bunches. Windows of "
        f"{number(wanted[0])} and {number(wanted[1])} packets (now {number(windows[0])} and {number(windows[1])}) give "
        f"both {amount(WANTED, '1')} of the line, at the price of long queues; sending ACKs before data does it without"
    )
    rules = _rules(one, other, wanted, windows)
    if not simulate:
        return Recommendation(TOPIC, QUESTION, answer, changes, rules)
    return _checked(bench, one, other, Recommendation(TOPIC, QUESTION, answer, changes, rules))


def _checked(bench: Bench, one: Side, other: Side, plan: Recommendation) -> Recommendation:
    """Simulate before and after, and ACKs before data; windows that gain too little are not recommended."""
    before, after = bench.run({}, "both directions as they are"), bench.run(plan.changes, "the new windows")
    priority = _acks_first(bench, one, other)
    ahead = bench.run(priority, "ACKs before data") if priority else None
    check = []
    for side in (one, other):
        rate, names = rate_of(side.names), _names(side)
        queue = of_link(side.node.name, "queue_mean_packets")
        check += [
            before_after(f"throughput, {names}", "bit/s", before, after, rate),
            before_after(f"queue of {side.node.name}", "pkt", before, after, queue),
        ]
        if ahead is not None:
            check.append(before_after(f"{names}, ACKs first instead", "bit/s", before, ahead, rate))
    total = rate_of([*one.names, *other.names])
    gains = (total(after)["mean"] or 0.0) > (1.0 + SLIGHT) * (total(before)["mean"] or 0.0)
    if gains:
        return replace(plan, check=tuple(check))
    answer = "In the simulation larger windows gain less than a twentieth of the throughput: nothing is to be changed"
    return replace(plan, answer=answer, changes={}, check=tuple(check))


def _names(side: Side) -> str:
    return " and ".join(side.names) if len(side.names) <= 2 else f"the {len(side.names)} flows over {side.node.name}"


def _changes(side: Side, window: float) -> dict[str, str]:
    """Give each flow its share of the window; flows that one table describes are changed by its name."""
    each = ceil(window / len(side.scenes))
    return {f"flow.{name.partition('[')[0]}.tcp.max_window": f"{each} pkt" for name in side.names}


def _acks_first(bench: Bench, one: Side, other: Side) -> dict[str, object]:
    """Let ACKs go before data at both queues, the remedy that the paper names; ATM channels have no such queue."""
    nodes = {side.node.name for side in (one, other)}
    if any(bench.resolved.elements_by_name[name].kind != "link" for name in nodes):
        return {}
    queues: dict[str, object] = {f"link.{name}.queue": "priority" for name in nodes}
    flows = [name.partition("[")[0] for side in (one, other) for name in side.names]
    levels = {f"flow.{name}.{key}": level for name in flows for key, level in (("priority", 1), ("ack_priority", 0))}
    return queues | levels


def _rules(one: Side, other: Side, wanted: list[float], windows: list[float]) -> tuple[Rule, ...]:
    rules = []
    for side, window, present in zip((one, other), wanted, windows, strict=True):
        pipe = side.node.packet_rate * (one.delay_s + other.delay_s) + 1.0
        rules += [
            Rule(
                f"window of {_names(side)} for {amount(WANTED, '1')}",
                f"{SOURCE}, theorems 1 and 2",
                window,
                "pkt",
                valid=True,
                reason=f"both directions full at once; now {number(present)}",
                chosen=True,
            ),
            Rule(
                f"bandwidth-delay product of {side.node.name}",
                "the usual rule for a window",
                ceil(pipe),
                "pkt",
                valid=False,
                reason="fills the line only without traffic in the other direction: with it, two thirds",
            ),
        ]
    return tuple(rules)
