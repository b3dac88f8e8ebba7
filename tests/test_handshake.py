"""Handshakes: what precedes the data of a connection, and what it costs."""

import itertools
from typing import Any

import pytest

import ackclock
from ackclock.engine import run_resolved
from ackclock.scenario import load, resolve
from test_capture_options import frames

RATE, DELAY_S = 10e6, 0.1
SERVICE_S = 1500 * 8 / RATE
SYN_S = 60 * 8 / RATE
ACK_S = 52 * 8 / RATE
"""Transmission of the ACK of the receiver's SYN, in front of the data."""


def run(handshake: str | None, link: dict[str, Any] | None = None, **flow: Any) -> ackclock.Result:
    """Transfer a packet, or what the flow gives, over 10 Mbit/s each way with 50 ms each way."""
    tcp = {"preset": "linux-cubic", **({"handshake": handshake} if handshake else {})}
    path = {"name": "link", "rate": "10 Mbit/s", "delay": "50 ms", **(link or {})}
    own = {"path": ["link"], "size": "1 pkt", "ack": "52 B", "tcp": tcp, **flow}
    return ackclock.run({"link": [path], "flow": [own], "run": {"duration": "60 s"}})


def completion(result: ackclock.Result) -> float:
    """Give the flow completion time [s]."""
    return float(result.flows.fct_mean_s.iloc[0])


def test_an_ack_is_delayed_by_up_to_the_round_trip_of_a_handshake_behind_other_acks() -> None:
    """The instants are the kernel's: it delays the ACK of a lone packet of BBR's ProbeRTT by 74 ms, where ours took 40.

    The answer to the SYN of the second flow waited behind ACKs of the others (`tcp_synack_rtt_meas`).
    """
    flows = [
        ("reno", "7.412 ms", "5.071489 s"),
        ("bbr", "10.247 ms", "8.179386 s"),
        ("cubic", "12.781 ms", "4.457594 s"),
    ]
    own = {"path": ["line"], "packet": "1500 B", "ack": "52 B"}
    line = {"name": "line", "rate": "1.744 Mbit/s", "buffer": "8 pkt"}
    document = {
        "link": [{**line, "reverse": {"rate": "36.56 kbit/s", "buffer": "205 pkt"}}],
        "flow": [
            {**own, "two_way_propagation": far, "start": start, "tcp": {"preset": f"linux-{name}", "handshake": "tcp"}}
            for name, far, start in flows
        ],
        "run": {"duration": "20 s"},
        "trace": {"sequence": True},
    }
    trace = run_resolved(ackclock.resolve(document))[0]["traces"]["sequence"]
    data = (trace["flow"] == 1) & (trace["kind"] == 0)
    sent = dict(zip(trace["sequence"][data].tolist(), trace["time_s"][data].tolist(), strict=True))
    kernels = {358: 18.440669, 359: 18.474117, 360: 18.541011, 361: 19.419225, 362: 19.830603, 363: 19.842101}
    assert {number: sent[number] for number in kernels} == pytest.approx(kernels, abs=5e-5)


@pytest.mark.parametrize(
    ("options", "expected"), [({}, 60), ({"timestamps": False}, 52), ({"timestamps": False, "sack": False}, 48)]
)
def test_a_syn_is_as_long_as_its_options(options: dict[str, Any], expected: int) -> None:
    """Linux `tcp_options_write`: 4 bytes each for MSS and window scale, 12 for timestamps, 4 for SACK without them."""
    tcp = {"preset": "linux-cubic", "handshake": "tcp", **options}
    document = {
        "title": "syn",
        "link": [{"name": "line", "rate": "1 Mbit/s", "buffer": "9 pkt"}],
        "flow": [{"name": "flow", "path": ["line"], "tcp": tcp}],
        "run": {"duration": "1 s"},
    }
    (flow,) = resolve(load(document)).to_dict()["flows"]
    assert flow["traffic"]["connection"]["handshake"]["syn_bytes"] == expected


