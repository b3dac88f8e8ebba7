"""The resolved form of flows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field

from ackclock.scenario.contract import MOST_ROWS_OF_A_GROUP, within
from ackclock.scenario.resolved_queues import Bytes
from ackclock.scenario.resolved_tcp import ReceiverSettings, SenderSettings
from ackclock.scenario.resolved_traffic import ResolvedTraffic, WebTraffic

_CONFIG: Final = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

Delay = Annotated[float, within("flows[].forward_delay_s")]
Seconds = Annotated[float, within("flows[].start_s")]
LinkIndices = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)]
FlowKind = Literal["tcp", "web", "datagrams"]


@dataclass(frozen=True, slots=True)
class ResolvedFlow:
    """A flow, or `count` identical flows, called name[0], name[1], ...; the paths are indices of links."""

    __pydantic_config__ = _CONFIG
    name: str
    path: LinkIndices
    return_path: tuple[Annotated[int, Field(ge=0)], ...]
    forward_delay_s: Delay
    return_delay_s: Delay
    packet_bytes: Bytes
    ack_bytes: Bytes
    start_s: Seconds
    start_spread_s: Seconds
    size_packets: Annotated[int, within("flows[].size_packets")] | None
    sender: SenderSettings
    receiver: ReceiverSettings
    priority: Annotated[int, within("flows[].priority")] = 0
    ack_priority: Annotated[int, within("flows[].ack_priority")] = 0
    count: Annotated[int, within("flows[].count")] = 1
    traffic: Annotated[ResolvedTraffic, Field(discriminator="kind")] | None = None

    @property
    def kind(self) -> FlowKind:
        """The kind of flow: a TCP connection, a web source with a transfer after the other, or packets without TCP."""
        if self.traffic is None:
            return "tcp"
        return "web" if isinstance(self.traffic, WebTraffic) else "datagrams"

    @property
    def is_endless(self) -> bool:
        """Return whether it is a TCP connection that always has something to send."""
        return self.kind == "tcp" and self.size_packets is None

    @property
    def is_random(self) -> bool:
        """Return whether its start or its traffic draws random numbers."""
        return self.start_spread_s > 0.0 or (self.traffic is not None and self.traffic.is_random)

    @property
    def is_large_group(self) -> bool:
        """Return whether it has more flows than the engine counts one by one."""
        return self.count > MOST_ROWS_OF_A_GROUP

    @property
    def crossed(self) -> tuple[int, ...]:
        """The links on its way there and back."""
        return self.path + self.return_path

    @property
    def packet_bits(self) -> float:
        """Size of a data packet, headers included [bit]."""
        return self.packet_bytes * 8.0

    @property
    def names(self) -> list[str]:
        """The names of its single flows."""
        return [self.name] if self.count == 1 else [f"{self.name}[{number}]" for number in range(self.count)]

    def singles(self) -> Iterator["ResolvedFlow"]:
        """Give each of its flows as one of its own."""
        return iter([self]) if self.count == 1 else (replace(self, name=name, count=1) for name in self.names)
