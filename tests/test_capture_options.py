"""TCP options in captures: read from the bytes, and compared with a receiver by the RFCs that sees the data frames."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import ackclock
from ackclock.engine import run_resolved
from test_capture import GOOD, read

TEXT = """
[[link]]
name = "host"
rate = "unlimited"
[[link]]
name = "line"
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "30 pkt"
LINE
[[link]]
name = "far"
rate = "unlimited"
[[flow]]
path = ["host", "line", "far"]
packet = "1500 B"
tcp = TCP
[run]
duration = "8 s"
seed = 3
[trace]
capture = ["host", "far"]
"""
LOSS = 'loss = { model = "bernoulli", probability = 0.03 }'
LATER = 'delay_process = { kind = "steps", steps = [["0 s", "0 ms"], ["3 s", "900 ms"]] }'
CUBIC = '"linux-cubic"'
UNSTAMPED = '{ preset = "linux-cubic", timestamps = false, max_window = "30 pkt" }'
DELAYED = '{ preset = "linux-cubic", acks = "delayed", ack_every = 2, ack_delay = "100 ms" }'
ENHANCED_PACKET = 6
SYN_FLAGS, CWR, ECE = 0x02, 0x80, 0x40


@dataclass(frozen=True)
class Frame:
    """A TCP segment, read from the bytes of its frame."""

    is_data: bool
    datagram: int
    sequence: int
    ack: int
    flags: int
    ecn: int
    ace: int
    payload: int
    blocks: tuple[tuple[int, int], ...]
    stamps: tuple[int, int] | None


def options(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Read TCP options: RFC 9293, section 3.1."""
    while content and content[0] != 0:
        if content[0] == 1:
            content = content[1:]
            continue
        kind, length = content[0], content[1]
        assert 2 <= length <= len(content)
        yield kind, content[2:length]
        content = content[length:]


def segment(frame: bytes) -> Frame:
    ip = frame[14:]
    assert ip[0] == 0x45
    datagram = int.from_bytes(ip[2:4], "big")
    assert len(ip) >= datagram
    tcp = ip[20:datagram]
    header = 4 * (tcp[12] >> 4)
    found = dict(options(tcp[20:header]))
    edges = struct.unpack(f">{len(found.get(5, b'')) // 4}I", found.get(5, b""))
    return Frame(
        is_data=len(tcp) > header,
        datagram=datagram,
        sequence=int.from_bytes(tcp[4:8], "big"),
        ack=int.from_bytes(tcp[8:12], "big"),
        flags=tcp[13],
        ecn=ip[1] & 3,
        ace=(tcp[12] & 1) << 2 | tcp[13] >> 6,
        payload=len(tcp) - header,
        blocks=tuple(zip(edges[::2], edges[1::2], strict=True)),
        stamps=struct.unpack(">II", found[8]) if 8 in found else None,
    )


def frames(capture: bytes) -> Iterator[Frame]:
    """Read the packets of a pcapng file: its section 4."""
    order = "<" if capture[8:12] == bytes.fromhex("4d3c2b1a") else ">"
    start = 0
    while start < len(capture):
        kind, length = struct.unpack_from(f"{order}II", capture, start)
        if kind == ENHANCED_PACKET:
            (size,) = struct.unpack_from(f"{order}I", capture, start + 20)
            yield segment(capture[start + 28 : start + 28 + size])
        start += length


