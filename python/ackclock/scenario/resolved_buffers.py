"""The resolved form of buffers."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Discriminator, Tag

from ackclock.scenario.contract import CHECKED, within

Packets = Annotated[int, within("elements[].buffer.packets")]


@dataclass(frozen=True, slots=True)
class PacketBuffer:
    """A buffer that counts packets."""

    __pydantic_config__ = CHECKED
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

    __pydantic_config__ = CHECKED
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


def _unit(buffer: object) -> str | None:
    """Return the unit by which a buffer, or its JSON, counts; None for all else."""
    match buffer:
        case PacketBuffer() | {"packets": _}:
            return "packets"
        case ByteBuffer() | {"bytes": _}:
            return "bytes"
    return None


Buffer = Annotated[
    Annotated[PacketBuffer, Tag("packets")] | Annotated[ByteBuffer, Tag("bytes")],
    Discriminator(
        _unit,
        custom_error_type="buffer",
        custom_error_message='Input should be a PacketBuffer or a ByteBuffer, in JSON {"packets": 20} or {"bytes": 99}',
    ),
]
