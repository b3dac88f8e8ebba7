import re
from typing import Any

import pytest

import ackclock
from ackclock.paths import empty_round_trip_s
from ackclock.prediction import Inapplicable, predict_from_measured
from ackclock.prediction.losses import LOSSES
from ackclock.prediction.scene import IN_BURSTS
from ackclock.result import Result
from ackclock.scenario import Resolved
from ackclock.scenario.resolved_queues import Red
from fakes import RED, make_flow, make_link, make_replication, make_resolved

WEB = {
    "kind": "web",
    "size": {"law": "fixed", "packets": 5},
    "off": {"law": "fixed", "mean_s": 1.0},
    "classes": [],
}
NO_DROPS = {"dropped_packets": 0}


def result(
    resolved: Resolved, flows: dict[str, Any] | None = None, links: dict[str, Any] | None = None, n: int = 1
) -> Result:
    replications = [make_replication(resolved, number, flows, links) for number in range(n)]
    return Result.from_replications(resolved, replications, version="0.0")


def verdict(resolved: Resolved, **columns: Any) -> str:
    return result(resolved, **columns).summary["verdict"]


@pytest.mark.parametrize("title", ["RED", "CoDel", "PIE"])
def test_an_aqm_is_named_as_its_paper_writes_it(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Red, "title", title)
    resolved = make_resolved(links=[make_link("access"), make_link("satellite", queue=RED)])
    assert f"{title} queue dropped" in verdict(resolved, links={"dropped_packets": 100})


def test_it_names_the_bottleneck_and_what_its_buffer_dropped() -> None:
    assert verdict(make_resolved()).startswith(
        "satellite is the bottleneck: utilisation 91%; its 18-packet buffer dropped 100 packets"
    )


def test_it_names_the_link_that_dropped_where_that_is_another() -> None:
    links = [make_link("satellite"), make_link("feeder", buffer={"bytes": 3000})]
    text = verdict(make_resolved(links=links), links={"dropped_packets": [0, 7]})
    assert "feeder's 3000-byte buffer dropped 7 packets" in text
    text = verdict(make_resolved(links=links), links={"dropped_packets": [6, 7]})
    assert "feeder's 3000-byte buffer dropped 7 packets; satellite's 18-packet buffer dropped 6 packets" in text


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (0.999, "satellite is the bottleneck and full: utilisation 99.9%"),
        (0.3, "losses leave even the busiest link, satellite, idle most of the time: utilisation 30%"),
    ],
)
def test_the_use_decides_what_a_bottleneck_is(use: float, expected: str) -> None:
    assert verdict(make_resolved(), links={"busy_s": [use * 80.0, 1.0]}).startswith(expected)


@pytest.mark.parametrize(
    ("timeouts", "fast", "expected"),
    [
        (0, 40, "fast retransmit began all 40 recoveries, none needed a timeout"),
        (60, 61, "60 timeouts and 61 fast retransmits: many recoveries fail"),
        (1, 40, "1 timeout and 40 fast retransmits"),
    ],
)
def test_it_says_what_losses_cost(timeouts: int, fast: int, expected: str) -> None:
    assert expected in verdict(make_resolved(), flows={"timeouts": timeouts, "fast_retransmits": fast})


def test_old_tahoe_s_timeouts_are_by_design() -> None:
    resolved = make_resolved([make_flow("flow", sender={"recovery": "old-tahoe"})])
    assert "5 timeouts: this TCP has no fast retransmit" in verdict(
        resolved, flows={"timeouts": 5, "fast_retransmits": 0}
    )


def test_a_small_receiver_window_is_found() -> None:
    resolved = make_resolved([make_flow("flow", sender={"max_window": 20})])
    text = verdict(resolved, flows={"cwnd_max": 20.0}, links=NO_DROPS | {"busy_s": [20.0, 1.0]})
    assert "no packet was dropped; " in text
    assert "the receiver's window of 20 packets limits 1 flow" in text


def test_receiver_windows_of_different_sizes_are_named_apart() -> None:
    flows = [make_flow("small", sender={"max_window": 6}), make_flow("large", sender={"max_window": 12})]
    text = verdict(make_resolved(flows), flows={"cwnd_max": [6.0, 12.0]}, links=NO_DROPS | {"busy_s": [20.0, 1.0]})
    assert "the receiver's window of 6 packets limits small; the receiver's window of 12 packets limits large" in text


