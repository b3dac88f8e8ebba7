"""What the compiled engine refuses in a resolved scenario, whoever wrote it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import ackclock
from ackclock import _engine

PLAIN = """\
[[link]]
name = "only"
rate = "1 Mbit/s"
[[flow]]
path = ["only"]
rtt = "100 ms"
tcp = "reno-ns2"
[run]
duration = "1 s"
"""


SENDER = r"flows\[0\]\.traffic\.connection\.sender"


def no_round_trip(resolved: dict[str, Any]) -> None:
    for link in resolved["elements"]:
        link["rate_bps"] = None
    for flow in resolved["flows"]:
        flow["forward_delay_s"] = flow["traffic"]["connection"]["return_delay_s"] = 0.0


def fine_tick(resolved: dict[str, Any]) -> None:
    resolved["flows"][0]["traffic"]["connection"]["sender"]["rto"]["granularity_s"] = 1e-9


def flood(resolved: dict[str, Any]) -> None:
    resolved["flows"][0]["traffic"]["connection"]["sender"]["initial_window"] = 1e9


def unknown_link_captured(resolved: dict[str, Any]) -> None:
    resolved["trace"]["capture"] = ["only", "none"]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (no_round_trip, r"flows\[0\]\.path: a round trip takes no time"),
        (fine_tick, rf"{SENDER}\.rto\.granularity_s: out of range; given 0\.000000001; allowed 0\.000001"),
        (flood, rf"{SENDER}\.initial_window: out of range; given 1000000000; allowed 1 to 1000000"),
        (unknown_link_captured, r'trace\.capture\[1\]: no such link; given "none"'),
    ],
)
def test_the_engine_refuses_in_words(spoil: Callable[[dict[str, Any]], None], message: str) -> None:
    resolved = json.loads(ackclock.resolve(PLAIN).to_json())
    spoil(resolved)
    with pytest.raises(ValueError, match=message):
        _engine.Job(json.dumps(resolved), [0], 1, 10**9)
