"""The outcomes of a scenario on both sides."""

from dataclasses import dataclass

from crosscheck.compare import Change, Verdict, compare, normalise
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
    """

    changes: list[list[Change]]
    flows: list[FlowCounts]
    drops: list[int]


def compare_outcomes(scenario: Scenario, theirs: Outcome, ours: Outcome) -> list[Verdict]:
    """Compare the changes of each flow; a source without TCP has no window, so any change of it is a difference."""
    end = scenario["run"]["duration_s"]
    connections = map(connection, scenario["flows"])
    initials = [tcp["sender"]["initial_window"] if tcp else 0.0 for tcp in connections]
    return [
        compare(normalise(their, initial, end), normalise(our, initial, end))
        for their, our, initial in zip(theirs.changes, ours.changes, initials, strict=True)
    ]