def test_a_receiver_window_reached_in_a_large_group_is_not_one_flow_s() -> None:
    group = make_flow("web", count=5000, sender={"max_window": 44})
    text = verdict(make_resolved([group]), flows={"cwnd_max": 44.0}, links=NO_DROPS | {"busy_s": [20.0, 1.0]})
    assert "the receiver's window of 44 packets limits some of the 5,000 flows of web" in text


LONG_QUEUE = {"rtt_sum_s": 2.0 * 100, "rtt_samples": 100}
"""Round trips of 2 s on a path of 562.9 ms, whose bandwidth-delay product is 206 packets."""


def with_buffer(packets: int | None) -> list[dict[str, Any]]:
    buffer = None if packets is None else {"packets": packets}
    return [make_link("satellite", buffer=buffer), make_link("satellite.reverse", buffer=None)]


@pytest.mark.parametrize("packets", [None, 1000])
def test_a_buffer_of_many_pipes_that_is_always_in_use_is_more_than_tcp_needs(packets: int | None) -> None:
    resolved = make_resolved(links=with_buffer(packets))
    text = verdict(resolved, flows=LONG_QUEUE, links={"busy_s": [0.995 * 80.0, 1.0]})
    assert "queues make round trips 2 s on a path of 562.9 ms: satellite has more buffer than TCP needs" in text


@pytest.mark.parametrize(("packets", "use"), [(1000, 0.95), (300, 0.995)])
def test_a_long_queue_alone_does_not_say_that_the_buffer_is_too_large(packets: int, use: float) -> None:
    """Where the link is not full, or the buffer about what TCP needs, a simulation has to tell."""
    resolved = make_resolved(links=with_buffer(packets))
    text = verdict(resolved, flows=LONG_QUEUE, links={"busy_s": [use * 80.0, 1.0]})
    assert "queues make round trips 2 s on a path of 562.9 ms" in text
    assert "more buffer" not in text


def test_the_buffer_of_web_sources_is_not_judged_by_the_pipe() -> None:
    resolved = make_resolved([make_flow("web", traffic=WEB)], links=with_buffer(1000))
    assert "more buffer" not in verdict(resolved, flows=LONG_QUEUE, links={"busy_s": [0.995 * 80.0, 1.0]})


def test_every_full_link_is_a_bottleneck() -> None:
    links = [make_link("a"), make_link("b"), make_link("c")]
    text = verdict(make_resolved(links=links), links={"busy_s": [80.0, 79.6, 8.0], "dropped_packets": [3, 0, 0]})
    assert text.startswith(
        "a and b are bottlenecks and full: utilisation 100% and 99.5%; a's 18-packet buffer dropped 3"
    )


def test_round_trips_come_before_the_shares_that_they_make() -> None:
    resolved = make_resolved([make_flow("near"), make_flow("middle"), make_flow("far")])
    trips = {"rtt_sum_s": [20.0, 100.0, 300.0], "rtt_samples": 1000}
    caused = verdict(resolved, flows=trips | {"delivered_packets": [15_000, 3000, 1000]})
    assert (
        "TCP's throughput goes as 1 / RTT: round trips of 20 ms to 300 ms make shares of 51.2 kbit/s to 768 kbit/s "
        "(Jain's index 0.51)" in caused
    )
    steeper = verdict(resolved, flows=trips | {"delivered_packets": [15_000, 1000, 60]})
    assert "flows with longer round trips get less: round trips of 20 ms to 300 ms make shares of" in steeper
    extreme = verdict(resolved, flows=trips | {"delivered_packets": [15_000, 100, 1]})
    assert "shares are unequal" in extreme
    against = verdict(resolved, flows=trips | {"delivered_packets": [1000, 3000, 15_000]})
    assert "shares are unequal, 51.2 kbit/s to 768 kbit/s" in against


def test_findings_are_typed_and_the_verdict_words_each_of_them() -> None:
    found = result(make_resolved())
    kinds = [one.kind for one in found.findings]
    assert kinds == ["busy-link", "dropped", "recoveries"]
    assert found.findings[0].element == "satellite"
    assert found.findings[0].numbers["utilisation_fraction"] == pytest.approx(0.91)
    assert found.findings[1].numbers["packets"] == 100.0


def test_the_empty_path_counts_propagation_and_service() -> None:
    links = [make_link("a", delay_s=0.01), make_link("a.reverse", rate_bps=None, delay_s=0.02)]
    resolved = make_resolved(links=links)
    expected = 0.28 + 0.28 + 0.01 + 512 * 8 / 1.5e6 + 0.02
    assert empty_round_trip_s(resolved, resolved.flows[0]) == pytest.approx(expected)


