"""What a resolved scenario says of its paths."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from ackclock.replication import ResolvedDict

DETAIL_ROUND_TRIPS = 8
"""What a picture magnifies, in the longest round trips."""


@dataclass(frozen=True, slots=True)
class Node:
    """A link with a rate on a flow's way, counted in the flow's packets.

    Parameters
    ----------
    name : str
        The link's.
    rate_bps : float
        [bit/s]
    packet_rate : float
        [pkt/s]
    buffer : float
        Packets that it holds in all, the one in transmission included; infinite where it is unlimited.
    discipline : str
        Who is dropped.
    """

    name: str
    rate_bps: float
    packet_rate: float
    buffer: float
    discipline: str


def empty_round_trip_s(resolved: ResolvedDict, flow: Mapping[str, Any]) -> float:
    """Compute the least round trip [s]: over empty queues, with service and processing of a data packet and an ACK."""
    time = float(flow["forward_delay_s"]) + float(flow["return_delay_s"])
    ways = (("data_s", flow["path"], flow["packet_bytes"]), ("ack_s", flow["return_path"], flow["ack_bytes"]))
    for kind, path, size in ways:
        for link in _links(resolved, path):
            time += least_delay_s(link) + (size * 8.0 / link["rate_bps"] if link["rate_bps"] else 0.0)
            time += processing_s(link, kind)
    return time


def processing_s(link: Mapping[str, Any], kind: str) -> float:
    """Give what a host's process takes for a packet, "data_s" or "ack_s" [s]; nothing where it is a link."""
    times = link.get("processing")
    return 0.0 if times is None else float(times[kind])


def overview_detail_s(resolved: ResolvedDict) -> float | None:
    """Choose how much of the run's end the picture magnifies [s]; None: nothing.

    Bunches of ACKs and bursts of whole windows come and go within a round trip: no picture of a whole run shows them.
    """
    asked = resolved["trace"].get("overview_detail_s")
    if asked is not None:
        return float(asked)
    if not resolved.get("atm") and not meets_acks(resolved):
        return None
    longest = max(empty_round_trip_s(resolved, flow) for flow in resolved["flows"])
    return min(DETAIL_ROUND_TRIPS * longest, float(resolved["run"]["duration_s"]))


def meets_acks(resolved: ResolvedDict) -> bool:
    """Tell whether data of one flow and ACKs of another cross the same link."""
    data = {link for flow in resolved["flows"] for link in flow["path"]}
    acks = {link for flow in resolved["flows"] for link in flow["return_path"]}
    return bool(data & acks)


def least_delay_s(link: Mapping[str, Any]) -> float:
    """Give the least propagation delay of a link [s]."""
    process = link.get("delay_process")
    return float(link["delay_s"]) + (0.0 if process is None else least_of_law_s(process["law"]))


def least_of_law_s(law: Mapping[str, Any]) -> float:
    """Give the least delay that a law of change gives [s]."""
    match law["kind"]:
        case "steps":
            return float(min(delay for _, delay in law["steps_s"]))
        case "alternating":
            return float(min(state["delay_s"] for state in law["states"]))
        case _:
            return float(law["low_s"])


def host_of(resolved: ResolvedDict, path: Sequence[int]) -> Mapping[str, Any] | None:
    """Give the host at the end of a way, the row of its process; None where the end takes no time."""
    last = resolved["links"][path[-1]] if path else None
    return None if last is None or last.get("processing") is None else last


def links_of(resolved: ResolvedDict, path: Sequence[int]) -> tuple[int, ...]:
    """Give the links of a way without the host at its end."""
    return tuple(path if host_of(resolved, path) is None else path[:-1])


def delay_processes(resolved: ResolvedDict, flow: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List the changing delays on a flow's way, there and back."""
    found = (link.get("delay_process") for link in _links(resolved, (*flow["path"], *flow["return_path"])))
    return [process for process in found if process is not None and not _stands_still(process["law"])]


def _stands_still(law: Mapping[str, Any]) -> bool:
    return bool(law["kind"] == "steps" and len(law["steps_s"]) == 1)


def losses(resolved: ResolvedDict, flow: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List the laws by which links on a flow's way lose its data."""
    found = (link.get("loss") for link in _links(resolved, flow["path"]))
    return [loss["law"] for loss in found if loss is not None and loss["applies_to"] != "acks"]


def nodes(resolved: ResolvedDict, path: Sequence[int], packet_bytes: float) -> list[Node]:
    """List the links with a rate on a way, in order, for packets of a size."""
    return [_node(link, packet_bytes) for link in _links(resolved, path) if link["rate_bps"] is not None]


def _links(resolved: ResolvedDict, path: Sequence[int]) -> Iterator[Mapping[str, Any]]:
    return (resolved["links"][index] for index in path)


def _node(link: Mapping[str, Any], packet_bytes: float) -> Node:
    limit = link["buffer"]
    if limit is None:
        buffer = inf
    else:
        buffer = float(limit["packets"]) if "packets" in limit else float(limit["bytes"] // packet_bytes)
        buffer += 1.0 if link["counting"] == "waiting" else 0.0
    rate = float(link["rate_bps"])
    return Node(link["name"], rate, rate / (8.0 * packet_bytes), buffer, link["queue"]["discipline"])
