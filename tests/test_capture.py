"""Captures as tshark reads them; docs/capture.md says where tshark must differ, and why."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ackclock
from ackclock.engine import run_resolved
from ackclock.errors import EngineError

# The link "host" takes no time: what is captured there is what the sender does and sees.
PATH = """\
[[link]]
name = "host"
rate = "unlimited"
[[link]]
name = "bottleneck"
rate = "1.5 Mbit/s"
buffer = "10 pkt"
reverse = { buffer = "10 pkt" }
[[link]]
name = "far"
rate = "unlimited"
[run]
duration = "20 s"
[trace]
capture = ["host", "bottleneck", "far"]
sequence = true
losses = true
"""
FLOW = """\
[[flow]]
path = ["host", "bottleneck"]
rtt = "97 ms"
packet = "1000 B"
tcp = "reno-ns2"
"""
BACKWARD = FLOW.replace('"host", "bottleneck"', '"far.reverse", "bottleneck.reverse", "host.reverse"')

FIELDS = (
    "frame.time_epoch", "frame.len", "frame.packet_flags_direction", "ip.src", "tcp.srcport", "tcp.len", "tcp.seq_raw",
    "ip.checksum.status", "tcp.checksum.status", "tcp.analysis.flags", "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission", "tcp.analysis.spurious_retransmission", "tcp.analysis.out_of_order",
    "tcp.analysis.duplicate_ack_num", "tcp.analysis.lost_segment", "_ws.malformed", "_ws.expert.severity",
)  # fmt: skip
GOOD = "1"
NOTE = str(0x400000)


@dataclass(frozen=True)
class Frame:
    """A frame as tshark sees it."""

    fields: dict[str, str]

    @property
    def time_s(self) -> float:
        return float(self.fields["frame.time_epoch"])

    @property
    def flow(self) -> str:
        """What its two directions have in common."""
        return self.fields["ip.src"].split(".", 2)[2]

    @property
    def is_data(self) -> bool:
        return self.fields["tcp.len"] != "0"

    @property
    def outbound(self) -> bool:
        return self.fields["frame.packet_flags_direction"] == "0x00000002"

    def __contains__(self, analysis: str) -> bool:
        return self.fields[f"tcp.analysis.{analysis}"] != ""


def read(capture: bytes, folder: Path, more: Sequence[str] = ()) -> list[Frame]:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    file = folder / "capture.pcapng"
    file.write_bytes(capture)
    options = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-T", "fields", "-E", "separator=|"]
    names = (*FIELDS, *more)
    fields = [word for field in names for word in ("-e", field)]
    # Wireshark's own settings of this user must not matter.
    done = subprocess.run(
        ["tshark", "-r", str(file), *options, *fields],
        capture_output=True, text=True, check=True, env={**os.environ, "HOME": str(folder)},
    )  # fmt: skip
    lines = (line.split("|") for line in done.stdout.splitlines())
    return [Frame(dict(zip(names, line, strict=True))) for line in lines]


def simulate(toml: str) -> Any:
    resolved = ackclock.resolve(toml)
    return run_resolved(resolved)[0]


def counted(replication: Any, flow: int, column: str) -> int:
    return int(replication["flows"][column][flow])


def number(frames: list[Frame], analysis: str) -> int:
    return sum(analysis in frame for frame in frames)


def with_tcp(**fields: str) -> str:
    return FLOW.replace('"reno-ns2"', "{ " + ", ".join(f"{name} = {value}" for name, value in fields.items()) + " }")


SCENARIOS = {
    "reno": FLOW,
    "newreno": with_tcp(preset='"newreno-ns2"'),
    "newreno, rfc, delayed ACKs": with_tcp(preset='"newreno-rfc6582"'),
    "reno, rfc, delayed ACKs, limited transmit": with_tcp(preset='"reno-rfc5681"'),
    "tahoe": with_tcp(preset='"tahoe-ns2"'),
    "tahoe, delayed ACKs": with_tcp(preset='"tahoe-ns2"', ack_every="2"),
    "timeouts only": with_tcp(preset='"old-tahoe-ns2"'),
    "two flows": FLOW + FLOW.replace("97 ms", "141 ms").replace("reno-ns2", "tahoe-rfc5681"),
    "two-way": FLOW + BACKWARD,
}


@dataclass(frozen=True)
class Seen:
    """A run, and what tshark makes of the captures at its flows' senders."""

    replication: Any
    senders: list[list[Frame]]

    def flows(self) -> Iterator[tuple[int, list[Frame]]]:
        for flow, frames in enumerate(self.senders):
            yield flow, [frame for frame in frames if frame.flow == f"0.{flow + 1}"]


