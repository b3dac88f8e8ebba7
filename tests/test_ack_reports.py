"""What ACKs report is remembered only where one can be lost or overtaken; it makes no difference where none is."""

from typing import Any

import pytest

import ackclock

PATHS = {"one": ({"count": 1}, "40 pkt"), "many": ({"count": 12}, "60 pkt")}


def run(preset: str, flow: dict[str, Any], buffer: str, acks: dict[str, Any], **more: Any) -> ackclock.Result:
    link = {"name": "link", "rate": "20 Mbit/s", "delay": "20 ms", "buffer": buffer, "reverse": acks, **more}
    own = {"path": ["link"], "start": "0 s", "ack": "52 B", "tcp": {"preset": preset}, **flow}
    return ackclock.run({"link": [link], "flow": [own], "run": {"duration": "20 s"}})


@pytest.mark.parametrize("preset", ["linux-cubic", "linux-bbr", "linux-reno", "rfc-cubic"])
@pytest.mark.parametrize("path", PATHS)
def test_a_buffer_that_never_fills_changes_nothing(preset: str, path: str) -> None:
    flow, buffer = PATHS[path]
    unlimited, large = (
        run(preset, flow, buffer, {"rate": "20 Mbit/s", "buffer": acks}) for acks in ("unlimited", "100000 pkt")
    )
    assert float(unlimited.flows.retransmitted_fraction.iloc[0]) > 0.0, "packets are lost, so that ACKs report some"
    assert unlimited.flows.equals(large.flows)


@pytest.mark.parametrize(
    "acks",
    [
        {"loss": {"model": "bernoulli", "probability": 0.5}},
        {"delay_process": {"kind": "steps", "steps": [[f"{k / 10} s", f"{30 * (k % 2)} ms"] for k in range(200)]}},
        {"queue": "codel"},
        {"token_bucket": {"kind": "policer", "burst": "200 B"}},
    ],
    ids=lambda acks: next(iter(acks)),
)
def test_what_is_lost_or_overtaken_stays_unknown_in_an_unlimited_buffer_too(acks: dict[str, Any]) -> None:
    """In a large buffer that has an end all reports are remembered: both have the same results.

    BBR with a loss of a tenth has more runs of packets beyond holes than an ACK has room for.
    """
    narrow = {"rate": "60 kbit/s" if "queue" in acks or "token_bucket" in acks else "20 Mbit/s", **acks}
    unlimited, large = (
        run(
            "linux-bbr",
            {"count": 2},
            "300 pkt",
            {**narrow, "buffer": limit},
            loss={"model": "bernoulli", "probability": 0.1},
        )
        for limit in ("unlimited", "100000 pkt")
    )
    assert unlimited.flows.equals(large.flows)
