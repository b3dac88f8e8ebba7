"""How a transfer ends: a last packet that is shorter, PSH at the ends of writes, and FINs of both ends."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import ackclock
from test_capture import GOOD, Frame, read

RATE, DELAY_S = 10e6, 0.05
PACKET, ACK = 1500, 52
FLAGS = ("tcp.flags.fin", "tcp.flags.push", "tcp.flags.syn", "tcp.len", "ip.len")


def service(packet_bytes: float) -> float:
    """Give the time of a packet on the link [s]."""
    return packet_bytes * 8 / RATE


def run(size: str, link: dict[str, Any] | None = None, **tcp: Any) -> ackclock.Result:
    """Transfer something over 10 Mbit/s each way with 50 ms each way."""
    path = {"name": "link", "rate": "10 Mbit/s", "delay": "50 ms", **(link or {})}
    own = {"path": ["host", "link"], "size": size, "ack": f"{ACK} B", "tcp": {"preset": "linux-cubic", **tcp}}
    host = {"name": "host", "rate": "unlimited"}
    trace = {"capture": ["host", "link"]}
    return ackclock.run({"link": [host, path], "flow": [own], "run": {"duration": "60 s"}, "trace": trace})


def completion(result: ackclock.Result, column: str = "fct_mean_s") -> float:
    return float(result.flows[column].iloc[0])


def frames(result: ackclock.Result, folder: Path, more: Sequence[str] = (), link: str = "host") -> list[Frame]:
    found = read(result.captures[link], folder, (*FLAGS, *more))
    for frame in found:
        assert (frame.fields["ip.checksum.status"], frame.fields["tcp.checksum.status"]) == (GOOD, GOOD)
        assert frame.fields["_ws.malformed"] == ""
    return found


def test_the_last_packet_takes_the_time_of_its_length() -> None:
    """Four packets of 1500 B and one of 1000 B arrive, one after another."""
    short, full = run("7 kB"), run("7 kB", last_segment="full")
    assert completion(full) == pytest.approx(DELAY_S + 5 * service(1500), abs=1e-9)
    assert completion(short) == pytest.approx(DELAY_S + 4 * service(1500) + service(1000), abs=1e-9)
    assert completion(run("7500 B")) == completion(full)


@pytest.mark.parametrize(("size", "last"), [("10 kB", 1000), ("9010 B", 53), ("9001 B", 53), ("1 kB", 1000)])
def test_a_transfer_has_the_bytes_of_its_size(size: str, last: int) -> None:
    """A packet has at least its headers of 52 B and a byte of data."""
    result = run(size)
    expected = service(last) + (0 if size == "1 kB" else 6 * service(PACKET))
    assert completion(result) == pytest.approx(DELAY_S + expected, abs=1e-9)
    bits = float(result.flows.goodput_bps.iloc[0]) * (expected + DELAY_S)
    assert bits == pytest.approx(8 * (last + (0 if size == "1 kB" else 6 * PACKET)), rel=1e-9)


def test_without_timestamps_headers_are_shorter() -> None:
    assert completion(run("1501 B", timestamps=False)) - completion(run("1500 B")) == pytest.approx(service(41))


def test_the_least_time_of_a_path_knows_the_short_packet() -> None:
    """On three links the last packet catches up with the one before it: an empty path has a slowdown of 1."""
    for size in ("7 kB", "1 kB", "3100 B"):
        names = [("a", "10 Mbit/s"), ("b", "2 Mbit/s"), ("c", "5 Mbit/s"), ("d", "1 Mbit/s"), ("e", "3 Mbit/s")]
        links = [{"name": name, "rate": rate, "delay": "5 ms"} for name, rate in names]
        flow = {"path": [name for name, _ in names], "size": size, "tcp": "linux-cubic"}
        result = ackclock.run({"link": links, "flow": [flow], "run": {"duration": "60 s"}})
        assert completion(result, "slowdown_mean") == pytest.approx(1.0, abs=1e-9), size


def test_a_short_packet_finds_room_in_a_buffer_of_bytes() -> None:
    """Of six packets that arrive together, one is in service, four and the short one wait in 6100 B."""
    link = {"buffer": "6100 B", "counting": "waiting"}
    for last_segment, drops in (("short", False), ("full", True)):
        result = run("7600 B", link, last_segment=last_segment)
        assert (float(result.links.loss_fraction.loc["link"]) > 0) == drops, last_segment


def test_a_private_link_has_packets_of_one_length() -> None:
    link = {"private": True}
    assert completion(run("7 kB", link)) == completion(run("7 kB", last_segment="full"))


def test_a_capture_has_the_short_packet(tmp_path: Path) -> None:
    found = frames(run("7 kB", close="tcp"), tmp_path, ["tcp.seq", "tcp.ack"])
    data = [frame for frame in found if frame.fields["tcp.len"] != "0"]
    assert [frame.fields["ip.len"] for frame in data] == ["1500"] * 4 + ["1000"]
    assert sum(int(frame.fields["tcp.len"]) for frame in data) == 7000 - 5 * 52
    acks = [int(frame.fields["tcp.ack"]) for frame in found if not frame.outbound]
    # All data, the number before them, and the FIN.
    assert max(acks) == 7000 - 5 * 52 + 2


def test_psh_ends_a_write(tmp_path: Path) -> None:
    """64 KiB are 45.3 packets: the end of the first write leaves no mark, that of the transfer does.

    The receiver announces 64 KiB until the first ACK, so that a packet is marked for each half of them, from the start
    and from the end of the first write.
    """
    for write, expected in (
        ("64 KiB", [22, 67, 79]),
        ("14480 B", [*range(9, 80, 10)]),
        ("unlimited", [22, 45, 68, 79]),
    ):
        found = frames(run("80 pkt", write_size=write), tmp_path)
        data = [frame for frame in found if frame.fields["tcp.len"] != "0"]
        assert [place for place, frame in enumerate(data) if frame.fields["tcp.flags.push"] == "1"] == expected, write


def test_a_packet_with_psh_is_acknowledged_at_once() -> None:
    """The last of an odd number of packets waits for no other one, long after the receiver's quick ACKs."""
    for size in ("4000 pkt", "4001 pkt"):
        result = run(size, receive_buffer="200 kB", receive_buffer_max="200 kB")
        back = completion(result, "fct_acked_mean_s") - completion(result)
        assert back == pytest.approx(DELAY_S + service(ACK), abs=1e-9), size


