"""Round trips of a real TCP connection, from a pcap or pcapng file; needs dpkt: ``pip install "ackclock[capture]"``."""

import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.signatures import object_of
from ackclock.models.variable_delay.traces import RoundTripTrace

_WRAP: Final = 2**32
_ETHERNET: Final = (1,)
_RAW_IP: Final = (12, 14, 101, 228, 229)
_LOOPBACK: Final = (0, 108)
_COOKED: Final = 113
_COOKED_2: Final = 276
_PIECE: Final = 2**20
_SYN: Final = 0x02
_ACK: Final = 0x10


class Direction(NamedTuple):
    """The direction of a TCP connection's data."""

    sender: str
    """The sender's address."""
    sender_port: int
    """The sender's port."""
    receiver: str
    """The receiver's address."""
    receiver_port: int
    """The receiver's port."""


class Segment(NamedTuple):
    """The fields of a TCP segment that rounds are made from."""

    time: float
    """Instant of the capture [s]."""
    direction: Direction
    """Direction of the segment."""
    sequence: int
    """Number of its first byte, from 0 to 2^32 - 1."""
    length: int
    """Number of bytes of data in it."""
    acknowledgement: int | None
    """Number of the next byte expected; None without an ACK."""


_check_direction, _check_segment = object_of(Direction), object_of(Segment)


def read_capture(path: str | PathLike[str], direction: Direction | None = None) -> RoundTripTrace:
    """Read the rounds of a TCP connection from a capture taken at its sender [variable-delay, section 2.1].

    Parameters
    ----------
    path : path
        A pcap or pcapng file.
    direction : Direction, optional
        The direction of the data; the one with the most bytes where none is given.

    Returns
    -------
    RoundTripTrace
        The rounds, see `rounds_of`.

    Raises
    ------
    ModelError
        Without dpkt, for a file that is not a capture, and for one without rounds of that connection.

    Notes
    -----
    A capture elsewhere than at the sender has other times: the delay between the two is missing from a round trip.
    """
    segments = list(read_segments(path))
    carried: Counter[Direction] = Counter()
    for segment in segments:
        carried[segment.direction] += segment.length
    if not any(carried.values()):
        raise ModelError(Fault(Path(path).name, "holds no TCP data", f"{len(segments)} TCP segments"))
    chosen = carried.most_common(1)[0][0] if direction is None else direction
    _check_direction("direction", chosen)
    if not carried[chosen]:
        allowed = "; ".join(str(tuple(known)) for known, amount in carried.items() if amount)
        raise ModelError(Fault("direction", "carries no data", str(tuple(chosen)), allowed))
    return rounds_of(segments, chosen)


def rounds_of(segments: Iterable[Segment], direction: Direction) -> RoundTripTrace:
    """Cut a connection into rounds, which tile the time axis [variable-delay, section 2.1].

    Parameters
    ----------
    segments : iterable of Segment
        In the order of time; those of other connections are passed over.
    direction : Direction
        That of the data.

    Returns
    -------
    RoundTripTrace
        A round begins at T_n, when the ACK arrives that ends the one before, and ends when all is acknowledged that was
        outstanding at T_n, with what that ACK released (sent before the next ACK). Where nothing is outstanding, the
        next round begins with the next data.

    Raises
    ------
    ModelError
        For a direction or segments of other types, and where no round is whole.

    Notes
    -----
    Karn's rule: an ACK does not show which copy of a byte it acknowledges. A round within which something was sent
    again is `ambiguous`: its time counts, but it is not a sample of the round trip.
    """
    _check_direction("direction", direction)
    back = Direction(direction.receiver, direction.receiver_port, direction.sender, direction.sender_port)
    rounds = _Rounds()
    for segment in _listed(segments):
        _check_segment("segments", segment)
        if segment.direction == direction and segment.length:
            rounds.data(segment.time, segment.sequence, segment.length)
        elif segment.direction == back and segment.acknowledgement is not None:
            rounds.acknowledgement(segment.time, segment.acknowledgement)
    if not rounds.found:
        given = f"{tuple(direction)}"
        raise ModelError(Fault("capture", "holds no whole round of the connection", given, "data and their ACKs"))
    time, trip, ambiguous = zip(*rounds.found, strict=True)
    return RoundTripTrace(np.array(time), np.array(trip), np.array(ambiguous, dtype=np.bool_))


def _listed(segments: Any) -> list[Any]:
    """List what can be iterated, and a list of anything else."""
    try:
        return list(segments)
    except TypeError:
        return [segments]