def test_transfers_finish_or_warn() -> None:
    resolved = make_resolved([make_flow("a", size_packets=5), make_flow("b", size_packets=5)])
    times = {"completed": 1.0, "completion_sum_s": [2.0, 3.0], "completion_max_s": [2.0, 3.0]}
    found = verdict(resolved, flows={"finish_s": [12.0, 13.0]} | times)
    assert "all 2 transfers finished, in 2.5 s on average, 3 s at most" in found
    alone = make_resolved([make_flow("a", size_packets=5)])
    one = {"finish_s": 12.0, "completed": 1.0, "completion_sum_s": 2.0, "completion_max_s": 2.0}
    assert "the transfer took 2 s" in verdict(alone, flows=one)
    late = result(resolved, flows={"finish_s": [2.0, float("nan")]})
    assert "1 of 2 transfers finished" in late.summary["verdict"]
    assert late.summary["warnings"] == ["1 transfer did not finish within run.duration: b"]


def test_unequal_shares_are_found() -> None:
    resolved = make_resolved([make_flow("a"), make_flow("b")])
    assert "shares are unequal" in verdict(resolved, flows={"delivered_packets": [100, 20_000]})
    assert "shares" not in verdict(resolved, flows={"delivered_packets": [19_000, 20_000]})


def test_a_large_group_s_share_is_its_flows_each() -> None:
    resolved = make_resolved([make_flow("many", count=2000), make_flow("one")])
    assert "shares" not in verdict(resolved, flows={"delivered_packets": [2000 * 100, 110]})
    unequal = verdict(resolved, flows={"delivered_packets": [2000 * 100, 20_000]})
    # 100 and 20,000 packets of 512 B in 80 s.
    assert "shares are unequal, 5.12 kbit/s to 1.024 Mbit/s" in unequal


def test_sources_that_rest_are_not_compared() -> None:
    web = make_flow("web", traffic=WEB)
    text = verdict(make_resolved([web, make_flow("one")]), flows={"delivered_packets": [100, 20_000]})
    assert "shares" not in text


def test_a_large_group_s_transfers_are_as_many_as_its_flows() -> None:
    resolved = make_resolved([make_flow("many", count=2000, size_packets=5), make_flow("one", size_packets=5)])
    times = {"completed": [2000.0, 1.0], "completion_sum_s": [4000.0, 4.001], "completion_max_s": [3.0, 4.001]}
    found = verdict(resolved, flows={"finish_s": [2.0, 3.0]} | times)
    assert "all 2,001 transfers finished, in 2.001 s on average, 4.001 s at most" in found
    some = result(resolved, flows={"finish_s": [float("nan"), 3.0]}).summary
    assert "some of 2,001 transfers did not finish" in some["verdict"]
    assert some["warnings"] == ["not all of the 2,000 transfers of many finished within run.duration"]
    assert "2,000 of 2,001 transfers finished" in verdict(resolved, flows={"finish_s": [2.0, float("nan")]})


def test_nothing_delivered_is_said_and_nothing_else() -> None:
    assert verdict(make_resolved(), flows={"delivered_packets": 0}).startswith("Nothing was delivered")


def test_a_link_that_loses_all_is_named_where_nothing_is_delivered() -> None:
    text = """
    [[link]]
    name = "deaf"
    rate = "10 Mbit/s"
    loss = { model = "bernoulli", probability = 1.0 }
    [[flow]]
    path = ["deaf"]
    [run]
    duration = "20 s"
    """
    summary = ackclock.run(text, picture=False).summary
    lost = summary["links"][0]["lost_packets"]["mean"]
    nothing = "Nothing was delivered in the time measured"
    assert summary["verdict"] == f"{nothing}: deaf lost all {lost:.0f} packets that came to it"
    late = text.replace("loss =", "# loss =").replace('["deaf"]', '["deaf"]\nstart = "19.999 s"\nrtt = "1 s"')
    assert ackclock.run(late, picture=False).summary["verdict"].startswith(f"{nothing}: check the flows' start")


def test_without_drops_an_idle_link_is_no_bottleneck() -> None:
    unhurt = {"timeouts": 0, "fast_retransmits": 0}
    text = verdict(make_resolved(), flows=unhurt, links=NO_DROPS | {"busy_s": [24.0, 1.0]})
    assert text.startswith(
        "no link is a bottleneck: the busiest, satellite, has utilisation 30%; no packet was dropped"
    )


