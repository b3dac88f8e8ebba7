"""The resolved form of buffers."""

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import ConfigDict, Discriminator, Tag

from ackclock.scenario.contract import within

_CONFIG: Final = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

Packets = Annotated[int, within("elements[].buffer.packets")]


@dataclass(frozen=True, slots=True)
class PacketBuffer:
    """A buffer that counts packets."""

    __pydantic_config__ = _CONFIG
    packets: Packets

    def capacity_packets(self, packet_bytes: float) -> float:
        """Return how many packets of a size fit."""
        del packet_bytes
        return float(self.packets)

    def capacity_bytes(self, packet_bytes: float) -> float:
        """Return the size of a full buffer of packets of a size."""
        return self.packets * packet_bytes

    def __str__(self) -> str:
        return f"{self.packets}-packet"


@dataclass(frozen=True, slots=True)
class ByteBuffer:
    """A buffer that counts bytes."""

    __pydantic_config__ = _CONFIG
    bytes: Annotated[int, within("elements[].buffer.bytes")]

    def capacity_packets(self, packet_bytes: float) -> float:
        """Return how many packets of a size fit."""
        return float(self.bytes // packet_bytes)

    def capacity_bytes(self, packet_bytes: float) -> float:
        """Return the size of a full buffer."""
        del packet_bytes
        return float(self.bytes)

    def __str__(self) -> str:
        return f"{self.bytes}-byte"


def _unit(buffer: object) -> str:
    """Return the unit by which a buffer, or its JSON, counts."""
    return (
        "packets" if isinstance(buffer, PacketBuffer) or (isinstance(buffer, dict) and "packets" in buffer) else "bytes"
    )


Buffer = Annotated[
    Annotated[PacketBuffer, Tag("packets")] | Annotated[ByteBuffer, Tag("bytes")],
    Discriminator(_unit),
]
