"""The resolved form of buffers and queue disciplines, and what other modules may ask of them."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from ackclock.scenario.contract import within
from ackclock.scenario.schema_links import PriorityVictimName, RedVictimName

_CONFIG: Final = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

Packets = Annotated[int, within("links[].buffer.packets")]
Bytes = Annotated[int, within("flows[].packet_bytes")]
Probability = Annotated[float, Field(gt=0, le=1)]
Victim = Literal["arriving", "front", "random", "lowest"]
"""The packet that a full buffer drops: the arriving one, the first, any one, or one of the lowest level."""


@dataclass(frozen=True, slots=True)
class PacketBuffer:
    """A buffer that counts packets."""

    __pydantic_config__ = _CONFIG
    packets: Packets

    def capacity_packets(self, packet_bytes: float) -> float:
        """Return how many packets of a size fit."""
        del packet_bytes
        return float(self.packets)

    def __str__(self) -> str:
        return f"{self.packets}-packet"


@dataclass(frozen=True, slots=True)
class ByteBuffer:
    """A buffer that counts bytes."""

    __pydantic_config__ = _CONFIG
    bytes: Annotated[int, within("links[].buffer.bytes")]

    def capacity_packets(self, packet_bytes: float) -> float:
        """Return how many packets of a size fit."""
        return float(self.bytes // packet_bytes)

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

_VICTIMS: Final[dict[str, Victim]] = {"drop-tail": "arriving", "drop-from-front": "front", "random-drop": "random"}


@dataclass(frozen=True, slots=True)
class PlainQueue:
    """A discipline without parameters: one first-in-first-out queue that drops at a full buffer alone."""

    __pydantic_config__ = _CONFIG
    is_fifo: ClassVar[bool] = True
    drops_early: ClassVar[bool] = False
    discipline: Literal["drop-tail", "drop-from-front", "random-drop"]

    @property
    def victim(self) -> Victim:
        """The packet that a full buffer drops."""
        return _VICTIMS[self.discipline]

    @property
    def is_random(self) -> bool:
        """Return whether it draws random numbers."""
        return self.victim == "random"


@dataclass(frozen=True, slots=True)
class RedQueue:
    """Random early detection (Floyd, Jacobson 1993)."""

    __pydantic_config__ = _CONFIG
    is_fifo: ClassVar[bool] = True
    drops_early: ClassVar[bool] = True
    is_random: ClassVar[bool] = True
    discipline: Literal["red"]
    min_threshold_packets: Annotated[float, within("links[].queue.min_threshold_packets")]
    max_threshold_packets: Annotated[float, within("links[].queue.max_threshold_packets")]
    weight: Probability
    max_probability: Probability
    gentle: bool
    victim: RedVictimName
    mean_packet_bytes: Bytes


@dataclass(frozen=True, slots=True)
class PriorityQueue:
    """Strict priority by the flows' levels, without interruption; the buffer is shared."""

    __pydantic_config__ = _CONFIG
    is_fifo: ClassVar[bool] = False
    drops_early: ClassVar[bool] = False
    is_random: ClassVar[bool] = False
    discipline: Literal["priority"]
    levels: Annotated[int, within("links[].queue.levels")]
    victim: PriorityVictimName


QueueSettings = PlainQueue | RedQueue | PriorityQueue
"""A discipline. Every one answers `is_fifo` (one queue for all packets, served in order of arrival), `drops_early`
(before the buffer is full), `is_random` (it draws random numbers), `victim` (the packet that a full buffer drops).
"""
