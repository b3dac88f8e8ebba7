"""What a scenario is in the kernel's words, and what the kernel cannot play."""

from copy import deepcopy
from typing import Any

import pytest

from ackclock.scenario import load, resolve
from crosscheck.linux import check, recorded
from crosscheck.linux.draw import draw_impaired
from crosscheck.linux.path import UnplayableError
from crosscheck.linux.translate import translate

LINK = {"name": "isp", "rate": "12 Mbit/s", "buffer": "40 pkt", "delay": "3 ms", "reverse": {"rate": "unlimited"}}
HOME = {"name": "home", "rate": "unlimited", "delay": "2 ms"}
FAR = {"name": "far", "rate": "unlimited", "delay": "10 ms"}
FLOW = {"name": "down", "path": ["home", "isp", "far"], "tcp": "linux-cubic"}


def document(flows: list[dict[str, Any]] | None = None, **links: dict[str, Any]) -> dict[str, Any]:
    """Write a scenario over home, isp and far, some fields of which are other ones."""
    table = [{**link, **links.get(str(link["name"]), {})} for link in (HOME, LINK, FAR)]
    each = [{**FLOW, **flow} for flow in flows or [{}]]
    return {"title": "own", "link": table, "flow": each, "run": {"duration": "10 s", "warmup": "2 s"}}


def resolved(flows: list[dict[str, Any]] | None = None, **links: dict[str, Any]) -> dict[str, Any]:
    form: dict[str, Any] = resolve(load(document(flows, **links))).to_dict()
    return form


def run_words(scenario: dict[str, Any]) -> dict[str, str]:
    return dict(word.split("=", 1) for word in translate(scenario).arguments()["run"].split("+"))


@pytest.mark.parametrize(("name", "buffer", "delay"), [("S_cubic", 50, "280ms"), ("D_reno", 33, "20ms")])
def test_a_recorded_run_is_its_own_line_of_the_kit(name: str, buffer: int, delay: str) -> None:
    run = recorded.runs()[name]
    experiment = translate(run.scenario())
    words = experiment.arguments()
    assert (words["rate"], words["buf"], words["mtu"]) == (str(int(run.rate_bps)), str(buffer), str(run.packet_bytes))
    assert words["fwd"] == words["rev"] == delay
    assert (words["rcvbuf"], words["rcvmost"], words["iw"]) == ("2000000", "67108864", "10")
    assert experiment.offset_s == pytest.approx(0.0, abs=1e-9)
    assert run_words(run.scenario())["start"] == "0"
    assert float(run_words(run.scenario())["secs"]) == run.duration_s


def test_options_of_recorded_runs_reach_the_kernel() -> None:
    options = {name: translate(recorded.runs()[name].scenario()).options for name in ("D_reno_norack", "K_reno_nofrto")}
    assert (options["D_reno_norack"]["rack"], options["D_reno_norack"]["tlp"]) == ("0", "0")
    assert (options["K_reno_nofrto"]["rack"], options["K_reno_nofrto"]["frto"]) == ("1", "0")
    assert translate(recorded.runs()["K_reno_nots"].scenario()).options["ts"] == "0"


def test_a_step_of_the_delay_is_an_event() -> None:
    ((at_s, delay_s),) = translate(recorded.runs()["J_reno"].scenario()).forward_steps
    assert (at_s, round(delay_s, 9)) == (10.0, 0.35)
    event = run_words(recorded.runs()["J_reno"].scenario())["ev"]
    assert event == "10,tc|-n|R2|qdisc|change|dev|r2b|root|netem|delay|350ms|limit|100000"


def test_a_step_of_the_delay_changes_each_group_s_where_acks_return_over_other_links() -> None:
    scenario = check.resolved(draw_impaired(291_127, 3))
    events = run_words(scenario)["ev"].split(";")
    changed = [event.partition("r2b|")[2] for event in events]
    assert changed == [f"parent|1:{group}|netem|delay|529.113ms|limit|100000" for group in (1, 2)]
    other = deepcopy(scenario)
    other["flows"][1]["forward_delay_s"] += 0.001
    with pytest.raises(UnplayableError, match="the delay of the data changes for flows with different ones"):
        translate(other)


def test_delays_are_around_the_bottleneck_and_connections_begin_a_handshake_earlier() -> None:
    experiment = translate(resolved([{"start": "1 s"}]))
    (flow,) = experiment.flows
    # 2 ms to the bottleneck go to the return path: 3 + 10 ms forward, 15 + 2 ms back.
    assert list(flow.delays) == pytest.approx([0.013, 0.017])
    services = (60 + 52) * 8 / 12e6
    assert experiment.offset_s == 0.0
    assert flow.connect_s == pytest.approx(1.002 - 0.030 - services)


