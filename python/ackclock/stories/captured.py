"""Packets that left links, read from the engine's captures."""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.scenario.resolved_tcp import SelectiveSettings

_PACKET_BLOCK: Final = 6
_BLOCK: Final = struct.Struct(">II")
_HEAD: Final = struct.Struct(">IIIII")
_OPTION: Final = struct.Struct(">HH")
_FLAGS: Final = 2
_OUTBOUND: Final = 2
_NANO: Final = 1e-9
_IP: Final = 14
_TCP: Final = 34
_ICMP: Final = 1
_HEADERS: Final = 40
_TIMESTAMPS: Final = 12
_LEAST_PAYLOAD: Final = 2
_FIRST_PORT: Final = 49152
_ADDRESSES: Final = 65535
_SYN: Final = 2


@dataclass(frozen=True, slots=True)
class Departure:
    """A packet that left a direction of a link.

    Parameters
    ----------
    time_s : float
        Instant at which its last bit left [s].
    element : str
        The direction of the link.
    flow : int
        Number of the flow.
    number : int
        Number of a data packet or a ping; of an ACK, the number of the packet that is expected next.
    answer : bool
        Whether it is an ACK, or the echo of a ping.
    size_bytes : int
        Length of the IP datagram [B].
    """

    time_s: float
    element: str
    flow: int
    number: int
    answer: bool
    size_bytes: int


def departures(resolved: Resolved, captures: Mapping[str, bytes], start: float, end: float) -> list[Departure]:
    """Read the packets that left links between two times [s], in order of time; without handshakes.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    captures : mapping of str to bytes
        The capture of each duplex link.
    start, end : float
        The times [s].
    """
    payloads = {number: _payload(flow) for number, flow in enumerate(_single_flows(resolved))}
    found = [
        departure for link, content in captures.items() for departure in _packets(link, content, payloads, (start, end))
    ]
    found.sort(key=lambda one: one.time_s)
    return found


def _single_flows(resolved: Resolved) -> Iterator[ResolvedFlow]:
    return (flow for flow in resolved.flows for _ in range(flow.count))


def _payload(flow: ResolvedFlow) -> tuple[int, int]:
    """Give the payload of a data packet [B] and the number of packets that a handshake counts before the data."""
    tcp = flow.connection
    if tcp is None:
        return max(flow.packet_bytes - _HEADERS, _LEAST_PAYLOAD), 0
    stamped = isinstance(tcp.sender, SelectiveSettings) and tcp.sender.timestamps
    hellos = 0 if tcp.handshake is None else tcp.handshake.client_hello_packets
    return max(flow.packet_bytes - _HEADERS - (_TIMESTAMPS if stamped else 0), _LEAST_PAYLOAD), hellos


def _packets(
    link: str, content: bytes, payloads: Mapping[int, tuple[int, int]], between: tuple[float, float]
) -> Iterator[Departure]:
    """Read the blocks of a pcapng file (draft-ietf-opsawg-pcapng, section 4.3), big-endian as the engine writes it."""
    place, (low, high) = 0, (int(limit / _NANO) for limit in between)
    while place + 12 <= len(content):
        kind, length = _BLOCK.unpack_from(content, place)
        if kind == _PACKET_BLOCK:
            _, above, below, captured, _ = _HEAD.unpack_from(content, place + 8)
            time = (above << 32) | below
            if time > high:
                return
            if time >= low:
                outbound = _is_outbound(content, place + 28 + (captured + 3) // 4 * 4)
                departure = _departure(
                    content, place + 28, payloads, time * _NANO, link if outbound else f"{link}.reverse"
                )
                if departure is not None:
                    yield departure
        place += length


def _is_outbound(content: bytes, place: int) -> bool:
    code, _ = _OPTION.unpack_from(content, place)
    return code == _FLAGS and int.from_bytes(content[place + 4 : place + 8], "big") & 3 == _OUTBOUND


def _departure(
    content: bytes, place: int, payloads: Mapping[int, tuple[int, int]], time_s: float, element: str
) -> Departure | None:
    size = int.from_bytes(content[place + _IP + 2 : place + _IP + 4], "big")
    protocol, source, target = content[place + _IP + 9], place + _IP + 12, place + _IP + 16
    answer = content[source + 1] == 1
    host = (
        content[source + 2] * 256 + content[source + 3]
        if not answer
        else content[target + 2] * 256 + content[target + 3]
    )
    segment = place + _TCP
    if protocol == _ICMP:
        port = int.from_bytes(content[segment + 4 : segment + 6], "big")
        number = int.from_bytes(content[segment + 6 : segment + 8], "big")
        return Departure(time_s, element, host - 1 + _ADDRESSES * (port - _FIRST_PORT), number, answer, size)
    at = segment + 2 if answer else segment
    flow = host - 1 + _ADDRESSES * (int.from_bytes(content[at : at + 2], "big") - _FIRST_PORT)
    if content[segment + 13] & _SYN:
        return None
    if not answer and size == _TCP - _IP + 4 * (content[segment + 12] >> 4):
        return None  # the ACK of a SYN/ACK carries no data
    at = segment + (8 if answer else 4)
    payload, hellos = payloads[flow]
    number = -(-(int.from_bytes(content[at : at + 4], "big") - 1) // payload) - hellos
    return None if number < 0 else Departure(time_s, element, flow, number, answer, size)
