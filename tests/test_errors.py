"""Messages of errors: what all of them have in common."""

import pytest

import ackclock
from ackclock.errors import AckclockError, EngineError, Fault, ScenarioError, UnitError


@pytest.mark.parametrize(
    "error",
    [
        ScenarioError([Fault("flow \ud800", "is wrong", given="\ud800", allowed="\ud800", hint="\ud800")], "\ud800"),
        UnitError("\ud800", "\ud800"),
        EngineError("\ud800"),
    ],
)
def test_every_message_can_be_printed(error: AckclockError) -> None:
    assert r"\ud800" in str(error)
    str(error).encode()


def test_a_title_that_utf_8_cannot_encode_is_shown_escaped() -> None:
    with pytest.raises(ScenarioError, match=r'given "\\ud800"'):
        ackclock.run("title='\ud800'\n")