def test_infinitely_fast_links_are_no_bottleneck() -> None:
    links = [make_link("a", rate_bps=None), make_link("b", rate_bps=None)]
    assert verdict(make_resolved(links=links), links=NO_DROPS).startswith("no packet was dropped")


def test_means_are_called_so() -> None:
    assert result(make_resolved(), n=4).summary["verdict"].endswith(" (means of 4 runs)")


def test_too_few_and_too_short_runs_warn() -> None:
    few = result(make_resolved(replications=4), n=1).summary["warnings"]
    assert few == [
        "interrupted: 1 of 4 replications finished",
        "no interval for the throughput of flow: one run of very many flows or links has none",
    ]
    resolved = make_resolved(replications=2)
    short = [make_replication(resolved, i, links={"busy_s": [busy, 1.0]}) for i, busy in enumerate((40.0, 60.0))]
    warnings = Result.from_replications(resolved, short, version="0.0").summary["warnings"]
    assert len(warnings) == 1
    assert warnings[0].startswith("utilisation of satellite is only known to ±")


def test_an_aqm_is_not_said_to_delay_packets_by_its_full_buffer() -> None:
    said = {}
    for queue in ("drop-tail", "fq-codel"):
        link = {"name": "home", "rate": "10 Mbit/s", "buffer": "500 ms", "queue": queue}
        flows = [{"name": "one", "path": ["home"], "rtt": "30 ms"}, {"name": "two", "path": ["home"], "rtt": "40 ms"}]
        tables = {"link": [link], "flow": flows, "run": {"duration": "20 s"}}
        said[queue] = ackclock.run(tables, picture=False).summary["verdict"]
    assert "a full buffer of" in said["drop-tail"]
    assert "a full buffer of" not in said["fq-codel"]


def test_a_link_that_is_idle_as_the_transfers_are_over_is_not_idle_for_losses() -> None:
    link = {"name": "access", "rate": "20 Mbit/s", "delay": "10 ms", "buffer": "10 pkt"}
    flow = {"path": ["access"], "count": 5, "size": "50 kB"}
    text = ackclock.run({"link": [link], "flow": [flow], "run": {"duration": "10 s"}}).summary["verdict"]
    assert text.startswith(
        "no link is a bottleneck: the busiest, access, has utilisation 8.03% until the last transfer ends; "
        "access's 10-packet buffer"
    )


def test_timeouts_without_a_drop_are_no_recoveries_that_fail() -> None:
    """An outage of 2 s: the timer expires, and nothing is lost."""
    rate = {"kind": "outages", "rate": "20 Mbit/s", "outages": [["10 s", "2 s"]]}
    link = {"name": "radio", "rate_process": rate, "delay": "25 ms", "buffer": "1000 pkt"}
    flow = {"path": ["radio"], "tcp": "linux-bbr"}
    text = ackclock.run({"link": [link], "flow": [flow], "run": {"duration": "25 s"}}).summary["verdict"]
    assert "no packet was dropped" in text
    assert "were spurious (nothing had been dropped)" in text
    assert "many recoveries fail" not in text


@pytest.mark.parametrize(("which", "packets", "enough"), [("send", "978", "21"), ("receive", "1,381", "15")])
def test_a_socket_buffer_that_limits_a_flow_is_named_with_one_that_does_not(
    which: str, packets: str, enough: str
) -> None:
    """On 100 Mbit/s and 600 ms, 5000 packets fill the path."""

    def scenario(size: str) -> dict[str, Any]:
        link = {"name": "sat", "rate": "100 Mbit/s", "delay": "299 ms", "buffer": "5000 pkt"}
        flow = {
            "name": "dl",
            "path": ["sat"],
            "rtt": "600 ms",
            "tcp": {"preset": "linux-cubic", f"{which}_buffer_max": size},
        }
        return {"link": [link], "flow": [flow], "run": {"duration": "90 s", "warmup": "30 s"}}

    text = ackclock.run(scenario("4 MB")).summary["verdict"]
    assert f"the {which} buffer of dl, 4 MB at most, limits it to some {packets} packets in flight" in text
    assert text.endswith(f"{which}_buffer_max of {enough} MB would fill the path")
    advice = " ".join(str(ackclock.advise(scenario("4 MB"), topics=["window"])).split())
    assert f'try flow.dl.tcp.{which}_buffer_max = "{enough} MB"' in advice
    enlarged = ackclock.run(scenario(f"{enough} MB"))
    assert enlarged.links.utilisation_fraction.iloc[0] > 0.9


