"""Wrong calls from Python: the error names the argument, what was given and what is allowed."""

from collections.abc import Callable
from typing import Any

import pytest

import ackclock
from ackclock.controls import CongestionControl
from ackclock.errors import ArgumentError, ScenarioError


class Mine(CongestionControl):
    def on_ack(self, ack: object) -> None:
        del ack

    def on_congestion(self, signal: object) -> float:
        del signal
        return 2.0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda odd: ackclock.run("geo-two-nodes", overrides={"run.seed": 1, **odd}), 'run(), argument "overrides"'),
        (lambda odd: ackclock.predict("geo-two-nodes", overrides=odd), 'predict(), argument "overrides"'),
        (lambda odd: ackclock.advise("geo-two-nodes", targets=odd), 'advise(), argument "targets"'),
    ],
)
@pytest.mark.parametrize(("key", "given"), [(3, "3"), (None, "None"), ((1, 2), "(1, 2)")])
def test_a_key_that_is_not_a_text_is_named(call: Callable[[Any], object], said: str, key: object, given: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call({key: 4})
    assert str(caught.value).startswith(f"{said}: has a key that is not a text; given {given}; allowed a mapping of ")


@pytest.mark.parametrize("empty", ["", "  "])
@pytest.mark.parametrize("call", [ackclock.run, ackclock.predict, ackclock.advise, ackclock.scenario.load])
def test_an_empty_text_is_not_taken_for_a_directory(call: Callable[[str], object], empty: str) -> None:
    with pytest.raises(ScenarioError, match=f'scenario: is empty; given "{empty}"; allowed the path of a TOML file, '):
        call(empty)


def of_control(name: str) -> dict[str, Any]:
    flow = {"path": ["link"], "rtt": "100 ms", "tcp": {"congestion_control": name}}
    link = {"name": "link", "rate": "1 Mbit/s", "buffer": "10 pkt"}
    return {"link": [link], "flow": [flow], "run": {"duration": "10 s"}}


@pytest.mark.parametrize(
    ("call", "given"),
    [
        (lambda: ackclock.advise("geo-two-nodes", controllers={"mine": Mine}), "mine"),  # type: ignore[arg-type]
        (lambda: ackclock.advise(of_control("mine"), controllers={"mine": Mine}), "mine"),  # type: ignore[arg-type]
        (lambda: ackclock.advise(ackclock.scenario.load(of_control("mine"), controllers={"mine": Mine})), "mine"),
        (lambda: ackclock.advise("geo-two-nodes", controllers=3), "3"),  # type: ignore[arg-type]
    ],
)
def test_advice_says_why_it_takes_no_controllers_and_what_to_do(call: Callable[[], object], given: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    message = str(caught.value)
    assert message.startswith('advise(), argument "controllers": is not taken: its rules are for the engine\'s ')
    assert f"; given {given}; allowed None; give the flows a control of the engine, or compare runs with " in message
