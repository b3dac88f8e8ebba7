"""A resolved scenario as the models ask about it, and the ways to say that it does not fit."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from ackclock.paths import Node, empty_round_trip_s, host_of, links_of, nodes, processing_s
from ackclock.replication import ResolvedDict
from ackclock.wording import amount, plural

LOSSY_DISCIPLINES: Mapping[str, float] = {"drop-tail": 1.0, "drop-from-front": 0.0, "random-drop": 0.5}
"""The disciplines that drop at a full buffer alone, with the drop factor alpha of each; random drop's is its mean."""


@dataclass(frozen=True)
class Scene:
    """A flow, or flows alike, on its path.

    Parameters
    ----------
    resolved : mapping
        The scenario.
    flow : mapping
        The flow, or the first of them.
    """

    resolved: ResolvedDict
    flow: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The flow's."""
        return str(self.flow["name"])

    @property
    def count(self) -> int:
        """How many flows alike it stands for."""
        return int(self.flow.get("count", 1))

    @property
    def packet_bits(self) -> float:
        """Bits of a data packet, headers included."""
        return 8.0 * float(self.flow["packet_bytes"])

    @property
    def there(self) -> tuple[int, ...]:
        """The links on the way of the data."""
        return links_of(self.resolved, self.flow["path"])

    @property
    def again(self) -> tuple[int, ...]:
        """The links on the way of the ACKs."""
        return links_of(self.resolved, self.flow["return_path"])

    @property
    def forward(self) -> list[Node]:
        """The links with a rate on the way of the data."""
        return nodes(self.resolved, self.flow["path"], self.flow["packet_bytes"])

    @property
    def access_and_nodes(self) -> tuple[float, list[Node]]:
        """The rate of the source's own link [pkt/s] and the links after it: a first one without a limit is its own."""
        found = self.forward
        if len(found) > 1 and found[0].buffer == inf:
            return found[0].packet_rate, found[1:]
        return inf, found

    @property
    def back(self) -> list[Node]:
        """The links with a rate on the way of the ACKs, counted in ACKs."""
        return nodes(self.resolved, self.flow["return_path"], self.flow["ack_bytes"])

    @property
    def bottleneck(self) -> Node | None:
        """The slowest link of the data's way; of equals the first."""
        return min(self.forward, key=lambda node: node.packet_rate, default=None)

    @property
    def round_trip_s(self) -> float:
        """The round trip over empty queues [s], service times included."""
        return empty_round_trip_s(self.resolved, self.flow)

    @property
    def max_window(self) -> float:
        """The receiver's window [pkt]."""
        window = self.flow["sender"]["max_window"]
        return inf if window is None else float(window)

    @property
    def tahoe(self) -> bool:
        """Whether each loss is followed by a slow start."""
        return str(self.flow["sender"]["recovery"]) == "tahoe"

    def slow_acks(self) -> list[str]:
        """Say whether ACKs queue on their way back."""
        bottleneck = self.bottleneck
        if bottleneck is None:
            return []
        pace = bottleneck.packet_rate / float(self.flow["receiver"]["ack_every"])
        return [
            f"the ACKs wait at {node.name}, which is slower for them than {bottleneck.name} is for the data"
            for node in self.back
            if node.packet_rate < pace
        ][:1]


def lone_flow(resolved: ResolvedDict) -> tuple[Scene | None, list[str]]:
    """Give the scenario's only flow where it is one TCP connection without end; else the reasons why not."""
    scene = Scene(resolved, resolved["flows"][0])
    several = other_than_one(resolved)
    if several:
        return None, several
    if scene.flow["size_packets"] is not None:
        return None, ["the transfer ends; the model is of one without end"]
    busy = busy_hosts(resolved)
    if busy:
        return None, busy
    return scene, []


def busy_hosts(resolved: ResolvedDict) -> list[str]:
    """Say which hosts could not process what full links would bring them; short of that, processing is but a delay."""
    work: dict[tuple[str, str, str], float] = {}
    for flow in resolved["flows"]:
        scene = Scene(resolved, flow)
        pace = inf if scene.bottleneck is None else scene.bottleneck.packet_rate
        source = "" if scene.bottleneck is None else scene.bottleneck.name
        for path, kind, rate in (
            (flow["path"], "data_s", pace),
            (flow["return_path"], "ack_s", pace / flow["receiver"]["ack_every"]),
        ):
            host = host_of(resolved, path)
            if host is not None and processing_s(host, kind) > 0.0:
                place = (str(host["name"]), source, kind)
                work[place] = max(work.get(place, 0.0), rate * processing_s(host, kind))
    return overloaded(work)


def overloaded(work: Mapping[tuple[str, str, str], float]) -> list[str]:
    """Say which hosts have more work than time; by host, what brings it, and its kind, seconds of work a second."""
    loads: dict[str, float] = defaultdict(float)
    for (host, _source, _kind), load in work.items():
        loads[host] += load
    return [
        f"the process of {host} cannot handle what its links could bring"
        + (f", {amount(load, '1')} of its time" if load < inf else "")
        + "; to the model processing is but a delay"
        for host, load in loads.items()
        if load >= 1.0
    ]


def other_than_one(resolved: ResolvedDict) -> list[str]:
    """Say why a model of one TCP connection does not speak of the flows, where it does not."""
    flows = sum(int(flow.get("count", 1)) for flow in resolved["flows"])
    if flows > 1:
        return [f"{plural(flows, 'flow')} run; the model is of one alone"]
    return other_than_bulk(resolved)


def other_than_bulk(resolved: ResolvedDict) -> list[str]:
    """Say why a model of plain TCP connections does not speak of the flows, where it does not."""
    traffic = next((flow["traffic"] for flow in resolved["flows"] if flow.get("traffic") is not None), None)
    if traffic is None:
        return []
    if traffic["kind"] == "web":
        return ["web sources transfer and fall silent in turn; the model is of a connection that always has data"]
    return ["a source without congestion control sends; the model has none"]