def test_a_link_is_idle_after_its_transfer_also_where_a_ping_goes_on() -> None:
    link = {"name": "wifi", "rate": "20 Mbit/s", "delay": "5 ms", "buffer": "100 pkt"}
    flows = [
        {"name": "get", "path": ["wifi"], "size": "5 MB"},
        {"name": "ping", "path": ["wifi"], "traffic": {"kind": "ping", "interval": "1 s"}},
    ]
    text = ackclock.run({"link": [link], "flow": flows, "run": {"duration": "10 s"}}).summary["verdict"]
    assert text.startswith("wifi is the bottleneck")
    assert "until the last transfer ends" in text


def test_a_socket_buffer_that_losses_fill_limits_the_flow() -> None:
    """BBR at 1% of random loss: what waits behind the holes is as much as what is in flight (RFC 2018 section 8)."""
    loss = {"model": "bernoulli", "probability": 0.01, "applies_to": "data"}
    link = {"name": "sat", "rate": "50 Mbit/s", "delay": "270 ms", "buffer": "2000 pkt", "loss": loss}
    tcp = {"preset": "linux-bbr", "send_buffer_max": "4 MiB", "receive_buffer_max": "6 MiB"}
    flow = {"name": "dl", "path": ["sat"], "rtt": "600 ms", "tcp": tcp}
    document = {"link": [link], "flow": [flow], "run": {"duration": "60 s", "warmup": "20 s"}}
    found = ackclock.run(document)
    assert found.summary["verdict"].startswith("no link is a bottleneck: the busiest, sat, has utilisation 2")
    assert "limits it to some 1,025 packets in flight or waiting behind a lost one" in found.summary["verdict"]
    (advised,) = ackclock.advise(document, topics=["socket-buffer"]).recommendations
    enlarged = ackclock.run(document, overrides=advised.changes)
    assert set(advised.changes) == {"flow.dl.tcp.send_buffer_max", "flow.dl.tcp.receive_buffer_max"}
    assert enlarged.links.utilisation_fraction.iloc[0] > 2.5 * found.links.utilisation_fraction.iloc[0] > 0.5
    # A control that the same losses slow down has no such buffer.
    reno = ackclock.run(document, overrides={"flow.dl.tcp.preset": "linux-reno"})
    assert reno.summary["verdict"].startswith("losses leave even the busiest link, sat, idle most of the time")


def test_a_socket_buffer_on_a_path_without_a_rate_has_no_size_that_fills_it() -> None:
    link = {"name": "wire", "rate": "unlimited", "delay": "50 ms"}
    tcp = {"preset": "linux-cubic", "send_buffer": "64 kB", "send_buffer_max": "200 kB", "max_window": "1000 pkt"}
    document = {"link": [link], "flow": [{"name": "f", "path": ["wire"], "tcp": tcp}], "run": {"duration": "10 s"}}
    text = ackclock.run(document).summary["verdict"]
    assert text.endswith("the send buffer of f, 0.2 MB at most, limits it to some 48.9 packets in flight")


def test_a_socket_buffer_that_losses_keep_unused_is_not_named() -> None:
    """CUBIC at one random loss in 2000 packets has 300 packets in flight at most, which any stock buffer holds."""
    loss = {"model": "bernoulli", "probability": 5e-4, "applies_to": "data"}
    link = {"name": "a", "rate": "100 Mbit/s", "delay": "25 ms", "buffer": "500 pkt", "loss": loss}
    tcp = {"preset": "linux-cubic", "send_buffer": "64 kB", "send_buffer_max": "400 kB"}
    document = {"link": [link], "flow": [{"name": "f", "path": ["a"], "tcp": tcp}], "run": {"duration": "40 s"}}
    found = ackclock.run(document)
    assert "would fill the path" not in found.summary["verdict"]
    assert found.links.utilisation_fraction.iloc[0] < 0.4


def test_both_socket_buffers_are_named_where_one_alone_would_not_fill_the_path() -> None:
    link = {"name": "sat", "rate": "50 Mbit/s", "delay": "299 ms", "buffer": "5000 pkt"}
    tcp = {"preset": "linux-cubic", "send_buffer_max": "4 MiB", "receive_buffer_max": "6 MiB"}
    flow = {"name": "dl", "path": ["sat"], "rtt": "600 ms", "tcp": tcp}
    text = ackclock.run({"link": [link], "flow": [flow], "run": {"duration": "60 s", "warmup": "30 s"}}).summary[
        "verdict"
    ]
    assert text.endswith("send_buffer_max of 11 MB and receive_buffer_max of 7.3 MB would fill the path")


