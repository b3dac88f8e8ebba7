from pathlib import Path
from typing import Any

import pytest

from ackclock.scenario import Resolved, ScenarioError, load, resolve
from ackclock.scenario.resolved_buffers import ByteBuffer, PacketBuffer
from ackclock.scenario.resolved_elements import SimplexLink
from ackclock.scenario.resolved_flows import ResolvedFlow
from ackclock.scenario.resolved_queues import Discipline, Red
from ackclock.scenario.resolved_tcp import ClassicSettings
from ackclock.scenario.tcp_names import tcp_names

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
RUN = {"duration": "100 s"}


def link(name: str = "a", rate: str = "1 Mbit/s", **fields: Any) -> dict[str, Any]:
    return {"name": name, "rate": rate, **fields}


def resolved(*links: dict[str, Any], **flow: Any) -> Resolved:
    path = {"path": [entry["name"] for entry in links]}
    return resolve(load({"link": list(links), "flow": [{**path, **flow}], "run": RUN}))


def only_link(**fields: Any) -> SimplexLink:
    only = resolved(link(**fields)).elements[0]
    assert isinstance(only, SimplexLink)
    return only


def only_flow(**fields: Any) -> ResolvedFlow:
    return resolved(link(), **fields).flows[0]


def test_defaults_are_all_written_out() -> None:
    text = '[[link]]\nname = "a"\nrate = "1 Mbit/s"\n[[flow]]\npath = ["a"]\n[run]\nduration = "100 s"\n'
    direction = {
        "rate_bps": 1e6,
        "delay_s": 0.0,
        "buffer": None,
        "counting": "with-service",
        "queue": {"scheduler": {"kind": "fifo"}, "aqm": {"kind": "none"}, "overflow": "arriving"},
        "delay_process": None,
        "loss": None,
        "rate_process": None,
        "token_bucket": None,
    }
    sender = {
        "machine": "selective",
        "congestion_control": {
            "name": "cubic",
            "dialect": "linux",
            "slow_start": "hystart",
            "parameters": {},
            "program": None,
        },
        "loss_detection": "rack",
        "tail_loss_probe": True,
        "frto": True,
        "timestamps": True,
        "pacing": "none",
        "segment_bytes": 1448,
        "initial_window": 10.0,
        "initial_ssthresh": None,
        "max_window": None,
        "dupack_threshold": 3,
        "rto": {
            "min_s": 0.2,
            "max_s": 120.0,
            "initial_s": 1.0,
            "granularity_s": 0.001,
            "clock_offset_s": 0.0,
            "rules": "linux",
        },
        "ecn": "off",
        "sack": True,
        "send_buffer": {"buffer_bytes": 1_000_000, "most_buffer_bytes": 64 * 2**20},
        "writes": None,
        "idle_restart": True,
        "last_packet_bytes": None,
        "push": {"write_bytes": 65536},
        "close": "none",
        "undo": "linux",
        "cwnd_validation": "linux",
    }
    buffer: dict[str, Any] = {"segment_bytes": 1448, "buffer_bytes": 2_000_000, "most_buffer_bytes": 64 * 2**20}
    buffer |= {"announced": True, "timestamps": True, "memory": "paged"}
    receiver = {
        "ack_every": 2,
        "ack_delay_s": 0.04,
        "selective": True,
        "ecn": "off",
        "linux": buffer,
        "blocks": None,
    }
    connection = {
        "return_path": [1],
        "return_delay_s": 0.0,
        "ack_bytes": 40,
        "ack_priority": 0,
        "sender": sender,
        "receiver": receiver,
        "handshake": None,
    }
    flow = {
        "name": "flow",
        "count": 1,
        "start_s": 0.0,
        "start_spread_s": 0.0,
        "path": [0],
        "forward_delay_s": 0.0,
        "packet_bytes": 1500,
        "priority": 0,
        "traffic": {"kind": "tcp", "size_packets": None, "connection": connection},
        "host": 0,
        "weight": 1,
        "copies": 1,
    }
    trace = ("cwnd", "rtt", "sequence", "queue", "queue_distribution", "drops", "losses")
    expected = {
        "format": 3,
        "title": "untitled",
        "run": {
            "duration_s": 100.0,
            "warmup_s": 0.0,
            "replications": 1,
            "seed": 1,
            "confidence": 0.95,
            "precision": None,
            "delays": True,
        },
        "elements": [{"kind": "link", "name": "a", **direction}, {"kind": "link", "name": "a.reverse", **direction}],
        "flows": [flow],
        "trace": {
            **dict.fromkeys(trace, False),
            "overview_interval_s": None,
            "capture": None,
            "delay": False,
            "recovery": False,
            "rounds": False,
            "overview_detail_s": None,
            "state": False,
            "rate": False,
            "aqm": False,
        },
        "atm": None,
    }
    given = resolve(load(text)).to_dict()
    assert given == expected
    assert str(given) == str(expected)  # the order of the fields too