def test_a_handshake_takes_round_trips() -> None:
    """A SYN and its answer have 60 bytes, its ACK 52; TLS needs a packet to the receiver and three back."""
    data = DELAY_S / 2 + SERVICE_S
    syn = DELAY_S + 2 * SYN_S + ACK_S
    hello = DELAY_S + SERVICE_S + 3 * SERVICE_S
    for handshake, expected in (("none", data), ("tcp", syn + data), ("tls", syn + hello + data)):
        assert completion(run(handshake)) == pytest.approx(expected, abs=1e-9), handshake
    assert completion(run(None)) == completion(run("none"))


@pytest.mark.parametrize(("lost", "expected_s"), [([1], 1.024), ([1, 2], 3.072), ([1, 2, 3], 7.104)])
def test_a_syn_is_sent_again_after_one_two_and_four_seconds(lost: list[int], expected_s: float) -> None:
    """Linux's timer wheel fires at the next multiple of 64 ms: 1.024 s for 1 s, 3.072 for 3.024, 7.104 for 7.072."""
    link = {"loss": {"model": "packets", "packets": lost}}
    assert completion(run("tcp", link)) - completion(run("tcp")) == pytest.approx(expected_s, abs=1e-9)


def test_an_answer_that_is_lost_costs_a_timeout_too() -> None:
    link = {"reverse": {"loss": {"model": "packets", "packets": [1]}}}
    assert completion(run("tcp", link)) - completion(run("tcp")) == pytest.approx(1.024, abs=1e-9)


@pytest.mark.parametrize(("lost", "expected_s"), [([1, 2], 2.112 - DELAY_S / 2 - SYN_S), ([1, 2, 3], 3.072)])
def test_an_answer_that_is_lost_again_is_sent_again_by_its_own_timer(lost: list[int], expected_s: float) -> None:
    """Linux `reqsk_timer_handler`, `tcp_check_req`: a second after the SYN that came again, at a multiple of 64 ms.

    The second SYN is sent at 1.024 s, the third one at 3.072 s; the answer has two seconds to go then. No SYN is lost,
    as the echo of the first timestamp shows: ten packets leave at once (`tcp_try_undo_spurious_syn`).
    """
    link = {"reverse": {"loss": {"model": "packets", "packets": lost}}}
    for size in ("1 pkt", "10 pkt"):
        late = completion(run("tcp", link, size=size)) - completion(run("tcp", size=size))
        assert late == pytest.approx(expected_s, abs=1e-9), size


def test_syns_that_are_lost_twice_leave_a_window_of_one_packet() -> None:
    """Ten packets need one round trip more after each doubling: 1, 2, 4 and 3 packets."""
    once, twice = ({"loss": {"model": "packets", "packets": packets}} for packets in ([1], [1, 2]))
    fast = completion(run("tcp", size="10 pkt"))
    assert completion(run("tcp", once, size="10 pkt")) == pytest.approx(1.024 + fast, abs=1e-9)
    slow = completion(run("tcp", twice, size="10 pkt")) - 3.072 - fast
    assert 2.9 * DELAY_S < slow < 3.5 * DELAY_S


def test_the_round_trip_of_the_handshake_sets_the_timer() -> None:
    """The only packet is lost. Without a sample the timer expires after a second, else after a round trip and 200 ms.

    The timer wheel makes the one up to 64 ms longer, the other up to 8 ms.
    """
    lost = {"loss": {"model": "packets", "packets": [2], "applies_to": "data"}}
    first = {"loss": {"model": "packets", "packets": [1]}}
    assert completion(run("none", first)) - completion(run("none")) == pytest.approx(1.032, abs=0.033)
    assert completion(run("tcp", lost)) - completion(run("tcp")) == pytest.approx(3 * DELAY_S, abs=0.02)


