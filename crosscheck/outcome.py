"""The outcomes of a scenario on both sides."""

import math
from dataclasses import dataclass, field, replace
from itertools import dropwhile

from crosscheck.compare import TIME_TOLERANCE_S, Change, Verdict, compare, normalise
from crosscheck.subset import Scenario, connection


@dataclass(frozen=True, slots=True)
class FlowCounts:
    """Counters of a flow from the end of the warm-up to the end of the run [packets].

    Parameters
    ----------
    acked_packets : int
        Growth of the cumulative ACK that the sender saw.
    delivered_packets : int
        Packets handed to the application in order.
    sent_packets, retransmitted_packets : int
        Packets that the sender sent, retransmissions included, and retransmissions.
    timeouts, fast_retransmits : int
        Losses found by either.
    """

    acked_packets: int
    delivered_packets: int
    sent_packets: int
    retransmitted_packets: int
    timeouts: int
    fast_retransmits: int


@dataclass(frozen=True, slots=True)
class Found:
    """The queue that a packet finds.

    Parameters
    ----------
    time_s : float
        When the packet comes [s].
    packets : int
        Packets that wait, the one in transmission apart.
    """

    time_s: float
    packets: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of a scenario.

    Parameters
    ----------
    changes : list of list of Change
        Each flow's changes of cwnd in order of time.
    flows : list of FlowCounts
        Each flow's counters.
    drops : list of int
        Packets dropped at each link in the measured time.
    finishes_s : dict of int to float
        Instant at which the last ACK of a transfer came, by the number of its flow [s]; none while it goes on.
    queues : dict of int to list of Found
        Queue that each packet found which is not dropped, by the number of the link, where that has RED.
    """

    changes: list[list[Change]]
    flows: list[FlowCounts]
    drops: list[int]
    finishes_s: dict[int, float] = field(default_factory=dict)
    queues: dict[int, list[Found]] = field(default_factory=dict)


def compare_outcomes(
    scenario: Scenario, theirs: Outcome, ours: Outcome, within_s: float = TIME_TOLERANCE_S
) -> list[Verdict]:
    """Compare the changes of each flow, and when its transfer is over, with a tolerance of times.

    A source without TCP has no window, so any change of it is a difference.
    """
    end = scenario["run"]["duration_s"]
    connections = list(map(connection, scenario["flows"]))
    initials = [tcp["sender"]["initial_window"] if tcp else 0.0 for tcp in connections]
    marked = [tcp is not None and tcp["sender"].get("ecn", "off") != "off" for tcp in connections]
    verdicts = [
        compare(
            normalise(their, initial, end, within_s, each_instant_once=with_ecn),
            normalise(our, initial, end, within_s, each_instant_once=with_ecn),
            within_s,
        )
        for their, our, initial, with_ecn in zip(theirs.changes, ours.changes, initials, marked, strict=True)
    ]
    finishes = ([side.finishes_s.get(flow, math.inf) for side in (theirs, ours)] for flow in range(len(verdicts)))
    return [
        _with_finish(verdict, their_s, our_s, within_s) if min(their_s, our_s) < end - within_s else verdict
        for verdict, (their_s, our_s) in zip(verdicts, finishes, strict=True)
    ]


def queues_differ_s(theirs: Outcome, ours: Outcome, within_s: float) -> float:
    """Return when the first packet comes to a RED that finds another queue, or that comes on one side alone [s].

    It is infinite if all find the same. RED's average remembers such a queue for about 1 / weight packets, so that
    windows may differ much later. Left out are the packets before the first one that finds a queue, as ns-2 writes of a
    packet only once its average changes, and those that come on one side alone at the end of the run.
    """
    found = [
        [list(dropwhile(lambda one: one.packets == 0, side.queues.get(link, []))) for side in (theirs, ours)]
        for link in theirs.queues.keys() | ours.queues.keys()
    ]
    return min((_first_other_s(their, our, within_s) for their, our in found), default=math.inf)


def _first_other_s(theirs: list[Found], ours: list[Found], within_s: float) -> float:
    for their, our in zip(theirs, ours, strict=False):
        if their.packets != our.packets or abs(their.time_s - our.time_s) > within_s:
            return min(their.time_s, our.time_s)
    return math.inf


def _with_finish(verdict: Verdict, their_s: float, our_s: float, within_s: float) -> Verdict:
    """Let a verdict that all changes agree depend on the end of the transfer too."""
    if not verdict.passed:
        return verdict
    apart = abs(their_s - our_s)
    if apart <= within_s:
        return replace(verdict, worst_time_s=max(verdict.worst_time_s, apart))
    said = f"the transfer is over at {their_s} s in ns-2, at {our_s} s in ackclock"
    return replace(verdict, difference=said, differs_s=min(their_s, our_s))