@pytest.mark.parametrize("memory", ["paged", "veth", "linear"])
def test_packets_come_in_the_memory_that_the_scenario_names(memory: str) -> None:
    form = resolved(link(), tcp={"preset": "linux-cubic", "receive_skb": memory})
    assert form.to_dict()["flows"][0]["traffic"]["connection"]["receiver"]["linux"]["memory"] == memory
    said = "linux-cubic" if memory == "paged" else f'linux-cubic with another receive_skb ("{memory}")'
    assert list(tcp_names(form).values()) == [said]


@pytest.mark.parametrize(("feeder", "one_way_s"), [("1.5", 0.277033920), ("1.6", 0.277125920), ("2", 0.277401920)])
def test_rtt_includes_the_service_times(feeder: str, one_way_s: float) -> None:
    """One-way delays of the ns-2 runs of figure 2 with T as the least round trip."""
    links = [link("access", "100 Mbit/s"), link("feeder", f"{feeder} Mbit/s"), link("satellite", "1.5 Mbit/s")]
    flow = resolved(*links, rtt="560 ms", packet="512 B").flows[0]
    assert flow.forward_delay_s == pytest.approx(one_way_s, abs=1e-12)
    assert flow.tcp.return_delay_s == pytest.approx(one_way_s, abs=1e-12)


def test_propagation_excludes_the_service_times() -> None:
    flow = resolved(link(delay="10 ms", reverse={"delay": "20 ms"}), two_way_propagation="560 ms").flows[0]
    assert (flow.forward_delay_s, flow.tcp.return_delay_s) == (0.265, 0.265)


def test_the_least_rtt_that_an_error_names_is_accepted() -> None:
    links = link(rate="3 Mbit/s", delay="7.1 ms"), link("b", rate="7 Mbit/s", delay="1.3 ms")
    with pytest.raises(ScenarioError) as caught:
        resolved(*links, rtt="10 ms")
    allowed = caught.value.faults[0].allowed
    assert allowed is not None
    flow = resolved(*links, rtt=allowed.removesuffix(" or more")).flows[0]
    assert 0 <= flow.forward_delay_s < 1e-9


def test_the_acks_come_back_mirrored() -> None:
    flow = resolved(link("a"), link("b"), path=["b.reverse", "a"]).flows[0]
    assert flow.path == (3, 0)
    assert flow.return_path == (1, 2)


def test_the_acks_may_take_another_way() -> None:
    flow = resolved(link("a"), link("b"), path=["a"], return_path=["b"]).flows[0]
    assert (flow.path, flow.return_path) == ((0,), (2,))


def test_reverse_takes_rate_and_delay_of_forward_but_not_its_queue() -> None:
    links = resolved(link(delay="5 ms", buffer="9 pkt", queue="red", counting="waiting")).elements
    assert (links[1].rate_bps, links[1].delay_s, links[1].buffer) == (1e6, 0.005, None)
    assert (str(links[1].queue), links[1].counting) == ("drop-tail", "with-service")