@pytest.fixture(scope="module", params=list(SCENARIOS.values()), ids=list(SCENARIOS))
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    replication = simulate(request.param + PATH)
    captures, folder = replication["traces"]["capture"], tmp_path_factory.mktemp("capture")
    links = ["host", "far" if BACKWARD in request.param else "host"]
    frames = {link: read(captures[link], folder) for link in set(links)}
    return Seen(replication, [frames[links[flow]] for flow in range(len(replication["flows"]["sent_total"]))])


def test_each_frame_is_well_formed_and_its_checksums_are_good(seen: Seen) -> None:
    for _, frames in seen.flows():
        for frame in frames:
            assert (frame.fields["ip.checksum.status"], frame.fields["tcp.checksum.status"]) == (GOOD, GOOD)
            assert frame.fields["_ws.malformed"] == ""
            assert set(frame.fields["_ws.expert.severity"].split(",")) <= {"", NOTE}


def test_tshark_sees_every_packet_that_was_sent(seen: Seen) -> None:
    for flow, frames in seen.flows():
        data = [frame for frame in frames if frame.is_data]
        assert len(data) == counted(seen.replication, flow, "sent_total") > 0
        assert {frame.fields["frame.len"] for frame in data} == {"1014"}
        assert {frame.fields["frame.len"] for frame in frames if not frame.is_data} == {"54"}


def test_tshark_finds_our_retransmissions(seen: Seen) -> None:
    for flow, frames in seen.flows():
        assert number(frames, "retransmission") == counted(seen.replication, flow, "retransmitted_packets") > 0
        assert number(frames, "spurious_retransmission") == 0
        assert number(frames, "out_of_order") == 0
        assert number(frames, "lost_segment") == 0


def test_tshark_finds_our_fast_retransmits(seen: Seen) -> None:
    """And takes a timeout for one, where a second or later duplicate ACK came within the 20 ms before."""
    losses = seen.replication["traces"]["losses"]
    for flow, frames in seen.flows():
        instants = [
            np.round(losses["time_s"][(losses["flow"] == flow) & (losses["cause"] == cause)], 6) for cause in (0, 1)
        ]
        timeouts, fast = (set(times) for times in instants)
        theirs = {round(frame.time_s, 6) for frame in frames if "fast_retransmission" in frame}
        assert fast <= theirs
        assert theirs - fast <= timeouts
        assert len(fast) == counted(seen.replication, flow, "fast_retransmits")


def test_tshark_finds_our_duplicate_acks(seen: Seen) -> None:
    for flow, frames in seen.flows():
        assert number(frames, "duplicate_ack_num") == counted(seen.replication, flow, "duplicate_acks") > 0


def test_frames_stand_at_the_instants_of_our_trace(seen: Seen) -> None:
    trace = seen.replication["traces"]["sequence"]
    for flow, frames in seen.flows():
        mine = trace["flow"] == flow
        for is_data in (True, False):
            ours = trace["time_s"][mine & ((trace["kind"] < 2) == is_data)]
            theirs = np.array([frame.time_s for frame in frames if frame.is_data == is_data])
            np.testing.assert_allclose(theirs, ours, rtol=0, atol=0.6e-9)


