"""Stories of packets and losses agree with the traces of the run, by every way in which a loss is found."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ackclock
from ackclock.cli import app
from ackclock.errors import AckclockError, LimitError

LINE = """
[[link]]
name = "line"
rate = "10 Mbit/s"
delay = "18 ms"
buffer = "50 pkt"
{link}
[[flow]]
name = "one"
path = ["line"]
tcp = "{tcp}"
{flow}
[run]
duration = "6 s"
"""


def run(tcp: str = "newreno-rfc6582", link: str = "", flow: str = "", **more: Any) -> ackclock.Result:
    return ackclock.run(LINE.format(tcp=tcp, link=link, flow=flow), picture=False, **more)


def lost(*packets: int) -> str:
    """Lose given data packets at the link, by their order of arrival, from 1 on."""
    return f'loss = {{ model = "packets", packets = {list(packets)} }}'


@pytest.fixture(scope="module")
def sawtooth() -> ackclock.Result:
    return run()


def words(story: Any) -> list[str]:
    return [text for _, text in story.events]


def test_the_losses_are_those_of_the_trace(sawtooth: ackclock.Result) -> None:
    rows = run(overrides={"trace.losses": True}).traces["losses"]
    table = sawtooth.losses().table
    assert table["time_s"].tolist() == rows["time_s"].tolist()
    assert table["packet"].tolist() == rows["sequence"].tolist()
    assert table["number"].tolist() == list(range(1, len(rows) + 1))
    assert str(sawtooth.losses("one")) == str(sawtooth.losses())


def test_a_loss_by_duplicate_acks_has_its_drop_its_rule_its_repair_and_its_cost(sawtooth: ackclock.Result) -> None:
    traced = run(overrides={f"trace.{name}": True for name in ("drops", "cwnd", "sequence")})
    table = sawtooth.losses().table
    loss = table[table["rule"] == "fast-retransmit"].iloc[-1]
    story = sawtooth.story("one", loss=int(loss["number"]))
    assert story.packet == loss["packet"]
    dropped = next(time_s for time_s, text in story.events if text.startswith("was dropped by the queue of line (50-p"))
    drops = traced.traces["drops"]
    assert dropped in drops[drops["sequence"] == story.packet]["time_s"].tolist()
    assert "found lost by a fast retransmit: duplicate ACKs (RFC 5681, section 3.2)" in words(story)
    assert story.facts["found_s"] == loss["time_s"]
    sent = traced.traces["sequence"]
    again = sent[(sent["kind"] == "retransmitted") & (sent["sequence"] == story.packet)]["time_s"].tolist()
    assert story.facts["repaired_s"] == again[-1]
    windows = traced.traces["cwnd"]
    assert story.facts["cwnd_before"] == windows[windows["time_s"] < loss["time_s"]]["cwnd"].iloc[-1]
    after = windows[windows["time_s"] <= story.facts["recovered_s"]].iloc[-1]
    assert (story.facts["cwnd_after"], story.facts["ssthresh_after"]) == (after["cwnd"], after["ssthresh"])
    assert story.facts["sent_s"] <= dropped < loss["time_s"] <= again[-1] < story.facts["arrived_s"]
    assert story.facts["arrived_s"] < story.facts["acknowledged_s"]
    assert len(story.cost) == 2


def test_each_loss_of_a_packet_that_was_lost_twice_has_its_own_detection(sawtooth: ackclock.Result) -> None:
    for number, found_s in enumerate(sawtooth.losses().table["time_s"], 1):
        assert sawtooth.story(loss=number).facts["found_s"] == found_s


@pytest.mark.parametrize(
    ("tcp", "more", "rule"),
    [
        ("tahoe-ns2", {}, "found lost by a fast retransmit: duplicate ACKs (RFC 5681"),
        (
            "linux-cubic",
            {},
            "found lost by a fast retransmit: a packet sent later had arrived, and the reordering window",
        ),
        (
            'linux-cubic", loss_detection = "dupack',
            {},
            "found lost by a fast retransmit: enough later packets had arrived (RFC 6675)",
        ),
    ],
)
def test_the_rule_that_found_a_loss_is_named(tcp: str, more: dict[str, Any], rule: str) -> None:
    if "loss_detection" in tcp:
        result = run("linux-cubic", overrides={"flow.one.tcp": {"preset": "linux-cubic", "loss_detection": "dupack"}})
    else:
        result = run(tcp, **more)
    assert any(text.startswith(rule) for text in words(result.story(loss=1)))


def test_a_lost_end_of_a_transfer_is_sent_again_as_a_tail_loss_probe() -> None:
    result = run("linux-cubic", lost(10), 'size = "10 pkt"')
    story = result.story("one", 9)
    assert any(text == "was lost on line, before its queue" for text in words(story))
    assert "sent again as a tail loss probe (RFC 8985, section 7.3)" in words(story)
    assert words(story)[-1].startswith("acknowledged: the ACK expects packet 10")


def test_a_lost_end_without_probes_waits_for_the_timer() -> None:
    result = run("newreno-rfc6582", lost(10), 'size = "10 pkt"')
    story = result.story("one", 9)
    assert "found lost by a timeout: the retransmission timer expired (RFC 6298)" in words(story)
    assert story.facts["cause"] == "timeout"
    assert story.facts["found_s"] - story.facts["sent_s"] >= 0.2


def test_a_packet_that_was_not_lost_has_no_cost(sawtooth: ackclock.Result) -> None:
    story = sawtooth.story("one", 0)
    assert words(story) == ["sent", "left line", "arrived at the receiver", "acknowledged: the ACK expects packet 2"]
    assert story.cost == ()
    assert story.facts["copies"] == 1


def test_a_story_is_printed_with_its_times_and_shown_as_a_table(sawtooth: ackclock.Result) -> None:
    story = sawtooth.story("one", loss=1)
    lines = str(story).splitlines()
    assert lines[0] == f"Packet {story.packet} of one"
    assert lines[1] == f"{story.facts['sent_s']:.4f} s  sent"
    assert lines[-1].endswith(".")
    assert story._repr_html_().count("<tr>") == len(story.events) + 1
    assert repr(story) == f"<Story of packet {story.packet} of one: {len(story.events)} events>"
    json.dumps(story.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"flow": "two", "packet": 1}, 'has no flow of this name; given "two"; allowed "one"'),
        ({}, "needs either packet or loss; given neither"),
        ({"packet": 1, "loss": 1}, "needs either packet or loss; given both"),
        ({"packet": -1}, "a whole number from 0 on"),
        ({"packet": 10**9}, "has not sent this packet; given 1000000000; allowed 0 to "),
        ({"loss": 10**6}, "there is no loss of one with this number; given 1000000; allowed 1 to "),
    ],
)
def test_what_has_no_story_is_refused_in_words(sawtooth: ackclock.Result, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(AckclockError) as caught:
        sawtooth.story(**asked)
    assert message in str(caught.value)


def test_a_flow_must_be_named_for_a_packet_of_several_and_not_for_a_loss() -> None:
    result = run(overrides={"flow.one.count": 2})
    with pytest.raises(AckclockError, match=r'is needed; given nothing; allowed "one\[0\]", "one\[1\]"'):
        result.story(packet=1)
    assert result.story("one[1]", 0).flow == "one[1]"
    last = result.losses().to_dict()[-1]
    told = result.story(loss=len(result.losses().to_dict()))
    assert (told.flow, told.packet) == (last["flow"], last["packet"])


def test_a_run_without_losses_says_so() -> None:
    result = run(flow='size = "3 pkt"')
    assert str(result.losses()) == "No loss was detected."
    assert result.losses().to_dict() == []


def test_the_command_tells_what_the_library_tells(sawtooth: ackclock.Result, tmp_path: Path) -> None:
    path = tmp_path / "line.toml"
    path.write_text(LINE.format(tcp="newreno-rfc6582", link="", flow=""))

    def printed(*arguments: str) -> str:
        done = CliRunner().invoke(app, ["story", *arguments])
        assert done.exit_code == 0, done.output
        return "\n".join(line.rstrip() for line in done.stdout.splitlines())

    assert printed(str(path)) == str(sawtooth.losses())
    assert printed(str(path), "one", "5") == printed(str(path), "5") == str(sawtooth.story("one", 5))
    assert json.loads(printed(str(path), "--loss", "1", "--json")) == sawtooth.story(loss=1).to_dict()
    sawtooth.save(tmp_path / "saved", picture=False)
    assert printed(str(tmp_path / "saved"), "--loss", "1") == str(sawtooth.story(loss=1))
    assert printed(str(path), "--set", 'link.line.buffer="10 pkt"') != printed(str(path))


def test_the_command_names_its_own_arguments(tmp_path: Path) -> None:
    path = tmp_path / "line.toml"
    path.write_text(LINE.format(tcp="newreno-rfc6582", link="", flow='size = "3 pkt"'))
    for arguments, message in (
        (("two",), 'FLOW: has no flow of this name; given "two"; allowed "one"'),
        (("two", "1"), 'FLOW: has no flow of this name; given "two"; allowed "one"'),
        (("one", "1", "--loss", "1"), "PACKET, --loss: needs either packet or loss; given both"),
    ):
        assert str(CliRunner().invoke(app, ["story", str(path), *arguments]).exception) == message


def test_a_packet_leaves_a_link_before_the_next_one_drops_it() -> None:
    story = ackclock.run("geo-retransmission-loss", picture=False).story(loss=2)
    told = words(story)
    assert told.index("left feeder") < told.index("was dropped by the queue of satellite (18-packet buffer, drop-tail)")
    assert [time_s for time_s, _ in story.events] == sorted(time_s for time_s, _ in story.events)


LONGER = {"link.line.delay": "20 ms", "link.line.buffer": "200 pkt"}


def test_a_packet_that_a_recovery_finds_lost_later_has_the_time_of_its_own_repair() -> None:
    """Packets 68 and 71 are sent and lost in the recovery of 30; that of 71 is under way when the next one begins."""
    result = run("linux-cubic", lost(31, 69, 73), overrides=LONGER)
    first, second = result.losses().table["time_s"]
    assert result.losses().table["packet"].tolist() == [30, 71]
    for packet in (68, 71):
        facts = result.story("one", packet).facts
        assert facts["recovery_s"] == first
        assert first < facts["sent_s"] + 0.036 < facts["found_s"] == facts["repaired_s"] < second
        assert "found lost in the recovery that the fast retransmit of packet 30 began" in " ".join(
            words(result.story("one", packet))
        )
    assert "began another recovery by a fast retransmit, though its repair was in flight" in words(
        result.story("one", 71)
    )


def test_a_packet_that_arrives_in_another_s_recovery_has_no_cost() -> None:
    result = run("linux-cubic", lost(31, 69, 73), overrides=LONGER)
    for packet in (67, 72):
        story = result.story("one", packet)
        assert story.cost == ()
        assert "found_s" not in story.facts


DATAGRAMS = """
[[link]]
name = "line"
rate = "2 Mbit/s"
delay = "20 ms"
buffer = "40 pkt"
[[flow]]
name = "one"
path = ["line"]
tcp = "linux-cubic"
[[flow]]
name = "call"
path = ["line"]
packet = "200 B"
traffic = { kind = "constant", rate = "100 kbit/s" }
[[flow]]
name = "ping"
path = ["line"]
traffic = { kind = "ping", interval = "100 ms" }
[run]
duration = "6 s"
"""


def test_a_datagram_is_sent_once_and_waits() -> None:
    story = ackclock.run(DATAGRAMS, picture=False).story("call", 30)
    waited = words(story)[1]
    assert waited.startswith("came to the queue of line, waited ")
    assert words(story) == ["sent", waited, "left line", "arrived at the receiver"]
    sent, came, left, arrived = (time_s for time_s, _ in story.events)
    assert sent == came == pytest.approx(0.48)
    assert left - sent == pytest.approx(float(waited.split()[-2]) / 1e3 + 200.0 * 8.0 / 2e6, rel=1e-3)
    assert arrived - left == pytest.approx(0.02)


def test_the_echo_of_a_ping_is_told_and_its_round_trip_is_the_ping_s() -> None:
    result = ackclock.run(DATAGRAMS, picture=False)
    story = result.story("ping", 30)
    assert words(story)[-4:] == [
        *("arrived at the receiver", "the echo was sent"),
        *("the echo left line.reverse", "the echo arrived at the sender"),
    ]
    alone = ackclock.run(DATAGRAMS, overrides={"run.warmup": "2.95 s", "run.duration": "3.4 s"}, picture=False)
    (row,) = alone.summary["pings"]
    round_trip = story.events[-1][0] - story.events[0][0]
    assert row["rtt_min_s"]["mean"] - 1e-6 <= round_trip <= row["rtt_max_s"]["mean"] + 1e-6


def test_a_packet_that_nothing_acknowledges_is_followed_for_as_long_as_it_takes_and_no_longer() -> None:
    fast = DATAGRAMS.replace('"2 Mbit/s"', '"50 Mbit/s"').replace('"6 s"', '"120 s"')
    story = ackclock.run(fast, picture=False).story("ping", 7)  # all of the run would take more than 1 GB
    assert words(story)[-1] == "the echo arrived at the sender"
    slow = DATAGRAMS.replace('"2 Mbit/s"', '"50 kbit/s"')
    late = ackclock.run(slow, picture=False).story("call", 10)
    assert words(late)[-1] == "arrived at the receiver"
    assert late.facts["arrived_s"] - late.facts["sent_s"] > 2.0
    with pytest.raises(LimitError, match="ask for a packet that arrived before about "):
        ackclock.run(fast, picture=False).story("one", 450_000)


def test_a_policer_drops_what_its_bucket_has_no_tokens_for() -> None:
    story = ackclock.run("policer-10", overrides={"run.duration": "25 s"}, picture=False).story(loss=2)
    assert "was dropped by the policer policer: its bucket of 60 kB lacked tokens" in words(story)


def test_windows_of_the_next_transfer_are_not_of_the_one_that_lost() -> None:
    """A web source's transfers have connections of their own: their windows are not the lost one's that came back."""
    web = 'traffic = { kind = "web", size = "60 pkt", off = "50 ms" }'
    result = run("linux-cubic", lost(30), web)
    facts = result.story(loss=1).facts
    traced = run("linux-cubic", lost(30), web, overrides={"trace.state": True}).traces["state"]
    starts = traced["time_s"][traced["event"] == "start"]
    following = starts[starts > facts["recovery_s"]].min()
    assert facts["next_transfer_s"] == following
    assert facts["window_back_s"] is None or facts["window_back_s"] < following
    assert facts["cwnd_before"] > facts["cwnd_after"]
    assert "as large as before: not in this transfer" in str(result.story(loss=1))
