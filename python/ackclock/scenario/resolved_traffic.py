"""The resolved scenario's part on what flows send and when."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ackclock.scenario.contract import CHECKED, Whole, count_within, within
from ackclock.scenario.resolved_tcp import ReceiverSettings, Sender

_SIZE = "flows[].traffic.size"
_TCP = "flows[].traffic.connection"
Rate = Annotated[float, within("flows[].traffic.rate_bps")]
Mean = Annotated[float, within(f"{_SIZE}.mean_packets")]
WholePackets = Annotated[int, within(f"{_SIZE}.packets")]
TailFraction = Annotated[float, within(f"{_SIZE}.tail_fraction")]
Shape = Annotated[float, within(f"{_SIZE}.shape")]


@dataclass(frozen=True, slots=True)
class ResolvedTime:
    """The law of a time."""

    __pydantic_config__ = CHECKED
    law: Literal["fixed", "exponential"]
    mean_s: Annotated[float, within("flows[].traffic.on.mean_s")]

    @property
    def is_random(self) -> bool:
        """Return whether it draws random numbers."""
        return self.law != "fixed"


@dataclass(frozen=True, slots=True)
class FixedSize:
    """Always the same size."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = False
    is_long_tailed: ClassVar[bool] = False
    law: Literal["fixed"]
    packets: WholePackets

    @property
    def mean_packets(self) -> float:
        """Mean size [packets]."""
        return float(self.packets)


@dataclass(frozen=True, slots=True)
class ExponentialSize:
    """A minimum and an exponential rest."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = True
    is_long_tailed: ClassVar[bool] = False
    law: Literal["exponential"]
    mean_packets: Mean
    min_packets: Mean


@dataclass(frozen=True, slots=True)
class ExponentialParetoSize:
    """An exponential body and a Pareto tail."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = True
    is_long_tailed: ClassVar[bool] = True
    law: Literal["exponential-pareto"]
    mean_packets: Mean
    min_packets: Mean
    tail_fraction: TailFraction
    shape: Shape


@dataclass(frozen=True, slots=True)
class ExponentialExponentialSize:
    """An exponential body and a longer exponential tail."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = True
    is_long_tailed: ClassVar[bool] = True
    law: Literal["exponential-exponential"]
    mean_packets: Mean
    min_packets: Mean
    tail_fraction: TailFraction
    tail_packets: Annotated[float, within(f"{_SIZE}.tail_packets")]


@dataclass(frozen=True, slots=True)
class ParetoSize:
    """Sizes by Pareto's law."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = True
    is_long_tailed: ClassVar[bool] = True
    law: Literal["pareto"]
    mean_packets: Mean
    shape: Shape


@dataclass(frozen=True, slots=True)
class EmpiricalSize:
    """One of the given sizes."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = True
    is_long_tailed: ClassVar[bool] = True
    law: Literal["empirical"]
    packets: Annotated[tuple[WholePackets, ...], count_within(f"{_SIZE}.packets (how many)")]

    @property
    def mean_packets(self) -> float:
        """Mean size [packets]."""
        return sum(self.packets) / len(self.packets)


ResolvedSize = (
    FixedSize | ExponentialSize | ExponentialParetoSize | ExponentialExponentialSize | ParetoSize | EmpiricalSize
)
"""Every law answers `mean_packets`, `is_random` (it draws random numbers) and `is_long_tailed`."""


@dataclass(frozen=True, slots=True)
class HandshakeSettings:
    """Handshake of a connection; without TLS its numbers of packets are zero."""

    __pydantic_config__ = CHECKED
    syn_bytes: Annotated[int, within(f"{_TCP}.handshake.syn_bytes")]
    timeout_s: Annotated[float, within(f"{_TCP}.handshake.timeout_s")]
    client_hello_packets: Annotated[int, within(f"{_TCP}.handshake.client_hello_packets")]
    server_hello_packets: Annotated[int, within(f"{_TCP}.handshake.server_hello_packets")]

    def answer_bytes(self, packet_bytes: int) -> int:
        """Compute the size of its largest answer [B], a SYN-ACK or a hello, from that of data packets [B]."""
        return max(self.syn_bytes, packet_bytes if self.server_hello_packets > 0 else 0)


@dataclass(frozen=True, slots=True)
class Connection:
    """A TCP connection: its ends, and the path of its ACKs as indices of elements."""

    __pydantic_config__ = CHECKED
    return_path: tuple[Whole, ...]
    return_delay_s: Annotated[float, within(f"{_TCP}.return_delay_s")]
    ack_bytes: Annotated[int, within(f"{_TCP}.ack_bytes")]
    ack_priority: Annotated[int, within(f"{_TCP}.ack_priority")]
    sender: Sender
    receiver: ReceiverSettings
    handshake: HandshakeSettings | None = None
    """Packets before the data; null: the data are sent at once. Older results lack this field."""

    @property
    def packets_per_ack(self) -> float:
        """Packets that let the window grow as one: those of a delayed ACK for a sender that counts ACKs (PFTK's b)."""
        return 1.0 if self.sender.counts_packets else float(self.receiver.ack_every)


@dataclass(frozen=True, slots=True)
class TcpTraffic:
    """One transfer over TCP, as fast as TCP allows; without a size it never ends."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = False
    kind: Literal["tcp"]
    size_packets: Annotated[int, within("flows[].traffic.size_packets")] | None
    connection: Connection


@dataclass(frozen=True, slots=True)
class WebTraffic:
    """Transfers over TCP and silences in turn."""

    __pydantic_config__ = CHECKED
    kind: Literal["web"]
    size: Annotated[ResolvedSize, Field(discriminator="law")]
    off: ResolvedTime
    classes: Annotated[tuple[WholePackets, ...], count_within("flows[].traffic.classes")]
    connection: Connection

    @property
    def is_random(self) -> bool:
        """Return whether it draws random numbers."""
        return self.size.is_random or self.off.is_random


@dataclass(frozen=True, slots=True)
class SteadyTraffic:
    """Datagrams without pause."""

    __pydantic_config__ = CHECKED
    kind: Literal["constant", "poisson"]
    rate_bps: Rate

    @property
    def is_random(self) -> bool:
        """Return whether it draws random numbers."""
        return self.kind == "poisson"


@dataclass(frozen=True, slots=True)
class OnOffTraffic:
    """Datagrams with pauses."""

    __pydantic_config__ = CHECKED
    kind: Literal["on-off", "poisson-on-off"]
    rate_bps: Rate
    on: ResolvedTime
    off: ResolvedTime

    @property
    def is_random(self) -> bool:
        """Return whether it draws random numbers."""
        return self.kind == "poisson-on-off" or self.on.is_random or self.off.is_random


@dataclass(frozen=True, slots=True)
class PingTraffic:
    """Echo requests in equal intervals, and the path of the echoes as indices of elements."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = False
    kind: Literal["ping"]
    interval_s: Annotated[float, within("flows[].traffic.interval_s")]
    return_path: tuple[Whole, ...]
    return_delay_s: Annotated[float, within("flows[].traffic.return_delay_s")]


ResolvedTraffic = TcpTraffic | WebTraffic | SteadyTraffic | OnOffTraffic | PingTraffic
"""Every kind answers `is_random`: whether it draws random numbers."""