def test_a_connection_with_a_handshake_begins_where_its_flow_does() -> None:
    (flow,) = translate(resolved([{"start": "1 s", "tcp": {"preset": "linux-cubic", "handshake": "tcp"}}])).flows
    # The path begins at the bottleneck.
    assert flow.connect_s == pytest.approx(1.002)


def test_the_kernels_clock_starts_early_enough_for_the_first_handshake() -> None:
    experiment = translate(resolved([{}, {"name": "late", "start": "4 s", "size": "20 pkt"}]))
    first, late = experiment.flows
    assert first.connect_s == 0.0
    assert late.connect_s == pytest.approx(4.0)
    assert experiment.duration_s == pytest.approx(10.0 + experiment.offset_s)
    assert experiment.warmup_s == pytest.approx(2.0 + experiment.offset_s)
    assert (first.payload_bytes, late.payload_bytes) == (None, 20 * 1448)


def test_flows_with_other_delays_are_groups_of_the_guest() -> None:
    flows = [
        {"name": name, "two_way_propagation": trip} for name, trip in (("a", "40 ms"), ("b", "90 ms"), ("c", "40 ms"))
    ]
    scenario = resolved(flows)
    words = translate(scenario).arguments()
    assert words["fwd"] == "18ms,43ms"
    assert words["rev"] == "22ms,47ms"
    assert run_words(scenario)["group"] == "0,1,0"


def test_the_own_delay_of_acks_ends_at_their_queue() -> None:
    """The kernel's path has the queue of ACKs right behind the receiver, and their delay behind that."""
    flows = [{"name": name, "two_way_propagation": trip} for name, trip in (("a", "40 ms"), ("b", "90 ms"))]
    words = translate(resolved(flows, isp={"reverse": {"rate": "1 Mbit/s", "buffer": "30 pkt"}})).arguments()
    # The links have 13 ms from the bottleneck on, 2 before it and 15 back; the flows' own delays are 5 and 30 ms.
    assert words["fwd"] == "23ms,73ms"
    assert words["rev"] == "17ms,17ms"


def test_losses_behind_the_bottleneck_and_the_rate_of_acks() -> None:
    numbered = resolved(far={"loss": {"model": "packets", "packets": [7, 9], "applies_to": "data"}})
    assert translate(numbered).options["wire"] == "drop=7,9"
    random = resolved(far={"loss": {"model": "bernoulli", "probability": 0.001, "applies_to": "data"}})
    assert translate(random).options["loss"] == "loss+0.1%"
    slow = resolved(isp={"reverse": {"rate": "1 Mbit/s", "buffer": "30 pkt"}})
    assert (translate(slow).options["back"], translate(slow).options["backbuf"]) == ("1000000", "30")


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "flow.down.traffic.kind": ({"traffic": {"kind": "constant", "rate": "1 Mbit/s"}, "tcp": None}, {}),
    "flow.down.tcp.recovery": ({"tcp": "newreno-rfc6582"}, {}),
    "flow.down.tcp.max_window": ({"tcp": {"preset": "linux-reno", "max_window": "64 pkt"}}, {}),
    "flow.down.tcp.initial_ssthresh": ({"tcp": {"preset": "linux-reno", "initial_ssthresh": "64 pkt"}}, {}),
    "flow.down.tcp.congestion_control": ({"tcp": {"preset": "linux-reno", "congestion_control": "aimd"}}, {}),
    "flow.down.tcp.rto.max": ({"tcp": {"preset": "linux-reno", "rto": {"max": "60 s"}}}, {}),
    "flow.down.tcp.acks": ({"tcp": {"preset": "linux-reno", "acks": "delayed"}}, {}),
    "flow.down.tcp.receive_window": ({"tcp": {"preset": "linux-reno", "receive_window": "fixed"}}, {}),
    "flow.down.tcp.receive_skb": ({"tcp": {"preset": "linux-reno", "receive_skb": "linear"}}, {}),
    "flow.down.tcp.send_buffer": ({"tcp": {"preset": "linux-reno", "send_buffer": "unlimited"}}, {}),
    "flow.down.tcp.handshake": ({"tcp": {"preset": "linux-reno", "handshake": "tls"}}, {}),
    "flow.down.tcp.close": ({"tcp": {"preset": "linux-reno", "close": "tcp"}}, {}),
    "flow.down.tcp.write_size": ({"tcp": {"preset": "linux-reno", "write_size": "unlimited"}}, {}),
    "flow.down.writes": ({"writes": {"burst": "10 pkt", "every": "1 s"}}, {}),
    "flow.down.start_spread": ({"start_spread": "1 s"}, {}),
    "flow.down.packet": ({"packet": "200 B"}, {}),
    "link.far.rate": ({}, {"far": {"rate": "100 Mbit/s"}}),
    "link.isp.buffer": ({}, {"isp": {"buffer": "60 kB"}}),
    "link.isp.counting": ({}, {"isp": {"counting": "waiting"}}),
    "link.isp.queue": ({}, {"isp": {"queue": "red"}}),
    "link.isp.reverse.queue": (
        {},
        {"isp": {"reverse": {"rate": "1 Mbit/s", "buffer": "9 pkt", "queue": "random-drop"}}},
    ),
    "link.home.loss": ({}, {"home": {"loss": {"model": "bernoulli", "probability": 0.01}}}),
    "link.far.loss": ({}, {"far": {"loss": {"model": "times", "times": ["3 s"]}}}),
    "link.far.delay_process": ({}, {"far": {"delay_process": {"kind": "handover", "low": "1 ms", "high": "9 ms"}}}),
}