def test_shares_are_compared_where_flows_meet() -> None:
    """An upload and a download do not compete: each fills its own direction."""
    home = {"name": "home", "rate": "50 Mbit/s", "delay": "12 ms", "buffer": "100 ms", "queue": "fq-codel"}
    link = {**home, "reverse": {"rate": "10 Mbit/s", "buffer": "100 ms", "queue": "fq-codel"}}
    flows = [{"name": "up", "path": ["home.reverse"]}, {"name": "down", "path": ["home"]}]
    run = {"duration": "20 s", "warmup": "5 s"}
    assert "shares are unequal" not in ackclock.run({"link": [link], "flow": flows, "run": run}).summary["verdict"]
    slow = {"name": "slow", "path": ["home"], "tcp": {"preset": "linux-cubic", "max_window": "4 pkt"}}
    assert "shares are unequal" in ackclock.run({"link": [link], "flow": [*flows, slow], "run": run}).summary["verdict"]


def test_timeouts_after_random_losses_alone_are_recoveries_that_fail() -> None:
    lost = {"dropped_packets": 0, "lost_packets": 500}
    flows = {"timeouts": 50, "fast_retransmits": 2}
    assert "many recoveries fail" in verdict(make_resolved(), flows=flows, links=lost)


def test_acks_do_not_share_the_path_that_a_buffer_has_to_fill() -> None:
    """Each of two flows has a direction of its own, and 5000 packets fill it."""
    link = {
        "name": "sat",
        "rate": "100 Mbit/s",
        "delay": "299 ms",
        "buffer": "5000 pkt",
        "reverse": {"rate": "100 Mbit/s"},
    }
    tcp = {"preset": "linux-cubic", "send_buffer_max": "4 MB"}
    flows = [{"path": [way], "rtt": "600 ms", "tcp": tcp} for way in ("sat", "sat.reverse")]
    run = {"duration": "60 s", "warmup": "20 s"}
    text = ackclock.run({"link": [link], "flow": flows, "run": run}).summary["verdict"]
    assert text.count("send_buffer_max of 21 MB would fill the path") == 2


def test_a_flow_that_acks_starve_is_named() -> None:
    """The ACKs of a download at 200 Mbit/s fill 1 Mbit/s."""
    link = {"name": "cable", "rate": "200 Mbit/s", "delay": "5 ms", "buffer": "1000 pkt"}
    flows = [
        {"name": "down", "path": ["cable"], "rtt": "40 ms"},
        {"name": "up", "path": ["cable.reverse"], "rtt": "40 ms"},
    ]
    for rate, starved in (("1 Mbit/s", True), ("20 Mbit/s", False)):
        both = {**link, "reverse": {"rate": rate, "buffer": "100 pkt"}}
        run = {"duration": "40 s", "warmup": "10 s"}
        result = ackclock.run({"link": [both], "flow": flows, "run": run})
        assert ("starved" in {one.kind for one in result.findings}) == starved
        said = "up gets next to nothing of cable.reverse, " in result.summary["verdict"]
        assert said == starved
        if starved:
            assert "which ACKs of the other direction fill" in result.summary["verdict"]


def test_a_flow_that_starts_late_is_not_starved() -> None:
    link = {"name": "line", "rate": "10 Mbit/s", "delay": "5 ms", "buffer": "50 pkt"}
    flows = [{"name": "early", "path": ["line"]}, {"name": "late", "path": ["line"], "start": "19.9 s"}]
    result = ackclock.run({"link": [link], "flow": flows, "run": {"duration": "20 s", "warmup": "5 s"}})
    assert "starved" not in {one.kind for one in result.findings}


def test_a_link_is_judged_while_the_transfers_last() -> None:
    """50 MB take 20 s at 20 Mbit/s, of a run of 60 s."""
    link = {"name": "line", "rate": "20 Mbit/s", "delay": "10 ms", "buffer": "50 pkt"}
    file = {"path": ["line"], "size": "50 MB"}
    document = {"link": [link], "flow": [file], "run": {"duration": "60 s"}}
    text = ackclock.run(document).summary["verdict"]
    assert text.startswith("line is the bottleneck and full: utilisation 99.")
    assert "until the last transfer ends" in text
    long = {**document, "flow": [file, {"path": ["line"], "name": "endless"}]}
    assert "until the last" not in ackclock.run(long).summary["verdict"]