@pytest.mark.parametrize("link", ["host", "bottleneck", "far"])
def test_a_link_s_capture_holds_what_left_it(link: str, tmp_path: Path) -> None:
    toml = FLOW + BACKWARD + PATH
    names = [name + end for name in ("host", "bottleneck", "far") for end in ("", ".reverse")]
    replication = simulate(toml)
    frames = read(replication["traces"]["capture"][link], tmp_path)
    departed = dict(zip(names, replication["links"]["departed_total"], strict=True))
    assert sum(frame.outbound for frame in frames) == departed[link] > 0
    assert sum(not frame.outbound for frame in frames) == departed[f"{link}.reverse"] > 0
    assert [frame.time_s for frame in frames] == sorted(frame.time_s for frame in frames)


def test_behind_the_loss_tshark_misses_what_was_dropped(tmp_path: Path) -> None:
    """A capture behind the bottleneck knows retransmissions as late segments alone, one each."""
    replication = simulate(FLOW + PATH)
    frames = read(replication["traces"]["capture"]["bottleneck"], tmp_path)
    assert number(frames, "lost_segment") > 0
    received = counted(replication, 0, "received_total")
    assert sum(frame.is_data for frame in frames) == pytest.approx(received, abs=10)
    assert number(frames, "duplicate_ack_num") == pytest.approx(counted(replication, 0, "duplicate_acks"), abs=10)


def test_on_a_fast_link_tshark_takes_some_retransmissions_for_reordering(tmp_path: Path) -> None:
    """Within 3 ms after the newest segment a segment is "out of order" to tshark, which saw no handshake's RTT.

    So retransmissions on partial ACKs and in go-back-N are counted there where new segments left just before.
    """
    toml = with_tcp(preset='"newreno-ns2"') + PATH.replace("1.5 Mbit/s", "10 Mbit/s")
    replication = simulate(toml)
    frames = read(replication["traces"]["capture"]["host"], tmp_path)
    late = [frame for frame in frames if "out_of_order" in frame]
    assert late
    assert not any("retransmission" in frame for frame in late)
    again = number(frames, "retransmission") + len(late)
    assert again == counted(replication, 0, "retransmitted_packets")
    for frame in late:
        before = [one for one in frames[: frames.index(frame)] if one.is_data]
        newest = max(before, key=lambda one: int(one.fields["tcp.seq_raw"]))
        assert int(frame.fields["tcp.seq_raw"]) < int(newest.fields["tcp.seq_raw"])
        assert frame.time_s - newest.time_s < 3e-3


def test_where_the_first_packet_is_lost_the_handshake_is_missing(tmp_path: Path) -> None:
    """The first ACK then repeats that of the handshake: a duplicate to TCP, the first of its kind to tshark."""
    burst = with_tcp(preset='"newreno-ns2"', initial_window='"6 pkt"')
    path = PATH.replace('buffer = "10 pkt"\n', 'buffer = "5 pkt"\nqueue = "drop-from-front"\n', 1)
    replication = simulate(FLOW + burst + path)
    frames = [one for one in read(replication["traces"]["capture"]["host"], tmp_path) if one.flow == "0.2"]
    trace = replication["traces"]["sequence"]
    first_ack = trace["sequence"][(trace["flow"] == 1) & (trace["kind"] == 2)][0]
    assert first_ack == 0
    assert number(frames, "duplicate_ack_num") == counted(replication, 1, "duplicate_acks") - 1


def test_after_the_end_of_a_transfer_tshark_goes_on_counting(tmp_path: Path) -> None:
    """A repeated ACK is a duplicate to the sender only while data are outstanding (RFC 5681, section 2)."""
    replication = simulate(with_tcp(preset='"old-tahoe-ns2"') + 'size = "54 pkt"\n' + PATH)
    trace = replication["traces"]["sequence"]
    repeated = (trace["kind"] == 2) & (trace["time_s"] > replication["flows"]["finish_s"][0])
    assert sum(repeated) > 0
    frames = read(replication["traces"]["capture"]["host"], tmp_path)
    assert number(frames, "duplicate_ack_num") == counted(replication, 0, "duplicate_acks") + sum(repeated)