@pytest.mark.parametrize("place", REFUSED)
def test_what_the_kernel_cannot_play_is_refused_by_its_field(place: str) -> None:
    flow, links = REFUSED[place]
    form = document([{key: value for key, value in flow.items() if value is not None}], **links)
    for entry in form["flow"]:
        for key in [key for key, value in flow.items() if value is None]:
            del entry[key]
    with pytest.raises(UnplayableError) as refused:
        translate(resolve(load(form)).to_dict())
    assert place in str(refused.value).split(": ")[0]
    assert ";" in str(refused.value)


def test_settings_that_a_host_has_once_must_be_the_same() -> None:
    other = {"name": "other", "tcp": {"preset": "linux-cubic", "frto": False}}
    with pytest.raises(UnplayableError, match=r"flow\.other\.tcp\.frto: False .* all connections of a host"):
        translate(resolved([{}, other]))


def test_receivers_of_a_host_have_the_same_buffers() -> None:
    other = {"name": "other", "tcp": {"preset": "linux-cubic", "receive_buffer": "128 KiB"}}
    with pytest.raises(UnplayableError, match=r"flow\.other\.tcp\.receive_buffer: 131072 .* all connections of a host"):
        translate(resolved([{}, other]))


def test_a_realisation_starts_later_with_other_random_numbers_and_acks_that_vary() -> None:
    plain, later = translate(resolved()), translate(resolved(), 300.0)
    assert (plain.options["seed"], later.options["seed"]) == ("1", "301")
    assert ("jitter" in plain.options, later.options["jitter"]) == (False, "0.005000ms")
    assert (plain.shift_us, later.shift_us) == (0.0, 300.0)


def test_numbers_of_losses_count_syns_where_ours_do() -> None:
    assert translate(recorded.runs()["L_reno_1e4"].scenario((3, 4))).options["wire"] == "drop=3,4+syn=1"


def test_steps_of_the_delay_behind_and_at_the_bottleneck_add_up_from_the_first_one_on() -> None:
    steps = [["0 s", "40 ms"], ["4 s", "5 ms"]]
    other = [["0 s", "1 ms"], ["6 s", "2 ms"]]
    process = {"kind": "steps", "steps": steps}
    scenario = resolved(far={"delay_process": process}, isp={"delay_process": {"kind": "steps", "steps": other}})
    experiment = translate(scenario)
    # 3 and 10 ms are constant; the 2 ms to the bottleneck are on the return path.
    assert experiment.flows[0].forward_s == pytest.approx(0.013 + 0.041)
    changes = [(at_s - experiment.offset_s, forward_s) for at_s, forward_s in experiment.forward_steps]
    assert changes == [pytest.approx((4.0, 0.013 + 0.006)), pytest.approx((6.0, 0.013 + 0.007))]


def test_a_change_of_the_delay_keeps_random_losses_and_finds_the_link_behind_numbered_ones() -> None:
    process = {"kind": "steps", "steps": [["0 s", "0 ms"], ["4 s", "5 ms"]]}
    random = {"loss": {"model": "bernoulli", "probability": 0.001, "applies_to": "data"}, "delay_process": process}
    assert "netem|delay|18ms|loss|0.1%|limit|100000" in run_words(resolved(far=random))["ev"]
    numbered = {"loss": {"model": "packets", "packets": [7], "applies_to": "data"}, "delay_process": process}
    assert "tc|-n|R3|qdisc|change|dev|r2b" in run_words(resolved(far=numbered))["ev"]


def test_all_faults_are_named_at_once() -> None:
    limited = {"tcp": {"preset": "linux-cubic", "max_window": "64 pkt"}}
    scenario = resolved([limited], isp={"counting": "waiting", "queue": "red"})
    before = deepcopy(scenario)
    with pytest.raises(UnplayableError) as refused:
        translate(scenario)
    assert len(str(refused.value).splitlines()) == 3
    assert scenario == before