def test_spurious_timeouts_are_not_recoveries_that_fail_and_the_wait_is_said() -> None:
    """Another flow's queue makes ACKs late; what it dropped was its own."""
    flows = {"timeouts": 4, "spurious_timeouts": 4, "fast_retransmits": 2}
    text = verdict(make_resolved(), flows=flows)
    assert "4 timeouts and 2 fast retransmits; 4 of 4 timeouts were spurious (nothing had been dropped)" in text
    assert "many recoveries fail" in verdict(make_resolved(), flows=flows | {"spurious_timeouts": 3})
    link = {"name": "line", "rate": "10 Mbit/s", "delay": "300 ms", "buffer": "20000 pkt"}
    flow = [{"name": "long", "path": ["line"]}, {"name": "late", "path": ["line"], "start": "30 s", "size": "1 MB"}]
    text = ackclock.run({"link": [link], "flow": flow, "run": {"duration": "90 s"}}).summary["verdict"]
    assert "were spurious (nothing had been dropped: the timer expired while packets waited, up to " in text
    assert " s at line)" in text
    assert "many recoveries fail" not in text


def test_an_outage_longer_than_the_timer_is_named_with_the_timeouts() -> None:
    """A buffer of 20 packets drops in it what timers send again."""
    rate = {"kind": "outages", "rate": "5 Mbit/s", "outages": [["5 s", "4 s"]]}
    link = {"name": "radio", "rate_process": rate, "delay": "25 ms", "buffer": "20 pkt"}
    scenario = {"link": [link], "flow": [{"path": ["radio"]}], "run": {"duration": "15 s"}}
    text = ackclock.run(scenario).summary["verdict"]
    assert "timers expire in outages of radio and radio.reverse, up to 4 s" in text
    assert "the timer expired while packets waited" not in text
    rate["outages"] = [["5 s", "10 ms"]]
    assert "outages" not in ackclock.run(scenario).summary["verdict"]


def test_a_full_buffer_of_packets_drains_as_the_packets_that_crossed_it() -> None:
    """Nine in ten packets are of 200 bytes."""
    link = {"name": "line", "rate": "10 Mbit/s", "delay": "2 ms", "buffer": "50 pkt"}
    small = {"name": "small", "path": ["line"], "packet": "200 B", "traffic": {"kind": "constant", "rate": "12 Mbit/s"}}
    scenario = {"link": [link], "flow": [small, {"name": "tcp", "path": ["line"]}]}
    scenario["run"] = {"duration": "5 s", "warmup": "2 s"}
    result = ackclock.run(scenario)
    (found,) = [one for one in result.findings if one.kind == "drain-time"]
    longest = result.summary["links"][0]["queueing_max_s"]["mean"]
    assert longest <= found.numbers["drain_s"] < 1.1 * longest
    assert "a full buffer of 50 packets, of 2" in result.summary["verdict"]
    link["delay"] = "10 ms"
    assert "a full buffer of" not in ackclock.run(scenario).summary["verdict"]


def test_what_no_queue_explains_is_not_said_to_be_the_queues() -> None:
    """A transfer of one packet at the side of a full queue, whose ACK the receiver delays by 200 ms."""
    link = {"name": "line", "rate": "20 Mbit/s", "delay": "20 ms", "buffer": "60 pkt"}
    tcp = {"preset": "newreno-rfc6582", "ack_every": 2, "ack_delay": "200 ms"}
    short = {"name": "short", "path": ["line"], "start": "2 s", "size": "1 pkt", "tcp": tcp}
    document = {"link": [link], "flow": [{"name": "bulk", "path": ["line"]}, short], "run": {"duration": "20 s"}}
    found = ackclock.run(document, picture=False)
    (trip,) = [flow["rtt_mean_s"]["mean"] for flow in found.summary["flows"] if flow["name"] == "short"]
    assert trip > 0.25
    assert "queues make" not in found.summary["verdict"]
    link["buffer"] = "200 pkt"
    text = ackclock.run(document, picture=False).summary["verdict"]
    said = re.search(
        r"queues make about ([0-9.]+) ms of the round trips of short of ([0-9.]+) ms, on a path of 4", text
    )
    assert said is not None
    assert float(said[1]) < 120.0
    assert float(said[2]) > 200.0


def test_needless_reductions_are_not_called_losses() -> None:
    """The path's delay rises by 900 ms at times, and the timer takes what is late for lost."""
    steps = [["0 s", "0 ms"], ["3 s", "900 ms"], ["6 s", "0 ms"], ["9 s", "900 ms"]]
    link = {"name": "line", "rate": "1 Gbit/s", "delay": "10 ms", "delay_process": {"kind": "steps", "steps": steps}}
    text = ackclock.run(
        {"link": [link], "flow": [{"path": ["line"]}], "run": {"duration": "15 s"}}, picture=False
    ).summary["verdict"]
    assert text.startswith("reductions for packets that were not lost leave even the busiest link, line, idle")
    assert "no packet was dropped" in text