def test_both_ends_close_and_the_data_are_as_fast(tmp_path: Path) -> None:
    closed, left = run("7 kB", close="tcp"), run("7 kB")
    assert completion(closed) == completion(left)
    assert completion(closed, "fct_acked_mean_s") == completion(left, "fct_acked_mean_s")
    fins = [frame for frame in frames(closed, tmp_path) if frame.fields["tcp.flags.fin"] == "1"]
    assert [(frame.outbound, frame.fields["tcp.len"]) for frame in fins] == [(True, "948"), (False, "0")]
    last = frames(closed, tmp_path)[-1]
    assert (last.outbound, last.fields["tcp.len"], last.fields["ip.len"]) == (True, "0", str(ACK))
    assert not [frame for frame in frames(left, tmp_path) if frame.fields["tcp.flags.fin"] == "1"]


@pytest.mark.parametrize("acks", ["linux", "delayed"])
def test_a_fin_that_is_lost_is_sent_again(tmp_path: Path, acks: str) -> None:
    """Of the sender: with its packet. Of the receiver: when that packet comes a second time."""
    five = {"loss": {"model": "packets", "packets": [5]}}
    for link in (five, {"reverse": {"loss": {"model": "packets", "packets": [5 if acks == "linux" else 3]}}}):
        tcp = {"close": "tcp", "acks": acks}
        found = frames(run("7 kB", link, **tcp), tmp_path)
        ends = [frame for frame in found if frame.fields["tcp.flags.fin"] == "1"]
        assert [frame.outbound for frame in ends] == [True, True, False], link
        assert (found[-1].outbound, found[-1].fields["tcp.len"]) == (True, "0")


def test_transfers_of_a_web_source_close_each() -> None:
    traffic = {"kind": "web", "size": "4 pkt", "off": {"mean": "1 s", "law": "fixed"}}
    path = {"name": "link", "rate": "10 Mbit/s", "delay": "50 ms"}
    for handshake in ("none", "tcp"):
        tcp = {"preset": "linux-cubic", "close": "tcp", "handshake": handshake}
        flow = {"path": ["link"], "ack": "52 B", "tcp": tcp, "traffic": traffic}
        scenario = {"link": [path], "flow": [flow], "run": {"duration": "20 s"}, "trace": {"capture": ["link"]}}
        result = ackclock.run(scenario)
        ended = float(result.completions.transfers.iloc[0])
        assert ended > 10
        # PSH, FIN and ACK behind a header of 32 bytes; FIN and ACK; and ACKs alone, one more for each.
        frames_of = result.captures["link"].count
        assert frames_of(bytes([0x80, 0x19, 0xFF, 0xFF])) == frames_of(bytes([0x80, 0x11, 0xFF, 0xFF])) >= ended


@pytest.mark.parametrize(
    ("preset", "fields", "expected"),
    [
        ("linux-cubic", {}, ("1460", "1", "1", "11")),
        ("linux-cubic", {"receive_buffer_max": "6 MiB"}, ("1460", "1", "1", "7")),
        ("linux-cubic", {"timestamps": False, "sack": False}, ("1460", "", "", "11")),
        ("newreno-rfc6582", {}, ("1460", "", "", "")),
    ],
)
def test_syns_have_the_options_of_the_connection(
    tmp_path: Path, preset: str, fields: dict[str, Any], expected: tuple[str, ...]
) -> None:
    names = (
        "tcp.options.mss_val",
        "tcp.options.sack_perm",
        "tcp.options.timestamp.tsval",
        "tcp.options.wscale.shift",
        "tcp.options.timestamp.tsecr",
    )
    tcp = {"preset": preset, "handshake": "tcp", **fields}
    flow = {"path": ["link"], "size": "5 pkt", "tcp": tcp}
    link = {"name": "link", "rate": "10 Mbit/s", "delay": "50 ms"}
    result = ackclock.run({"link": [link], "flow": [flow], "run": {"duration": "5 s"}, "trace": {"capture": ["link"]}})
    syns = [frame for frame in frames(result, tmp_path, names, "link") if frame.fields["tcp.flags.syn"] == "1"]
    length = "48" if fields.get("sack") is False else "60"
    assert [(frame.outbound, frame.fields["ip.len"]) for frame in syns] == [(True, length), (False, length)]
    for frame in syns:
        mss, sack, stamp, shift, _ = (frame.fields[name] for name in names)
        assert (mss, "1" if sack else "", "1" if stamp else "", shift) == expected
    if expected[2]:
        [(value, echo), (_, answered)] = [
            tuple(frame.fields[f"tcp.options.timestamp.{name}"] for name in ("tsval", "tsecr")) for frame in syns
        ]
        assert (echo, answered) == ("0", value)
