"""The overview that a run records for its picture: its time step, and how much of the run's end is in detail."""

from ackclock.paths import empty_round_trip_s, meets_acks
from ackclock.scenario import Resolved
from ackclock.scenario.contract import RANGES

INTERVALS = 2000
CELLS = 2_000_000
"""Most (interval, flow or link) pairs that a picture may cost; each holds a minimum and a maximum."""
INTERVALS_OF_TRANSFERS, CELLS_OF_TRANSFERS = 40_000, 200_000
"""The same where all flows are transfers with an end, which may come soon; nothing is recorded after it."""
DETAIL_ROUND_TRIPS = 8
"""Length of the end that a picture magnifies, in the longest round trips."""
DROP, LOSS, DROP_OR_LOSS, FINISH = "drop", "loss", "drop or loss", "finish"
"""Kinds of its rows: packets that a queue or a policer dropped; those that a link lost; those of a link that did both,
which the engine does not distinguish; and the instant at which all data of a flow were acknowledged."""


def overview_interval_s(resolved: Resolved) -> float:
    """Choose the picture's time step [s]: the scenario's, else one coarser where there are many flows and links."""
    asked = resolved.trace.overview_interval_s
    if asked is not None:
        return asked
    elements = len(resolved.flow_names) + len(resolved.elements)
    intervals = max(20, min(INTERVALS, CELLS // elements))
    if _may_be_over_soon(resolved):
        intervals = max(intervals, min(INTERVALS_OF_TRANSFERS, CELLS_OF_TRANSFERS // elements))
    interval = resolved.run.duration_s / intervals
    return max(interval, RANGES["trace.overview_interval_s"].low)


def _may_be_over_soon(resolved: Resolved) -> bool:
    """Return whether all flows but pings are transfers that the links can carry in less than half of the run."""
    sizes = [flow.size_packets for flow in resolved.flows if flow.kind != "ping"]
    if not sizes or None in sizes:
        return False
    least_s = (
        flow.size_packets * max((resolved.elements[at].service_s(flow.packet_bytes) for at in flow.path), default=0.0)
        for flow in resolved.flows
        if flow.size_packets is not None
    )
    return max(least_s) < resolved.run.duration_s / 2.0


def overview_detail_s(resolved: Resolved) -> float | None:
    """Choose how much of the run's end the picture magnifies [s]; `None` if nothing.

    Bunches of ACKs and bursts of whole windows come and go within a round trip: no picture of a whole run shows them.
    """
    asked = resolved.trace.overview_detail_s
    if asked is not None:
        return asked
    if resolved.atm is None and not meets_acks(resolved):
        return None
    round_trips = [empty_round_trip_s(resolved, flow) for flow in resolved.flows if flow.connection is not None]
    if not round_trips:
        return None
    detail = min(DETAIL_ROUND_TRIPS * max(round_trips), resolved.run.duration_s)
    return max(detail, RANGES["trace.overview_detail_s"].low)
