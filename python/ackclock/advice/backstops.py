"""Buffers behind an AQM: the AQM bounds the wait, and the buffer only holds what comes before it reacts."""

from collections.abc import Sequence

from ackclock.advice.knobs import Knob
from ackclock.findings import Row, mean
from ackclock.scenario import Resolved
from ackclock.scenario.resolved_queues import Aqm, Cobalt, Codel, DualPi2, Pi, Pie
from ackclock.wording import seconds

NEAR = 3.0
"""Ratio of the mean wait to an AQM's target up to which it keeps the wait near it: PIE's swings, and it is a mean."""


def is_bounded(resolved: Resolved, knob: Knob, links: Sequence[Row]) -> bool:
    """Return whether an AQM keeps the mean wait of a run near its target, or below.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    knob : Knob
        The buffer of the AQM's queue.
    links : sequence of mapping
        The summary's rows.
    """
    target_s = _target_s(resolved.elements_by_name[knob.names[0]].queue.aqm, knob)
    return target_s is not None and _wait_s(knob, links) <= NEAR * target_s


def overflows(knob: Knob, links: Sequence[Row]) -> bool:
    """Return whether a full buffer drops as many packets as the AQM drops and marks, or more.

    Parameters
    ----------
    knob : Knob
        The buffer of the AQM's queue.
    links : sequence of mapping
        The summary's rows.
    """
    by_buffer, by_aqm, marked = (
        sum(mean(row, key) for row in links if row["name"] in knob.names)
        for key in ("dropped_by_buffer_packets", "dropped_by_aqm_packets", "marked_packets")
    )
    return by_buffer > 0.0 and by_buffer >= by_aqm + marked


def _wait_s(knob: Knob, links: Sequence[Row]) -> float:
    """Give the mean wait, of equal links the longest [s]."""
    return max(mean(row, "queue_mean_packets") for row in links if row["name"] in knob.names) / knob.packet_rate


def _target_s(aqm: Aqm, knob: Knob) -> float | None:
    """Give the wait that an AQM aims at [s]; None of one that aims at none."""
    match aqm:
        case Codel(target_s=target_s) | Cobalt(target_s=target_s) | Pie(target_s=target_s) | DualPi2(target_s=target_s):
            return target_s
        case Pi(target_packets=target_packets):
            return target_packets / knob.packet_rate
        case _:
            return None


def job_of(resolved: Resolved, knob: Knob, links: Sequence[Row]) -> str:
    """Say whose job the delay is, and how well it is done.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    knob : Knob
        The buffer of the AQM's queue.
    links : sequence of mapping
        The summary's rows.
    """
    queue = resolved.elements_by_name[knob.names[0]].queue
    wait = _wait_s(knob, links)
    target = _target_s(queue.aqm, knob) or 0.0
    return f"the delay is {queue.title}'s job, and packets wait {seconds(wait)} on average (target {seconds(target)})"