def test_a_syn_that_is_sent_again_does_not_ask_for_ecn() -> None:
    """RFC 3168 section 6.1.1.1, Linux `tcp_ecn_clear_syn`: packets are dropped then, where they would be marked."""
    queue = {"discipline": "step", "threshold": "5 pkt"}

    def marks(lost: list[int], reverse: list[int]) -> int:
        loss, answers = ({"model": "packets", "packets": packets} for packets in (lost or [10**9], reverse or [10**9]))
        link = {"queue": queue, "buffer": "20 pkt", "loss": loss, "reverse": {"loss": answers}}
        tcp = {"preset": "linux-cubic", "handshake": "tcp", "ecn": "classic"}
        return int(run("tcp", link, size="500 pkt", tcp=tcp).links.marked_packets.sum())

    assert marks([], []) > 0
    assert marks([], [1]) > 0, "the receiver has the SYN that asked"
    assert marks([1], []) == 0


def test_each_transfer_of_a_web_source_has_its_own() -> None:
    traffic = {"kind": "web", "size": "4 pkt", "off": {"mean": "1 s", "law": "fixed"}}

    def mean(handshake: str) -> float:
        tcp = {"preset": "linux-cubic", "handshake": handshake}
        path = {"name": "link", "rate": "10 Mbit/s", "delay": "50 ms"}
        flow = {"path": ["link"], "ack": "52 B", "tcp": tcp, "traffic": traffic}
        return completion(ackclock.run({"link": [path], "flow": [flow], "run": {"duration": "60 s"}}))

    assert mean("tcp") - mean("none") == pytest.approx(DELAY_S + 2 * SYN_S + ACK_S, abs=1e-6)


def test_a_capture_shows_it() -> None:
    tcp = {"preset": "linux-cubic", "handshake": "tls"}
    link = {"name": "link", "rate": "10 Mbit/s", "delay": "50 ms"}
    flow = {"path": ["link"], "size": "5 pkt", "tcp": tcp}
    scenario = {"link": [link], "flow": [flow], "run": {"duration": "10 s"}, "trace": {"capture": ["link"]}}
    frames = ackclock.run(scenario).captures["link"]
    # The window behind a header of 40 bytes with the flags SYN, and SYN and ACK, and behind one of 32 bytes, which has
    # timestamps: five data packets and four of hellos.
    assert frames.count(bytes([0xA0, 0x02, 0xFF, 0xFF])) == 1
    assert frames.count(bytes([0xA0, 0x12, 0xFF, 0xFF])) == 1
    assert frames.count(bytes([0x80, 0x10, 0xFF, 0xFF])) >= 5 + 4


@pytest.mark.parametrize("handshake", ["tcp", "tls"])
@pytest.mark.parametrize("lost", [1, 2, 9, 10])
def test_a_lost_beginning_is_repaired_without_a_timeout(handshake: str, lost: int) -> None:
    """The packets behind it show the loss, or a new packet that probes for a lost tail: one recovery, as in the kernel.

    Such ACKs echo the end of the handshake, as no data have arrived in order (RFC 7323 section 4.3).
    """
    first = {"tcp": 2, "tls": 3}[handshake]
    link = {"loss": {"model": "packets", "packets": list(range(first, first + lost)), "applies_to": "data"}}
    flow = run(handshake, link, size="300 pkt").flows.iloc[0]
    assert (flow.timeouts, flow.fast_retransmits) == (0.0, 1.0)
    assert flow.retransmitted_fraction == pytest.approx(lost / (300 + lost))


