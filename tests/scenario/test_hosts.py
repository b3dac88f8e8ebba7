"""Hosts whose TCP takes time: from the table to processes at the ends of ways, runs between them, and the models."""

from typing import Any

import pytest

import ackclock
from ackclock.prediction import predict_resolved
from ackclock.scenario import Resolved, Scenario, load, resolve, with_overrides
from ackclock.scenario.resolved_elements import HostProcess

PLAIN = """
[[link]]
name = "line"
rate = "131 Mbit/s"
delay = "8.41 ms"
"""
ATM = """
[[atm_link]]
name = "fibre"
rate = "155.52 Mbit/s"
delay = "8 ms"

[[channel]]
name = "line"
path = ["fibre"]
abr = { icr = "3.1104 Mbit/s", rif = 0.015625 }
"""
BETWEEN_HOSTS = """
[[host]]
name = "left"
processing = "100 us"

[[host]]
name = "right"
processing = "100 us"
ack_processing = "20 us"

[[flow]]
name = "there"
path = ["line"]
sender = "left"
receiver = "right"
packet = "9220 B"
tcp = { preset = "reno-ns2", max_window = "28 pkt" }

[[flow]]
name = "back"
path = ["line.reverse"]
sender = "right"
receiver = "left"
packet = "9220 B"
tcp = { preset = "reno-ns2", max_window = "28 pkt" }

[run]
duration = "8 s"
warmup = "2 s"
"""


def scenario(network: str = PLAIN, **changes: object) -> Scenario:
    return with_overrides(
        load(network + BETWEEN_HOSTS), {key.replace("__", "."): value for key, value in changes.items()}
    )


def two_way(resolved: Resolved) -> Any:
    found = predict_resolved(resolved)
    models: list[Any] = [*found.applicable, *found.inapplicable]
    return next(one for one in models if one.model == "two-way")


@pytest.mark.parametrize("network", [PLAIN, ATM], ids=["plain", "atm"])
def test_a_host_stands_behind_the_links_at_the_ends_of_the_ways(network: str) -> None:
    resolved = resolve(scenario(network))
    assert [link.name for link in resolved.elements] == ["line", "line.reverse", "left", "right"]
    assert list(resolved.elements[2:]) == [
        HostProcess("host", "left", 100e-6, 100e-6),
        HostProcess("host", "right", 100e-6, 20e-6),
    ]
    assert [(flow.path, flow.return_path) for flow in resolved.flows] == [((0, 3), (1, 2)), ((1, 2), (0, 3))]
    assert Resolved.from_dict(resolved.to_dict()) == resolved


def test_a_flow_without_hosts_ends_where_tcp_takes_no_time() -> None:
    text = PLAIN + BETWEEN_HOSTS.replace('sender = "left"\n', "").replace('receiver = "left"\n', "")
    warnings = [str(warning) for warning in load(text).warnings]
    assert warnings == ['host "left": no flow begins or ends at the host']
    assert resolve(load(text)).flows[0].path == (0, 3)
    assert resolve(load(text)).flows[0].return_path == (1,)


def test_the_least_round_trip_holds_the_processing_of_a_packet_and_of_an_ack() -> None:
    needed = 2 * 8.41e-3 + (9220 + 40) * 8 / 131e6 + 100e-6 + 100e-6
    given = resolve(scenario(flow__there__rtt="30 ms")).flows[0]
    assert given.forward_delay_s + given.tcp.return_delay_s == pytest.approx(30e-3 - needed, abs=1e-11)
    there, _, rest = BETWEEN_HOSTS.partition('[[flow]]\nname = "back"')
    alone = load(PLAIN + there + rest[rest.index("[run]") :])
    result = ackclock.run(with_overrides(alone, {"flow.there.tcp.max_window": "1 pkt"}), picture=False)
    assert result.flows["rtt_mean_s"].tolist() == pytest.approx([needed], abs=1e-11)


@pytest.mark.parametrize("network", [PLAIN, ATM], ids=["plain", "atm"])
def test_theorem_1_holds_with_processing_in_the_delay(network: str) -> None:
    """Fixed before the run: within a point of the efficiency, and less than without processing."""
    resolved = resolve(scenario(network))
    numbers = [number.value for number in two_way(resolved).numbers if number.key == "throughput_bps"]
    throughput = ackclock.run(resolved, picture=False).flows["throughput_bps"]
    without = resolve(
        scenario(
            network, host__left__processing="0 s", host__right__processing="0 s", host__right__ack_processing="0 s"
        )
    )
    for predicted, measured in zip(numbers, throughput, strict=True):
        assert measured == pytest.approx(predicted, rel=0.015)
    assert throughput.sum() < ackclock.run(without, picture=False).flows["throughput_bps"].sum()


def test_a_process_that_cannot_keep_up_is_a_reason_against_the_model_and_the_bottleneck() -> None:
    slow = resolve(scenario(host__left__processing="1 ms"))
    (reason,) = two_way(slow).reasons
    assert reason.startswith("the process of left cannot handle what its links could bring, ")
    result = ackclock.run(slow, picture=False)
    assert str(result.summary["verdict"]).startswith("left is the bottleneck and full: utilisation 100%")
    row = next(link for link in result.summary["links"] if link["name"] == "left")
    assert row["utilisation_fraction"]["mean"] == pytest.approx(1.0, abs=0.01)


def test_models_of_one_flow_name_the_host_that_is_too_slow() -> None:
    text = PLAIN.replace('delay = "8.41 ms"', 'delay = "8.41 ms"\nbuffer = "20 pkt"')
    text += '[[host]]\nname = "server"\nprocessing = "{0}"\n[[flow]]\npath = ["line"]\nreceiver = "server"\n'
    text += 'tcp = "newreno-rfc6582"\n'
    text += '[run]\nduration = "60 s"\n'
    fast, slow = (predict_resolved(resolve(load(text.format(time)))) for time in ("10 us", "1 ms"))
    assert fast.applicable
    assert not slow.applicable
    reasons = [reason for model in slow.inapplicable for reason in model.reasons]
    assert any(reason.startswith("the process of server cannot handle") for reason in reasons)


def test_traces_and_precision_know_hosts() -> None:
    resolved = resolve(
        scenario(trace__queue=True, run__precision={"quantity": "link.left.utilisation", "within": "5%"})
    )
    assert resolved.run.precision is not None
    assert resolved.run.precision.name == "left"
    result = ackclock.run(resolve(scenario(trace__queue=True)), picture=False)
    assert {"left", "right"} <= set(result.traces["queue"]["link"].unique())