def test_a_short_last_packet_is_less_data_in_the_kernel() -> None:
    (flow,) = translate(resolve(load(document([{"size": "7 kB"}]))).to_dict()).flows
    assert flow.payload_bytes == 7000 - 5 * 52


def with_pie(**fields: Any) -> dict[str, Any]:
    document_ = document(isp={"counting": "waiting", "queue": {"discipline": "pie", **fields}})
    form: dict[str, Any] = resolve(load(document_)).to_dict()
    return form


@pytest.mark.parametrize(("update", "words"), [({}, "15000us"), ({"update": "30 ms"}, "29000us")])
def test_the_kernels_pie_updates_a_tick_after_the_time_that_it_is_given(update: dict[str, str], words: str) -> None:
    assert f"+tupdate+{words}+" in translate(with_pie(**update)).options["aqm"]


@pytest.mark.parametrize("update", ["15.5 ms", "1 ms", "64 ms"])
def test_a_pie_whose_updates_are_not_the_ticks_of_a_timer_is_refused(update: str) -> None:
    with pytest.raises(UnplayableError, match=r"queue\.update: .* 2 to 63 whole milliseconds"):
        translate(with_pie(update=update))


def with_cake(flows: list[dict[str, Any]] | None = None, **fields: Any) -> dict[str, Any]:
    document_ = document(flows, isp={"counting": "waiting", "queue": {"discipline": "cake", **fields}})
    del document_["link"][1]["buffer"]
    form: dict[str, Any] = resolve(load(document_)).to_dict()
    return form


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "cake+unlimited+besteffort+triple-isolate+rtt+100000us"),
        ({"isolation": "flows", "separation": "perfect"}, "cake+unlimited+besteffort+flows+rtt+100000us"),
        ({"interval": "40 ms", "target": "2 ms"}, "cake+unlimited+besteffort+triple-isolate+rtt+40000us"),
        # The kernel counts 14 B more for each packet of 1500 B.
        ({"bandwidth": "6 Mbit/s"}, "cake+bandwidth+6056000bit+besteffort+triple-isolate+rtt+100000us"),
        ({"bandwidth": "1 Mbit/s"}, "cake+bandwidth+1009333bit+besteffort+triple-isolate+rtt+100000us"),
    ],
)
def test_a_cake_is_set_up_as_it_is(fields: dict[str, Any], words: str) -> None:
    assert translate(with_cake(**fields)).options["aqm"] == words


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"target": "8 ms"}, "link.isp.queue.target"),
        ({"quantum": "600 B"}, "link.isp.queue.quantum"),
    ],
)
def test_a_cake_that_the_kernel_does_not_have_is_refused(fields: dict[str, Any], place: str) -> None:
    with pytest.raises(UnplayableError, match=place):
        translate(with_cake(**fields))


def test_hosts_of_a_cake_are_one_in_the_kernel() -> None:
    flows = [{"name": "one"}, {"name": "two"}]
    with pytest.raises(UnplayableError, match=r"flow\.two\.host: 1 cannot be played"):
        translate(with_cake(flows))
    assert translate(with_cake(flows, isolation="flows")).options["aqm"].startswith("cake")
    assert translate(with_cake([{**flow, "host": "laptop"} for flow in flows])).options["aqm"].startswith("cake")


def with_sfq(buffer: str | None = "100 pkt", **fields: Any) -> dict[str, Any]:
    document_ = document(isp={"counting": "waiting", "queue": {"discipline": "sfq", **fields}})
    if buffer is None:
        del document_["link"][1]["buffer"]
    else:
        document_["link"][1]["buffer"] = buffer
    form: dict[str, Any] = resolve(load(document_)).to_dict()
    return form


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "sfq+limit+100+quantum+1514+depth+127+flows+1024+divisor+1024"),
        ({"separation": "perfect"}, "sfq+limit+100+quantum+1514+depth+127+flows+1024+divisor+65536"),
        ({"queues": 64, "depth": 9, "quantum": "3 kB"}, "sfq+limit+100+quantum+3014+depth+9+flows+1024+divisor+64"),
    ],
)
def test_an_sfq_is_set_up_as_it_is(fields: dict[str, Any], words: str) -> None:
    assert translate(with_sfq(**fields)).options["aqm"] == words


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"queues": 100}, r"link\.isp\.queue\.queues"),
        ({"depth": 200}, r"link\.isp\.queue\.depth"),
        ({"buffer": None}, r"link\.isp\.buffer"),
        ({"rules": "ns2"}, r"link\.isp\.queue"),
    ],
)
def test_an_sfq_that_the_kernel_does_not_have_is_refused(fields: dict[str, Any], place: str) -> None:
    with pytest.raises(UnplayableError, match=place):
        translate(with_sfq(**fields))