def test_the_handshake_of_a_data_centre_passes_a_queue_that_marks() -> None:
    """RFC 8257 section 3.5: SYN and SYN-ACK are ECN-capable, or else a step queue behind long flows drops them."""
    link = {"name": "b", "rate": "100 Mbit/s", "delay": "1 ms", "queue": {"discipline": "step", "threshold": "20 pkt"}}
    short = {"size": "50 kB", "start": "1 s", "start_spread": "1 s", "count": 10}
    flows = [
        {"name": "long", "path": ["b"], "count": 2, "tcp": "linux-dctcp"},
        {"name": "short", "path": ["b"], **short, "tcp": {"preset": "linux-dctcp", "handshake": "tcp"}},
    ]
    result = ackclock.run({"link": [{**link, "buffer": "600 pkt"}], "flow": flows, "run": {"duration": "3 s"}})
    assert float(result.links.dropped_packets.iloc[0]) == 0.0
    assert float(result.completions.transfers.iloc[0]) == 10.0


# ---- what a SYN says of ECN


def handshake_of(tcp: dict[str, Any], **link: Any) -> list[tuple[bool, bool, int, int]]:
    """Give of each packet before the data whether it is a SYN, whether an ACK, its fields ACE (AE, CWR, ECE), ECN."""
    path = {"name": "link", "rate": "10 Mbit/s", "delay": "10 ms", **link}
    flow = {"path": ["link"], "size": "1 pkt", "tcp": {"handshake": "tcp", **tcp}}
    document = {"link": [path], "flow": [flow], "run": {"duration": "5 s"}, "trace": {"capture": ["link"]}}
    content = run_resolved(ackclock.resolve(document))[0]["traces"]["capture"]["link"]
    before = itertools.takewhile(lambda frame: not frame.is_data, frames(content))
    return [(bool(one.flags & 0x02), bool(one.flags & 0x10), one.ace, one.ecn) for one in before]


@pytest.mark.parametrize(
    ("tcp", "expected"),
    [
        ({"preset": "linux-cubic", "ecn": "off"}, [(0, 0), (0, 0), (0, 0)]),
        ({"preset": "linux-cubic", "ecn": "classic"}, [(0b011, 0), (0b001, 0), (0, 0)]),
        ({"preset": "linux-dctcp"}, [(0b011, 2), (0b001, 2), (0, 2)]),
        ({"preset": "draft-prague"}, [(0b111, 0), (0b010, 0), (0b010, 0)]),
    ],
    ids=["off", "classic", "dctcp", "accurate"],
)
def test_a_syn_asks_for_ecn_and_its_answer_agrees(tcp: dict[str, Any], expected: list[tuple[int, int]]) -> None:
    """RFC 3168 section 6.1.1, RFC 8257 section 3.5; RFC 9768 section 3.1.1, for a SYN that is not ECN-capable."""
    found = handshake_of(tcp)
    assert [(syn, ack) for syn, ack, _, _ in found] == [(True, False), (True, True), (False, True)]
    assert [(ace, ecn) for _, _, ace, ecn in found] == expected


def test_all_that_a_sender_with_accurate_feedback_sends_later_has_its_counter_at_the_start() -> None:
    """RFC 9768 section 3.2.1: no mark of the receiver's packets is counted, so it stays 5, in the last ACK too."""
    path = {"name": "link", "rate": "10 Mbit/s", "delay": "10 ms"}
    tcp = {"preset": "draft-prague", "handshake": "tcp", "close": "tcp"}
    flow = {"path": ["link"], "size": "3 pkt", "tcp": tcp}
    document = {"link": [path], "flow": [flow], "run": {"duration": "5 s"}, "trace": {"capture": ["link"]}}
    found = list(frames(run_resolved(ackclock.resolve(document))[0]["traces"]["capture"]["link"]))
    data = [frame for frame in found if frame.is_data]
    assert [frame.ace for frame in data] == [5, 5, 5]
    assert found[-1].ace == 5
    assert not found[-1].is_data
    assert found[-1].sequence > data[-1].sequence


def test_a_repeated_syn_asks_for_accurate_feedback_all_the_same() -> None:
    lost = {"loss": {"model": "packets", "packets": [1, 2]}}
    found = handshake_of({"preset": "draft-prague"}, **lost)
    assert {(ace, ecn) for syn, ack, ace, ecn in found if syn and not ack} == {(0b111, 0)}