def test_many_flows_keep_apart(tmp_path: Path) -> None:
    flows = 300
    toml = f"[[flow]]\ncount = {flows}\n" + FLOW.removeprefix("[[flow]]\n").replace("reno-ns2", "tahoe-rfc5681")
    frames = read(simulate(toml + PATH.replace("20 s", "1 s"))["traces"]["capture"]["host"], tmp_path)
    senders = {(frame.fields["ip.src"], frame.fields["tcp.srcport"]) for frame in frames if frame.is_data}
    assert len(senders) == flows
    assert ("10.0.1.44", "49152") in senders


@pytest.mark.parametrize(("handshake", "close"), [("tls", "tcp"), ("tcp", "none"), ("none", "tcp")])
@pytest.mark.parametrize("link", ["host", "far"])
def test_each_connection_of_a_source_is_one_to_tshark(handshake: str, close: str, link: str, tmp_path: Path) -> None:
    tcp = {"preset": '"linux-cubic"', "handshake": f'"{handshake}"', "close": f'"{close}"'}
    path = FLOW.replace('"host", "bottleneck"', '"host", "bottleneck", "far"')
    web = path.replace('"reno-ns2"', "{ " + ", ".join(f"{name} = {value}" for name, value in tcp.items()) + " }")
    traffic = '[flow.traffic]\nkind = "web"\nsize = { law = "exponential", mean = "40 pkt" }\noff = "0.3 s"\n'
    replication = simulate(web + traffic + PATH)
    more = ("tcp.stream", "tcp.flags.syn", "tcp.analysis.ack_lost_segment", "tcp.analysis.keep_alive")
    frames = read(replication["traces"]["capture"][link], tmp_path, more)
    begun = sum(frame.fields["tcp.flags.syn"] == "1" and frame.outbound for frame in frames)
    assert len({frame.fields["tcp.stream"] for frame in frames}) == max(begun, 1)
    assert begun > 5 or handshake == "none"
    assert not any(analysis in frame for frame in frames for analysis in ("ack_lost_segment", "keep_alive"))
    if link == "host":
        assert number(frames, "lost_segment") == 0
        again = number(frames, "retransmission") + number(frames, "out_of_order")
        assert again == counted(replication, 0, "retransmitted_packets") > 0


TWICE = """\
[[link]]
name = "access"
rate = "100 Mbit/s"
delay = "1 ms"
[[link]]
name = "line"
rate = "5 Mbit/s"
delay = "10 ms"
buffer = "8 pkt"
[[flow]]
path = ["access", "line"]
tcp = { preset = "tahoe-ns2", handshake = "tcp" }
traffic = { kind = "web", size = "40 pkt", off = { mean = "1 ms", law = "fixed" } }
[run]
duration = "5 s"
[trace]
capture = ["access", "line"]
"""


def test_an_ack_that_comes_after_the_next_syn_has_the_numbers_of_its_own_connection(tmp_path: Path) -> None:
    """Duplicates of the last ACK pass one link before the next SYN is sent, and the other link after it."""
    captures = simulate(TWICE)["traces"]["capture"]
    late, acks = 0, {}
    for link in ("access", "line"):
        frames = read(captures[link], tmp_path, ("tcp.ack_raw", "tcp.flags.syn"))
        acks[link] = [frame.fields["tcp.ack_raw"] for frame in frames if not frame.outbound]
        newest = -1
        for frame in frames:
            if frame.fields["tcp.flags.syn"] == "1" and frame.outbound:
                newest = int(frame.fields["tcp.seq_raw"])
            late += not frame.outbound and int(frame.fields["tcp.ack_raw"]) == newest
    assert acks["access"][:-20] == acks["line"][: len(acks["access"]) - 20]
    assert late > 10