@dataclass
class Receiver:
    """What a receiver knows, from the data frames alone: RFC 2018, RFC 2883 and RFC 7323, section 4.3."""

    next: int = 1
    beyond: set[int] = field(default_factory=set)
    newest: int = 1
    duplicate: tuple[int, int] | None = None
    recent: int = 0
    acked: int = 1

    def take(self, data: Frame) -> None:
        if data.stamps is not None and data.sequence <= self.acked and data.stamps[0] >= self.recent:
            self.recent = data.stamps[0]
        self.duplicate = None
        if data.sequence < self.next or data.sequence in self.beyond:
            self.duplicate = (data.sequence, data.sequence + data.payload)
        elif data.sequence > self.next:
            self.newest = data.sequence
        self.beyond.add(data.sequence)
        while self.next in self.beyond:
            self.beyond.remove(self.next)
            self.next += data.payload
        self.beyond = {sequence for sequence in self.beyond if sequence > self.next}

    def runs(self, payload: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for sequence in sorted(self.beyond):
            joins = bool(found) and found[-1][1] == sequence
            found = (
                [*found[:-1], (found[-1][0], sequence + payload)] if joins else [*found, (sequence, sequence + payload)]
            )
        return found


def captured(line: str, tcp: str) -> dict[str, list[Frame]]:
    resolved = ackclock.resolve(TEXT.replace("LINE", line).replace("TCP", tcp))
    files = run_resolved(resolved)[0]["traces"]["capture"]
    return {link: list(frames(content)) for link, content in files.items()}


CASES = {
    "drops": ("", CUBIC, 1),
    "losses": (LOSS, CUBIC, 3),
    "losses without timestamps": (LOSS, UNSTAMPED, 3),
    "losses, ACKs by RFC 5681": (LOSS, DELAYED, 3),
    "spurious retransmissions": (LATER, UNSTAMPED, 0),
    "spurious retransmissions and losses": (LATER + "\n" + LOSS, UNSTAMPED, 3),
}


@pytest.mark.parametrize(("line", "tcp", "holes"), CASES.values(), ids=list(CASES))
def test_sack_blocks_tell_what_has_arrived(line: str, tcp: str, holes: int) -> None:
    receiver, most, selective, duplicates = Receiver(), 0, 0, 0
    for frame in captured(line, tcp)["far"]:
        if frame.is_data:
            receiver.take(frame)
            payload = frame.payload
            continue
        assert frame.ack == receiver.next
        blocks = list(frame.blocks)
        if receiver.duplicate is not None:
            assert blocks.pop(0) == receiver.duplicate
            receiver.duplicate = None  # RFC 2883, section 4: reported once
            duplicates += 1
        runs = receiver.runs(payload)
        room = (3 if frame.stamps else 4) - (len(frame.blocks) - len(blocks))
        assert len(blocks) == min(len(runs), room)
        if len(runs) <= 4:
            assert set(blocks) <= set(runs)
        if blocks and receiver.newest in receiver.beyond:
            assert blocks[0][0] <= receiver.newest < blocks[0][1]
        most, selective = max(most, len(blocks)), selective + bool(blocks)
    assert most >= holes
    assert selective > 20 or duplicates > 0
    if "delay" in line:
        assert duplicates >= 1


@pytest.mark.parametrize("line", ["", LOSS], ids=["drops", "losses"])
def test_timestamps_are_those_of_the_rfc(line: str) -> None:
    links = captured(line, CUBIC)
    receiver = Receiver()
    for frame in links["far"]:
        assert frame.stamps is not None
        if frame.is_data:
            receiver.take(frame)
        else:
            assert frame.stamps[1] == receiver.recent
            receiver.acked = frame.ack
    newest = 0
    for frame in links["host"]:
        assert frame.stamps is not None
        if frame.is_data:
            assert frame.stamps[1] == newest
        else:
            newest = frame.stamps[0]
    sent = [frame.stamps[0] for frame in links["host"] if frame.is_data and frame.stamps]
    assert sent == sorted(sent)
    assert sent[0] == 1
    assert sent[-1] > 7000


def test_an_ack_has_the_same_options_on_every_link() -> None:
    links = captured(LOSS, CUBIC)
    here, there = ([frame for frame in links[link] if not frame.is_data] for link in ("host", "far"))
    assert len(here) > 500
    for one, other in zip(here, there, strict=False):
        assert (one.ack, one.blocks) == (other.ack, other.blocks)
        assert one.stamps is not None
        assert other.stamps is not None
        assert one.stamps[1] == other.stamps[1]


@pytest.mark.parametrize("tcp", [CUBIC, DELAYED, UNSTAMPED])
def test_a_link_counts_the_bytes_that_its_capture_has(tcp: str) -> None:
    """ACKs with timestamps take 52 B, others 40: the rest are blocks."""
    text = TEXT.replace("LINE", LOSS + '\nreverse = { rate = "1 Mbit/s" }').replace("TCP", tcp)
    text = text.replace('capture = ["host", "far"]', 'capture = ["line.reverse"]')
    text = text.replace('packet = "1500 B"', f'packet = "1500 B"\nack = "{40 if tcp == UNSTAMPED else 52} B"')
    result = ackclock.run(text, picture=False)
    (content,) = run_resolved(result.resolved)[0]["traces"]["capture"].values()
    lengths = [frame.datagram for frame in frames(content) if not frame.is_data]
    assert max(lengths) > 60
    assert sum(lengths) * 8.0 / 8.0 == pytest.approx(
        result.links.throughput_bps["line.reverse"], abs=8.0 * max(lengths)
    )


def test_options_take_their_room_from_the_payload_and_make_acks_longer() -> None:
    found = captured(LOSS, CUBIC)["far"]
    assert {(frame.datagram, frame.payload) for frame in found if frame.is_data} == {(1500, 1448)}
    acks = {(frame.datagram, len(frame.blocks)) for frame in found if not frame.is_data}
    assert acks == {(52, 0), (64, 1), (72, 2), (80, 3)}


def test_ns2_s_blocks_are_those_of_its_acks() -> None:
    """Three at most, that of the packet that the ACK answers first, and no duplicates."""
    receiver, counts = Receiver(), set()
    for frame in captured(LOSS, '"sack1-ns2"')["far"]:
        assert frame.stamps is None
        if frame.is_data:
            receiver.take(frame)
            payload = frame.payload
            continue
        runs = receiver.runs(payload)
        assert set(frame.blocks) <= set(runs) or len(runs) > 3
        if frame.blocks and receiver.newest in receiver.beyond and receiver.duplicate is None:
            assert frame.blocks[0][0] <= receiver.newest < frame.blocks[0][1] or frame.ack != receiver.next
        counts.add(len(frame.blocks))
    assert counts == {0, 1, 2, 3}


def test_classic_tcp_has_no_options() -> None:
    for frame in captured(LOSS, '"newreno-rfc6582"')["far"]:
        assert (frame.blocks, frame.stamps) == ((), None)
        assert frame.datagram == (1500 if frame.is_data else 40)


def test_marks_are_in_both_headers() -> None:
    """RFC 3168: CE from the queue to the receiver, ECE until a packet with CWR arrives."""
    red = 'queue = { discipline = "red", min_threshold = "5 pkt", max_threshold = "15 pkt", ecn = "all" }'
    echoes, marked = False, 0
    for frame in captured(red, '{ preset = "linux-cubic", ecn = "classic" }')["far"]:
        assert not frame.flags & SYN_FLAGS
        if frame.is_data:
            assert not frame.flags & ECE
            echoes = (echoes and not frame.flags & CWR) or frame.ecn == 3
            marked += frame.ecn == 3
        else:
            assert frame.ecn == 0
            assert bool(frame.flags & ECE) == echoes
    assert marked > 5


@pytest.mark.parametrize(
    ("tcp", "codepoint"), [('{ preset = "linux-cubic", ecn = "accurate" }', 2), ('"draft-prague"', 1)]
)
def test_acks_count_marks_in_three_bits(tcp: str, codepoint: int) -> None:
    """RFC 9768, section 3.2.2: AE, CWR and ECE count the marked packets, from 5 on; data of L4S are ECT(1)."""
    red = 'queue = { discipline = "red", min_threshold = "5 pkt", max_threshold = "15 pkt", ecn = "all" }'
    count = 5
    for frame in captured(red, tcp)["far"]:
        if frame.is_data:
            assert frame.ecn in {codepoint, 3}
            assert frame.ace == 5
            count += frame.ecn == 3
        else:
            assert (frame.ecn, frame.ace) == (0, count % 8)
    assert count > 15


@pytest.mark.parametrize("tcp", [CUBIC, '"linux-bbr"', '"sack1-ns2"', DELAYED])
def test_a_capture_changes_no_result(tcp: str) -> None:
    text = TEXT.replace("LINE", LOSS).replace("TCP", tcp).replace("[trace]", "[trace]\ncwnd = true")
    with_capture = run_resolved(ackclock.resolve(text))[0]
    without = run_resolved(ackclock.resolve(text.replace('capture = ["host", "far"]', "")))[0]
    assert "capture" not in without["traces"]
    for name, values in without["traces"]["cwnd"].items():
        np.testing.assert_array_equal(with_capture["traces"]["cwnd"][name], values)
    for name, values in without["flows"].items():
        np.testing.assert_array_equal(with_capture["flows"][name], values)


def test_tshark_reads_the_options_as_we_do(tmp_path: Path) -> None:
    resolved = ackclock.resolve(TEXT.replace("LINE", LATER + "\n" + LOSS).replace("TCP", CUBIC))
    content = run_resolved(resolved)[0]["traces"]["capture"]["far"]
    fields = (
        "tcp.options.sack_le",
        "tcp.options.sack_re",
        "tcp.options.timestamp.tsval",
        "tcp.options.timestamp.tsecr",
    )
    seen = read(content, tmp_path, fields)
    ours = list(frames(content))
    assert len(seen) == len(ours)
    for theirs, frame in zip(seen, ours, strict=True):
        assert theirs.fields["_ws.malformed"] == ""
        assert (theirs.fields["ip.checksum.status"], theirs.fields["tcp.checksum.status"]) == (GOOD, GOOD)
        left, right, value, echo = (theirs.fields[name] for name in fields)
        assert left == ",".join(str(first) for first, _ in frame.blocks)
        assert right == ",".join(str(end) for _, end in frame.blocks)
        assert (int(value), int(echo)) == frame.stamps


def test_tshark_finds_duplicates_among_the_blocks(tmp_path: Path) -> None:
    resolved = ackclock.resolve(TEXT.replace("LINE", LATER).replace("TCP", UNSTAMPED))
    content = run_resolved(resolved)[0]["traces"]["capture"]["far"]
    seen = [
        frame.fields["tcp.options.sack.dsack_le"] for frame in read(content, tmp_path, ["tcp.options.sack.dsack_le"])
    ]
    ours = [str(left) for frame in frames(content) for left, right in frame.blocks if right <= frame.ack]
    assert [left for left in seen if left] == ours
    assert len(ours) > 0