def test_a_repeated_syn_asks_for_no_ecn() -> None:
    lost = {"loss": {"model": "packets", "packets": [1]}}
    found = handshake_of({"preset": "linux-cubic", "ecn": "classic"}, **lost)
    assert [(ace, ecn) for _, _, ace, ecn in found][-3:] == [(0, 0), (0, 0), (0, 0)]


# ---- what a lost SYN costs the data


def sent_after(lost: list[int], **tcp: Any) -> tuple[int, list[float]]:
    """Give the number of packets of the first flight, and the time from it to each retransmission [s]."""
    path = {"name": "link", "rate": "10 Mbit/s", "delay": "20 ms", "loss": {"model": "packets", "packets": lost}}
    flow = {"path": ["link"], "size": "60000 B", "ack": "52 B", "tcp": {"handshake": "tcp", **tcp}}
    document = {"link": [path], "flow": [flow], "run": {"duration": "20 s"}, "trace": {"sequence": True}}
    rows = ackclock.run(document).traces["sequence"]
    kinds, times = rows["kind"].astype(str), rows["time_s"]
    begun = times[kinds == "sent"].min()
    first = int(((kinds == "sent") & (times < begun + 0.02)).sum())
    return first, [float(time) - begun for time in times[kinds == "retransmitted"]]


@pytest.mark.parametrize("preset", ["newreno-rfc6582", "reno-rfc5681", "tahoe-rfc5681"])
def test_by_the_rfcs_of_reno_a_lost_syn_leaves_a_window_of_one_packet(preset: str) -> None:
    """RFC 5681 section 3.1; RFC 6928 section 2, and Linux, ask for two lost ones."""
    assert [sent_after(lost, preset=preset)[0] for lost in ([999], [1], [1, 2])] == [3, 1, 1]
    assert [sent_after(lost, preset="rfc-cubic")[0] for lost in ([999], [1], [1, 2])] == [10, 10, 1]


FIRST_FLIGHT = [1, *range(3, 15)]
"""The first SYN, and the ACK and the data that follow the second one."""


@pytest.mark.parametrize(
    ("tcp", "timeout_s"),
    [
        ({"preset": "newreno-rfc6582"}, 3.0),
        ({"preset": "rfc-cubic", "tail_loss_probe": False}, 3.0),
        # The echo tells which SYN was answered: the timer is set from the round trip.
        ({"preset": "linux-cubic", "tail_loss_probe": False}, 0.25),
        ({"preset": "linux-cubic", "tail_loss_probe": False, "timestamps": False}, 3.0),
    ],
    ids=["newreno-rfc6582", "rfc-cubic", "linux-cubic", "linux-cubic without timestamps"],
)
def test_a_timer_that_waited_for_a_lost_syn_begins_with_three_seconds(tcp: dict[str, Any], timeout_s: float) -> None:
    """RFC 6298 (5.7); Linux `tcp_init_metrics` where the handshake gave no sample. The wheel adds up to a 64th."""
    assert sent_after(FIRST_FLIGHT, **tcp)[1][0] == pytest.approx(timeout_s, rel=0.05)


@pytest.mark.parametrize("handshake", ["none", "tcp", "tls"])
def test_the_story_of_the_first_packet_is_that_of_its_data(handshake: str) -> None:
    """The ACK of the SYN/ACK has no data: it left 6 ms earlier than the packet that it was taken for."""
    link = {"name": "wire", "rate": "2 Mbit/s", "delay": "20 ms"}
    tcp = {"preset": "linux-cubic", "handshake": handshake}
    flow = {"name": "x", "path": ["wire"], "size": "20 pkt", "tcp": tcp}
    facts = ackclock.run({"link": [link], "flow": [flow], "run": {"duration": "2 s"}}).story("x", 0).facts
    assert facts["arrived_s"] - facts["sent_s"] == pytest.approx(1500 * 8 / 2e6 + 0.02, abs=0.0005)