class _Rounds:
    """The current round, and those that have ended."""

    def __init__(self) -> None:
        self.found: list[tuple[float, float, bool]] = []
        self._highest: int | None = None
        self._acknowledged = 0
        self._begin = 0.0
        self._target = 0
        self._open = False
        self._ambiguous = False
        self._released = False

    def data(self, time: float, sequence: int, length: int) -> None:
        first = self._unwrapped(sequence)
        if self._highest is None:
            self._highest = self._acknowledged = first
        last = first + length
        again = first < self._highest
        self._highest = max(self._highest, last)
        if self._open:
            self._ambiguous |= again
        elif last > self._acknowledged:
            self._open, self._begin, self._ambiguous, self._released = True, time, again, True
        if self._released:
            self._target = self._highest

    def acknowledgement(self, time: float, number: int) -> None:
        if self._highest is None:
            return
        self._acknowledged = max(self._acknowledged, min(self._unwrapped(number), self._highest))
        self._released = False
        if not self._open or self._acknowledged < self._target:
            return
        if time > self._begin:
            self.found.append((self._begin, time - self._begin, self._ambiguous))
        # What this ACK releases is sent before the next one arrives, and belongs to the round that begins.
        self._open = self._highest > self._acknowledged
        self._begin, self._target, self._ambiguous, self._released = time, self._highest, False, True

    def _unwrapped(self, number: int) -> int:
        """Continue a number modulo 2^32 near the highest one sent."""
        if self._highest is None:
            return number
        return self._highest + (number - self._highest + _WRAP // 2) % _WRAP - _WRAP // 2


def read_segments(path: str | PathLike[str]) -> Iterator[Segment]:
    """Read the TCP segments of a capture, and skip everything else.

    Parameters
    ----------
    path : path
        A pcap or pcapng file: Ethernet (with VLAN tags or without), Linux cooked, loopback or raw IP.

    Yields
    ------
    Segment
        In the order of the file.
    """
    dpkt = _dpkt()
    number = 0
    try:
        with Path(path).open("rb") as file:
            reader = dpkt.pcap.UniversalReader(_InPieces(file))
            network = _network_layer(dpkt, reader.datalink())
            for number, (time, frame) in enumerate(reader, start=1):  # noqa: B007  the error gives the number
                segment = _segment(dpkt, network, float(time), frame)
                if segment is not None:
                    yield segment
    except (OSError, EOFError, struct.error, dpkt.Error, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        given = f"{number} whole frames, then: {error}"
        raise ModelError(Fault(Path(path).name, "cannot be read as a capture", given)) from None


class _InPieces:
    """A file that takes no more memory than it holds, whatever length a damaged header asks for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.name = file.name

    def read(self, length: int) -> bytes:
        pieces = []
        while length > 0 and (piece := self._file.read(min(length, _PIECE))):
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)

    def seek(self, position: int) -> int:
        return self._file.seek(position)


def _dpkt() -> Any:
    try:
        return import_module("dpkt")
    except ImportError:
        hint = 'install it with: pip install "ackclock[capture]"'
        raise ModelError(Fault("dpkt", "is not installed, and captures cannot be read without it", hint=hint)) from None


def _segment(dpkt: Any, network: Callable[[bytes], Any], time: float, frame: bytes) -> Segment | None:
    try:
        packet = network(frame)
    except (dpkt.Error, IndexError, ValueError, struct.error):
        return None
    if not isinstance(packet, dpkt.ip.IP | dpkt.ip6.IP6) or not isinstance(packet.data, dpkt.tcp.TCP):
        return None
    tcp = packet.data
    source, target = (dpkt.utils.inet_to_str(address) for address in (packet.src, packet.dst))
    acknowledgement = tcp.ack if tcp.flags & _ACK else None
    # SYN takes a number of its own, before the data.
    first = (tcp.seq + bool(tcp.flags & _SYN)) % _WRAP
    return Segment(time, Direction(source, tcp.sport, target, tcp.dport), first, _length(dpkt, packet), acknowledgement)


def _network_layer(dpkt: Any, link: int) -> Callable[[bytes], Any]:
    """Return the function that finds the IP packet in a frame."""
    match link:
        case _ if link in _ETHERNET:
            return lambda frame: dpkt.ethernet.Ethernet(frame).data
        case _ if link in _LOOPBACK:
            return lambda frame: dpkt.loopback.Loopback(frame).data
        case _ if link in _RAW_IP:
            return lambda frame: (dpkt.ip6.IP6 if frame[0] >> 4 == 6 else dpkt.ip.IP)(frame)
        case _ if link == _COOKED:
            return lambda frame: dpkt.sll.SLL(frame).data
        case _ if link == _COOKED_2:
            return lambda frame: dpkt.sll2.SLL2(frame).data
    allowed = "Ethernet, Linux cooked, loopback, raw IP"
    raise ModelError(Fault("capture", "has an unknown link layer", f"type {link}", allowed))


def _length(dpkt: Any, packet: Any) -> int:
    """Count the bytes of data by the headers: the frame may be cut, or hold padding."""
    header = 4 * packet.data.off
    if isinstance(packet, dpkt.ip.IP):
        # Offloaded frames carry no total length.
        return int(packet.len - 4 * packet.hl - header) if packet.len else len(packet.data.data)
    extensions = sum(len(extension) for extension in getattr(packet, "all_extension_headers", ()))
    return int(packet.plen - extensions - header) if packet.plen else len(packet.data.data)