def test_reverse_has_fields_of_its_own() -> None:
    other = {"rate": "unlimited", "delay": "1 ms", "buffer": "4 pkt", "queue": "random-drop", "counting": "waiting"}
    reverse = resolved(link(delay="5 ms", reverse=other)).elements[1]
    assert (reverse.rate_bps, reverse.delay_s, reverse.buffer) == (None, 0.001, PacketBuffer(4))
    assert (str(reverse.queue), reverse.counting) == ("random-drop", "waiting")


@pytest.mark.parametrize(
    ("buffer", "expected"),
    [
        ("unlimited", None),
        ("18 pkt", PacketBuffer(18)),
        ("64 kB", ByteBuffer(64000)),
        ("200 ms", ByteBuffer(25000)),
        ("12.0001 ms", ByteBuffer(1500)),
    ],
)
def test_buffers_count_packets_or_bytes(buffer: str, expected: object) -> None:
    assert only_link(buffer=buffer).buffer == expected


def test_red_has_all_parameters() -> None:
    red = Red("red", 5.0, 15.0, 0.002, 0.1, gentle=True, mean_packet_bytes=1500)
    assert only_link(queue="red").queue == Discipline(aqm=red, overflow="arriving")


def test_red_has_the_rules_of_ns2_or_of_the_paper_and_single_ones_of_the_other() -> None:
    def rules(**fields: Any) -> tuple[bool, float, bool, bool]:
        aqm = only_link(queue={"discipline": "red", **fields}).queue.aqm
        assert isinstance(aqm, Red)
        return aqm.wait, aqm.least_queue_packets, aqm.first_passes, aqm.overflow_restarts

    assert rules() == rules(rules="floyd-jacobson") == (False, 0.0, False, False)
    assert rules(rules="ns2") == (True, 2.0, True, True)
    assert rules(rules="ns2", wait=False, least_queue="0 pkt") == (False, 0.0, True, True)
    assert rules(wait=True, overflow_restarts=True) == (True, 0.0, False, True)


def test_the_mean_packet_of_red_is_the_largest_that_crosses() -> None:
    queue = resolved(link(reverse={"queue": "red"}), packet="512 B", ack="60 B").elements[1].queue
    assert isinstance(queue.aqm, Red)
    assert queue.aqm.mean_packet_bytes == 60


@pytest.mark.parametrize(
    ("size", "packets"),
    [("unlimited", None), ("7 pkt", 7), ("3000 B", 2), ("3001 B", 3), ("1 B", 1), ("10 MB", 6667)],
)
def test_transfers_are_whole_packets(size: str, packets: int | None) -> None:
    assert only_flow(size=size).size_packets == packets


@pytest.mark.parametrize(("window", "packets"), [("20 pkt", 20), ("64 KiB", 43), ("1500 B", 1), ("2.5 pkt", 2)])
def test_receiver_windows_are_whole_packets(window: str, packets: int) -> None:
    max_window = only_flow(tcp={"max_window": window}).tcp.sender.max_window
    assert (max_window, type(max_window)) == (packets, int)


@pytest.mark.parametrize(("timestamps", "payload"), [(True, 1448), (False, 1460)])
def test_both_ends_know_whether_packets_have_timestamps(timestamps: bool, payload: int) -> None:
    connection = only_flow(packet="1500 B", tcp={"preset": "linux-cubic", "timestamps": timestamps}).connection
    assert connection is not None
    linux = connection.receiver.linux
    assert linux is not None
    assert (linux.timestamps, linux.segment_bytes) == (timestamps, payload)
    assert getattr(connection.sender, "segment_bytes", None) == payload


def test_single_axes_override_the_preset() -> None:
    own = {"preset": "tahoe-ns2", "dupack_threshold": "infinite", "ack_every": 2, "rto": {"min": "1 s"}}
    flow = only_flow(tcp={**own, "initial_window": "2.5 pkt", "initial_ssthresh": "20 pkt"})
    assert (flow.tcp.sender.recovery, flow.tcp.sender.dupack_threshold) == ("tahoe", None)
    assert (flow.tcp.sender.initial_window, flow.tcp.sender.initial_ssthresh) == (2.5, 20.0)
    assert isinstance(flow.tcp.sender, ClassicSettings)
    assert (flow.tcp.sender.rto.min_s, flow.tcp.sender.rto.granularity_s) == (1.0, 0.1)
    assert (flow.tcp.receiver.ack_every, flow.tcp.receiver.ack_delay_s) == (2, 0.1)