def test_a_capture_of_the_return_path_alone_has_the_same_numbers(tmp_path: Path) -> None:
    apart = """\
[[link]]
name = "there"
rate = "10 Mbit/s"
delay = "5 ms"
[[link]]
name = "back"
rate = "10 Mbit/s"
[[flow]]
path = ["there"]
return_path = ["back"]
tcp = { preset = "linux-cubic", handshake = "tcp", close = "tcp" }
traffic = { kind = "web", size = "6 pkt", off = { mean = "0 s", law = "fixed" } }
[run]
duration = "0.2 s"
[trace]
"""
    alone, both = (
        simulate(apart + f"capture = {links}")["traces"]["capture"] for links in ('["back"]', '["there", "back"]')
    )
    found = [[frame.fields for frame in read(one["back"], tmp_path, ("tcp.ack_raw",))] for one in (alone, both)]
    assert found[0] == found[1]
    assert len({fields["tcp.seq_raw"] for fields in found[0]}) > 10


def test_where_a_connection_follows_a_fin_without_a_handshake_its_duplicate_acks_are_recognised(tmp_path: Path) -> None:
    lost = """\
[[link]]
name = "host"
rate = "unlimited"
[[link]]
name = "line"
rate = "5 Mbit/s"
delay = "10 ms"
loss = { model = "packets", packets = [11], applies_to = "data" }
[[flow]]
path = ["host", "line"]
tcp = { preset = "linux-cubic", close = "tcp" }
traffic = { kind = "web", size = "10 pkt", off = { mean = "100 ms", law = "fixed" } }
[run]
duration = "0.5 s"
[trace]
capture = ["host"]
"""
    frames = read(simulate(lost)["traces"]["capture"]["host"], tmp_path, ("tcp.ack_raw", "tcp.options.sack_le"))
    assert (number(frames, "duplicate_ack_num"), number(frames, "fast_retransmission")) == (9, 1)
    acks = [int(frame.fields["tcp.ack_raw"]) for frame in frames if not frame.outbound]
    assert acks == sorted(acks)
    starts = {int(frame.fields["tcp.seq_raw"]) for frame in frames if frame.is_data}
    edges = {int(edge) for frame in frames for edge in frame.fields["tcp.options.sack_le"].split(",") if edge}
    assert edges
    assert edges <= starts


def test_a_saved_result_keeps_one_file_a_duplex_link(tmp_path: Path) -> None:
    toml = FLOW + PATH.replace('"host", "bottleneck", "far"', '"host.reverse", "bottleneck", "host"')
    result = ackclock.run(toml, picture=False)
    result.save(tmp_path)
    assert sorted(path.name for path in (tmp_path / "captures").iterdir()) == ["bottleneck.pcapng", "host.pcapng"]
    assert ackclock.Result.load(tmp_path).captures == result.captures
    assert list(result.captures) == ["host", "bottleneck"]


def test_the_file_says_where_it_comes_from(tmp_path: Path) -> None:
    titled = 'title = "Ein Pfad über Satellit"\n' + FLOW + PATH
    ackclock.run(titled, picture=False, seed=7, duration="1 s").save(tmp_path)
    file = tmp_path / "captures" / "bottleneck.pcapng"
    # The section's options come first, as plain text.
    head = file.read_bytes()[:600].decode("utf-8", errors="replace")
    for word in (f"ackclock {ackclock.__version__}", "Ein Pfad über Satellit", "seed 7", "bottleneck.reverse"):
        assert word in head


def test_a_capture_too_large_for_memory_is_refused_in_words() -> None:
    large = FLOW.replace("1000 B", "60000 B") + PATH.replace('"1.5 Mbit/s"', '"100 Gbit/s"').replace("10 pkt", "90 MB")
    with pytest.raises(EngineError, match=r"trace\.capture: too many packets.*capture fewer links"):
        simulate(large)
