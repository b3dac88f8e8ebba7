"""Play a scenario in our engine, and read what arrived at its queue, what departed and what was dropped."""

import importlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from crosscheck.queues.events import Event, Events

ENTRY, SHARED = "entry", "shared"
"""Names of the link that takes no time, where arriving packets are captured, and of the one that has the queue."""

ENHANCED_PACKET = 6
"""Type of the block of a packet (pcapng, section 4.3)."""


@dataclass(frozen=True, slots=True)
class Played:
    """A run of our engine: the arrivals at the queue, and what became of them."""

    arrivals: list[Event]
    events: Events


def play(resolved: Any) -> Played:
    """Play a scenario, of which the links `ENTRY` and `SHARED` are captured.

    Parameters
    ----------
    resolved : Resolved
        The scenario; its trace has the drops.
    """
    (replication,) = importlib.import_module("ackclock.engine").run_resolved(resolved)
    traces = replication["traces"]
    payloads = [_payload(flow) for flow in resolved.flows]
    captured = {link: list(_packets(traces["capture"][link])) for link in (ENTRY, SHARED)}
    arrivals = [_event(packet, payloads) for packet in captured[ENTRY]]
    departures = [_event(packet, payloads) for packet in captured[SHARED]]
    return Played(arrivals, Events(departures, _drops(traces["drops"], [link.name for link in resolved.elements])))


def _drops(trace: dict[str, Any], links: list[str]) -> list[Event]:
    number = links.index(SHARED)
    columns = (trace[name].tolist() for name in ("time_s", "flow", "sequence", "link"))
    return [Event(at, flow, sequence) for at, flow, sequence, link in zip(*columns, strict=True) if link == number]


def _payload(flow: Any) -> int:
    """Return the payload of a flow's packets [B]: all after 40 bytes of headers and the timestamps."""
    sender = getattr(getattr(flow.traffic, "connection", None), "sender", None)
    return int(flow.packet_bytes) - 40 - 12 * bool(getattr(sender, "timestamps", False))


class _Packet(NamedTuple):
    time_s: float
    flow: int
    sequence: int
    tos: int


def _event(packet: _Packet, payloads: list[int]) -> Event:
    number = (packet.sequence - 1) // payloads[packet.flow]
    codepoint = packet.tos & 3
    return Event(packet.time_s, packet.flow, number, ce=codepoint == 3, ect=codepoint != 0, l4s=codepoint & 1 == 1)


def _packets(pcapng: bytes) -> Iterator[_Packet]:
    """Read the data packets of a capture (big-endian pcapng, Ethernet, IPv4 and TCP, nanoseconds)."""
    offset = 0
    while offset < len(pcapng):
        kind, length = struct.unpack_from(">II", pcapng, offset)
        if kind == ENHANCED_PACKET:
            _, high, low = struct.unpack_from(">III", pcapng, offset + 8)
            ip = offset + 28 + 14
            network, high_byte, low_byte = pcapng[ip + 13 : ip + 16]
            if network == 0:
                (sequence,) = struct.unpack_from(">I", pcapng, ip + 24)
                flow = 256 * high_byte + low_byte - 1
                yield _Packet((high << 32 | low) * 1e-9, flow, sequence, pcapng[ip + 1])
        offset += length
