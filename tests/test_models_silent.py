"""Models stay silent, or warn, where a part of the path or of a connection is not theirs."""

from typing import Any

import pytest

import ackclock
from ackclock.prediction import Prediction

SLOW_BACK = {"reverse": {"rate": "256 kbit/s"}}
WEB = {"kind": "web", "size": {"law": "exponential", "mean": "12 pkt"}, "off": "4 s"}
LOSS = {"loss": {"model": "bernoulli", "probability": 1e-4, "applies_to": "data"}}
STEP = {"queue": {"discipline": "step", "threshold": "20 pkt"}}

JUMP = {"delay_process": {"kind": "steps", "steps": [["0 s", "1 ms"], ["1 s", "9 ms"]]}}
SOURCES = {"traffic": WEB, "count": 50}


def own(preset: str, **fields: Any) -> dict[str, Any]:
    return {"tcp": {"preset": preset, **fields}}


def asked(flow: dict[str, Any], **link: Any) -> Prediction:
    line = {"name": "s", "rate": "50 Mbit/s", "delay": "20 ms", "buffer": "100 pkt", **link}
    run = {"duration": "60 s", "warmup": "20 s"} if "size" not in flow else {"duration": "100 s"}
    return ackclock.predict({"link": [line], "flow": [{"path": ["s"], **flow}], "run": run})


def why_not(prediction: Prediction, model: str) -> str:
    return "; ".join(reason for one in prediction.inapplicable if one.model == model for reason in one.reasons)


def warnings(prediction: Prediction, model: str) -> str:
    (found,) = (one for one in prediction.applicable if one.model == model)
    return "; ".join(found.warnings)


@pytest.mark.parametrize(
    ("model", "flow", "link"),
    [
        ("window", {"tcp": {"preset": "linux-cubic", "max_window": "100 pkt"}}, {}),
        ("dctcp", {"tcp": "linux-dctcp", "count": 2}, STEP),
        ("many-flows", {"tcp": "linux-reno", "count": 600, "start_spread": "5 s"}, {}),
    ],
)
def test_a_model_does_not_speak_where_acks_wait_on_their_way(model: str, flow: dict[str, Any], link: Any) -> None:
    assert why_not(asked(flow, **link), model) == ""
    said = why_not(asked(flow, **link, **SLOW_BACK), model)
    assert "wait at s.reverse, which carries those of 19.2 Mbit/s" in said


@pytest.mark.parametrize(
    ("model", "flow", "link"),
    [
        ("short-flow", {"tcp": "linux-reno", "size": "2 MB"}, {}),
        ("engset", {"tcp": "newreno-engset", "count": 50, "traffic": WEB}, {}),
        ("cubic", {"tcp": "linux-cubic"}, LOSS),
        ("random-loss", {"tcp": "linux-reno"}, {"loss": {**LOSS["loss"], "probability": 1e-4}}),
    ],
)
def test_a_rate_whose_acks_wait_on_their_way_has_a_warning(model: str, flow: dict[str, Any], link: Any) -> None:
    assert "the ACKs of" not in warnings(asked(flow, **link), model)
    assert "wait at s.reverse" in warnings(asked(flow, **link, **SLOW_BACK), model)


def test_a_private_return_link_carries_the_acks_of_its_own_flow() -> None:
    """Each of 60 flows has 1/60 of 50 Mbit/s, whose ACKs need a link of its own of 12 kbit/s."""
    flow = {"path": ["s"], "return_path": ["back"], "tcp": "linux-reno", "count": 60, "start_spread": "5 s"}
    line = {"name": "s", "rate": "50 Mbit/s", "delay": "20 ms", "buffer": "100 pkt"}
    run = {"duration": "60 s", "warmup": "20 s"}
    for rate, said in (("16 kbit/s", False), ("8 kbit/s", True)):
        back = {"name": "back", "rate": rate, "private": True}
        found = why_not(ackclock.predict({"link": [line, back], "flow": [flow], "run": run}), "many-flows")
        assert ("the ACKs of" in found) == said, found


@pytest.mark.parametrize(
    ("model", "flow", "link", "said"),
    [
        ("short-flow", own("linux-reno", initial_ssthresh="10 pkt"), {}, "slow start ends at"),
        ("short-flow", own("linux-reno", congestion_control="hybla"), {}, "Hybla's slow start"),
        ("short-flow", own("newreno-rfc6582", max_burst=1), {}, "max_burst lets 1 packet out"),
        ("short-flow", own("linux-reno"), JUMP, "the delay changes"),
        ("window", own("newreno-rfc6582", ack_every=30, max_window="20 pkt"), {}, "each waits for its timer"),
        ("engset", {**own("newreno-engset", handshake="tls"), **SOURCES}, {}, "handshake"),
        ("engset", {**own("newreno-engset", initial_ssthresh="2 pkt"), **SOURCES}, {}, "slow start ends"),
        ("engset", {**own("newreno-engset", ack_every=2, initial_window="1 pkt"), **SOURCES}, {}, "its timer"),
        ("engset", {**own("newreno-engset"), **SOURCES}, {"queue": "codel"}, "drops before its buffer is full"),
        ("engset", {**own("newreno-engset", ack_every=2, max_burst=1), **SOURCES}, {}, "max_burst lets 1 packet out"),
    ],
)
def test_a_model_says_what_a_connection_has_that_it_lacks(
    model: str, flow: dict[str, Any], link: Any, said: str
) -> None:
    sized = {"size": "2 MB"} if model == "short-flow" else {}
    assert said in why_not(asked({**flow, **sized}, **link), model)
