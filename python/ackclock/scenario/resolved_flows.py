"""The resolved form of flows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from ackclock.scenario.contract import CHECKED, MOST_ROWS_OF_A_GROUP, Whole, within
from ackclock.scenario.programs import ControlProgram
from ackclock.scenario.resolved_tcp import SelectiveSettings
from ackclock.scenario.resolved_traffic import Connection, PingTraffic, ResolvedTraffic, TcpTraffic, WebTraffic

FlowKind = Literal["tcp", "web", "datagrams", "ping"]
_OPTION_BYTES, _BLOCK_BYTES, _LONGEST_HEADERS_BYTES = 4, 8, 80
"""Length of a kernel's SACK option without blocks, and of a block; and of the longest headers of IPv4 and TCP, which
leave room for three blocks next to timestamps [B]."""


@dataclass(frozen=True, slots=True)
class ResolvedFlow:
    """A flow, or `count` identical flows, called name[0], name[1], ...; the path has indices of elements."""

    __pydantic_config__ = CHECKED
    name: str
    count: Annotated[int, within("flows[].count")]
    start_s: Annotated[float, within("flows[].start_s")]
    start_spread_s: Annotated[float, within("flows[].start_spread_s")]
    path: Annotated[tuple[Whole, ...], Field(min_length=1)]
    forward_delay_s: Annotated[float, within("flows[].forward_delay_s")]
    packet_bytes: Annotated[int, within("flows[].packet_bytes")]
    priority: Annotated[int, within("flows[].priority")]
    traffic: Annotated[ResolvedTraffic, Field(discriminator="kind")]
    host: Annotated[int, within("flows[].host")] = 0
    """Number of the host that the flow is of; older results lack it."""
    weight: Annotated[int, within("flows[].weight")] = 1
    """Share at fair queues that hash no flows; older results lack it."""
    copies: Annotated[int, within("flows[].copies")] = 1
    """Number of copies of the flows, each an entry of its own; older results lack this field."""

    @property
    def kind(self) -> FlowKind:
        """The kind of flow: a TCP connection, a web source of transfers, packets without TCP, or pings."""
        match self.traffic:
            case TcpTraffic():
                return "tcp"
            case WebTraffic():
                return "web"
            case PingTraffic():
                return "ping"
            case _:
                return "datagrams"

    @property
    def connection(self) -> Connection | None:
        """The TCP connection; None for packets without TCP."""
        return self.traffic.connection if isinstance(self.traffic, TcpTraffic | WebTraffic) else None

    @property
    def tcp(self) -> Connection:
        """The TCP connection of a flow that has one; TypeError for packets without TCP."""
        if self.connection is None:
            raise TypeError(f"flow {self.name}: packets without TCP have no connection")
        return self.connection

    @property
    def programs(self) -> dict[str, ControlProgram]:
        """The class of its congestion control by its name, if it is a class; else nothing."""
        sender = None if self.connection is None else self.connection.sender
        if not isinstance(sender, SelectiveSettings) or sender.congestion_control.program is None:
            return {}
        return {sender.congestion_control.name: sender.congestion_control.program}

    @property
    def return_path(self) -> tuple[int, ...]:
        """The elements that its ACKs or echoes cross; none without them."""
        if isinstance(self.traffic, PingTraffic):
            return self.traffic.return_path
        return () if self.connection is None else self.connection.return_path

    @property
    def return_delay_s(self) -> float:
        """The delay of its ACKs or echoes in addition to that of elements [s]; 0 without them."""
        if isinstance(self.traffic, PingTraffic):
            return self.traffic.return_delay_s
        return 0.0 if self.connection is None else self.connection.return_delay_s

    @property
    def answer_bytes(self) -> int:
        """The length of its ACKs or echoes [B]; 0 without them."""
        if isinstance(self.traffic, PingTraffic):
            return self.packet_bytes
        return 0 if self.connection is None else self.connection.ack_bytes

    @property
    def longest_answer_bytes(self) -> int:
        """The length of its echoes, or of ACKs with all SACK blocks that they may have [B]; 0 without them.

        A SYN-ACK, or a hello of TLS, is longer if it is.
        """
        if self.connection is None:
            return self.answer_bytes
        return max(self._longest_ack_bytes(self.connection), self.handshake_answer_bytes)

    @property
    def handshake_answer_bytes(self) -> int:
        """The length of a SYN-ACK or of a server's hello, if its connections have a handshake [B]; else 0."""
        handshake = None if self.connection is None else self.connection.handshake
        return 0 if handshake is None else handshake.answer_bytes(self.packet_bytes)

    @staticmethod
    def _longest_ack_bytes(connection: Connection) -> int:
        plain, receiver = connection.ack_bytes, connection.receiver
        if receiver.blocks is not None:
            return plain + receiver.blocks.most * receiver.blocks.bytes
        room = (_LONGEST_HEADERS_BYTES - plain - _OPTION_BYTES) // _BLOCK_BYTES
        return plain if not receiver.selective or room < 1 else plain + _OPTION_BYTES + _BLOCK_BYTES * room

    @property
    def size_packets(self) -> int | None:
        """The size of its one transfer [packets]; None for any other traffic."""
        return self.traffic.size_packets if isinstance(self.traffic, TcpTraffic) else None

    @property
    def has_transfers(self) -> bool:
        """Return whether it transfers something that ends."""
        return self.size_packets is not None or self.kind == "web"

    @property
    def is_endless(self) -> bool:
        """Return whether it is a TCP connection that always has something to send."""
        return self.kind == "tcp" and self.size_packets is None

    @property
    def writes_in_bursts(self) -> bool:
        """Return whether it is a TCP connection whose application has something to send at times only."""
        return self.connection is not None and getattr(self.connection.sender, "writes", None) is not None

    @property
    def is_l4s(self) -> bool:
        """Return whether it is a TCP connection whose data have ECT(1) (RFC 9331)."""
        control = None if self.connection is None else getattr(self.connection.sender, "congestion_control", None)
        return control is not None and control.name == "prague"

    @property
    def is_random(self) -> bool:
        """Return whether its start, its traffic or its congestion control draws random numbers."""
        control = self.connection is not None and self.connection.sender.is_random
        return self.start_spread_s > 0.0 or self.traffic.is_random or control

    @property
    def is_large_group(self) -> bool:
        """Return whether it has, with all copies, more flows than the engine counts one by one."""
        return self.count > 1 and self.count * self.copies > MOST_ROWS_OF_A_GROUP

    @property
    def crossed(self) -> tuple[int, ...]:
        """The elements on its way there and back."""
        return self.path + self.return_path

    @property
    def packet_bits(self) -> float:
        """Size of a data packet, headers included [bit]."""
        return self.packet_bytes * 8.0

    @property
    def missing_bits(self) -> float:
        """Bits by which the last packet of its transfer is shorter than the others [bit]."""
        sender = None if self.connection is None else self.connection.sender
        if not isinstance(sender, SelectiveSettings) or sender.last_packet_bytes is None:
            return 0.0
        return self.packet_bits - sender.last_packet_bytes * 8.0

    @property
    def names(self) -> list[str]:
        """The names of its single flows."""
        return [self.name] if self.count == 1 else [f"{self.name}[{number}]" for number in range(self.count)]

    def singles(self) -> Iterator["ResolvedFlow"]:
        """Give each of its flows as one of its own."""
        return iter([self]) if self.count == 1 else (replace(self, name=name, count=1) for name in self.names)
