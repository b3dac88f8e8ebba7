"""The engine remembers what ACKs report where they can be lost or overtaken; elsewhere that changes no result."""

from typing import Any

import pytest

import ackclock

PATHS = {"one": ({"count": 1}, "40 pkt"), "many": ({"count": 12}, "60 pkt")}


def run(preset: str, flow: dict[str, Any], buffer: str, acks: dict[str, Any], **more: Any) -> ackclock.Result:
    link = {"name": "link", "rate": "50 Mbit/s", "delay": "20 ms", "buffer": buffer, "reverse": acks, **more}
    own = {"path": ["link"], "start": "0 s", "ack": "52 B", "tcp": {"preset": preset}, **flow}
    return ackclock.run({"link": [link], "flow": [own], "run": {"duration": "20 s"}})


@pytest.mark.parametrize("preset", ["linux-cubic", "linux-bbr", "linux-reno", "rfc-cubic"])
@pytest.mark.parametrize("path", PATHS)
def test_a_buffer_that_never_fills_changes_nothing(preset: str, path: str) -> None:
    flow, buffer = PATHS[path]
    unlimited, large = (
        run(preset, flow, buffer, {"rate": "50 Mbit/s", "buffer": acks}) for acks in ("unlimited", "100000 pkt")
    )
    assert float(unlimited.flows.retransmitted_fraction.iloc[0]) > 0.0, "packets are lost, so that ACKs report some"
    assert unlimited.flows.equals(large.flows)


@pytest.mark.parametrize(
    "acks",
    [
        {"loss": {"model": "bernoulli", "probability": 0.5}},
        {"delay_process": {"kind": "steps", "steps": [[f"{k / 10} s", f"{30 * (k % 2)} ms"] for k in range(200)]}},
        {"queue": "codel", "rate": "1 Mbit/s"},
        {"token_bucket": {"kind": "policer", "burst": "200 B"}, "rate": "1 Mbit/s"},
    ],
    ids=lambda acks: next(iter(acks)),
)
def test_what_is_lost_or_overtaken_stays_unknown_in_an_unlimited_buffer_too(acks: dict[str, Any]) -> None:
    """In a large buffer that has an end all reports are remembered: both have the same results.

    BBR with a loss of a tenth has more runs of packets beyond holes than an ACK has room for.
    """
    lossy = {"loss": {"model": "bernoulli", "probability": 0.1}}
    unlimited, large = (
        run("linux-bbr", {"count": 3}, "300 pkt", {"rate": "50 Mbit/s", **acks, "buffer": limit}, **lossy)
        for limit in ("unlimited", "100000 pkt")
    )
    assert unlimited.flows.equals(large.flows)