def test_flows_without_a_name_are_numbered_where_there_are_several() -> None:
    flows = [{"path": ["a"]}, {"path": ["a"], "name": "web", "count": 2}, {"path": ["a"]}]
    scenario = load({"link": [link()], "flow": flows, "run": RUN})
    assert [flow.name for flow in resolve(scenario).flows] == ["flow1", "web", "flow3"]
    assert resolve(scenario).flow_names == ("flow1", "web[0]", "web[1]", "flow3")


def test_a_count_of_10000_resolves_into_one_entry() -> None:
    scenario = load({"link": [link(buffer="9 pkt")], "flow": [{"path": ["a"], "count": 10_000}], "run": RUN})
    resolved = resolve(scenario)
    assert [flow.count for flow in resolved.flows] == [10_000]
    assert len(resolved.to_json()) < 2500


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_ready_scenarios_resolve_and_are_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = resolve(load(path))
    assert Resolved.from_dict(given.to_dict()) == given
    monkeypatch.chdir(path.parent)  # the files that a text names are in the current folder
    assert load(path.read_text(encoding="utf-8")) == load(path)


@pytest.mark.parametrize(
    "path", [path for path in SCENARIOS if path.stem.startswith("geo-")], ids=lambda path: path.stem
)
def test_the_papers_scenarios_read_t_as_propagation(path: Path) -> None:
    given = resolve(load(path))
    flow = given.flows[0]
    assert isinstance(flow.tcp.sender, ClassicSettings)
    assert flow.forward_delay_s + flow.tcp.return_delay_s == 0.56
    assert (flow.packet_bytes, flow.tcp.ack_bytes, flow.tcp.sender.recovery, flow.tcp.sender.dialect) == (
        512,
        40,
        "tahoe",
        "ns2",
    )


def test_the_resolved_form_reports_all_that_is_wrong_with_it() -> None:
    data = resolved(link(buffer="3 pkt", queue="red")).to_dict()
    data["flows"][0]["path"] = [True, -1]
    data["elements"][0]["buffer"] = {"packets": 0}
    data["elements"][0]["queue"]["aqm"]["weight"] = float("nan")
    data["elements"][1]["queue"]["colour"] = "red"
    del data["run"]["seed"]
    with pytest.raises(ScenarioError) as caught:
        Resolved.from_dict(data)
    assert [str(fault).removeprefix("resolved scenario, field ") for fault in caught.value.faults] == [
        "run.seed: field required",
        "elements[0].buffer.packets: input should be greater than or equal to 1; given 0",
        "elements[0].queue.aqm.weight: input should be a finite number; given nan",
        'elements[1].queue.colour: unexpected keyword argument; given "red"',
        "flows[0].path[0]: input should be a valid integer; given true",
        "flows[0].path[1]: input should be greater than or equal to 0; given -1",
    ]


def test_the_resolved_form_checks_what_lies_between_its_fields() -> None:
    data = resolved(link()).to_dict()
    data["run"]["warmup_s"] = 100.0
    data["flows"][0]["path"] = [0, 1, 2]
    data["trace"]["capture"] = ["b"]
    with pytest.raises(ScenarioError) as caught:
        Resolved.from_dict(data)
    assert [str(fault).removeprefix("resolved scenario, field ") for fault in caught.value.faults] == [
        "run.warmup_s: is not shorter than the duration; given 100.0",
        "flows[0].path: names an element beyond the last, 1; given [0, 1, 2, 1]",
        "flows[0].path: crosses an element twice; given [0, 1, 2, 1]",
        'trace.capture: names an unknown link; given "b"',
    ]


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ScenarioError, match="cannot be read"):
        Resolved.from_dict({"format": object()})
