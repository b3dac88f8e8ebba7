"""Stochastic fairness queueing: shares and drops by ns-2's rules and Linux's."""

from typing import Any

import pytest

import ackclock


def run(rules: str, flows: list[dict[str, Any]], **more: Any) -> ackclock.Result:
    queue = {"discipline": "sfq", "rules": rules, "separation": "perfect", **more}
    buffer = "40 pkt" if rules == "ns2" else "127 pkt"
    link = {
        "name": "home",
        "rate": "10 Mbit/s",
        "delay": "10 ms",
        "buffer": buffer,
        "counting": "waiting",
        "queue": queue,
    }
    named = [{"name": f"flow{number}", "path": ["home"], **flow} for number, flow in enumerate(flows)]
    return ackclock.run({"link": [link], "flow": named, "run": {"duration": "20 s", "warmup": "2 s"}})


def source(rate: str, packet: str = "1000 B") -> dict[str, Any]:
    return {"packet": packet, "traffic": {"kind": "constant", "rate": rate}}


def test_ns2_shares_packets_and_linux_bytes() -> None:
    flows = [source("12 Mbit/s", "1500 B"), source("12 Mbit/s", "500 B")]
    packets: Any = run("ns2", flows).classes.loc["home"]["throughput_bps"]
    assert packets["flow0"] == pytest.approx(7.5e6, rel=0.01)
    assert packets["flow1"] == pytest.approx(2.5e6, rel=0.01)
    octets: Any = run("linux", flows).classes.loc["home"]["throughput_bps"]
    assert octets["flow0"] == pytest.approx(5e6, rel=0.01)
    assert octets["flow1"] == pytest.approx(5e6, rel=0.01)


@pytest.mark.parametrize("rules", ["ns2", "linux"])
def test_a_flow_within_its_share_loses_nothing(rules: str) -> None:
    rows: Any = run(rules, [source("20 Mbit/s"), source("2 Mbit/s")]).classes.loc["home"]["dropped_packets"]
    assert rows["flow1"] == 0
    assert rows["flow0"] > 1000


def test_ns2_holds_a_third_of_the_buffer_for_one_flow_and_linux_all_of_it() -> None:
    """ns-2: `used >= left >> 1` with `left = 40 - used` holds from 13 packets on."""
    assert run("ns2", [source("20 Mbit/s")]).links.loc["home", "queue_max_packets"] == 14
    assert run("linux", [source("20 Mbit/s")]).links.loc["home", "queue_max_packets"] == 128
    assert run("linux", [source("20 Mbit/s")], depth=30).links.loc["home", "queue_max_packets"] == 31