def test_queues_are_told_apart_from_a_path_whose_delay_changes() -> None:
    """Steps of 0 and 200 ms on 10 ms: most of a long round trip is the path's."""
    delay = {"kind": "steps", "steps": [["0 s", "0 s"], ["1 s", "200 ms"]]}
    link = {"name": "line", "rate": "10 Mbit/s", "delay": "10 ms", "delay_process": delay, "buffer": "100 pkt"}
    scenario = {"link": [link], "flow": [{"path": ["line"]}], "run": {"duration": "10 s", "warmup": "2 s"}}
    assert "queues make" not in ackclock.run(scenario).summary["verdict"]
    link["buffer"] = "1000 pkt"
    scenario["run"] = {"duration": "30 s", "warmup": "2 s"}
    text = ackclock.run(scenario).summary["verdict"]
    found = re.search(
        r"queues make about ([0-9.]+) ms of round trips of ([0-9.]+) ms, on a path of changing delay", text
    )
    assert found is not None
    assert float(found[2]) - float(found[1]) == pytest.approx(222.0, rel=0.2)


def test_of_the_copies_of_a_flow_the_starved_ones_are_named() -> None:
    office = {"name": "office", "copies": 3, "rate": "20 Mbit/s", "buffer": "50 ms", "delay": "5 ms"}
    core = {"name": "core", "rate": "40 Mbit/s", "buffer": "20 ms", "delay": "10 ms"}
    flow = {"name": "people", "count": 2, "path": ["office", "core"]}
    run = {"duration": "20 s", "warmup": "5 s"}
    result = ackclock.run({"link": [office, core], "flow": [flow], "run": run})
    starved = [row["name"] for row in result.summary["flows"] if row["goodput_bps"]["mean"] < 1e4]
    assert starved
    assert f"{starved[0]} gets next to nothing of core" in result.summary["verdict"]
    assert "people gets next" not in result.summary["verdict"]


LOSING = """
[[link]]
name = "line"
rate = "100 Mbit/s"
delay = "25 ms"
buffer = "100 pkt"
loss = {{ model = "bernoulli", probability = 0.002, applies_to = "data" }}
[[flow]]
path = ["line"]
{flow}
[run]
duration = "40 s"
warmup = "5 s"
"""


@pytest.mark.parametrize(
    ("flow", "says"),
    [
        ('tcp = "newreno-rfc6582"', "losses leave even the busiest link, line, idle most of the time"),
        (
            'tcp = { preset = "newreno-rfc6582", max_window = "4 pkt" }',
            "the receiver's window of 4 packets limits 1 flow",
        ),
        ('traffic = { kind = "constant", rate = "5 Mbit/s" }', "no link is a bottleneck"),
        ('writes = { burst = "200 pkt", every = "2 s" }', "no link is a bottleneck"),
    ],
)
def test_losses_explain_an_idle_link_where_they_slow_a_flow_down(flow: str, says: str) -> None:
    verdict = ackclock.run(LOSING.format(flow=flow), picture=False).summary["verdict"]
    assert "lost" in verdict
    assert says in verdict
    assert ("idle most of the time" in verdict) is says.startswith("losses")


def test_a_law_of_losses_is_not_for_an_application_that_pauses() -> None:
    pauses = ackclock.run(LOSING.format(flow='writes = { burst = "200 pkt", every = "2 s" }'), picture=False)
    (found,) = predict_from_measured(pauses.resolved, pauses.summary["flows"])
    assert found == Inapplicable(*LOSSES, (IN_BURSTS,))


@pytest.mark.parametrize(("queue", "said"), [("drop-tail", True), ("priority", False), ("fq", False), ("drr", False)])
def test_a_full_buffer_is_a_wait_where_packets_leave_in_order(queue: str, *, said: bool) -> None:
    """A call of priority does not wait behind the buffer: 236.9 ms were said of one whose packets waited up to 375."""
    document = {
        "link": [{"name": "line", "rate": "1 Mbit/s", "delay": "10 ms", "buffer": "30 pkt", "queue": queue}],
        "flow": [{"path": ["line"]}],
        "run": {"duration": "30 s"},
    }
    verdict = ackclock.run(document, picture=False).summary["verdict"]
    assert ("a full buffer of 30 packets" in verdict) is said
